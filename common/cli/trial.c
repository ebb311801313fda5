#include "cli/trial.h"

#include "base/progress.h"
#include "cli/refusal.h"
#include "device/simulator.h"
#include "device/stage_launch.h"
#include "truth/bits.h"
#include "truth/explain.h"

#include <stdlib.h>
#include <string.h>

void trial_set_status(Result *result, Status status, const char *reason) {
    result->status = status;
    snprintf(result->reason, sizeof result->reason, "%s", reason);
}

/* On a line of its own. */
static void say_reason(FILE *explain, const Result *result) {
    progress_end();
    fprintf(explain, "%s: %s\n", result->stage.name, result->reason);
}

/* STATUS_SKIP unless `bytes` more fit on the device. */
static bool fits(size_t bytes, const char *what, Error *error) {
    size_t available;
    if (!device_memory_free(&available, error)) return false;
    if (bytes <= available) return true;
    return error_set(error, STATUS_SKIP,
                     "%s needs %zu bytes (%.1f GiB) of device memory, %zu bytes (%.1f GiB) are "
                     "free: choose a smaller B, H, N or NKV",
                     what, bytes, (double)bytes / (1 << 30), available,
                     (double)available / (1 << 30));
}

static bool upload(Trial *trial, Error *error) {
    const Problem *p = &trial->problem;
    const size_t q_bytes = sizeof(uint16_t) * problem_q_elements(p);
    const size_t kv_bytes = sizeof(uint16_t) * problem_kv_elements(p);
    const size_t lse_bytes = trial->host_LSE ? sizeof(float) * problem_rows(p) : 0;
    if (!buffer_create("Q", q_bytes, &trial->Q, error) ||
        !buffer_create("K", kv_bytes, &trial->K, error) ||
        !buffer_create("V", kv_bytes, &trial->V, error) ||
        !buffer_create("O", q_bytes, &trial->O, error) ||
        !buffer_create("LSE", lse_bytes, &trial->LSE, error) ||
        !buffer_write(&trial->Q, trial->inputs.Q, error) ||
        !buffer_write(&trial->K, trial->inputs.K, error) ||
        !buffer_write(&trial->V, trial->inputs.V, error))
        return false;
    trial->tensors = (AttentionTensors){.Q = trial->Q.data,
                                        .K = trial->K.data,
                                        .V = trial->V.data,
                                        .O = trial->O.data,
                                        .LSE = (float *)(void *)trial->LSE.data};
    return true;
}

static void free_buffers(Trial *trial) {
    Buffer *const buffers[] = {&trial->Q, &trial->K, &trial->V, &trial->O, &trial->LSE};
    for (int i = 0; i < TENSORS; i++) {
        buffer_free(buffers[i]);
        buffer_free(&trial->moved[i]);
    }
}

static bool create_outputs(const TrialSetup *setup, uint16_t **O, float **LSE, Error *error) {
    *O = malloc(sizeof(uint16_t) * problem_q_elements(&setup->problem));
    *LSE = setup->lse ? malloc(sizeof(float) * problem_rows(&setup->problem)) : NULL;
    return (*O && (*LSE || !setup->lse)) ||
           error_set(error, STATUS_SKIP, "not enough host memory for the outputs");
}

bool trial_create(const TrialSetup *setup, const Device *device, Trial *trial, Error *error) {
    const Problem *p = &setup->problem;
    *trial = (Trial){.problem = *p, .device = device, .runs = setup->runs};
    if (!device_usable(error) || !launch_worthwhile(p, error) ||
        !fits(problem_bytes(p), "the problem", error))
        return false;
    const bool created =
        create_outputs(setup, &trial->host_O, &trial->host_LSE, error) &&
        (trial->runs <= 1 || create_outputs(setup, &trial->first_O, &trial->first_LSE, error)) &&
        inputs_create(p, setup->init, setup->strength, setup->seed, 0, &trial->inputs, error) &&
        rows_choose(p, setup->seed, setup->work, &trial->rows, error) &&
        oracle_create(p, p->shape.scale, &trial->inputs, &trial->rows, &trial->truth, error) &&
        upload(trial, error);
    if (!created) trial_free(trial);
    return created;
}

enum { ZEROS = 3 }; /* the number of a run before which the workspace is full of zeros */

/* Outputs full of NaN, and a workspace that is never twice the same: nobody may rely on what is in
 * it. */
static bool make_dirty(const Trial *trial, const Buffer *workspace, int run, Error *error) {
    static const unsigned char dirt[] = {0x5a, 0xff, [ZEROS - 1] = 0, 0xa5};
    return buffer_fill_nan(&trial->O, error) && buffer_fill_nan(&trial->LSE, error) &&
           buffer_fill(workspace, dirt[run % (int)sizeof dirt], error) &&
           device_wait(trial->device, error);
}

/* One launch with dirty outputs before it and everything it wrote read back after it. Rehearsals
 * come after the last one: between two they would hide what a launch remembers of the one before.
 */
static bool launch_once(Trial *trial, const Stage *stage, const Buffer *workspace, int run,
                        Result *result, Error *error) {
    if (trial->runs > 1) simulator_vary(run - 1);
    if (!make_dirty(trial, workspace, run - 1, error)) return false;
    counters_reset();
    const Problem *p = &trial->problem;
    const bool ran =
        launch_whole(stage, p, &trial->tensors, workspace->data, trial->device, error) &&
        (run < trial->runs ||
         launch_rehearsed(stage, p, &trial->tensors, workspace->data, trial->device, error));
    result->counted = counters_read(&result->counters);
    const Buffer *const buffers[] = {&trial->Q, &trial->K,   &trial->V,
                                     &trial->O, &trial->LSE, workspace};
    for (int i = 0; i < 6; i++)
        if (!ran || !buffer_intact(buffers[i], error)) return false;
    return buffer_unchanged(&trial->Q, trial->inputs.Q, error) &&
           buffer_unchanged(&trial->K, trial->inputs.K, error) &&
           buffer_unchanged(&trial->V, trial->inputs.V, error) &&
           buffer_read(&trial->O, trial->host_O, error) &&
           buffer_read(&trial->LSE, trial->host_LSE, error);
}

static bool create_workspace(const Trial *trial, const Stage *stage, Buffer *workspace,
                             Error *error) {
    const size_t bytes = stage_workspace_bytes(stage, &trial->problem.shape);
    *workspace = (Buffer){0};
    if (workspace_excessive(&trial->problem, bytes))
        return error_set(error, STATUS_FAIL,
                         "it asks for a workspace of %zu bytes; the limit for this problem is %.0f",
                         bytes, workspace_most(&trial->problem));
    return fits(bytes, "its workspace", error) &&
           buffer_create("the workspace", bytes, workspace, error);
}

static void compare(Trial *trial, FILE *explain, Result *result) {
    const Outputs outputs = {trial->host_O, trial->host_LSE};
    result->check = check_outputs(&trial->problem, &trial->rows, &trial->truth, &outputs);
    result->checked = true;
    result->checked_rows = trial->rows.count;
    trial_set_status(result, result->check.pass ? STATUS_PASS : STATUS_FAIL, result->check.reason);
    if (result->check.pass || !explain) return;
    say_reason(explain, result);
    explain_failure(explain, &trial->problem, &trial->rows, &trial->truth, &outputs);
    if (result->stage.number > 0) {
        const char *kernel = getenv("KERNEL"); /* make passes it on */
        fprintf(explain,
                "  a race, a missing wait or a bad access shows in: make stage%02d sanitize%s%s\n",
                result->stage.number, kernel && *kernel ? " KERNEL=" : "", kernel ? kernel : "");
    }
}

/* ---- Other addresses ------------------------------------------------------------------------- */

/* The same inputs at other addresses; at those of before there is NaN, so a stage that remembers
 * them, in a tensor map for one, gives NaN or nothing. Where the device has no memory for both, the
 * tensors stay. */
static bool move_tensors(Trial *trial, Error *error) {
    Buffer *const now[] = {&trial->Q, &trial->K, &trial->V, &trial->O, &trial->LSE};
    Buffer before[TENSORS];
    size_t available;
    if (!device_memory_free(&available, error)) return false;
    if (available < problem_bytes(&trial->problem)) return true;
    for (int i = 0; i < TENSORS; i++) {
        buffer_free(&trial->moved[i]);
        before[i] = *now[i];
        *now[i] = (Buffer){0};
    }
    if (!upload(trial, error)) {
        for (int i = 0; i < TENSORS; i++) {
            buffer_free(now[i]);
            *now[i] = before[i];
        }
        return error->status == STATUS_SKIP;
    }
    memcpy(trial->moved, before, sizeof before);
    for (int i = 0; i < TENSORS; i++)
        if (!buffer_fill_nan(&before[i], error)) return false;
    return true;
}

/* ---- Checking -------------------------------------------------------------------------------- */

static void swap_outputs(Trial *trial) {
    uint16_t *O = trial->host_O;
    float *LSE = trial->host_LSE;
    trial->host_O = trial->first_O, trial->first_O = O;
    trial->host_LSE = trial->first_LSE, trial->first_LSE = LSE;
}

/* The runs after the first, whose outputs are in host_O and host_LSE. */
static bool run_again(Trial *trial, const Stage *stage, const Buffer *workspace, Result *result,
                      Error *error) {
    if (trial->runs <= 1) return true;
    swap_outputs(trial);
    if (!move_tensors(trial, error)) return false;
    for (int run = 2; run <= trial->runs; run++) {
        const Outputs first = {trial->first_O, trial->first_LSE};
        const Outputs again = {trial->host_O, trial->host_LSE};
        if (!launch_once(trial, stage, workspace, run, result, error) ||
            !bits_equal(&trial->problem, &first, &again, run, error))
            return false;
    }
    return true;
}

/* Whether the stage is right as run number `run`. */
static bool right_in(Trial *trial, const Stage *stage, const Buffer *workspace, int run) {
    Result again = {.stage = *stage};
    Error error;
    if (!launch_once(trial, stage, workspace, run, &again, &error)) return false;
    const Outputs outputs = {trial->host_O, trial->host_LSE};
    return check_outputs(&trial->problem, &trial->rows, &trial->truth, &outputs).pass;
}

/* Of a stage that is wrong: with zeros it is right, and after that wrong again. */
static bool relies_on_zeros(Trial *trial, const Stage *stage, const Buffer *workspace) {
    return workspace->bytes > 0 && right_in(trial, stage, workspace, ZEROS) &&
           !right_in(trial, stage, workspace, ZEROS + 1);
}

/* False: `error` says why there is no verdict, or why it is not the oracle's. */
static bool run_stage(Trial *trial, const Stage *stage, Buffer *workspace, FILE *explain,
                      Result *result, Error *error) {
    if (!create_workspace(trial, stage, workspace, error) ||
        !launch_once(trial, stage, workspace, 1, result, error))
        return false;
    compare(trial, explain, result);
    if (result->status == STATUS_FAIL && explain && relies_on_zeros(trial, stage, workspace))
        fprintf(explain, "  the result is right if the workspace starts as zeros: the kernel reads "
                         "workspace that it has not written\n");
    return result->status != STATUS_PASS || run_again(trial, stage, workspace, result, error);
}

/* After a failure the tensors and their bands may be damaged and the device may be lost: the stages
 * to come get a device that works and new tensors. If that fails, their calls fail and say so. */
static void restore(Trial *trial) {
    Error error;
    free_buffers(trial);
    device_restore(trial->device);
    if (device_usable(&error)) upload(trial, &error);
}

/* Asks for the stage's resources. STATUS_SKIP if the device is lost or cannot run the stage. */
static bool runs_here(const Trial *trial, Result *result, Error *error) {
    result->resources = (StageResources){-1, -1, -1, -1, -1};
    return device_usable(error) &&
           stage_fits(&result->stage, &trial->problem, trial->device, &result->resources, error);
}

void trial_check(Trial *trial, const Stage *stage, FILE *explain, Result *result) {
    Error error;
    Buffer workspace;
    result->stage = *stage;
    if (!runs_here(trial, result, &error)) {
        trial_set_status(result, error.status, error.text);
        return;
    }
    if (!run_stage(trial, stage, &workspace, explain, result, &error)) {
        trial_set_status(result, error.status, error.text);
        if (explain && error.status == STATUS_FAIL) say_reason(explain, result);
    }
    buffer_free(&workspace);
    if (result->status == STATUS_FAIL) restore(trial);
}

/* `error` has ended the timing: in the stage in position `failed`, or if it is -1 before it began.
 * What passed and was not timed because another stage failed has passed all the same. */
static void set_not_timed(Result *const passed[], int count, int failed, const Error *error) {
    Error lost;
    for (int i = 0; i < count; i++) {
        if (i == failed || (failed < 0 && device_usable(&lost)))
            trial_set_status(passed[i], error->status, error->text);
        else
            trial_set_status(passed[i], STATUS_PASS, "not timed, because another stage failed");
    }
}

/* The stages that are being timed. */
typedef struct Timed {
    Trial *trial;
    const Buffer *workspace;
    Result *const *passed;
    int prepared;
} Timed;

static bool prepare_timed(void *context, Error *error) {
    Timed *timed = context;
    return make_dirty(timed->trial, timed->workspace, timed->prepared++, error);
}

/* What a timed launch wrote is right, too. */
static bool verify_timed(void *context, int which, Error *error) {
    Timed *timed = context;
    Trial *trial = timed->trial;
    const Outputs outputs = {trial->host_O, trial->host_LSE};
    if (!buffer_read(&trial->O, trial->host_O, error) ||
        !buffer_read(&trial->LSE, trial->host_LSE, error))
        return false;
    const CheckResult check = check_outputs(&trial->problem, &trial->rows, &trial->truth, &outputs);
    if (check.pass) return true;
    timed->passed[which]->check = check;
    return error_set(error, STATUS_FAIL, "while it was timed: %s", check.reason);
}

/* Times the `count` passed results with one workspace that is large enough for each. */
static bool time_passed(Trial *trial, Result *const passed[], int count, Timing timing,
                        Error *error) {
    const Stage *stages[MAX_STAGES];
    Times times[MAX_STAGES];
    Buffer workspace = {0};
    size_t bytes = 0;
    int failed = -1;
    for (int i = 0; i < count; i++) {
        const size_t needed = stage_workspace_bytes(&passed[i]->stage, &trial->problem.shape);
        stages[i] = &passed[i]->stage;
        bytes = needed > bytes ? needed : bytes;
    }
    Timed now = {trial, &workspace, passed, 0};
    const TimerCheck check = {prepare_timed, verify_timed, &now};
    const bool timed = device_usable(error) &&
                       buffer_create("the workspace", bytes, &workspace, error) &&
                       timer_run(&trial->problem, &trial->tensors, workspace.data, stages, count,
                                 timing, trial->device, &check, times, &failed, error);
    buffer_free(&workspace);
    if (!timed) set_not_timed(passed, count, failed, error);
    for (int i = 0; timed && i < count; i++) {
        passed[i]->timed = true;
        passed[i]->times = times[i];
    }
    return timed;
}

void trial_time(Trial *trial, Result results[], int count, Timing timing, FILE *explain) {
    Error error;
    Result *passed[MAX_STAGES];
    int passed_count = 0;
    for (int i = 0; i < count; i++)
        if (results[i].status == STATUS_PASS) passed[passed_count++] = &results[i];
    if (passed_count == 0) return;
    if (!time_passed(trial, passed, passed_count, timing, &error)) {
        progress_end();
        if (explain) fprintf(explain, "the timing ended early: %s\n", error.text);
        restore(trial);
        return;
    }
    if (!move_tensors(trial, &error)) {
        progress_end();
        if (explain)
            fprintf(explain, "the tensors could not be moved for the last check: %s\n", error.text);
        restore(trial);
    }
    for (int i = 0; i < passed_count; i++) {
        const Stage stage = passed[i]->stage;
        trial_check(trial, &stage, explain, passed[i]);
    }
}

void trial_free(Trial *trial) {
    free_buffers(trial);
    oracle_free(&trial->truth);
    rows_free(&trial->rows);
    inputs_free(&trial->inputs);
    free(trial->host_O);
    free(trial->host_LSE);
    free(trial->first_O);
    free(trial->first_LSE);
    *trial = (Trial){0};
}
