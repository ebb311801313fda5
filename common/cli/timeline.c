#include "cli/timeline.h"

#include "base/progress.h"
#include "cli/report.h"
#include "cli/spans.h"

#include <stdlib.h>

enum {
    MOST_WARPS = 1 << 22,  /* of a grid whose size is not known yet */
    MOST_STAMPS = 1 << 16, /* of a warp */
    BYTES_GPU = 1 << 30,   /* for all stamps */
    BYTES_SIMULATED = 1 << 28,
    MOST_STAMPS_SIMULATED = 1 << 13,
};
static const double DISTORTED = 0.1; /* what the stamps may cost before the picture is wrong */

/* The two libraries and what became of them. */
typedef struct Session {
    const Options *options;
    const Device *device;
    Trial trial;
    Result results[2]; /* the stage, its copy */
    Stamps stamps;
} Session;

static bool open_both(Session *session, const Problem *problem, Error *error) {
    for (int i = 0; i < 2; i++)
        if (!stage_open(session->options->stages[i], problem, &session->results[i].stage, error))
            return false;
    return stamps_open(&session->results[1].stage, &session->stamps, error);
}

/* False, with the reason, if the stage or its copy has not passed. */
static bool passed(const Session *session, int which, Error *error) {
    const Result *result = &session->results[which];
    return result->status == STATUS_PASS ||
           error_set(error, result->status, "%s%s: %s", result->stage.name,
                     which ? ", the stamped copy" : "", result->reason);
}

static bool check(Session *session, int which, Error *error) {
    const Stage stage = session->results[which].stage;
    trial_check(&session->trial, &stage, stderr, &session->results[which]);
    return passed(session, which, error);
}

static int warps_per_block(const Stage *stage) {
    int most = 1;
    for (const AttentionKernel *kernel = stage->kernels; kernel->name; kernel++)
        if (kernel->threads / 32 > most) most = kernel->threads / 32;
    return most;
}

unsigned timeline_stamps(bool simulated, unsigned warps) {
    const size_t bytes = simulated ? BYTES_SIMULATED : BYTES_GPU;
    unsigned each = simulated ? MOST_STAMPS_SIMULATED : MOST_STAMPS;
    while (each > 2 && (size_t)warps * each * sizeof(TimelineStamp) > bytes) each /= 2;
    return each;
}

/* On a GPU a first launch says how many warps there are. The simulator looks closely at the first
 * launch alone; a grid is small there, and blocks have 16 rows or more. */
static bool make_room(Session *session, Error *error) {
    unsigned warps;
    if (session->device->simulated) {
        const size_t blocks = problem_rows(&session->trial.problem) / 16 + 512;
        const size_t most = blocks * (size_t)warps_per_block(&session->results[1].stage);
        warps = most < MOST_WARPS ? (unsigned)most : MOST_WARPS;
    } else {
        if (!stamps_create(MOST_WARPS, 1, &session->stamps, error) || !check(session, 1, error))
            return false;
        TimelineWarp *list = stamps_warps(&session->stamps, error);
        if (!list) return false;
        const int blocks = spans_blocks(list, MOST_WARPS);
        warps = blocks ? (unsigned)blocks * list[0].warps : 1;
        free(list);
    }
    const unsigned each = timeline_stamps(session->device->simulated, warps);
    return stamps_create(warps, each, &session->stamps, error);
}

static double cost(const Result results[2]) {
    return results[1].times.median / results[0].times.median - 1;
}

/* Times the stage and its copy in turn. */
static bool time_both(Session *session, Timing timing, Error *error) {
    Result *results = session->results;
    progress("timing the stage and its stamped copy");
    trial_time(&session->trial, results, 2, timing, stderr);
    progress_end();
    if (!passed(session, 0, error) || !passed(session, 1, error)) return false;
    fprintf(stderr, "%s: %.4f ms, with stamps %.4f ms: the stamps cost %.1f %%%s\n",
            results[0].stage.name, results[0].times.median, results[1].times.median,
            100 * cost(results), cost(results) > DISTORTED ? ", so the picture is distorted" : "");
    return true;
}

/* The launch whose stamps are kept. */
static bool record(Session *session, Spans *spans, Error *error) {
    const Stamps *stamps = &session->stamps;
    if (!stamps_clear(stamps, error) || !check(session, 1, error)) return false;
    TimelineWarp *warps = stamps_warps(stamps, error);
    if (!warps) return false;
    const int blocks = spans_blocks(warps, stamps->warp_count);
    const int block = session->options->block;
    const bool good = spans_read(stamps, warps, block == OPTION_UNSET ? (blocks - 1) / 2 : block,
                                 !session->device->simulated, spans, error);
    free(warps);
    return good;
}

static void say_full(const Stamps *stamps, const Spans *spans) {
    int full = 0;
    for (int i = 0; i < spans->warp_count; i++) full += spans->warps[i].full;
    if (full)
        fprintf(stderr,
                "%d warps had more than %u stamps; what they did after those is not shown: choose "
                "a smaller B, H, N or NKV\n",
                full, stamps->each - 1);
}

static void write_record(const Session *session, const TrialSetup *setup, const Spans *spans) {
    const bool timed = session->results[0].timed; /* and so is the other */
    printf("{\"format\":1,\"plain\":\n");
    if (timed)
        report_json(stdout, session->device, setup, &session->results[0]);
    else
        printf("null\n");
    printf(",\"stamped\":\n");
    report_json(stdout, session->device, setup, &session->results[1]);
    if (timed)
        printf(",\"cost\":%.5f,", cost(session->results));
    else
        printf(",\"cost\":null,");
    spans_json(stdout, &session->stamps, spans);
    printf("}\n");
}

static bool run_session(Session *session, const TrialSetup *setup, Error *error) {
    const bool simulated = session->device->simulated;
    Spans spans = {0};
    if ((!simulated && !check(session, 0, error)) || !make_room(session, error) ||
        (!simulated && !time_both(session, setup->timing, error)) ||
        !record(session, &spans, error))
        return false;
    say_full(&session->stamps, &spans);
    write_record(session, setup, &spans);
    spans_free(&spans);
    return true;
}

int timeline_command(const Options *options, const Device *device) {
    Session session = {.options = options, .device = device};
    Error error;
    Problem problem;
    if (options->stage_count != 2) {
        error_set(&error, STATUS_USAGE,
                  "timeline takes two folders, a stage's and its stamped copy's, but got %d",
                  options->stage_count);
        return error_exit(&error);
    }
    if (!options_problem(options, device->simulated, &problem, &error)) return error_exit(&error);
    const TrialSetup setup = setup_of(options, &problem, ROWS_WORK_GRID);
    report_device(stderr, device);
    if (!open_both(&session, &problem, &error)) return error_exit(&error);
    bool good = trial_create(&setup, device, &session.trial, &error);
    if (good) {
        report_problem(stderr, &setup, &session.trial.rows);
        good = run_session(&session, &setup, &error);
        stamps_free(&session.stamps);
        trial_free(&session.trial);
    }
    for (int i = 0; i < 2; i++) stage_close(&session.results[i].stage);
    return good ? STATUS_PASS : error_exit(&error);
}
