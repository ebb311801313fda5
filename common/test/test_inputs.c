/* Catches: values that depend on the number of threads, on their neighbours or on the shape around
 * them; tensors or seeds that share values; a distribution with the wrong mean or size; logits of
 * `large` that a naive exp survives; `onehot` queries that attend to the wrong key. */
#include "inputs.h"
#include "oracle.h"
#include "tap.h"

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
    inputs_create(&p, init, 7, 1, &one, &error);
    inputs_create(&p, init, 7, 5, &many, &error);
    inputs_create(&p, init, 8, 0, &other, &error);
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
        const double value = inputs_value(&p, init, 3, tensor, (size_t)i);
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

static double correlation(Tensor a, Tensor b, uint64_t seed_b, size_t shift) {
    const Problem p = make(1, 1, 1, 1000, 1000, false);
    double sum = 0;
    for (size_t i = 0; i < 50000; i++)
        sum += (double)inputs_value(&p, INIT_NORMAL, 3, a, i) *
               inputs_value(&p, INIT_NORMAL, seed_b, b, i + shift);
    return sum / 50000;
}

static void large_overflows(void) {
    const Problem p = make(1, 1, 1, 64, 64, false);
    Inputs inputs;
    Error error;
    double most = 0;
    bool finite = true;
    inputs_create(&p, INIT_LARGE, 1, 0, &inputs, &error);
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
    inputs_create(p, INIT_ONEHOT, 5, 0, &inputs, &error);
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

int main(void) {
    for (int init = INIT_NORMAL; init <= INIT_RAMP; init++) repeatable((Init)init);
    distribution(INIT_NORMAL, TENSOR_Q, 1, -5.5, 5.5);
    distribution(INIT_UNIFORM, TENSOR_K, sqrt(1.0 / 3), -1, 1);
    distribution(INIT_LARGE, TENSOR_K, 12, -66, 66);
    distribution(INIT_LARGE, TENSOR_V, 1, -5.5, 5.5);
    is_near(correlation(TENSOR_Q, TENSOR_K, 3, 0), 0, 0.02, "Q and K are unrelated");
    is_near(correlation(TENSOR_K, TENSOR_V, 3, 0), 0, 0.02, "K and V are unrelated");
    is_near(correlation(TENSOR_Q, TENSOR_Q, 4, 0), 0, 0.02, "seeds 3 and 4 are unrelated");
    is_near(correlation(TENSOR_Q, TENSOR_Q, 3, 1), 0, 0.02, "neighbours are unrelated");
    large_overflows();
    onehot_selects(&(Problem){{1, 1, 1, 300, 300, 0.125f}, 64, TYPE_FP16, false});
    onehot_selects(&(Problem){{2, 4, 2, 65, 300, 0.125f}, 64, TYPE_BF16, true});
    onehot_selects(&(Problem){{1, 2, 1, 300, 65, 0.125f}, 64, TYPE_FP16, true});
    return done_testing();
}
