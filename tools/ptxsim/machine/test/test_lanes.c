/* Lanes of a register that are kept; and SIM_INDEX: numbers of 32 bits that are made 64 bits wide.
 * Catches: a lane that takes no part and is written; a number that is too large and passes, in
 * either sign and in any lane, one that is as large as it may be and does not. */
#include "machine/lanes.h"
#include "test/capture.h"
#include "test/tap.h"

/* The last of `threads` lanes makes `number` wide, the others 0; what that says to said[]. */
static LaunchStatus widen(const char *instruction, long long number, uint32_t threads, char *said,
                          size_t size) {
    uint64_t data[2] = {0};
    char text[1000];
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, w; .reg .b32 t, a; "
                      ".reg .pred last;\nld.param.u64 p, [data]; mov.u32 t, %%tid.x; "
                      "setp.eq.u32 last, t, %u; selp.b32 a, %lld, 0, last; mov.u64 w, 0;\n"
                      "%s;\n@last st.global.u64 [p], w; ret;\n}\n",
             threads - 1, number, instruction);
    return capture_run(STDERR_FILENO, text, threads, data, sizeof data, said, size);
}

static void test_number(const char *instruction, long long number, bool passes) {
    static const uint32_t threads[] = {1, 32};
    for (int i = 0; i < 2; i++) {
        char said[1000], line[80];
        const LaunchStatus status = widen(instruction, number, threads[i], said, sizeof said);
        snprintf(line, sizeof line, "%lld was computed in 32 bits", number);
        ok(passes ? status == LAUNCH_OK : status == LAUNCH_FAULT && strstr(said, line),
           "%s, %lld in lane %u: %s", instruction, number, threads[i] - 1,
           passes ? "passes" : "is too large");
    }
}

/* Elements of so many bytes, and what is behind the last of them. */
static void test_kept(unsigned bytes, uint32_t mask) {
    static _Alignas(16) uint8_t to[(LANES + 1) * 16], from[(LANES + 1) * 16];
    int wrong = 0;
    for (unsigned i = 0; i < sizeof to; i++) to[i] = 0, from[i] = (uint8_t)(i % 255 + 1);
    keep_lanes(to, from, bytes, mask);
    for (unsigned i = 0; i < sizeof to; i++) {
        const unsigned lane = i / bytes;
        wrong += to[i] != (lane < LANES && mask >> lane & 1 ? from[i] : 0);
    }
    ok(wrong == 0, "lanes 0x%08x of %u bytes (%d bytes wrong)", mask, bytes, wrong);
}

int main(void) {
    for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
        test_kept(bytes, ALL_LANES);
        test_kept(bytes, 0x80000001);
        test_kept(bytes, 0x7ffffffe);
        test_kept(bytes, 0);
    }
    setenv("SIM_INDEX", "100", 1);
    test_number("cvt.s64.s32 w, a", 1, true);
    test_number("cvt.s64.s32 w, a", 100, true);
    test_number("cvt.s64.s32 w, a", 101, false);
    test_number("cvt.s64.s32 w, a", -1, true);
    test_number("cvt.s64.s32 w, a", -100, true);
    test_number("cvt.s64.s32 w, a", -101, false);
    test_number("cvt.u64.u32 w, a", 100, true);
    test_number("cvt.u64.u32 w, a", 101, false);
    test_number("cvt.u64.u32 w, a", 4294967295, false);
    test_number("@last mul.wide.s32 w, a, 2", -101, false);
    test_number("@!last cvt.s64.s32 w, a", 101, true);
    test_number("sub.u32 a, 101, a; @last cvt.s64.s32 w, a", 101, true);
    setenv("SIM_INDEX", "0", 1);
    test_number("cvt.u64.u32 w, a", 4294967295, true);
    return done_testing();
}
