/* The verdict on O and LSE.
 *
 * O. The tolerance is one number per row, because rows differ: with a causal mask the first rows
 * are as large as V and the last ones a hundred times smaller, where one tolerance for all would
 * let a half-wrong row pass. For row r
 *
 *     tolerance = 2 * max_c |low_O - O|  +  ulp(max_c |O|)  +  score_error
 *
 * with O the truth, low_O the low-precision reference, ulp the distance of neighbouring numbers of
 * the element type, and score_error what scores in fp32 may move O (see oracle.h): it matters only
 * where scores are in the hundreds.
 *
 * The roundings of O are counted, too, which a tolerance for each element cannot: low_O has one of
 * P and one of O, and the root mean square of O's error may be 1.15 times that of low_O's (with
 * another rounding of O it is 1.19 to 1.33 times, with O cut off 1.6). Asked only of 4096 different
 * elements or more, and where low_O's error is at least 1.3 times what a rounding of O alone
 * leaves: else a few weights decide, whose P may be exact in one computation and not in another.
 * In fp16 not beyond 2^14 keys either: tensor cores cut off each of their sums (Fasi et al., 2021,
 * Numerical behavior of NVIDIA tensor cores), which adds up.
 *
 * LSE. One tolerance for the tensor, score_off being how far a score may be off (see oracle.h):
 *
 *     tolerance = 2 * max |low_LSE - LSE|  +  max(2^-18, 2^-18 max |LSE|, max score_off)
 *
 * Where the truth is infinite or NaN the result must be the same infinity or a NaN; everywhere
 * else it must be finite. A NaN passes as well where the truth says so (nan_too, see oracle.h).
 * Rows that were not compared must be finite too, unless their inputs are not: their truth is not
 * known, but an element that no kernel wrote is still the NaN it was filled with.
 */
#ifndef CHECK_H
#define CHECK_H

#include "truth/oracle.h"

typedef struct Outputs {
    const uint16_t *O; /* [batch, heads, seq_q, d], elements of the problem's type */
    const float *LSE;  /* [batch, heads, seq_q], NULL: not asked for */
} Outputs;

typedef struct CheckResult {
    bool pass;
    double max_error, tolerance; /* of O, in the row that comes closest to its tolerance or exceeds
                                    it the most; the error is NaN or inf if an element is */
    double rms_error;            /* of O over the compared rows, see check_rms_error */
    double lse_error, lse_tolerance;
    double ratio;     /* the larger of error / tolerance of O and of LSE; inf for a NaN */
    double roundings; /* the ratio that is counted; 0: not asked for */
    size_t wrong_elements, wrong_lse; /* in the compared rows */
    size_t unwritten;                 /* NaN or inf in the other rows of O and LSE */
    char reason[160];                 /* "" if pass */
} CheckResult;

CheckResult check_outputs(const Problem *problem, const Rows *rows, const Truth *truth,
                          const Outputs *outputs);

/* The root of the mean square of O - truth over the elements of the compared rows whose truth is
 * finite: the accuracy, where max_error is the safety. NaN or inf if one of them is in O without
 * reason. O: as in Outputs. */
double check_rms_error(const Problem *problem, const Rows *rows, const Truth *truth,
                       const uint16_t *O);

/* The parts of the rule, for explain.c: |got - truth| of one number (0 for the infinity or the NaN
 * that is due, NaN or inf where only one of the two is), right if `error <= tolerance`, which a NaN
 * fails; the same for element i of truth->O; and the tolerance of O in compared row r and of LSE.
 */
double check_error(double got, double truth);
double check_O_error(const Truth *truth, size_t i, double got);
double check_row_tolerance(const Problem *problem, const Truth *truth, size_t r);
double check_lse_tolerance(const Rows *rows, const Truth *truth);

#endif
