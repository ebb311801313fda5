/* What a wgmma that is in flight reads, row by row, in the search for races: A of a whole warpgroup
 * and B. Catches: a row at either end that is not looked at, one beyond that is. */
#include "test/capture.h"
#include "test/tap.h"

enum { ROWS = 64, COLUMNS = 8, B_AT = 4096 };

/* Without a swizzle: 8 rows of 16 bytes are 128 bytes in a row; those of the other half of k
 * follow, then the next 8 rows. */
static unsigned place(unsigned row, unsigned half) {
    return row / 8 * 256 + half * 128 + row % 8 * 16;
}

/* Thread `thread` writes two bytes at `at` while the product is in flight, or after it. */
static LaunchStatus write_at(unsigned at, unsigned thread, bool waits, char *said, size_t size) {
    static uint64_t data[4];
    char text[2500];
    snprintf(text, sizeof text,
             PTX_HEAD
             ".visible .entry k(.param .u64 data)\n{\n.reg .b64 a, b; .reg .b32 t, s, i; "
             ".reg .b16 h; .reg .pred g; .reg .f32 f<4>;\n.shared .align 1024 .b8 room[8192];\n"
             "mov.u32 t, %%tid.x; mov.u32 s, room; mad.lo.u32 s, t, 4, s; mov.u32 i, 0; "
             "mov.b16 h, 0;\n"
             "FILL: st.shared.u32 [s], i; add.u32 s, s, 512; add.u32 i, i, 1; "
             "setp.lt.u32 g, i, 16; @g bra FILL;\n"
             "mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0;\n"
             "fence.proxy.async; bar.sync 0;\n"
             "mov.u64 a, 0x0000001000080040; mov.u64 b, 0x0000001000080140;\n"
             "wgmma.fence.sync.aligned;\n"
             "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, a, b, 1, 1, 1, "
             "0, 0;\nwgmma.commit_group.sync.aligned;\n"
             "%ssetp.eq.u32 g, t, %u; @g st.shared.u16 [room+%u], h;\n"
             "wgmma.wait_group.sync.aligned 0;\nret;\n}\n",
             waits ? "wgmma.wait_group.sync.aligned 0; bar.sync 0; " : "", thread, at);
    return capture_run(STDERR_FILENO, text, 128, data, sizeof data, said, size);
}

static void races(unsigned at, unsigned thread, const char *what) {
    char said[4000];
    ok(write_at(at, thread, false, said, sizeof said) == LAUNCH_FAULT &&
           strstr(said, "data race with an asynchronous copy or read"),
       "%s, thread %u: a race", what, thread);
    const LaunchStatus status = write_at(at, thread, true, said, sizeof said);
    if (!ok(status == LAUNCH_OK, "and none after a wait")) printf("# %s\n", said);
}

static void passes(unsigned at, unsigned thread, const char *what) {
    char said[4000];
    const LaunchStatus status = write_at(at, thread, false, said, sizeof said);
    if (!ok(status == LAUNCH_OK, "%s, thread %u: no race", what, thread)) printf("# %s\n", said);
}

int main(void) {
    setenv("SIM_RACE", "1", 1);
    for (unsigned thread = 0; thread < 128; thread += 127) {
        races(place(0, 0), thread, "the first bytes of A");
        races(place(0, 1) + 14, thread, "the end of its first row");
        races(place(ROWS - 1, 0), thread, "its last row");
        races(place(ROWS - 1, 1) + 14, thread, "its last bytes");
        passes(place(ROWS, 0), thread, "what is behind A");
        passes(B_AT - 2, thread, "what is before B");
        races(B_AT + place(0, 0), thread, "the first bytes of B");
        races(B_AT + place(COLUMNS - 1, 1) + 14, thread, "its last bytes");
        passes(B_AT + place(COLUMNS, 0), thread, "what is behind B");
    }
    return done_testing();
}
