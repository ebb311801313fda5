/* The command `repeat`: does a stage give the same bits each time?
 *
 * Every variant of every stage runs RUNS times (100 on a GPU, 2 simulated) on a few ragged problems
 * with grouped KV heads, on a GPU with more blocks than it has room for; O and LSE of each run are
 * compared with those of the first. D, DTYPE, CAUSAL and INIT choose as in `grid`.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include "cli/options.h"
#include "device/device.h"
#include "truth/problem.h"

/* Its `count` problems, without the scale. */
const AttentionProblem *repeat_shapes(bool simulated, int *count);

/* Runs the command; returns the exit code. */
int repeat_command(const Options *options, const Device *device);

#endif
