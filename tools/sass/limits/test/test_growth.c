/* From small problems to large ones. Catches: a parabola that misses its points, a causal problem
 * whose tiles see too many keys, a last tile that costs nothing or less than a whole one. */
#include "limits/growth.h"
#include "test/tap.h"

enum { ROWS = 128 };
static const double lengths[LENGTHS] = {384, 768, 1152};

/* What `tiles` query tiles cost, each 100 and 3 for every key that it sees. */
static double cost(int length, int causal) {
    double sum = 7; /* once per head */
    for (int first = 0; first < length; first += ROWS) {
        const int keys = causal && first + ROWS < length ? first + ROWS : length;
        sum += 100 + 3.0 * keys;
    }
    return sum;
}

static void test_mask(int causal, const char *mask) {
    double value[LENGTHS];
    char name[80];
    for (int j = 0; j < LENGTHS; j++) value[j] = cost((int)lengths[j], causal);
    const Growth growth = growth_through(lengths, value);
    for (int length = 384; length <= 16384; length *= 2) {
        snprintf(name, sizeof name, "%s: %d rows", mask, length);
        is_near(growth_at(growth, length, ROWS, causal), cost(length, causal), 1e-3, name);
    }
    snprintf(name, sizeof name, "%s: 300 rows are three tiles", mask);
    is_near(growth_at(growth, 300, ROWS, causal), cost(300, causal), 1e-3, name);
}

int main(void) {
    const double square[LENGTHS] = {384.0 * 384, 768.0 * 768, 1152.0 * 1152};
    test_mask(0, "full");
    test_mask(1, "causal");
    const Growth growth = growth_through(lengths, square);
    is_near(growth_at(growth, 4096, 1, 0), 4096.0 * 4096, 1e-3, "without tiles: the parabola");
    is_near(growth_at(growth, 4096, 1, 1), 4096.0 * 4096, 1e-3, "and so with a mask");
    const double falling[LENGTHS] = {10, 5, 0};
    is_near(growth_at(growth_through(lengths, falling), 16384, 1, 0), 0, 0, "never below 0");
    return done_testing();
}
