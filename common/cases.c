#include "cases.h"

#include "progress.h"
#include "report.h"

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
    return cases->tallies[stage].failed >= cases->patience;
}

bool cases_go_on(const Cases *cases) {
    Error lost;
    for (int i = 0; i < cases->options->stage_count; i++)
        if (!left_out(cases, i)) return device_usable(&lost);
    return false;
}

void cases_print_failure(const Cases *cases, const TrialSetup *setup, const Result *result) {
    progress_end();
    fprintf(cases->text, "FAIL %s: %s\n     repeat: attention run ", result->stage.name,
            result->reason);
    report_arguments(cases->text, setup);
    fprintf(cases->text, "%s %s\n", cases->device->simulated ? " DEVICE=sim" : "",
            result->stage.folder);
}

static void set_error(const Error *error, Result *result) {
    result->status = error->status;
    snprintf(result->reason, sizeof result->reason, "%s", error->text);
}

static void open_and_check(Trial *trial, const char *folder, Result *result) {
    Error error;
    Stage stage;
    if (stage_open(folder, &trial->problem, &stage, &error))
        trial_check(trial, &stage, NULL, result);
    else
        set_error(&error, result);
    stage_close(&stage);
}

void cases_try_one(const Device *device, const TrialSetup *setup, const char *folder,
                   Result *result) {
    Error error;
    Trial trial;
    *result = (Result){.resources = {-1, -1, -1, -1}};
    stage_name(folder, &result->stage);
    if (!trial_create(setup, device, &trial, &error)) {
        set_error(&error, result);
        return;
    }
    open_and_check(&trial, folder, result);
    trial_free(&trial);
}

static void count(const Result *result, Tally *tally) {
    tally->cases++;
    tally->failed += result->status == STATUS_FAIL;
    if (result->checked) tally->worst = fmax(tally->worst, result->check.ratio);
    if (result->status == STATUS_SKIP && tally->skipped++ == 0)
        snprintf(tally->skip_reason, sizeof tally->skip_reason, "%.200s", result->reason);
}

bool cases_try(Cases *cases, const TrialSetup *setup, Error *error) {
    const Options *options = cases->options;
    Result results[MAX_STAGES];
    Trial trial;
    const bool created = trial_create(setup, cases->device, &trial, error);
    for (int i = 0; i < options->stage_count; i++) {
        Result *result = &results[i];
        *result = (Result){.resources = {-1, -1, -1, -1}};
        if (left_out(cases, i)) continue;
        stage_name(options->stages[i], &result->stage);
        if (created)
            open_and_check(&trial, options->stages[i], result);
        else
            set_error(error, result);
        if (result->status == STATUS_USAGE)
            return error_set(error, STATUS_USAGE, "%s", result->reason);
        count(result, &cases->tallies[i]);
        if (options->json) report_json(stdout, cases->device, &setup->problem, result);
    }
    if (created) trial_free(&trial);
    for (int i = 0; i < options->stage_count; i++)
        if (results[i].status == STATUS_FAIL) cases->failed(cases, setup, &results[i]);
    return true;
}

int cases_end(const Cases *cases) {
    const int stages = cases->options->stage_count;
    int failed = 0, all_skipped = 0;
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
        failed += t->failed > 0;
        all_skipped += skipped;
    }
    return failed ? STATUS_FAIL : all_skipped == stages ? STATUS_SKIP : STATUS_PASS;
}
