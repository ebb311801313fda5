#include "cli/cases.h"

#include "base/progress.h"
#include "cli/alone.h"
#include "cli/report.h"
#include "device/simulator.h"

#include <math.h>
#include <string.h>

static bool wanted(int option, int value) { return option == OPTION_UNSET || option == value; }

bool cases_variant(const Options *options, int variant, Problem *problem) {
    problem->d = variant & 1 ? 128 : 64;
    problem->type = variant & 2 ? TYPE_BF16 : TYPE_FP16;
    problem->causal = variant & 4;
    problem->shape.scale = problem_scale(problem->d);
    return wanted(options->d, problem->d) && wanted(options->dtype, (int)problem->type) &&
           wanted(options->causal, problem->causal);
}

void cases_begin(const Options *options, const Device *device, Cases *cases) {
    *cases = (Cases){.options = options, .device = device, .text = options->json ? stderr : stdout};
    report_device(cases->text, device);
}

static bool left_out(const Cases *cases, int stage) {
    return !cases->thorough && cases->tallies[stage].failed >= cases->patience;
}

bool cases_go_on(const Cases *cases) {
    Error lost;
    for (int i = 0; i < cases->options->stage_count; i++)
        if (!left_out(cases, i)) return device_usable(&lost);
    return false;
}

/* Opens the variant of every stage for the problem, unless it is open. False: a folder does not
 * exist. */
static bool open_stages(Cases *cases, const Problem *problem, Error *error) {
    char variant[sizeof cases->variant];
    problem_variant(problem, variant, sizeof variant);
    if (strcmp(variant, cases->variant) == 0) return true;
    memcpy(cases->variant, variant, sizeof variant);
    for (int i = 0; i < cases->options->stage_count; i++) {
        stage_close(&cases->stages[i]);
        if (left_out(cases, i) ||
            stage_open(cases->options->stages[i], problem, &cases->stages[i], error))
            continue;
        if (error->status == STATUS_USAGE) return false;
        progress_end();
        fprintf(cases->text, "FAIL %s\n", error->text);
        cases->tallies[i].cases++;
        cases->tallies[i].failed++;
    }
    return true;
}

/* `trial` NULL: there is none, for `error`. Inputs beyond the contract say nothing of the stage. */
static void check(Trial *trial, const Error *error, const Stage *stage, Result *result) {
    *result = (Result){.stage = *stage, .resources = {-1, -1, -1, -1, -1}};
    if (trial) {
        trial_check(trial, stage, NULL, result);
    } else {
        const bool beyond = error->status == STATUS_USAGE;
        trial_set_status(result, beyond ? STATUS_SKIP : error->status, error->text);
    }
}

void cases_try_one(const Device *device, const TrialSetup *setup, const Stage *stage,
                   Result *result) {
    Error error;
    Trial trial;
    const bool created = trial_create(setup, device, &trial, &error);
    check(created ? &trial : NULL, &error, stage, result);
    trial_free(&trial);
}

/* One try is enough to know what kind of stage it is, and it takes time. */
static bool is_first_failure(const Cases *cases, const Result *result) {
    int i = 0;
    while (strcmp(cases->stages[i].folder, result->stage.folder) != 0) i++;
    return cases->tallies[i].failed == 1;
}

void cases_print_failure(const Cases *cases, const TrialSetup *setup, const Result *result) {
    progress_end();
    fprintf(cases->text, "FAIL %s: %s\n     repeat: ", result->stage.name, result->reason);
    simulator_print_settings(cases->text, setup->runs);
    fprintf(cases->text, "attention run ");
    report_arguments(cases->text, setup);
    if (cases->device->simulated) fprintf(cases->text, " DEVICE=sim");
    if (cases->device->index > 0) fprintf(cases->text, " GPU=%d", cases->device->index);
    fprintf(cases->text, " %s\n", result->stage.folder);
    if (is_first_failure(cases, result) &&
        passes_alone(cases->options, cases->device, setup, result->stage.folder))
        fprintf(cases->text,
                "     this case passes when run alone, so an earlier launch affects it: repeat the "
                "whole command\n");
}

static void count(const Result *result, Tally *tally) {
    tally->cases++;
    tally->failed += result->status == STATUS_FAIL;
    tally->worst = fmax(tally->worst, result->check.ratio);
    if (result->status == STATUS_SKIP && tally->skipped++ == 0)
        snprintf(tally->skip_reason, sizeof tally->skip_reason, "%.200s", result->reason);
}

bool cases_try(Cases *cases, const TrialSetup *setup, Error *error) {
    const int stages = cases->options->stage_count;
    Result results[MAX_STAGES];
    Trial trial;
    if (!open_stages(cases, &setup->problem, error)) return false;
    const bool created = trial_create(setup, cases->device, &trial, error);
    for (int i = 0; i < stages; i++) {
        results[i].status = STATUS_PASS;
        if (!cases->stages[i].library || left_out(cases, i)) continue;
        check(created ? &trial : NULL, error, &cases->stages[i], &results[i]);
        count(&results[i], &cases->tallies[i]);
        if (cases->options->json) report_json(stdout, cases->device, setup, &results[i]);
    }
    trial_free(&trial);
    for (int i = 0; i < stages; i++)
        if (results[i].status == STATUS_FAIL && cases->tallies[i].failed <= cases->patience)
            cases->failed(cases, setup, &results[i]);
    return true;
}

int cases_end(Cases *cases) {
    const int stages = cases->options->stage_count;
    bool failed = false;
    int all_skipped = 0;
    progress_end();
    for (int i = 0; i < stages; i++) {
        const Tally *t = &cases->tallies[i];
        const bool skipped = t->skipped == t->cases;
        Stage stage;
        stage_name(cases->options->stages[i], &stage);
        fprintf(cases->text, "%-24s %5d cases, %d failed, %d skipped, worst error/allowed %.2f  %s",
                stage.name, t->cases, t->failed, t->skipped, t->worst,
                t->failed ? "FAIL"
                : skipped ? "SKIP"
                          : "PASS");
        fprintf(cases->text, t->skipped ? ": %s\n" : "%s\n", t->skip_reason);
        failed |= t->failed > 0;
        all_skipped += skipped;
        stage_close(&cases->stages[i]);
    }
    return failed ? STATUS_FAIL : all_skipped == stages ? STATUS_SKIP : STATUS_PASS;
}
