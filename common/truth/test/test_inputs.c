/* Catches: values that depend on the number of threads, on their neighbours or on the shape around
 * them; tensors or seeds that share values; a distribution with the wrong mean or size; logits of
 * `large` that a naive exp survives; `onehot` queries that attend to the wrong key; hard inputs
 * that are not as hard as their description; other values for the same seed; a problem too large
 * for the host that is tried. */
#include "base/generator.h"
#include "test/tap.h"
#include "truth/inputs.h"
#include "truth/oracle.h"

#include <stdlib.h>

static Problem make(int batch, int heads, int kv_heads, int seq_q, int seq_kv, bool causal) {
    return (Problem){.shape = {batch, heads, kv_heads, seq_q, seq_kv, 0.125f},
                     .d = 64,
                     .type = TYPE_FP16,
                     .causal = causal};
}

static bool same_inputs(const Problem *p, const Inputs *a, const Inputs *b) {
    const size_t q = problem_q_elements(p) * 2, kv = problem_kv_elements(p) * 2;
    return !memcmp(a->Q, b->Q, q) && !memcmp(a->K, b->K, kv) && !memcmp(a->V, b->V, kv);
}

static void repeatable(Init init) {
    const Problem p = make(2, 4, 2, 33, 65, true);
    Inputs one, many, other;
    Error error;
    inputs_create(&p, init, 0, 7, 1, &one, &error);
    inputs_create(&p, init, 0, 7, 5, &many, &error);
    inputs_create(&p, init, 0, 8, 0, &other, &error);
    ok(same_inputs(&p, &one, &many), "%s: the same from 1 and 5 threads", init_name(init));
    if (init != INIT_RAMP)
        ok(!same_inputs(&p, &one, &other), "%s: another seed, other values", init_name(init));
    inputs_free(&one);
    inputs_free(&many);
    inputs_free(&other);
}

static void distribution(Init init, Tensor tensor, double deviation, double least, double most) {
    const Problem p = make(1, 1, 1, 1000, 1000, false);
    const int count = 64000;
    double sum = 0, squares = 0, low = 0, high = 0;
    for (int i = 0; i < count; i++) {
        const double value = inputs_value(&p, init, 0, 3, tensor, (size_t)i);
        sum += value;
        squares += value * value;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    is_near(sum / count, 0, 0.02 * deviation, "mean 0");
    is_near(sqrt(squares / count), deviation, 0.02 * deviation, "standard deviation");
    ok(low >= least && low < 0.7 * least && high <= most && high > 0.7 * most, "%s: range %g .. %g",
       init_name(init), low, high);
}

/* Box-Muller by libm; and a tensor has the values that its elements have alone. */
static void normal_numbers(void) {
    const Problem p = make(1, 1, 1, 1000, 1000, false);
    const uint64_t key = mix64(3 + 0xd1342543de82ef95u);
    Inputs inputs;
    Error error;
    double worst = 0;
    int other = 0;
    inputs_create(&p, INIT_NORMAL, 0, 3, 1, &inputs, &error);
    for (size_t i = 0; i < 64000; i++) {
        const uint64_t bits = mix64(key + 0x9e3779b97f4a7c15u * (i + 1));
        const double u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f, v = (double)(bits & 0xffffff);
        const double expected = sqrt(-2 * log(u)) * cos(6.283185307179586 * v * 0x1p-24);
        const float value = inputs_value(&p, INIT_NORMAL, 0, 3, TENSOR_Q, i);
        worst = fmax(worst, fabs((double)value - expected));
        other += element_from_float(TYPE_FP16, value) != inputs.Q[i];
    }
    ok(worst < 2e-6, "normal numbers are those of Box-Muller, to within %g", worst);
    is_int(other, 0, "and those of a tensor are the same, rounded");
    inputs_free(&inputs);
    ok(!inputs.Q && !inputs.K && !inputs.V, "what is freed is not there any more");
}

static double correlation(Tensor a, Tensor b, uint64_t seed_b, size_t shift) {
    const Problem p = make(1, 1, 1, 1000, 1000, false);
    double sum = 0;
    for (size_t i = 0; i < 50000; i++)
        sum += (double)inputs_value(&p, INIT_NORMAL, 0, 3, a, i) *
               inputs_value(&p, INIT_NORMAL, 0, seed_b, b, i + shift);
    return sum / 50000;
}

static void large_overflows(void) {
    const Problem p = make(1, 1, 1, 64, 64, false);
    Inputs inputs;
    Error error;
    double most = 0;
    bool finite = true;
    inputs_create(&p, INIT_LARGE, 0, 1, 0, &inputs, &error);
    for (int i = 0; i < 64; i++) {
        double logit = 0;
        for (int c = 0; c < 64; c++) {
            const float q = element_to_float(TYPE_FP16, inputs.Q[i * 64 + c]);
            finite &= isfinite(q);
            logit += (double)q * element_to_float(TYPE_FP16, inputs.K[i * 64 + c]) / 8;
        }
        most = fmax(most, logit);
    }
    ok(finite && most > 200, "large: finite elements, logits of several hundred (%g)", most);
    inputs_free(&inputs);
}

/* O of every row is V of the key that the header promises. */
static void onehot_selects(const Problem *p) {
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    int wrong = 0;
    inputs_create(p, INIT_ONEHOT, 0, 5, 0, &inputs, &error);
    rows_choose(p, 1, 1e12, &rows, &error);
    oracle_create(p, 0.125, &inputs, &rows, &truth, &error);
    for (size_t r = 0; r < rows.count; r++) {
        const int row = (int)(r % (size_t)p->shape.seq_q);
        const int visible = problem_visible_keys(p, row);
        const size_t kv = problem_kv_head(p, r);
        const double *O = truth.O + r * 64;
        if (visible == 0) continue;
        const int key = row % visible;
        wrong += fabs(O[0] - key % 256) > 1e-9 || fabs(O[5] - key / 256) > 1e-9 ||
                 fabs(O[10] - (double)(kv % (size_t)p->shape.kv_heads)) > 1e-9 ||
                 fabs(O[63] - (double)(kv / (size_t)p->shape.kv_heads)) > 1e-9;
    }
    ok(wrong == 0, "onehot: each of %zu rows reads the key it should", rows.count);
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
}

/* A key's pattern has a bit of its own for each column, also beyond those of the first word. */
static void onehot_columns(void) {
    enum { KEYS = 400, COLUMNS = 128 };
    Problem p = make(1, 1, 1, KEYS, KEYS, false);
    int most = 0;
    p.d = COLUMNS;
    for (size_t left = 0; left < COLUMNS; left++)
        for (size_t right = 0; right < left; right++) {
            int alike = 0;
            for (size_t row = 0; row < (size_t)KEYS * COLUMNS; row += COLUMNS)
                alike += inputs_value(&p, INIT_ONEHOT, 0, 1, TENSOR_K, row + left) ==
                         inputs_value(&p, INIT_ONEHOT, 0, 1, TENSOR_K, row + right);
            most = alike > most ? alike : most;
        }
    ok(most < 300, "onehot: no two columns of the patterns are alike (%d of %d)", most, KEYS);
}

/* Row and column of an element at sight: of Q and K steps of an eighth, of V of a 64th. */
static void ramp_steps(void) {
    const Problem p = make(1, 2, 1, 100, 100, false);
    const size_t at = 70 * 64 + 9; /* row 70, column 9 */
    is_near(inputs_value(&p, INIT_RAMP, 0, 1, TENSOR_Q, at), (79 % 16 - 7.5) / 8, 0, "a ramp in Q");
    is_near(inputs_value(&p, INIT_RAMP, 0, 1, TENSOR_K, at + 1), -7.5 / 8, 0, "and in K");
    is_near(inputs_value(&p, INIT_RAMP, 0, 1, TENSOR_V, at), 15 / 64.0, 0, "and in V");
}

static bool subnormal(ElementType type, uint16_t bits) {
    const uint16_t exponent = type == TYPE_BF16 ? 0x7f80 : 0x7c00;
    return (bits & exponent) == 0 && (bits & 0x7fff) != 0;
}

/* Subnormals where they should be (but for the rare large number), and logits that need them. */
static void tiny_needs_subnormals(ElementType type) {
    Problem p = make(1, 1, 1, 100, 100, false);
    Inputs inputs;
    Error error;
    int in_Q = 0, in_K = 0, in_V = 0;
    double squares = 0;
    p.type = type;
    inputs_create(&p, INIT_TINY, 0, 1, 0, &inputs, &error);
    for (int i = 0; i < 6400; i++) {
        in_Q += i % 2 == 0 && subnormal(type, inputs.Q[i]);
        in_K += i % 2 == 1 && subnormal(type, inputs.K[i]);
        in_V += subnormal(type, inputs.V[i]);
    }
    ok(in_Q > 3100 && in_K > 3100 && in_V > 6200, "tiny %s: subnormals (%d %d %d)",
       element_name(type), in_Q, in_K, in_V);
    for (int i = 0; i < 100; i++) {
        double logit = 0;
        for (int c = 0; c < 64; c++)
            logit += (double)element_to_float(type, inputs.Q[i * 64 + c]) *
                     element_to_float(type, inputs.K[i * 64 + c]) / 8;
        squares += logit * logit;
    }
    is_near(sqrt(squares / 100), 0.125, 0.03, "and logits of 1/8 that come from them");
    inputs_free(&inputs);
}

static void equal_keys(void) {
    const Problem p = make(2, 4, 2, 8, 50, true);
    Inputs inputs;
    Error error;
    int other = 0;
    inputs_create(&p, INIT_EQUAL, 0, 1, 0, &inputs, &error);
    for (int head = 0; head < 4; head++)
        for (int j = 1; j < 50; j++)
            other += memcmp(inputs.K + (head * 50 + j) * 64, inputs.K + head * 50 * 64, 128) != 0;
    is_int(other, 0, "equal: all keys of a head are its first");
    ok(memcmp(inputs.K, inputs.K + 50 * 64, 128) != 0, "and of another head another");
    ok(memcmp(inputs.V, inputs.V + 64, 128) != 0, "values differ");
    int wrong = 0;
    for (int row = 0; row < 2 * 4 * 8; row++)
        wrong += element_to_float(TYPE_FP16, inputs.Q[row * 64]) != (row % 4 == 3 ? -1300.0f : 0);
    for (int key = 0; key < 4 * 50; key++)
        wrong += element_to_float(TYPE_FP16, inputs.K[key * 64]) != 256;
    is_int(wrong, 0, "and every fourth row has scores of about -42,000");
    float least = INFINITY, most = 0;
    for (int i = 0; i < 4 * 50 * 64; i++) {
        least = fminf(least, element_to_float(TYPE_FP16, inputs.V[i]));
        most = fmaxf(most, element_to_float(TYPE_FP16, inputs.V[i]));
    }
    ok(least >= 20000 && least < 20100 && most > 59900 && most <= 60000,
       "V that fits fp16, of which two do not: %g to %g", least, most);
    inputs_free(&inputs);
}

static void both_zeros(void) {
    const Problem p = make(1, 2, 2, 50, 50, false);
    Inputs inputs;
    Error error;
    int zeros = 0, negative = 0;
    inputs_create(&p, INIT_ZEROS, 0, 1, 0, &inputs, &error);
    const uint16_t *const tensors[] = {inputs.Q, inputs.K, inputs.V};
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 6400; i++) {
            zeros += (tensors[t][i] & 0x7fff) == 0;
            negative += tensors[t][i] == 0x8000;
        }
    ok(zeros == 3 * 6400 && negative > 9000 && negative < 10200,
       "zeros: nothing else, half of them negative (%d of %d)", negative, zeros);
    inputs_free(&inputs);
}

/* Every row is V of one key, the same for all rows of a KV head; not for all heads. */
static void dominant_outweighs(void) {
    const Problem p = make(3, 2, 1, 20, 70, false);
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    int wrong = 0, keys[3] = {0};
    inputs_create(&p, INIT_DOMINANT, 0, 4, 0, &inputs, &error);
    rows_choose(&p, 1, 1e12, &rows, &error);
    oracle_create(&p, 0.125, &inputs, &rows, &truth, &error);
    for (int b = 0; b < 3; b++)
        for (int j = 0; j < 70; j++)
            if (inputs.K[(b * 70 + j) * 64] != 0) keys[b] = j;
    for (size_t r = 0; r < rows.count; r++) {
        const size_t b = r / 40, V = (b * 70 + (size_t)keys[b]) * 64;
        for (size_t c = 0; c < 64; c++)
            wrong +=
                fabs(truth.O[r * 64 + c] - element_to_float(TYPE_FP16, inputs.V[V + c])) > 1e-50;
    }
    is_int(wrong, 0, "dominant: O is V of one key, to 50 digits");
    ok(keys[0] != keys[1] || keys[1] != keys[2], "which depends on the head (%d %d %d)", keys[0],
       keys[1], keys[2]);
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
}

/* The seeds that have a whole tensor of NaN, of each kind, and those beside them. */
static void nan_tensors(void) {
    const Problem p = make(1, 4, 2, 33, 65, true);
    int wrong = 0;
    for (uint64_t seed = 5; seed < 22; seed++) {
        Inputs inputs;
        Error error;
        inputs_create(&p, INIT_NAN, 0, seed, 0, &inputs, &error);
        const bool whole = (seed >= 6 && seed < 9) || (seed >= 18 && seed < 21);
        const uint16_t *const tensors[] = {inputs.Q, inputs.K, inputs.V};
        for (size_t t = 0; t < 3; t++) {
            const size_t count = t ? problem_kv_elements(&p) : problem_q_elements(&p);
            const size_t due = t != seed % 3 ? 0 : whole ? count : 1;
            wrong += elements_not_finite(TYPE_FP16, tensors[t], count) != due;
        }
        inputs_free(&inputs);
    }
    is_int(wrong, 0, "nan: a whole tensor for one seed in four, else one element");
}

/* One infinity or NaN in the tensor that the seed names and no other. */
static void one_special(Init init, uint64_t seed) {
    const Problem p = make(1, 4, 2, 33, 65, true);
    Inputs inputs;
    Error error;
    inputs_create(&p, init, 0, seed, 0, &inputs, &error);
    const uint16_t *const tensors[] = {inputs.Q, inputs.K, inputs.V};
    const size_t counts[] = {problem_q_elements(&p), problem_kv_elements(&p),
                             problem_kv_elements(&p)};
    const uint16_t *const holder = tensors[seed % 3];
    size_t found[3], place = 0;
    for (int t = 0; t < 3; t++) found[t] = elements_not_finite(TYPE_FP16, tensors[t], counts[t]);
    ok(found[seed % 3] == 1 && found[0] + found[1] + found[2] == 1,
       "%s, seed %d: one element of %c", init_name(init), (int)seed, "QKV"[seed % 3]);
    while (elements_not_finite(TYPE_FP16, holder + place, 1) == 0) place++;
    const float value = element_to_float(TYPE_FP16, holder[place]);
    ok(init == INIT_NAN ? isnan(value) : isinf(value), "it is %g", value);
    if (seed % 3 != TENSOR_Q) return inputs_free(&inputs);
    int negative = 0;
    for (size_t j = 0; j < 130; j++)
        negative += element_to_float(TYPE_FP16, inputs.K[j * 64 + place % 64]) < 0;
    is_int(negative, 0, "K is positive in its column");
    for (size_t i = 0; i < 132; i++)
        negative += element_to_float(TYPE_FP16, inputs.Q[i * 64 + place % 64]) < 0;
    for (size_t j = 0; j < 130; j++)
        negative += element_to_float(TYPE_FP16, inputs.K[j * 64 + (place + 1) % 64]) < 0;
    ok(negative > 70, "and nothing else is: %d", negative);
    inputs_free(&inputs);
}

/* Infinities of either sign occur, in every tensor. */
static void both_signs(void) {
    const Problem p = make(1, 1, 1, 5, 5, false);
    int signs[3][2] = {{0}};
    for (uint64_t seed = 0; seed < 60; seed++)
        for (size_t i = 0; i < 320; i++) {
            const float value = inputs_value(&p, INIT_INFINITE, 0, seed, (Tensor)(seed % 3), i);
            if (isinf(value)) signs[seed % 3][value < 0]++;
        }
    bool both = true;
    for (int t = 0; t < 3; t++) both &= signs[t][0] > 3 && signs[t][1] > 3;
    ok(both, "infinities of both signs in Q, K and V");
}

/* A weighted mean of a tensor, infinities and NaN by their sign alone. */
static double fingerprint(const Problem *p, Init init, Tensor tensor) {
    const size_t count = tensor == TENSOR_Q ? problem_q_elements(p) : problem_kv_elements(p);
    double sum = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = inputs_value(p, init, 0, 11, tensor, i);
        sum += isfinite(value) ? value * (double)(1 + i % 7 + i / 64 % 5)
               : isnan(value)  ? -1000
                               : copysign(1000, value);
        size += isfinite(value) ? fabs(value) : 0;
    }
    return size > 0 ? sum / size : sum;
}

/* The inputs of a seed are the same in every version, so that a failure can be repeated. */
static void fingerprints(void) {
    static const double known[INITS][3] = {
        {0.0131854611, 0.0893638442, -0.0966813891}, {-0.038250286, 0.0447755981, 0.00222217283},
        {0.0131854624, 0.0893638419, -0.0966813891}, {0.0250355114, -0.000300480769, 6.05965181},
        {-0.0116225734, 0.00774489183, 6.00067387},  {0.0752742963, 0.0398876318, -0.0966813891},
        {-5.19462974, 4.98925485, 6.0015004857},     {0, 0, 0},
        {1.43874863, 0.308623906, -0.0966813891},    {0.0131854611, 0.0893638442, -0.0209568792},
        {0.0131854611, 0.0893638442, -0.1714555335}, {0.82057685, 0.100674989, -0.0966813891},
        {0.013185462, 0.0893638462, -0.0966813891},  {1.68519365, 1.19542327, -0.0966813891},
        {1.43874863, 0.620714358, -0.0966813891},    {1.43874863, 0.608880247, -0.0966813891}};
    const Problem p = make(2, 4, 2, 33, 65, true);
    for (int init = 0; init < INITS; init++)
        for (int t = 0; t < 3; t++) {
            char name[64];
            snprintf(name, sizeof name, "%s: tensor %d of seed 11", init_name((Init)init), t);
            is_near(fingerprint(&p, (Init)init, (Tensor)t), known[init][t], 1e-5, name);
        }
}

static void too_large(void) {
    const Problem p = make(1000, 1000, 1, 1000000, 1, false);
    Inputs inputs;
    Error error = {0};
    ok(!inputs_create(&p, INIT_NORMAL, 0, 1, 0, &inputs, &error) && error.status == STATUS_SKIP &&
           strstr(error.text, "GiB of host memory"),
       "too large for the host: %s", error.text);
    double needed = 0, available = 0;
    sscanf(error.text, "the problem needs %lf GiB of host memory, and %lf", &needed, &available);
    ok(fabs(needed - (double)problem_bytes(&p) / (1 << 30)) <= 0.05 && available > 0 &&
           available < needed,
       "which says how much it needs and how much there is");
}

int main(void) {
    for (int init = 0; init < INITS; init++) repeatable((Init)init);
    distribution(INIT_NORMAL, TENSOR_Q, 1, -5.5, 5.5);
    distribution(INIT_UNIFORM, TENSOR_K, sqrt(1.0 / 3), -1, 1);
    distribution(INIT_LARGE, TENSOR_K, 12, -66, 66);
    distribution(INIT_LARGE, TENSOR_V, 1, -5.5, 5.5);
    normal_numbers();
    is_near(correlation(TENSOR_Q, TENSOR_K, 3, 0), 0, 0.02, "Q and K are unrelated");
    is_near(correlation(TENSOR_K, TENSOR_V, 3, 0), 0, 0.02, "K and V are unrelated");
    is_near(correlation(TENSOR_Q, TENSOR_Q, 4, 0), 0, 0.02, "seeds 3 and 4 are unrelated");
    is_near(correlation(TENSOR_Q, TENSOR_Q, 3, 1), 0, 0.02, "neighbours are unrelated");
    large_overflows();
    onehot_selects(&(Problem){{1, 1, 1, 300, 300, 0.125f}, 64, TYPE_FP16, false});
    onehot_selects(&(Problem){{2, 4, 2, 65, 300, 0.125f}, 64, TYPE_BF16, true});
    onehot_selects(&(Problem){{1, 2, 1, 300, 65, 0.125f}, 64, TYPE_FP16, true});
    onehot_columns();
    ramp_steps();
    tiny_needs_subnormals(TYPE_FP16);
    tiny_needs_subnormals(TYPE_BF16);
    equal_keys();
    both_zeros();
    dominant_outweighs();
    for (uint64_t seed = 0; seed < 6; seed++)
        one_special(seed < 3 ? INIT_INFINITE : INIT_NAN, seed);
    nan_tensors();
    both_signs();
    fingerprints();
    too_large();
    return done_testing();
}
