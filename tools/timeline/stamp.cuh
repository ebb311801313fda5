// How a stamped copy of a kernel writes its stamps; stamp.awk puts the macros where they belong.
//
// A stamp must cost little and must not make the warp look divergent to ptxas: lane 0 stores by a
// predicate, not a branch, and one register per thread is all that is kept between two stamps. It
// is declared in PTX, so that helpers which are inlined can use it, too.
#include "stamped.h"

// Read as operands of instructions, so that a stamp needs no register for them. Offsets in PTX: 0
// warps, 8 stamps, 16 count, 20 mask.
extern "C" {
__constant__ TimelineBuffers timeline_constants;
}

// timeline_at counts stamps from the first of all warps on. Its low bits are those that the warp
// may still write: none in the lanes that write nothing.
#define TIMELINE_BEGIN                                                                   \
    asm volatile(".reg .b32 timeline_at;\n"                                              \
                 "{\n"                                                                   \
                 ".reg .pred writes;\n"                                                  \
                 ".reg .b32 block, warps, thread, warp, lane, clock, sm, count, mask;\n" \
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
                 "ld.const.u32 mask, [timeline_constants + 20];\n"                       \
                 "mad.lo.u32 timeline_at, warp, mask, warp;\n"                           \
                 "@writes add.u32 timeline_at, timeline_at, mask;\n"                     \
                 "}" ::"n"(sizeof(TimelineWarp))                                         \
                 : "memory");

#define TIMELINE_STAMP(mark)                                       \
    asm volatile("{\n"                                             \
                 ".reg .pred writes;\n"                            \
                 ".reg .b32 left, clock, mask;\n"                  \
                 ".reg .b64 to;\n"                                 \
                 "mov.u32 clock, %%clock;\n"                       \
                 "ld.const.u32 mask, [timeline_constants + 20];\n" \
                 "and.b32 left, timeline_at, mask;\n"              \
                 "setp.ne.u32 writes, left, 0;\n"                  \
                 "ld.const.u64 to, [timeline_constants + 8];\n"    \
                 "mad.wide.u32 to, timeline_at, %0, to;\n"         \
                 "@writes st.global.v2.b32 [to], {clock, %1};\n"   \
                 "@writes sub.u32 timeline_at, timeline_at, 1;\n"  \
                 "}" ::"n"(sizeof(TimelineStamp)),                 \
                 "n"(1 + (mark))                                   \
                 : "memory");

extern "C" cudaError_t timeline_buffers(const TimelineBuffers *buffers) {
    return cudaMemcpyToSymbol(timeline_constants, buffers, sizeof *buffers, 0,
                              cudaMemcpyHostToDevice);
}
