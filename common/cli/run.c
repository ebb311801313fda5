#include "cli/run.h"

#include "base/progress.h"
#include "cli/report.h"

#include <string.h>

/* Everything but results goes to stderr when stdout carries JSON or a page. */
static FILE *text_stream(const Options *options) {
    return options->json || options->counters == COUNTERS_HTML ? stderr : stdout;
}

/* The page's title: stage and problem. */
static void show_page(const TrialSetup *setup, const Result *result, FILE *out) {
    char title[512];
    FILE *text = fmemopen(title, sizeof title, "w");
    if (!text) return;
    fprintf(text, "%s: ", result->stage.name);
    report_arguments(text, setup);
    fclose(text);
    counters_annotate(out, title);
}

static void show_counters(const Options *options, const TrialSetup *setup, const Result *result) {
    FILE *out = options->json ? stderr : stdout;
    if (!result->counted || options->counters == COUNTERS_TABLE) return;
    if (options->json && options->counters == COUNTERS_SOURCE) {
        counters_lines(stdout, result->stage.name);
        return;
    }
    if (options->counters != COUNTERS_HTML) fprintf(out, "%s\n", result->stage.name);
    if (options->counters == COUNTERS_FULL)
        counters_report(out);
    else if (options->counters == COUNTERS_HTML)
        show_page(setup, result, out);
    else
        counters_annotate(out, NULL);
}

static void check_stage(const Options *options, const TrialSetup *setup, Trial *trial,
                        const char *folder, Result *result) {
    Error error;
    Stage stage;
    if (!stage_open(folder, &trial->problem, &stage, &error)) {
        *result = (Result){.stage = stage, .resources = {-1, -1, -1, -1, -1}};
        trial_set_status(result, error.status, error.text);
        return;
    }
    progress("checking %s", stage.name);
    trial_check(trial, &stage, stderr, result);
    progress_end();
    show_counters(options, setup, result);
}

static int name_width(const Options *options) {
    size_t width = sizeof "stage" - 1;
    for (int i = 0; i < options->stage_count; i++) {
        Stage stage;
        stage_name(options->stages[i], &stage);
        if (strlen(stage.name) > width) width = strlen(stage.name);
    }
    return (int)width;
}

bool run_problem(const Options *options, const Device *device, const TrialSetup *setup,
                 FILE *heading, FILE *table, Result results[], Error *error) {
    Trial trial;
    const int count = options->stage_count, width = name_width(options);
    memset(results, 0, (size_t)count * sizeof *results);
    progress("preparing inputs and oracle");
    const bool created = trial_create(setup, device, &trial, error);
    progress_end();
    if (!created) return false;
    if (heading) report_problem(heading, setup, &trial.rows);
    if (table) report_head(table, device, width);
    for (int i = 0; i < count; i++) {
        check_stage(options, setup, &trial, options->stages[i], &results[i]);
        if (table) report_row(table, device, &trial.problem, width, &results[i], NULL);
    }
    if (table) report_foot(table, device);
    if (!device->simulated) {
        progress("timing %d stages", count);
        trial_time(&trial, results, count, setup->timing, stderr);
    }
    progress_end();
    trial_free(&trial);
    for (int i = 0; i < count; i++) stage_close(&results[i].stage);
    return true;
}

int run_exit_code(const Result results[], int count) {
    bool failed = false;
    int skipped = 0;
    for (int i = 0; i < count; i++) {
        if (results[i].status == STATUS_USAGE) return STATUS_USAGE;
        failed |= results[i].status == STATUS_FAIL;
        skipped += results[i].status == STATUS_SKIP;
    }
    if (failed) return STATUS_FAIL;
    return skipped == count ? STATUS_SKIP : STATUS_PASS;
}

int run_command(const Options *options, const Device *device) {
    Error error;
    Result results[MAX_STAGES];
    Problem problem;
    if (!options_problem(options, device->simulated, &problem, &error)) return error_exit(&error);
    TrialSetup setup = setup_of(options, &problem, ROWS_WORK_RUN);
    setup.runs = options->runs;
    if (options->counters != COUNTERS_TABLE && !device->simulated) {
        fprintf(stderr, "attention: counters are the simulator's: add DEVICE=sim\n");
        return STATUS_SKIP;
    }
    report_device(text_stream(options), device);
    /* In the simulator a line of the table is all that a stage prints, unless more is asked for. */
    const bool text = !options->json && options->counters == COUNTERS_TABLE;
    const bool at_once = device->simulated && text;
    if (!run_problem(options, device, &setup, text_stream(options), at_once ? stdout : NULL,
                     results, &error))
        return error_exit(&error);
    if (!options->json && !at_once)
        report_table(text_stream(options), device, &setup.problem, results, options->stage_count);
    for (int i = 0; options->json && i < options->stage_count; i++)
        report_json(stdout, device, &setup, &results[i]);
    return run_exit_code(results, options->stage_count);
}
