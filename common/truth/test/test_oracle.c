/* Catches: an oracle that is wrong itself. Golden data come from an independent implementation
 * (reference/golden/, written by NumPy); the rest has answers known in closed form. They go to the
 * plain form of the oracle (plain.h), and the fast one must give its bits. Also: rows without a
 * key, NaN and infinity, grouped heads, heads longer than what a thread keeps, and a low-precision
 * reference that is not one. */
#include "test/tap.h"
#include "truth/oracle.h"
#include "truth/test/plain.h"

#include <dirent.h>
#include <stdlib.h>

/* ---- golden files: "batch heads kv_heads seq_q seq_kv d causal scale", then Q K V O LSE ---- */

static double *read_numbers(FILE *file, size_t count) {
    double *numbers = malloc((count + 1) * sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        if (fscanf(file, "%lf", &numbers[i]) != 1) numbers[i] = NAN;
    return numbers;
}

static double distance(double got, double expected) {
    if (got == expected) return 0;
    const double error = fabs(got - expected) / fmax(1, fabs(expected));
    return isnan(error) ? INFINITY : error;
}

static double golden_error(FILE *file) {
    Problem p = {0};
    int causal;
    double scale, worst = 0;
    if (fscanf(file, "%d %d %d %d %d %d %d %lf", &p.shape.batch, &p.shape.heads, &p.shape.kv_heads,
               &p.shape.seq_q, &p.shape.seq_kv, &p.d, &causal, &scale) != 8)
        return INFINITY;
    p.causal = causal != 0;
    const size_t d = (size_t)p.d, keys = (size_t)p.shape.seq_kv;
    double *Q = read_numbers(file, problem_q_elements(&p));
    double *K = read_numbers(file, problem_kv_elements(&p));
    double *V = read_numbers(file, problem_kv_elements(&p));
    double *O = read_numbers(file, problem_q_elements(&p));
    double *LSE = read_numbers(file, problem_rows(&p));
    double *got = malloc(d * sizeof *got);
    for (size_t r = 0; r < problem_rows(&p); r++) {
        const size_t kv = problem_kv_head(&p, r) * keys * d;
        const int visible = problem_visible_keys(&p, (int)(r % (size_t)p.shape.seq_q));
        double got_LSE, score_error;
        plain_row(Q + r * d, K + kv, V + kv, visible, p.d, scale, got, &got_LSE, &score_error);
        for (size_t c = 0; c < d; c++) worst = fmax(worst, distance(got[c], O[r * d + c]));
        worst = fmax(worst, distance(got_LSE, LSE[r]));
    }
    double *const all[] = {Q, K, V, O, LSE, got};
    for (int i = 0; i < 6; i++) free(all[i]);
    return worst;
}

static void golden_files(const char *folder) {
    DIR *directory = opendir(folder);
    int files = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!strstr(entry->d_name, ".txt")) continue;
        FILE *file = fopen(path, "r");
        const double error = golden_error(file);
        ok(error <= 1e-12, "golden %s: error %.2g", entry->d_name, error);
        fclose(file);
        files++;
    }
    if (directory) closedir(directory);
    if (files == 0) skip_test("no golden files: run from the root, after reference/golden.py");
}

/* ---- closed forms ---- */

static void equal_logits(void) {
    const double q[2] = {0, 0}, K[6] = {1, 2, 3, 4, 5, 6}, V[6] = {3, 30, 6, 60, 9, 90};
    double O[2], LSE, score_error;
    plain_row(q, K, V, 3, 2, 1, O, &LSE, &score_error);
    is_near(O[0], 6, 1e-14, "equal logits: O is the mean of V");
    is_near(O[1], 60, 1e-13, "in every column");
    is_near(LSE, log(3), 1e-15, "LSE = log 3");
    plain_row(q, K, V, 0, 2, 1, O, &LSE, &score_error);
    ok(O[0] == 0 && O[1] == 0 && LSE == -INFINITY, "no key: O = 0, LSE = -inf");
}

static void two_keys(void) {
    const double q[1] = {1}, K[2] = {1000, 1000 + log(3)}, V[2] = {0, 4};
    double O[1], LSE, score_error;
    plain_row(q, K, V, 2, 1, 1, O, &LSE, &score_error);
    is_near(O[0], 3, 1e-12, "weights 1 : 3 at logits of 1000");
    is_near(LSE, 1000 + log(4), 1e-12, "their LSE");
    is_near(score_error, 0x1p-20 * (1000 + log(3)) * 3, 1e-15, "how far scores in fp32 move O");
    plain_row(q, K, V, 2, 1, 0.5, O, &LSE, &score_error);
    is_near(O[0], 4 * sqrt(3) / (1 + sqrt(3)), 1e-12, "scale multiplies the logits");
}

/* Scores of 2^22 may be off by e = 4, of 2^21 by 2. */
static void far_scores(void) {
    const double q[1] = {1}, V[2] = {8, 4}, light = exp(-7) / (1 + exp(-7));
    const double even[2] = {0x1p22, 0x1p22}, near[2] = {0x1p22, 0x1p22 - 14};
    const double far[2] = {0x1p22, 0x1p22 - 50};
    double O[1], LSE, score_error;
    plain_row(q, even, V, 2, 1, 1, O, &LSE, &score_error);
    is_near(score_error, 8 + 4, 1e-12, "far scores: equal weights may become anything");
    plain_row(q, near, V, 2, 1, 0.5, O, &LSE, &score_error);
    is_near(score_error, expm1(4) * light * (8 + 4), 1e-12, "a light one may grow by exp(2 e)");
    plain_row(q, far, V, 2, 1, 1, O, &LSE, &score_error);
    ok(score_error > 0 && score_error < 1e-15, "where one key has it all nothing moves");
    plain_row(q, far, V, 2, 1, 0.25, O, &LSE, &score_error);
    is_near(score_error, 0x1p-10 * (8 - 4 * exp(-12.5) / (1 + exp(-12.5))), 1e-15,
            "and little where e is 1");
    plain_row(q, even, V, 2, 1, 0.125, O, &LSE, &score_error);
    is_near(score_error, 0.5 * (8 + 4) / 2, 1e-12, "equal weights move by e where it is 1/2");
    plain_row(q, even, V, 2, 1, 0x1p-10, O, &LSE, &score_error);
    is_near(score_error, 0x1p-8 * (8 + 4) / 2, 1e-15, "equal weights move by e");
}

/* Products that cancel: |q| = |K| = 5, and q . K = 0. */
static void cancelling_products(void) {
    const double q[2] = {3, 4}, K[2] = {4, -3}, V[2] = {8, 0};
    double O[2], LSE, score_error;
    ok(plain_score_off(q, K, 1, 2, 0.5) == 0x1p-24 * 25, "a score of 0 may be off by its products");
    plain_row(q, K, V, 1, 2, 0.5, O, &LSE, &score_error);
    ok(LSE == 0 && score_error == 0x1p-24 * 25 * 8, "which moves O");
}

/* The largest score of all, 10000 * scale, is allowed to be ATTENTION_MOST_SCORE and no more. */
static void beyond_the_contract(void) {
    const Problem p = {{1, 1, 1, 2, 2, 1}, 1, TYPE_FP16, true};
    const float q[] = {0, 1}, K[] = {1, -10000};
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    inputs_create(&p, INIT_NORMAL, 0, 1, 0, &inputs, &error);
    rows_choose(&p, 1, 1e12, &rows, &error);
    for (int i = 0; i < 2; i++) {
        inputs.Q[i] = element_from_float(TYPE_FP16, q[i]);
        inputs.K[i] = element_from_float(TYPE_FP16, K[i]);
    }
    ok(oracle_create(&p, 1e4, &inputs, &rows, &truth, &error), "scores of 10^8");
    oracle_free(&truth);
    ok(!oracle_create(&p, 1.01e4, &inputs, &rows, &truth, &error) && !truth.O &&
           error.status == STATUS_USAGE,
       "none beyond");
    is_text(error.text,
            "the inputs have scores beyond 1e+08, where softmax in fp32 means nothing: lower "
            "SCALE or STRENGTH",
            "and why");
    rows_free(&rows);
    inputs_free(&inputs);
}

static void special_values(void) {
    const double q[1] = {1}, fine[2] = {1, 2}, nan_logit[2] = {1, NAN},
                 inf_logit[2] = {1, INFINITY};
    const double none[2] = {-INFINITY, -INFINITY}, far[2] = {1, -2000};
    const double V[2] = {5, 7}, nan_V[2] = {5, NAN};
    double O[1], LSE, score_error;
    plain_row(q, nan_logit, V, 2, 1, 1, O, &LSE, &score_error);
    ok(isnan(O[0]) && isnan(LSE), "a NaN logit makes the row NaN");
    plain_row(q, inf_logit, V, 2, 1, 1, O, &LSE, &score_error);
    ok(isnan(O[0]) && isnan(LSE), "so does +inf");
    plain_row(q, none, V, 2, 1, 1, O, &LSE, &score_error);
    ok(O[0] == 0 && LSE == -INFINITY, "only -inf logits: as if there were no key");
    plain_row(q, fine, nan_V, 2, 1, 1, O, &LSE, &score_error);
    ok(isnan(O[0]) && isfinite(LSE), "a NaN in V that has weight reaches O");
    plain_row(q, far, nan_V, 2, 1, 1, O, &LSE, &score_error);
    ok(O[0] == 5, "one without weight does not");
}

/* Every row by the threaded driver against the plain one with indices worked out here. */
static void driver(void) {
    enum { B = 2, H = 6, HKV = 3, N = 37, NKV = 29, D = 24 };
    const Problem p = {{B, H, HKV, N, NKV, 0.2f}, D, TYPE_BF16, true};
    static double q[D], K[NKV * D], V[NKV * D], O[D];
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    double worst = 0, low_error = 0;
    int not_rounded = 0;
    inputs_create(&p, INIT_NORMAL, 0, 11, 0, &inputs, &error);
    rows_choose(&p, 1, 1e12, &rows, &error);
    oracle_create(&p, 0.2, &inputs, &rows, &truth, &error);
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < N; i++) {
                const int r = (b * H + h) * N + i, kv = b * HKV + h / 2;
                const int visible = i + NKV - N + 1 > 0 ? i + NKV - N + 1 : 0;
                double LSE, score_error;
                for (int c = 0; c < D; c++) q[c] = element_to_float(TYPE_BF16, inputs.Q[r * D + c]);
                for (int e = 0; e < NKV * D; e++) {
                    K[e] = element_to_float(TYPE_BF16, inputs.K[kv * NKV * D + e]);
                    V[e] = element_to_float(TYPE_BF16, inputs.V[kv * NKV * D + e]);
                }
                plain_row(q, K, V, visible, D, 0.2, O, &LSE, &score_error);
                worst = fmax(worst, distance(truth.LSE[r], LSE));
                for (int c = 0; c < D; c++) {
                    worst = fmax(worst, distance(truth.O[r * D + c], O[c]));
                    const float low = (float)truth.low_O[r * D + c];
                    not_rounded +=
                        element_to_float(TYPE_BF16, element_from_float(TYPE_BF16, low)) !=
                        truth.low_O[r * D + c];
                    low_error = fmax(low_error, fabs(truth.low_O[r * D + c] - O[c]));
                }
            }
    is_near(worst, 0, 1e-15, "the driver finds batch, head, KV head and mask of every row");
    ok(low_error > 1e-4 && low_error < 2e-2, "the bf16 reference errs like bf16: %.2g", low_error);
    is_int(not_rounded, 0, "and every element of it is a bf16 number");
    ok(truth.LSE[0] == -INFINITY && truth.low_LSE[0] == -INFINITY && truth.low_O[0] == 0,
       "a row without keys, in both precisions");
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
}

/* NaN is as good as NaN. */
static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Elements as numbers, which the caller frees. */
static double *numbers_of(ElementType type, const uint16_t *elements, size_t count) {
    double *numbers = malloc(count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = element_to_float(type, elements[i]);
    return numbers;
}

/* How many numbers of the truth differ from the plain oracle's in row number r of those compared.
 */
static int row_differs(const Problem *p, const double *all_Q, const double *all_K,
                       const double *all_V, const Rows *rows, const Truth *truth, size_t r) {
    const size_t d = (size_t)p->d, index = rows->index[r];
    const size_t kv = problem_kv_head(p, index) * d * (size_t)p->shape.seq_kv;
    const int visible = problem_visible_keys(p, (int)(index % (size_t)p->shape.seq_q));
    const double *q = all_Q + index * d, *K = all_K + kv, *V = all_V + kv;
    double O[128], low_O[128], LSE, low_LSE, score_error;
    plain_row(q, K, V, visible, p->d, p->shape.scale, O, &LSE, &score_error);
    plain_low_row(p->type, q, K, V, visible, p->d, p->shape.scale, low_O, &low_LSE);
    int wrong = !same(truth->LSE[r], LSE) + !same(truth->low_LSE[r], low_LSE) +
                !same(truth->score_error[r], score_error) +
                !same(truth->score_off[r], plain_score_off(q, K, visible, p->d, p->shape.scale));
    for (size_t c = 0; c < d; c++)
        wrong += !same(truth->O[r * d + c], O[c]) + !same(truth->low_O[r * d + c], low_O[c]);
    return wrong;
}

/* All rows, or as many as `work` allows. */
static void same_bits(const Problem *p, Init init, double work) {
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    char variant[64];
    int wrong = 0;
    problem_variant(p, variant, sizeof variant);
    inputs_create(p, init, 0, 5, 0, &inputs, &error); /* 5 mod 3: special values are in V */
    rows_choose(p, 1, work, &rows, &error);
    oracle_create(p, p->shape.scale, &inputs, &rows, &truth, &error);
    double *Q = numbers_of(p->type, inputs.Q, problem_q_elements(p));
    double *K = numbers_of(p->type, inputs.K, problem_kv_elements(p));
    double *V = numbers_of(p->type, inputs.V, problem_kv_elements(p));
    for (size_t r = 0; r < rows.count; r++) wrong += row_differs(p, Q, K, V, &rows, &truth, r);
    free(Q), free(K), free(V);
    ok(wrong == 0, "%zu of %zu rows, %s, %d keys, %s: %d numbers are not the plain oracle's",
       rows.count, rows.total, variant, p->shape.seq_kv, init_name(init), wrong);
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
}

static void fast_as_plain(void) {
    const Problem grouped = {{1, 4, 2, 83, 83, 0.125f}, 64, TYPE_FP16, true};
    const Problem two = {{2, 4, 2, 83, 83, 0.125f}, 64, TYPE_FP16, true};
    const Problem wide = {{1, 2, 1, 70, 33, 0.09f}, 128, TYPE_BF16, false};
    const Problem one_row = {{3, 2, 2, 1, 200, 0.09f}, 128, TYPE_FP16, true};
    const Problem long_groups = {{1, 1, 1, 40000, 3, 0.125f}, 64, TYPE_FP16, false};
    const Problem narrow = {{1, 1, 1, 9, 5, 0.3f}, 24, TYPE_BF16, true};
    const Problem far = {{1, 4, 2, 83, 83, 1e6f}, 64, TYPE_FP16, true};
    for (int init = 0; init < INITS; init++) same_bits(&grouped, (Init)init, 1e12);
    same_bits(&two, INIT_NORMAL, 1e12);
    same_bits(&far, INIT_NORMAL, 1e12);
    for (int power = 7; power < 20; power += 3) { /* e from 2^-11 to about 1 */
        Problem between = far;
        between.shape.scale = (float)(1 << power);
        same_bits(&between, INIT_NORMAL, 1e12);
    }
    same_bits(&wide, INIT_NORMAL, 1e12);
    same_bits(&wide, INIT_LARGE, 50000);
    same_bits(&one_row, INIT_NORMAL, 1e12);
    same_bits(&long_groups, INIT_NORMAL, 1e12);
    same_bits(&narrow, INIT_NORMAL, 1e12);
}

/* A head of 40,000 keys, which comes in pieces, in rows that see different numbers of them. */
static void long_heads(void) {
    enum { B = 2, N = 3, NKV = 40000, D = 4 };
    const Problem p = {{B, 1, 1, N, NKV, 0.5f}, D, TYPE_FP16, true};
    double *K = malloc(NKV * D * sizeof *K), *V = malloc(NKV * D * sizeof *V);
    double worst = 0, q[D], O[D], LSE, score_error;
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    inputs_create(&p, INIT_NORMAL, 0, 3, 0, &inputs, &error);
    rows_choose(&p, 1, 1e12, &rows, &error);
    oracle_create(&p, 0.5, &inputs, &rows, &truth, &error);
    for (int r = 0; r < B * N; r++) {
        for (int e = 0; e < NKV * D; e++) {
            K[e] = element_to_float(TYPE_FP16, inputs.K[r / N * NKV * D + e]);
            V[e] = element_to_float(TYPE_FP16, inputs.V[r / N * NKV * D + e]);
        }
        for (int c = 0; c < D; c++) q[c] = element_to_float(TYPE_FP16, inputs.Q[r * D + c]);
        plain_row(q, K, V, NKV - N + 1 + r % N, D, 0.5, O, &LSE, &score_error);
        worst = fmax(worst, distance(truth.LSE[r], LSE));
        for (int c = 0; c < D; c++) {
            worst = fmax(worst, distance(truth.O[r * D + c], O[c]));
            worst = fmax(worst, fabs(truth.low_O[r * D + c] - O[c]) > 1e-3);
        }
    }
    is_near(worst, 0, 1e-15, "heads of 40000 keys, piece by piece");
    free(K), free(V);
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
}

/* A key of weight 2^-15, whose V is all that there is in O: fp16 numbers are 2^-24 apart where w is
 * rounded, and 2^-21 where O is. */
static void light_keys(void) {
    const Problem p = {{1, 1, 1, 1, 2, 1}, 1, TYPE_FP16, false};
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    inputs_create(&p, INIT_NORMAL, 0, 1, 0, &inputs, &error);
    rows_choose(&p, 1, 1e12, &rows, &error);
    inputs.Q[0] = element_from_float(TYPE_FP16, 1);
    for (int j = 0; j < 2; j++) {
        inputs.K[j] = element_from_float(TYPE_FP16, (float)j * -10.375f);
        inputs.V[j] = element_from_float(TYPE_FP16, (float)j * 16);
    }
    oracle_create(&p, 1, &inputs, &rows, &truth, &error);
    const double w = exp(-10.375), low_w = rint(w * 0x1p24) * 0x1p-24;
    is_near(truth.O[0], 16 * w / (1 + w), 1e-15, "a light key in the truth");
    is_near(truth.low_O[0], 16 * low_w / (1 + w), 0x1p-24, "and with its weight rounded");
    ok(fabs(truth.low_O[0] - truth.O[0]) > 0x1p-22, "which costs it bits");
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
}

/* Where one NaN or infinity may be seen: head 1 of two KV heads, four heads in all. */
typedef struct Special {
    Problem problem;
    Inputs inputs;
    Rows rows;
    Truth truth;
} Special;

static Special special_create(bool causal, double work) {
    Special s = {.problem = {{1, 4, 2, 100, 100, 0.125f}, 64, TYPE_FP16, causal}};
    Error error;
    inputs_create(&s.problem, INIT_NORMAL, 0, 5, 0, &s.inputs, &error);
    rows_choose(&s.problem, 1, work, &s.rows, &error);
    return s;
}

static void special_oracle(Special *s) {
    Error error;
    oracle_create(&s->problem, 0.125, &s->inputs, &s->rows, &s->truth, &error);
}

static void special_free(Special *s) {
    oracle_free(&s->truth);
    rows_free(&s->rows);
    inputs_free(&s->inputs);
}

/* The number of rows that are NaN as a whole, and whether those are first .. end - 1 of heads 2, 3
 * alone. */
static bool nan_rows_are(const Special *s, int first, int end) {
    bool right = true;
    for (int r = 0; r < 400; r++) {
        const bool due = r / 100 >= 2 && r % 100 >= first && r % 100 < end;
        right &= isnan(s->truth.LSE[r]) == due;
        for (int c = 0; c < 64; c++) right &= isnan(s->truth.O[r * 64 + c]) == due;
    }
    return right;
}

static void specials_spread(void) {
    enum { HEAD = 100 * 64, NAN_BITS = 0x7e00, INF_BITS = 0x7c00 };
    Special s = special_create(true, 1e12);
    s.inputs.K[HEAD + 70 * 64 + 9] = NAN_BITS;
    special_oracle(&s);
    ok(nan_rows_are(&s, 70, 100), "a NaN in K: every row that sees the key, and no other");
    bool none = true;
    for (int i = 0; i < 400 * 64; i++) none &= !s.truth.nan_too[i];
    ok(none, "and no leave for others to be NaN");
    special_free(&s);

    s = special_create(true, 1e12);
    s.inputs.V[HEAD + 70 * 64 + 9] = INF_BITS;
    special_oracle(&s);
    int infinite = 0, wrong = 0;
    for (int i = 0; i < 400 * 64; i++) {
        const int row = i / 64 % 100, head = i / 64 / 100;
        infinite += isinf(s.truth.O[i]);
        wrong += isinf(s.truth.O[i]) != (head >= 2 && row >= 70 && i % 64 == 9);
        wrong += s.truth.nan_too[i] != (head >= 2 && i % 64 == 9);
    }
    ok(infinite == 60 && wrong == 0,
       "an infinity in V: its column in rows that see the key; NaN is right in that column");
    special_free(&s);

    s = special_create(false, 1e12);
    for (int j = 0; j < 100; j++) s.inputs.K[HEAD + j * 64 + 9] = 0x3c00; /* 1 */
    s.inputs.Q[250 * 64 + 9] = INF_BITS;
    s.inputs.Q[260 * 64 + 9] = INF_BITS | 0x8000;
    special_oracle(&s);
    ok(isnan(s.truth.O[250 * 64]) && isnan(s.truth.LSE[250]), "scores of +inf: NaN");
    ok(s.truth.O[260 * 64] == 0 && s.truth.LSE[260] == -INFINITY, "of -inf: no key");
    ok(isfinite(s.truth.O[251 * 64]) && isfinite(s.truth.LSE[259]), "their neighbours: numbers");
    special_free(&s);
}

/* Rows that are not compared: which of them the inputs allow to be NaN. */
static void finite_rows(void) {
    enum { HEAD = 100 * 64 };
    Special s = special_create(false, 100 * 64 * 40);
    s.inputs.Q[150 * 64 + 63] = 0xfc00;
    s.inputs.V[HEAD] = 0x7e00;
    special_oracle(&s);
    int wrong = 0;
    for (int r = 0; r < 400; r++) wrong += s.truth.finite[r] != (r < 200 && r != 150);
    is_int(wrong, 0, "finite: all but the row of the infinity and the heads that read the NaN");
    special_free(&s);
    s = special_create(false, 100 * 64 * 40);
    s.inputs.K[HEAD - 1] = 0x7e00;
    special_oracle(&s);
    wrong = 0;
    for (int r = 0; r < 400; r++) wrong += s.truth.finite[r] != (r >= 200);
    is_int(wrong, 0, "also if the NaN is in K");
    special_free(&s);
    s = special_create(false, 1e12);
    special_oracle(&s);
    ok(s.truth.finite == NULL, "not looked for if all rows are compared");
    special_free(&s);
}

/* A thread goes from head to head: a NaN in V of every other one. */
static void tainted_heads(void) {
    enum { B = 1200, D = 4 };
    const Problem p = {{B, 1, 1, 1, 2, 0.5f}, D, TYPE_FP16, false};
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    int wrong = 0;
    inputs_create(&p, INIT_NORMAL, 0, 3, 0, &inputs, &error);
    for (int b = 0; b < B; b += 2) inputs.V[b * 2 * D + 1] = 0x7e00;
    rows_choose(&p, 1, 1e12, &rows, &error);
    oracle_create(&p, 0.5, &inputs, &rows, &truth, &error);
    for (int i = 0; i < B * D; i++) wrong += truth.nan_too[i] != (i / D % 2 == 0 && i % D == 1);
    is_int(wrong, 0, "NaN is right in one column of every other head");
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
}

int main(void) {
    golden_files("reference/golden");
    equal_logits();
    two_keys();
    far_scores();
    cancelling_products();
    special_values();
    driver();
    fast_as_plain();
    long_heads();
    light_keys();
    specials_spread();
    finite_rows();
    tainted_heads();
    beyond_the_contract();
    return done_testing();
}
