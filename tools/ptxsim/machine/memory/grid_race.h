/* Data races in global memory between the blocks of one launch.
 *
 * Two blocks race if they use the same bytes, one of them writes, and nothing orders the two
 * accesses, unless both are strong (atomic, .volatile, .relaxed) in a scope that has other blocks
 * and of the same size (PTX ISA, "Memory Consistency Model"). One can only be ordered before the
 * other if its block releases after it, and the other's block acquires before that: by a fence of
 * such a scope, or by an access that is a release or an acquire. Or if it is a strong write itself,
 * and the other's block has read strongly before. Whether the one meets the other is not looked at,
 * nor which thread does it. So races may be missed, but none is made up.
 *
 * A block notes what it uses, sector by sector. When it has ended, that is compared with what all
 * blocks before it have used, and added to it. */
#ifndef PTXSIM_GRID_RACE_H
#define PTXSIM_GRID_RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/memory/memo.h"

enum { GRID_WRITES = 1, GRID_STRONG = 2 }; /* a kind of access: bits */

enum { GRID_SECTOR = 32, GRID_WORD = 4 }; /* bytes */

/* Bytes of a sector that were used in one way. */
typedef struct SectorUse {
    uint64_t sector; /* address / GRID_SECTOR */
    uint64_t block;
    uint32_t bytes;                           /* a bit each */
    uint32_t epoch;                           /* how often its block had released before */
    uint32_t source[GRID_SECTOR / GRID_WORD]; /* of each word: who used it first, as in race.h */
    int next;                                 /* of the same bucket; -1: none */
    uint8_t kind;
    uint8_t size;   /* bytes of a strong access; 0: weak */
    uint8_t before; /* what its block had done before: bits, see GridUses */
    bool released;
} SectorUse;

typedef struct GridUses {
    uint64_t block; /* whose uses are noted */
    SectorUse *use;
    int count;
    int *bucket;    /* the last use in each; -1: none */
    int bits;       /* of the number of a bucket: there is room for 2^bits uses; 0: for none */
    uint8_t before; /* what the block has done: RACE_ACQUIRES, RACE_STRONG: it has read strongly */
    uint32_t releases; /* how often it has released */
    Memo noted;        /* patterns at places that are noted, with `before` and `releases` as now */
} GridUses;

/* The first access of a block that races, and the one of a block before. */
typedef struct GridConflict {
    uint64_t address;
    SectorUse side[2];
} GridConflict;

/* The instruction of a side of the conflict. */
static inline uint32_t grid_source(const GridConflict *conflict, int side) {
    return conflict->side[side].source[conflict->address % GRID_SECTOR / GRID_WORD];
}

/* The block uses address .. address + bytes. `size` is 0, or the bytes of each strong access. */
void grid_note(GridUses *uses, unsigned kind, unsigned size, uint64_t address, uint64_t bytes,
               uint32_t source);

/* What a fence or access of a scope with other blocks does: bits of race.h, of which RACE_STRONG
 * says that it reads. */
void grid_order(GridUses *uses, unsigned order);

/* Adds a block's uses to those of the blocks before it. True if one of them races with theirs; then
 * *conflict says which. */
bool grid_race(GridUses *before, const GridUses *uses, GridConflict *conflict);

void grid_free(GridUses *uses);

#endif
