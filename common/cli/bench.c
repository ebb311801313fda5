#include "cli/bench.h"

#include "cli/report.h"
#include "cli/run.h"

#include <stdio.h>

enum { TOKENS = 16384, HIDDEN = 2048 };

/* The values that a variable takes: the one that the user chose, or all of them. */
typedef struct Range {
    int values[MAX_SEQS];
    int count;
} Range;

static const Range head_sizes = {{128, 64}, 2};
static const Range masks = {{0, 1}, 2};
static const Range lengths = {{512, 1024, 2048, 4096, 8192, 16384}, 6};
static const Range lengths_of_all_inputs = {{4096, 16384}, 2};

static Range chosen(int value, Range all) {
    return value == OPTION_UNSET ? all : (Range){.values = {value}, .count = 1};
}

static Range chosen_lengths(const Options *options) {
    Range range = {.count = options->seq_count};
    for (int i = 0; i < range.count; i++) range.values[i] = options->seqs[i];
    if (range.count) return range;
    return options->init == INIT_ALL ? lengths_of_all_inputs : lengths;
}

static void show_input(const TrialSetup *setup) {
    fprintf(stderr, "%s", init_name(setup->init));
    if (setup->strength > 0) fprintf(stderr, " %g", setup->strength);
}

/* One line on stderr: TFLOP/s of the stages, in their order. */
static void show_cell(const TrialSetup *setup, const Result results[], int count) {
    const Problem *problem = &setup->problem;
    char variant[64];
    problem_variant(problem, variant, sizeof variant);
    fprintf(stderr, "%-16s seq %5d ", variant, problem->shape.seq_q);
    if (setup->init != INIT_NORMAL) fprintf(stderr, " "), show_input(setup);
    for (int i = 0; i < count; i++) {
        if (results[i].timed && results[i].status == STATUS_PASS)
            fprintf(stderr, " %.4g", report_tflops(problem, &results[i].times));
        else
            fprintf(stderr, " %s", report_status(results[i].status));
    }
    fputc('\n', stderr);
}

/* `cell` chooses d, the mask and the length. */
static int bench_input(const Options *cell, const Device *device, InputChoice input) {
    Result results[MAX_STAGES];
    Problem problem = {0};
    Error error;
    const bool valid = options_problem(cell, false, &problem, &error);
    TrialSetup setup = setup_of(cell, &problem, ROWS_WORK_GRID);
    setup.init = input.init;
    setup.strength = input.strength;
    if (!valid || !run_problem(cell, device, &setup, NULL, results, &error)) {
        fprintf(stderr, "seq %d, ", cell->seq_q);
        show_input(&setup);
        fprintf(stderr, ": ");
        return error_exit(&error);
    }
    for (int i = 0; i < cell->stage_count; i++) report_json(stdout, device, &setup, &results[i]);
    fflush(stdout);
    show_cell(&setup, results, cell->stage_count);
    return run_exit_code(results, cell->stage_count);
}

/* 1 if something failed, 2 if everything was skipped, else 0; 64 above all. */
static int worse(int a, int b) {
    if (a == STATUS_USAGE || b == STATUS_USAGE) return STATUS_USAGE;
    if (a == STATUS_FAIL || b == STATUS_FAIL) return STATUS_FAIL;
    return a == STATUS_SKIP && b == STATUS_SKIP ? STATUS_SKIP : STATUS_PASS;
}

static int bench_cell(const Options *cell, const Device *device) {
    InputChoice one;
    int count, code = STATUS_SKIP;
    const InputChoice *inputs = options_inputs(cell, &one, &count);
    for (int i = 0; i < count && code != STATUS_USAGE; i++)
        code = worse(code, bench_input(cell, device, inputs[i]));
    return code;
}

static int bench_lengths(const Options *options, const Device *device, int d, int causal) {
    const Range seqs = chosen_lengths(options);
    Options cell = *options;
    int code = STATUS_SKIP;
    cell.d = d;
    cell.causal = causal;
    cell.heads = HIDDEN / d;
    for (int i = 0; i < seqs.count && code != STATUS_USAGE; i++) {
        cell.seq_q = seqs.values[i];
        cell.batch = TOKENS / cell.seq_q;
        code = worse(code, bench_cell(&cell, device));
    }
    return code;
}

int bench_command(const Options *options, const Device *device) {
    const Range ds = chosen(options->d, head_sizes), causals = chosen(options->causal, masks);
    int code = STATUS_SKIP;
    Error error;
    if (device->simulated) {
        fprintf(stderr, "attention: bench measures times, and the simulator has none: it needs a "
                        "GPU\n");
        return STATUS_SKIP;
    }
    if (!options_no_shape(options, "bench", &error)) return error_exit(&error);
    report_device(stderr, device);
    for (int i = 0; i < ds.count; i++)
        for (int j = 0; j < causals.count && code != STATUS_USAGE; j++)
            code = worse(code, bench_lengths(options, device, ds.values[i], causals.values[j]));
    return code;
}
