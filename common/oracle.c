#include "oracle.h"

#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Sums in LANES parts, which the compiler keeps in vector registers. */
enum { LANES = 8 };

static double dot(const double *a, const double *b, int d) {
    double part[LANES] = {0}, sum = 0;
    int c = 0;
    for (; c + LANES <= d; c += LANES)
        for (int lane = 0; lane < LANES; lane++) part[lane] += a[c + lane] * b[c + lane];
    for (; c < d; c++) sum += a[c] * b[c];
    for (int lane = 0; lane < LANES; lane++) sum += part[lane];
    return sum;
}

static float dot_low(const float *a, const float *b, int d) {
    float part[LANES] = {0}, sum = 0;
    int c = 0;
    for (; c + LANES <= d; c += LANES)
        for (int lane = 0; lane < LANES; lane++) part[lane] += a[c + lane] * b[c + lane];
    for (; c < d; c++) sum += a[c] * b[c];
    for (int lane = 0; lane < LANES; lane++) sum += part[lane];
    return sum;
}

void oracle_row(const double *q, const double *K, const double *V, int keys, int d, double scale,
                double *scratch, double *O, double *LSE, double *sensitivity) {
    double *const weights = scratch, *const size =
                                         scratch + keys; /* [keys], sum_j P_j |V_j|: [d] */
    double m = -INFINITY, l = 0, largest_logit = 0, largest_size = 0;
    for (int j = 0; j < keys; j++) {
        weights[j] = scale * dot(q, K + (size_t)j * (size_t)d, d);
        m = fmax(m, weights[j]); /* fmax passes over a NaN; exp brings it into l below */
        largest_logit = fmax(largest_logit, fabs(weights[j]));
    }
    for (int c = 0; c < d; c++) O[c] = size[c] = 0;
    for (int j = 0; j < keys; j++) {
        /* exp(-inf - -inf) would be NaN where only -inf was seen: such a key has no weight. */
        weights[j] = weights[j] == -INFINITY ? 0 : exp(weights[j] - m);
        l += weights[j];
    }
    *LSE = l == 0 ? -INFINITY : m + log(l);
    for (int j = 0; j < keys; j++) {
        if (weights[j] == 0) continue;
        const double P = weights[j] / l, *V_j = V + (size_t)j * (size_t)d;
        for (int c = 0; c < d; c++) {
            O[c] += P * V_j[c];
            size[c] += P * fabs(V_j[c]);
        }
    }
    for (int c = 0; c < d; c++) largest_size = fmax(largest_size, size[c]);
    *sensitivity = largest_logit * largest_size;
}

/* The same row as a kernel computes it. O: [d], rounded to the element type. */
static void low_precision_row(ElementType type, const float *q, const float *K, const float *V,
                              int keys, int d, float scale, float *scratch, double *O,
                              double *LSE) {
    float *const weights = scratch, *const sum = scratch + keys; /* [keys], [d] */
    float m = -INFINITY, l = 0;
    for (int j = 0; j < keys; j++) {
        weights[j] = scale * dot_low(q, K + (size_t)j * (size_t)d, d);
        m = fmaxf(m, weights[j]);
    }
    for (int c = 0; c < d; c++) sum[c] = 0;
    for (int j = 0; j < keys; j++) {
        const float weight = weights[j] == -INFINITY ? 0 : expf(weights[j] - m);
        const float rounded = element_to_float(type, element_from_float(type, weight));
        l += weight;
        if (rounded == 0) continue;
        for (int c = 0; c < d; c++) sum[c] += rounded * V[(size_t)j * (size_t)d + (size_t)c];
    }
    *LSE = l == 0 ? -INFINITY : m + logf(l);
    for (int c = 0; c < d; c++) {
        const float value = l == 0 ? 0 : sum[c] / l;
        O[c] = element_to_float(type, element_from_float(type, value));
    }
}

typedef struct Oracle {
    const Problem *problem;
    double scale;
    const Inputs *inputs;
    const Rows *rows;
    Truth *truth;
    atomic_bool out_of_memory;
} Oracle;

/* What one thread needs: K and V of one KV head in both precisions, and a row's scratch. */
typedef struct Scratch {
    double *K, *V, *q, *row;
    float *low_K, *low_V, *low_q, *low_row;
} Scratch;

static void scratch_free(Scratch *s) {
    free(s->K);
    free(s->low_K);
}

/* Two blocks of memory, one a precision, cut into K, V, q and a row's scratch. */
static bool scratch_create(size_t keys, size_t d, Scratch *s) {
    const size_t numbers = 2 * keys * d + 2 * d + keys;
    s->K = malloc(numbers * sizeof *s->K);
    s->low_K = malloc(numbers * sizeof *s->low_K);
    s->V = s->K + keys * d, s->low_V = s->low_K + keys * d;
    s->q = s->V + keys * d, s->low_q = s->low_V + keys * d;
    s->row = s->q + d, s->low_row = s->low_q + d;
    return s->K && s->low_K;
}

static void load(ElementType type, const uint16_t *from, size_t count, double *to, float *low_to) {
    for (size_t i = 0; i < count; i++) {
        low_to[i] = element_to_float(type, from[i]);
        to[i] = low_to[i];
    }
}

static void oracle_rows(size_t first, size_t end, void *context) {
    Oracle *oracle = context;
    const Problem *p = oracle->problem;
    const Truth *t = oracle->truth;
    const size_t d = (size_t)p->d, keys = (size_t)p->shape.seq_kv;
    size_t loaded_head = SIZE_MAX;
    Scratch s;
    if (!scratch_create(keys, d, &s)) oracle->out_of_memory = true;
    for (size_t r = first; r < end && !oracle->out_of_memory; r++) {
        const size_t index = oracle->rows->index[r], head = problem_kv_head(p, index);
        const int visible = problem_visible_keys(p, (int)(index % (size_t)p->shape.seq_q));
        if (head != loaded_head) {
            load(p->type, oracle->inputs->K + head * keys * d, keys * d, s.K, s.low_K);
            load(p->type, oracle->inputs->V + head * keys * d, keys * d, s.V, s.low_V);
            loaded_head = head;
        }
        load(p->type, oracle->inputs->Q + index * d, d, s.q, s.low_q);
        oracle_row(s.q, s.K, s.V, visible, p->d, oracle->scale, s.row, t->O + r * d, &t->LSE[r],
                   &t->sensitivity[r]);
        low_precision_row(p->type, s.low_q, s.low_K, s.low_V, visible, p->d, (float)oracle->scale,
                          s.low_row, t->low_O + r * d, &t->low_LSE[r]);
    }
    scratch_free(&s);
}

bool oracle_create(const Problem *problem, double scale, const Inputs *inputs, const Rows *rows,
                   Truth *truth, Error *error) {
    const size_t d = (size_t)problem->d;
    *truth = (Truth){.O = malloc(rows->count * d * sizeof *truth->O),
                     .LSE = malloc(rows->count * sizeof *truth->LSE),
                     .low_O = malloc(rows->count * d * sizeof *truth->low_O),
                     .low_LSE = malloc(rows->count * sizeof *truth->low_LSE),
                     .sensitivity = malloc(rows->count * sizeof *truth->sensitivity)};
    Oracle oracle = {problem, scale, inputs, rows, truth, false};
    if (truth->O && truth->LSE && truth->low_O && truth->low_LSE && truth->sensitivity)
        parallel_for(rows->count, 0, oracle_rows, &oracle);
    else
        oracle.out_of_memory = true;
    if (!oracle.out_of_memory) return true;
    oracle_free(truth);
    return error_set(error, STATUS_SKIP, "not enough host memory for the oracle");
}

void oracle_free(Truth *truth) {
    free(truth->O);
    free(truth->LSE);
    free(truth->low_O);
    free(truth->low_LSE);
    free(truth->sensitivity);
    *truth = (Truth){0};
}
