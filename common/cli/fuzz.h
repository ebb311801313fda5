/* The command `fuzz`: random problems until the time is over.
 *
 * Every case asks all stages for one random problem twice and compares the bits. Lengths are often
 * a multiple of 16, 64 or 128, or one off it, often tiny, and sometimes tiny against long; work is
 * bounded, so that one case stays short. D, DTYPE, CAUSAL, INIT and STRENGTH hold what they are set
 * to. A stage that fails is left out from then on, and its case is made as small as it can be.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "cli/setup.h"
#include "device/device.h"

/* How large a case may be. */
typedef struct FuzzLimits {
    int longest; /* of both lengths; of one of them four times as much */
    double work; /* batch * heads * seq_q * seq_kv * d, lengths rounded up to a tile of 64 */
} FuzzLimits;

/* Case `number` of the sequence that belongs to `seed`: the same on every machine. */
TrialSetup fuzz_case(uint64_t seed, uint64_t number, const Options *options, FuzzLimits limits);

/* Makes *setup, for which fails(setup, context) was true, smaller as long as it still is: first the
 * init, its strength, the scale and LSE become the usual ones, then batch, kv_heads, heads a KV
 * head and both lengths go down, each until one less does not fail. */
void fuzz_shrink(TrialSetup *setup, bool (*fails)(const TrialSetup *setup, void *context),
                 void *context);

/* Runs the command; returns the exit code. */
int fuzz_command(const Options *options, const Device *device);

#endif
