/* Which line of the PTX each counted operation stands on. Machine code names these lines, so this
 * is what joins it to the simulator's counts. */
#ifndef SASS_MATCHING_H
#define SASS_MATCHING_H

#include "analysis/cubin.h"
#include "limits/counted.h"

/* The instructions of a kernel's PTX, in order. */
typedef struct Matching {
    int lines;
    int *operation; /* [lines + 1]: the operation on that line of the PTX, from 1, or -1 */
} Matching;

/* Matches the operations of a launch with the body of the kernel `symbol`, one by one in order.
 * False if the PTX has no such kernel or other instructions than were counted. */
bool matching_find(const char *ptx, const char *symbol, const Counted *launch, Matching *matching);

/* The kernel of the module that a launch ran, with the lines of its operations; NULL if the PTX is
 * none that was counted. Instances of a template have one name in the record. */
const Kernel *matching_kernel(const Module *module, const Counted *launch, Matching *lines);

void matching_free(Matching *matching);

#endif
