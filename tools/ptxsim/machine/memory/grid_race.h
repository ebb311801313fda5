/* Data races in global memory between the blocks of one launch.
 *
 * Two blocks race if they use the same bytes, one of them writes, and nothing orders the two
 * accesses, unless both are strong (atomic, .volatile, .relaxed) in a scope that has other blocks
 * and of the same size (PTX ISA, "Memory Consistency Model"). One can only be ordered before the
 * other if something that is ordered after it in its block releases it, and something that is
 * ordered before the other in that one's block acquires: by a strong write after a fence of such a
 * scope, a fence after a strong read, or an access that is a release or an acquire. Or if it is a
 * strong write itself, and the other comes after a strong read. Whether the one meets the other is
 * not looked at, nor which lane of a warp does it. So races may be missed, but none is made up.
 *
 * A block notes what it uses, sector by sector. When it has ended, that is compared with what all
 * blocks before it have used, and added to it. */
#ifndef PTXSIM_GRID_RACE_H
#define PTXSIM_GRID_RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/memory/race.h"

enum { GRID_WRITES = 1, GRID_STRONG = 2 }; /* a kind of access: bits */

enum { GRID_SECTOR = 32, GRID_WORD = 4 }; /* bytes */

/* Bytes of a sector that were used in one way. */
typedef struct SectorUse {
    uint64_t sector; /* address / GRID_SECTOR */
    uint64_t block;
    uint32_t bytes;                           /* a bit each */
    uint32_t clock;                           /* of the warp, at the last of these uses */
    uint32_t source[GRID_SECTOR / GRID_WORD]; /* of each word: who used it first, as in race.h */
    int next;                                 /* of the same bucket; -1: none */
    unsigned kind : 2;
    unsigned size : 5;     /* bytes of a strong access; 0: weak */
    unsigned before : 3;   /* what was ordered before it: RaceMoment */
    unsigned warp : 5;     /* until its block has ended */
    unsigned released : 1; /* something released it; known when its block has ended */
} SectorUse;

/* Requests that are noted already. */
enum { NOTED_BITS = 10 };
typedef struct NotedRequest {
    uint64_t request;
    uint32_t when;
} NotedRequest;

typedef struct GridUses {
    uint64_t block; /* whose uses are noted */
    SectorUse *use;
    int count;
    int *bucket; /* the last use in each; -1: none */
    int bits;    /* of the number of a bucket: there is room for 2^bits uses; 0: for none */
    uint32_t released[RACE_MAX_WARPS]; /* up to which clock of each warp: race_blocks_write */
    NotedRequest noted[1 << NOTED_BITS];
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
void grid_note(GridUses *uses, const RaceMoment *now, unsigned kind, unsigned size,
               uint64_t address, uint64_t bytes, uint32_t source);

/* Whether a request with this number, of at most 62 bits, need not be noted: a write that the warp
 * has noted since its last clock, or a read that any warp has noted since one has ordered anything.
 * Of such reads the first counts alone. */
bool grid_noted(GridUses *uses, const RaceMoment *now, bool writes, uint64_t request);

/* Adds a block's uses to those of the blocks before it. True if one of them races with theirs; then
 * *conflict says which. */
bool grid_race(GridUses *before, const GridUses *uses, GridConflict *conflict);

void grid_free(GridUses *uses);

#endif
