#include "grid.h"

#include "progress.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_FAILURES = 10 }; /* of a stage */

static const int full_lengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 300, 1000};
static const int small_lengths[] = {1, 2, 17, 64, 65, 129, 200};
static const Init inits[] = {INIT_NORMAL, INIT_LARGE};
enum {
    FULL_LENGTHS = sizeof full_lengths / sizeof full_lengths[0],
    SMALL_LENGTHS = sizeof small_lengths / sizeof small_lengths[0],
    VARIANTS = 8,
    INITS = 2,
    COMBINATIONS = 18 /* of batch, heads and kv_heads */
};

/* batch, heads, kv_heads number 0 .. COMBINATIONS - 1. */
static void set_heads(int combination, AttentionProblem *shape) {
    enum { HEADS = COMBINATIONS / 3 };
    static const int heads[HEADS][2] = {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {3, 3}, {4, 2}};
    shape->batch = combination / HEADS + 1;
    shape->heads = heads[combination % HEADS][0];
    shape->kv_heads = heads[combination % HEADS][1];
}

typedef struct Summary {
    int cases, failed, skipped;
    double worst; /* error / tolerance */
    char skip_reason[256];
} Summary;

typedef struct Grid {
    const Options *options;
    const Device *device;
    FILE *text; /* stderr if stdout carries JSON */
    const int *lengths;
    int length_count;
    bool small;      /* each pair of lengths has one INIT, not both */
    int done, total; /* cases */
    Summary summaries[MAX_STAGES];
} Grid;

static bool wanted(int option, int value) { return option == OPTION_UNSET || option == value; }

/* Variant number 0 .. VARIANTS - 1; false if the options leave it out. */
static bool set_variant(const Options *options, int variant, Problem *problem) {
    problem->d = variant & 1 ? 128 : 64;
    problem->type = variant & 2 ? TYPE_BF16 : TYPE_FP16;
    problem->causal = variant & 4;
    problem->shape.scale = (float)(1 / sqrt(problem->d));
    return wanted(options->d, problem->d) && wanted(options->dtype, (int)problem->type) &&
           wanted(options->causal, problem->causal);
}

/* The case of this pair of lengths, variant and init, each counted whether it is wanted or not, so
 * that a case keeps its seed and heads when the options leave others out. */
static TrialSetup make_case(const Grid *grid, const Problem *problem, int pair, int variant,
                            int init) {
    const int number = (pair * VARIANTS + variant) * INITS + init;
    TrialSetup setup = {.problem = *problem,
                        .init = inits[init],
                        .seed = mix64(grid->options->seed + (uint64_t)number) >> 33,
                        .lse = number % 7 != 0,
                        .work = ROWS_WORK_GRID};
    set_heads((pair + variant * INITS + init) % COMBINATIONS, &setup.problem.shape);
    setup.problem.shape.seq_q = grid->lengths[pair / grid->length_count];
    setup.problem.shape.seq_kv = grid->lengths[pair % grid->length_count];
    return setup;
}

static void report_failure(const Grid *grid, const TrialSetup *setup, const Result *result) {
    progress_end();
    fprintf(grid->text, "FAIL %s: %s\n     repeat: attention run ", result->stage.name,
            result->reason);
    report_arguments(grid->text, setup);
    fprintf(grid->text, " %s\n", result->stage.folder);
}

static void count_result(const Grid *grid, const TrialSetup *setup, const Result *result,
                         Summary *summary) {
    summary->cases++;
    if (result->status == STATUS_SKIP) {
        if (summary->skipped++ == 0)
            snprintf(summary->skip_reason, sizeof summary->skip_reason, "%.200s", result->reason);
        return;
    }
    if (result->checked) summary->worst = fmax(summary->worst, result->check.ratio);
    if (result->status != STATUS_PASS && summary->failed++ < LISTED_FAILURES)
        report_failure(grid, setup, result);
}

/* All stages on one case. A case that does not fit the device counts as skipped. */
static void run_case(Grid *grid, const TrialSetup *setup, const Stage stages[]) {
    Trial trial;
    Error error;
    const bool created = trial_create(setup, grid->device, &trial, &error);
    for (int i = 0; i < grid->options->stage_count; i++) {
        Result result = {.stage = stages[i], .status = error.status};
        if (!stages[i].library) continue; /* counted when it did not open */
        if (created)
            trial_check(&trial, &stages[i], NULL, &result);
        else
            snprintf(result.reason, sizeof result.reason, "%s", error.text);
        count_result(grid, setup, &result, &grid->summaries[i]);
        if (grid->options->json) report_json(stdout, grid->device, &setup->problem, &result);
    }
    if (created) trial_free(&trial);
    progress("grid: case %d of %d", ++grid->done, grid->total);
}

/* Opens the variant of every stage. False: a folder does not exist. */
static bool open_stages(Grid *grid, const Problem *variant, Stage stages[], Error *error) {
    for (int i = 0; i < grid->options->stage_count; i++) {
        if (stage_open(grid->options->stages[i], variant, &stages[i], error)) continue;
        if (error->status == STATUS_USAGE) return false;
        fprintf(grid->text, "FAIL %s\n", error->text);
        grid->summaries[i].cases++;
        grid->summaries[i].failed++;
    }
    return true;
}

/* Both inits on the full grid; on the small one they take turns, unless INIT chooses. */
static bool has_init(const Grid *grid, int variant, int pair, int init) {
    if (grid->options->init != OPTION_UNSET) return grid->options->init == (int)inits[init];
    return !grid->small || (variant + pair) % INITS == init;
}

static bool run_variant(Grid *grid, int variant, Error *error) {
    Stage stages[MAX_STAGES] = {0};
    Problem problem;
    if (!set_variant(grid->options, variant, &problem)) return true;
    const bool opened = open_stages(grid, &problem, stages, error);
    for (int pair = 0; opened && pair < grid->length_count * grid->length_count; pair++) {
        for (int init = 0; init < INITS; init++) {
            if (!has_init(grid, variant, pair, init)) continue;
            const TrialSetup setup = make_case(grid, &problem, pair, variant, init);
            run_case(grid, &setup, stages);
        }
    }
    for (int i = 0; i < grid->options->stage_count; i++) stage_close(&stages[i]);
    return opened;
}

static int count_cases(const Grid *grid) {
    const int pairs = grid->length_count * grid->length_count;
    Problem problem;
    int count = 0;
    for (int variant = 0; variant < VARIANTS; variant++) {
        if (!set_variant(grid->options, variant, &problem)) continue;
        for (int i = 0; i < pairs * INITS; i++)
            count += has_init(grid, variant, i / INITS, i % INITS);
    }
    return count;
}

/* One line a stage; returns the exit code. */
static int report_summaries(const Grid *grid) {
    bool failed = false, all_skipped = true;
    for (int i = 0; i < grid->options->stage_count; i++) {
        const Summary *s = &grid->summaries[i];
        const bool skipped = s->skipped == s->cases;
        Stage stage;
        stage_name(grid->options->stages[i], &stage);
        fprintf(grid->text, "%-24s %5d cases, %d failed, %d skipped, worst error/allowed %.2f  %s",
                stage.name, s->cases, s->failed, s->skipped, s->worst,
                s->failed ? "FAIL"
                : skipped ? "SKIP"
                          : "PASS");
        fprintf(grid->text, s->skipped ? ": %s\n" : "%s\n", s->skip_reason);
        failed |= s->failed > 0;
        all_skipped &= skipped;
    }
    return failed ? STATUS_FAIL : all_skipped ? STATUS_SKIP : STATUS_PASS;
}

int grid_command(const Options *options, const Device *device) {
    Error error;
    Grid grid = {.options = options, .device = device, .text = options->json ? stderr : stdout};
    grid.small = options->grid == OPTION_UNSET ? device->simulated : options->grid == GRID_SMALL;
    grid.lengths = grid.small ? small_lengths : full_lengths;
    grid.length_count = grid.small ? SMALL_LENGTHS : FULL_LENGTHS;
    grid.total = count_cases(&grid);
    if (!options_no_shape(options, "grid", &error) ||
        (grid.total == 0 &&
         !error_set(&error, STATUS_USAGE, "INIT=%s: allowed in grid are normal and large",
                    init_name((Init)options->init))))
        return error_exit(&error);
    report_device(grid.text, device);
    for (int variant = 0; variant < VARIANTS; variant++)
        if (!run_variant(&grid, variant, &error)) return error_exit(&error);
    progress_end();
    return report_summaries(&grid);
}
