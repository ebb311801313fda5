/* One problem prepared once, on the host and on the device, and stages tried on it. */
#ifndef TRIAL_H
#define TRIAL_H

#include "cli/setup.h"
#include "device/buffer.h"
#include "device/counters.h"
#include "device/device.h"
#include "device/stage.h"
#include "device/timer.h"
#include "truth/check.h"

enum { TENSORS = 5 }; /* Q, K, V, O, LSE */

/* What is known of a stage after it was tried. */
typedef struct Result {
    Stage stage; /* its names are valid; the library may be closed */
    Status status;
    char reason[1024]; /* why it failed or was skipped; "" if it passed */
    bool checked;      /* `check` holds a verdict */
    CheckResult check;
    size_t checked_rows;
    StageResources resources;
    bool timed; /* `times` holds times */
    Times times;
    bool counted; /* `counters` holds counters */
    Counters counters;
} Result;

typedef struct Trial {
    Problem problem;
    const Device *device;
    Inputs inputs;
    Rows rows;
    Truth truth;
    Buffer Q, K, V, O, LSE;
    Buffer moved[TENSORS]; /* where they were before */
    AttentionTensors tensors;
    uint16_t *host_O;
    float *host_LSE; /* NULL: the stages run with LSE = NULL */
    int runs;
    uint16_t *first_O; /* of the first of several runs */
    float *first_LSE;
} Trial;

/* Inputs, rows, truth and the tensors on the device. Too little memory: STATUS_SKIP with the bytes
 * needed and free. Too large to simulate: STATUS_SKIP, before anything is prepared. On an error
 * there is nothing to free, and trial_free may be called. */
bool trial_create(const TrialSetup *setup, const Device *device, Trial *trial, Error *error);

/* Runs the stage and fills `result`: outputs set to NaN before, the workspace dirty; guards, inputs
 * and results checked after, counters read. Then runs it again, if the setup said so, with the
 * tensors at other addresses, and compares the bits of O and LSE with those of the first run;
 * simulated, simulator_vary changes what may change before each run. A failure is explained on
 * `explain`, unless that is NULL. If the device does not survive the stage, it is reset and the
 * tensors are written again; if that does not help, the stages to come are skipped. */
void trial_check(Trial *trial, const Stage *stage, FILE *explain, Result *result);

/* Times the stages of the results that passed, in turn. Some of the launches that are timed begin
 * with NaN in the outputs, and what they wrote is checked; at the end each stage is checked once
 * more, at other addresses. One that cannot
 * be timed has not passed. At most MAX_STAGES results. */
void trial_time(Trial *trial, Result results[], int count, Timing timing, FILE *explain);

void trial_free(Trial *trial);

/* The verdict on a stage, with its reason. */
void trial_set_status(Result *result, Status status, const char *reason);

#endif
