/* The functions that reference/peers.py calls. Catches: cells or inputs that are not those of a
 * bench, more than there is room for, a problem that is none and is tried, an error that is not
 * that of the rows compared, a refusal without a sentence. */
#include "cli/library.h"
#include "cli/regimes.h"
#include "truth/check.h"
#include "test/tap.h"

static char reason[LIBRARY_REASON];

static void lists(void) {
    LibraryCell cells[MAX_CELLS];
    LibraryInput inputs[32];
    char *const decode[] = {"REGIME=decode", "D=64", "CAUSAL=0"};
    Cell expected[MAX_CELLS];
    Options options;
    Error error;
    options_parse(3, decode, &options, &error);
    const int count = regimes_cells(&options, expected, &error);
    is_int(library_cells(3, decode, MAX_CELLS, cells, reason), count, "the cells of a regime");
    const Problem *p = &expected[0].problem;
    ok(cells[0].d == 64 && !cells[0].causal && strcmp(cells[0].regime, "decode") == 0 &&
           cells[0].shape.batch == p->shape.batch && cells[0].shape.heads == p->shape.heads &&
           cells[0].shape.kv_heads == p->shape.kv_heads && cells[0].shape.scale == p->shape.scale &&
           cells[0].shape.seq_q == p->shape.seq_q && cells[0].shape.seq_kv == p->shape.seq_kv &&
           cells[0].flops == problem_flops(p) && cells[0].bytes == (double)problem_bytes(p),
       "with all of the first");
    is_int(library_cells(3, decode, count, cells, reason), count, "in room for just those");
    ok(library_cells(3, decode, count - 1, cells, reason) == 0 && strstr(reason, " shapes are too"),
       "no room for one: %s", reason);
    char *const wrong[] = {"REGIME=none"};
    ok(library_cells(1, wrong, MAX_CELLS, cells, reason) == 0 && strstr(reason, "REGIME=none"),
       "no such regime: %s", reason);
    char *const none[] = {"REGIME=prefill", "CAUSAL=0"};
    ok(library_cells(2, none, MAX_CELLS, cells, reason) == 0 && strstr(reason, "has no shape"),
       "no such cell: %s", reason);
    ok(library_inputs(1, wrong, 32, inputs, reason) == 0 && strstr(reason, "REGIME=none"),
       "nor are there inputs then");
    char *const sink[] = {"INIT=sink", "STRENGTH=30"};
    ok(library_inputs(2, sink, 32, inputs, reason) == 1 && inputs[0].init == INIT_SINK &&
           inputs[0].strength == 30 && strcmp(inputs[0].name, "sink") == 0,
       "one input");
    char *const every[] = {"INIT=all"};
    ok(library_inputs(1, every, 32, inputs, reason) == 10 && inputs[0].init == INIT_NORMAL,
       "ten inputs");
    is_int(library_inputs(1, every, 10, inputs, reason), 10, "in room for just those");
    ok(library_inputs(1, every, 9, inputs, reason) == 0 &&
           strcmp(reason, "10 inputs are too many: at most 9") == 0,
       "no room for one: %s", reason);
}

static void truth(void) {
    enum { ROWS = 2 * 9, D = 64, KEYS = 7 };
    const AttentionProblem shape = {1, 2, 1, 9, KEYS, 0.125f}, none = {1, 3, 2, 9, KEYS, 0.125f};
    const LibraryInput input = {INIT_ONEHOT, 0, "onehot"};
    uint16_t Q[ROWS * D], K[KEYS * D], V[KEYS * D], O[ROWS * D];
    ok(!library_open(&none, D, false, false, &input, 1, reason) && strstr(reason, "HKV=2"),
       "a problem that is none: %s", reason);
    void *library = library_open(&shape, D, false, false, &input, 1, reason);
    if (!ok(library != NULL, "a problem")) return;
    is_int((long long)library_rows(library), ROWS, "all rows are compared");
    library_copy(library, Q, K, V);
    ok(memcmp(Q, K, 2 * D) == 0 && V[D] == 0x3c00,
       "its tensors: row 0 is key 0, V_1 begins with 1");
    for (int row = 0; row < ROWS; row++) memcpy(O + row * D, V + row % 9 % KEYS * D, 2 * D);
    is_near(library_rms_error(library, O), 0, 1e-6, "O is V of the key that the row selects");
    for (int c = 0; c < D; c++) O[c] = 0x4000;
    const double error = library_rms_error(library, O);
    ok(error > 0.3 && error < 0.6, "a row of 2 is an error of %.3f", error);
    library_close(library);

    const Problem p = {shape, D, TYPE_BF16, true};
    const LibraryInput sink = {INIT_SINK, 30, "sink"};
    Inputs expected;
    Error why;
    library = library_open(&shape, D, true, true, &sink, 5, reason);
    library_copy(library, Q, K, V);
    inputs_create(&p, INIT_SINK, 30, 5, 1, &expected, &why);
    ok(memcmp(Q, expected.Q, sizeof Q) == 0 && memcmp(K, expected.K, sizeof K) == 0 &&
           memcmp(V, expected.V, sizeof V) == 0,
       "the tensors of a type, a strength and a seed");
    for (size_t r = 0; r < 2; r++) memcpy(O + r * 9 * D, V, 2 * D);
    memset(O + D, 0, 2 * D);
    memset(O + 10 * D, 0, 2 * D);
    Rows rows;
    Truth truth_of;
    rows_choose(&p, 5, 1e9, &rows, &why);
    oracle_create(&p, (double)shape.scale, &expected, &rows, &truth_of, &why);
    is_near(library_rms_error(library, O), check_rms_error(&p, &rows, &truth_of, O), 0,
            "and the error of its mask");
    oracle_free(&truth_of);
    rows_free(&rows);
    inputs_free(&expected);
    library_close(library);
}

int main(void) {
    lists();
    truth();
    return done_testing();
}
