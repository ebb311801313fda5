/* Memory requests repeat: the lanes of an operation are mostly as far apart as they were last time,
 * at another place. Then the cost of the request is the same and its bounds are known, so that only
 * the place has to be looked at. */
#ifndef PTXSIM_PATTERN_H
#define PTXSIM_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/memory/banks.h"

/* Lanes 0 to 15 access the same bytes and so do the others; or lanes 16 to 31 the same as lanes 0
 * to 15; or each those after the last lane's. */
typedef enum Shape { SHAPE_ANY, SHAPE_HALVES, SHAPE_TWICE, SHAPE_ROW } Shape;

/* A request of all 32 lanes. */
typedef struct Pattern {
    _Alignas(64) int32_t distance[32]; /* from lane 0 */
    uint32_t known;   /* its number in the list, from 1; 0: it is nothing to compare with */
    uint32_t period;  /* a power of two: a multiple of it further on, the cost is the same */
    uint32_t residue; /* address of lane 0, modulo the period */
    int32_t lowest;   /* of the distances */
    uint32_t span;    /* bytes from the lowest lane's first to the highest lane's last */
    uint32_t leaders; /* lanes that no earlier lane shares its sector with; some too many, rarely */
    Shape shape;
    uint32_t words; /* lanes are whole 4-byte words apart */
    uint32_t next;  /* the one that an operation had after it; 0: none yet */
    Units units;
} Pattern;

/* The patterns of all operations that a block executes. There are few: most operations of a loop
 * have the same. */
enum { MAX_PATTERNS = 256 };
typedef struct Patterns {
    Pattern pattern[MAX_PATTERNS]; /* the first one is not known */
    unsigned count;                /* of the others */
} Patterns;

/* Whether these addresses are the pattern at another place. They may all be off by an offset: the
 * first lane's address with it is `first`. */
static inline bool pattern_fits_shared(const Pattern *pattern, const uint32_t address[32],
                                       uint32_t first) {
    uint32_t differs = (first ^ pattern->residue) & (pattern->period - 1);
    if (!pattern->known || differs) return false;
    for (unsigned l = 0; l < 32; l++)
        differs |= address[l] - address[0] - (uint32_t)pattern->distance[l];
    return differs == 0;
}
static inline bool pattern_fits_global(const Pattern *pattern, const uint64_t address[32],
                                       uint64_t first) {
    uint64_t differs = (first ^ pattern->residue) & (pattern->period - 1);
    if (!pattern->known || differs) return false;
    for (unsigned l = 0; l < 32; l++)
        differs |= address[l] - address[0] - (uint64_t)(int64_t)pattern->distance[l];
    return differs == 0;
}

/* The number of the pattern of a request of `bytes` a lane that cost `units`; 0 if it is too wide,
 * or the list is full. */
unsigned pattern_learn_shared(Patterns *patterns, const uint32_t address[32], unsigned bytes,
                              Units units);
unsigned pattern_learn_global(Patterns *patterns, const uint64_t address[32], unsigned bytes,
                              Units units);

#endif
