/* Which bytes of shared memory have been written: a mark for each, 0xff or 0, as far from the first
 * mark as the byte from the first byte. Marks are looked at in words as wide as the access. */
#ifndef PTXSIM_WRITTEN_H
#define PTXSIM_WRITTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Whether the bytes are written; `bytes` is 1, 2, 4, 8, 16 or a multiple of 32. */
static inline bool written_piece(const uint8_t *mark, unsigned bytes) {
    uint16_t two;
    uint32_t four;
    uint64_t word[4], all = UINT64_MAX;
    switch (bytes) {
    case 1:
        return *mark == UINT8_MAX;
    case 2:
        memcpy(&two, mark, sizeof two);
        return two == UINT16_MAX;
    case 4:
        memcpy(&four, mark, sizeof four);
        return four == UINT32_MAX;
    case 8:
        memcpy(word, mark, 8);
        return word[0] == UINT64_MAX;
    case 16:
        memcpy(word, mark, 16);
        return (word[0] & word[1]) == UINT64_MAX;
    default:
        for (unsigned i = 0; i < bytes; i += (unsigned)sizeof word) {
            memcpy(word, mark + i, sizeof word);
            all &= word[0] & word[1] & word[2] & word[3];
        }
        return all == UINT64_MAX;
    }
}

/* The number of bytes, from the first, that are written. */
unsigned written_bytes(const uint8_t *mark, unsigned bytes);

/* The same as written_piece for 32 lanes of `bytes` (1, 2, 4, 8 or 16) each, and marking them; a
 * lane's first mark is that far from `mark`. */
bool written_lanes(const uint8_t *mark, const int32_t distance[32], unsigned bytes);
void written_mark_lanes(uint8_t *mark, const int32_t distance[32], unsigned bytes);

#endif
