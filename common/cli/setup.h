/* What a trial is to prepare: a problem and how it is filled, checked and timed. */
#ifndef SETUP_H
#define SETUP_H

#include "cli/options.h"
#include "device/timer.h"
#include "truth/inputs.h"
#include "truth/problem.h"

typedef struct TrialSetup {
    Problem problem;
    Init init;
    double strength; /* 0: that of the init */
    uint64_t seed;
    bool lse;    /* ask the stages for LSE */
    double work; /* the oracle's limit, see rows.h */
    int runs;    /* of each stage, compared bit for bit; 0 is 1 */
    Timing timing;
    const char *regime; /* of a bench, only reported; NULL: none */
} TrialSetup;

/* What the options say of the problem's inputs and outputs, for one run of each stage. The commands
 * change what they choose themselves. */
TrialSetup setup_of(const Options *options, const Problem *problem, double work);

#endif
