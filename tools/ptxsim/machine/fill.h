/* What is in a warp's registers before it runs. */
#ifndef PTXSIM_FILL_H
#define PTXSIM_FILL_H

#include "machine/block.h"

/* Fills in a warp's constants, for the whole launch, and its special registers, for a block. */
void constants_fill(Warp *warp);
void specials_fill(Warp *warp);

#endif
