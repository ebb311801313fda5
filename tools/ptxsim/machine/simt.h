/* Divergence: which lanes of a warp go on, and where. The handlers of branches are in simt.c, too.
 */
#ifndef PTXSIM_SIMT_H
#define PTXSIM_SIMT_H

#include "machine/block.h"

/* Continues with lanes that have met, as often as needed; then warp->pc is what to execute. */
void simt_reconverge(Warp *warp);

#endif
