#include "inputs.h"

#include "parallel.h"

#include <math.h>
#include <stdlib.h>

static const float LARGE = 12.0f; /* 12 * 12 * N(0, 1): past the 88 where fp32 exp overflows */
static const float ONEHOT = 4.0f; /* a match gives a logit of 16 sqrt(d), a chance one 16 N(0, 1) */

typedef struct Coordinates {
    int batch, head, row, column;
} Coordinates;

const char *init_name(Init init) {
    static const char *const names[] = {"normal", "uniform", "large", "onehot", "ramp"};
    return names[init];
}

uint64_t mix64(uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

static uint64_t random_bits(uint64_t seed, Tensor tensor, size_t index) {
    const uint64_t key = mix64(seed + 0xd1342543de82ef95u * ((uint64_t)tensor + 1));
    return mix64(key + 0x9e3779b97f4a7c15u * ((uint64_t)index + 1));
}

static float normal_value(uint64_t bits) {
    const float u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f; /* in (0, 1): its log is finite */
    const float v = (float)(bits & 0xffffff) * 0x1p-24f;
    return sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
}

static float uniform_value(uint64_t bits) { return (float)(bits >> 40) * 0x1p-23f - 1.0f; }

static Coordinates coordinates(const Problem *p, Tensor tensor, size_t index) {
    const size_t d = (size_t)p->d;
    const size_t rows = (size_t)(tensor == TENSOR_Q ? p->shape.seq_q : p->shape.seq_kv);
    const size_t heads = (size_t)(tensor == TENSOR_Q ? p->shape.heads : p->shape.kv_heads);
    return (Coordinates){.batch = (int)(index / d / rows / heads),
                         .head = (int)(index / d / rows % heads),
                         .row = (int)(index / d % rows),
                         .column = (int)(index % d)};
}

/* The sign of column `column` in the pattern of key `key`. */
static float pattern(uint64_t seed, int key, int column) {
    const uint64_t word = random_bits(seed, TENSOR_K, ((size_t)key << 8) + (size_t)column / 64);
    return word >> column % 64 & 1 ? 1.0f : -1.0f;
}

static float onehot_value(const Problem *p, uint64_t seed, Tensor tensor, Coordinates at) {
    if (tensor == TENSOR_V) {
        const int code[] = {at.row, at.row / 256, at.head, at.batch};
        return (float)(code[at.column % 4] % 256);
    }
    int key = at.row;
    if (tensor == TENSOR_Q) {
        const int visible = problem_visible_keys(p, at.row);
        key = visible ? at.row % visible : 0;
    }
    return ONEHOT * pattern(seed, key, at.column);
}

static float ramp_value(Tensor tensor, Coordinates at) {
    if (tensor == TENSOR_V) return (float)(at.row % 64 + at.column) / 64.0f;
    return ((float)((at.row + at.column) % 16) - 7.5f) / 8.0f;
}

float inputs_value(const Problem *problem, Init init, uint64_t seed, Tensor tensor, size_t index) {
    switch (init) {
    case INIT_UNIFORM:
        return uniform_value(random_bits(seed, tensor, index));
    case INIT_LARGE:
        return normal_value(random_bits(seed, tensor, index)) * (tensor == TENSOR_V ? 1 : LARGE);
    case INIT_ONEHOT:
        return onehot_value(problem, seed, tensor, coordinates(problem, tensor, index));
    case INIT_RAMP:
        return ramp_value(tensor, coordinates(problem, tensor, index));
    default:
        return normal_value(random_bits(seed, tensor, index));
    }
}

typedef struct Fill {
    const Problem *problem;
    Init init;
    uint64_t seed;
    Tensor tensor;
    uint16_t *out;
} Fill;

static void fill_piece(size_t first, size_t end, void *context) {
    const Fill *fill = context;
    for (size_t i = first; i < end; i++)
        fill->out[i] =
            element_from_float(fill->problem->type, inputs_value(fill->problem, fill->init,
                                                                 fill->seed, fill->tensor, i));
}

bool inputs_create(const Problem *problem, Init init, uint64_t seed, int threads, Inputs *inputs,
                   Error *error) {
    const size_t counts[] = {problem_q_elements(problem), problem_kv_elements(problem),
                             problem_kv_elements(problem)};
    uint16_t **const tensors[] = {&inputs->Q, &inputs->K, &inputs->V};
    *inputs = (Inputs){0};
    for (int t = 0; t < 3; t++) {
        uint16_t *out = malloc(counts[t] * sizeof *out);
        if (!out) {
            inputs_free(inputs);
            return error_set(error, STATUS_SKIP, "not enough host memory for the inputs");
        }
        *tensors[t] = out;
        Fill fill = {problem, init, seed, (Tensor)t, out};
        parallel_for(counts[t], threads, fill_piece, &fill);
    }
    return true;
}

void inputs_free(Inputs *inputs) {
    free(inputs->Q);
    free(inputs->K);
    free(inputs->V);
    *inputs = (Inputs){0};
}
