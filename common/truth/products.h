/* The products of attention, of a few rows with a few keys at a time: loops that the compiler turns
 * into vectors, as wide as the processor has them. The order of the additions does not depend on
 * that, and no product is fused with an addition, so all processors give the same bits. */
#ifndef PRODUCTS_H
#define PRODUCTS_H

#include <stddef.h>

enum {
    TILE_ROWS = 4,
    TILE_KEYS = 32,
    TILE_SCORES = TILE_ROWS * TILE_KEYS,
    TILE_COLUMNS = 64 /* d is a multiple of this; what a head lacks is 0 */
};

/* S[row][key] = scale * sum_c q[row][c] K[c][key], where c is in 8 sums that are added at the end.
 * q: [TILE_ROWS, d], K: [d, TILE_KEYS], S: [TILE_ROWS, TILE_KEYS]. */
void exact_scores(const double *q, const double *K, size_t d, double scale, double *S);
void low_scores(const float *q, const float *K, size_t d, float scale, float *S);

/* O[row][c] += sum_key P[row][key] V[key][c], and size the same with |V|, in the order of the keys.
 * P: [TILE_ROWS, TILE_KEYS], V: [TILE_KEYS, d], O and size: [TILE_ROWS, d]. */
void exact_add_values(const double *P, const double *V, size_t d, double *O, double *size);
void low_add_values(const float *P, const float *V, size_t d, float *O);

/* |K[.][key]| for each key. K: [d, TILE_KEYS], lengths: [TILE_KEYS]. */
void exact_lengths(const double *K, size_t d, double *lengths);

/* The largest of `count` numbers, -inf without any, and the largest magnitude, 0 without any. A NaN
 * is passed over. */
void exact_largest(const double *numbers, int count, double *largest, double *magnitude);
float low_largest(const float *numbers, int count);

/* numbers[i] /= divisor */
void exact_divide(double *numbers, int count, double divisor);

void exact_from_low(const float *low, size_t count, double *exact);

#endif
