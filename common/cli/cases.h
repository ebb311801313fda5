/* Many problems, each tried on all the stages: what the commands `grid`, `fuzz` and `repeat` share.
 */
#ifndef CASES_H
#define CASES_H

#include "cli/trial.h"

enum { VARIANTS = 8 };

/* What became of one stage. */
typedef struct Tally {
    int cases, failed, skipped;
    double worst; /* error / tolerance */
    char skip_reason[256];
} Tally;

typedef struct Cases {
    const Options *options;
    const Device *device;
    FILE *text;    /* stderr if stdout carries JSON */
    int patience;  /* failures of a stage that are reported; after them it is left out */
    bool thorough; /* it is not: its further failures are counted */
    char variant[VARIANT_NAME];
    Stage stages[MAX_STAGES]; /* of that variant; open if they have a library */
    Tally tallies[MAX_STAGES];
    /* Called after a case for each stage that failed on it, which is open; cases_print_failure, or
     * what ends with it. */
    void (*failed)(const struct Cases *cases, const TrialSetup *setup, const Result *result);
} Cases;

/* Variant number 0 .. VARIANTS - 1: d, type, mask and the default scale. False if the options leave
 * it out. */
bool cases_variant(const Options *options, int variant, Problem *problem);

/* Prints the device and sets all but `patience`, `thorough`, which is false, and `failed`. */
void cases_begin(const Options *options, const Device *device, Cases *cases);

/* Tries every stage that is not left out. A case that does not fit the device counts as skipped. A
 * stage that cannot be opened fails once a variant. False: a stage's folder does not exist. */
bool cases_try(Cases *cases, const TrialSetup *setup, Error *error);

/* Tries one open stage and fills `result`, and nothing else. */
void cases_try_one(const Device *device, const TrialSetup *setup, const Stage *stage,
                   Result *result);

/* True as long as a stage is left and the device works. */
bool cases_go_on(const Cases *cases);

/* The stage, what was wrong, and the line that repeats it. A stage's first failure is tried
 * once more alone: it may pass where no other launch came before. */
void cases_print_failure(const Cases *cases, const TrialSetup *setup, const Result *result);

/* One line per stage; closes them and returns the exit code. */
int cases_end(Cases *cases);

#endif
