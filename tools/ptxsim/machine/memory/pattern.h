/* Memory requests repeat: the lanes of an operation are mostly as far apart as they were last time,
 * at another place. Then the cost of the request is the same and its bounds are known, so that only
 * the place has to be looked at. */
#ifndef PTXSIM_PATTERN_H
#define PTXSIM_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/memory/banks.h"

/* Lanes 0 to 15 access the same bytes and so do the others; or each those after the last lane's. */
typedef enum Shape { SHAPE_ANY, SHAPE_HALVES, SHAPE_ROW } Shape;

/* A request of all 32 lanes. */
typedef struct Pattern {
    bool known;
    Shape shape;
    uint32_t period;      /* a power of two: a multiple of it further on, the cost is the same */
    uint32_t residue;     /* address of lane 0, modulo the period */
    int32_t distance[32]; /* from lane 0 */
    int32_t lowest;       /* of the distances */
    uint32_t span;        /* bytes from the lowest lane's first to the highest lane's last */
    uint32_t leaders; /* lanes that no earlier lane shares its sector with; some too many, rarely */
    uint64_t marked;  /* the last request whose sectors were marked, by the sector of its lane 0: */
                      /* the next one may well stay inside the same sectors; 0: none was */
    Units units;
} Pattern;

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

/* Remembers a request of `bytes` a lane that cost `units`, if it is not too wide. */
void pattern_learn_shared(Pattern *pattern, const uint32_t address[32], unsigned bytes,
                          Units units);
void pattern_learn_global(Pattern *pattern, const uint64_t address[32], unsigned bytes,
                          Units units);

#endif
