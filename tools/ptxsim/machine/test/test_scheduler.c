/* What a block finds when it begins, in memory of the host that held something else before, and
 * when it has run for too long. Catches: registers, local memory or marks of what was written that
 * are left as they were; a budget that ends too early, or only at the end of a turn. */
#include <malloc.h>

#include "test/capture.h"
#include "test/tap.h"

#define HEAD                                                                                \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q, w; .reg .b32 t, a; "  \
             ".reg .pred g;\n.local .align 8 .b8 own[64]; .shared .align 8 .b8 room[64];\n" \
             "ld.param.u64 p, [data]; mov.u32 t, %tid.x; mad.wide.u32 q, t, 8, p;\n"

/* Each of 32 lanes stores what it has, in one block and then in another. */
static void holds(uint64_t expected, const char *what, const char *body) {
    uint64_t data[32], other = 0;
    char text[1000];
    memset(data, 0x11, sizeof data);
    snprintf(text, sizeof text, "%s%s st.global.u64 [q], w; ret;\n}\n", HEAD, body);
    setenv("SIM_THREADS", "1", 1);
    const PtxRun run = run_ptx_grid(text, 2, 32, data, sizeof data);
    unsetenv("SIM_THREADS");
    for (int l = 0; l < 32; l++) other += data[l] != expected;
    ok(run.status == LAUNCH_OK && !other, "%s: %llx %s", what, (unsigned long long)expected,
       run.error);
}

/* A loop of ten instructions, one of them under a guard, the others in straight runs. */
static void test_budget(void) {
    static const char loop[] = HEAD "LOOP: add.u32 a, a, 1; add.u32 a, a, 1; add.u32 a, a, 1; "
                                    "add.u32 a, a, 1; @g add.u32 a, a, 1; add.u32 a, a, 1; "
                                    "add.u32 a, a, 1; add.u32 a, a, 1; add.u32 a, a, 1; "
                                    "bra LOOP;\n}\n";
    static const char *const budgets[] = {"1", "1000", "1007", "65535", "65536", "100000"};
    uint64_t data[32] = {0};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        char said[1000], line[80];
        setenv("SIM_BUDGET", budgets[i], 1);
        snprintf(line, sizeof line, "has executed %d instructions and goes on",
                 atoi(budgets[i]) + 1);
        ok(capture_run(STDERR_FILENO, loop, 32, data, sizeof data, said, sizeof said) ==
                   LAUNCH_FAULT &&
               strstr(said, line),
           "a budget of %s ends an endless loop there: %s", budgets[i], said);
    }
    for (int short_of = 0; short_of < 2; short_of++) {
        char said[1000];
        setenv("SIM_BUDGET", short_of ? "3" : "4", 1);
        const LaunchStatus status =
            capture_run(STDERR_FILENO, HEAD "ret;\n}\n", 32, data, sizeof data, said, sizeof said);
        ok(status == (short_of ? LAUNCH_FAULT : LAUNCH_OK), "a budget of %d for 4 instructions",
           4 - short_of);
    }
    unsetenv("SIM_BUDGET");
}

/* SIM_ORDER: the warps of a block, in the order in which they come. */
static void test_order(int order, const char *expected) {
    uint32_t data[8] = {0};
    char text[1000], number[8], came[4] = "";
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 t, n; "
                      ".reg .pred g;\nld.param.u64 p, [data]; mov.u32 t, %%tid.x; "
                      "and.b32 n, t, 31; setp.ne.u32 g, n, 0; @g exit; shr.u32 t, t, 5;\n"
                      "atom.global.add.u32 n, [p], 1; mad.wide.u32 q, n, 4, p; "
                      "st.global.u32 [q+4], t; ret;\n}\n");
    snprintf(number, sizeof number, "%d", order);
    setenv("SIM_ORDER", number, 1);
    const PtxRun run = run_ptx(text, 96, data, sizeof data);
    for (int i = 0; i < 3; i++) came[i] = (char)('0' + data[i + 1] % 10);
    ok(run.status == LAUNCH_OK, "SIM_ORDER=%d", order);
    is_text(came, expected, "warps in that order");
    unsetenv("SIM_ORDER");
}

static void test_orders(void) {
    static const char *const orders[] = {"012", "210", "120", "102", "201", "021", "012", "210"};
    for (int order = 0; order < 8; order++) test_order(order, orders[order]);
}

int main(void) {
    uint64_t data[32] = {0};
    char said[1000];
    test_budget();
    test_orders();
    mallopt(M_PERTURB, 0x5a); /* what malloc gives is full of 0xa5, and what is freed of 0x5a */
    holds(UINT64_MAX, "a register of 64 bits", "");
    holds(UINT32_MAX, "a register of 32 bits", "cvt.u64.u32 w, a;");
    holds(1, "a predicate", "mov.u64 w, 0; @g mov.u64 w, 1;");
    holds(UINT64_MAX, "local memory", "ld.local.u64 w, [own+56]; st.local.u64 [own+56], q;");
    ok(capture_run(STDERR_FILENO, HEAD "ld.shared.u64 w, [room]; ret;\n}\n", 32, data, sizeof data,
                   said, sizeof said) == LAUNCH_FAULT &&
           strstr(said, "read before it was written"),
       "shared memory: never written");
    return done_testing();
}
