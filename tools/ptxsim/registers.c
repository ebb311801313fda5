/* Gives every value its place in the register file. Values that are never needed at the same time
 * share a place, which keeps a warp's registers in the processor's cache. */
#include <stdlib.h>
#include <string.h>

#include "decode.h"

/* The operations from the first to the last at which a value must be kept, in the order of the
 * code: more than its life, but never less. */
typedef struct Span {
    int value, first, last;
} Span;

typedef struct Liveness {
    Arena arena;
    Kernel *kernel;
    int regs; /* values below this number are registers, and so are sinks among the others */
    size_t words;
    Span *span;
} Liveness;

/* ---- Who is alive where ----------------------------------------------------------------------- */

/* A backward branch to `target` at `op` keeps alive through the whole loop what is alive at its
 * head. Without a data-flow analysis: a value that is read in a loop before the loop has written it
 * (all lanes, no guard) lives through the loop. */
typedef struct Flow {
    uint64_t *use, *define, *in, *out; /* [blocks][words] */
    int *first, *end;                  /* operations of a block */
    int (*successor)[2];
    int **more; /* of an indexed branch: its targets' blocks */
    int blocks;
    int *block_of;
} Flow;

static bool test(const uint64_t *set, int i) { return set[i >> 6] >> (i & 63) & 1; }
static void add(uint64_t *set, int i) { set[i >> 6] |= 1ull << (i & 63); }
