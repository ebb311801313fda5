/* What the programs print about problems and results. */
#ifndef REPORT_H
#define REPORT_H

#include "cli/trial.h"

/* The device and software, two lines. */
void report_device(FILE *out, const Device *device);

/* The problem and how much of it is compared with the oracle. */
void report_problem(FILE *out, const TrialSetup *setup, const Rows *rows);

/* One aligned table, one line a result. Or its parts, for lines that come one after the other: the
 * first column has `width` characters; `before` is the last result that was timed, or NULL. */
void report_table(FILE *out, const Device *device, const Problem *problem, const Result results[],
                  int count);
void report_head(FILE *out, const Device *device, int width);
void report_row(FILE *out, const Device *device, const Problem *problem, int width,
                const Result *result, const Result *before);
void report_foot(FILE *out, const Device *device);

/* One JSON object on one line; what is absent is null. max_error and tolerance are those of O in
 * one row, rms_error that over all checked rows (check.h). regime: of a bench (regimes.h).
 * gb_s: 10^9 bytes a second if Q, K, V, O and LSE move once; hbm_share: of the memory's peak.
 * host_us: until attention_launch returned, median; null if back to back.
 * sustained: seconds of running back to back, from `began` to `ended`, and ms_median and ms_min are
 * both the mean; null if repetitions ran one at a time. */
void report_json(FILE *out, const Device *device, const TrialSetup *setup, const Result *result);

/* "PASS", "FAIL" or "SKIP". */
const char *report_status(Status status);

/* The arguments that ask `run` for the same: "B=1 H=2 ... SEED=7 LSE=1", STRENGTH where INIT
 * takes one, and SCALE and RUNS where they are not the default. */
void report_arguments(FILE *out, const TrialSetup *setup);

/* 10^12 floating-point operations a second, of the median. */
double report_tflops(const Problem *problem, const Times *times);

/* 10^9 bytes a second, of the median, if each tensor is moved once. */
double report_gb_s(const Problem *problem, const Times *times);

#endif
