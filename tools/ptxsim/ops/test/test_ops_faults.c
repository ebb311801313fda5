/* What an instruction says when a program uses it as it must not, word by word, and at which lane
 * or warp. Catches: a check that is missing or is one off, numbers of the report that are mixed up,
 * a lane that is blamed for another one. */
#include "machine/tensormap.h"
#include "test/capture.h"
#include "test/tap.h"

/* Thread 37, lane 5 of warp 1, is `g`; `h` are the threads of all warps but the first. room is at
 * 0x400, bar at 0xc00. p is device memory, which begins with a tensor map of two dimensions. */
#define HEAD                                                                                \
    PTX_HEAD ".visible .entry k(.param .u64 data) .maxnreg 128\n{\n.reg .b64 p, q, x; "     \
             ".reg .b32 t, a, w, v<4>; .reg .pred g, h, l; .reg .f32 f<4>; "                \
             ".shared .align 128 .b8 room[2048]; .shared .align 8 .b64 bar;\n"              \
             "ld.param.u64 p, [data]; mov.u32 t, %tid.x; mov.u32 w, room; mov.u32 w, bar; " \
             "setp.eq.u32 g, t, 37; setp.ge.u32 h, t, 32; "                                 \
             "mov.u32 a, 0; mov.u64 x, 0; mov.u32 v0, 0; mov.u32 v1, 0; mov.u32 v2, 0; "    \
             "mov.u32 v3, 0; mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; "      \
             "mov.f32 f3, f0;\n"

#define LANE5 "warp 1, lane 5: thread (37, 0, 0)\n"
#define WARP0 "warp 0\n"
#define WARP1 "warp 1\n"

/* `where` NULL: nothing is wrong with it. */
typedef struct Misuse {
    uint32_t threads;
    const char *code, *where, *message;
} Misuse;

static void check_after(const char *head, const Misuse *m) {
    char text[3000], said[4000], place[120], message[300];
    _Alignas(TENSORMAP_ALIGNMENT) uint64_t data[64] = {0};
    const uint64_t sizes[] = {64, 64}, strides[] = {256};
    const uint32_t box[] = {16, 2}, steps[] = {1, 1};
    const TensorMapRequest request = {.element_type = 2, /* u32 */
                                      .rank = 2,
                                      .base = (void *)0x10000, /* where nothing is allocated */
                                      .sizes = sizes,
                                      .strides = strides,
                                      .box = box,
                                      .steps = steps};
    tensormap_encode(data, &request);
    snprintf(text, sizeof text, "%s%s;\nret;\n}\n", head, m->code);
    snprintf(place, sizeof place, "  in kernel k, block (0, 0, 0), %s", m->where ? m->where : "");
    snprintf(message, sizeof message, "ptxsim: %s", m->where ? m->message : "");
    const LaunchStatus status =
        capture_run(STDERR_FILENO, text, m->threads, data, sizeof data, said, sizeof said);
    const bool good =
        m->where ? status == LAUNCH_FAULT && strstr(said, message) == said && strstr(said, place)
                 : status == LAUNCH_OK;
    if (!ok(good, "%s: %s", m->code, m->where ? m->message : "right")) printf("# %s\n", said);
}

static void check(const Misuse *m) { check_after(HEAD, m); }

/* ---- Padding --------------------------------------------------------------------------------- */

#define FIRST "warp 0, lane 0: thread (0, 0, 0)\n"
#define UNWRITTEN(at) "shared memory is read before it was written, at 0x" #at "\n"
#define THREE_OF_FOUR                                              \
    "st.shared.v2.u32 [room], {a, a}; st.shared.u32 [room+8], a; " \
    "ld.shared.v4.u32 {v0, v1, v2, v3}, [room]; "
#define BYTES ".reg .b16 h<4>; ld.shared.v4.u8 {h0, h1, h2, h3}, [room+4]; "

static const Misuse padding[] = {
    {1, THREE_OF_FOUR, FIRST, UNWRITTEN(40c)}, /* for nothing */
    {1, THREE_OF_FOUR "add.u32 a, v2, 1", NULL, NULL},
    {1, THREE_OF_FOUR "st.global.v4.u32 [p], {v0, v1, v2, v3}", NULL, NULL},
    {1, THREE_OF_FOUR "selp.b32 v3, v3, a, g; mov.b32 v2, v3; st.shared.u32 [room+64], v2", NULL,
     NULL},
    {1, THREE_OF_FOUR "add.u32 a, v3, 1", FIRST, UNWRITTEN(40c)},
    {1, THREE_OF_FOUR "mov.b32 v2, v3; add.u32 a, v2, 1", FIRST, UNWRITTEN(40c)},
    {1, THREE_OF_FOUR "st.shared.u32 [v3], a", FIRST, UNWRITTEN(40c)},
    {1, "st.shared.u8 [room+12], a; ld.shared.u32 v0, [room+12]; st.global.u32 [p], v0", NULL,
     NULL},
    {1, "st.shared.u8 [room+12], a; ld.shared.u32 v0, [room+12]", FIRST, UNWRITTEN(40d)},
    {1, "st.shared.u8 [room+8], a; ld.shared.u32 v0, [room+12]; st.global.u32 [p], v0", FIRST,
     UNWRITTEN(40c)},
    {1, "ld.shared.v4.u32 {v0, v1, v2, v3}, [room]", FIRST, UNWRITTEN(400)},
    {1, "ld.shared.u32 v0, [room]", FIRST, UNWRITTEN(400)},
    {1, "st.shared.u32 [room+12], a; " BYTES "st.shared.v4.u8 [room+8], {h0, h1, h2, h3}", NULL,
     NULL},
    {1, "st.shared.u32 [room+16], a; " BYTES "st.shared.v4.u8 [room+8], {h0, h1, h2, h3}", FIRST,
     UNWRITTEN(404)},
    {1, "st.shared.u32 [room+12], a; ld.shared.u8 v0, [room]; st.shared.u8 [room+8], v0", NULL,
     NULL},
    {1, "st.shared.u32 [room+12], a; ld.shared.u8 v0, [room]", FIRST, UNWRITTEN(400)},
    {1,
     "st.shared.u32 [room+12], a; " BYTES "st.shared.v2.u8 [room+8], {h0, h1}; cvt.u32.u16 a, h2",
     FIRST, UNWRITTEN(404)},
};

/* ---- Barriers -------------------------------------------------------------------------------- */

#define DIFFERENT_BARRIERS "the lanes of a warp come to barriers of different numbers or threads\n"

static const Misuse barriers[] = {
    {48, "bar.sync 15", NULL, NULL},
    {48, "bar.sync 1, 64", NULL, NULL},
    {48, "bar.sync 16", WARP0, "barrier 16 does not exist: there are 16\n"},
    {48, "@g bar.sync 0", LANE5,
     "barrier in divergent code: lanes 0x00000020 are here, lanes 0x0000ffdf elsewhere\n"},
    {48, "@!g bra E; bar.sync 0; E: mov.u32 a, 1", LANE5,
     "barrier in divergent code: lanes 0x00000020 are here, lanes 0x0000ffdf elsewhere\n"},
    {48, "@!g bra E; bar.sync 0; E:", NULL, NULL},
    {48, "bar.sync 1, 0", WARP0, "barrier 1 of 0 threads: not a multiple of 32\n"},
    {48, "bar.sync 1, 33", WARP0, "barrier 1 of 33 threads: not a multiple of 32\n"},
    {48, "bar.sync 1, 96", WARP0, "barrier 1 waits for 96 threads, the block has 48\n"},
    {64, "add.u32 a, t, 1; bar.sync a", WARP0, DIFFERENT_BARRIERS},
    {64, "mov.u32 a, 64; @g mov.u32 a, 32; bar.sync 1, a", WARP1, DIFFERENT_BARRIERS},
    {64, "shr.u32 a, t, 5; bar.sync a, 32", NULL, NULL},
    {96, "@h bra B; bar.arrive 2, 96; bra E; B: bar.arrive 2, 64; E:", WARP1,
     "barrier 2 is used for 64 threads while others use it for 96\n"},
    {96, "@h bra B; bar.sync 2; bra E; B: bar.arrive 2, 64; E:", WARP1,
     "barrier 2 is used for 64 threads while others use it for 96\n"},
    {96, "@h bra B; bar.sync 2; bra E; B: bar.sync 2, 96; E:", WARP1,
     "barrier 2 is used both with and without a number of threads\n"},
};

/* ---- mbarriers ------------------------------------------------------------------------------- */

#define INIT "@g mbarrier.init.shared.b64 [bar], "
#define ZERO "@g st.shared.u64 [bar], x; "
#define AT "mbarrier at 0xc00: "
#define BAD_COUNT AT "an mbarrier count must be from 1 to 1048575\n"
#define TOO_MANY AT "more arrivals than this phase of the mbarrier expects\n"
#define NO_MBARRIER AT "this mbarrier was never initialised (mbarrier.init)\n"
#define BAD_TX                                                                            \
    AT "the mbarrier's tx-count leaves -1048575 .. 1048575: do expect_tx and the copies " \
       "agree?\n"
#define ODD "an mbarrier at 0xc04, which is not 8-byte aligned\n"
#define OUTSIDE \
    " outside shared memory: 8 bytes at 0xc08, the block has 2056 bytes, 0x400 to 0xc07\n"

static const Misuse mbarriers[] = {
    {48, INIT "1048575", NULL, NULL},
    {48, INIT "1; @g mbarrier.arrive.expect_tx.shared.b64 x, [bar], 1048575", NULL, NULL},
    {48, INIT "0", LANE5, BAD_COUNT},
    {48, INIT "1048576", LANE5, BAD_COUNT},
    {48, INIT "1; @g mbarrier.arrive.shared.b64 x, [bar], 0", LANE5, BAD_COUNT},
    {48, INIT "1; @g mbarrier.arrive.shared.b64 x, [bar], 2", LANE5, TOO_MANY},
    {48, INIT "1; @g mbarrier.arrive_drop.shared.b64 x, [bar], 2", LANE5, TOO_MANY},
    {48, INIT "2; @g mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048576", LANE5, BAD_TX},
    {48, INIT "2; @g mbarrier.arrive.expect_tx.shared.b64 x, [bar], 1048576", LANE5, BAD_TX},
    {48, INIT "2; @g mbarrier.arrive_drop.expect_tx.shared.b64 x, [bar], 1048576", LANE5, BAD_TX},
    {48, ZERO "@g mbarrier.arrive.shared.b64 x, [bar]", LANE5, NO_MBARRIER},
    {48, ZERO "@g mbarrier.arrive_drop.shared.b64 x, [bar]", LANE5, NO_MBARRIER},
    {48, ZERO "@g mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16", LANE5, NO_MBARRIER},
    {48, ZERO "@g mbarrier.arrive.expect_tx.shared.b64 x, [bar], 16", LANE5, NO_MBARRIER},
    {48, ZERO "@g mbarrier.test_wait.parity.shared.b64 l, [bar], 0", LANE5, NO_MBARRIER},
    {48, INIT "1; @g mbarrier.test_wait.shared.b64 l, [bar], x", LANE5, NO_MBARRIER},
    {48, INIT "1; @g mbarrier.inval.shared.b64 [bar]; @g mbarrier.arrive.shared.b64 x, [bar]",
     LANE5, AT "this mbarrier was invalidated (mbarrier.inval)\n"},
    {48, "@g mbarrier.init.shared.b64 [bar+4], 1", LANE5, ODD},
    {48, "@g mbarrier.inval.shared.b64 [bar+4]", LANE5, ODD},
    {48, "@g mbarrier.arrive.shared.b64 x, [bar+4]", LANE5, ODD},
    {48, "@g mbarrier.test_wait.parity.shared.b64 l, [bar+4], 0", LANE5, ODD},
    {48, "@g mbarrier.inval.shared.b64 [bar+8]", LANE5, "mbarrier" OUTSIDE},
    {48, "@g mbarrier.init.shared.b64 [bar+8], 1", LANE5, "mbarrier" OUTSIDE},
    {48, "@g cp.async.mbarrier.arrive.noinc.shared.b64 [bar+8]", LANE5, "access" OUTSIDE},
    {48, "@g cp.async.mbarrier.arrive.noinc.shared.b64 [room+4]", LANE5,
     "misaligned shared access: 8 bytes at 0x404\n"},
};

/* ---- Bulk copies ----------------------------------------------------------------------------- */

#define BULK_LOAD "@g cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
#define BULK_STORE "@g cp.async.bulk.global.shared::cta.bulk_group "
#define BOX(n)                                                               \
    "@g cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::" \
    "complete_tx::bytes "

#define BOX_STORE "@g cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "

#define OWN_MAP ".local .align 64 .b8 own[128]; mov.u64 x, own; cvta.local.u64 x, x; "

static const Misuse bulk_copies[] = {
    {48, BULK_LOAD "[room+8], [p], 16, [bar]", LANE5,
     "the shared address 0x408 of a bulk copy is not 16-byte aligned\n"},
    {48, BULK_LOAD "[room], [8], 16, [bar]", LANE5,
     "a bulk copy of 16 bytes at global 0x8: both must be multiples of 16\n"},
    {48, BULK_LOAD "[room], [16], 24, [bar]", LANE5,
     "a bulk copy of 24 bytes at global 0x10: both must be multiples of 16\n"},
    {48, BULK_LOAD "[room], [16], 32, [bar]", LANE5, "load out of bounds: 32 bytes at 0x10, "},
    {48, BULK_LOAD "[room+2048], [p], 16, [bar]", LANE5,
     "bulk load outside shared memory: 16 bytes at 0xc00, the block has 2056 bytes, 0x400 to "
     "0xc07\n"},
    {48, BULK_LOAD "[room], [p], 16, [bar+4]", LANE5, ODD},
    {48, BULK_STORE "[p], [room+2048], 16", LANE5,
     "bulk store outside shared memory: 16 bytes at 0xc00, the block has 2056 bytes, 0x400 to "
     "0xc07\n"},
    {48, "@g st.shared.u64 [room], x; " BULK_STORE "[p], [room], 16", LANE5,
     "shared memory is read before it was written, at 0x408\n"},
    {48, "@g st.shared.v2.u64 [room], {x, x}; " BULK_STORE "[16], [room], 16", LANE5,
     "store out of bounds: 16 bytes at 0x10, "},
    {48, BOX(2) "[room], [32, {a, a}], [bar]", LANE5,
     "the tensor map at 0x20 is not 64-byte aligned\n"},
    {48, OWN_MAP BOX(2) "[room], [x, {a, a}], [bar]", LANE5,
     "the tensor map is in local memory, where TMA cannot read it: "},
    {48, BOX(2) "[room], [64, {a, a}], [bar]", LANE5, "load out of bounds: 128 bytes at 0x40, "},
    {48, "add.u64 p, p, 128; " BOX(2) "[room], [p, {a, a}], [bar]", LANE5, "0x"},
    {48, BOX(1) "[room], [p, {a}], [bar]", LANE5,
     "a tensor map of 2 dimensions in an instruction for 1\n"},
    {48, BOX(3) "[room], [p, {a, a, a}], [bar]", LANE5,
     "a tensor map of 2 dimensions in an instruction for 3\n"},
    {48, BOX(2) "[room+16], [p, {a, a}], [bar]", LANE5,
     "the shared address 0x410 of a bulk copy is not 128-byte aligned\n"},
    {48, BOX(2) "[room+2048], [p, {a, a}], [bar]", LANE5,
     "bulk load outside shared memory: 128 bytes at 0xc00, the block has 2056 bytes, 0x400 to "
     "0xc07\n"},
    {48, BOX(2) "[room], [p, {a, a}], [bar]", LANE5, "load out of bounds: 64 bytes at 0x10000, "},
    {48, "mov.u32 a, 12; " BOX(2) "[room], [p, {a, -1}], [bar]", LANE5,
     "load out of bounds: 64 bytes at 0x10030, "},
    {48, "mov.u32 a, 60; " BOX(2) "[room], [p, {a, 63}], [bar]", LANE5,
     "load out of bounds: 16 bytes at 0x13ff0, "},
    {48, BOX(2) "[room], [p, {6, a}], [bar]", LANE5,
     "coordinate 6 of dimension 0 is 24 bytes, which is no multiple of 16\n"},
    {48, BOX_STORE "[p, {0, -1}], [room]", LANE5, "a bulk store at coordinate -1 of dimension 1\n"},
    {48, BOX_STORE "[p, {-4, 0}], [room]", LANE5, "a bulk store at coordinate -4 of dimension 0\n"},
};

/* ---- cp.async and local memory ----------------------------------------------------------------
 */

#define PARAMETER "mov.u64 x, data; cvta.param.u64 x, x; "
#define READ_ONLY(what) what " bytes in a kernel parameter, which may only be read\n"
#define LOCAL ".local .align 16 .b8 own[32]; "

static const Misuse others[] = {
    {48, "mov.u32 a, 16; @g cp.async.cg.shared.global [room], [p], 16, a", NULL, NULL},
    {48, "mov.u32 a, 16; @g mov.u32 a, 17; cp.async.cg.shared.global [room], [p], 16, a", LANE5,
     "cp.async of 16 bytes from a source of 17: it cannot be larger\n"},
    {48, "mov.u32 a, 4; @g mov.s32 a, -1; cp.async.ca.shared.global [room], [p], 4, a", LANE5,
     "cp.async of 4 bytes from a source of 4294967295: it cannot be larger\n"},
    {48, LOCAL "st.local.v4.u32 [own+16], {a, a, a, a}", NULL, NULL},
    {48, LOCAL "@g st.local.u32 [own+2], a", LANE5, "misaligned local access: 4 bytes at 0x2\n"},
    {48, LOCAL "mov.u64 x, own; cvta.local.u64 x, x; @g ld.v2.u64 {p, x}, [x+8]", LANE5,
     "misaligned local access: 16 bytes at 0x8\n"},
    {48, LOCAL "mov.u64 x, own; cvta.local.u64 x, x; st.u32 [x], a; @g atom.add.u32 a, [x], 1",
     LANE5, "atomic on local memory: there are atomics on global and shared memory alone\n"},
    {48, PARAMETER "@g ld.u32 a, [x]; @g ld.v2.u32 {a, v0}, [x]", NULL, NULL},
    {48, PARAMETER "@g st.u32 [x+4], a", LANE5, READ_ONLY("store of 4")},
    {48, PARAMETER "@g st.v2.u32 [x], {a, a}", LANE5, READ_ONLY("store of 8")},
    {48, PARAMETER "@g atom.exch.b32 a, [x], 1", LANE5, READ_ONLY("atomic of 4")},
    {48, PARAMETER "@g ld.u32 a, [x]; @g st.u32 [x], a", LANE5, READ_ONLY("store of 4")},
};

/* ---- Lanes that are missing ------------------------------------------------------------------ */

#define EXECUTE "; lanes 0x00000020 execute it\n"
#define WAITS " waits for lanes 0x00000001, which are elsewhere (lanes 0x00000020 execute it)\n"
#define LACKS " by a lane that its member mask 0xffffffdf lacks\n"
#define PRODUCT                                                                           \
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {v0, v1}, {v2}, " \
    "{f0, f1, f2, f3}"
#define WGMMA "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, "
#define GROUP "wgmma needs all lanes of the warpgroup" EXECUTE

static const Misuse lanes[] = {
    {48, "@g trap", LANE5, "the kernel stopped itself (trap)\n"},
    {64, "@g setmaxnreg.inc.sync.aligned.u32 40", WARP1,
     "setmaxnreg needs all lanes of the warpgroup" EXECUTE},
    {512, "setmaxnreg.inc.sync.aligned.u32 136", "warp 15\n",
     "setmaxnreg: the warps of this block ask for 69632 registers, and it is launched with "
     "65536, 128 per thread: on a GPU this waits for ever\n"},
    {64, "@g ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a}, [room]", WARP1,
     "ldmatrix needs all 32 lanes" EXECUTE},
    {64, "@g stmatrix.sync.aligned.m8n8.x1.shared.b16 [room], {a}", WARP1,
     "stmatrix needs all 32 lanes" EXECUTE},
    {64, "@g movmatrix.sync.aligned.m8n8.trans.b16 a, a", WARP1,
     "movmatrix needs all 32 lanes" EXECUTE},
    {64, "@g " PRODUCT, WARP1, "mma.sync needs all 32 lanes" EXECUTE},
    {64, "@g shfl.sync.idx.b32 a, a, 5, 31, 0x21", LANE5, "shfl.sync" WAITS},
    {64, "@g vote.sync.ballot.b32 a, g, 0x21", LANE5, "vote.sync" WAITS},
    {64, "@g match.any.sync.b32 a, a, 0x21", LANE5, "match.sync" WAITS},
    {64, "@g redux.sync.add.u32 a, a, 0x21", LANE5, "redux.sync" WAITS},
    {64, "@g elect.sync a|l, 0x21", LANE5, "elect.sync" WAITS},
    {64, "@h shfl.sync.bfly.b32 a, a, 1, 31, 0xffffffdf", LANE5, "shfl.sync" LACKS},
    {64, "@h vote.sync.ballot.b32 a, g, 0xffffffdf", LANE5, "vote.sync" LACKS},
    {64, "@h bar.warp.sync 0xffffffdf", LANE5, "bar.warp.sync" LACKS},
    {64, "@g shfl.sync.idx.b32 a, a, 7, 31, 0x20", NULL, NULL},
    {64, "@g shfl.sync.idx.b32 a, a, 5, 31, 0x20", NULL, NULL},
    {64,
     "mov.u32 v0, -1; @h mov.u32 v0, 0xffffffdf; @g mov.u32 v0, 0x20; "
     "shfl.sync.bfly.b32 a, a, 1, 31, v0",
     NULL, NULL},
    {48, "shfl.sync.bfly.b32 a, a, 1, 31, -1; vote.sync.ballot.b32 a, g, -1", NULL, NULL},
    {128, "@g wgmma.fence.sync.aligned", WARP1, GROUP},
    {128, "@g wgmma.commit_group.sync.aligned", WARP1, GROUP},
    {128, "@g wgmma.wait_group.sync.aligned 0", WARP1, GROUP},
    {128, "@g " WGMMA "x, x, 1, 1, 1, 0, 0", WARP1, GROUP},
};

/* ---- Operands of wgmma ----------------------------------------------------------------------- */

#define FENCED "wgmma.fence.sync.aligned; " WGMMA

#define NO_FIELD(descriptor, operand, bits)                             \
    "the matrix descriptor 0x" descriptor " of " operand " has 0x" bits \
    " in bits that no field has and that must be 0\n"
#define DIFFERENT_DESCRIPTORS "the lanes of a warp have different matrix descriptors\n"

static const Misuse products[] = {
    {128, WGMMA "x, x, 1, 1, 1, 0, 0", WARP0,
     "wgmma without any wgmma.fence before it: its registers may be unready\n"},
    {128, FENCED "0x0002000000000040, x, 1, 1, 1, 0, 0", WARP0,
     "matrix descriptors with a base offset are not supported\n"},
    {128, FENCED "0x0000000000004040, x, 1, 1, 1, 0, 0", WARP0, NO_FIELD("4040", "A", "4000")},
    {128, FENCED "0x0000000000008040, x, 1, 1, 1, 0, 0", WARP0, NO_FIELD("8040", "A", "8000")},
    {128, FENCED "0x0000000040000040, x, 1, 1, 1, 0, 0", WARP0,
     NO_FIELD("40000040", "A", "40000000")},
    {128, FENCED "0x0000000080000040, x, 1, 1, 1, 0, 0", WARP0,
     NO_FIELD("80000040", "A", "80000000")},
    {128, FENCED "0x0000400000000040, x, 1, 1, 1, 0, 0", WARP0,
     NO_FIELD("400000000040", "A", "400000000000")},
    {128, FENCED "0x0001000000000040, x, 1, 1, 1, 0, 0", WARP0,
     NO_FIELD("1000000000040", "A", "1000000000000")},
    {128, FENCED "0x0010000000000040, x, 1, 1, 1, 0, 0", WARP0,
     NO_FIELD("10000000000040", "A", "10000000000000")},
    {128, FENCED "0x2000000000000040, x, 1, 1, 1, 0, 0", WARP0,
     NO_FIELD("2000000000000040", "A", "2000000000000000")},
    {128, FENCED "0xffffffffffffffff, x, 1, 1, 1, 0, 0", WARP0,
     NO_FIELD("ffffffffffffffff", "A", "3ff1c000c000c000")},
    {128, FENCED "{v0, v1, v2, v3}, 0x4000000000004040, 1, 1, 1, 0", WARP0,
     NO_FIELD("4000000000004040", "B", "4000")},
    {128, FENCED "{v0, v1, v2, v3}, 0xc0003fff3fff3fff, 1, 1, 1, 0", WARP0,
     "wgmma operand B outside shared memory: "},
    {128, "cvt.u64.u32 x, t; " FENCED "0x0000000000000040, x, 1, 1, 1, 0, 0", WARP0,
     DIFFERENT_DESCRIPTORS},
    {128, "setp.lt.u32 l, t, 3; " FENCED "x, x, l, 1, 1, 0, 0", WARP0,
     "the lanes of a warp have different scale-d: 0x00000007\n"},
    {128, FENCED "0x00000000000000c1, x, 1, 1, 1, 0, 0", WARP0,
     "wgmma operand A outside shared memory: 16 bytes at 0xc10, the block has 2056 bytes, 0x400 to "
     "0xc07\n"},
    {128, FENCED "0x0000000000000040, x, 1, 1, 1, 0, 0", WARP0,
     "shared memory is read before it was written, at 0x400\n"},
    {128, FENCED "{v0, v1, v2, v3}, 0x00000000000000c1, 1, 1, 1, 0", WARP0,
     "wgmma operand B outside shared memory: 16 bytes at 0xc10, the block has 2056 bytes, 0x400 to "
     "0xc07\n"},
};

/* ---- Warpgroups ------------------------------------------------------------------------------ */

#define ALL_WRITTEN                                                                     \
    "mov.u32 a, room; mad.lo.u32 a, t, 16, a; st.shared.v4.u32 [a], {v0, v0, v0, v0}; " \
    "fence.proxy.async; bar.sync 0; mov.u64 x, 0x0000001000080040; " FENCED             \
    "x, x, 1, 1, 1, 0, 0; "
#define WHOLE "this is for all four warps of a warpgroup, and warp "
#define ANOTHER "matrix descriptor 0x1000080048, where warp 3 of the warpgroup had 0x1000080040\n"

#define FROM_V WGMMA "{v0, v1, v2, v3}, x, 1, 1, 1, 0; "
#define FROM_X WGMMA "x, x, 1, 1, 1, 0, 0; "
#define COMMIT "wgmma.commit_group.sync.aligned; "
#define WAIT(n) "wgmma.wait_group.sync.aligned " #n "; "
#define WRITTEN "a register of a wgmma is written before wgmma.wait_group has waited for it\n"

static const Misuse groups[] = {
    {128, ALL_WRITTEN WGMMA "x, x, 1, 1, 1, 0, 0; wgmma.wait_group.sync.aligned 0", NULL, NULL},
    {128, ALL_WRITTEN "mov.u64 p, x; @!h add.u64 p, p, 8; " WGMMA "x, p, 1, 1, 1, 0, 0", WARP0,
     ANOTHER},
    {128, ALL_WRITTEN "mov.u64 p, x; @!h add.u64 p, p, 8; " WGMMA "p, x, 1, 1, 1, 0, 0", WARP0,
     ANOTHER},
    {128, ALL_WRITTEN WGMMA "{v0, v1, v2, v3}, x, 1, 1, 1, 0", NULL, NULL},
    {128, ALL_WRITTEN WGMMA "{f0, v1, v2, v3}, x, 1, 1, 1, 0", "warp 3\n",
     "a register of a wgmma is read before wgmma.wait_group has waited for it\n"},
    {128, ALL_WRITTEN FROM_V "mov.u32 v3, a", "warp 3\n", WRITTEN},
    {128, ALL_WRITTEN FROM_V "@!g bra E; mov.u32 v0, a; E:", WARP1, WRITTEN},
    {128, ALL_WRITTEN FROM_V "mov.u32 a, v3; " COMMIT WAIT(0) "mov.u32 v3, a", NULL, NULL},
    {128, ALL_WRITTEN FROM_V COMMIT FROM_X COMMIT WAIT(1) "mov.u32 v3, a", NULL, NULL},
    {128, ALL_WRITTEN FROM_X COMMIT FROM_V COMMIT WAIT(1) "mov.u32 v3, a", "warp 3\n", WRITTEN},
    {128, ALL_WRITTEN FROM_V COMMIT FROM_V COMMIT WAIT(1) "mov.u32 v0, a", "warp 3\n", WRITTEN},
    {128, ALL_WRITTEN "@h bra E; " WGMMA "x, x, 1, 1, 1, 0, 0; E:", WARP0,
     WHOLE "1 did not execute it\n"},
    {128, ALL_WRITTEN "@!h bra E; " WGMMA "x, x, 1, 1, 1, 0, 0; E:", WARP1,
     WHOLE "0 did not execute it\n"},
    {256, "setp.ge.u32 l, t, 128; @l setmaxnreg.inc.sync.aligned.u32 40", NULL, NULL},
    {256, "setp.ge.u32 l, t, 160; @l setmaxnreg.inc.sync.aligned.u32 40", "warp 5\n",
     WHOLE "4 did not execute it\n"},
    {96, "setmaxnreg.inc.sync.aligned.u32 40", WARP0, WHOLE "3 does not exist\n"},
    /* those who do not ask keep 128 */
    {256, "setp.ge.u32 l, t, 128; @l setmaxnreg.inc.sync.aligned.u32 128", NULL, NULL},
    {256, "setp.ge.u32 l, t, 128; @l setmaxnreg.inc.sync.aligned.u32 136", "warp 7\n",
     "setmaxnreg: the warps of this block ask for 33792 registers, with those of warp 3, which "
     "executes none and keeps its own, and it is launched with 32768, 128 per thread: on a GPU "
     "this waits for ever\n"},
    /* that all of a warpgroup's A is there is asked where races are looked for */
    {128,
     "mov.u32 a, room; mad.lo.u32 a, t, 16, a; st.shared.v4.u32 [a], {v0, v0, v0, v0}; "
     "fence.proxy.async; bar.sync 0; @h bar.sync 1, 128; " FENCED
     "0x0000006000080040, x, 1, 1, 1, 0, 0",
     WARP0,
     "wgmma operand outside shared memory: 16 bytes at 0x1000, the block has 2056 bytes, 0x400 to "
     "0xc07\n"},
};

/* ---- The first place of the register file ---------------------------------------------------- */

/* Where there is no constant of 64 bits, it holds the first one of 32, which is a. An operand there
 * is none that is missing. */
#define BARE_HEAD                                                                               \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 a; .reg .b64 q, x; .reg .pred " \
             "g; .shared .align 128 .b8 room[2048]; .shared .align 8 .b64 bar;\n"

#define STILL_33 WARP0, "barrier 1 of 33 threads: not a multiple of 32\n"
static const Misuse first_places[] = {
    /* nor does a result that is missing go to the place before it */
    {32, "mov.u32 a, 33; match.all.sync.b32 a, 5, -1; bar.sync 1, 33", STILL_33},
    {32, "mov.u32 a, 33; match.all.sync.b32 a, %laneid, -1; bar.sync 1, 33", STILL_33},
    {32, "mov.u32 a, 33; setp.eq.u32 g, a, a; bar.sync 1, 33", STILL_33},
    {32, "mov.u32 a, 33; shfl.sync.bfly.b32 a, a, 1, 31, -1; bar.sync 1, 33", STILL_33},
    {32, "mov.u32 a, 33; shfl.sync.up.b32 a, a, 1, 0, -1; bar.sync 1, 33", STILL_33},
    {1, "mov.u32 a, 33; mbarrier.init.shared.b64 [bar], 1; bar.sync 1, 33", STILL_33},
    {1, "mov.u32 a, 33; st.shared.u32 [room], a; red.shared.add.u32 [room], 1; bar.sync 1, 33",
     STILL_33},
    {1, "mov.u32 a, 33; bar.sync 1, 33", WARP0, "barrier 1 of 33 threads: not a multiple of 32\n"},
    {1, "mov.u32 a, 33; bar.red.or.pred g, 1, 33, g", WARP0,
     "barrier 1 of 33 threads: not a multiple of 32\n"},
    {1,
     "mov.u32 a, 2; mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 x, [bar]; "
     "mbarrier.test_wait.parity.shared.b64 g, [bar], 0; @g trap",
     NULL, NULL},
    {1, "mov.u32 a, 0; cvt.u64.u32 q, a; cp.async.cg.shared.global [room], [q], 16, 0", NULL, NULL},
    {1,
     "mov.u32 a, bar; cvt.u64.u32 q, 0; cp.async.bulk.shared::cluster.global.mbarrier::"
     "complete_tx::bytes [room], [q], 16, [bar]",
     "warp 0, lane 0: thread (0, 0, 0)\n", "load out of bounds: 16 bytes at 0x0, "},
};

#define CHECK(table) \
    for (size_t i = 0; i < sizeof(table) / sizeof *(table); i++) check(&(table)[i])

int main(void) {
    for (int race = 0; race < 2; race++) {
        setenv("SIM_RACE", race ? "1" : "0", 1);
        CHECK(padding);
        CHECK(barriers);
        CHECK(mbarriers);
        CHECK(bulk_copies);
        CHECK(others);
        CHECK(lanes);
        CHECK(products);
    }
    CHECK(groups);
    for (size_t i = 0; i < sizeof first_places / sizeof *first_places; i++)
        check_after(BARE_HEAD, &first_places[i]);
    return done_testing();
}
