#include "cli/repeat.h"

#include "base/progress.h"
#include "cli/cases.h"

#include <limits.h>

enum { SHAPES = 3, RUNS_GPU = 100, RUNS_SIMULATED = 2 };

/* batch, heads, kv_heads, seq_q, seq_kv. A block takes 64 rows or more, a GPU a few hundred blocks
 * at once. */
static const AttentionProblem on_gpu[SHAPES] = {
    {.batch = 4, .heads = 16, .kv_heads = 4, .seq_q = 1000, .seq_kv = 1000},
    {.batch = 8, .heads = 24, .kv_heads = 3, .seq_q = 130, .seq_kv = 2111},
    {.batch = 16, .heads = 16, .kv_heads = 16, .seq_q = 513, .seq_kv = 65},
};
static const AttentionProblem in_simulator[SHAPES] = {
    {.batch = 1, .heads = 2, .kv_heads = 1, .seq_q = 200, .seq_kv = 200},
    {.batch = 2, .heads = 3, .kv_heads = 1, .seq_q = 17, .seq_kv = 400},
    {.batch = 2, .heads = 2, .kv_heads = 2, .seq_q = 129, .seq_kv = 65},
};

const AttentionProblem *repeat_shapes(bool simulated, int *count) {
    *count = SHAPES;
    return simulated ? in_simulator : on_gpu;
}

static int chosen_variants(const Options *options) {
    Problem problem;
    int chosen = 0;
    for (int i = 0; i < VARIANTS; i++) chosen += cases_variant(options, i, &problem);
    return chosen;
}

/* A run alone would differ from nothing, and pass. */
static bool compares(const TrialSetup *setup, Error *error) {
    return setup->runs > 1 ||
           error_set(error, STATUS_USAGE,
                     "RUNS=%d: repeat compares runs; allowed are whole numbers from 2 to %d",
                     setup->runs, INT_MAX);
}

int repeat_command(const Options *options, const Device *device) {
    const int usual = device->simulated ? RUNS_SIMULATED : RUNS_GPU;
    int count, done = 0;
    const AttentionProblem *const shapes = repeat_shapes(device->simulated, &count);
    Cases cases;
    Error error;
    TrialSetup setup = setup_of(options, &(Problem){0}, ROWS_WORK_GRID);
    setup.runs = options->runs == OPTION_UNSET ? usual : options->runs;
    if (!options_no_shape(options, "repeat", &error) || !compares(&setup, &error))
        return error_exit(&error);
    cases_begin(options, device, &cases);
    cases.patience = 10;
    cases.failed = cases_print_failure;
    fprintf(cases.text, "repeat   RUNS=%d%s\n", setup.runs,
            device->simulated ? ", each with another order of blocks, warps and copies" : "");
    for (int i = 0; i < VARIANTS * count && cases_go_on(&cases); i++) {
        setup.problem.shape = shapes[i % count];
        if (!cases_variant(options, i / count, &setup.problem)) continue;
        progress("repeat: case %d of %d", ++done, chosen_variants(options) * count);
        if (!cases_try(&cases, &setup, &error)) return error_exit(&error);
    }
    return cases_end(&cases);
}
