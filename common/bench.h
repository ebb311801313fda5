/* The command `bench`: TFLOP/s of the stages over sequence lengths 512 .. 16384 (or SEQS), with
 * 16,384 tokens in all (batch = 16384 / seq) and a hidden size of 2048 (heads = 2048 / d), as the
 * FlashAttention papers measure. */
#ifndef BENCH_H
#define BENCH_H

#include "options.h"

/* Runs the command: a Markdown table, or with FORMAT=json one object for each length and stage.
 * Needs a GPU. Returns the exit code. */
int bench_command(const Options *options, const Device *device);

#endif
