#include "truth/products.h"

#include <math.h>

/* No product is fused with an addition, which gcc does not do with -std=c11 anyway. INDEPENDENT
 * before a loop: no turn of it writes what another one reads, as pointers into one array might. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

enum { TERMS = 8, LANES = 16 };
static const size_t NEXT = 1;

/* sum + a[0] x0 + ... + a[7 * step] x7, from left to right. */
#define ADD_TERMS(sum, a, step, x)                                                                \
    ((sum) + (a)[0] * x##0 + (a)[step] * x##1 + (a)[2 * (step)] * x##2 + (a)[3 * (step)] * x##3 + \
     (a)[4 * (step)] * x##4 + (a)[5 * (step)] * x##5 + (a)[6 * (step)] * x##6 +                   \
     (a)[7 * (step)] * x##7)

/* x0 .. x7: eight elements of a column, `step` apart. */
#define LOAD_TERMS(Real, x, from, step)                                                         \
    const Real x##0 = (from)[0], x##1 = (from)[step], x##2 = (from)[2 * (step)],                \
               x##3 = (from)[3 * (step)], x##4 = (from)[4 * (step)], x##5 = (from)[5 * (step)], \
               x##6 = (from)[6 * (step)], x##7 = (from)[7 * (step)]

/* The keys are the lanes of the vectors; the four rows share what is loaded of K. */
#define DEFINE_SCORES(name, Real)                                                                  \
    void name(const Real *restrict q, const Real *restrict K, size_t d, Real scale,                \
              Real *restrict S) {                                                                  \
        const size_t SUMS = 8, KEYS = TILE_KEYS, STEP = SUMS * KEYS;                               \
        Real sum[TILE_ROWS][TILE_KEYS];                                                            \
        for (size_t i = 0; i < TILE_SCORES; i++) S[i] = 0;                                         \
        for (size_t first = 0; first < SUMS; first++) {                                            \
            for (size_t row = 0; row < TILE_ROWS; row++)                                           \
                for (size_t key = 0; key < TILE_KEYS; key++) sum[row][key] = 0;                    \
            for (size_t c = first; c < d; c += TERMS * SUMS) {                                     \
                const Real *q0 = q + c, *q1 = q0 + d, *q2 = q1 + d, *q3 = q2 + d;                  \
                const Real *K_c = K + c * KEYS;                                                    \
                for (size_t key = 0; key < TILE_KEYS; key++) {                                     \
                    LOAD_TERMS(Real, k, K_c + key, STEP);                                          \
                    sum[0][key] = ADD_TERMS(sum[0][key], q0, SUMS, k);                             \
                    sum[1][key] = ADD_TERMS(sum[1][key], q1, SUMS, k);                             \
                    sum[2][key] = ADD_TERMS(sum[2][key], q2, SUMS, k);                             \
                    sum[3][key] = ADD_TERMS(sum[3][key], q3, SUMS, k);                             \
                }                                                                                  \
            }                                                                                      \
            for (size_t row = 0; row < TILE_ROWS; row++)                                           \
                for (size_t key = 0; key < TILE_KEYS; key++) S[row * KEYS + key] += sum[row][key]; \
        }                                                                                          \
        for (size_t i = 0; i < TILE_SCORES; i++) S[i] *= scale;                                    \
    }

DEFINE_SCORES(exact_scores, double)
DEFINE_SCORES(low_scores, float)

/* Here the columns are the lanes. */
void exact_add_values(const double *restrict P, const double *restrict V, size_t d,
                      double *restrict O, double *restrict size) {
    double *O1 = O + d, *O2 = O1 + d, *O3 = O2 + d;
    double *size1 = size + d, *size2 = size1 + d, *size3 = size2 + d;
    for (size_t key = 0; key < TILE_KEYS; key += TERMS) {
        const double *P0 = P + key, *P1 = P0 + TILE_KEYS, *P2 = P1 + TILE_KEYS,
                     *P3 = P2 + TILE_KEYS, *V_key = V + key * d;
        INDEPENDENT
        for (size_t c = 0; c < d; c++) {
            LOAD_TERMS(double, v, V_key + c, d);
            const double a0 = fabs(v0), a1 = fabs(v1), a2 = fabs(v2), a3 = fabs(v3);
            const double a4 = fabs(v4), a5 = fabs(v5), a6 = fabs(v6), a7 = fabs(v7);
            O[c] = ADD_TERMS(O[c], P0, NEXT, v), size[c] = ADD_TERMS(size[c], P0, NEXT, a);
            O1[c] = ADD_TERMS(O1[c], P1, NEXT, v), size1[c] = ADD_TERMS(size1[c], P1, NEXT, a);
            O2[c] = ADD_TERMS(O2[c], P2, NEXT, v), size2[c] = ADD_TERMS(size2[c], P2, NEXT, a);
            O3[c] = ADD_TERMS(O3[c], P3, NEXT, v), size3[c] = ADD_TERMS(size3[c], P3, NEXT, a);
        }
    }
}

void low_add_values(const float *restrict P, const float *restrict V, size_t d, float *restrict O) {
    float *O1 = O + d, *O2 = O1 + d, *O3 = O2 + d;
    for (size_t key = 0; key < TILE_KEYS; key += TERMS) {
        const float *P0 = P + key, *P1 = P0 + TILE_KEYS, *P2 = P1 + TILE_KEYS, *P3 = P2 + TILE_KEYS,
                    *V_key = V + key * d;
        INDEPENDENT
        for (size_t c = 0; c < d; c++) {
            LOAD_TERMS(float, v, V_key + c, d);
            O[c] = ADD_TERMS(O[c], P0, NEXT, v), O1[c] = ADD_TERMS(O1[c], P1, NEXT, v);
            O2[c] = ADD_TERMS(O2[c], P2, NEXT, v), O3[c] = ADD_TERMS(O3[c], P3, NEXT, v);
        }
    }
}

void exact_lengths(const double *restrict K, size_t d, double *restrict lengths) {
    for (size_t key = 0; key < TILE_KEYS; key++) lengths[key] = 0;
    for (size_t c = 0; c < d; c++, K += TILE_KEYS)
        for (size_t key = 0; key < TILE_KEYS; key++) lengths[key] += K[key] * K[key];
    for (size_t key = 0; key < TILE_KEYS; key++) lengths[key] = sqrt(lengths[key]);
}

#define LARGER(a, b) ((a) > (b) ? (a) : (b)) /* b if a is a NaN */

void exact_largest(const double *numbers, int count, double *largest, double *magnitude) {
    double most[LANES], size[LANES];
    int i = 0;
    *largest = -INFINITY, *magnitude = 0;
    for (int lane = 0; lane < LANES; lane++) most[lane] = -INFINITY, size[lane] = 0;
    for (; count - i >= LANES; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            most[lane] = LARGER(numbers[i + lane], most[lane]);
            size[lane] = LARGER(fabs(numbers[i + lane]), size[lane]);
        }
    for (; i < count; i++) {
        *largest = LARGER(numbers[i], *largest);
        *magnitude = LARGER(fabs(numbers[i]), *magnitude);
    }
    for (int lane = 0; lane < LANES; lane++) {
        *largest = LARGER(most[lane], *largest);
        *magnitude = LARGER(size[lane], *magnitude);
    }
}

float low_largest(const float *numbers, int count) {
    float most[LANES], largest = -INFINITY;
    int i = 0;
    for (int lane = 0; lane < LANES; lane++) most[lane] = -INFINITY;
    for (; count - i >= LANES; i += LANES)
        for (int lane = 0; lane < LANES; lane++) most[lane] = LARGER(numbers[i + lane], most[lane]);
    for (; i < count; i++) largest = LARGER(numbers[i], largest);
    for (int lane = 0; lane < LANES; lane++) largest = LARGER(most[lane], largest);
    return largest;
}

void exact_divide(double *numbers, int count, double divisor) {
    for (int i = 0; i < count; i++) numbers[i] /= divisor;
}

void exact_from_low(const float *restrict low, size_t count, double *restrict exact) {
    for (size_t i = 0; i < count; i++) exact[i] = low[i];
}
