/* A kernel's control flow. */
#ifndef PTXSIM_CFG_H
#define PTXSIM_CFG_H

#include "decode/kernel.h"

typedef struct BasicBlock {
    int first, end; /* operations first .. end - 1 */
    int *successor; /* indices of blocks; the exit is the one after the last */
    int successors;
    int post_number; /* in a depth-first walk from the exit against the arrows; -1: not reached */
    int post_dominator;
} BasicBlock;

typedef struct Graph {
    Arena arena;
    const Kernel *kernel;
    BasicBlock *block; /* [blocks], and one more: the exit */
    int blocks;
    int *block_of; /* [ops]: the block that an operation is in */
    int *order;    /* blocks that reach the exit, by post_number */
    int ordered;
    int **predecessor;
    int *predecessors;
} Graph;

Graph cfg_build(const Kernel *kernel);
void cfg_free(Graph *graph);

/* Finds where divergent branches reconverge (op->reconverge, op->joins). */
void cfg_reconvergence(const Graph *graph, Kernel *kernel);

/* Finds which operations follow each other come what may (op->straight). After cfg_reconvergence.
 */
void cfg_straight(Kernel *kernel);

/* Finds accesses at the same addresses (op->repeats). After cfg_straight, before registers_assign.
 */
void find_addresses(Kernel *kernel);

/* Takes plain loads of what a compare-and-swap compares with for relaxed ones. Before
 * registers_assign. */
void find_guesses(Kernel *kernel);

/* SIM_FMA=fused: computes an addition of a product with one rounding. Before registers_assign: it
 * changes what operations read. */
void fuse_products(const Graph *graph, Kernel *kernel);

/* Finds what loads only pass on (op->copied). Before registers_assign. */
void find_copies(Kernel *kernel);

/* Gives values their places in the register file and turns operands into offsets. False: they are
 * more than MAX_REGISTER_FILE or MAX_LIVENESS allows. */
bool registers_assign(const Graph *graph, Kernel *kernel);

#endif
