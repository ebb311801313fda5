#include "cli/bench.h"

#include "cli/regimes.h"
#include "cli/report.h"
#include "cli/run.h"

#include <stdio.h>

static void show_input(const TrialSetup *setup) {
    fprintf(stderr, "%s", init_name(setup->init));
    if (setup->strength > 0) fprintf(stderr, " %g", setup->strength);
}

/* The variant and the shape; of a square cell its length says all. */
static void show_shape(const Cell *cell) {
    const AttentionProblem *s = &cell->problem.shape;
    char variant[VARIANT_NAME];
    problem_variant(&cell->problem, variant, sizeof variant);
    if (cell->regime == REGIME_SQUARE)
        fprintf(stderr, "%-16s seq %5d ", variant, s->seq_q);
    else
        fprintf(stderr, "%-7s %-16s B=%d H=%d HKV=%d N=%d NKV=%d ", regime_name(cell->regime),
                variant, s->batch, s->heads, s->kv_heads, s->seq_q, s->seq_kv);
}

/* One line on stderr: TFLOP/s of the stages, in their order. */
static void show_cell(const Cell *cell, const TrialSetup *setup, const Result results[],
                      int count) {
    show_shape(cell);
    if (setup->init != INIT_NORMAL) fprintf(stderr, " "), show_input(setup);
    for (int i = 0; i < count; i++) {
        if (results[i].timed && results[i].status == STATUS_PASS)
            fprintf(stderr, " %.4g", report_tflops(&cell->problem, &results[i].times));
        else
            fprintf(stderr, " %s", report_status(results[i].status));
    }
    fputc('\n', stderr);
}

static int bench_input(const Options *options, const Device *device, const Cell *cell,
                       InputChoice input) {
    Result results[MAX_STAGES];
    Error error;
    TrialSetup setup = setup_of(options, &cell->problem, ROWS_WORK_GRID);
    setup.init = input.init;
    setup.strength = input.strength;
    setup.regime = regime_name(cell->regime);
    if (!run_problem(options, device, &setup, NULL, NULL, results, &error)) {
        show_shape(cell);
        show_input(&setup);
        fprintf(stderr, ": ");
        return error_exit(&error);
    }
    for (int i = 0; i < options->stage_count; i++) report_json(stdout, device, &setup, &results[i]);
    show_cell(cell, &setup, results, options->stage_count);
    return run_exit_code(results, options->stage_count);
}

/* What has happened so far. */
typedef struct Outcome {
    bool passed, failed;
} Outcome;

/* One cell, all inputs. False: a stage's folder does not exist. */
static bool bench_cell(const Options *options, const Device *device, const Cell *cell,
                       Outcome *outcome) {
    InputChoice one;
    int count;
    const InputChoice *inputs = options_inputs(options, &one, &count);
    for (int i = 0; i < count; i++) {
        const int code = bench_input(options, device, cell, inputs[i]);
        if (code == STATUS_USAGE) return false;
        outcome->passed |= code == STATUS_PASS;
        outcome->failed |= code == STATUS_FAIL;
    }
    return true;
}

int bench_command(const Options *options, const Device *device) {
    Cell cells[MAX_CELLS];
    Outcome outcome = {0};
    Error error;
    if (device->simulated) {
        fprintf(stderr, "attention: bench measures times, and the simulator has none: it needs a "
                        "GPU\n");
        return STATUS_SKIP;
    }
    if (!options_no_shape(options, "bench", &error)) return error_exit(&error);
    const int count = regimes_cells(options, cells, &error);
    if (count == 0) return error_exit(&error);
    report_device(stderr, device);
    for (int i = 0; i < count; i++)
        if (!bench_cell(options, device, &cells[i], &outcome)) return STATUS_USAGE;
    return outcome.failed ? STATUS_FAIL : outcome.passed ? STATUS_PASS : STATUS_SKIP;
}
