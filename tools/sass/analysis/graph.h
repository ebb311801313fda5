/* Basic blocks and the edges between them. */
#ifndef SASS_GRAPH_H
#define SASS_GRAPH_H

#include "analysis/listing.h"

typedef struct Block {
    int first, last; /* instructions [first, last) */
    int *next;       /* blocks that may follow */
    int nexts;
    int *before; /* blocks that it may follow */
    int befores;
    int order;     /* position in reverse postorder; -1: never reached */
    int dominator; /* the last block that every path from an entry passes; -1: it is an entry */
} Block;

typedef struct Graph {
    Block *block; /* in the order of addresses */
    int blocks;
    int *reverse_postorder; /* the blocks that are reached */
    int reached;
} Graph;

/* Entries are the first instruction and those of called functions; a call leads on to the next
 * instruction. */
Graph graph_build(const Function *function);

/* Whether every path from an entry to `block` passes `dominator` (or they are the same). */
bool graph_dominates(const Graph *graph, int dominator, int block);

/* The block of an instruction. */
int graph_block_of(const Graph *graph, int instruction);

void graph_free(Graph *graph);

#endif
