/* What the simulator alone can do. Its settings are its own business: the harness says when they
 * may change and shows which ones there are.
 *
 * Two implementations are linked: no_simulator.c, which does nothing, beside the CUDA runtime, and
 * tools/ptxsim/cuda/harness.c beside the simulator.
 */
#ifndef SIMULATOR_H
#define SIMULATOR_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>

/* Before run number `run`, from 0, of several whose results must be equal: another order of what a
 * right kernel does not depend on. */
void simulator_vary(int run);

/* Between the two the simulator watches for functions of the CUDA runtime that a launch must not
 * call, because they wait for the device, or allocate or free something. The first of them, or
 * NULL. */
void simulator_watch(void);
const char *simulator_unwatch(void);

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
