#include "machine/memory/pattern.h"

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
    bool halves = true, row = true;
    for (unsigned l = 0; l < LANES; l++) {
        halves &= distance[l] == distance[l / (LANES / 2) * (LANES / 2)];
        row &= distance[l] == (int32_t)(l * bytes);
    }
    return halves ? SHAPE_HALVES : row ? SHAPE_ROW : SHAPE_ANY;
}

static void learn(Pattern *pattern, const uint64_t address[LANES], unsigned bytes, uint32_t period,
                  Units units) {
    int64_t lowest = 0, highest = 0;
    for (unsigned l = 0; l < LANES; l++) {
        const int64_t distance = (int64_t)(address[l] - address[0]);
        lowest = distance < lowest ? distance : lowest;
        highest = distance > highest ? distance : highest;
        pattern->distance[l] = (int32_t)distance;
    }
    pattern->known = lowest > INT32_MIN / 2 && highest < INT32_MAX / 2;
    pattern->shape = shape_of(pattern->distance, bytes);
    pattern->period = period;
    pattern->residue = (uint32_t)address[0] & (period - 1);
    pattern->lowest = (int32_t)lowest;
    pattern->span = (uint32_t)(highest - lowest) + bytes;
    pattern->leaders = find_leaders(address);
    pattern->marked = 0;
    pattern->units = units;
}

/* Lanes share a word or a bank wherever the request is, but for several lanes in one word. */
void pattern_learn_shared(Pattern *pattern, const uint32_t address[LANES], unsigned bytes,
                          Units units) {
    uint64_t wide[LANES];
    for (unsigned l = 0; l < LANES; l++) wide[l] = address[l];
    learn(pattern, wide, bytes, bytes < BANK_BYTES ? BANK_BYTES : 1, units);
}

/* Lanes that are whole sectors apart share a sector wherever the request is. */
void pattern_learn_global(Pattern *pattern, const uint64_t address[LANES], unsigned bytes,
                          Units units) {
    uint64_t apart = 0;
    for (unsigned l = 0; l < LANES; l++) apart |= address[l] - address[0];
    learn(pattern, address, bytes, apart % SECTOR_BYTES ? SECTOR_BYTES : 1, units);
}
