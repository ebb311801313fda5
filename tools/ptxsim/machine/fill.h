/* What is in a warp's registers before it runs. */
#ifndef PTXSIM_FILL_H
#define PTXSIM_FILL_H

#include "machine/block.h"

/* Fills in a warp's constants, and for each block its special registers and those that it may read
 * before it writes them. */
void fill_for_launch(const Warp *warp);
void fill_for_block(const Warp *warp);

#endif
