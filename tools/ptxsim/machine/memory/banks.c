#include "machine/memory/banks.h"

#include <stdbool.h>

enum { LANES = 32, WAVEFRONT_SHIFT = 7 }; /* a wavefront moves 32 banks of 4 bytes */
static const uint32_t ALL_LANES = 0xffffffff;

typedef uint32_t Eight __attribute__((vector_size(32), aligned(4), may_alias));

/* Marks each lane for which an earlier lane has the same key: lined up with itself at every
 * distance, the list shows the equal ones. Distances of `reach` and more do not matter. */
static inline void mark_repeats(const uint32_t key[LANES], unsigned reach, uint32_t repeat[LANES]) {
    uint32_t padded[2 * LANES];
    for (unsigned l = 0; l < LANES; l++) padded[l] = UINT32_MAX; /* no key */
    for (unsigned l = 0; l < LANES; l++) padded[LANES + l] = key[l];
    for (unsigned l = 0; l < LANES; l += 8) {
        const uint32_t *here = padded + LANES + l;
        Eight mine = *(const Eight *)here, same = {0};
        for (unsigned distance = 1; distance < reach; distance++)
            same |= (Eight)(mine == *(const Eight *)(here - distance));
        *(Eight *)(repeat + l) = same & 1;
    }
}

/* The wavefronts of a request cut into groups of 1 << group_shift lanes. Words are as wide as the
 * access, so there are 1 << bank_shift of them across, 32, 16 or 8: an aligned 8-byte word always
 * occupies the same pair of banks. */
static inline Units grouped_wavefronts(const uint32_t word[LANES], uint32_t mask,
                                       unsigned bank_shift, unsigned group_shift) {
    unsigned groups = LANES >> group_shift, banks = 1u << bank_shift, group = 1u << group_shift;
    uint32_t group_lanes = group == LANES ? ALL_LANES : (1u << group) - 1;
    uint32_t slot[LANES], used = 0; /* a slot is a bank of a group: at most 32 */
    for (unsigned l = 0; l < LANES; l++) {
        slot[l] = (l >> group_shift << bank_shift) + (word[l] & (banks - 1));
        used |= (mask >> l & 1) << slot[l];
    }
    Units sum = {0, 0};
    if (__builtin_popcount(used) == __builtin_popcount(mask)) { /* no two lanes share a bank */
        for (unsigned g = 0; g < groups; g++)
            sum.actual += (mask & group_lanes << (g << group_shift)) != 0;
        return (Units){sum.actual, sum.actual};
    }

    uint32_t key[LANES], repeat[LANES], distinct_lanes = mask;
    uint8_t load[LANES] = {0}; /* distinct words of each slot */
    for (unsigned l = 0; l < LANES; l++) {
        uint32_t in_group = word[l] | (uint32_t)l >> group_shift << 30; /* groups never coincide */
        key[l] = mask >> l & 1 ? in_group : UINT32_MAX - 1 - l;
    }
    mark_repeats(key, group, repeat);
    for (unsigned l = 0; l < LANES; l++) distinct_lanes &= ~(repeat[l] << l);
    for (uint32_t left = distinct_lanes; left; left &= left - 1) load[slot[__builtin_ctz(left)]]++;
    for (unsigned g = 0; g < groups; g++) {
        const uint8_t *bank = load + (g << bank_shift);
        uint8_t worst = 0;
        for (unsigned b = 0; b < banks; b++) worst = bank[b] > worst ? bank[b] : worst;
        uint32_t lanes = distinct_lanes & group_lanes << (g << group_shift);
        sum.actual += worst;
        sum.ideal += ((uint32_t)__builtin_popcount(lanes) + banks - 1) >> bank_shift;
    }
    return sum;
}

/* Whether every pair of active lanes (l, l ^ step) wants the same word. */
static inline bool pairs_agree(const uint32_t word[LANES], uint32_t mask, unsigned step) {
    uint32_t difference = 0;
    for (unsigned l = 0; l < LANES; l++) {
        bool both = mask >> l & mask >> (l ^ step) & 1;
        difference |= both ? word[l] ^ word[l ^ step] : 0;
    }
    return difference == 0;
}

/* A group has 1 << this many lanes. */
static inline unsigned group_shift_of(const uint32_t word[LANES], uint32_t mask,
                                      unsigned width_shift) {
    bool pairs = width_shift > 2 && (pairs_agree(word, mask, 1) || pairs_agree(word, mask, 2));
    return WAVEFRONT_SHIFT - width_shift + pairs;
}

Units shared_wavefronts(const uint32_t address[LANES], uint32_t mask, unsigned bytes) {
    unsigned width_shift = bytes <= 4 ? 2 : bytes == 8 ? 3 : 4, width = 1u << width_shift;
    uint32_t word[LANES], apart = 0, uneven = 0;
    for (unsigned l = 0; l < LANES; l++) {
        word[l] = address[l] >> width_shift;
        apart |= (address[l] ^ address[0]) >> width_shift;
        uneven |= (address[l] >> width_shift) - (address[0] >> width_shift) - l;
    }
    if (mask == ALL_LANES && !apart) return width == 16 ? (Units){2, 2} : (Units){1, 1};
    if (mask == ALL_LANES && !uneven) return (Units){width / BANK_BYTES, width / BANK_BYTES};

    unsigned bank_shift = WAVEFRONT_SHIFT - width_shift;
    return grouped_wavefronts(word, mask, bank_shift, group_shift_of(word, mask, width_shift));
}

Units atomic_wavefronts(const uint32_t address[LANES], uint32_t mask, unsigned bytes,
                        unsigned alone) {
    const unsigned width_shift = bytes == 8 ? 3 : 2, group = LANES >> (width_shift - 2);
    Units sum = {0, 0};
    for (unsigned first = 0; first < LANES; first += group) {
        unsigned lanes[BANK_COUNT] = {0}, worst = 0;
        for (unsigned l = first; l < first + group; l++) {
            unsigned *bank = &lanes[(address[l] >> width_shift) % group];
            *bank += mask >> l & 1;
            worst = *bank > worst ? *bank : worst;
        }
        sum.actual += alone * worst;
        sum.ideal += worst ? alone : 0;
    }
    return sum;
}

Units matrix_wavefronts(const uint32_t row[], unsigned matrices) {
    enum { ROWS = 8, ROW_SHIFT = 4, GROUP_SHIFT = 3 };
    uint32_t word[LANES] = {0}, mask = matrices == 4 ? ALL_LANES : (1u << matrices * ROWS) - 1;
    for (unsigned r = 0; r < matrices * ROWS; r++) word[r] = row[r] >> ROW_SHIFT;
    return grouped_wavefronts(word, mask, WAVEFRONT_SHIFT - ROW_SHIFT, GROUP_SHIFT);
}

/* The wavefront of a lane within its group: that of an earlier lane with the same word, unless it
 * is `alone`, else the next one of its bank. taken[bank] counts what the bank has served. */
static uint8_t place_lane(const uint32_t word[LANES], uint32_t earlier, unsigned lane,
                          unsigned alone, const uint8_t wavefront[LANES], uint8_t *taken) {
    for (; earlier && !alone; earlier &= earlier - 1) {
        unsigned other = (unsigned)__builtin_ctz(earlier);
        if (word[other] == word[lane]) return wavefront[other];
    }
    const uint8_t next = *taken;
    *taken = (uint8_t)(next + (alone ? alone : 1));
    return next;
}

void shared_placement(const uint32_t address[LANES], uint32_t mask, unsigned bytes,
                      unsigned matrices, unsigned alone, uint8_t wavefront[LANES]) {
    unsigned width_shift = matrices || bytes > 8 ? 4 : bytes == 8 ? 3 : 2;
    uint32_t word[LANES] = {0};
    for (uint32_t left = mask; left; left &= left - 1)
        word[__builtin_ctz(left)] = address[__builtin_ctz(left)] >> width_shift;
    unsigned banks = 1u << (WAVEFRONT_SHIFT - width_shift);
    unsigned group = 1u << (matrices ? 3
                            : alone  ? WAVEFRONT_SHIFT - width_shift
                                     : group_shift_of(word, mask, width_shift));
    unsigned first = 0, next = 0; /* of the group's wavefronts, of the next group's */
    uint8_t taken[LANES], place[LANES] = {0};
    uint32_t earlier = 0; /* lanes of the group that have their place */
    for (unsigned l = 0; l < LANES; l++) {
        if (l % group == 0) {
            first = next;
            earlier = 0;
            for (unsigned b = 0; b < LANES; b++) taken[b] = 0;
        }
        wavefront[l] = 0;
        if (!(mask >> l & 1)) continue;
        uint8_t *served = &taken[word[l] & (banks - 1)];
        place[l] = place_lane(word, earlier, l, alone, place, served);
        wavefront[l] = (uint8_t)(first + place[l]);
        if (first + *served > next) next = first + *served;
        earlier |= 1u << l;
    }
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
