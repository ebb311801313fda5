/* What a memory request touches, wherever it is: most requests of a kernel differ in their place
 * alone. The wavefronts and sectors are those of banks.h, worked out once for each footprint. */
#ifndef PTXSIM_FOOTPRINT_H
#define PTXSIM_FOOTPRINT_H

#include "machine/memory/banks.h"
#include "machine/block.h"

typedef enum FootprintSpace {
    FOOTPRINT_SHARED,
    FOOTPRINT_GLOBAL,
    FOOTPRINT_LOCAL,
    FOOTPRINT_LANES, /* a shuffle: distance[l] is the lane that lane l reads */
} FootprintSpace;

typedef struct FootprintKey {
    FootprintSpace space;
    unsigned bytes;    /* a lane, or a row of a matrix */
    uint16_t matrices; /* of ldmatrix and stmatrix, whose lanes stand for rows; else 0 */
    uint16_t alone;    /* of an atomic: Op.alone; else 0 */
    uint32_t mask;
    uint32_t residue;        /* of the base: modulo 128 in shared memory, 32 in global memory */
    int tensor;              /* of global memory: index into Record.tensor, -1: none */
    int64_t distance[LANES]; /* from the base, which is the address of the first lane in the mask */
} FootprintKey;

typedef struct Footprint {
    FootprintKey key;
    Units units;
    uint8_t unit[LANES]; /* the lane's wavefront, or its sector among the distinct ones */
    uint8_t
        bank[LANES]; /* the first of the lane's banks, or its first byte's place in the sector */
    int64_t sector[LANES]; /* [units.actual]: which one, counted from the base's */
} Footprint;

typedef struct Footprints {
    Footprint *at;
    int count, room;
    int *slot; /* a hash table of indices, -1: free */
    int slots;
} Footprints;

/* The index of the footprint with this key, which is new or was here before. */
int footprint_find(Footprints *all, const FootprintKey *key, Units units);
void footprints_clear(Footprints *all);

#endif
