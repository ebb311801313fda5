/* What the simulator alone can do. Its settings are its own business: the harness says when they
 * may change and shows which ones there are.
 *
 * Two implementations are linked: no_simulator.c, which does nothing, beside the CUDA runtime, and
 * tools/ptxsim/cuda/harness.c beside the simulator.
 */
#ifndef SIMULATOR_H
#define SIMULATOR_H

#include "attention.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* False if a variable of the environment has a value that it may not have; then `problem` says in a
 * sentence which ones it may. */
bool simulator_settings(char *problem, size_t size);

/* Before run number `run`, from 0, of several whose results must be equal: another order of what a
 * right kernel does not depend on. */
void simulator_vary(int run);

/* Between the two the simulator watches for functions of the CUDA runtime that a launch must not
 * call, because they wait for the device, or allocate or free something. The first of them, or
 * NULL. After that, whether anything was enqueued on another stream than this one. */
void simulator_watch(cudaStream_t stream);
const char *simulator_unwatch(void);
bool simulator_strayed(void);

/* A kernel that was launched since counters_reset and is not among these, or had more threads or
 * dynamic shared memory per block, by its name; or NULL. */
const char *simulator_unlisted(const AttentionKernel kernels[]);

/* Between the two nothing is executed that a stream would execute, and number `which` of it, from
 * 0, is refused with SIMULATOR_REFUSAL; how many there were. False: there is no simulator. */
enum { SIMULATOR_REFUSAL = cudaErrorLaunchOutOfResources };
bool simulator_rehearse(int which);
int simulator_rehearsed(void);

/* Whether any kernel of so many floating-point operations would take longer than the simulator goes
 * on without FORCE=1. */
bool simulator_too_long(double operations);

/* The settings that matter for results, as they would be given to the program: "NAME=value " each.
 * Of several runs, without those that simulator_vary sets. */
void simulator_print_settings(FILE *out, int runs);

#endif
