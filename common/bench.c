#include "bench.h"

#include "progress.h"
#include "report.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 16384, HIDDEN = 2048 };
static const int all_seqs[] = {512, 1024, 2048, 4096, 8192, 16384};

static bool setup_for(const Options *options, int seq, TrialSetup *setup, Error *error) {
    Options shaped = *options;
    *setup = (TrialSetup){.init = options_init(options),
                          .seed = options->seed,
                          .lse = options->lse != 0,
                          .work = ROWS_WORK_GRID};
    shaped.batch = TOKENS / seq;
    shaped.heads = HIDDEN / (options->d == OPTION_UNSET ? 128 : options->d);
    shaped.seq_q = seq;
    return options_problem(&shaped, false, &setup->problem, error);
}

static void print_head(const Options *options, const Device *device) {
    TrialSetup setup;
    Error error;
    setup_for(options, all_seqs[0], &setup, &error);
    printf("TFLOP/s on %s: d %d, %s, %s, %d tokens, hidden size %d\n\n| seq |", device->name,
           setup.problem.d, element_name(setup.problem.type),
           setup.problem.causal ? "causal" : "full", TOKENS, HIDDEN);
    for (int i = 0; i < options->stage_count; i++) {
        Stage stage;
        stage_name(options->stages[i], &stage);
        printf(" %s |", stage.name);
    }
    printf("\n|---:|");
    for (int i = 0; i < options->stage_count; i++) printf("---:|");
    printf("\n");
}

static void print_line(const Options *options, const Problem *problem, const Result results[]) {
    printf("| %d |", problem->shape.seq_q);
    for (int i = 0; i < options->stage_count; i++) {
        if (results[i].timed && results[i].status == STATUS_PASS)
            printf(" %.4g |", report_tflops(problem, &results[i].times));
        else
            printf(" %s |", report_status(results[i].status));
    }
    printf("\n");
    fflush(stdout);
}

static int bench_length(const Options *options, const Device *device, int seq) {
    Result results[MAX_STAGES];
    TrialSetup setup;
    Error error;
    if (!setup_for(options, seq, &setup, &error) ||
        !run_problem(options, device, &setup, NULL, results, &error)) {
        fprintf(stderr, "seq %d: ", seq);
        return error_exit(&error);
    }
    for (int i = 0; i < options->stage_count; i++) {
        if (options->json) report_json(stdout, device, &setup.problem, &results[i]);
        if (results[i].status != STATUS_PASS)
            fprintf(stderr, "%s, seq %d: %s: %s\n", results[i].stage.name, seq,
                    report_status(results[i].status), results[i].reason);
    }
    if (!options->json) print_line(options, &setup.problem, results);
    return run_exit_code(results, options->stage_count);
}

/* 1 if something failed, 2 if everything was skipped, else 0. */
static int worse(int a, int b) {
    if (a == STATUS_USAGE || b == STATUS_USAGE) return STATUS_USAGE;
    if (a == STATUS_FAIL || b == STATUS_FAIL) return STATUS_FAIL;
    return a == STATUS_SKIP && b == STATUS_SKIP ? STATUS_SKIP : STATUS_PASS;
}

int bench_command(const Options *options, const Device *device) {
    const int count =
        options->seq_count ? options->seq_count : (int)(sizeof all_seqs / sizeof all_seqs[0]);
    const int *seqs = options->seq_count ? options->seqs : all_seqs;
    int code = STATUS_SKIP;
    Error error;
    if (device->simulated) {
        fprintf(stderr, "attention: bench measures time, which the simulator has none of: it needs "
                        "a GPU\n");
        return STATUS_SKIP;
    }
    if (!options_no_shape(options, "bench", &error)) return error_exit(&error);
    report_device(stderr, device);
    if (!options->json) print_head(options, device);
    for (int i = 0; i < count && code != STATUS_USAGE; i++)
        code = worse(code, bench_length(options, device, seqs[i]));
    return code;
}
