/* Q, K and V from a seeded, counter-based generator: the value of an element depends on the seed,
 * the tensor and the element's index alone, so any thread may write any of them.
 *
 * The random bits of element `index` are mix(mix(seed + T * (tensor + 1)) + G * (index + 1)), with
 * the output function of SplitMix64 (Steele, Lea, Flood 2014) as mix.
 *
 *   normal   Q, K, V ~ N(0, 1) by Box-Muller, so the logits are about N(0, 1) too
 *   uniform  Q, K, V uniform in [-1, 1)
 *   large    Q, K ~ N(0, 12^2), V ~ N(0, 1): logits about N(0, 144^2), where a naive exp overflows
 *   onehot   query row i attends to key t = i mod visible_keys(i) and, to within e^-30, to no
 *            other: K_j = 4 * (a random sign pattern of key j), Q_i = 4 * (the pattern of key t).
 *            V tells where it was read: columns 0 1 2 3 hold j mod 256, j / 256 mod 256, KV head
 *            mod 256, batch mod 256, and so on again from column 4; so O_i = V_t exactly.
 *   ramp     Q, K = ((row + column) mod 16 - 7.5) / 8, V = (row mod 64 + column) / 64
 */
#ifndef INPUTS_H
#define INPUTS_H

#include "problem.h"

typedef enum Init { INIT_NORMAL, INIT_UNIFORM, INIT_LARGE, INIT_ONEHOT, INIT_RAMP } Init;
typedef enum Tensor { TENSOR_Q, TENSOR_K, TENSOR_V } Tensor;

typedef struct Inputs {
    uint16_t *Q, *K, *V; /* raw elements of the problem's type, shapes as in attention.h */
} Inputs;

/* "normal", "uniform", ... */
const char *init_name(Init init);

/* 64 well-mixed bits from 64. */
uint64_t mix64(uint64_t bits);

/* The element before it is rounded to the element type. */
float inputs_value(const Problem *problem, Init init, uint64_t seed, Tensor tensor, size_t index);

/* Allocates and fills the three tensors by `threads` threads (0: one a processor). */
bool inputs_create(const Problem *problem, Init init, uint64_t seed, int threads, Inputs *inputs,
                   Error *error);

void inputs_free(Inputs *inputs);

#endif
