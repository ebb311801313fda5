// How a stamped copy of a kernel writes its stamps; stamp.awk puts the macros where they belong.
//
// A stamp must cost little and must not make the warp look divergent to ptxas: lane 0 stores by a
// predicate, not a branch, and one register per thread is all that is kept between two stamps. It
// is declared in PTX, so that helpers which are inlined can use it, too.
#include "stamped.h"

// Read as operands of instructions, so that a stamp needs no register for them. Offsets in PTX: 0
// warps, 8 stamps, 16 count, 20 last.
typedef struct TimelineConstants {
    TimelineWarp *warps;
    TimelineStamp *stamps;
    unsigned count; // warps
    unsigned last;  // bytes from a warp's first stamp to its last, which is written first
} TimelineConstants;
extern "C" {
__constant__ TimelineConstants timeline_constants;
}

// timeline_at is where the next stamp goes, in bytes from the first of all warps on. Of its bits
// those of `last` say how much the warp may still write: nothing in the lanes that write nothing.
#define TIMELINE_BEGIN                                                                   \
    asm volatile(".reg .b32 timeline_at;\n"                                              \
                 "{\n"                                                                   \
                 ".reg .pred writes;\n"                                                  \
                 ".reg .b32 block, warps, thread, warp, lane, clock, sm, count, last;\n" \
                 ".reg .b64 to;\n"                                                       \
                 "mov.u32 clock, %%clock;\n"                                             \
                 "mov.u32 sm, %%smid;\n"                                                 \
                 "mov.u32 block, %%ctaid.x;\n"                                           \
                 "mov.u32 warps, %%ntid.x;\n"                                            \
                 "mov.u32 thread, %%tid.x;\n"                                            \
                 "shr.u32 warps, warps, 5;\n"                                            \
                 "shr.u32 warp, thread, 5;\n"                                            \
                 "mad.lo.u32 warp, block, warps, warp;\n"                                \
                 "mad.lo.u32 sm, warps, 65536, sm;\n"                                    \
                 "add.u32 sm, sm, 1;\n"                                                  \
                 "and.b32 lane, thread, 31;\n"                                           \
                 "ld.const.u32 count, [timeline_constants + 16];\n"                      \
                 "setp.lt.u32 writes, warp, count;\n"                                    \
                 "setp.eq.and.u32 writes, lane, 0, writes;\n"                            \
                 "ld.const.u64 to, [timeline_constants];\n"                              \
                 "mad.wide.u32 to, warp, %0, to;\n"                                      \
                 "@writes st.global.v2.b32 [to], {clock, sm};\n"                         \
                 "ld.const.u32 last, [timeline_constants + 20];\n"                       \
                 "add.u32 timeline_at, last, %1;\n"                                      \
                 "mul.lo.u32 timeline_at, warp, timeline_at;\n"                          \
                 "@writes add.u32 timeline_at, timeline_at, last;\n"                     \
                 "}" ::"n"(sizeof(TimelineWarp)),                                        \
                 "n"(sizeof(TimelineStamp))                                              \
                 : "memory");

#define TIMELINE_STAMP(mark)                                       \
    asm volatile("{\n"                                             \
                 ".reg .pred writes;\n"                            \
                 ".reg .b32 left, clock, last;\n"                  \
                 ".reg .b64 from, to;\n"                           \
                 "mov.u32 clock, %%clock;\n"                       \
                 "ld.const.u32 last, [timeline_constants + 20];\n" \
                 "and.b32 left, timeline_at, last;\n"              \
                 "setp.ne.u32 writes, left, 0;\n"                  \
                 "ld.const.u64 from, [timeline_constants + 8];\n"  \
                 "cvt.u64.u32 to, timeline_at;\n"                  \
                 "add.u64 to, to, from;\n"                         \
                 "@writes st.global.v2.b32 [to], {clock, %1};\n"   \
                 "@writes sub.u32 timeline_at, timeline_at, %0;\n" \
                 "}" ::"n"(sizeof(TimelineStamp)),                 \
                 "n"(1 + (mark))                                   \
                 : "memory");

extern "C" cudaError_t timeline_buffers(const TimelineBuffers *buffers) {
    const TimelineConstants constants = {buffers->warps, buffers->stamps, buffers->count,
                                         buffers->mask * (unsigned)sizeof(TimelineStamp)};
    return cudaMemcpyToSymbol(timeline_constants, &constants, sizeof constants, 0,
                              cudaMemcpyHostToDevice);
}
