#include "truth/oracle.h"

#include "base/parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Sums in LANES parts, which the compiler keeps in vector registers. */
enum { LANES = 8 };

/* ex2.approx.ftz gives 0 for less than 2^-126; the rest is for the rounding of scores. */
static const float LIGHTEST = 0x1p-120f;

static int min(int a, int b) { return a < b ? a : b; }

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

/* ---- One row, in parts that take the keys in pieces -------------------------------------------
 */

/* S_j = scale * q . K_j of `keys` keys. */
static void scores(const double *q, const double *K, int keys, int d, double scale, double *S) {
    for (int j = 0; j < keys; j++) S[j] = scale * dot(q, K + (size_t)j * (size_t)d, d);
}

/* S becomes w; the row's l, LSE and max_j |S_j|. */
static void softmax(double *S, int keys, double *l, double *LSE, double *largest_score) {
    double m = -INFINITY;
    *l = *largest_score = 0;
    for (int j = 0; j < keys; j++) {
        m = fmax(m, S[j]); /* fmax passes over a NaN; exp brings it into l below */
        *largest_score = fmax(*largest_score, fabs(S[j]));
    }
    for (int j = 0; j < keys; j++) {
        /* exp(-inf - -inf) would be NaN where only -inf was seen: such a key has no weight. */
        S[j] = S[j] == -INFINITY ? 0 : exp(S[j] - m);
        *l += S[j];
    }
    *LSE = *l == 0 ? -INFINITY : m + log(*l);
}

/* O += w V / l, size += w |V| / l of `keys` keys. */
static void add_values(const double *weights, double l, const double *V, int keys, int d, double *O,
                       double *size) {
    for (int j = 0; j < keys; j++) {
        if (weights[j] == 0) continue;
        const double P = weights[j] / l, *V_j = V + (size_t)j * (size_t)d;
        for (int c = 0; c < d; c++) {
            O[c] += P * V_j[c];
            size[c] += P * fabs(V_j[c]);
        }
    }
}

static double largest(const double *values, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, values[i]);
    return most;
}

void oracle_row(const double *q, const double *K, const double *V, int keys, int d, double scale,
                double *scratch, double *O, double *LSE, double *sensitivity) {
    double *const weights = scratch, *const size = scratch + keys; /* [keys], [d] */
    double l, largest_score;
    for (int c = 0; c < d; c++) O[c] = size[c] = 0;
    scores(q, K, keys, d, scale, weights);
    softmax(weights, keys, &l, LSE, &largest_score);
    add_values(weights, l, V, keys, d, O, size);
    *sensitivity = largest_score * largest(size, d);
}

/* The same three parts as a kernel computes them. */
static void low_scores(const float *q, const float *K, int keys, int d, float scale, float *S) {
    for (int j = 0; j < keys; j++) S[j] = scale * dot_low(q, K + (size_t)j * (size_t)d, d);
}

/* S becomes w, rounded to the element type; l is their sum before that. */
static void low_softmax(ElementType type, float *S, int keys, float *l, double *LSE) {
    float m = -INFINITY;
    *l = 0;
    for (int j = 0; j < keys; j++) m = fmaxf(m, S[j]);
    for (int j = 0; j < keys; j++) {
        const float weight = S[j] == -INFINITY ? 0 : expf(S[j] - m);
        S[j] = weight < LIGHTEST ? 0 : weight;
        *l += S[j];
        S[j] = element_to_float(type, element_from_float(type, S[j]));
    }
    *LSE = *l == 0 ? -INFINITY : m + logf(*l);
}

static void low_add_values(const float *weights, const float *V, int keys, int d, float *sum) {
    for (int j = 0; j < keys; j++) {
        if (weights[j] == 0) continue;
        for (int c = 0; c < d; c++) sum[c] += weights[j] * V[(size_t)j * (size_t)d + (size_t)c];
    }
}

/* ---- Many rows --------------------------------------------------------------------------------
 */

enum {
    PIECE_KEYS = 16384
}; /* that a thread keeps as fp64 and fp32; a longer head comes in turns */

typedef struct Oracle {
    const Problem *problem;
    double scale;
    const Inputs *inputs;
    const Rows *rows;
    Truth *truth;
    atomic_bool out_of_memory;
} Oracle;

/* A piece of K or V in both precisions. */
typedef struct Piece {
    double *exact;
    float *low;
    size_t first, count; /* elements of the tensor; count 0: nothing is loaded */
} Piece;

/* What one thread needs. */
typedef struct Scratch {
    double *memory;
    float *low_memory;
    Piece q, K, V;
    double *weights, *size; /* [keys], [d] */
    float *low_weights, *low_sum;
    size_t head;   /* the KV head that `tainted` is about; SIZE_MAX: none */
    bool *tainted; /* [d]: V of the head holds an inf or NaN in this column */
} Scratch;

static void scratch_free(Scratch *s) {
    free(s->memory);
    free(s->low_memory);
    free(s->tainted);
}

/* Two blocks of memory, one a precision, cut into pieces. */
static bool scratch_create(size_t keys, size_t d, Scratch *s) {
    const size_t piece = (keys < PIECE_KEYS ? keys : PIECE_KEYS) * d;
    const size_t numbers = 2 * piece + 2 * d + keys;
    *s = (Scratch){.memory = malloc(numbers * sizeof *s->memory),
                   .low_memory = malloc(numbers * sizeof *s->low_memory),
                   .head = SIZE_MAX,
                   .tainted = malloc(d * sizeof *s->tainted)};
    if (!s->memory || !s->low_memory || !s->tainted) return false;
    s->K.exact = s->memory, s->K.low = s->low_memory;
    s->V.exact = s->K.exact + piece, s->V.low = s->K.low + piece;
    s->q.exact = s->V.exact + piece, s->q.low = s->V.low + piece;
    s->size = s->q.exact + d, s->low_sum = s->q.low + d;
    s->weights = s->size + d, s->low_weights = s->low_sum + d;
    return true;
}

/* Elements first .. first + count - 1 of the tensor, unless they are there already. */
static void load(ElementType type, const uint16_t *tensor, size_t first, size_t count, Piece *to) {
    if (to->count == count && to->first == first) return;
    for (size_t i = 0; i < count; i++) {
        to->low[i] = element_to_float(type, tensor[first + i]);
        to->exact[i] = to->low[i];
    }
    to->first = first;
    to->count = count;
}

static void find_tainted(const Problem *p, const uint16_t *V, size_t head, Scratch *s) {
    const size_t d = (size_t)p->d, elements = d * (size_t)p->shape.seq_kv;
    if (s->head == head) return;
    s->head = head;
    memset(s->tainted, 0, d * sizeof *s->tainted);
    if (elements_not_finite(p->type, V + head * elements, elements) == 0) return;
    for (size_t i = 0; i < elements; i++)
        s->tainted[i % d] |= elements_not_finite(p->type, V + head * elements + i, 1) > 0;
}

/* Compared row r. */
static void one_row(const Oracle *oracle, size_t r, Scratch *s) {
    const Problem *p = oracle->problem;
    const Inputs *in = oracle->inputs;
    const Truth *t = oracle->truth;
    const size_t index = oracle->rows->index[r], head = problem_kv_head(p, index);
    const int visible = problem_visible_keys(p, (int)(index % (size_t)p->shape.seq_q));
    const int keys = p->shape.seq_kv;
    const size_t d = (size_t)p->d, head_key = head * (size_t)keys;
    double l, largest_score, *O = t->O + r * d, *low_O = t->low_O + r * d;
    float low_l;

    load(p->type, in->Q, index * d, d, &s->q);
    for (int j = 0; j < visible; j += PIECE_KEYS) {
        const int loaded = min(keys - j, PIECE_KEYS), seen = min(visible - j, PIECE_KEYS);
        load(p->type, in->K, (head_key + (size_t)j) * d, (size_t)loaded * d, &s->K);
        scores(s->q.exact, s->K.exact, seen, p->d, oracle->scale, s->weights + j);
        low_scores(s->q.low, s->K.low, seen, p->d, (float)oracle->scale, s->low_weights + j);
    }
    softmax(s->weights, visible, &l, &t->LSE[r], &largest_score);
    low_softmax(p->type, s->low_weights, visible, &low_l, &t->low_LSE[r]);
    for (size_t c = 0; c < d; c++) O[c] = s->size[c] = s->low_sum[c] = 0;
    for (int j = 0; j < visible; j += PIECE_KEYS) {
        const int loaded = min(keys - j, PIECE_KEYS), seen = min(visible - j, PIECE_KEYS);
        load(p->type, in->V, (head_key + (size_t)j) * d, (size_t)loaded * d, &s->V);
        add_values(s->weights + j, l, s->V.exact, seen, p->d, O, s->size);
        low_add_values(s->low_weights + j, s->V.low, seen, p->d, s->low_sum);
    }
    t->sensitivity[r] = largest_score * largest(s->size, p->d);
    for (size_t c = 0; c < d; c++) {
        const float value = low_l == 0 ? 0 : s->low_sum[c] / low_l;
        low_O[c] = element_to_float(p->type, element_from_float(p->type, value));
    }
    find_tainted(p, in->V, head, s);
    memcpy(t->nan_too + r * d, s->tainted, d * sizeof *s->tainted);
}

static void compute_rows(size_t first, size_t end, void *context) {
    Oracle *oracle = context;
    Scratch s;
    if (!scratch_create((size_t)oracle->problem->shape.seq_kv, (size_t)oracle->problem->d, &s))
        oracle->out_of_memory = true;
    for (size_t r = first; r < end && !oracle->out_of_memory; r++) one_row(oracle, r, &s);
    scratch_free(&s);
}

/* ---- Rows that are not compared ---------------------------------------------------------------
 */

typedef struct FiniteScan {
    const Problem *problem;
    const Inputs *inputs;
    atomic_bool *kv_tainted; /* [batch * kv_heads] */
    bool *finite;            /* [batch * heads * seq_q] */
} FiniteScan;

/* Keys first .. end - 1 of all KV heads. */
static void scan_keys(size_t first, size_t end, void *context) {
    const FiniteScan *scan = context;
    const size_t d = (size_t)scan->problem->d, keys = (size_t)scan->problem->shape.seq_kv;
    const ElementType type = scan->problem->type;
    for (size_t j = first; j < end; j++)
        if (elements_not_finite(type, scan->inputs->K + j * d, d) ||
            elements_not_finite(type, scan->inputs->V + j * d, d))
            scan->kv_tainted[j / keys] = true;
}

static void scan_queries(size_t first, size_t end, void *context) {
    const FiniteScan *scan = context;
    const size_t d = (size_t)scan->problem->d;
    for (size_t i = first; i < end; i++)
        scan->finite[i] = !scan->kv_tainted[problem_kv_head(scan->problem, i)] &&
                          elements_not_finite(scan->problem->type, scan->inputs->Q + i * d, d) == 0;
}

/* Fills truth->finite. */
static bool find_finite(const Problem *p, const Inputs *inputs, Truth *truth) {
    const size_t kv_heads = (size_t)p->shape.batch * (size_t)p->shape.kv_heads;
    FiniteScan scan = {p, inputs, calloc(kv_heads, sizeof *scan.kv_tainted),
                       malloc(problem_rows(p) * sizeof *scan.finite)};
    truth->finite = scan.finite;
    if (scan.kv_tainted && scan.finite) {
        parallel_for(kv_heads * (size_t)p->shape.seq_kv, 0, scan_keys, &scan);
        parallel_for(problem_rows(p), 0, scan_queries, &scan);
    }
    free(scan.kv_tainted);
    return scan.kv_tainted && scan.finite;
}

bool oracle_create(const Problem *problem, double scale, const Inputs *inputs, const Rows *rows,
                   Truth *truth, Error *error) {
    const size_t d = (size_t)problem->d;
    *truth = (Truth){.O = malloc(rows->count * d * sizeof *truth->O),
                     .LSE = malloc(rows->count * sizeof *truth->LSE),
                     .low_O = malloc(rows->count * d * sizeof *truth->low_O),
                     .low_LSE = malloc(rows->count * sizeof *truth->low_LSE),
                     .sensitivity = malloc(rows->count * sizeof *truth->sensitivity),
                     .nan_too = malloc(rows->count * d * sizeof *truth->nan_too)};
    Oracle oracle = {problem, scale, inputs, rows, truth, false};
    if (truth->O && truth->LSE && truth->low_O && truth->low_LSE && truth->sensitivity &&
        truth->nan_too && (rows->count == rows->total || find_finite(problem, inputs, truth)))
        parallel_for(rows->count, 0, compute_rows, &oracle);
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
    free(truth->nan_too);
    free(truth->finite);
    *truth = (Truth){0};
}
