/* Named barriers as warps come to them, end or poll. Catches: a warp that has ended and is waited
 * for, one too many that is released, a release that a warp that polls does not notice. The forms
 * of the instructions are test_ops_warp.c's. */
#include "test/capture.h"
#include "test/tap.h"

enum { MOST = 1024 };

/* Thread t has its number in t and its warp's in w, and stores d. */
#define HEAD                                                                                    \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 t, w, s, d; "   \
             ".reg .pred g, h;\n.shared .align 16 .b8 room[4096]; .shared .align 8 .b64 bar;\n" \
             "ld.param.u64 p, [data]; mov.u32 t, %%tid.x; shr.u32 w, t, 5; mov.u32 s, room; "   \
             "mad.lo.u32 s, t, 4, s; mad.wide.u32 q, t, 4, p; mov.u32 d, 0;\n"
#define TAIL "\nst.global.u32 [q], d; ret;\n}\n"

static uint32_t data[MOST];

static LaunchStatus run(const char *body, uint32_t threads) {
    char text[2000], said[1000];
    snprintf(text, sizeof text, HEAD "%s" TAIL, body);
    memset(data, 0, sizeof data);
    const LaunchStatus status =
        capture_run(STDERR_FILENO, text, threads, data, sizeof data, said, sizeof said);
    if (*said) printf("# %s\n", said);
    return status;
}

/* One of four warps ends, before or after the others have come. */
static void test_ended(int who) {
    char body[400];
    int wrong = 0;
    snprintf(body, sizeof body,
             "setp.eq.u32 g, w, %d; @g exit; st.shared.u32 [s], t; bar.sync 0; "
             "xor.b32 s, s, 4; ld.shared.u32 d, [s];",
             who);
    const LaunchStatus status = run(body, 128);
    for (uint32_t i = 0; i < 128; i++) wrong += data[i] != ((int)i / 32 == who ? 0 : (i ^ 1));
    ok(status == LAUNCH_OK && !wrong, "warp %d ends and the others do not wait for it", who);
    snprintf(body, sizeof body,
             "setp.eq.u32 g, w, %d; @g exit; setp.lt.u32 g, t, 128; "
             "bar.red.and.pred h, 0, g; selp.b32 d, 1, 0, h;",
             who);
    const LaunchStatus all = run(body, 128);
    wrong = 0;
    for (uint32_t i = 0; i < 128; i++) wrong += data[i] != ((int)i / 32 != who);
    ok(all == LAUNCH_OK && !wrong, "nor are its lanes asked whether all are");
}

/* As many warps as there can be, each of which reads what the next one wrote. */
static void test_most(void) {
    int wrong = 0;
    const LaunchStatus status = run("st.shared.u32 [s], t; bar.sync 0; xor.b32 s, s, 128; "
                                    "ld.shared.u32 d, [s];",
                                    MOST);
    for (uint32_t i = 0; i < MOST; i++) wrong += data[i] != (i ^ 32);
    ok(status == LAUNCH_OK && !wrong, "32 warps meet");
}

/* Warps 0 and 1 meet while 2 waits at another barrier, until 3 comes there, last of all. */
static void test_two(void) {
    int wrong = 0;
    const LaunchStatus status =
        run("setp.ge.u32 g, w, 2; @g bra TWO; bar.sync 1, 64; mov.u32 d, 5; bar.arrive 3, 128; "
            "bra END; TWO: setp.eq.u32 g, w, 3; @g bar.sync 3, 128; @g bra MORE; "
            "bar.arrive 3, 128; MORE: @g st.shared.u32 [s], t; bar.sync 2, 64; "
            "@!g ld.shared.u32 d, [s+128]; END:",
            128);
    for (uint32_t i = 0; i < 128; i++) wrong += data[i] != (i < 64 ? 5 : i < 96 ? i + 32 : 0);
    ok(status == LAUNCH_OK && !wrong, "who waits at another barrier is not released");
}

/* Warp 1 lets warp 0 go on, which has come to the barrier long before, and polls until that has
 * arrived. Nobody waits for the copy of warp 0, which is to land as late as it may. */
static void test_poll(void) {
    setenv("SIM_ASYNC", "late", 1);
    const LaunchStatus status =
        run("setp.eq.u32 h, t, 0; @h mbarrier.init.shared.b64 [bar], 32; bar.sync 0; "
            "setp.ne.u32 g, w, 0; @g bra POLL; mov.u32 d, 7; st.shared.u32 [s], d; "
            "cp.async.ca.shared.global [s], [q], 4; cp.async.mbarrier.arrive.noinc.shared.b64 "
            "[bar]; bar.sync 1, 64; ld.shared.u32 d, [s]; bra END; "
            "POLL: nanosleep.u32 20; nanosleep.u32 20; bar.arrive 1, 64; "
            "AGAIN: mbarrier.test_wait.parity.shared.b64 h, [bar], 0; @!h bra AGAIN; END:",
            64);
    int wrong = 0;
    for (int i = 0; i < 32; i++) wrong += data[i] != 7;
    ok(status == LAUNCH_OK && !wrong, "a copy does not land while a warp can go on (%d wrong)",
       wrong);
    unsetenv("SIM_ASYNC");
}

int main(void) {
    for (int who = 0; who < 4; who++) test_ended(who);
    test_most();
    test_two();
    test_poll();
    return done_testing();
}
