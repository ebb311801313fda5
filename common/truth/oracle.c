#include "truth/oracle.h"

#include "base/parallel.h"
#include "truth/products.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ex2.approx.ftz gives 0 for less than 2^-126, and the largest weight may be 2^15. */
static const float LIGHTEST = 0x1p-110f;

/* Of a score in fp32, relative to the largest one of its row, and to the most that its products
 * can add up to. */
static const double SCORE_ERROR = 0x1p-20, PRODUCTS_ERROR = 0x1p-23;

/* From this e of oracle.h on the row's weights are asked how far they can move. */
static const double MOVES = 0x1p-10;

/* ---- One row ----------------------------------------------------------------------------------
 */

/* S becomes P = w / l; the row's LSE and max_j |S_j|. */
static void softmax(double *S, int keys, double *LSE, double *largest_score) {
    double m, l = 0;
    exact_largest(S, keys, &m, largest_score); /* without NaN; exp brings it into l below */
    for (int j = 0; j < keys; j++) {
        /* exp(-inf - -inf) would be NaN where only -inf was seen: such a key has no weight. */
        S[j] = S[j] == -INFINITY ? 0 : exp(S[j] - m);
        l += S[j];
    }
    if (l != 0) exact_divide(S, keys, l);
    *LSE = l == 0 ? -INFINITY : m + log(l);
}

/* S becomes w as a kernel computes it, rounded to the element type; l is their sum before that. */
static void low_softmax(ElementType type, float *S, int keys, float *l, double *LSE) {
    const float m = low_largest(S, keys);
    *l = 0;
    for (int j = 0; j < keys; j++) {
        const float weight = S[j] == -INFINITY ? 0 : expf(S[j] - m);
        S[j] = weight < LIGHTEST ? 0 : weight;
        *l += S[j];
    }
    elements_round(type, (size_t)keys, S);
    *LSE = *l == 0 ? -INFINITY : m + logf(*l);
}

/* ---- Many rows --------------------------------------------------------------------------------
 *
 * A thread takes rows of one KV head together, as a group, and their keys in tiles: what it makes
 * of a tile serves all rows of the group.
 */

enum {
    GROUP_ROWS = 64,            /* at most; a multiple of TILE_ROWS */
    GROUP_WEIGHTS = 1024 * 1024 /* rows by keys, at most, unless the group is a single row */
};

typedef struct Oracle {
    const Problem *problem;
    double scale;
    const Inputs *inputs;
    const Rows *rows;
    Truth *truth;
    atomic_bool out_of_memory, beyond; /* beyond: a finite score exceeds ATTENTION_MOST_SCORE */
} Oracle;

/* Numbers in both precisions. */
typedef struct Numbers {
    double *exact;
    float *low;
} Numbers;

/* What one thread needs. */
typedef struct Scratch {
    size_t columns;   /* d, rounded up to whole TILE_COLUMNS; what is beyond d is 0 */
    size_t stride;    /* seq_kv, rounded up to whole tiles */
    size_t most_rows; /* of a group */
    float *key;       /* [d] */
    double *reach;    /* [seq_kv]: the largest |K_i| of the keys 0 .. j, but for NaN */
    Numbers K, V;     /* a tile: [columns, TILE_KEYS] and [TILE_KEYS, columns] */
    Numbers q, O;     /* [GROUP_ROWS, columns] */
    Numbers size;     /* [GROUP_ROWS, columns]; fp64 alone counts */
    Numbers weights;  /* [most_rows, stride]: S, then P and the low w */
    size_t head;      /* the KV head that `tainted` is about; SIZE_MAX: none */
    bool *tainted;    /* [d]: V of the head holds an inf or NaN in this column */
    bool any_tainted;
} Scratch;

/* Compared rows first .. first + count - 1, which read the same KV head. */
typedef struct Group {
    size_t first, count, head;
    int visible[GROUP_ROWS]; /* keys; none from `count` on */
    float low_l[GROUP_ROWS];
} Group;

/* `count` is a multiple of TILE_COLUMNS, so that the vectors do not cross cache lines. */
static bool numbers_create(size_t count, Numbers *numbers) {
    enum { CACHE_LINE = 64 };
    numbers->exact = aligned_alloc(CACHE_LINE, count * sizeof *numbers->exact);
    numbers->low = aligned_alloc(CACHE_LINE, count * sizeof *numbers->low);
    return numbers->exact && numbers->low;
}

static void numbers_zero(size_t first, size_t count, Numbers *numbers) {
    memset(numbers->exact + first, 0, count * sizeof *numbers->exact);
    memset(numbers->low + first, 0, count * sizeof *numbers->low);
}

static void scratch_free(Scratch *s) {
    Numbers *const all[] = {&s->K, &s->V, &s->q, &s->O, &s->size, &s->weights};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]->exact);
        free(all[i]->low);
    }
    free(s->key);
    free(s->reach);
    free(s->tainted);
}

static bool scratch_create(const Problem *p, Scratch *s) {
    const size_t d = (size_t)p->d, keys = (size_t)p->shape.seq_kv;
    *s = (Scratch){.columns = (d + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS,
                   .stride = (keys + TILE_KEYS - 1) / TILE_KEYS * TILE_KEYS,
                   .key = malloc(d * sizeof *s->key),
                   .reach = malloc(keys * sizeof *s->reach),
                   .head = SIZE_MAX,
                   .tainted = malloc(d * sizeof *s->tainted)};
    s->most_rows = GROUP_WEIGHTS / s->stride;
    s->most_rows = s->most_rows < 1 ? 1 : s->most_rows > GROUP_ROWS ? GROUP_ROWS : s->most_rows;
    const size_t tile = TILE_KEYS * s->columns, rows = GROUP_ROWS * s->columns;
    if (!s->key || !s->reach || !s->tainted || !numbers_create(tile, &s->K) ||
        !numbers_create(tile, &s->V) || !numbers_create(rows, &s->q) ||
        !numbers_create(rows, &s->O) || !numbers_create(rows, &s->size) ||
        !numbers_create(s->most_rows * s->stride, &s->weights))
        return false;
    numbers_zero(0, tile, &s->K);
    numbers_zero(0, tile, &s->V);
    numbers_zero(0, rows, &s->q);
    return true;
}

static void find_tainted(const Problem *p, const uint16_t *V, size_t head, Scratch *s) {
    const size_t d = (size_t)p->d, elements = d * (size_t)p->shape.seq_kv;
    if (s->head == head) return;
    s->head = head;
    memset(s->tainted, 0, d * sizeof *s->tainted);
    s->any_tainted = elements_not_finite(p->type, V + head * elements, elements) > 0;
    for (size_t i = 0; s->any_tainted && i < elements; i++)
        s->tainted[i % d] |= elements_not_finite(p->type, V + head * elements + i, 1) > 0;
}

/* A row of d elements. */
static void load_row(ElementType type, const uint16_t *from, size_t d, size_t to,
                     Numbers *numbers) {
    elements_to_float(type, from, d, numbers->low + to);
    exact_from_low(numbers->low + to, d, numbers->exact + to);
}

/* The keys first .. first + keys - 1. A last tile that is not full keeps keys of the one before:
 * their scores are not looked at, and their weights are 0. */
static void load_K(ElementType type, const uint16_t *K, size_t first, size_t keys, size_t d,
                   Scratch *s) {
    const size_t size = d * TILE_KEYS;
    double lengths[TILE_KEYS], longest = first == 0 ? 0 : s->reach[first - 1];
    for (size_t key = 0; key < keys; key++) {
        elements_to_float(type, K + key * d, d, s->key);
        for (size_t c = 0; c < d; c++) s->K.low[c * TILE_KEYS + key] = s->key[c];
    }
    exact_from_low(s->K.low, size, s->K.exact);
    exact_lengths(s->K.exact, s->columns, lengths);
    for (size_t key = 0; key < keys; key++)
        s->reach[first + key] = longest = fmax(longest, lengths[key]);
}

static void load_V(ElementType type, const uint16_t *V, size_t keys, size_t d, Scratch *s) {
    for (size_t key = 0; key < keys; key++) load_row(type, V + key * d, d, key * s->columns, &s->V);
}

/* The most keys that one of `count` rows of the group sees. */
static size_t most_visible(const Group *group, size_t first, size_t count) {
    int most = 0;
    for (size_t row = first; row < first + count; row++)
        if (group->visible[row] > most) most = group->visible[row];
    return (size_t)most;
}

/* Where in K and V the tile that begins with this key begins, and its keys. */
static size_t tile_start(const Problem *p, const Group *group, size_t key, size_t *keys) {
    const size_t seq_kv = (size_t)p->shape.seq_kv, left = seq_kv - key;
    *keys = left < TILE_KEYS ? left : TILE_KEYS;
    return (group->head * seq_kv + key) * (size_t)p->d;
}

/* S of all rows, in `weights`. */
static void group_scores(const Oracle *oracle, const Group *group, Scratch *s) {
    const Problem *p = oracle->problem;
    const size_t seen = most_visible(group, 0, group->count);
    for (size_t first = 0; first < seen; first += TILE_KEYS) {
        double S[TILE_SCORES];
        float low_S[TILE_SCORES];
        size_t keys;
        const size_t start = tile_start(p, group, first, &keys);
        load_K(p->type, oracle->inputs->K + start, first, keys, (size_t)p->d, s);
        for (size_t row = 0; row < group->count; row += TILE_ROWS) {
            if (most_visible(group, row, TILE_ROWS) <= first) continue;
            exact_scores(s->q.exact + row * s->columns, s->K.exact, s->columns, oracle->scale, S);
            low_scores(s->q.low + row * s->columns, s->K.low, s->columns, (float)oracle->scale,
                       low_S);
            for (size_t i = 0; i < TILE_ROWS && row + i < group->count; i++) {
                const size_t to = (row + i) * s->stride + first;
                memcpy(s->weights.exact + to, S + i * TILE_KEYS, TILE_KEYS * sizeof *S);
                memcpy(s->weights.low + to, low_S + i * TILE_KEYS, TILE_KEYS * sizeof *low_S);
            }
        }
    }
}

/* e of oracle.h. */
static double score_off(const Oracle *oracle, const Group *group, size_t row, const Scratch *s,
                        double largest_score) {
    const double *q = s->q.exact + row * s->columns;
    double squares = 0;
    if (group->visible[row] == 0) return 0;
    for (size_t c = 0; c < s->columns; c++) squares += q[c] * q[c];
    const double most = oracle->scale * sqrt(squares) * s->reach[group->visible[row] - 1];
    return fmax(SCORE_ERROR * largest_score, PRODUCTS_ERROR * most);
}

/* S of each row becomes its weights, 0 for keys that it does not see. */
static void group_softmax(Oracle *oracle, Group *group, Scratch *s) {
    Truth *t = oracle->truth;
    for (size_t row = 0; row < group->count; row++) {
        const size_t r = group->first + row, start = row * s->stride;
        const int visible = group->visible[row];
        double largest_score;
        softmax(s->weights.exact + start, visible, &t->LSE[r], &largest_score);
        if (isfinite(largest_score) && largest_score > ATTENTION_MOST_SCORE) oracle->beyond = true;
        t->score_off[r] = score_off(oracle, group, row, s, largest_score);
        low_softmax(oracle->problem->type, s->weights.low + start, visible, &group->low_l[row],
                    &t->low_LSE[r]);
        numbers_zero(start + (size_t)visible, s->stride - (size_t)visible, &s->weights);
    }
}

/* The weights of a tile for TILE_ROWS rows, 0 for rows that the group has not. */
static void load_weights(const Group *group, size_t first_row, size_t first_key, const Scratch *s,
                         double *P, float *low_w) {
    for (size_t i = 0; i < TILE_ROWS; i++, P += TILE_KEYS, low_w += TILE_KEYS) {
        const size_t row = first_row + i, from = row * s->stride + first_key;
        if (row < group->count) {
            memcpy(P, s->weights.exact + from, TILE_KEYS * sizeof *P);
            memcpy(low_w, s->weights.low + from, TILE_KEYS * sizeof *low_w);
        } else {
            memset(P, 0, TILE_KEYS * sizeof *P);
            memset(low_w, 0, TILE_KEYS * sizeof *low_w);
        }
    }
}

/* The same for rows of a head with an inf or NaN in V, which must not meet a weight of 0. */
static void add_tainted(const double *P, const float *low_w, const Scratch *s, double *O,
                        double *size, float *low_O) {
    const size_t d = s->columns;
    for (size_t i = 0; i < TILE_SCORES; i++) {
        const size_t row = i / TILE_KEYS * d, key = i % TILE_KEYS * d;
        for (size_t c = 0; P[i] != 0 && c < d; c++) {
            O[row + c] += P[i] * s->V.exact[key + c];
            size[row + c] += P[i] * fabs(s->V.exact[key + c]);
        }
        for (size_t c = 0; low_w[i] != 0 && c < d; c++)
            low_O[row + c] += low_w[i] * s->V.low[key + c];
    }
}

/* O += P V, size += P |V| of all rows. */
static void group_values(const Oracle *oracle, const Group *group, Scratch *s) {
    const Problem *p = oracle->problem;
    const size_t seen = most_visible(group, 0, group->count);
    numbers_zero(0, GROUP_ROWS * s->columns, &s->O);
    numbers_zero(0, GROUP_ROWS * s->columns, &s->size);
    for (size_t first = 0; first < seen; first += TILE_KEYS) {
        double P[TILE_SCORES];
        float low_w[TILE_SCORES];
        size_t keys;
        const size_t start = tile_start(p, group, first, &keys);
        load_V(p->type, oracle->inputs->V + start, keys, (size_t)p->d, s);
        for (size_t row = 0; row < group->count; row += TILE_ROWS) {
            double *O = s->O.exact + row * s->columns, *size = s->size.exact + row * s->columns;
            float *low_O = s->O.low + row * s->columns;
            if (most_visible(group, row, TILE_ROWS) <= first) continue;
            load_weights(group, row, first, s, P, low_w);
            if (s->any_tainted) {
                add_tainted(P, low_w, s, O, size, low_O);
                continue;
            }
            exact_add_values(P, s->V.exact, s->columns, O, size);
            low_add_values(low_w, s->V.low, s->columns, low_O);
        }
    }
}

/* Of oracle.h, by how far each weight can move: the row's size is made anew. */
static void size_of_moved(const Oracle *oracle, const Group *group, size_t row, Scratch *s) {
    const Problem *p = oracle->problem;
    const size_t d = (size_t)p->d, head = group->head * (size_t)p->shape.seq_kv * d;
    const double *P = s->weights.exact + row * s->stride,
                 growth = expm1(2 * oracle->truth->score_off[group->first + row]);
    double *size = s->size.exact + row * s->columns;
    memset(size, 0, d * sizeof *size);
    for (size_t j = 0; j < (size_t)group->visible[row]; j++) {
        const double moved = fmin(1, growth * fmin(P[j], 1 - P[j]));
        if (moved == 0) continue;
        elements_to_float(p->type, oracle->inputs->V + head + j * d, d, s->key);
        for (size_t c = 0; c < d; c++) size[c] += moved * fabs((double)s->key[c]);
    }
}

static double score_error(const Oracle *oracle, const Group *group, size_t row, Scratch *s) {
    const double e = oracle->truth->score_off[group->first + row],
                 *size = s->size.exact + row * s->columns;
    double largest, magnitude, moved;
    exact_largest(size, oracle->problem->d, &largest, &magnitude);
    if (e <= MOVES || !isfinite(e)) return e * magnitude;
    size_of_moved(oracle, group, row, s);
    exact_largest(size, oracle->problem->d, &largest, &moved);
    return e > 1 ? moved : fmax(MOVES * magnitude, fmin(e * magnitude, moved));
}

static void store_row(const Oracle *oracle, const Group *group, size_t row, Scratch *s) {
    const size_t d = (size_t)oracle->problem->d, r = group->first + row, from = row * s->columns;
    const float l = group->low_l[row];
    Truth *t = oracle->truth;
    memcpy(t->O + r * d, s->O.exact + from, d * sizeof *t->O);
    t->score_error[r] = score_error(oracle, group, row, s);
    for (size_t c = 0; c < d; c++) s->O.low[from + c] = l == 0 ? 0 : s->O.low[from + c] / l;
    elements_round(oracle->problem->type, d, s->O.low + from);
    exact_from_low(s->O.low + from, d, t->low_O + r * d);
    memcpy(t->nan_too + r * d, s->tainted, d * sizeof *s->tainted);
}

/* The longest group that begins with compared row `first` and ends before `end`. */
static Group group_from(const Oracle *oracle, size_t first, size_t end, Scratch *s) {
    const Problem *p = oracle->problem;
    const size_t d = (size_t)p->d, *index = oracle->rows->index;
    Group group = {.first = first, .head = problem_kv_head(p, index[first])};
    for (size_t r = first; r < end && group.count < s->most_rows; r++) {
        if (problem_kv_head(p, index[r]) != group.head) break;
        const size_t row = group.count++;
        group.visible[row] = problem_visible_keys(p, (int)(index[r] % (size_t)p->shape.seq_q));
        load_row(p->type, oracle->inputs->Q + index[r] * d, d, row * s->columns, &s->q);
    }
    return group;
}

static void compute_rows(size_t first, size_t end, void *context) {
    Oracle *oracle = context;
    Scratch s;
    if (!scratch_create(oracle->problem, &s)) oracle->out_of_memory = true;
    while (first < end && !oracle->out_of_memory) {
        Group group = group_from(oracle, first, end, &s);
        find_tainted(oracle->problem, oracle->inputs->V, group.head, &s);
        group_scores(oracle, &group, &s);
        group_softmax(oracle, &group, &s);
        group_values(oracle, &group, &s);
        for (size_t row = 0; row < group.count; row++) store_row(oracle, &group, row, &s);
        first += group.count;
    }
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
                     .score_off = malloc(rows->count * sizeof *truth->score_off),
                     .score_error = malloc(rows->count * sizeof *truth->score_error),
                     .nan_too = malloc(rows->count * d * sizeof *truth->nan_too)};
    Oracle oracle = {problem, scale, inputs, rows, truth, false, false};
    if (truth->O && truth->LSE && truth->low_O && truth->low_LSE && truth->score_off &&
        truth->score_error && truth->nan_too &&
        (rows->count == rows->total || find_finite(problem, inputs, truth)))
        parallel_for(rows->count, 0, compute_rows, &oracle);
    else
        oracle.out_of_memory = true;
    if (!oracle.out_of_memory && !oracle.beyond) return true;
    oracle_free(truth);
    if (oracle.out_of_memory)
        return error_set(error, STATUS_SKIP, "not enough host memory for the oracle");
    return error_set(error, STATUS_USAGE,
                     "the inputs have scores beyond %g, where softmax in fp32 means nothing: lower "
                     "SCALE or STRENGTH",
                     ATTENTION_MOST_SCORE);
}

void oracle_free(Truth *truth) {
    free(truth->O);
    free(truth->LSE);
    free(truth->low_O);
    free(truth->low_LSE);
    free(truth->score_off);
    free(truth->score_error);
    free(truth->nan_too);
    free(truth->finite);
    *truth = (Truth){0};
}
