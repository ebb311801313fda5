/* The units of a GPU, and how long each is busy with some work. */
#ifndef SASS_UNITS_H
#define SASS_UNITS_H

#include "limits/machine.h"
#include "limits/work.h"

typedef enum Unit {
    UNIT_ISSUE,
    UNIT_FMA,
    UNIT_HALF, /* fp16 arithmetic, where it has a pipe of its own */
    UNIT_ALU,
    UNIT_MUFU,
    UNIT_TENSOR,
    UNIT_SHARED,  /* shared memory and L1: one pipe, that of the load-store unit */
    UNIT_BARRIER, /* a floor: a barrier takes at least the arrivals of its warps */
    UNIT_POWER,   /* tensor cores as measured: power may hold them below what they could do */
    UNIT_L2,
    UNIT_HBM,
    UNITS
} Unit;

/* From here on units are of the whole GPU, before it of a multiprocessor. */
enum { WHOLE_GPU = UNIT_POWER };

/* "issue slots", as tables show it, and "issue", as JSON does. */
const char *unit_name(Unit unit);
const char *unit_key(Unit unit);

/* Cycles that each unit needs for the work: those before WHOLE_GPU if one multiprocessor does all
 * of it, the others if the GPU does. 0 for a unit that the machine's file has no number for. */
void unit_cycles(const Machine *machine, const double work[WORKS], double cycles[UNITS]);

#endif
