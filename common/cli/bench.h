/* The command `bench`: the speed of the stages over the problems of a REGIME (regimes.h; square
 * where none is chosen), one repetition at a time, or back to back for SUSTAINED=... seconds
 * (timer.h).
 *
 * INIT=all: a cell takes one input after the other of model_inputs.h, each checked, and the lengths
 * are 4096 and 16384. */
#ifndef BENCH_H
#define BENCH_H

#include "cli/options.h"
#include "device/device.h"

/* Runs the command. stdout: one JSON object for each cell and stage (report.h), whatever FORMAT
 * says; tools/plot/ makes tables and plots of them. stderr: one line per cell. Needs a GPU. Returns
 * the exit code. */
int bench_command(const Options *options, const Device *device);

#endif
