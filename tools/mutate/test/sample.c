/* For the tests of the mutants of C: never linked. Line numbers matter to code.t. */
#include <stdbool.h>

enum { ROWS = 12, COLUMNS };
static const double limit = 0.5;
static const int lengths[] = {1, 64};
static int count; /* no value, no mutant */
typedef struct Place {
    int row;
} Place;

static bool wait_for(const Place *place) { return place->row > 3; }
int sample(const Place *place);
int sample(const Place *place) {
    if (!wait_for(place)) return lengths[1];
    wait_for(place);
    count++;
    return (int)(limit * COLUMNS) + ROWS;
}
