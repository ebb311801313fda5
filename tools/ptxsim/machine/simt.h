/* Divergence: which lanes of a warp go on, and where. The handlers of branches are in simt.c, too.
 */
#ifndef PTXSIM_SIMT_H
#define PTXSIM_SIMT_H

#include "machine/block.h"

/* Continues with lanes that have met, as often as needed; then warp->pc is what to execute. */
void simt_reconverge(Warp *warp);

/* The lanes that have not ended but are not among those that execute: what waits for all threads
 * waits for these. Lanes that wait for the others where the kernel ends are not counted: on a GPU
 * they have ended, as after `if (row >= rows) return;`. */
uint32_t simt_elsewhere(const Warp *warp);

/* Lanes on another way from the same branch go on first, if there are some that do not wait
 * already; those that execute come to the current operation again. False: there are none. */
bool simt_yield(Warp *warp);

#endif
