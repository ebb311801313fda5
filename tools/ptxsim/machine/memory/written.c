#include "machine/memory/written.h"

enum { LANES = 32 };

unsigned written_bytes(const uint8_t *mark, unsigned bytes) {
    const uint8_t *missing = memchr(mark, 0, bytes);
    return missing ? (unsigned)(missing - mark) : bytes;
}

typedef unsigned __int128 u128;

#define ALL(type)                                                       \
    do {                                                                \
        type all = (type) ~(type)0;                                     \
        _Pragma("GCC unroll 32") for (unsigned l = 0; l < LANES; l++) { \
            type word;                                                  \
            memcpy(&word, mark + distance[l], sizeof word);             \
            all &= word;                                                \
        }                                                               \
        return all == (type) ~(type)0;                                  \
    } while (0)

bool written_lanes(const uint8_t *mark, const int32_t distance[LANES], unsigned bytes) {
    switch (bytes) {
    case 1:
        ALL(uint8_t);
    case 2:
        ALL(uint16_t);
    case 4:
        ALL(uint32_t);
    case 8:
        ALL(uint64_t);
    default:
        ALL(u128);
    }
}

void written_mark_lanes(uint8_t *mark, const int32_t distance[LANES], unsigned bytes) {
    switch (bytes) { /* numbers that the compiler knows */
    case 4:
        for (unsigned l = 0; l < LANES; l++) memset(mark + distance[l], 0xff, 4);
        return;
    case 16:
        for (unsigned l = 0; l < LANES; l++) memset(mark + distance[l], 0xff, 16);
        return;
    default:
        for (unsigned l = 0; l < LANES; l++) memset(mark + distance[l], 0xff, bytes);
    }
}
