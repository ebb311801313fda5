/* A race between blocks of a launch: what is said of it, whatever order they end in. Catches: a
 * block that is named wrongly, a race in another place than the first, one that is preferred to an
 * earlier fault or passed over for a later one, another block's store that is taken for a lane's.
 */
#include "test/run_ptx.h"
#include "test/stub.h"
#include "test/tap.h"

#define KERNEL(code)                                                                             \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 i, b, n; .reg .b64 p; "          \
             ".reg .pred g, h;\nld.param.u64 p, [data]; mov.u32 b, %ctaid.x; mov.u32 i, 0;\n"    \
             "setp.ne.u32 g, b, 0; @g bra GO;\nLOOP: add.u32 i, i, 1; setp.lt.u32 h, i, 20000; " \
             "@h bra LOOP;\nGO: " code "\nret;\n}\n"
/* Block 0 ends last, and each two write one word. */
#define PAIRS "shr.u32 n, b, 1; mad.wide.u32 p, n, 4, p; st.global.u32 [p], b;"

/* Eight times: from `from` on what is said is what is expected. */
static void says(const char *code, const char *order, const LaunchShape *shape, const char *from,
                 const char *expected) {
    int wrong = 0;
    char *said = NULL;
    setenv("SIM_ORDER", order, 1);
    for (int i = 0; i < 8; i++) {
        void *memory = memory_allocate(256);
        const Capture capture = begin_capture(STDERR_FILENO);
        run_ptx_shape(code, shape, memory);
        free(said);
        said = end_capture(&capture);
        const char *rest = strstr(said, from);
        wrong += !rest || strcmp(rest, expected) != 0;
        memory_release(memory);
    }
    if (!ok(wrong == 0, "SIM_ORDER=%s: always the same (%d wrong)", order, wrong))
        printf("# expected \"%s\"\n# got %s", expected, said);
    free(said);
}

#define SIDE(block, what, code)                                               \
    "  block (" block "): " what "\n    at an unknown line (build with nvcc " \
    "-lineinfo)\n    PTX " code "\n"
#define RACE(byte)                                                                             \
    "ptxsim: data race between blocks: both use the same bytes of global memory, one of them " \
    "writes, and nothing orders them (byte " byte " of an allocation of 256)\n"
#define MIXED "  one is strong (atomic, volatile or relaxed), the other is not\n"
#define STORE "st.global.u32 [p], b"
static const LaunchShape line = {{8, 1, 1}, {1, 1, 1}, 0, false};

static void test_first(void) {
    static const char pairs[] = KERNEL(PAIRS);
    says(pairs, "0", &line, "ptxsim",
         RACE("0") "  in kernel k\n" SIDE("0, 0, 0", "a write", STORE)
             SIDE("1, 0, 0", "a write", STORE));
    says(pairs, "1", &line, "  in",
         "  in kernel k\n" SIDE("7, 0, 0", "a write", STORE) SIDE("6, 0, 0", "a write", STORE));
}

/* A block that finds what another has stored at the same moment does not take it for its own. */
static void test_at_once(void) {
    static const char code[] =
        KERNEL("mov.u32 i, 0;\nMORE: " STORE "; add.u32 i, i, 1; setp.lt.u32 h, i, 5000; "
               "@h bra MORE;");
    const LaunchShape pair = {{3, 1, 1}, {1, 1, 1}, 0, false};
    says(code, "0", &pair, "  in",
         "  in kernel k\n" SIDE("0, 0, 0", "a write", STORE) SIDE("1, 0, 0", "a write", STORE));
}

/* The last of 2 x 4 blocks adds to what the fifth reads. */
static void test_deep(void) {
    static const char code[] =
        KERNEL("mov.u32 n, %ctaid.y; mov.u32 b, %ctaid.z; mad.lo.u32 b, b, 2, n; "
               "mad.wide.u32 p, b, 4, p; setp.eq.u32 g, b, 7; "
               "@g atom.global.add.u32 n, [p+-12], 1; @!g ld.global.u32 n, [p];");
    const LaunchShape shape = {{1, 2, 4}, {1, 1, 1}, 0, false};
    says(code, "0", &shape, "  in",
         "  in kernel k\n" SIDE("0, 0, 2", "a read", "@!g ld.global.u32 n, [p]")
             SIDE("0, 1, 3", "a strong write", "@g atom.global.add.u32 n, [p+-12], 1") MIXED);
}

/* What goes wrong in the first place counts, be it a race or within a block, or both. */
static void test_faults(void) {
    static const char all[] = KERNEL("setp.eq.u32 g, b, 3; @g st.global.u32 [p+400], b; " PAIRS);
    static const char behind[] = KERNEL("setp.eq.u32 g, b, 3; @g st.global.u32 [p+400], b; "
                                        "setp.lt.u32 g, b, 4; @g ret; " PAIRS);
    static const char both[] = KERNEL("setp.lt.u32 g, b, 2; @g ret; " PAIRS
                                      " setp.eq.u32 g, b, 3; @g st.global.u32 [p+400], b;");
    says(all, "0", &line, "  in",
         "  in kernel k\n" SIDE("0, 0, 0", "a write", STORE) SIDE("1, 0, 0", "a write", STORE));
#define FAULT                                                            \
    "  in kernel k, block (3, 0, 0), warp 0, lane 0: thread (0, 0, 0)\n" \
    "  at an unknown line (build with nvcc -lineinfo)\n  PTX @g st.global.u32 [p+400], b\n"
    says(behind, "0", &line, "  in", FAULT);
    says(both, "0", &line, "  in",
         FAULT RACE("4") "  in kernel k\n" SIDE("2, 0, 0", "a write", STORE)
             SIDE("3, 0, 0", "a write", STORE));
}

int main(void) {
    setenv("SIM_RACE", "1", 1);
    setenv("SIM_THREADS", "4", 1);
    test_first();
    test_at_once();
    test_deep();
    test_faults();
    return done_testing();
}
