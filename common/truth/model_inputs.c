#include "truth/model_inputs.h"

#include <math.h>

/* Of `local`: the scores of a row fall to half of their height 19 keys away. With wavelengths in a
 * geometric row no other distance has all cosines near 1: up to 2048 keys away they add up to 0.3
 * of the height at most, up to 131072 keys away to 0.6. */
enum { WAVES = 16 };
static const double SHORTEST_WAVE = 48, WAVE_RANGE = 10; /* keys; the longest over the shortest */

const InputChoice *model_bench_inputs(int *count) {
    static const InputChoice inputs[] = {{INIT_NORMAL, 0},   {INIT_SINK, 12},    {INIT_SINK, 30},
                                         {INIT_PEAKED, 3},   {INIT_PEAKED, 6},   {INIT_LOCAL, 14},
                                         {INIT_LOCAL, 20},   {INIT_RECENCY, 20}, {INIT_PRIMACY, 20},
                                         {INIT_PRIMACY, 100}};
    *count = sizeof inputs / sizeof inputs[0];
    return inputs;
}

/* One factor of a product of `strength` nats, the one in Q: a power of two, so that rounding
 * leaves it alone, near the root, so that neither factor leaves the range of fp16. */
static double factor_in_Q(double strength, int d) {
    return exp2(round(log2(strength * sqrt(d)) / 2));
}

/* How much of the strength a key has. */
static double height(Init init, size_t key, size_t keys) {
    if (init == INIT_SINK) return key == 0;
    if (keys == 1) return 0;
    return (double)(init == INIT_RECENCY ? key : keys - 1 - key) / (double)(keys - 1);
}

/* cos or sin of the place of the row or key, whose product over both is cos of their distance. */
static double wave(const Problem *p, Tensor tensor, size_t row, size_t column) {
    const double shift = tensor == TENSOR_Q ? (double)p->shape.seq_kv - p->shape.seq_q : 0;
    const double exponent = (double)(column / 2) / (WAVES - 1);
    const double turns = ((double)row + shift) / (SHORTEST_WAVE * pow(WAVE_RANGE, exponent));
    const double angle = 6.283185307179586 * (turns - floor(turns));
    return column % 2 ? sin(angle) : cos(angle);
}

float model_value(const Problem *p, Init init, double strength, Tensor tensor, size_t index,
                  float normal) {
    const size_t d = (size_t)p->d, column = index % d;
    const size_t rows = (size_t)(tensor == TENSOR_Q ? p->shape.seq_q : p->shape.seq_kv);
    const size_t row = index / d % rows, reserved = init == INIT_LOCAL ? 2 * WAVES : 1;
    if (tensor == TENSOR_V) return normal;
    if (init == INIT_PEAKED) return normal * (float)sqrt(strength);
    if (column >= reserved) /* the other columns make up for the reserved ones */
        return tensor == TENSOR_Q ? normal : normal * sqrtf((float)d / (float)(d - reserved));
    const double in_Q = factor_in_Q(strength, p->d), in_K = strength * sqrt((double)d) / in_Q;
    if (init == INIT_LOCAL)
        return (float)(wave(p, tensor, row, column) * (tensor == TENSOR_Q ? in_Q : in_K / WAVES));
    return (float)(tensor == TENSOR_Q ? in_Q : in_K * height(init, row, rows));
}
