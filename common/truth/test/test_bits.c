/* Catches: a difference of one bit in O or LSE that is not seen or not placed, a difference where
 * there is none. */
#include "test/tap.h"
#include "truth/bits.h"

#include <stdlib.h>

static const Problem problem = {{2, 2, 1, 3, 5, 0.125f}, 64, TYPE_FP16, false};
enum { ROWS = 2 * 2 * 3, ELEMENTS = ROWS * 64 };

int main(void) {
    /* Of the heap, so that a sanitizer sees what is read beyond them. */
    uint16_t *O = calloc(ELEMENTS, sizeof *O), *other_O = calloc(ELEMENTS, sizeof *O);
    float *LSE = calloc(ROWS, sizeof *LSE), *other_LSE = calloc(ROWS, sizeof *LSE);
    const Outputs first = {O, LSE}, again = {other_O, other_LSE};
    const Outputs first_O = {O, NULL}, again_O = {other_O, NULL};
    Error error;
    ok(bits_equal(&problem, &first, &again, 2, &error), "equal");
    LSE[0] = other_LSE[0] = NAN;
    ok(bits_equal(&problem, &first, &again, 2, &error), "a NaN equals the same NaN");

    other_LSE[7] = other_LSE[10] = -0.0f;
    ok(!bits_equal(&problem, &first, &again, 3, &error) && error.status == STATUS_FAIL,
       "-0 is not 0");
    is_text(
        error.text,
        "run 3 differs from run 1 in 2 elements of LSE, first in batch 1 head 0 row 1: -0 was 0",
        "its place in LSE");
    ok(bits_equal(&problem, &first_O, &again_O, 3, &error), "without LSE O alone counts");

    O[0] = 1;
    ok(!bits_equal(&problem, &first_O, &again_O, 2, &error), "one element, the first");
    O[0] = 0;
    O[ELEMENTS - 1] = 0x3c00;
    O[5 * 64 + 7] = 0x3c01;
    other_O[5 * 64 + 7] = 0x4000;
    ok(!bits_equal(&problem, &first, &again, 100, &error), "two elements");
    is_text(error.text,
            "run 100 differs from run 1 in 2 elements of O, first in batch 0 head 1 row 2 column "
            "7: 2 was 1.0009766",
            "the first of them");
    free(O), free(other_O), free(LSE), free(other_LSE);
    return done_testing();
}
