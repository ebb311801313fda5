/* Q, K and V from a seeded, counter-based generator: the value of an element depends on the seed,
 * the tensor and the element's index alone, so any thread may write any of them.
 *
 * The random bits of element `index` are mix(mix(seed + T * (tensor + 1)) + G * (index + 1)), with
 * mix64 of base/generator.h as mix.
 *
 *   normal   Q, K, V ~ N(0, 1) by Box-Muller, so the logits are about N(0, 1) too
 *   uniform  Q, K, V uniform in [-1, 1)
 *   large    Q, K ~ N(0, 12^2), V ~ N(0, 1): logits about N(0, 144^2), where a naive exp overflows
 *   onehot   query row i attends to key t = i mod visible_keys(i) and, to within e^-30, to no
 *            other: K_j = 4 * (a random sign pattern of key j), Q_i = 4 * (the pattern of key t).
 *            V tells where it was read: columns 0 1 2 3 hold j mod 256, j / 256 mod 256, KV head
 *            mod 256, batch mod 256, and so on again from column 4; so O_i = V_t exactly.
 *   ramp     Q, K = ((row + column) mod 16 - 7.5) / 8, V = (row mod 64 + column) / 64
 *
 * Hard ones, each N(0, 1) but for what is said:
 *
 *   tiny      subnormal numbers: in Q the even columns, in K the odd ones, V as a whole; the other
 *             columns of Q and K are so large that the logits, about N(0, 1 / 8^2), come from the
 *             subnormals: to flush them to zero makes all weights equal
 *   equal     all keys of a KV head are the same: every weight is 1 / visible_keys. All scores of
 *             every fourth row are about -30,000 (d 64: -42,000), lower than what a kernel might
 *             take for -inf: Q is -1300 there in column 0, in other rows 0; K is 256 there. V is
 *             uniform in [20000, 60000): O fits fp16, and the sum before it is divided does not
 *   zeros     Q, K, V are +0 or -0: O = 0, LSE = log(visible_keys)
 *   dominant  one key of each KV head outweighs all others, by logits of 181 and more: Q is 16 in
 *             column 0, K 128 there in that key and 0 in the others
 *   infinite  one element is +inf or -inf: of Q if seed mod 3 is 0, of K if 1, of V if 2. If it is
 *             of Q, then K is positive in its column: all scores of its row are infinities of one
 *             sign
 *   nan       one element is NaN, or the whole tensor if seed / 3 mod 4 is 2: of Q, K or V as above
 *
 * Those that a model makes, with a STRENGTH: N(0, 1) noise in the scores and beneath it a structure
 * in them, in nats with the usual scale 1 / sqrt(d); V ~ N(0, 1). The structure comes from column 0
 * of Q and K, for `local` from the first 32. What noise these columns lack, the others of K have
 * more.
 *
 *   sink      key 0 stands STRENGTH above the rest: an attention sink (12)
 *   peaked    no structure, but the noise has the standard deviation STRENGTH (3): Q and K are
 *             sqrt(STRENGTH) times as large as in normal
 *   local     the key at the row's own place, i + seq_kv - seq_q, stands STRENGTH above the rest
 *             (14), its neighbours less so and those 19 keys away half as much: a sum of 16 cosines
 *             of the distance, of wavelengths 48 to 480 keys
 *   recency   scores grow by STRENGTH from the first key to the last (20)
 *   primacy   scores fall by STRENGTH from the first key to the last (20)
 */
#ifndef INPUTS_H
#define INPUTS_H

#include "truth/init.h"
#include "truth/problem.h"

typedef struct Inputs {
    uint16_t *Q, *K, *V; /* raw elements of the problem's type, shapes as in attention.h */
} Inputs;

/* The element before it is rounded to the element type; strength 0: that of the init. */
float inputs_value(const Problem *problem, Init init, double strength, uint64_t seed, Tensor tensor,
                   size_t index);

/* Allocates and fills the three tensors by `threads` threads (0: one a processor). STATUS_SKIP if
 * the host has no memory for them and for O and LSE. */
bool inputs_create(const Problem *problem, Init init, double strength, uint64_t seed, int threads,
                   Inputs *inputs, Error *error);

void inputs_free(Inputs *inputs);

#endif
