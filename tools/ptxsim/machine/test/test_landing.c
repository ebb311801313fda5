/* When copies land that nobody has waited for, and in which order. Catches: a load that lands
 * before the one that is waited for, a fault of a load that names the instruction that waits, a
 * copy of no bytes that reads its source. */
#include "test/capture.h"
#include "test/tap.h"

enum { WORDS = 64 };
static uint32_t data[WORDS];

/* One thread. Both tiles of shared memory are full of 7, what is loaded of 5; d and e are stored.
 */
#define HEAD                                                                                   \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, x; .reg .b32 d, e, a; "     \
             ".reg .pred g;\n.shared .align 128 .b8 one[16]; .shared .align 128 .b8 two[16]; " \
             ".shared .align 8 .b64 bar; .shared .align 8 .b64 other;\n"                       \
             "ld.param.u64 p, [data]; mov.u32 a, 7; st.shared.v4.u32 [one], {a, a, a, a}; "    \
             "st.shared.v4.u32 [two], {a, a, a, a}; mbarrier.init.shared.b64 [bar], 1; "       \
             "mbarrier.init.shared.b64 [other], 1; fence.proxy.async;\n"
#define TAIL "\nst.global.v2.u32 [p+64], {d, e}; ret;\n}\n"
#define LOAD "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
#define LOAD_ONE LOAD "[one], [p], 16, [bar];\n"
#define LOAD_TWO LOAD "[two], [p], 16, [bar];\n"
#define LOAD_OTHER LOAD "[two], [p], 16, [other];\n"
#define EXPECT_BAR "mbarrier.arrive.expect_tx.shared.b64 x, [bar], 16;\n"
#define EXPECT_MANY "mbarrier.arrive.expect_tx.shared.b64 x, [bar], 240;\n"
#define EXPECT_OTHER "mbarrier.arrive.expect_tx.shared.b64 x, [other], 16;\n"
#define WAIT_BAR "L: mbarrier.try_wait.parity.shared.b64 g, [bar], 0; @!g bra L;\n"
#define WAIT_AGAIN "M: mbarrier.try_wait.parity.shared.b64 g, [bar], 1; @!g bra M;\n"
#define WAIT_OTHER "N: mbarrier.try_wait.parity.shared.b64 g, [other], 0; @!g bra N;\n"
#define TEST_BAR "O: mbarrier.test_wait.parity.shared.b64 g, [bar], 0; @!g bra O;\n"
#define READ "ld.shared.u32 d, [one]; ld.shared.u32 e, [two];\n"

static LaunchStatus run(const char *body, char *said, size_t size) {
    char text[4000];
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    for (int i = 0; i < WORDS; i++) data[i] = 5;
    return capture_run(STDERR_FILENO, text, 1, data, sizeof data, said, size);
}

/* d and e after it. */
static void gives(const char *name, const char *body, uint32_t d, uint32_t e) {
    char said[1000];
    const LaunchStatus status = run(body, said, sizeof said);
    if (!ok(status == LAUNCH_OK && data[16] == d && data[17] == e, "%s", name))
        printf("# %u and %u %s\n", data[16], data[17], said);
}

static void test_order(void) {
    setenv("SIM_ASYNC", "late", 1);
    gives("the load that is waited for comes first, though it is younger",
          EXPECT_BAR EXPECT_OTHER LOAD_ONE LOAD_OTHER WAIT_OTHER READ WAIT_BAR, 7, 5);
    gives("of two that are, the older one",
          EXPECT_BAR LOAD_ONE LOAD_TWO WAIT_BAR EXPECT_BAR READ WAIT_AGAIN, 5, 7);
    gives("where nobody waits but tests, the oldest one",
          EXPECT_BAR EXPECT_OTHER LOAD_ONE LOAD_OTHER TEST_BAR READ WAIT_OTHER, 5, 7);
    setenv("SIM_ASYNC", "early", 1);
    gives("early: both are there at once",
          EXPECT_BAR EXPECT_OTHER LOAD_ONE LOAD_OTHER READ WAIT_BAR WAIT_OTHER, 5, 5);
}

/* The last of sixteen loads, as many as there is room for at first, is waited for alone. */
static void test_many(void) {
    char body[3000] = EXPECT_OTHER EXPECT_MANY;
    setenv("SIM_ASYNC", "late", 1);
    for (int i = 0; i < 15; i++) strcat(body, LOAD_ONE);
    gives("sixteen loads", strcat(body, LOAD_OTHER WAIT_OTHER READ WAIT_BAR), 7, 5);
}

/* The mbarrier is none any more when its load lands, while the thread waits for another one. */
static void test_fault(void) {
    char said[1000];
    setenv("SIM_ASYNC", "late", 1);
    const LaunchStatus status =
        run(EXPECT_BAR LOAD_ONE "mbarrier.inval.shared.b64 [bar];\n" WAIT_OTHER READ, said,
            sizeof said);
    if (!ok(status == LAUNCH_FAULT && strstr(said, "was invalidated") && strstr(said, "lane 0: ") &&
                strstr(said, "PTX " LOAD),
            "a fault names the load, not what waits"))
        printf("# %s\n", said);
}

/* cp.async: none of its bytes are read, from nowhere; or the first of them. */
static void test_few_bytes(void) {
    for (int early = 0; early < 2; early++) {
        setenv("SIM_ASYNC", early ? "early" : "late", 1);
        gives("a copy of no bytes writes zeros",
              "mov.u64 x, 0; mov.u32 d, 0; cp.async.cg.shared.global [one], [x], 16, d; "
              "cp.async.wait_all; ld.shared.v2.u32 {d, e}, [one];",
              0, 0);
        gives("a copy of six bytes, and zeros",
              "mov.u32 d, 6; cp.async.cg.shared.global [one], [p], 16, d; "
              "cp.async.wait_all; ld.shared.v2.u32 {d, e}, [one];",
              5, 5);
        gives("behind which all is zero",
              "mov.u32 d, 6; cp.async.cg.shared.global [one], [p], 16, d; "
              "cp.async.wait_all; ld.shared.v2.u32 {d, e}, [one+8];",
              0, 0);
    }
}

/* The record of a block knows which copies arrived at an mbarrier. */
static void test_record(void) {
    char path[] = "/tmp/test_landing.XXXXXX", text[1 << 16] = "";
    const int descriptor = mkstemp(path);
    setenv("SIM_RECORD", path, 1);
    gives("an arrival of copies",
          "cp.async.cg.shared.global [one], [p], 16; "
          "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" WAIT_BAR READ,
          5, 7);
    unsetenv("SIM_RECORD");
    FILE *file = fdopen(descriptor, "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file) fclose(file);
    unlink(path);
    const char *phase = strstr(text, "\"phase\":0,\"expected\":1,\"complete\":true");
    const char *arrivals = phase ? strstr(phase, "\"arrivals\":[0,") : NULL;
    ok(arrivals && arrivals - phase < 100, "is recorded");
}

int main(void) {
    test_order();
    test_many();
    test_fault();
    test_few_bytes();
    test_record();
    return done_testing();
}
