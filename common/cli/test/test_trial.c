/* A trial of stages that live in this program, on the fake runtime; what they write is the
 * low-precision reference, unless they do one thing wrong. Catches: a tensor that is not compared
 * or has no bands, outputs or a workspace that are not dirty before a launch, a launch more or
 * less, a second run at the same addresses, a stage that a failure of another one takes with it. */
#include "cli/trial.h"
#include "test/fake_runtime.h"
#include "test/tap.h"

#include <limits.h>
#include <stdlib.h>

enum { D = 64, N = 20, NKV = 30, HEADS = 4, KV_HEADS = 2, SCRATCH = 300 };
enum { Q_BYTES = 2 * HEADS * N * D, KV_BYTES = 2 * KV_HEADS * NKV * D, LSE_BYTES = 4 * HEADS * N };

/* What the stage does wrong, at a byte of one of the tensors or of the workspace. */
typedef enum Where { NOWHERE, IN_Q, IN_K, IN_V, IN_O, IN_LSE, IN_WORKSPACE } Where;
static struct {
    Where where;
    long byte;
    int launch; /* 0: each */
    bool refuses, forgets;
    size_t workspace;
} bug;

/* What it saw. */
static struct {
    int launches, dirty_outputs, dirty_workspaces, moved, stale;
    unsigned char dirt[64];
    AttentionTensors tensors;
} seen;

static Trial trial;
static Device device;
static Error error;

static bool all(const void *memory, size_t bytes, unsigned char value) {
    const unsigned char *byte = memory;
    for (size_t i = 0; i < bytes; i++)
        if (byte[i] != value) return false;
    return true;
}

static void look(const AttentionTensors *t, const unsigned char *workspace) {
    seen.dirty_outputs += all(t->O, Q_BYTES, 0xff) && (!t->LSE || all(t->LSE, LSE_BYTES, 0xff));
    if (seen.launches > 1) {
        const AttentionTensors *first = &seen.tensors;
        seen.stale += trial.runs > 1 && all(first->Q, Q_BYTES, 0xff) &&
                      all(first->K, KV_BYTES, 0xff) && all(first->V, KV_BYTES, 0xff) &&
                      all(first->O, Q_BYTES, 0xff) && (!t->LSE || all(first->LSE, LSE_BYTES, 0xff));
        seen.moved += t->Q != seen.tensors.Q && t->K != seen.tensors.K && t->V != seen.tensors.V &&
                      t->O != seen.tensors.O && (!t->LSE || t->LSE != seen.tensors.LSE);
    } else {
        seen.tensors = *t;
    }
    if (!workspace) return;
    seen.dirty_workspaces += all(workspace, SCRATCH, workspace[0]);
    if (seen.launches <= (int)sizeof seen.dirt) seen.dirt[seen.launches - 1] = workspace[0];
}

static void damage(const AttentionTensors *t, void *workspace) {
    const void *const tensors[] = {NULL, t->Q, t->K, t->V, t->O, t->LSE, workspace};
    if (bug.where && (bug.launch == 0 || bug.launch == seen.launches))
        ((unsigned char *)(uintptr_t)tensors[bug.where])[bug.byte] ^= 0x80;
}

static cudaError_t launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                          cudaStream_t stream) {
    uint16_t *O = t->O;
    (void)p, (void)stream;
    fake_launch();
    seen.launches++;
    look(t, workspace);
    if (bug.forgets && seen.launches == bug.launch) return cudaSuccess;
    for (size_t i = 0; i < Q_BYTES / sizeof *O; i++)
        O[i] = element_from_float(TYPE_FP16, (float)trial.truth.low_O[i]);
    for (size_t r = 0; t->LSE && r < HEADS * N; r++) t->LSE[r] = (float)trial.truth.low_LSE[r];
    damage(t, workspace);
    return cudaSuccess;
}

static const char *supports(const AttentionProblem *p, int compute_capability) {
    (void)compute_capability;
    if ((double)p->batch * p->heads > INT_MAX) return "needs more than 2^31 - 1 blocks";
    return bug.refuses ? "has no time, at 100 %d" : NULL;
}

static size_t workspace_bytes(const AttentionProblem *p) {
    (void)p;
    return bug.workspace;
}

static const AttentionKernel kernels[] = {{"fake", &trial, 32, 0}, {NULL, NULL, 0, 0}};
static const Stage stage = {.name = "01_test",
                            .kernels = kernels,
                            .supports = supports,
                            .workspace_bytes = workspace_bytes,
                            .launch = launch};

static bool create(bool lse, int runs) {
    const TrialSetup setup = {.problem = {{1, HEADS, KV_HEADS, N, NKV, 0.125f}, D, TYPE_FP16, true},
                              .init = INIT_NORMAL,
                              .seed = 1,
                              .lse = lse,
                              .work = 1e12,
                              .runs = runs};
    memset(&seen, 0, sizeof seen);
    return trial_create(&setup, &device, &trial, &error);
}

static Result check(bool lse, int runs) {
    Result result = {.status = STATUS_USAGE};
    if (create(lse, runs)) trial_check(&trial, &stage, NULL, &result);
    trial_free(&trial);
    return result;
}

static void inputs(void) {
    Inputs expected;
    create(true, 1);
    inputs_create(&trial.problem, INIT_NORMAL, 0, 1, 0, &expected, &error);
    ok(memcmp(trial.inputs.Q, expected.Q, Q_BYTES) == 0 &&
           memcmp(trial.inputs.K, expected.K, KV_BYTES) == 0 &&
           memcmp(trial.Q.data, expected.Q, Q_BYTES) == 0 &&
           memcmp(trial.V.data, expected.V, KV_BYTES) == 0,
       "the inputs of the seed, here and on the device");
    inputs_free(&expected);
    trial_free(&trial);
}

static void right(void) {
    Result result = check(true, 1);
    ok(result.status == STATUS_PASS && !result.reason[0] && result.checked, "a right stage passes");
    ok(seen.launches == 1 && seen.dirty_outputs == 1, "one launch, all of its outputs NaN before");
    is_int((long long)result.checked_rows, HEADS * N, "all rows are checked");
    ok(result.check.ratio > 0 && !result.timed && !result.counted, "what is known of it");
    is_text(result.stage.name, "01_test", "and its name");
    result = check(false, 1);
    ok(result.status == STATUS_PASS && !seen.tensors.LSE && seen.dirty_outputs == 1, "without LSE");
    bug.workspace = SCRATCH;
    result = check(true, 9);
    ok(result.status == STATUS_PASS && seen.launches == 9, "nine runs are nine launches");
    ok(seen.dirty_outputs == 9 && seen.dirty_workspaces == 9, "each with dirty memory");
    int same = 0, kinds = 0;
    bool known[256] = {false};
    for (int i = 0; i < 9; i++) {
        same += i > 0 && seen.dirt[i] == seen.dirt[i - 1];
        kinds += !known[seen.dirt[i]];
        known[seen.dirt[i]] = true;
    }
    ok(same == 0 && kinds == 4 && known[0] && known[255], "a workspace is never twice the same");
    static const unsigned char dirt[] = {0x5a, 0xff, 0x00, 0xa5};
    ok(memcmp(seen.dirt, dirt, 4) == 0 && memcmp(seen.dirt + 4, dirt, 4) == 0, "in four turns");
    ok(seen.moved == 8 && seen.stale == 8,
       "and all runs but the first have their tensors elsewhere, and NaN where they were");
    bug.workspace = 0;
}

/* Bytes that must stay as they are. */
static void forbidden(void) {
    static const struct {
        Where where;
        const char *name;
        long bytes;
        bool input;
    } places[] = {
        {IN_Q, "Q", Q_BYTES, true},        {IN_K, "K", KV_BYTES, true},
        {IN_V, "V", KV_BYTES, true},       {IN_O, "O", Q_BYTES, false},
        {IN_LSE, "LSE", LSE_BYTES, false}, {IN_WORKSPACE, "the workspace", SCRATCH, false}};
    bug.workspace = SCRATCH;
    for (int i = 0; i < 6; i++) {
        const long bytes[] = {-1, places[i].bytes, 0, places[i].bytes - 1};
        bug.where = places[i].where;
        for (int b = 0; b < (places[i].input ? 4 : 2); b++) {
            char expected[64];
            bug.byte = bytes[b];
            snprintf(expected, sizeof expected, b < 2 ? "wrote outside %s" : "changed %s, which",
                     places[i].name);
            const Result result = check(true, 1);
            ok(result.status == STATUS_FAIL && strstr(result.reason, expected), "byte %ld: %s",
               bytes[b], result.reason);
        }
    }
    bug.where = NOWHERE;
    bug.workspace = 0;
}

/* A later run that differs; an output that is not written. */
static void moves(void) {
    static const Where outputs[] = {IN_O, IN_LSE};
    for (int i = 0; i < 2; i++)
        for (bug.launch = 2; bug.launch <= 4; bug.launch += 2) {
            char expected[64];
            bug.where = outputs[i];
            bug.byte = 9;
            snprintf(expected, sizeof expected, "run %d differs from run 1 in 1 ", bug.launch);
            const Result result = check(true, 4);
            ok(result.status == STATUS_FAIL && strstr(result.reason, expected), "%s",
               result.reason);
            is_int(seen.launches, bug.launch, "and that ends it");
        }
    bug.where = NOWHERE;
    bug.forgets = true;
    bug.launch = 1;
    const Result result = check(true, 4);
    ok(result.status == STATUS_FAIL && result.check.wrong_elements == Q_BYTES / 2 &&
           seen.launches == 1,
       "a launch that writes nothing");
    bug.forgets = false;
    bug.launch = 0;
}

/* The second copy fits, just or just not. */
static void staying(void) {
    static const char *const memory[] = {"36160", "36159"};
    for (int i = 0; i < 2; i++) {
        Result result = {.status = STATUS_USAGE};
        setenv("FAKE_MEMORY", "36160", 1);
        ok(create(true, 2), "a problem that fits, just");
        setenv("FAKE_MEMORY", memory[i], 1);
        trial_check(&trial, &stage, NULL, &result);
        ok(result.status == STATUS_PASS && seen.launches == 2 && seen.moved == !i,
           "with %s bytes for a second copy: %s", memory[i], result.reason);
        trial_free(&trial);
    }
    unsetenv("FAKE_MEMORY");
}

static void refusals(void) {
    bug.refuses = true;
    Result result = check(true, 1);
    ok(result.status == STATUS_FAIL && strstr(result.reason, "(\"has no time, at 100 %d\")") &&
           !seen.launches,
       "a refusal without a reason");
    bug.refuses = false;
    bug.workspace = (size_t)1 << 40;
    result = check(true, 1);
    ok(result.status == STATUS_FAIL &&
           strstr(result.reason, "asks for a workspace of 1099511627776 bytes; the limit") &&
           !seen.launches,
       "a workspace beyond all measure");
    bug.workspace = 1 << 20;
    setenv("FAKE_MEMORY", "1000000", 1);
    result = check(true, 1);
    ok(result.status == STATUS_SKIP, "one that does not fit: %s", result.reason);
    is_text(result.reason,
            "its workspace needs 1048576 bytes (0.0 GiB) of device memory, 1000000 bytes (0.0 GiB) "
            "are free: choose a smaller B, H, N or NKV",
            "with both numbers");
    setenv("FAKE_MEMORY", "10000", 1);
    ok(!create(true, 1) && error.status == STATUS_SKIP && strstr(error.text, "the problem needs"),
       "a problem that does not fit: %s", error.text);
    unsetenv("FAKE_MEMORY");
    bug.workspace = 0;
}

/* ---- Times ----------------------------------------------------------------------------------- */

static Result results[3];

/* Checks and times three results of the one stage; the second one is as it is given. */
static void time_three(Status second) {
    create(true, 1);
    for (int i = 0; i < 3; i++) {
        results[i] = (Result){.stage = stage};
        trial_check(&trial, &stage, NULL, &results[i]);
    }
    results[1].status = second;
    memset(&seen, 0, sizeof seen);
    seen.tensors = trial.tensors;
    trial_time(&trial, results, 3, (Timing){.reps = 4}, NULL);
}

static void times(void) {
    bug.workspace = SCRATCH;
    time_three(STATUS_SKIP);
    trial_free(&trial);
    ok(results[0].timed && results[2].timed && !results[1].timed, "what passed is timed");
    ok(results[0].times.count == 4 && results[0].times.median == 60 &&
           results[0].status == STATUS_PASS,
       "and passes, with its time");
    is_int(seen.launches, 2 * (1 + 4 + 1), "each to warm up, four times, and once more at the end");
    ok(seen.dirty_workspaces >= seen.launches - 2, "all with a workspace, dirty but to warm up");
    ok(seen.dirty_outputs > 4 && seen.dirty_outputs < seen.launches,
       "%d of the launches begin with NaN", seen.dirty_outputs);
    for (bug.launch = 3; bug.launch <= 4; bug.launch++) {
        bug.forgets = true;
        time_three(STATUS_PASS);
        ok(trial.Q.data && trial.tensors.Q == trial.Q.data, "the tensors are there again");
        trial_free(&trial);
        bug.forgets = false;
    }
    bug.launch = 0;
    bug.workspace = 0;
}

/* The first launch of the second stage's last check, at other addresses. */
static void after_times(void) {
    bug.launch = 3 * (1 + 4) + 2;
    bug.where = IN_O;
    bug.byte = 1;
    time_three(STATUS_PASS);
    trial_free(&trial);
    ok(results[0].status == STATUS_PASS && results[1].status == STATUS_FAIL &&
           results[2].status == STATUS_PASS,
       "wrong after the times: %s", results[1].reason);
    bug.where = NOWHERE;
    bug.forgets = true;
    bug.launch = 1 + 4;
    bool any = false;
    for (bug.launch = 4; bug.launch < 16; bug.launch++) {
        time_three(STATUS_PASS);
        trial_free(&trial);
        int failed = 0;
        for (int i = 0; i < 3; i++) {
            if (results[i].status == STATUS_FAIL) failed++;
            if (results[i].status == STATUS_PASS)
                is_text(results[i].timed ? "" : results[i].reason,
                        results[i].timed ? "" : "not timed, because another stage failed",
                        "another one has passed");
        }
        any = any || failed == 1;
    }
    ok(any, "wrong while it is timed");
    bug.forgets = false;
    bug.launch = 0;
}

int main(void) {
    device_open(0, &device, &error);
    device.limit = 1;
    inputs();
    right();
    forbidden();
    moves();
    staying();
    refusals();
    times();
    after_times();
    return done_testing();
}
