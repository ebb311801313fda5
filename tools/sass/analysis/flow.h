/* The control flow of a function: its loops, which of them is the main loop, and what stands before
 * and after it. */
#ifndef SASS_FLOW_H
#define SASS_FLOW_H

#include "analysis/listing.h"

typedef enum Region {
    REGION_PROLOGUE,  /* on the way to the main loop */
    REGION_LOOP,      /* the main loop, the loops in it included */
    REGION_EPILOGUE,  /* reached from the main loop */
    REGION_ELSEWHERE, /* other paths (a producer warp, an early exit); all if there is no loop */
    REGION_CALLED,    /* functions that the kernel calls, but for a main loop in one of them */
    REGION_PADDING,   /* never reached and without effect: fills up the last cache line */
    REGIONS
} Region;

enum { LOOP_NAME_SIZE = 16 };

typedef struct Loop {
    int header;                /* the instruction that every iteration starts with */
    int back;                  /* the last one that goes back to it */
    int parent;                /* the loop around it, or -1 */
    int depth;                 /* 1: not in another loop */
    int instructions;          /* loops in it included */
    int tensor, fma, ex2;      /* of these: on tensor cores, of class fma, MUFU.EX2 */
    char name[LOOP_NAME_SIZE]; /* "1", "1.2": the second loop in the first */
} Loop;

typedef struct Flow {
    Loop *loop; /* in the order of their headers' addresses, an outer loop before those in it */
    int loops;
    int main_loop;  /* index, or -1 */
    int *loop_of;   /* [instructions]: the innermost loop around each, or -1 */
    Region *region; /* [instructions] */
} Flow;

/* Finds the natural loops (Aho, Lam, Sethi, Ullman: Compilers, 2nd edition, 9.6.6). The main loop
 * is the smallest that holds at least a third of the tensor-core instructions that stand in loops
 * (of class fma if there are none) and a third of the exponentials: the loop over key tiles, where
 * products and softmax are together; in a kernel without exponentials, the busiest product. A third
 * and not more, as a kernel may have one loop for masked tiles and another for full ones. */
Flow flow_analyse(const Function *function);

/* Whether the instruction is in the loop or in one within it. */
bool flow_in_loop(const Flow *flow, int loop, int instruction);

/* "prologue", "loop" and so on. */
const char *region_name(Region region);

void flow_free(Flow *flow);

#endif
