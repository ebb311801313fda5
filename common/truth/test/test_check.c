/* Catches: a check that passes what is wrong. NaN, an element of the wrong row, a small error in a
 * row of small values, a lost key in LSE, an infinity of the wrong sign, a NaN that spread, an
 * error just above its tolerance, a tolerance that is not the one of check.h; and one that fails
 * what is right: the low-precision reference itself, a NaN that the inputs excuse. */
#include "test/tap.h"
#include "truth/check.h"
#include "truth/explain.h"

#include <stdlib.h>
#include <string.h>

enum { B = 1, H = 2, N = 200, D = 64 };

typedef struct Sample {
    Problem problem;
    Inputs inputs;
    Rows rows;
    Truth truth;
    uint16_t O[B * H * N * D];
    float LSE[B * H * N];
} Sample;

static double strength; /* of the inputs; 0: that of the init */

/* The outputs are those of the low-precision reference; `work` says how many rows are checked. */
static Sample *make_masked(ElementType type, Init init, double work, bool causal) {
    const double enough = 1e12;
    Sample *s = calloc(1, sizeof *s);
    Error error;
    s->problem = (Problem){{B, H, 1, N, N, 0.125f}, D, type, causal};
    inputs_create(&s->problem, init, strength, 1, 0, &s->inputs, &error);
    rows_choose(&s->problem, 1, enough, &s->rows, &error);
    oracle_create(&s->problem, 0.125, &s->inputs, &s->rows, &s->truth, &error);
    for (size_t i = 0; i < B * H * N * D; i++)
        s->O[i] = element_from_float(type, (float)s->truth.low_O[i]);
    for (size_t r = 0; r < B * H * N; r++) s->LSE[r] = (float)s->truth.low_LSE[r];
    if (work < enough) {
        oracle_free(&s->truth);
        rows_free(&s->rows);
        rows_choose(&s->problem, 1, work, &s->rows, &error);
        oracle_create(&s->problem, 0.125, &s->inputs, &s->rows, &s->truth, &error);
    }
    return s;
}

static Sample *make(ElementType type, Init init, double work) {
    return make_masked(type, init, work, true);
}

static CheckResult check(const Sample *s) {
    const Outputs outputs = {s->O, s->LSE};
    return check_outputs(&s->problem, &s->rows, &s->truth, &outputs);
}

static void free_sample(Sample *s) {
    oracle_free(&s->truth);
    rows_free(&s->rows);
    inputs_free(&s->inputs);
    free(s);
}

static float largest_O(const Sample *s) {
    float largest = 0;
    for (int i = 0; i < B * H * N * D; i++)
        largest = fmaxf(largest, fabsf(element_to_float(s->problem.type, s->O[i])));
    return largest;
}

/* Against a truth of 0: half of the columns of the compared rows 0.5, the other rows 1. */
static void rms(double work) {
    Sample *s = make(TYPE_FP16, INIT_ZEROS, work);
    for (size_t i = 0; i < B * H * N * D; i++) s->O[i] = element_from_float(TYPE_FP16, 1);
    for (size_t r = 0; r < s->rows.count; r++)
        for (size_t c = 0; c < D; c++)
            s->O[s->rows.index[r] * D + c] = element_from_float(TYPE_FP16, c % 2 ? 0.5f : 0);
    is_near(check(s).rms_error, 0.5 * sqrt(0.5), 1e-9, "the RMS error of the compared rows");
    s->O[s->rows.index[0] * D] = 0x7e00;
    ok(isnan(check(s).rms_error), "which a NaN makes NaN");
    s->truth.O[0] = NAN;
    s->truth.O[1] = INFINITY;
    const double n = (double)(s->rows.count * D);
    is_near(check(s).rms_error, 0.5 * sqrt((n / 2 - 1) / (n - 2)), 1e-9,
            "unless no number is due there");
    for (size_t i = 0; i < s->rows.count * D; i++) s->truth.O[i] = NAN;
    is_near(check(s).rms_error, 0, 0, "or anywhere");
    free_sample(s);
}

static void good_passes(ElementType type, Init init) {
    Sample *s = make(type, init, 1e12);
    const CheckResult result = check(s);
    ok(result.pass && result.ratio <= 0.5 && result.reason[0] == '\0',
       "%s %s: the reference passes, at %.2f of what is allowed", element_name(type),
       init_name(init), result.ratio);
    free_sample(s);
}

/* Writes `bits` over one element of O, expects a failure, and puts it back. */
static void bad_element(Sample *s, size_t index, uint16_t bits, const char *what) {
    const uint16_t before = s->O[index];
    s->O[index] = bits;
    const CheckResult result = check(s);
    ok(!result.pass && result.wrong_elements == 1 && strstr(result.reason, "1 of 25600 elements"),
       "%s fails: %s", what, result.reason);
    s->O[index] = before;
}

static void bad_lse(Sample *s, size_t row, float value, const char *what) {
    const float before = s->LSE[row];
    s->LSE[row] = value;
    const CheckResult result = check(s);
    ok(!result.pass && result.wrong_lse == 1 && strstr(result.reason, "1 of 400 LSE are wrong: "),
       "LSE: %s fails: %s", what, result.reason);
    s->LSE[row] = before;
}

/* At scores of some 10^5 nearly every row of O is a row of V, wherever fp32 may put its scores. */
static void large_scores(void) {
    strength = 1e5;
    Sample *s = make(TYPE_FP16, INIT_PEAKED, 1e12);
    ok(check(s).pass, "scores of 10^5: the reference passes");
    for (size_t i = 0; i < B * H * N * D; i++)
        s->O[i] = element_from_float(TYPE_FP16, 0.9f * element_to_float(TYPE_FP16, s->O[i]));
    const size_t wrong = check(s).wrong_elements;
    ok(wrong > B * H * N * D * 9 / 10, "and what is a tenth too small fails: %zu elements", wrong);
    free_sample(s);
    strength = 0;
}

static void bad_fails(void) {
    Sample *s = make(TYPE_FP16, INIT_NORMAL, 1e12);
    const size_t first = 3, late = 199 * D + 5; /* in row 0, which is V_0, and in the last row */
    const float value = element_to_float(TYPE_FP16, s->O[first]);
    bad_element(s, first, element_from_float(TYPE_FP16, value + 0.01f * largest_O(s)),
                "an error of 1% of max |O|");
    const float small = element_to_float(TYPE_FP16, s->O[late]);
    bad_element(s, late, element_from_float(TYPE_FP16, small * 1.05f),
                "an error of 5% of one small element");
    bad_element(s, late, 0xffff, "an element that was not written");
    bad_element(s, late, 0x7c00, "an infinity");
    bad_element(s, 199 * D, s->O[198 * D], "the element of the row before");
    const double keys = 151;
    bad_lse(s, 150, (float)(s->LSE[150] + log1p(-1 / keys)), "one key of 151 lost");
    bad_lse(s, 150, NAN, "NaN");
    bad_lse(s, 150, INFINITY, "inf");
    bad_lse(s, 150, -INFINITY, "-inf");
    bad_lse(s, 0, s->LSE[0] + 1, "another one in the first row");
    bad_lse(s, 399, s->LSE[399] + 1, "and in the last");
    bad_element(s, 0, 0x7e00, "NaN in the first element");
    bad_element(s, 400 * D - 1, 0x7e00, "and in the last");
    ok(check(s).pass, "and without those it passes");
    free_sample(s);
}

/* Of check.h, each term of it alone and together: a row of O whose largest element is 3. */
static void tolerances(ElementType type, double ulp) {
    enum { ROWS = 2, COLUMNS = 64 };
    static double O[ROWS * COLUMNS], low_O[ROWS * COLUMNS];
    double LSE[ROWS] = {-3, -8}, low_LSE[ROWS] = {-3, -8};
    double score_off[ROWS] = {0, 0}, score_error[ROWS] = {0, 0};
    const Problem problem = {{1, 1, 1, ROWS, 1, 1}, COLUMNS, type, false};
    const Rows rows = {.count = ROWS, .total = ROWS};
    const Truth truth = {.O = O,
                         .low_O = low_O,
                         .LSE = LSE,
                         .low_LSE = low_LSE,
                         .score_off = score_off,
                         .score_error = score_error};
    const char *name = element_name(type);
    const size_t row = 1, last = 2 * COLUMNS - 1;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) O[i] = low_O[i] = i < COLUMNS ? 1000 : 0.5;
    O[last] = low_O[last] = -3;
    ok(check_row_tolerance(&problem, &truth, row) == ulp, "%s: an ulp of the largest", name);
    low_O[last] += 0.25;
    ok(check_row_tolerance(&problem, &truth, row) == ulp + 0.5, "%s: twice the reference's", name);
    score_error[row] = 0.75;
    ok(check_row_tolerance(&problem, &truth, row) == ulp + 1.25, "%s: and by the logits", name);
    score_error[row] = INFINITY;
    ok(check_row_tolerance(&problem, &truth, row) == ulp + 0.5, "%s: unless infinite", name);
    O[COLUMNS] = 1e30, low_O[COLUMNS] = NAN;
    O[COLUMNS + 1] = INFINITY, low_O[COLUMNS + 1] = 0;
    ok(check_row_tolerance(&problem, &truth, row) == ulp + 0.5, "%s: numbers alone count", name);
    ok(check_lse_tolerance(&rows, &truth) == 0x1p-15, "LSE: 2^-18 of the largest");
    low_LSE[0] += 0.25;
    ok(check_lse_tolerance(&rows, &truth) == 0x1p-15 + 0.5, "LSE: twice the reference's");
    score_off[0] = 0.75, score_off[1] = INFINITY;
    ok(check_lse_tolerance(&rows, &truth) == 0.75 + 0.5, "LSE: by the logits, unless infinite");
    LSE[0] = -INFINITY, low_LSE[1] = NAN;
    ok(check_lse_tolerance(&rows, &truth) == 0x1p-18, "LSE: numbers alone, at least 2^-18");
}

/* Rounds O once more, as a kernel does that rounds it before it divides by l. */
static void round_again(Sample *s) {
    const ElementType type = s->problem.type;
    for (size_t i = 0; i < B * H * N * D; i++) {
        const float l = 1.37f, sum = element_to_float(type, s->O[i]) * l;
        s->O[i] =
            element_from_float(type, element_to_float(type, element_from_float(type, sum)) / l);
    }
}

static void roundings(ElementType type) {
    Sample *s = make_masked(type, INIT_UNIFORM, 1e12, false);
    CheckResult result = check(s);
    is_near(result.roundings, 1, 0.001, "O has as many roundings as the reference");
    ok(result.ratio < result.roundings / 1.15, "which are no part of the ratio: %g", result.ratio);
    round_again(s);
    result = check(s);
    ok(!result.pass && result.wrong_elements == 0, "no element is wrong that was rounded again");
    ok(result.roundings > 1.19 && result.roundings < 1.35, "but all are: %g", result.roundings);
    ok(strstr(result.reason, "rounded more than once") != NULL, "says: %s", result.reason);
    is_near(result.ratio, result.roundings / 1.15, 1e-9, "the ratio is beyond 1");
    s->rows.total = s->rows.count = 4096 / D - 1;
    ok(check(s).roundings == 0, "fewer than 4096 elements say nothing");
    s->rows.total = s->rows.count = 4096 / D;
    ok(check(s).roundings > 1.1, "4096 do");
    s->truth.O[4095] = s->truth.O[0];
    ok(check(s).roundings == 0, "of which two are the same say nothing");
    free_sample(s);
    s = make_masked(type, INIT_UNIFORM, 1e12, false);
    s->problem.shape.seq_kv = 1 << 14;
    ok(check(s).roundings > 0.9, "2^14 keys do");
    s->problem.shape.seq_kv++;
    ok((check(s).roundings == 0) == (type == TYPE_FP16), "more do not in fp16, but in bf16");
    free_sample(s);
    s = make_masked(type, INIT_DOMINANT, 1e12, false);
    ok(check(s).roundings == 0, "one weight decides: not asked");
    free_sample(s);
}

/* Errors of 0.99 and of 1.01 tolerances. */
static void edges(void) {
    Sample *s = make(TYPE_FP16, INIT_NORMAL, 1e12);
    const size_t row = 150, at = row * D + 9;
    const double tolerance = check_row_tolerance(&s->problem, &s->truth, row);
    const double got = element_to_float(TYPE_FP16, s->O[at]);
    s->truth.O[at] = got - 0.99 * tolerance;
    s->truth.low_O[at] = s->truth.O[at];
    ok(fabs(check_row_tolerance(&s->problem, &s->truth, row) / tolerance - 1) < 1e-9,
       "the tolerance is that of another element");
    const CheckResult near = check(s);
    ok(near.pass && fabs(near.ratio - 0.99) < 1e-6, "0.99 of the tolerance passes");
    ok(fabs(near.max_error / (0.99 * tolerance) - 1) < 1e-6 && near.tolerance == tolerance,
       "both are told");
    s->truth.O[at] = s->truth.low_O[at] = got + 1.01 * tolerance;
    const CheckResult beyond = check(s);
    ok(!beyond.pass && beyond.wrong_elements == 1, "1.01 of it fails");
    s->truth.O[at] = s->truth.low_O[at] = got;
    const double lse_tolerance = check_lse_tolerance(&s->rows, &s->truth), LSE = s->LSE[row];
    s->truth.LSE[row] = s->truth.low_LSE[row] = LSE + 0.99 * lse_tolerance;
    const CheckResult lse = check(s);
    ok(lse.pass && fabs(lse.lse_error / lse_tolerance - 0.99) < 1e-6 &&
           lse.lse_tolerance == lse_tolerance && fabs(lse.ratio - 0.99) < 1e-6,
       "so does LSE");
    s->truth.LSE[row] = s->truth.low_LSE[row] = LSE - 1.01 * lse_tolerance;
    ok(check(s).wrong_lse == 1, "and fails");
    free_sample(s);
}

/* Against a truth of 0: an error as large as the tolerance, and the next larger one. */
static void exact_edges(void) {
    Sample *s = make(TYPE_FP16, INIT_ZEROS, 1e12);
    s->O[5] = 1; /* 2^-24, an ulp of 0 */
    CheckResult result = check(s);
    ok(result.pass && result.ratio == 1, "an error of just the tolerance passes");
    s->O[5] = 2;
    ok(check(s).wrong_elements == 1, "twice that does not");
    s->O[5] = 0;
    for (size_t r = 0; r < H * N; r++) s->LSE[r] = 0, s->truth.LSE[r] = s->truth.low_LSE[r] = 0;
    s->LSE[7] = 0x1p-18f;
    result = check(s);
    ok(result.pass && result.ratio == 1, "so with LSE");
    s->LSE[7] = nextafterf(0x1p-18f, 1);
    is_int((long long)check(s).wrong_lse, 1, "and its next number");
    free_sample(s);
}

static void infinities(void) {
    Sample *s = make(TYPE_FP16, INIT_NORMAL, 1e12);
    s->truth.LSE[7] = -INFINITY;
    ok(!check(s).pass, "a finite LSE where -inf is due fails");
    s->LSE[7] = -INFINITY;
    ok(check(s).pass, "-inf where -inf is due passes");
    s->truth.O[9 * D] = INFINITY;
    s->O[9 * D] = 0x7bff;
    ok(!check(s).pass, "a large number where inf is due fails");
    s->O[9 * D] = 0xfc00;
    ok(!check(s).pass, "-inf where inf is due fails");
    s->O[9 * D] = 0x7c00;
    ok(check(s).pass, "inf where inf is due passes");
    s->truth.O[9 * D] = NAN;
    ok(!check(s).pass, "inf where NaN is due fails");
    s->O[9 * D] = 0x7e00;
    ok(check(s).pass, "NaN where NaN is due passes");
    s->truth.low_O[11 * D] = INFINITY;
    s->O[11 * D + 1] = 0x7000;
    ok(!check(s).pass, "an infinite reference does not excuse its row");
    free_sample(s);
}

static void unchecked_rows(void) {
    Sample *s = make(TYPE_BF16, INIT_NORMAL, 64.0 * 100 * 40);
    size_t left_out = 0;
    while (left_out < s->rows.count && s->rows.index[left_out] == left_out) left_out++;
    ok(s->rows.count < 100 && check(s).pass, "%zu of 400 rows compared: passes", s->rows.count);
    s->O[left_out * D + 1] = 0xffff;
    const CheckResult result = check(s);
    ok(!result.pass && result.unwritten == 1, "a NaN in a row that was not compared: %s",
       result.reason);
    s->O[left_out * D + 1] = 0;
    s->LSE[left_out] = NAN;
    ok(check(s).unwritten == 1, "or in its LSE");
    const Outputs without_lse = {s->O, NULL};
    ok(check_outputs(&s->problem, &s->rows, &s->truth, &without_lse).pass, "unless there is none");
    s->LSE[left_out] = 0;
    const size_t ends[] = {s->rows.index[0], s->rows.index[s->rows.count - 1]};
    for (int i = 0; i < 2; i++) {
        s->O[ends[i] * D] = 0xffff;
        ok(check(s).unwritten == 0 && check(s).wrong_elements == 1 + (size_t)i,
           "one in a row that was compared is wrong, and not unwritten");
    }
    free_sample(s);
}

/* A NaN in V_150, column 7: rows 150 .. 199 must have it in column 7, the others may. */
static void nan_in_V(void) {
    Sample *s = make(TYPE_FP16, INIT_NORMAL, 1e12);
    Error error;
    const size_t sees = 170 * D + 7, before = 20 * D + 7;
    s->inputs.V[150 * D + 7] = 0x7e00;
    oracle_free(&s->truth);
    oracle_create(&s->problem, 0.125, &s->inputs, &s->rows, &s->truth, &error);
    ok(check(s).wrong_elements == 2 * 50, "a NaN that is due in 50 rows of two heads is missed");
    for (size_t r = 0; r < H * N; r++)
        if (r % N >= 150) s->O[r * D + 7] = 0x7e00;
    ok(check(s).pass, "NaN in every row that sees the key passes");
    const uint16_t due = s->O[sees];
    s->O[sees] = 0x3c00;
    ok(!check(s).pass, "a number there fails");
    s->O[sees] = due;
    const uint16_t number = s->O[before];
    s->O[before] = 0x7e00;
    ok(check(s).pass, "NaN in a row of that head before the key passes, too");
    s->O[before] = 0x7c00;
    ok(!check(s).pass, "an infinity there fails");
    s->O[before] = (uint16_t)(number ^ 0x8000);
    ok(!check(s).pass, "a wrong number there fails");
    s->O[before] = number;
    bad_element(s, before + 1, 0x7e00, "NaN in the column beside it");
    s->LSE[20] = NAN;
    ok(check(s).wrong_lse == 1, "NaN in LSE fails");
    free_sample(s);
}

/* Rows that were not compared and whose q or keys are not finite may be NaN. */
static void excused_rows(void) {
    Sample *s = make(TYPE_BF16, INIT_NORMAL, 64.0 * 100 * 40);
    Error error;
    size_t left_out = 0;
    while (s->rows.index[left_out] == left_out) left_out++;
    s->inputs.Q[left_out * D] = 0x7fc0;
    oracle_free(&s->truth);
    oracle_create(&s->problem, 0.125, &s->inputs, &s->rows, &s->truth, &error);
    for (size_t c = 0; c < D; c++) s->O[left_out * D + c] = 0x7fc0;
    s->LSE[left_out] = NAN;
    ok(check(s).pass, "a NaN that comes from a q that was not compared passes");
    size_t other = left_out + 1;
    for (size_t i = 0; i < s->rows.count; i++) other += s->rows.index[i] == other;
    s->O[other * D] = 0x7fc0;
    is_int((long long)check(s).unwritten, 1, "a NaN in another row does not");
    free_sample(s);
}

/* Rows 70 .. 127, columns 16 .. 31 of head 1 are wrong: the text must show just that. */
static void explanation(void) {
    Sample *s = make(TYPE_FP16, INIT_NORMAL, 1e12);
    char text[8192] = "";
    for (int row = 70; row < 128; row++)
        for (int column = 16; column < 32; column++) s->O[(N + row) * D + column] = 0x4400;
    FILE *out = fmemopen(text, sizeof text, "w");
    const Outputs outputs = {s->O, s->LSE};
    explain_failure(out, &s->problem, &s->rows, &s->truth, &outputs);
    fclose(out);
    ok(strstr(text, "O   batch 0 head 1 row 70 column 16: expected"), "names the first mismatch");
    ok(strstr(text, "rows     64-127    |.+..|"), "maps the wrong tile");
    ok(strstr(text, "rows    128-191    |....|"), "and the right one after it");
    ok(strstr(text, " 0:3/26 "), "counts the rows by their place in a fragment");
    ok(strstr(text, "heads with a wrong row: 1 of 2"), "counts the heads");
    if (tap_failed) printf("# %s\n", text);
    free_sample(s);
}

/* The whole text, of 100 of 400 rows: which elements, tiles, rows of a fragment and heads. */
static void whole_explanation(void) {
    Sample *s = make(TYPE_FP16, INIT_ZEROS, 64.0 * 100 * 40);
    const size_t count = s->rows.count, first = s->rows.index[count / 2];
    char text[8192] = "", expected[8192] = "  first mismatches of O:\n";
    size_t n = strlen(expected);
    const Outputs outputs = {s->O, s->LSE};
    for (size_t c = 0; c < 10; c++) s->O[first * D + 6 * c] = 0x3c00;
    s->O[first * D + 60] = 0x7e00;
    s->LSE[first] = NAN;
    s->LSE[s->rows.index[0]] = 100;
    for (int c = 0; c < 8; c++)
        n += (size_t)snprintf(expected + n, sizeof expected - n,
                              "    O   batch 0 head %zu row %zu column %d: expected 0, got 1, "
                              "tolerance 6e-08\n",
                              first / N, first % N, 6 * c);
    n += (size_t)snprintf(expected + n, sizeof expected - n,
                          "  first mismatches of LSE:\n"
                          "    LSE batch 0 head 0 row 0: expected 0, got 100, tolerance 2.1e-05\n"
                          "    LSE batch 0 head %zu row %zu: expected %.8g, got nan, tolerance "
                          "2.1e-05\n"
                          "  batch 0 head %zu in tiles of 64 rows x 16 columns ('.' right, '+' "
                          "partly wrong, '#' all wrong):\n",
                          first / N, first % N, s->truth.LSE[count / 2], first / N);
    for (size_t tile = first % N / 64 * 64; tile < N; tile += 64) {
        const char *const map = tile + 64 > first % N ? "++++" : "....";
        bool any = false;
        for (size_t r = 0; r < count; r++)
            any |= s->rows.index[r] / N == first / N && s->rows.index[r] % N / 64 * 64 == tile;
        if (any)
            n += (size_t)snprintf(expected + n, sizeof expected - n, "    rows %6zu-%-6zu |%s|\n",
                                  tile, tile + 64 <= N ? tile + 63 : (size_t)N - 1,
                                  tile == first % N / 64 * 64 ? map : "....");
    }
    n += (size_t)snprintf(expected + n, sizeof expected - n, "  wrong rows by row mod 16:");
    for (size_t place = 0; place < 16; place++) {
        int compared = 0;
        for (size_t r = 0; r < count; r++) compared += s->rows.index[r] % N % 16 == place;
        if (compared)
            n += (size_t)snprintf(expected + n, sizeof expected - n, " %zu:%d/%d", place,
                                  place == first % N % 16, compared);
    }
    snprintf(expected + n, sizeof expected - n, "\n  heads with a wrong row: 1 of 2 compared\n");
    FILE *out = fmemopen(text, sizeof text, "w");
    explain_failure(out, &s->problem, &s->rows, &s->truth, &outputs);
    fclose(out);
    is_text(text, expected, "a whole explanation");

    const Outputs right = {s->O, NULL};
    for (size_t c = 0; c < D; c++) s->O[first * D + c] = 0;
    out = fmemopen(text, sizeof text, "w");
    explain_failure(out, &s->problem, &s->rows, &s->truth, &right);
    fclose(out);
    is_text(text, "  first mismatches of O:\n    none\n", "and one of nothing");
    free_sample(s);
}

/* A head whose columns are no whole tiles, and whose first row alone is wrong. */
static void narrow_explanation(void) {
    enum { ROWS = 20, NARROW = 24 };
    const Problem p = {{1, 2, 1, ROWS, ROWS, 0.125f}, NARROW, TYPE_FP16, false};
    static uint16_t O[2 * ROWS * NARROW];
    const Outputs outputs = {O, NULL};
    char text[8192] = "";
    Inputs inputs;
    Rows rows;
    Truth truth;
    Error error;
    inputs_create(&p, INIT_NORMAL, 0, 1, 0, &inputs, &error);
    rows_choose(&p, 1, 1e12, &rows, &error);
    oracle_create(&p, 0.125, &inputs, &rows, &truth, &error);
    for (size_t i = 0; i < 2 * ROWS * NARROW; i++)
        O[i] = element_from_float(TYPE_FP16, (float)truth.low_O[i]);
    for (size_t c = 16; c < NARROW; c++) O[c] = 0x7e00;
    O[(ROWS + 5) * NARROW] = 0x7e00; /* and an element of the other head */
    FILE *out = fmemopen(text, sizeof text, "w");
    explain_failure(out, &p, &rows, &truth, &outputs);
    fclose(out);
    ok(strstr(text, "    rows      0-19     |.+|\n  wrong rows by row mod 16: 0:1/4 1:0/4 2:0/4") &&
           strstr(text, "heads with a wrong row: 2 of 2 compared\n") && strstr(text, " 5:1/2 "),
       "the first row of a narrow head");
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 16; c < NARROW; c++) O[r * NARROW + c] = 0x7e00;
    out = fmemopen(text, sizeof text, "w");
    explain_failure(out, &p, &rows, &truth, &outputs);
    fclose(out);
    ok(strstr(text, "    rows      0-19     |.#|\n") != NULL, "all of its last columns");
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
}

int main(void) {
    rms(1e12);
    rms(1e5);
    for (int init = 0; init < INITS; init++) {
        good_passes(TYPE_FP16, (Init)init);
        good_passes(TYPE_BF16, (Init)init);
    }
    bad_fails();
    large_scores();
    tolerances(TYPE_FP16, 0x1p-9);
    tolerances(TYPE_BF16, 0x1p-6);
    roundings(TYPE_FP16);
    roundings(TYPE_BF16);
    edges();
    exact_edges();
    infinities();
    unchecked_rows();
    nan_in_V();
    excused_rows();
    explanation();
    whole_explanation();
    narrow_explanation();
    return done_testing();
}
