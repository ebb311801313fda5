/* The way of one warp through a kernel: which instructions it executes, one after another.
 *
 * The simulator says how often instructions run, not in which order. The order follows from the
 * control flow: what goes into a basic block comes out of it (conservation of flow), so the counts
 * of a few blocks give those of the edges between them. Where an edge is taken in 3 of 4 visits,
 * the path takes it three times and then the other, so that a loop of four rounds has four rounds
 * each time it is entered. */
#ifndef SASS_PATH_H
#define SASS_PATH_H

#include "limits/executions.h"

typedef struct Path {
    int *step; /* [steps]: indices of instructions */
    int steps;
    double expected; /* steps of an average warp: trips that are no whole numbers are rounded in
                        `step` */
    double strayed;  /* the share of executed instructions on which path and counts disagree */
    int worst;       /* the first instruction of the block that disagrees most */
} Path;

/* The path of an average warp of `warps` that the executions were counted of. Counts of blocks
 * with more deciding instructions (executions.h) are believed first; those that contradict them are
 * not. Called functions are passed over. False if the counts lead to no end of the kernel. */
bool path_derive(const Kernel *kernel, const Executions *executions, double warps, Path *path);

void path_free(Path *path);

#endif
