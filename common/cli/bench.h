/* The command `bench`: the speed of the stages over d 128 and 64, full and causal (unless D or
 * CAUSAL chooses one) and sequence lengths 512 .. 16384 (or SEQS), with 16,384 tokens in all
 * (batch = 16384 / seq) and a hidden size of 2048 (heads = 2048 / d), as the FlashAttention papers
 * measure.
 *
 * INIT=all: a cell takes one input after the other of model_inputs.h, each checked, and the lengths
 * are 4096 and 16384. */
#ifndef BENCH_H
#define BENCH_H

#include "cli/options.h"
#include "device/device.h"

/* Runs the command. stdout: one JSON object for each cell and stage (report.h), whatever FORMAT
 * says; tools/plot/ makes tables and plots of them. stderr: one line a cell. Needs a GPU. Returns
 * the exit code. */
int bench_command(const Options *options, const Device *device);

#endif
