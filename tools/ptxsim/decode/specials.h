/* Special registers: %tid.x and its like (PTX ISA, "Special Registers"). */
#ifndef PTXSIM_SPECIALS_H
#define PTXSIM_SPECIALS_H

#include "ptx/ptx.h"

typedef enum Special {
    TID, /* .x, .y and .z follow each other */
    NTID = TID + 3,
    CTAID = NTID + 3,
    NCTAID = CTAID + 3,
    LANEID = NCTAID + 3,
    WARPID,
    NWARPID,
    LANEMASK_EQ,
    LANEMASK_LT,
    LANEMASK_LE,
    LANEMASK_GT,
    LANEMASK_GE,
    DYNAMIC_SHARED,
    TOTAL_SHARED,
    GRIDID,
    SMID,
    NSMID,
    ZERO, /* whatever has but one value here */
    ONE,
} Special;

/* The index of a special register's name, -1: unknown; else also its bytes. */
int special_find(Text name, unsigned *bytes);

#endif
