/* SIM_ORDER: blocks, warps and lanes in other orders. Catches: a setting that changes no order, a
 * block that runs twice or never, an order that shows in a sum that does not depend on it. */
#include "test/capture.h"
#include "test/tap.h"

enum { BLOCKS = 6, THREADS = 96, ALL = BLOCKS * THREADS, ORDERS = 9 };

/* data[0] is a sum, data[1] the number of the next arrival, data[2 + i] the arrival of thread i. */
#define HEAD                                                                                  \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t, c, n, i, v; .reg .f32 f; " \
             ".reg .b64 p, q; .reg .pred g;\nld.param.u64 p, [data]; mov.u32 t, %tid.x; "     \
             "mov.u32 c, %ctaid.x; mov.u32 n, %ntid.x; mad.lo.u32 i, c, n, t; "               \
             "mad.wide.u32 q, i, 4, p;\n"
static const char floats[] =
    HEAD "add.u32 v, i, 1; cvt.rn.f32.u32 f, v; rcp.approx.f32 f, f; red.global.add.f32 [p], f;\n"
         "ret;\n}\n";
static const char integers[] = HEAD "red.global.add.u32 [p], i;\nret;\n}\n";
static const char arrivals[] =
    HEAD "atom.global.add.u32 v, [p+4], 1; st.global.u32 [q+8], v;\nret;\n}\n";

typedef struct Memory {
    uint32_t sum, next, arrival[ALL];
} Memory;

static bool run_grid(const char *text, uint32_t blocks, uint32_t threads, int order,
                     Memory *memory) {
    char number[16];
    snprintf(number, sizeof number, "%d", order);
    setenv("SIM_ORDER", number, 1);
    memset(memory, 0, sizeof *memory);
    return run_ptx_grid(text, blocks, threads, memory, sizeof *memory).status == LAUNCH_OK;
}

static bool run(const char *text, int order, Memory *memory) {
    return run_grid(text, BLOCKS, THREADS, order, memory);
}

static bool each_arrived_once(const Memory *memory) {
    bool seen[ALL] = {false};
    for (int i = 0; i < ALL; i++)
        if (memory->arrival[i] >= ALL || seen[memory->arrival[i]])
            return false;
        else
            seen[memory->arrival[i]] = true;
    return true;
}

/* Which of block, warp and lane come in another order than they are numbered: bits 0 to 2. */
static unsigned moved(const Memory *memory) {
    const uint32_t *arrival = memory->arrival;
    return (arrival[THREADS] < arrival[0] ? 1u : 0) | (arrival[32] < arrival[0] ? 2u : 0) |
           (arrival[1] < arrival[0] ? 4u : 0);
}

/* The blocks in the order in which one thread of the host runs them. */
static void test_blocks(uint32_t blocks, int order, const char *expected) {
    static const char text[] = HEAD "atom.global.add.u32 v, [p], 1; mad.wide.u32 q, v, 4, p; "
                                    "st.global.u32 [q+4], c;\nret;\n}\n";
    uint32_t data[16] = {0};
    char number[16], came[16] = "";
    snprintf(number, sizeof number, "%d", order);
    setenv("SIM_ORDER", number, 1);
    setenv("SIM_THREADS", "1", 1);
    run_ptx_grid(text, blocks, 1, data, sizeof data);
    for (uint32_t i = 0; i < blocks; i++) came[i] = (char)('0' + data[i + 1] % 10);
    is_text(came, expected, "blocks in that order");
    unsetenv("SIM_THREADS");
}

/* A try_wait may come back before its phase is over. Who does not look reads what is not there. */
static void test_timeouts(void) {
    for (int i = 0; i < 4; i++) {
        const int order = i / 2;
        const bool looks = i % 2;
        char text[1500], said[2000], number[16];
        uint32_t data[4] = {7, 0, 0, 0};
        snprintf(text, sizeof text,
                 "%s.reg .b64 x; .shared .align 16 .b8 room[16]; .shared .align 8 .b64 bar;\n"
                 "mbarrier.init.shared.b64 [bar], 1; fence.proxy.async;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 x, [bar], 16;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], "
                 "[p], 16, [bar];\n"
                 "AGAIN: mbarrier.try_wait.parity.shared.b64 g, [bar], 0;\n%s"
                 "ld.shared.u32 v, [room]; st.global.u32 [p+4], v;\nret;\n}\n",
                 HEAD, looks ? "@!g bra AGAIN;\n" : "");
        snprintf(number, sizeof number, "%d", order);
        setenv("SIM_ORDER", number, 1);
        const LaunchStatus status =
            capture_run(STDERR_FILENO, text, 1, data, sizeof data, said, sizeof said);
        const bool right = looks || order == 0;
        if (!ok(right ? status == LAUNCH_OK && data[1] == 7
                      : status == LAUNCH_FAULT && strstr(said, "read before it was written"),
                "a try_wait whose result %s, SIM_ORDER=%d", looks ? "counts" : "does not", order))
            printf("# %s\n", said);
    }
}

/* Of lanes that store at one place. */
static void test_stores(void) {
    static const char text[] = HEAD "st.global.v2.u32 [p], {t, i};\nret;\n}\n";
    Memory memory;
    for (int order = 0; order < 4; order++)
        ok(run_grid(text, 1, 32, order, &memory) && memory.sum == (order % 2 ? 0 : 31) &&
               memory.next == memory.sum,
           "the highest lane's value stays, or the lowest: SIM_ORDER=%d", order);
}

int main(void) {
    test_blocks(7, 0, "0123456");
    test_blocks(7, 1, "6543210");
    test_blocks(7, 2, "6304152");
    test_blocks(7, 3, "6135024"); /* steps of five */
    test_blocks(6, 2, "501234");  /* of five, because three and four have a divisor with six */
    test_blocks(1, 5, "0");
    Memory usual, other;
    int sums = 0, turned = 0;
    ok(run(arrivals, 0, &usual) && each_arrived_once(&usual) && moved(&usual) == 0,
       "the usual order is that of the numbers");
    ok(run(arrivals, 1, &other) && moved(&other) == 7,
       "SIM_ORDER=1 turns blocks, warps and lanes round");
    for (int i = 0; i < ALL; i++) turned += other.arrival[i] == (uint32_t)(ALL - 1 - i);
    is_int(turned, ALL, "so that the last one is the first");
    for (int order = 1; order < ORDERS; order++)
        ok(run(arrivals, order, &other) && each_arrived_once(&other) &&
               memcmp(&usual, &other, sizeof usual) != 0,
           "SIM_ORDER=%d is another order, and every thread runs once", order);
    run(floats, 0, &usual);
    for (int order = 1; order < ORDERS; order++)
        sums += run(floats, order, &other) && other.sum != usual.sum;
    ok(sums >= ORDERS / 2, "a sum of floats by atomics depends on it: %d of %d differ", sums,
       ORDERS - 1);
    run(integers, 0, &usual);
    for (int order = 1; order < ORDERS; order++)
        ok(run(integers, order, &other) && other.sum == usual.sum &&
               other.sum == ALL * (ALL - 1) / 2,
           "a sum of integers does not: SIM_ORDER=%d", order);
    test_stores();
    test_timeouts();
    return done_testing();
}
