/* The truth: attention in fp64 on the CPU, for chosen rows, and beside it what an honest
 * low-precision computation gives, which is the yardstick for errors.
 *
 *     S_j = scale * q . K_j          m = max_j S_j            w_j = exp(S_j - m)
 *     O = sum_j w_j V_j / sum_j w_j  LSE = m + log(sum_j w_j)
 *
 * over the keys that the row sees. No key, or only logits of -inf: O = 0, LSE = -inf. Otherwise
 * IEEE arithmetic decides: a logit of NaN or +inf makes the whole row NaN. An inf or NaN in V_j
 * reaches O only if w_j is not 0. A kernel may fall behind that: on tensor cores a key that has no
 * weight, masked or not, is still multiplied, and 0 * inf is NaN. So a NaN is right as well in a
 * column in which V of the KV head holds an inf or NaN (attention.h), and nowhere else.
 *
 * The low-precision reference follows FlashAttention-2 (Dao 2023, Algorithm 1) as a kernel with
 * tensor cores does: products and sums in fp32; w_j 0 below 2^-110, and rounded to the element type
 * before it meets V; the sum of w_j in fp32 before that rounding; O rounded to the element type. A
 * kernel flushes what is below 2^-126; one whose m is not yet the greatest logit (stages 11 to 16)
 * has w_j of up to 2^15, which costs no bits, but some more are flushed.
 *
 * A score may be off by e = 2^-20 max_j max(|S_j|, scale |q| |K_j| / 8): the second, where what is
 * added up for a score cancels. LSE moves by up to e. Where e is small, O moves by up to
 *
 *     score_error = e max_c sum_j P_j |V_jc|     P_j = w_j / sum_j w_j
 *
 * From e = 1 on that would let anything pass. There P_j may grow by a factor of exp(2 e), but no
 * weight moves by more than 1, nor by more than all others together:
 *
 *     score_error = max_c sum_j min(1, (exp(2 e) - 1) min(P_j, 1 - P_j)) |V_jc|
 *
 * Where e is in between, from 2^-10 to 1, it is the smaller of the two, because one key may have it
 * all; but not less than the first is at 2^-10, because there a P of 1 is only near 1 in a kernel,
 * and is rounded.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "truth/inputs.h"
#include "truth/rows.h"

typedef struct Truth {
    double *O;           /* [rows, d] */
    double *LSE;         /* [rows] */
    double *low_O;       /* [rows, d], the low-precision reference, rounded to the element type */
    double *low_LSE;     /* [rows] */
    double *score_off;   /* [rows] e above: how far a score, and with it LSE, may be off in fp32 */
    double *score_error; /* [rows] how far that may move O, see above */
    bool *nan_too;       /* [rows, d] NaN is right, too */
    bool *finite;        /* [all rows of the problem] no inf or NaN in the row's q nor in K and V of
                            its KV head, so none is due in its O; NULL if all rows are compared */
} Truth;

/* Truth of the rows, by all processors; `scale` multiplies Q K^T. STATUS_SKIP without memory,
 * STATUS_USAGE where a finite score of the rows exceeds ATTENTION_MOST_SCORE. */
bool oracle_create(const Problem *problem, double scale, const Inputs *inputs, const Rows *rows,
                   Truth *truth, Error *error);

void oracle_free(Truth *truth);

#endif
