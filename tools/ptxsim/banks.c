#include "banks.h"

#include <stdbool.h>

#include "clones.h"

enum { LANES = 32, WAVEFRONT_BYTES = BANK_COUNT * BANK_BYTES };
static const uint32_t ALL_LANES = 0xffffffff;

/* The wavefronts of one group. Its words are as wide as the access, so `banks` is 32, 16 or 8: an
 * aligned 8-byte word always occupies the same pair of banks. */
CLONES static Units group_wavefronts(const uint32_t word[LANES], uint32_t lanes, unsigned banks) {
    uint32_t used = 0;
    unsigned count = (unsigned)__builtin_popcount(lanes);
    for (unsigned l = 0; l < LANES; l++) {
        uint32_t bank_bit = 1u << (word[l] & (banks - 1));
        used |= lanes >> l & 1 ? bank_bit : 0;
    }
    if ((unsigned)__builtin_popcount(used) == count) return (Units){1, 1};

    /* a chain a bank of the lanes that want different words from it */
    int8_t head[BANK_COUNT], next[LANES];
    uint8_t words[BANK_COUNT] = {0};
    unsigned worst = 0, distinct = 0;
    for (unsigned b = 0; b < banks; b++) head[b] = -1;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes), bank = word[lane] & (banks - 1);
        int other = head[bank];
        while (other >= 0 && word[other] != word[lane]) other = next[other];
        if (other >= 0) continue;
        next[lane] = head[bank];
        head[bank] = (int8_t)lane;
        distinct++;
        if (++words[bank] > worst) worst = words[bank];
    }
    return (Units){worst, (distinct + banks - 1) / banks};
}

/* Whether every pair of active lanes (l, l ^ step) wants the same word. */
static bool pairs_agree(const uint32_t word[LANES], uint32_t mask, unsigned step) {
    uint32_t difference = 0;
    for (unsigned l = 0; l < LANES; l++) {
        bool both = mask >> l & mask >> (l ^ step) & 1;
        difference |= both ? word[l] ^ word[l ^ step] : 0;
    }
    return difference == 0;
}

Units shared_wavefronts(const uint32_t address[LANES], uint32_t mask, unsigned bytes) {
    unsigned width = bytes < BANK_BYTES ? BANK_BYTES : bytes;
    unsigned banks = WAVEFRONT_BYTES / width, group = banks;
    unsigned shift = (unsigned)__builtin_ctz(width);
    uint32_t word[LANES], apart = 0, uneven = 0;
    for (unsigned l = 0; l < LANES; l++) word[l] = address[l] >> shift;
    for (unsigned l = 0; l < LANES; l++) {
        apart |= word[l] ^ word[0];
        uneven |= word[l] - word[0] - l;
    }
    if (mask == ALL_LANES && !apart) return width == 16 ? (Units){2, 2} : (Units){1, 1};
    if (mask == ALL_LANES && !uneven) return (Units){width / BANK_BYTES, width / BANK_BYTES};

    if (width > BANK_BYTES && (pairs_agree(word, mask, 1) || pairs_agree(word, mask, 2))) group *= 2;
    uint32_t group_mask = group == LANES ? ALL_LANES : (1u << group) - 1;
    Units sum = {0, 0};
    for (unsigned first = 0; first < LANES; first += group) {
        uint32_t lanes = mask & group_mask << first;
        if (!lanes) continue;
        Units part = group_wavefronts(word, lanes, banks);
        sum.actual += part.actual;
        sum.ideal += part.ideal;
    }
    return sum;
}

Units matrix_wavefronts(const uint32_t row[], unsigned matrices) {
    enum { ROWS = 8, ROW_BYTES = 16 };
    uint32_t word[LANES] = {0};
    Units sum = {0, matrices};
    for (unsigned r = 0; r < matrices * ROWS; r++) word[r] = row[r] / ROW_BYTES;
    for (unsigned j = 0; j < matrices; j++)
        sum.actual += group_wavefronts(word, 0xffu << (j * ROWS), WAVEFRONT_BYTES / ROW_BYTES).actual;
    return sum;
}

/* Counts by comparing neighbours; `address` ascends. */
static Units ascending_sectors(const uint64_t address[], unsigned count, unsigned bytes) {
    uint32_t sectors = 1, distinct = 1;
    for (unsigned i = 1; i < count; i++) {
        sectors += address[i] / SECTOR_BYTES != address[i - 1] / SECTOR_BYTES;
        distinct += address[i] != address[i - 1];
    }
    uint32_t ideal = (distinct * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    return (Units){sectors, ideal < sectors ? ideal : sectors};
}

static bool ascends(const uint64_t address[], unsigned count) {
    uint64_t descent = 0; /* the top bit gathers the borrows: addresses are below 2^63 */
    for (unsigned i = 1; i < count; i++) descent |= address[i] - address[i - 1];
    return !(descent >> 63);
}

static void sort(uint64_t address[], unsigned count) {
    for (unsigned i = 1; i < count; i++) {
        uint64_t moving = address[i];
        unsigned hole = i;
        for (; hole > 0 && address[hole - 1] > moving; hole--) address[hole] = address[hole - 1];
        address[hole] = moving;
    }
}

Units global_sectors(const uint64_t address[LANES], uint32_t mask, unsigned bytes) {
    if (mask == ALL_LANES && ascends(address, LANES))
        return ascending_sectors(address, LANES, bytes);
    uint64_t active[LANES];
    unsigned count = 0;
    for (; mask; mask &= mask - 1) active[count++] = address[__builtin_ctz(mask)];
    if (count == 0) return (Units){0, 0};
    if (!ascends(active, count)) sort(active, count);
    return ascending_sectors(active, count, bytes);
}
