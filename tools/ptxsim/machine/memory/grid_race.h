/* Data races in global memory between the blocks of one launch.
 *
 * Nothing orders two blocks but what they tell each other by fences and strong accesses. So they
 * race if they use the same bytes and one of them writes, unless both accesses are strong (atomic,
 * .volatile, .relaxed) in a scope that has other blocks (PTX ISA, "Memory Consistency Model").
 * What a block does after its first fence, acquire or release of such a scope is not judged: it may
 * be ordered after what others did. That may miss a race, but never invents one.
 *
 * A block notes what it uses, sector by sector. When it has ended, that is compared with what all
 * blocks before it have used, and added to it. */
#ifndef PTXSIM_GRID_RACE_H
#define PTXSIM_GRID_RACE_H

#include <stdbool.h>
#include <stdint.h>

enum { GRID_WRITES = 1, GRID_STRONG = 2, GRID_KINDS = 4 }; /* a kind of access: bits */

/* What a block has used of a sector: of each kind the bytes, a bit each, and the source of the
 * first access of that kind, as of race.h. */
typedef struct SectorUse {
    uint64_t sector; /* address / 32 */
    uint64_t block;
    uint32_t bytes[GRID_KINDS], source[GRID_KINDS];
    int next; /* of the same bucket; -1: none */
} SectorUse;

typedef struct GridUses {
    uint64_t block; /* whose uses are noted */
    SectorUse *use;
    int count;
    int *bucket; /* the last use in each; -1: none */
    int bits;    /* of the number of a bucket: there is room for 2^bits uses; 0: for none */
    bool closed; /* nothing more is judged */
} GridUses;

/* The first access of a block that races, and the one of a block before. */
typedef struct GridConflict {
    uint64_t address;
    struct {
        uint64_t block;
        unsigned kind;
        uint32_t source;
    } side[2];
} GridConflict;

/* The block uses address .. address + bytes, unless its uses are closed. */
void grid_note(GridUses *uses, unsigned kind, uint64_t address, uint64_t bytes, uint32_t source);

/* Adds a block's uses to those of the blocks before it. True if one of them races with theirs; then
 * *conflict says which. */
bool grid_race(GridUses *before, const GridUses *uses, GridConflict *conflict);

void grid_free(GridUses *uses);

#endif
