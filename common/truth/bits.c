#include "truth/bits.h"

#include <string.h>

/* Where two tensors differ. Elements have `width` bytes. */
typedef struct Difference {
    size_t count; /* elements */
    size_t index; /* of the first */
} Difference;

static Difference differ(const void *first, const void *again, size_t elements, size_t width) {
    const char *a = first, *b = again;
    Difference found = {0};
    if (memcmp(a, b, elements * width) == 0) return found;
    for (size_t i = 0; i < elements; i++) {
        if (memcmp(a + i * width, b + i * width, width) == 0) continue;
        if (found.count++ == 0) found.index = i;
    }
    return found;
}

/* Where row `index` of LSE is. */
typedef struct Place {
    size_t batch, head, row;
} Place;

static Place place_of(const Problem *problem, size_t index) {
    const size_t seq_q = (size_t)problem->shape.seq_q, heads = (size_t)problem->shape.heads;
    return (Place){index / seq_q / heads, index / seq_q % heads, index % seq_q};
}

bool bits_equal(const Problem *problem, const Outputs *first, const Outputs *again, int run,
                Error *error) {
    const size_t d = (size_t)problem->d;
    Difference found = differ(first->O, again->O, problem_q_elements(problem), sizeof *first->O);
    if (found.count > 0) {
        const Place at = place_of(problem, found.index / d);
        return error_set(error, STATUS_FAIL,
                         "run %d differs from run 1 in %zu elements of O, first in batch %zu head "
                         "%zu row %zu column %zu: %.8g was %.8g",
                         run, found.count, at.batch, at.head, at.row, found.index % d,
                         element_to_float(problem->type, again->O[found.index]),
                         element_to_float(problem->type, first->O[found.index]));
    }
    if (!first->LSE) return true;
    found = differ(first->LSE, again->LSE, problem_rows(problem), sizeof *first->LSE);
    if (found.count == 0) return true;
    const Place at = place_of(problem, found.index);
    return error_set(error, STATUS_FAIL,
                     "run %d differs from run 1 in %zu elements of LSE, first in batch %zu head "
                     "%zu row %zu: %.8g was %.8g",
                     run, found.count, at.batch, at.head, at.row, again->LSE[found.index],
                     first->LSE[found.index]);
}
