/* Marks of what was written. Catches: a byte that is counted and was not written, a lane or a byte
 * of it that is not looked at or not marked, a mark beside those that are wanted. */
#include "machine/memory/written.h"
#include "test/tap.h"

/* The lanes' bytes, and as much before and behind them. */
enum { LANES = 32, STEP = 32, BYTES = 3 * LANES * STEP };
static uint8_t marks[BYTES], *const first = marks + 3 * LANES / 2 * STEP;

static void fill(uint8_t mark) { memset(marks, mark, sizeof marks); }

/* The first byte that is not written ends the count, wherever it is. */
static void test_bytes(void) {
    int wrong = 0;
    for (unsigned bytes = 0; bytes <= 40; bytes++)
        for (unsigned missing = 0; missing <= 40; missing++) {
            fill(0xff);
            marks[missing] = 0;
            wrong += written_bytes(marks, bytes) != (missing < bytes ? missing : bytes);
        }
    ok(wrong == 0, "the bytes before the first one that is missing (%d wrong)", wrong);
}

/* Lanes go downwards, so that some are before the first one and some behind it; so does the one
 * that there is not. */
static void set_distances(int32_t distance[LANES + 1]) {
    for (int l = 0; l <= LANES; l++) distance[l] = (LANES / 2 - 1 - l) * STEP;
}

static void test_lanes(unsigned bytes) {
    int32_t distance[LANES + 1];
    int wrong = 0;
    set_distances(distance);
    fill(0);
    for (int l = 0; l < LANES; l++) memset(first + distance[l], 0xff, bytes);
    ok(written_lanes(first, distance, bytes), "%u bytes of all lanes are written", bytes);
    for (int l = 0; l < LANES; l++)
        for (unsigned i = 0; i < bytes; i++) {
            first[distance[l] + (int)i] = 0;
            wrong += written_lanes(first, distance, bytes);
            first[distance[l] + (int)i] = 0xff;
        }
    ok(wrong == 0, "and none of them may be missing (%d wrong)", wrong);
}

static void test_marking(unsigned bytes) {
    int32_t distance[LANES + 1];
    int wrong = 0;
    set_distances(distance);
    fill(0);
    written_mark_lanes(first, distance, bytes);
    for (unsigned i = 0; i < BYTES; i++) {
        const bool inside = i / STEP / LANES == 1 && i % STEP < bytes;
        wrong += marks[i] != (inside ? 0xff : 0);
    }
    ok(wrong == 0, "%u bytes of all lanes are marked, and no others (%d wrong)", bytes, wrong);
}

int main(void) {
    test_bytes();
    for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
        test_lanes(bytes);
        test_marking(bytes);
    }
    return done_testing();
}
