/* The command `grid`: the shapes that bugs hide in.
 *
 * Lengths seq_q x seq_kv from {1 2 15 16 17 63 64 65 127 128 129 255 300 1000}, all pairs, 1 x
 * 10000 and 10000 x 1, 300 x 20011, and 65537 heads and as many batches of a row or two; every
 * variant, unless D, DTYPE or CAUSAL choose; INIT normal, large and in turn one of the others (see
 * inputs.h), or, in half of the shapes with more than 128 keys, one that a model makes: sink,
 * peaked, local, recency or primacy with a STRENGTH of up to 100; unless INIT chooses. Batch 1 .. 3
 * and heads/kv_heads 1/1, 2/1, 2/2, 4/1, 6/2, 4/2 rotate over the cases; two fifths have another
 * scale than 1 / sqrt(d); every seventh runs with LSE = NULL. Each case has a seed of its own,
 * derived from SEED. test_grid.c says what they cover together.
 *
 * GRID=small, the default in the simulator: lengths {1 2 17 64 65 129 194}, the two long shapes in
 * two variants each, not the many heads; 4/1 and 5/1 for 2/1 and 4/1; the inits in turn.
 *
 * GRID=big: Q and O, K and V, or the scores have more than 2^31 elements, so that an index of 32
 * bits overflows, within a head or over heads; the last rows are always among the compared ones.
 * What does not fit the host or the device is skipped (it takes 9 GB of each, stages 01-03 18 GB of
 * the device).
 */
#ifndef GRID_H
#define GRID_H

#include "cli/setup.h"
#include "device/device.h"

/* Called for each case of a grid; false ends it. */
typedef bool (*GridVisit)(const TrialSetup *setup, void *context);

/* The cases of the grid that the options choose, in order. False if a visit ended it. */
bool grid_each(const Options *options, bool simulated, GridVisit visit, void *context);

/* Runs the command: one line per stage, and for a failed case the line that repeats it. Returns the
 * exit code. */
int grid_command(const Options *options, const Device *device);

#endif
