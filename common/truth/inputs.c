#include "truth/inputs.h"

#include "base/generator.h"
#include "base/parallel.h"
#include "truth/model_inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float LARGE = 12.0f; /* 12 * 12 * N(0, 1): past the 88 where fp32 exp overflows */
static const float ONEHOT = 4.0f; /* a match gives a logit of 16 sqrt(d), a chance one 16 N(0, 1) */
static const float DOMINANT_Q = 16.0f, DOMINANT_K = 128.0f; /* a logit of 2048 / sqrt(d) */
static const float EQUAL_Q = -1300.0f, EQUAL_K = 256.0f;    /* logits of -332800 / sqrt(d) */

/* Batch and head are those of an element of K or V; of Q nobody asks for them. */
typedef struct Coordinates {
    int batch, head, row, column;
} Coordinates;

static uint64_t key_of(uint64_t seed, Tensor tensor) {
    return mix64(seed + 0xd1342543de82ef95u * ((uint64_t)tensor + 1));
}

static uint64_t random_bits(uint64_t key, size_t index) {
    return mix64(key + 0x9e3779b97f4a7c15u * ((uint64_t)index + 1));
}

/* ln x of a positive normal number. x = 2^e m, with m from sqrt(1/2) to sqrt(2), and ln m =
 * 2 artanh((m - 1) / (m + 1)), which is a power series. */
static float log_value(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits - 0x3f3504f3) >> 23; /* less the bits of sqrt(1/2) */
    bits -= (uint32_t)exponent << 23;
    float m;
    memcpy(&m, &bits, sizeof m);
    const float t = (m - 1) / (m + 1), s = t * t;
    const float series = 1 + s * (1 / 3.0f + s * (1 / 5.0f + s / 7));
    return (float)exponent * 0.693147181f + 2 * t * series;
}

/* sin(2 pi turns) by its power series; |turns| <= 1/4. */
static float sine_value(float turns) {
    const float x = 6.2831853f * turns, s = x * x;
    return x * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110)))));
}

/* By Box-Muller. Without libm, so that loops over it become vectors and every machine has the same
 * inputs; cos(2 pi v) = sin(2 pi (|v - 1/2| - 1/4)). */
static inline float normal_value(uint64_t bits) {
    const float u = ((float)(int)(bits >> 40) + 0.5f) * 0x1p-24f; /* in (0, 1]: ln u is finite */
    const float v = (float)(int)(bits & 0xffffff) * 0x1p-24f;
    return sqrtf(-2 * log_value(u)) * sine_value(fabsf(v - 0.5f) - 0.25f);
}

static float uniform_value(uint64_t bits) { return (float)(bits >> 40) * 0x1p-23f - 1.0f; }

static Coordinates coordinates(const Problem *p, Tensor tensor, size_t index) {
    const size_t d = (size_t)p->d;
    const size_t rows = (size_t)(tensor == TENSOR_Q ? p->shape.seq_q : p->shape.seq_kv);
    const size_t heads = (size_t)p->shape.kv_heads;
    return (Coordinates){.batch = (int)(index / d / rows / heads),
                         .head = (int)(index / d / rows % heads),
                         .row = (int)(index / d % rows),
                         .column = (int)(index % d)};
}

/* The sign of column `column` in the pattern of key `key`. */
static float pattern(uint64_t seed, int key, int column) {
    const size_t index = ((size_t)key << 8) + (size_t)column / 64;
    const uint64_t word = random_bits(key_of(seed, TENSOR_K), index);
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

static float tiny_value(const Problem *p, Tensor tensor, size_t column, float normal) {
    const bool bf16 =
        p->type == TYPE_BF16; /* normal numbers from 2^-126 to 2^128, or 2^-14 to 2^16 */
    const float subnormal = bf16 ? 0x1p-128f : 0x1p-16f, partner = bf16 ? 0x1p125f : 0x1p13f;
    if (tensor == TENSOR_V) return normal * subnormal;
    return normal * ((column % 2 == 0) == (tensor == TENSOR_Q) ? subnormal : partner);
}

/* All keys are the first of their KV head. */
static size_t equal_index(const Problem *p, Tensor tensor, size_t index) {
    const size_t d = (size_t)p->d, head = d * (size_t)p->shape.seq_kv;
    return tensor == TENSOR_K ? index / head * head + index % d : index;
}

static float equal_value(Tensor tensor, Coordinates at, uint64_t bits, float normal) {
    if (tensor == TENSOR_V) return 40000 + 20000 * uniform_value(bits);
    if (at.column > 0) return normal;
    if (tensor == TENSOR_K) return EQUAL_K;
    return at.row % 4 == 3 ? EQUAL_Q : 0;
}

static float dominant_value(const Problem *p, uint64_t seed, Tensor tensor, size_t index,
                            float normal) {
    const size_t d = (size_t)p->d, keys = (size_t)p->shape.seq_kv;
    if (tensor == TENSOR_V || index % d != 0) return normal;
    if (tensor == TENSOR_Q) return DOMINANT_Q;
    const size_t key = mix64(seed + index / d / keys) % keys;
    return index / d % keys == key ? DOMINANT_K : 0;
}

/* The tensor with the special value. */
static Tensor holder_of(uint64_t seed) { return (Tensor)(seed % 3); }

/* `special`, or its negative if it is an infinity, at one place. */
static float special_value(const Problem *p, uint64_t seed, Tensor tensor, size_t index,
                           float normal, float special) {
    const Tensor holder = holder_of(seed);
    const size_t elements = holder == TENSOR_Q ? problem_q_elements(p) : problem_kv_elements(p);
    const size_t place = mix64(seed) % elements, d = (size_t)p->d;
    if (tensor == holder && index == place) return mix64(~seed) & 1 ? special : -special;
    if (holder == TENSOR_Q && tensor == TENSOR_K && index % d == place % d) return fabsf(normal);
    return normal;
}

/* What the elements of a tensor depend on, besides their indices. */
typedef struct Fill {
    const Problem *problem;
    Init init;
    double strength;
    uint64_t seed;
    Tensor tensor;
    uint16_t *out;
} Fill;

/* Of the element, or of the one that it is a copy of. */
static uint64_t bits_of(const Fill *fill, uint64_t key, size_t index) {
    if (fill->init == INIT_EQUAL) index = equal_index(fill->problem, fill->tensor, index);
    return random_bits(key, index);
}

/* The value of an element from its bits, and from the normal number that these give. */
static float value_of(const Fill *fill, size_t index, uint64_t bits, float normal) {
    const Problem *problem = fill->problem;
    const Tensor tensor = fill->tensor;
    const double strength = fill->strength, usual = init_strength(fill->init);
    const uint64_t seed = fill->seed;
    if (usual > 0)
        return model_value(problem, fill->init, strength > 0 ? strength : usual, tensor, index,
                           normal);
    switch (fill->init) {
    case INIT_UNIFORM:
        return uniform_value(bits);
    case INIT_LARGE:
        return normal * (tensor == TENSOR_V ? 1 : LARGE);
    case INIT_ONEHOT:
        return onehot_value(problem, seed, tensor, coordinates(problem, tensor, index));
    case INIT_RAMP:
        return ramp_value(tensor, coordinates(problem, tensor, index));
    case INIT_TINY:
        return tiny_value(problem, tensor, index % (size_t)problem->d, normal);
    case INIT_EQUAL:
        return equal_value(tensor, coordinates(problem, tensor, index), bits, normal);
    case INIT_ZEROS:
        return bits >> 63 ? -0.0f : 0.0f;
    case INIT_DOMINANT:
        return dominant_value(problem, seed, tensor, index, normal);
    case INIT_INFINITE:
        return special_value(problem, seed, tensor, index, normal, INFINITY);
    case INIT_NAN:
        if (seed / 3 % 4 == 2 && tensor == holder_of(seed)) return NAN;
        return special_value(problem, seed, tensor, index, normal, NAN);
    default:
        return normal;
    }
}

float inputs_value(const Problem *problem, Init init, double strength, uint64_t seed, Tensor tensor,
                   size_t index) {
    const Fill fill = {problem, init, strength, seed, tensor, NULL};
    const uint64_t bits = bits_of(&fill, key_of(seed, tensor), index);
    return value_of(&fill, index, bits, normal_value(bits));
}

enum { AT_ONCE = 256 };

static void fill_piece(size_t first, size_t end, void *context) {
    const Fill *fill = context;
    const uint64_t key = key_of(fill->seed, fill->tensor);
    uint64_t bits[AT_ONCE];
    float normal[AT_ONCE];
    for (size_t from = first; from < end; from += AT_ONCE) {
        const size_t count = end - from < AT_ONCE ? end - from : AT_ONCE;
        for (size_t i = 0; i < count; i++) bits[i] = bits_of(fill, key, from + i);
        for (size_t i = 0; i < count; i++) normal[i] = normal_value(bits[i]);
        for (size_t i = 0; i < count; i++)
            fill->out[from + i] = element_from_float(fill->problem->type,
                                                     value_of(fill, from + i, bits[i], normal[i]));
    }
}

/* Bytes that programs may still take without swapping; SIZE_MAX: unknown. */
static size_t memory_available(void) {
    size_t kilobytes = SIZE_MAX / 1024;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %zu", &kilobytes) == 1) break;
    if (file) fclose(file);
    return kilobytes * 1024;
}

/* malloc gives memory that is not there, and the system ends the program that uses it: so ask. */
static bool fits_host(const Problem *problem, Error *error) {
    const size_t needed = problem_bytes(problem), available = memory_available();
    if (needed <= available) return true;
    return error_set(error, STATUS_SKIP,
                     "the problem needs %.1f GiB of host memory, and %.1f GiB are available",
                     (double)needed / (1 << 30), (double)available / (1 << 30));
}

bool inputs_create(const Problem *problem, Init init, double strength, uint64_t seed, int threads,
                   Inputs *inputs, Error *error) {
    const size_t counts[] = {problem_q_elements(problem), problem_kv_elements(problem),
                             problem_kv_elements(problem)};
    uint16_t **const tensors[] = {&inputs->Q, &inputs->K, &inputs->V};
    *inputs = (Inputs){0};
    if (!fits_host(problem, error)) return false;
    for (int t = 0; t < 3; t++) {
        uint16_t *out = malloc(counts[t] * sizeof *out);
        if (!out) {
            inputs_free(inputs);
            return error_set(error, STATUS_SKIP, "not enough host memory for the inputs");
        }
        *tensors[t] = out;
        Fill fill = {problem, init, strength, seed, (Tensor)t, out};
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
