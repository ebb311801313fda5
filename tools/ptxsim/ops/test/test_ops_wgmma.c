/* What a wgmma that is in flight reads, row by row, in the search for races: A of a whole warpgroup
 * and B; and that each tile was written, however much another one is like it. Catches: a row at
 * either end that is not looked at, one beyond that is, a tile that is taken for another. */
#include "ops/mma.h"
#include "test/capture.h"
#include "test/stub.h"

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

/* ---- Tiles that were never written ----------------------------------------------------------- */

enum { ROOM_AT = 1024, ROOM = 200 * 1024, MOST_SUMS = 128 };

/* B: its matrix descriptor's fields in units of 16 bytes, its columns, and whether it is
 * transposed. */
typedef struct Tile {
    uint64_t address, leading, stride, swizzle;
    int columns, transposed;
} Tile;

static uint64_t descriptor(const Tile *t) {
    return t->address | t->leading << 16 | t->stride << 32 | t->swizzle << 62;
}

static unsigned chunks(const Tile *t, uint32_t address[WGMMA_MAX_CHUNKS]) {
    const WgmmaTile tile = {wgmma_descriptor(descriptor(t)), 0, (unsigned)t->columns,
                            t->transposed};
    return wgmma_chunks(&tile, address);
}

/* The first chunk of b that a does not have, or the last one; 0: there is none. */
static uint32_t only_in(const Tile *b, const Tile *a, bool last) {
    uint32_t of_a[WGMMA_MAX_CHUNKS], of_b[WGMMA_MAX_CHUNKS];
    const unsigned in_a = chunks(a, of_a), in_b = chunks(b, of_b);
    uint32_t chosen = 0;
    for (unsigned i = 0; i < in_b && (last || !chosen); i++) {
        bool found = false;
        for (unsigned k = 0; k < in_a; k++) found |= of_a[k] == of_b[i];
        if (!found) chosen = of_b[i];
    }
    return chosen;
}

static char *put_product(char *at, const Tile *t) {
    at += sprintf(at, "mov.u64 b, 0x%llx;\nwgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {",
                  (unsigned long long)descriptor(t), t->columns);
    for (int i = 0; i < t->columns / 2; i++) at += sprintf(at, "%sf%d", i ? ", " : "", i);
    return at + sprintf(at, "}, {z, z, z, z}, b, 1, 1, 1, %d;\n", t->transposed);
}

/* All of shared memory is written but the chunk at `hole`; then come the products. */
static LaunchStatus multiply(const Tile *first, const Tile *second, uint32_t hole, char *said,
                             size_t size) {
    static char text[20000];
    char *at = text;
    const LaunchShape shape = {{1, 1, 1}, {128, 1, 1}, ROOM, false};
    at += sprintf(at,
                  PTX_HEAD ".extern .shared .align 1024 .b8 room[];\n"
                           ".visible .entry k(.param .u64 data)\n{\n.reg .b64 b; "
                           ".reg .b32 t, s, z; .reg .pred g; .reg .f32 f<%d>;\n"
                           "mov.u32 t, %%tid.x; mov.u32 s, room; mad.lo.u32 s, t, 16, s; "
                           "mov.u32 z, 0;\nFILL: setp.ne.u32 g, s, %u; "
                           "@g st.shared.v4.u32 [s], {z, z, z, z}; add.u32 s, s, 2048; "
                           "setp.lt.u32 g, s, %d; @g bra FILL;\n",
                  MOST_SUMS, hole, ROOM_AT + ROOM);
    for (int i = 0; i < MOST_SUMS; i++) at += sprintf(at, "mov.f32 f%d, 0f00000000; ", i);
    at += sprintf(at, "\nfence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n");
    at = put_product(put_product(at, first), second);
    sprintf(at, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ret;\n}\n");
    const Capture capture = begin_capture(STDERR_FILENO);
    const PtxRun run = run_ptx_shape(text, &shape, NULL);
    char *words = end_capture(&capture);
    snprintf(said, size, "%s%s", words, run.error);
    free(words);
    return run.status;
}

/* Pairs that differ in one field, or in two that lie side by side where tiles are told apart. */
static void test_never_written(void) {
    static const Tile pairs[][2] = {
        {{64, 8, 16, 0, 8, 0}, {65, 8, 16, 0, 8, 0}},
        {{0x2040, 8, 16, 0, 8, 0}, {64, 8, 16, 0, 8, 0}},
        {{64, 8, 16, 0, 8, 0}, {64, 9, 16, 0, 8, 0}},
        {{64, 0, 16, 0, 8, 0}, {64, 0x2000, 16, 0, 8, 0}},
        {{0x2040, 8, 16, 0, 8, 0}, {64, 9, 16, 0, 8, 0}},
        {{64, 8, 16, 0, 16, 0}, {64, 8, 17, 0, 16, 0}},
        {{64, 8, 0, 0, 16, 0}, {64, 8, 0x2000, 0, 16, 0}},
        {{64, 0x2008, 16, 0, 16, 0}, {64, 8, 17, 0, 16, 0}},
        {{64, 16, 16, 0, 8, 0}, {64, 16, 16, 3, 8, 0}},
        {{64, 8, 64, 2, 8, 0}, {64, 8, 64, 1, 8, 0}},
        {{64, 8, 32, 3, 8, 0}, {64, 8, 32, 2, 8, 0}},
        {{64, 8, 64, 1, 8, 0}, {64, 8, 64, 3, 8, 0}},
        {{64, 8, 0x2010, 0, 16, 0}, {64, 8, 16, 3, 16, 0}},
        {{64, 8, 16, 0, 8, 0}, {64, 8, 16, 0, 16, 0}},
        {{64, 8, 16, 0, 16, 0}, {64, 8, 16, 0, 24, 0}},
        {{64, 8, 16, 0, 24, 0}, {64, 8, 16, 0, 32, 0}},
        {{64, 24, 16, 1, 8, 0}, {64, 24, 16, 1, 8, 1}},
        {{64, 24, 64, 1, 32, 1}, {64, 24, 64, 1, 32, 0}},
        {{64, 24, 64, 1, 256, 1}, {64, 24, 64, 1, 256, 0}},
        {{64, 16, 0x400, 0, 16, 0}, {64, 16, 0x400, 3, 16, 0}},
        {{64, 0x400, 16, 0, 16, 0}, {64, 0x400, 17, 0, 16, 0}},
        {{0x400, 8, 16, 0, 8, 0}, {0x400, 9, 16, 0, 8, 0}},
    };
    for (size_t i = 0; i < 2 * sizeof pairs / sizeof *pairs; i++) {
        char said[2000], expected[100];
        const Tile *one = &pairs[i / 2][0], *other = &pairs[i / 2][1];
        const uint32_t hole = only_in(other, one, i % 2);
        snprintf(expected, sizeof expected, "read before it was written, at 0x%x", hole);
        bool good = hole && multiply(one, one, hole, said, sizeof said) == LAUNCH_OK;
        good = good && multiply(one, other, hole, said, sizeof said) == LAUNCH_FAULT &&
               strstr(said, expected);
        if (!ok(good, "pair %zu: the second tile lacks a chunk, the first does not", i / 2))
            printf("# hole 0x%x: %s\n", hole, said);
    }
}

int main(void) {
    test_never_written();
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
