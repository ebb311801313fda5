/* Catches: a structure that is missing, of another strength or on other keys than the header says,
 * where heads share keys, lengths differ or a head is long; noise that is more or less than
 * N(0, 1); an element that is no finite number of its type; a V that is not the usual one; a
 * default strength that is not the one documented. */
#include "test/tap.h"
#include "truth/inputs.h"
#include "truth/model_inputs.h"

#include <stdlib.h>

static Problem make(int d, ElementType type, int heads, int kv_heads, int seq_q, int seq_kv) {
    return (Problem){
        .shape = {2, heads, kv_heads, seq_q, seq_kv, problem_scale(d)}, .d = d, .type = type};
}

/* One head, which may be long. */
static Problem make_head(int d, ElementType type, int seq_q, int seq_kv) {
    Problem p = make(d, type, 1, 1, seq_q, seq_kv);
    p.shape.batch = 1;
    return p;
}

/* Inputs, and their elements as numbers. */
typedef struct Sample {
    Inputs inputs;
    float *Q, *K;
} Sample;

static float *numbers_of(ElementType type, const uint16_t *elements, size_t count) {
    float *numbers = malloc(count * sizeof *numbers);
    elements_to_float(type, elements, count, numbers);
    return numbers;
}

static Sample create(const Problem *p, Init init, double strength) {
    Sample s;
    Error error;
    if (!inputs_create(p, init, strength, 9, 0, &s.inputs, &error)) exit(error_exit(&error));
    s.Q = numbers_of(p->type, s.inputs.Q, problem_q_elements(p));
    s.K = numbers_of(p->type, s.inputs.K, problem_kv_elements(p));
    return s;
}

static void discard(Sample *s) {
    free(s->Q);
    free(s->K);
    inputs_free(&s->inputs);
}

/* Of query row `row`, counted over all heads, and key `key` of its KV head. */
static double score(const Problem *p, const Sample *s, size_t row, int key) {
    const size_t d = (size_t)p->d, kv = problem_kv_head(p, row);
    const float *q = s->Q + row * d, *k = s->K + (kv * (size_t)p->shape.seq_kv + (size_t)key) * d;
    double sum = 0;
    for (size_t c = 0; c < d; c++) sum += (double)q[c] * k[c];
    return sum / sqrt(p->d);
}

/* What the header promises of the mean score, in units of the strength. */
static double promised(const Problem *p, Init init, size_t row, int key) {
    const int place = (int)(row % (size_t)p->shape.seq_q) + p->shape.seq_kv - p->shape.seq_q;
    static double frequency[16];
    double sum = 0;
    switch (init) {
    case INIT_SINK:
        return key == 0;
    case INIT_LOCAL:
        for (int i = 0; i < 16; i++) {
            if (frequency[i] == 0) frequency[i] = 2 * acos(-1) / (48 * pow(10, i / 15.0));
            sum += cos(frequency[i] * (key - place)) / 16;
        }
        return sum;
    case INIT_RECENCY:
        return (double)key / (p->shape.seq_kv - 1);
    case INIT_PRIMACY:
        return 1 - (double)key / (p->shape.seq_kv - 1);
    default:
        return 0;
    }
}

typedef struct Fit {
    double strength; /* by least squares; 0 for an init whose structure is flat */
    double noise;    /* standard deviation of what the structure does not explain */
    double mean;     /* of that */
} Fit;

/* Every seventh row, which are rows of all heads, against all keys. */
static Fit fit(const Problem *p, const Sample *sample, Init init) {
    const size_t rows = problem_rows(p);
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t row = 0; row < rows; row += 7)
        for (int key = 0; key < p->shape.seq_kv; key++) {
            const double height = promised(p, init, row, key), s = score(p, sample, row, key);
            n++, x += height, y += s, xx += height * height, xy += height * s, yy += s * s;
        }
    const double spread = xx - x * x / n;
    const double slope = spread > 0 ? (xy - x * y / n) / spread : 0, base = (y - slope * x) / n;
    const double rest = (yy - y * y / n - slope * slope * spread) / n;
    return (Fit){.strength = slope, .noise = sqrt(rest), .mean = base};
}

static void structure(const Problem *p, Init init, double strength) {
    Sample sample = create(p, init, strength);
    const Fit found = fit(p, &sample, init);
    char what[128];
    snprintf(what, sizeof what, "%s %g, d%d %s, %d/%d heads, %d x %d", init_name(init), strength,
             p->d, element_name(p->type), p->shape.heads, p->shape.kv_heads, p->shape.seq_q,
             p->shape.seq_kv);
    const bool flat = init == INIT_PEAKED;
    const double noise = flat ? strength : 1;
    if (!flat) is_near(found.strength, strength, 0.01 * strength + 0.1, what);
    is_near(found.noise, noise, 0.06 * noise, flat ? what : "over noise of deviation 1");
    is_near(found.mean, 0, 0.1 * noise, "and mean 0");
    discard(&sample);
}

static void every_structure(Init init, double strength) {
    for (int variant = 0; variant < 4; variant++) {
        const Problem p = make(variant & 1 ? 128 : 64, variant & 2 ? TYPE_BF16 : TYPE_FP16, 4, 2,
                               variant & 1 ? 70 : 150, variant & 1 ? 400 : 90);
        structure(&p, init, strength);
    }
}

/* Which key is the highest, and how far below it the others stay that are `near` or more away. */
static void peak(Init init, double strength, int seq_q, int seq_kv, size_t row, int expected,
                 int near, double gap) {
    const Problem p = make_head(40, TYPE_BF16, seq_q, seq_kv);
    Sample sample = create(&p, init, strength);
    double highest = -INFINITY, far = -INFINITY;
    int at = -1;
    for (int key = 0; key < seq_kv; key++) {
        const double s = score(&p, &sample, row, key);
        if (s > highest) highest = s, at = key;
        if (abs(key - expected) >= near) far = fmax(far, s);
    }
    ok(abs(at - expected) < near, "%s %g: the highest score of row %d is at key %d (%d)",
       init_name(init), strength, (int)row, expected, at);
    ok(highest - far > gap, "and %g above keys %d or more away, at least %g", highest - far, near,
       gap);
    discard(&sample);
}

/* Means of 32 pieces of a head of so many keys, which noise does not hide. */
static void grows(Init init, ElementType type, int keys) {
    enum { PIECES = 32 };
    const Problem p = make_head(16, type, 2, keys); /* a score's noise is the same in any d */
    Sample sample = create(&p, init, 20);
    double mean[PIECES] = {0};
    int falls = 0;
    for (int key = 0; key < keys; key++)
        mean[key / (keys / PIECES)] += score(&p, &sample, 1, key) / (keys / PIECES);
    for (int i = 1; i < PIECES; i++)
        falls += (init == INIT_RECENCY ? mean[i] - mean[i - 1] : mean[i - 1] - mean[i]) < 0.4;
    is_int(falls, 0, "it grows (or falls) by a 32nd of 20 in every piece of the head");
    is_near(fabs(mean[PIECES - 1] - mean[0]), 20 * 31.0 / 32, 0.3, "and by 20 in all");
    discard(&sample);
}

/* The ends of what STRENGTH may be, with a single key too. */
static void limits(Init init) {
    static const double strengths[] = {1e-3, 1e6};
    static const int keys[] = {1, 300};
    size_t wrong = 0;
    int scores = 0;
    for (int i = 0; i < 4; i++) {
        const Problem p = make_head(i & 1 ? 128 : 64, TYPE_FP16, 300, keys[i / 2]);
        Sample sample = create(&p, init, strengths[i & 1]);
        wrong += elements_not_finite(p.type, sample.inputs.Q, problem_q_elements(&p));
        wrong += elements_not_finite(p.type, sample.inputs.K, problem_kv_elements(&p));
        scores += isfinite(score(&p, &sample, 299, keys[i / 2] - 1)) != 0;
        discard(&sample);
    }
    ok(wrong == 0 && scores == 4, "%s: finite from 0.001 to 1000000", init_name(init));
}

static void usual(Init init, double documented) {
    const Problem p = make(64, TYPE_FP16, 2, 1, 30, 60);
    Sample set = create(&p, init, documented), unset = create(&p, init, 0);
    Sample other = create(&p, init, 1.3 * documented), normal = create(&p, INIT_NORMAL, 0);
    const size_t bytes = 2 * problem_kv_elements(&p);
    ok(init_strength(init) == documented && !memcmp(set.inputs.K, unset.inputs.K, bytes) &&
           memcmp(set.inputs.K, other.inputs.K, bytes) != 0,
       "%s: %g unless chosen", init_name(init), documented);
    ok(!memcmp(set.inputs.V, normal.inputs.V, bytes), "and V is that of normal");
    discard(&set);
    discard(&unset);
    discard(&other);
    discard(&normal);
}

/* With one key there is no slope. */
static void single_key(void) {
    const Problem p = make_head(64, TYPE_FP16, 5, 1);
    ok(model_value(&p, INIT_SINK, 12, TENSOR_K, 0, 1) > 0 &&
           model_value(&p, INIT_RECENCY, 12, TENSOR_K, 0, 1) == 0 &&
           model_value(&p, INIT_PRIMACY, 12, TENSOR_K, 0, 1) == 0,
       "a single key is a sink, but neither recent nor the first of many");
}

static void bench_inputs(void) {
    int count, wrong = 0;
    const InputChoice *inputs = model_bench_inputs(&count);
    for (int i = 0; i < count; i++)
        wrong += (inputs[i].strength > 0) != (init_strength(inputs[i].init) > 0);
    static const double strengths[] = {0, 12, 30, 3, 6, 14, 20, 20, 20, 100};
    for (int i = 0; i < 10; i++) wrong += inputs[i].strength != strengths[i];
    ok(count == 10 && inputs[0].init == INIT_NORMAL && wrong == 0,
       "a bench has the ten inputs of the recorded results, normal first");
}

int main(void) {
    usual(INIT_SINK, 12);
    usual(INIT_PEAKED, 3);
    usual(INIT_LOCAL, 14);
    usual(INIT_RECENCY, 20);
    usual(INIT_PRIMACY, 20);
    for (int init = INIT_SINK; init < INITS; init++) {
        every_structure((Init)init, 30);
        every_structure((Init)init, init_strength((Init)init));
        limits((Init)init);
    }
    peak(INIT_SINK, 12, 50, 500, 20, 0, 1, 6);
    peak(INIT_LOCAL, 20, 100, 700, 30, 630, 19, 5);
    peak(INIT_LOCAL, 20, 700, 100, 650, 50, 19, 5);
    peak(INIT_LOCAL, 100, 3, 32768, 1, 32766, 64, 33);
    peak(INIT_RECENCY, 1000, 3, 8192, 1, 8191, 200, 10);
    peak(INIT_PRIMACY, 1000, 3, 8192, 1, 0, 200, 10);
    grows(INIT_RECENCY, TYPE_BF16, 131072);
    grows(INIT_PRIMACY, TYPE_FP16, 32768);
    single_key();
    bench_inputs();
    return done_testing();
}
