/* From a few small problems to any: counts per head grow with the length N as c0 + c1 N + c2 N^2,
 * exactly so where N is a multiple of the tiles. */
#ifndef SASS_GROWTH_H
#define SASS_GROWTH_H

enum { LENGTHS = 3 };

typedef struct Growth {
    double constant, linear, square;
} Growth;

/* The parabola through three points; `length` has no two that are the same. */
Growth growth_through(const double length[LENGTHS], const double value[LENGTHS]);

/* Its value at a length, with query tiles of `rows` rows: the last one costs as much as a whole
 * one. `causal`: a row tile sees the keys up to its own last row. At least 0. */
double growth_at(Growth growth, double length, double rows, int causal);

#endif
