#include "machine/memory/pattern.h"

#include <string.h>

enum { LANES = 32 };

/* Lanes are mostly in ascending order, perhaps twice over. */
static uint32_t find_leaders(const uint64_t address[LANES]) {
    uint32_t leaders = 1;
    for (unsigned l = 1; l < LANES; l++) {
        const uint64_t sector = address[l] / SECTOR_BYTES;
        const uint64_t half_before = address[l % (LANES / 2)] / SECTOR_BYTES;
        const bool shares =
            sector == address[l - 1] / SECTOR_BYTES || (l >= LANES / 2 && sector == half_before);
        leaders |= (uint32_t)!shares << l;
    }
    return leaders;
}

static Shape shape_of(const int32_t distance[LANES], unsigned bytes) {
    bool halves = true, twice = true, row = true;
    for (unsigned l = 0; l < LANES; l++) {
        halves &= distance[l] == distance[l / (LANES / 2) * (LANES / 2)];
        twice &= distance[l] == distance[l % (LANES / 2)];
        row &= distance[l] == (int32_t)(l * bytes);
    }
    return halves ? SHAPE_HALVES : twice ? SHAPE_TWICE : row ? SHAPE_ROW : SHAPE_ANY;
}

/* All else follows from these. */
static bool equal(const Pattern *a, const Pattern *b) {
    return a->span == b->span && a->period == b->period && a->residue == b->residue &&
           a->units.actual == b->units.actual && a->units.ideal == b->units.ideal &&
           memcmp(a->distance, b->distance, sizeof a->distance) == 0;
}

/* The number of an equal one in the list, where it is added if need be. */
static unsigned keep(Patterns *patterns, const Pattern *pattern) {
    unsigned i = 1;
    while (i <= patterns->count && !equal(&patterns->pattern[i], pattern)) i++;
    if (i == MAX_PATTERNS) return 0;
    if (i > patterns->count) {
        patterns->pattern[i] = *pattern;
        patterns->pattern[i].known = i;
        patterns->count = i;
    }
    return i;
}

static unsigned learn(Patterns *patterns, const uint64_t address[LANES], unsigned bytes,
                      uint32_t period, Units units) {
    int64_t lowest = 0, highest = 0;
    uint32_t apart = 0;
    Pattern pattern = {0};
    for (unsigned l = 0; l < LANES; l++) {
        const int64_t distance = (int64_t)(address[l] - address[0]);
        lowest = distance < lowest ? distance : lowest;
        highest = distance > highest ? distance : highest;
        apart |= (uint32_t)distance;
        pattern.distance[l] = (int32_t)distance;
    }
    if (lowest <= INT32_MIN / 2 || highest >= INT32_MAX / 2) return 0;
    pattern.words = apart % BANK_BYTES == 0;
    pattern.shape = shape_of(pattern.distance, bytes);
    pattern.period = apart % period ? period : 1;
    pattern.residue = (uint32_t)address[0] & (pattern.period - 1);
    pattern.lowest = (int32_t)lowest;
    pattern.span = (uint32_t)(highest - lowest) + bytes;
    pattern.leaders = find_leaders(address);
    pattern.units = units;
    return keep(patterns, &pattern);
}

/* Lanes share a word or a bank wherever the request is, but for several lanes in one word that are
 * not whole words apart. */
unsigned pattern_learn_shared(Patterns *patterns, const uint32_t address[LANES], unsigned bytes,
                              Units units) {
    uint64_t wide[LANES];
    for (unsigned l = 0; l < LANES; l++) wide[l] = address[l];
    return learn(patterns, wide, bytes, BANK_BYTES, units);
}

/* Lanes that are whole sectors apart share a sector wherever the request is. */
unsigned pattern_learn_global(Patterns *patterns, const uint64_t address[LANES], unsigned bytes,
                              Units units) {
    return learn(patterns, address, bytes, SECTOR_BYTES, units);
}
