/* Where a fault says that it was: block, warp, lane and thread in three dimensions, and what the
 * warps of a deadlock wait for. Catches: an index that stands for another one, a lane of another
 * warp, a check that is left out, so that something else is said, or nothing. */
#include "test/run_ptx.h"
#include "test/stub.h"
#include "test/tap.h"

/* Of blocks of (5, 4, 3) threads only (1, 2, 3) goes on; t is the thread. */
#define HEAD                                                                                     \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p; .reg .b32 b, n, t, x, y, z; " \
             ".reg .pred g;\n.shared .align 8 .b8 room[512]; mov.u32 x, %ctaid.x; "              \
             "mov.u32 y, %ctaid.y; mov.u32 z, %ctaid.z; mad.lo.u32 b, z, 4, y; "                 \
             "mad.lo.u32 b, b, 3, x; setp.ne.u32 g, b, 43; @g ret;\n"                            \
             "mov.u32 x, %tid.x; mov.u32 y, %tid.y; mov.u32 z, %tid.z; mad.lo.u32 t, z, 4, y; "  \
             "mad.lo.u32 t, t, 5, x; mov.u64 p, 16; mov.u32 n, 0;\n"
#define TAIL "\nret;\n}\n"
/* Each thread has written a word of its own at x; the first warp goes on. */
#define ROW                                                                           \
    HEAD "mov.u32 x, room; mad.lo.u32 x, t, 4, x; st.shared.u32 [x], n; bar.sync 0; " \
         "setp.ge.u32 g, t, 32; @g ret;\n"

enum { PIECES = 4 };

typedef struct Case {
    const char *text, *said[PIECES]; /* in this order */
} Case;

static const Case cases[] = {
    {HEAD "setp.eq.u32 g, t, 47; @g ld.global.u32 n, [p];" TAIL,
     {"load out of bounds: 4 bytes at 0x10",
      "kernel k, block (1, 2, 3), warp 1, lane 15: thread (2, 1, 2)\n"}},
    {HEAD "setp.eq.u32 g, t, 32; @g st.global.u32 [p], n;" TAIL,
     {"store out of bounds: 4 bytes at 0x10",
      "block (1, 2, 3), warp 1, lane 0: thread (2, 2, 1)\n"}},
    {HEAD "bar.sync 16;" TAIL,
     {"barrier 16 does not exist: there are 16", "kernel k, block (1, 2, 3), warp 0\n"}},
    {HEAD "bar.sync 15, 64;" TAIL, {NULL}},
    {HEAD "bar.sync 15, 96;" TAIL, {"barrier 15 waits for 96 threads, the block has 60"}},
    {HEAD "bar.sync 1, 40;" TAIL, {"barrier 1 of 40 threads: not a multiple of 32"}},
    {HEAD "bar.sync 1, n;" TAIL, {"barrier 1 of 0 threads: not a multiple of 32"}},
    {HEAD "setp.ge.u32 g, t, 32; @g bra HIGH; bar.sync 3, 64; bra END;\nHIGH: bar.sync 3, 32;\n"
          "END:" TAIL,
     {"barrier 3 is used for 32 threads while others use it for 64", "block (1, 2, 3), warp 1\n"}},
    {HEAD "setp.ge.u32 g, t, 16; @g bra HIGH; bar.sync 3; HIGH: mov.u32 t, 1;" TAIL,
     {"barrier in divergent code: lanes 0x0000ffff are here, lanes 0xffff0000 elsewhere",
      "warp 0, lane 0: thread (0, 0, 0)\n"}},
    {HEAD "setp.ge.u32 g, t, 16; @g bra HIGH; bar.warp.sync -1; HIGH: bar.sync 0;" TAIL,
     {"barrier in divergent code: lanes 0xffff0000 are here, lanes 0x0000ffff elsewhere",
      "  lanes 0x0000ffff wait at PTX line 9\n"}},
    {HEAD
     "setp.ge.u32 g, t, 16; @g bra HIGH; bar.warp.sync -1; bra END; HIGH: bar.sync 0; END:" TAIL,
     {"bar.warp.sync waits for lanes 0xffff0000, which are elsewhere (lanes 0x0000ffff execute it)",
      "  lanes 0xffff0000 wait at PTX line 9\n"}},
    {HEAD "setp.ge.u32 g, t, 16; @g bra HIGH; bar.warp.sync -1; bra END;\n"
          "HIGH: bar.warp.sync 0xffff000f; END:" TAIL,
     {"bar.warp.sync waits for lanes 0xffff0000, which are elsewhere (lanes 0x0000ffff execute it)",
      "  lanes 0xffff0000 wait at PTX line 10\n"}},
    {HEAD "setp.ge.u32 g, t, 32; @g bra HIGH; bar.sync 3, 64; HIGH:" TAIL,
     {"deadlock", "kernel k, block (1, 2, 3)\n",
      "  warp 0, lanes 0xffffffff, waits at barrier 3 (32 of 64 threads have arrived)",
      "  warp 1, has ended\n"}},
    {HEAD "setp.ge.u32 g, t, 32; @!g bar.sync 3; @g bar.sync 4;" TAIL,
     {"deadlock", "  warp 0, lanes 0xffffffff, waits at barrier 3 (32 of 64 threads have arrived)",
      "  warp 1, lanes 0x0fffffff, waits at barrier 4 (32 of 64 threads have arrived)"}},
    {HEAD "setp.eq.u32 g, t, 35; @g st.shared.u32 [room], t; @!g st.shared.u32 [room], n;" TAIL,
     {"data race", "kernel k, block (1, 2, 3)\n", "earlier: ", "later: "}},
    {HEAD "setp.eq.u32 g, t, 35; @g mbarrier.init.shared.b64 [room+8], 1;\n@g mbarrier.arrive"
          ".shared.b64 _, [room+8], 2;" TAIL,
     {"mbarrier at 0x408: more arrivals than this phase", "warp 1, lane 3: thread (0, 3, 1)\n"}},
    {HEAD "setp.eq.u32 g, t, 35; mov.u64 p, 0; @g st.shared.u64 [room+8], p;\n"
          "@g cp.async.mbarrier.arrive.noinc.shared.b64 [room+8];\n"
          "setp.ge.u32 g, t, 32; @g bar.sync 1, 64;" TAIL,
     {"mbarrier at 0x408: this mbarrier was never initialised",
      "warp 1, lane 3: thread (0, 3, 1)\n"}},
    {HEAD "setp.eq.u32 g, t, 0; @g mbarrier.init.shared.b64 [room+8], 1;\n@!g ret;\n"
          "TEST: mbarrier.test_wait.parity.shared.b64 g, [room+8], 0; @!g bra TEST;" TAIL,
     {"deadlock",
      "  warp 0, lanes 0x00000001, waits for the mbarrier at 0x408, parity 0; in its phase 0, of "
      "parity 0, 1 of 1 arrivals and 0 bytes are missing",
      "  warp 1, has ended"}},
    {HEAD "setp.eq.u32 g, t, 0; @g mbarrier.init.shared.b64 [room+8], 2;\n@!g ret;\n"
          "mbarrier.arrive.shared.b64 _, [room+8];\nmbarrier.arrive.shared.b64 _, [room+8];\n"
          "mbarrier.arrive.shared.b64 p, [room+8];\n"
          "TEST: mbarrier.test_wait.shared.b64 g, [room+8], p; @!g bra TEST;" TAIL,
     {"deadlock",
      "waits for the mbarrier at 0x408, parity 1; in its phase 1, of parity 1, 1 of 2 "}},
    {HEAD "mov.u32 x, room; mad.lo.u32 x, t, 8, x; mbarrier.init.shared.b64 [x], 1; bar.sync 0;\n"
          "setp.ge.u32 g, t, 2; @g ret; setp.eq.u32 g, t, 0; @g bra ZERO;\n"
          "ONE: mbarrier.try_wait.parity.shared.b64 g, [x], 0; @!g bra ONE; ret;\n"
          "ZERO: mbarrier.try_wait.parity.shared.b64 g, [x], 0; @!g bra ZERO;" TAIL,
     {"deadlock", "  warp 0, lanes 0x00000001, waits for the mbarrier at 0x400", "PTX line 12; ",
      "lanes 0x00000002 wait at PTX line 11\n"}},
    {ROW "ld.shared.u32 n, [x]; ld.shared.u32 n, [x]; st.shared.u32 [x], n;" TAIL, {NULL}},
    {ROW "ld.shared.u32 n, [x]; ld.shared.u32 n, [x+4]; st.shared.u32 [x], n;" TAIL,
     {"data race within a warp", "earlier: read by several lanes of warp 0",
      "later: write by warp 0, lane 1\n"}},
    {HEAD "setp.eq.u32 g, t, 35; @g mbarrier.arrive.shared.b64 _, [room+4];" TAIL,
     {"an mbarrier at 0x404, which is not 8-byte aligned", "warp 1, lane 3: thread (0, 3, 1)\n"}},
};

/* A name as long as a report, and longer: what does not fit is left out. */
static void test_long(void) {
    enum { REPORT = 4096, NAME = 3 * REPORT };
    static char name[NAME + 1], text[NAME + 200], said[NAME + 200];
    const LaunchShape shape = {{1, 1, 1}, {1, 1, 1}, 0, false};
    char error[400] = "";
    memset(name, 'k', NAME);
    snprintf(text, sizeof text, PTX_HEAD ".visible .entry %s()\n{\nbar.sync 16; ret;\n}\n", name);
    Module *module = module_load(text, strlen(text), error, sizeof error);
    Kernel *kernel = module ? module_kernel(module, name, error, sizeof error) : NULL;
    if (!ok(kernel != NULL, "a kernel of a long name")) printf("# %s\n", error);
    const Capture capture = begin_capture(STDERR_FILENO);
    const LaunchStatus status = kernel ? launch_run(kernel, &shape, NULL) : LAUNCH_OK;
    char *words = end_capture(&capture);
    snprintf(said, sizeof said, "%s", words);
    ok(status == LAUNCH_FAULT && strlen(said) == REPORT - 1, "a report ends where its room does");
    free(words);
    module_free(module);
}

static LaunchStatus run(const char *text, char *said, size_t size) {
    const LaunchShape shape = {{3, 4, 5}, {5, 4, 3}, 0, false};
    void *memory = memory_allocate(64);
    const Capture capture = begin_capture(STDERR_FILENO);
    const PtxRun result = run_ptx_shape(text, &shape, memory);
    char *words = end_capture(&capture);
    snprintf(said, size, "%s%s", words, result.error);
    free(words);
    memory_release(memory);
    return result.status;
}

int main(void) {
    setenv("SIM_RACE", "1", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        char said[4096];
        const LaunchStatus status = run(c->text, said, sizeof said);
        const char *at = said;
        for (int k = 0; k < PIECES && at && c->said[k]; k++) at = strstr(at, c->said[k]);
        if (!ok(status == (c->said[0] ? LAUNCH_FAULT : LAUNCH_OK) && at, "%s",
                c->said[0] ? c->said[0] : "no fault"))
            printf("# %s\n", said);
    }
    test_long();
    return done_testing();
}
