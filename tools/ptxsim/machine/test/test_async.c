/* What a block leaves in flight when it ends, in a kernel of two blocks that one thread of the host
 * runs. Catches: a copy, a product, a fence, a carry or a mark of the block before that the next
 * one finds, and the end of a block that waits for nobody. */
#include "test/run_ptx.h"
#include "test/stub.h"
#include "test/tap.h"

enum { THREADS = 128 };

/* Block 0 does `first`, block 1 `second`; a thread's output is w. */
#define HEAD                                                                               \
    PTX_HEAD                                                                               \
    ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q, b, x; .reg .b32 t, s, v, w, " \
    "z; .reg .f32 f<9>; .reg .pred g, h;\n.shared .align 1024 .b8 room[8192]; "            \
    ".shared .align 8 .b64 bar;\nld.param.u64 p, [data]; mov.u32 t, %tid.x; "              \
    "mov.u32 s, room; mad.lo.u32 s, t, 16, s; mad.wide.u32 q, t, 16, p; mov.u32 z, 0; "    \
    "mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0; "             \
    "mov.u32 w, 7; mov.u64 b, 0x0000001000080040;\n"                                       \
    "mov.u32 v, %ctaid.x; setp.ne.u32 g, v, 0; setp.ne.u32 h, t, 0;\n"

#define FILL "st.shared.v4.u32 [s], {z, z, z, z}; fence.proxy.async; bar.sync 0;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define PRODUCT                                                                                  \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, b, b, 1, 1, 1, 0, 0;\n" \
    "wgmma.commit_group.sync.aligned;\n"
#define OTHER_PRODUCT                                                                            \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f5, f6, f7, f8}, b, b, 0, 1, 1, 0, 0;\n" \
    "wgmma.commit_group.sync.aligned;\n"
#define COPY "cp.async.cg.shared.global [s], [q], 16; cp.async.commit_group;\n"

typedef struct Case {
    const char *name, *first, *second;
    const char *fault; /* or NULL: w is 7 */
    const char *place; /* the instruction that the fault names, or NULL: any */
} Case;

static const Case cases[] = {
    {"a fence", FENCE, FILL PRODUCT, "wgmma without any wgmma.fence", NULL},
    {"a product's registers", FILL FENCE PRODUCT, "add.f32 f4, f0, f1;\n", NULL, NULL},
    {"a product, waited for in vain", FILL FENCE PRODUCT,
     "wgmma.wait_group.sync.aligned 0; add.f32 f0, f0, f1;\n", NULL, NULL},
    {"a mark of a product", FILL FENCE PRODUCT,
     FILL FENCE OTHER_PRODUCT "add.f32 f4, f0, f1; wgmma.wait_group.sync.aligned 0;\n", NULL, NULL},
    {"a copy", COPY,
     "mov.u32 w, 7; st.shared.u32 [s], w; cp.async.wait_all; ld.shared.u32 w, [s];\n", NULL, NULL},
    {"a copy of a group", COPY,
     "mov.u32 w, 7; st.shared.u32 [s], w; cp.async.wait_group 0; ld.shared.u32 w, [s];\n", NULL,
     NULL},
    {"a carry", "sub.cc.u32 v, z, 1; add.cc.u32 v, v, v;\n", "addc.u32 w, 7, 0;\n", NULL, NULL},
    {"what was written", "st.shared.u32 [s], z;\n", "ld.shared.u32 v, [s];\n",
     "shared memory is read before it was written", NULL},
    {"a bulk store",
     FILL "@!h cp.async.bulk.global.shared::cta.bulk_group [p], [s], 16;\n"
          "@!h cp.async.bulk.commit_group;\n",
     "",
     "the block ended while a bulk store still reads its shared memory: "
     "cp.async.bulk.wait_group is missing\n  in kernel k, block (0, 0, 0), warp 0, lane 0: ",
     "PTX @!h cp.async.bulk.global.shared::cta.bulk_group [p], [s], 16\n"},
    {"a bulk load",
     "@!h mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@!h mbarrier.arrive.expect_tx.shared.b64 x, [bar], 16;\n"
     "@!h cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [p], 16, [bar];\n",
     "",
     "the block ended while a bulk load still writes its shared memory: nobody waited for its "
     "mbarrier\n  in kernel k, block (0, 0, 0), warp 0, lane 0: ",
     "PTX @!h cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [p]"},
};

static void test(const Case *c) {
    static uint32_t data[4 * THREADS];
    char text[4000], *said;
    unsigned wrong = 0;
    memset(data, 0x33, sizeof data);
    snprintf(text, sizeof text,
             "%s@g bra SECOND;\n%sret;\nSECOND:\n%sst.global.u32 [q], w; ret;\n}\n", HEAD, c->first,
             c->second);
    const Capture capture = begin_capture(STDERR_FILENO);
    const PtxRun run = run_ptx_grid(text, 2, THREADS, data, sizeof data);
    said = end_capture(&capture);
    for (int i = 0; i < THREADS; i++) wrong += data[4 * i] != 7;
    const bool good = c->fault ? run.status == LAUNCH_FAULT && strstr(said, c->fault) &&
                                     (!c->place || strstr(said, c->place))
                               : run.status == LAUNCH_OK && !wrong;
    if (!ok(good, "%s of the block before", c->name)) printf("# %s%s\n", said, run.error);
    free(said);
}

/* ---- Registers of a product ------------------------------------------------------------------ */

#define IN_FLIGHT "a register of a wgmma is %s before wgmma.wait_group has waited for it"

/* What is executed while a product into f0 to f3 is in flight. */
static void test_registers(const char *code, const char *how) {
    static uint32_t data[4 * THREADS];
    char text[4000], expected[100];
    snprintf(text, sizeof text, "%s" FILL FENCE PRODUCT "%s\nret;\n}\n", HEAD, code);
    const Capture capture = begin_capture(STDERR_FILENO);
    const PtxRun run = run_ptx(text, THREADS, data, sizeof data);
    char *said = end_capture(&capture);
    snprintf(expected, sizeof expected, how ? IN_FLIGHT : "%s", how ? how : "");
    const bool good =
        how ? run.status == LAUNCH_FAULT && strstr(said, expected) && strstr(said, "warp 3\n")
            : run.status == LAUNCH_OK;
    if (!ok(good, "%.*s: %s", (int)strcspn(code, "\n"), code, how ? how : "in order"))
        printf("# %s%s\n", said, run.error);
    free(said);
}

static void test_product(void) {
    static const char *const used[] = {"f0", "f1", "f2", "f3"};
    char code[200];
    for (int i = 0; i < 4; i++) {
        snprintf(code, sizeof code, "add.f32 f4, f5, %s;", used[i]);
        test_registers(code, "read");
        snprintf(code, sizeof code, "mov.f32 %s, f5;", used[i]);
        test_registers(code, "written");
        snprintf(code, sizeof code, "wgmma.wait_group.sync.aligned 0; add.f32 f4, f5, %s;",
                 used[i]);
        test_registers(code, NULL);
    }
    test_registers("add.f32 f0, f0, f5;", "written");
    test_registers("mov.f32 f4, f5; add.u32 v, z, 1;", NULL);
    test_registers(PRODUCT, NULL);
    test_registers(PRODUCT "wgmma.wait_group.sync.aligned 1; mov.f32 f4, f0;", "read");
    test_registers("bar.sync 0;", NULL);
}

/* ---- Many copies ----------------------------------------------------------------------------- */

/* One lane begins so many copies and waits as it is told. */
static LaunchStatus begin_copies(int copies, const char *wait, char **said) {
    static uint32_t data[4];
    char text[1000];
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p; .reg .b32 n; "
                      ".reg .pred g;\n.shared .align 16 .b8 room[16];\nld.param.u64 p, [data]; "
                      "mov.u32 n, 0;\nAGAIN: cp.async.ca.shared.global [room], [p], 4; %s "
                      "add.u32 n, n, 1; setp.lt.u32 g, n, %d; @g bra AGAIN;\n"
                      "cp.async.wait_all; ret;\n}\n",
             wait, copies);
    const Capture capture = begin_capture(STDERR_FILENO);
    const PtxRun run = run_ptx(text, 1, data, sizeof data);
    *said = end_capture(&capture);
    return run.status;
}

static void test_too_many(void) {
    char *said;
    is_int(begin_copies(32768, "", &said), LAUNCH_OK, "as many copies as may be in flight");
    free(said);
    is_int(begin_copies(32769, "", &said), LAUNCH_FAULT, "and one more");
    ok(strstr(said, "ptxsim: 32768 asynchronous operations are in flight: is a wait missing?\n"
                    "  in kernel k, block (0, 0, 0), warp 0\n") != NULL,
       "says so");
    free(said);
    is_int(begin_copies(70000, "cp.async.wait_all;", &said), LAUNCH_OK,
           "what has landed does not count");
    free(said);
}

int main(void) {
    setenv("SIM_THREADS", "1", 1);
    setenv("SIM_ASYNC", "late", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) test(&cases[i]);
    test_product();
    test_too_many();
    return done_testing();
}
