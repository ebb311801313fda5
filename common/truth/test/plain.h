/* The oracle as one writes it down, row by row and number by number: what the fast one is compared
 * with, to the bit in heads whose d is a multiple of 8. */
#ifndef PLAIN_H
#define PLAIN_H

#include "base/element.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* as in products.c */
#endif

enum { PLAIN_SUMS = 8 }; /* of a dot product; column c belongs to sum c mod 8 */

static inline double plain_dot(const double *a, const double *b, int d) {
    double part[PLAIN_SUMS] = {0}, sum = 0;
    for (int c = 0; c < d; c++) part[c % PLAIN_SUMS] += a[c] * b[c];
    for (int i = 0; i < PLAIN_SUMS; i++) sum += part[i];
    return sum;
}

static inline float plain_low_dot(const double *a, const double *b, int d) {
    float part[PLAIN_SUMS] = {0}, sum = 0;
    for (int c = 0; c < d; c++) part[c % PLAIN_SUMS] += (float)a[c] * (float)b[c];
    for (int i = 0; i < PLAIN_SUMS; i++) sum += part[i];
    return sum;
}

static inline double plain_length(const double *x, int d) {
    double squares = 0;
    for (int c = 0; c < d; c++) squares += x[c] * x[c];
    return sqrt(squares);
}

/* score_off as in Truth. */
static inline double plain_score_off(const double *q, const double *K, int keys, int d,
                                     double scale) {
    double largest_score = 0, longest = 0;
    for (int j = 0; j < keys; j++, K += d) {
        largest_score = fmax(largest_score, fabs(scale * plain_dot(q, K, d)));
        longest = fmax(longest, plain_length(K, d));
    }
    return fmax(0x1p-20 * largest_score, 0x1p-23 * (scale * plain_length(q, d) * longest));
}

/* q: [d], K and V: [keys, d]; O: [d], LSE and score_error as in Truth. */
static inline void plain_row(const double *q, const double *K, const double *V, int keys, int d,
                             double scale, double *O, double *LSE, double *score_error) {
    double *w = malloc(((size_t)keys + 1) * sizeof *w), *size = calloc((size_t)d, sizeof *size);
    double m = -INFINITY, l = 0, largest_size = 0;
    for (int c = 0; c < d; c++) O[c] = 0;
    for (int j = 0; j < keys; j++) {
        w[j] = scale * plain_dot(q, K + (size_t)j * (size_t)d, d);
        m = fmax(m, w[j]);
    }
    for (int j = 0; j < keys; j++) {
        w[j] = w[j] == -INFINITY ? 0 : exp(w[j] - m);
        l += w[j];
    }
    for (int j = 0; j < keys; j++)
        for (int c = 0; w[j] != 0 && c < d; c++) {
            const double v = V[(size_t)j * (size_t)d + (size_t)c];
            O[c] += w[j] / l * v;
            size[c] += w[j] / l * fabs(v);
        }
    *LSE = l == 0 ? -INFINITY : m + log(l);
    const double e = plain_score_off(q, K, keys, d, scale);
    for (int c = 0; c < d; c++) largest_size = fmax(largest_size, size[c]);
    *score_error = e * largest_size;
    if (e > 0x1p-10 && isfinite(e)) {
        double most = 0;
        for (int c = 0; c < d; c++) {
            double moved = 0;
            for (int j = 0; j < keys; j++) {
                const double P = w[j] / l, v = V[(size_t)j * (size_t)d + (size_t)c];
                moved += fmin(1, expm1(2 * e) * fmin(P, 1 - P)) * fabs(v);
            }
            most = fmax(most, moved);
        }
        *score_error = e > 1 ? most : fmax(0x1p-10 * largest_size, fmin(*score_error, most));
    }
    free(w), free(size);
}

/* The low-precision reference. */
static inline void plain_low_row(ElementType type, const double *q, const double *K,
                                 const double *V, int keys, int d, float scale, double *O,
                                 double *LSE) {
    float *w = malloc(((size_t)keys + 1) * sizeof *w), *sum = calloc((size_t)d, sizeof *sum);
    float m = -INFINITY, l = 0;
    for (int j = 0; j < keys; j++) {
        w[j] = scale * plain_low_dot(q, K + (size_t)j * (size_t)d, d);
        m = fmaxf(m, w[j]);
    }
    for (int j = 0; j < keys; j++) {
        w[j] = w[j] == -INFINITY ? 0 : expf(w[j] - m);
        if (w[j] < 0x1p-110f) w[j] = 0;
        l += w[j];
        w[j] = element_to_float(type, element_from_float(type, w[j]));
        for (int c = 0; w[j] != 0 && c < d; c++)
            sum[c] += w[j] * (float)V[(size_t)j * (size_t)d + (size_t)c];
    }
    for (int c = 0; c < d; c++)
        O[c] = element_to_float(type, element_from_float(type, l == 0 ? 0 : sum[c] / l));
    *LSE = l == 0 ? -INFINITY : m + logf(l);
    free(w), free(sum);
}

#endif
