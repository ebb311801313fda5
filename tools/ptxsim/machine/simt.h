/* Divergence: which lanes of a warp go on, and where. The handlers of branches are in simt.c, too.
 */
#ifndef PTXSIM_SIMT_H
#define PTXSIM_SIMT_H

#include "machine/block.h"

/* Continues with lanes that have met, as often as needed; then warp->pc is what to execute. */
void simt_reconverge(Warp *warp);

/* The lanes of a frame that are on no way above it: the frame is their way, or they wait there
 * until those above come. */
uint32_t simt_lanes_at(const Warp *warp, int frame);

/* The lanes that have not ended but are not among those that execute: what waits for all threads
 * waits for these. Lanes that wait for the others where the kernel ends are not counted: on a GPU
 * they have ended, as after `if (row >= rows) return;`. */
uint32_t simt_elsewhere(const Warp *warp);

/* The lanes of a warp execute the current operation together, and some are missing. Those on other
 * ways go first: they may come to it, or to the end, where nobody waits for them. Then those that
 * execute come to the operation again, which has not been counted yet, and with them those that
 * wait there. False: nobody is missing, or all lanes on other ways wait in this way themselves. */
bool simt_lets_others_go(Warp *warp, uint32_t missing);

/* The same of an operation at which lanes wait each for those that it names, wherever they come to
 * one: those that `stay` wait, the others go on with it. If all other ways wait, lanes that were to
 * meet those that stay go on without them. False: nobody stays, or nobody else can go on. */
bool simt_waits_for_others(Warp *warp, uint32_t stay, uint32_t named);

/* The warp waits at an mbarrier, polls, or has had a long turn, maybe since it spins: what it waits
 * for may be for other lanes of it to do. Those on another way go on now. False: there are none, or
 * they wait for each other. */
bool simt_takes_turns(Warp *warp);

#endif
