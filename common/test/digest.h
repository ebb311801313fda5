/* One number for many, to compare with a known one: what must stay the same in every version. */
#ifndef DIGEST_H
#define DIGEST_H

#include "base/generator.h"
#include "cli/setup.h"

#include <string.h>

static uint64_t digest_add(uint64_t digest, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return mix64(digest ^ bits) + 1;
}

__attribute__((unused)) static uint64_t digest_shape(uint64_t digest, const AttentionProblem *s) {
    const double numbers[] = {s->batch, s->heads, s->kv_heads, s->seq_q, s->seq_kv, s->scale};
    for (int i = 0; i < 6; i++) digest = digest_add(digest, numbers[i]);
    return digest;
}

__attribute__((unused)) static uint64_t digest_setup(uint64_t digest, const TrialSetup *s) {
    const double numbers[] = {s->problem.d, s->problem.type, s->problem.causal,
                              s->init,      s->strength,     (double)(s->seed >> 11),
                              s->lse,       s->runs};
    digest = digest_shape(digest, &s->problem.shape);
    for (int i = 0; i < 8; i++) digest = digest_add(digest, numbers[i]);
    return digest;
}

#endif
