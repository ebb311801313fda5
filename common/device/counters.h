/* Hardware counters of one run, as the simulator counts them.
 *
 * Two implementations are linked: no_simulator.c beside the CUDA runtime (a GPU gives its counters
 * to Nsight Compute, not to us), tools/ptxsim/cuda/harness.c beside the simulator.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Requests are warp-level instructions; units are 32-byte sectors for global memory and wavefronts
 * for shared memory; ideal units are what the same bytes would need at best. As in Nsight Compute
 * cp.async is a global load, and its shared side is in neither count (the full report shows it). */
typedef struct MemoryCounters {
    uint64_t requests;
    uint64_t units;
    uint64_t ideal_units;
} MemoryCounters;

typedef struct Counters {
    uint64_t warp_instructions;
    uint64_t lane_instructions;
    uint64_t mma_instructions;
    uint64_t barriers;
    uint64_t divergent_branches;
    uint64_t blocks; /* of all launches */
    MemoryCounters global_load, global_store, shared_load, shared_store, shared_atomic;
} Counters;

/* True in the program that runs kernels on the CPU. */
bool counters_simulated(void);

/* Sets all counts to zero; the next launch starts afresh. */
void counters_reset(void);

/* The sum over all launches since counters_reset. Returns false where there are no counters. */
bool counters_read(Counters *counters);

/* Writes the full report, by kernel and instruction class, in plain text. */
void counters_report(FILE *out);

/* Writes the kernel's source with the counters of each line beside it: one HTML page with a title,
 * or text if `title` is NULL. */
void counters_annotate(FILE *out, const char *title);

/* Writes one object of JSON for each source line that was counted: the stage's name, file, line,
 * its text, and its counters. */
void counters_lines(FILE *out, const char *name);

#endif
