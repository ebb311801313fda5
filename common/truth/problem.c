#include "truth/problem.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

/* The product of the factors into *product, false if it leaves 63 bits. */
static bool product(const int *factors, int count, int64_t *result) {
    *result = 1;
    for (int i = 0; i < count; i++)
        if (__builtin_mul_overflow(*result, (int64_t)factors[i], result)) return false;
    return true;
}

bool problem_check(const Problem *problem, Error *error) {
    const AttentionProblem *s = &problem->shape;
    const struct {
        const char *name;
        int value;
    } sizes[] = {{"B", s->batch}, {"H", s->heads},    {"HKV", s->kv_heads},
                 {"N", s->seq_q}, {"NKV", s->seq_kv}, {"D", problem->d}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].value < 1)
            return error_set(error, STATUS_USAGE, "%s=%d: allowed are whole numbers from 1 to %d",
                             sizes[i].name, sizes[i].value, INT_MAX);
    if (s->heads % s->kv_heads)
        return error_set(error, STATUS_USAGE,
                         "HKV=%d does not divide H=%d: allowed are divisors of H", s->kv_heads,
                         s->heads);
    /* 16 covers the bytes of an element of any tensor or workspace (an fp32 of S and one of P). */
    const int heads[] = {s->batch, s->heads};
    const int q[] = {s->batch, s->heads, s->seq_q, problem->d, 16};
    const int kv[] = {s->batch, s->kv_heads, s->seq_kv, problem->d, 16};
    const int scores[] = {s->batch, s->heads, s->seq_q, s->seq_kv, 16};
    int64_t head_count, bytes;
    if (!product(heads, 2, &head_count) || head_count > INT_MAX)
        return error_set(error, STATUS_USAGE, "B=%d times H=%d overflows: allowed is at most %d",
                         s->batch, s->heads, INT_MAX);
    if (!product(q, 5, &bytes) || !product(kv, 5, &bytes) || !product(scores, 5, &bytes))
        return error_set(error, STATUS_USAGE,
                         "B=%d H=%d N=%d NKV=%d D=%d: the product of the sizes overflows 63 bits; "
                         "choose smaller ones",
                         s->batch, s->heads, s->seq_q, s->seq_kv, problem->d);
    return true;
}

float problem_scale(int d) { return (float)(1 / sqrt(d)); }

size_t problem_rows(const Problem *p) {
    return (size_t)p->shape.batch * (size_t)p->shape.heads * (size_t)p->shape.seq_q;
}

size_t problem_q_elements(const Problem *p) { return problem_rows(p) * (size_t)p->d; }

size_t problem_kv_elements(const Problem *p) {
    return (size_t)p->shape.batch * (size_t)p->shape.kv_heads * (size_t)p->shape.seq_kv *
           (size_t)p->d;
}

size_t problem_bytes(const Problem *p) {
    return 2 * sizeof(uint16_t) * (problem_q_elements(p) + problem_kv_elements(p)) +
           sizeof(float) * problem_rows(p);
}

int problem_visible_keys(const Problem *p, int row) {
    if (!p->causal) return p->shape.seq_kv;
    const int64_t visible = (int64_t)row + 1 + p->shape.seq_kv - p->shape.seq_q;
    return visible < 0 ? 0 : (int)visible;
}

size_t problem_kv_head(const Problem *p, size_t index) {
    const size_t heads = (size_t)p->shape.heads, kv_heads = (size_t)p->shape.kv_heads;
    const size_t head = index / (size_t)p->shape.seq_q;
    return head / heads * kv_heads + head % heads / (heads / kv_heads);
}

uint64_t problem_pairs(const Problem *p) {
    const uint64_t seq_q = (uint64_t)p->shape.seq_q, seq_kv = (uint64_t)p->shape.seq_kv;
    if (!p->causal) return seq_q * seq_kv;
    /* The last row sees all seq_kv keys and each row above it one less, down to none. */
    const uint64_t rows = seq_q < seq_kv ? seq_q : seq_kv;
    return rows * seq_kv - rows * (rows - 1) / 2;
}

double problem_flops(const Problem *p) {
    return 4.0 * p->shape.batch * p->shape.heads * p->d * (double)problem_pairs(p);
}

void problem_variant(const Problem *p, char *name, size_t size) {
    snprintf(name, size, "d%d_%s_%s", p->d, element_name(p->type), p->causal ? "causal" : "full");
}
