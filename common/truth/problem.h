/* A problem as the harness sees it: the shape a stage is given plus what its variant fixes. */
#ifndef PROBLEM_H
#define PROBLEM_H

#include "attention.h"
#include "base/element.h"
#include "base/error.h"

#include <stdint.h>

typedef struct Problem {
    AttentionProblem shape;
    int d;            /* head size: 64 or 128 for a stage, any for the oracle */
    ElementType type; /* of Q, K, V and O */
    bool causal;
} Problem;

/* Checks that the counts are at least 1, that kv_heads divides heads and that no product of sizes
 * that the harness or a stage forms overflows (batch * heads: int; the rest: 63 bits). */
bool problem_check(const Problem *problem, Error *error);

/* The scale that is meant where none is given: 1 / sqrt(d). */
float problem_scale(int d);

/* Elements of a tensor. */
size_t problem_q_elements(const Problem *problem);  /* Q and O: [batch, heads, seq_q, d] */
size_t problem_kv_elements(const Problem *problem); /* K and V: [batch, kv_heads, seq_kv, d] */
size_t problem_rows(const Problem *problem);        /* LSE: [batch, heads, seq_q] */

/* Bytes of Q, K, V, O and LSE together. */
size_t problem_bytes(const Problem *problem);

/* The number of keys that query `row` sees, 0 .. seq_kv: keys j <= row + seq_kv - seq_q if causal.
 */
int problem_visible_keys(const Problem *problem, int row);

/* The KV head, counted over the batch, that row `index` of LSE reads: 0 .. batch * kv_heads - 1. */
size_t problem_kv_head(const Problem *problem, size_t index);

/* Query-key pairs that count, of one head. */
uint64_t problem_pairs(const Problem *problem);

/* 4 * batch * heads * d * pairs: a multiplication and an addition a pair and a column, for Q K^T
 * and for P V. */
double problem_flops(const Problem *problem);

enum { VARIANT_NAME = 64 }; /* room for the name of any variant */

/* Writes the name of the variant that computes it, "d128_fp16_causal" for example. */
void problem_variant(const Problem *problem, char *name, size_t size);

#endif
