/* The command `run`: one problem, one or several stages, checked, timed on a GPU, reported. */
#ifndef RUN_H
#define RUN_H

#include "cli/trial.h"

/* Tries the stages of the options on one problem: checks each, then on a GPU times those that
 * passed in turn and checks them again. results: [options->stage_count], their stages closed.
 * `heading` gets the problem's lines before, unless NULL, and `table` the simulator's table, a line
 * as soon as its stage was checked, unless NULL; failures are explained on stderr. False: the
 * problem itself could not be prepared, `error` says why. */
bool run_problem(const Options *options, const Device *device, const TrialSetup *setup,
                 FILE *heading, FILE *table, Result results[], Error *error);

/* Runs the command, prints, returns the exit code. */
int run_command(const Options *options, const Device *device);

/* The exit code of several results: 1 if one failed, 2 if all were skipped, else 0. A stage folder
 * that does not exist: 64. */
int run_exit_code(const Result results[], int count);

#endif
