/* The command `grid`: the shapes that bugs hide in.
 *
 * Lengths seq_q x seq_kv from {1 2 15 16 17 63 64 65 127 128 129 255 300 1000}, all pairs
 * (GRID=small: {1 2 17 64 65 129 200}, the default in the simulator); every variant, unless D,
 * DTYPE or CAUSAL choose; INIT normal and large (small: in turn), unless INIT chooses. Batch 1 .. 3
 * and heads/kv_heads 1/1, 2/1, 2/2, 3/1, 3/3, 4/2 rotate over the cases; every seventh case runs
 * with LSE = NULL. Each case has a seed of its own, derived from SEED.
 */
#ifndef GRID_H
#define GRID_H

#include "options.h"

/* Runs the command: one line a stage, and for a failed case the line that repeats it. Returns the
 * exit code. */
int grid_command(const Options *options, const Device *device);

#endif
