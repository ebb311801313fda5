/* What the blocks of a kernel execute, at lengths at which nothing was counted.
 *
 * A block that is a tile of query rows executes each operation so often whatever the problem, and
 * so often for each key that its rows see (growth.h). All blocks of a full problem see all keys;
 * those of a causal one see more, the later their rows are, and PARTS of them stand for all. */
#ifndef SASS_EXTRAPOLATION_H
#define SASS_EXTRAPOLATION_H

#include "limits/model.h"
#include "replay/path.h"

enum { PARTS = 4 };

typedef struct Extrapolation {
    const Kernel *code;
    const Demand *demand;
    const Runs *runs;
    int launch; /* of each of the runs */
    bool causal;
    Matching lines;
} Extrapolation;

/* Whether blocks are tiles of query rows; else all of them do the same. */
bool extrapolation_of_tiles(const Extrapolation *blocks);

/* Warps of a block. */
int extrapolation_warps(const Counted *launch);

/* Whether an operation is executed as often however many keys there are. What it reads of global
 * memory no other block has read. */
bool extrapolation_once(const Extrapolation *blocks, int operation);

/* The paths of their warps, [PARTS], for a length; `keys`: that their rows see on average. Returns
 * how many there are, 0 if a path has no end. */
int extrapolation_paths(const Extrapolation *blocks, double length, Path *path, double *keys);

#endif
