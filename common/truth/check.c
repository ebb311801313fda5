#include "truth/check.h"

#include "base/generator.h"
#include "base/parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const double MOST_ROUNDINGS = 1.15;
enum { MOST_KEYS = 1 << 14 }; /* of fp16 problems whose roundings are counted */

double check_error(double got, double truth) {
    if (isnan(truth)) return isnan(got) ? 0 : INFINITY;
    if (isinf(truth)) return got == truth ? 0 : INFINITY;
    return fabs(got - truth);
}

double check_O_error(const Truth *truth, size_t i, double got) {
    return isnan(got) && truth->nan_too[i] ? 0 : check_error(got, truth->O[i]);
}

/* error / tolerance with NaN as the largest; an exact result has the ratio 0. */
static double ratio_of(double error, double tolerance) {
    if (error == 0) return 0;
    return isnan(error) ? INFINITY : error / tolerance;
}

/* Of two numbers. fmax, which also knows what to do with NaN, is a call. */
static double larger(double a, double b) { return a > b ? a : b; }

double check_row_tolerance(const Problem *p, const Truth *truth, size_t r) {
    double low_error = 0, largest = 0;
    for (size_t i = r * (size_t)p->d; i < (r + 1) * (size_t)p->d; i++) {
        if (!isfinite(truth->O[i]) || !isfinite(truth->low_O[i])) continue;
        low_error = larger(low_error, fabs(truth->low_O[i] - truth->O[i]));
        largest = larger(largest, fabs(truth->O[i]));
    }
    const double by_scores = isfinite(truth->score_error[r]) ? truth->score_error[r] : 0;
    return 2 * low_error + element_ulp(p->type, largest) + by_scores;
}

double check_lse_tolerance(const Rows *rows, const Truth *truth) {
    double low_error = 0, largest = 1, by_scores = 0;
    for (size_t r = 0; r < rows->count; r++) {
        if (!isfinite(truth->LSE[r]) || !isfinite(truth->low_LSE[r])) continue;
        low_error = larger(low_error, fabs(truth->low_LSE[r] - truth->LSE[r]));
        largest = larger(largest, fabs(truth->LSE[r]));
        if (isfinite(truth->score_off[r])) by_scores = larger(by_scores, truth->score_off[r]);
    }
    return 2 * low_error + larger(0x1p-18 * largest, by_scores);
}

static void check_O(const Problem *p, const Rows *rows, const Truth *truth, const Outputs *outputs,
                    CheckResult *result) {
    const size_t d = (size_t)p->d;
    double worst = -1;
    for (size_t r = 0; r < rows->count; r++) {
        const uint16_t *O = outputs->O + rows->index[r] * d;
        const double tolerance = check_row_tolerance(p, truth, r);
        double most = 0; /* the row's largest error, NaN if there is one */
        for (size_t column = 0; column < d; column++) {
            const double got = element_to_float(p->type, O[column]);
            const double error = check_O_error(truth, r * d + column, got);
            if (!(error <= tolerance)) result->wrong_elements++;
            if (!(error <= most) && !isnan(most)) most = error;
        }
        const double ratio = ratio_of(most, tolerance);
        if (ratio <= worst) continue;
        worst = ratio;
        result->max_error = most;
        result->tolerance = tolerance;
    }
    result->ratio = worst;
}

static void check_LSE(const Rows *rows, const Truth *truth, const Outputs *outputs,
                      CheckResult *result) {
    double worst = -1;
    result->lse_tolerance = check_lse_tolerance(rows, truth);
    for (size_t r = 0; r < rows->count; r++) {
        const double error = check_error(outputs->LSE[rows->index[r]], truth->LSE[r]);
        const double ratio = ratio_of(error, result->lse_tolerance);
        if (!(error <= result->lse_tolerance)) result->wrong_lse++;
        if (ratio <= worst) continue;
        worst = ratio;
        result->lse_error = error;
    }
    result->ratio = fmax(result->ratio, worst);
}

double check_rms_error(const Problem *problem, const Rows *rows, const Truth *truth,
                       const uint16_t *O) {
    const size_t d = (size_t)problem->d;
    double squares = 0, count = 0;
    for (size_t r = 0; r < rows->count; r++) {
        const uint16_t *row = O + rows->index[r] * d;
        for (size_t column = 0; column < d; column++) {
            if (!isfinite(truth->O[r * d + column])) continue;
            const double got = element_to_float(problem->type, row[column]);
            const double error = check_O_error(truth, r * d + column, got);
            squares += error * error;
            count++;
        }
    }
    return count > 0 ? sqrt(squares / count) : 0;
}

static double square(double x) { return x * x; }

/* Numbers that differ, other than 0; as many as are asked for. */
enum { ENOUGH = 4096, SLOTS = 2 * ENOUGH };
typedef struct Distinct {
    double number[SLOTS]; /* by hash, 0 where there is none */
    int count;
} Distinct;

static void add_distinct(Distinct *distinct, double number) {
    uint64_t bits;
    if (distinct->count == ENOUGH || number == 0) return;
    memcpy(&bits, &number, sizeof bits);
    size_t i = mix64(bits) % SLOTS;
    while (distinct->number[i] != 0 && distinct->number[i] != number) i = (i + 1) % SLOTS;
    distinct->count += distinct->number[i] == 0;
    distinct->number[i] = number;
}

/* See check.h: the error of O over that of low_O, 0 if it says nothing. */
static double roundings_of(const Problem *p, const Rows *rows, const Truth *truth,
                           const uint16_t *O) {
    const size_t d = (size_t)p->d;
    double error = 0, low_error = 0, one_rounding = 0; /* sums of squares */
    Distinct distinct = {.count = 0};
    if (p->type == TYPE_FP16 && p->shape.seq_kv > MOST_KEYS) return 0;
    for (size_t r = 0; r < rows->count; r++) {
        const double by_scores = truth->score_error[r];
        const uint16_t *row = O + rows->index[r] * d;
        for (size_t column = 0; column < d; column++) {
            const size_t i = r * d + column;
            const double due = truth->O[i], low = truth->low_O[i];
            if (!isfinite(due) || !isfinite(low) || truth->nan_too[i]) continue;
            error += square(element_to_float(p->type, row[column]) - due);
            low_error += square(low - due) + (isfinite(by_scores) ? square(by_scores) : 0);
            one_rounding += square(element_ulp(p->type, due)) / 12;
            add_distinct(&distinct, due);
        }
    }
    if (distinct.count < ENOUGH || low_error < square(1.3) * one_rounding) return 0;
    return sqrt(error / low_error);
}

typedef struct Scan {
    const Problem *problem;
    const Truth *truth;
    const Outputs *outputs;
    atomic_size_t unwritten;
} Scan;

/* Counts rows first .. end - 1: elements of O that are no numbers, LSE that is NaN or +inf, except
 * where the inputs give reason for them. */
static void scan_rows(size_t first, size_t end, void *context) {
    Scan *scan = context;
    const size_t d = (size_t)scan->problem->d;
    const float *LSE = scan->outputs->LSE;
    size_t unwritten = 0;
    for (size_t r = first; r < end; r++) {
        if (!scan->truth->finite[r]) continue;
        unwritten += elements_not_finite(scan->problem->type, scan->outputs->O + r * d, d);
        if (LSE) unwritten += !(LSE[r] < INFINITY);
    }
    atomic_fetch_add(&scan->unwritten, unwritten);
}

/* The whole result, less what the compared rows hold of such values. */
static size_t count_unwritten(const Problem *p, const Rows *rows, const Truth *truth,
                              const Outputs *outputs) {
    if (rows->count == rows->total) return 0;
    Scan all = {.problem = p, .truth = truth, .outputs = outputs}, compared = all;
    parallel_for(rows->total, 0, scan_rows, &all);
    for (size_t r = 0; r < rows->count; r++)
        scan_rows(rows->index[r], rows->index[r] + 1, &compared);
    return all.unwritten - compared.unwritten;
}

CheckResult check_outputs(const Problem *problem, const Rows *rows, const Truth *truth,
                          const Outputs *outputs) {
    CheckResult result = {0};
    check_O(problem, rows, truth, outputs, &result);
    result.rms_error = check_rms_error(problem, rows, truth, outputs->O);
    result.roundings = roundings_of(problem, rows, truth, outputs->O);
    if (outputs->LSE) check_LSE(rows, truth, outputs, &result);
    result.unwritten = count_unwritten(problem, rows, truth, outputs);
    const bool rounded_again = result.roundings > MOST_ROUNDINGS;
    if (rounded_again) result.ratio = fmax(result.ratio, result.roundings / MOST_ROUNDINGS);
    result.pass =
        !result.wrong_elements && !result.wrong_lse && !result.unwritten && !rounded_again;
    if (result.wrong_elements)
        snprintf(result.reason, sizeof result.reason,
                 "%zu of %zu elements of O are wrong: error %.3g, allowed %.3g",
                 result.wrong_elements, rows->count * (size_t)problem->d, result.max_error,
                 result.tolerance);
    else if (result.wrong_lse)
        snprintf(result.reason, sizeof result.reason,
                 "%zu of %zu LSE are wrong: error %.3g, allowed %.3g", result.wrong_lse,
                 rows->count, result.lse_error, result.lse_tolerance);
    else if (result.unwritten)
        snprintf(result.reason, sizeof result.reason,
                 "%zu elements of O or LSE are NaN or inf outside the compared rows",
                 result.unwritten);
    else if (rounded_again)
        snprintf(result.reason, sizeof result.reason,
                 "O is rounded more than once, or not to nearest: its root mean square error is "
                 "%.3g times that of one rounding of P and one of O, allowed %.3g",
                 result.roundings, MOST_ROUNDINGS);
    return result;
}
