/* banks.h on access patterns whose cost is known. Catches: groups cut wrongly for 8- and 16-byte
 * accesses, broadcasts counted as conflicts, or as none of an atomic, inactive lanes counted, an
 * ideal above the actual. */
#include <stdbool.h>

#include "machine/memory/banks.h"
#include "test/tap.h"

static const uint32_t all = 0xffffffff;

static void shared(const char *what, unsigned bytes, const uint32_t address[32], uint32_t mask,
                   unsigned actual, unsigned ideal) {
    Units units = shared_wavefronts(address, mask, bytes);
    ok(units.actual == actual && units.ideal == ideal, "%s: %u wavefronts, ideal %u (%u, %u)", what,
       actual, ideal, units.actual, units.ideal);
}

/* Lane l at l * stride, starting `offset` bytes on. */
static void stride(unsigned bytes, unsigned step, unsigned offset, unsigned actual,
                   unsigned ideal) {
    char what[64];
    uint32_t address[32];
    for (uint32_t l = 0; l < 32; l++) address[l] = 1024 + offset + l * step;
    snprintf(what, sizeof what, "%u bytes, stride %u, offset %u", bytes, step, offset);
    shared(what, bytes, address, all, actual, ideal);
}

static void test_strides(void) {
    static const unsigned words[] = {1, 2, 4, 8, 16, 32};
    for (unsigned i = 0; i < 6; i++) stride(4, 4 * words[i], 0, words[i], 1);
    stride(4, 12, 0, 1, 1);
    stride(4, 132, 0, 1, 1);
    stride(4, 4, 64, 1, 1);
    stride(4, 4, 4, 1, 1);
    stride(1, 1, 0, 1, 1);
    stride(2, 2, 0, 1, 1);
    stride(2, 4, 0, 1, 1);
    stride(2, 128, 0, 32, 1);
    stride(8, 8, 0, 2, 2);
    stride(8, 8, 8, 2, 2);
    stride(8, 16, 0, 4, 2);
    stride(8, 128, 0, 32, 2);
    stride(8, 136, 0, 2, 2);
    stride(16, 16, 0, 4, 4);
    stride(16, 16, 16, 4, 4);
    stride(16, 32, 0, 8, 4);
    stride(16, 128, 0, 32, 4);
    stride(16, 144, 0, 4, 4);
    stride(16, 256, 0, 32, 4);
}

static void test_broadcasts(void) {
    uint32_t address[32];
    stride(4, 0, 0, 1, 1);
    stride(8, 0, 0, 1, 1);
    stride(16, 0, 0, 2, 2);
    for (uint32_t l = 0; l < 32; l++) address[l] = l / 2 * 4;
    shared("4 bytes, pairs of lanes share a word", 4, address, all, 1, 1);
    for (uint32_t l = 0; l < 32; l++) address[l] = l / 2 * 8;
    shared("8 bytes, neighbours share: two groups go out together", 8, address, all, 1, 1);
    for (uint32_t l = 0; l < 32; l++) address[l] = (l & 29) * 16;
    shared("16 bytes, lanes l and l ^ 2 share", 16, address, all, 4, 2);
    for (uint32_t l = 0; l < 32; l++) address[l] = l * 128 + l / 16 * 8;
    shared("8 bytes, nobody shares: two groups of 16 conflicts each", 8, address, all, 32, 2);
    for (uint32_t l = 0; l < 32; l++) address[l] = l / 16 * 128;
    shared("two words of one bank, 16 lanes each", 4, address, all, 2, 1);
    for (uint32_t l = 0; l < 32; l++) address[l] = l % 4 * 128 + l / 4 % 2 * 4;
    shared("8 words in 2 banks", 4, address, all, 4, 1);
}

/* Tiles with 128-byte rows of 16-byte chunks. */
static void test_tiles(void) {
    uint32_t column[32], swizzled[32];
    for (uint32_t l = 0; l < 32; l++) {
        column[l] = l * 128;
        swizzled[l] = l * 128 + ((l & 7) << 4);
    }
    shared("a column of chunks", 16, column, all, 32, 4);
    shared("a column of chunks, XOR swizzle", 16, swizzled, all, 4, 4);
    static const unsigned counts[] = {1, 2, 4};
    for (unsigned i = 0; i < 3; i++) {
        Units plain = matrix_wavefronts(column, counts[i]),
              xor = matrix_wavefronts(swizzled, counts[i]);
        ok(plain.actual == 8 * counts[i] && plain.ideal == counts[i],
           "ldmatrix.x%u without swizzle: 8 wavefronts a matrix", counts[i]);
        ok(xor.actual == counts[i] && xor.ideal == counts[i], "ldmatrix.x%u swizzled: 1 a matrix",
           counts[i]);
    }
    uint32_t same[8] = {0, 0, 128, 128, 256, 256, 384, 384};
    ok(matrix_wavefronts(same, 1).actual == 4, "ldmatrix: equal rows share a wavefront");
}

static void test_masks(void) {
    uint32_t address[32];
    for (uint32_t l = 0; l < 32; l++) address[l] = l * 128;
    shared("no lane", 4, address, 0, 0, 0);
    shared("one lane", 4, address, 1u << 17, 1, 1);
    shared("lanes 0 and 31 of a 32-way conflict", 4, address, 0x80000001, 2, 1);
    shared("16 bytes, lanes 8 to 15", 16, address, 0xff00, 8, 1);
    for (uint32_t l = 0; l < 32; l++) address[l] = l < 16 ? l * 4 : 0xdead;
    shared("garbage in inactive lanes", 4, address, 0xffff, 1, 1);
    Units units = global_sectors((const uint64_t[32]){0}, 0, 4);
    ok(units.actual == 0 && units.ideal == 0, "no lane, global");
}

/* Every pattern by the definition: the distinct words that a group of lanes wants of each bank, one
 * by one. A lane wants all words of its access. */
static unsigned slow_group(const uint32_t address[32], uint32_t mask, unsigned bytes) {
    unsigned words[32] = {0}, worst = 0;
    for (unsigned l = 0; l < 32; l++) {
        const unsigned first = address[l] / 4, count = bytes < 4 ? 1 : bytes / 4;
        bool counts = mask >> l & 1;
        for (unsigned m = 0; m < l; m++)
            if (mask >> m & 1 && address[m] / 4 == first) counts = false;
        for (unsigned i = 0; i < count; i++) words[(first + i) % 32] += counts;
    }
    for (unsigned bank = 0; bank < 32; bank++) worst = words[bank] > worst ? words[bank] : worst;
    return worst;
}

static bool slow_pairs(const uint32_t address[32], uint32_t mask, unsigned step) {
    for (unsigned l = 0; l < 32; l++)
        if (mask >> l & mask >> (l ^ step) & 1 && address[l] != address[l ^ step]) return false;
    return true;
}

static unsigned slow_wavefronts(const uint32_t address[32], uint32_t mask, unsigned bytes) {
    const bool wide = bytes > 4;
    const bool pairs = wide && (slow_pairs(address, mask, 1) || slow_pairs(address, mask, 2));
    const unsigned lanes = wide ? 128 / bytes * (pairs ? 2 : 1) : 32;
    unsigned sum = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        const uint32_t group = lanes == 32 ? all : ((1u << lanes) - 1) << first;
        sum += slow_group(address, mask & group, bytes);
    }
    return sum;
}

/* Requests in which neighbours, or lanes two apart, mostly want the same, and others. */
static void test_random_wide(void) {
    uint32_t state = 7;
    for (unsigned bytes = 8; bytes <= 16; bytes *= 2) {
        unsigned bad = 0, paired = 0, matrices = 0;
        for (int trial = 0; trial < 4000; trial++) {
            uint32_t address[32], mask = trial % 3 ? all : 0;
            const unsigned spread = 1u << trial % 8, shared = (unsigned)trial / 8 % 4;
            for (unsigned l = 0; l < 32; l++) {
                state = state * 1664525 + 1013904223;
                address[l] = 1024 + (state >> 16) % (32 * spread) * bytes;
                if (shared == 1 && l & 1) address[l] = address[l - 1];
                if (shared == 2 && l & 2) address[l] = address[l - 2];
                if (!(trial % 3)) mask |= (state >> 9 & 1) << l;
            }
            bad += shared_wavefronts(address, mask, bytes).actual !=
                   slow_wavefronts(address, mask, bytes);
            paired += mask && slow_pairs(address, mask, 1);
            if (bytes < 16) continue;
            unsigned rows = 0;
            for (unsigned m = 0; m < 4; m++) rows += slow_group(address, 0xffu << 8 * m, 16);
            matrices += matrix_wavefronts(address, 4).actual != rows;
        }
        ok(bad == 0 && paired > 200, "4000 random %u-byte requests equal the definition (%u wrong)",
           bytes, bad);
        ok(matrices == 0, "and so do matrices (%u wrong)", matrices);
    }
}

/* Some lanes at one place, or in a row from the middle of a word on; the others anywhere. */
static void test_partial(unsigned bytes) {
    static const uint32_t masks[] = {0,          1,          0x80000000, 0xff,
                                     0xff00ff,   0xffff0000, 0x55555555, 0x11111111,
                                     0x33333333, 0x7fffffff, ~0u};
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        for (unsigned step = 0; step <= bytes; step += bytes) {
            uint32_t address[32];
            for (uint32_t l = 0; l < 32; l++)
                address[l] = masks[i] >> l & 1 ? 1024 + bytes + l * step : 4096 + 208 * l;
            const Units units = shared_wavefronts(address, masks[i], bytes);
            wrong += units.actual != slow_wavefronts(address, masks[i], bytes) ||
                     (units.ideal == 0) != (masks[i] == 0) || units.ideal > units.actual;
        }
    ok(wrong == 0, "%u bytes, some lanes at one place and in a row (%u wrong)", bytes, wrong);
}

static void test_random(void) {
    uint32_t seed = 1, bad = 0, bad_order = 0, bad_sectors = 0;
    for (int i = 0; i < 20000; i++) {
        uint32_t address[32], mask = 0;
        uint64_t global[32];
        for (int l = 0; l < 32; l++) {
            seed = seed * 1664525 + 1013904223;
            address[l] = seed >> 20 << 2;
            mask = mask << 1 | (seed >> 9 & 1);
            global[l] = 0x7f0000000000 + (seed >> (i & 15) >> 8 << 2);
        }
        bad += shared_wavefronts(address, mask, 4).actual != slow_wavefronts(address, mask, 4);
        for (unsigned bytes = 4; bytes <= 16; bytes *= 2) {
            for (int l = 0; l < 32; l++) address[l] &= ~15u;
            Units units = shared_wavefronts(address, mask, bytes);
            bad_order += units.ideal > units.actual || (mask && units.ideal == 0);
        }
        unsigned sectors = 0;
        for (int l = 0; l < 32; l++) {
            bool counts = mask >> l & 1;
            for (int m = 0; m < l; m++)
                if (mask >> m & 1 && global[m] / 32 == global[l] / 32) counts = false;
            sectors += counts;
        }
        bad_sectors += global_sectors(global, mask, 4).actual != sectors;
    }
    ok(bad == 0, "20000 random 4-byte requests equal the definition (%u wrong)", bad);
    ok(bad_order == 0, "1 <= ideal <= actual (%u wrong)", bad_order);
    ok(bad_sectors == 0, "20000 random global requests equal the definition (%u wrong)",
       bad_sectors);
}

/* What Nsight Compute counts on an H200: lane l at word l % words, the words `step` apart. */
static void test_atomics(void) {
    static const struct {
        unsigned words, step, wavefronts;
    } counted[] = {{1, 1, 32}, {2, 1, 16}, {16, 1, 2}, {32, 1, 1}, {32, 2, 2}, {32, 32, 32}};
    uint32_t address[32];
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        for (uint32_t l = 0; l < 32; l++)
            address[l] = 1024 + l % counted[i].words * counted[i].step * 4;
        for (unsigned alone = 1; alone <= 2; alone++) {
            const Units units = atomic_wavefronts(address, all, 4, alone);
            ok(units.actual == alone * counted[i].wavefronts && units.ideal == alone,
               "atomic on %u words %u apart, %u each: %u wavefronts, ideal %u (%u, %u)",
               counted[i].words, counted[i].step, alone, alone * counted[i].wavefronts, alone,
               units.actual, units.ideal);
        }
    }
    for (uint32_t l = 0; l < 32; l++) address[l] = l % 16 * 4;
    Units units = atomic_wavefronts(address, 0xf000f, 4, 1);
    ok(units.actual == 2 && units.ideal == 1, "an atomic of eight lanes on four words");
    units = atomic_wavefronts(address, 0, 4, 1);
    ok(units.actual == 0 && units.ideal == 0, "an atomic of no lane");
    for (uint32_t l = 0; l < 32; l++) address[l] = l % 8 * 8;
    units = atomic_wavefronts(address, all, 8, 1);
    ok(units.actual == 4 && units.ideal == 2, "an atomic of 8 bytes: two groups of 16 lanes");
}

/* Whether the lanes of each wavefront want one word of each bank, or one lane each bank if they are
 * `alone`, and there are `units` of them. */
static bool good_placement(const uint32_t address[32], uint32_t mask, unsigned bytes,
                           unsigned matrices, unsigned alone, unsigned units) {
    uint8_t wavefront[32];
    unsigned most = 0;
    shared_placement(address, mask, bytes, matrices, alone, wavefront);
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) {
            if (wavefront[l]) return false;
            continue;
        }
        const unsigned last = wavefront[l] + (alone ? alone : 1);
        most = last > most ? last : most;
        for (unsigned other = 0; other < l; other++) {
            const unsigned earlier =
                wavefront[other] < wavefront[l] ? wavefront[other] : wavefront[l];
            const unsigned apart = (unsigned)wavefront[other] + wavefront[l] - 2 * earlier;
            const bool together = mask >> other & 1 && apart < (alone ? alone : 1);
            const bool same_bank = address[l] / 4 % 32 == address[other] / 4 % 32;
            const bool same_word = address[l] / 4 == address[other] / 4;
            if (together && same_bank && (alone || !same_word)) return false;
        }
    }
    return most == units;
}

static void test_placement(void) {
    static const unsigned widths[] = {1, 2, 4, 8, 16};
    unsigned bad = 0;
    uint32_t state = 12345;
    for (int trial = 0; trial < 5000; trial++) {
        const unsigned bytes = widths[trial % 5], spread = 1u << trial / 5 % 8;
        uint32_t address[32], mask = trial % 3 ? all : 0;
        for (unsigned l = 0; l < 32; l++) {
            state = state * 1664525 + 1013904223;
            address[l] = 1024 + (state >> 16) % (32 * spread) * bytes;
            if (!(trial % 3)) mask |= (state >> 9 & 1) << l;
        }
        if (!mask) continue;
        const Units units = shared_wavefronts(address, mask, bytes);
        bad += !good_placement(address, mask, bytes, 0, 0, units.actual);
        if (bytes == 4 || bytes == 8) {
            const unsigned alone = 1 + (unsigned)trial % 2;
            const Units atomic = atomic_wavefronts(address, mask, bytes, alone);
            bad += !good_placement(address, mask, bytes, 0, alone, atomic.actual);
        }
        if (bytes != 16) continue;
        const Units rows = matrix_wavefronts(address, 4);
        bad += !good_placement(address, all, bytes, 4, 0, rows.actual);
    }
    ok(bad == 0, "placement of random requests: as many wavefronts as are counted (%u wrong)", bad);
}

static void sectors(unsigned bytes, int step, unsigned offset, unsigned actual, unsigned ideal) {
    uint64_t address[32];
    for (int l = 0; l < 32; l++)
        address[l] = 0x7f0000010000 + offset + (uint64_t)((int64_t)l * step);
    Units units = global_sectors(address, all, bytes);
    ok(units.actual == actual && units.ideal == ideal,
       "global, %u bytes, stride %d, offset %u: %u sectors, ideal %u (%u, %u)", bytes, step, offset,
       actual, ideal, units.actual, units.ideal);
}

static void test_sectors(void) {
    sectors(4, 4, 0, 4, 4);
    sectors(4, 4, 4, 5, 4);
    sectors(4, 8, 0, 8, 4);
    sectors(4, 32, 0, 32, 4);
    sectors(4, 256, 0, 32, 4);
    sectors(4, -4, 124, 4, 4);
    sectors(4, -4, 128, 5, 4);
    sectors(4, -256, 0, 32, 4);
    sectors(4, 0, 0, 1, 1);
    sectors(1, 1, 0, 1, 1);
    sectors(2, 2, 0, 2, 2);
    sectors(2, 2, 2, 3, 2);
    sectors(2, 256, 0, 32, 2);
    sectors(8, 8, 0, 8, 8);
    sectors(16, 16, 0, 16, 16);
    sectors(16, 256, 0, 32, 16);
    uint64_t address[32];
    for (uint64_t l = 0; l < 32; l++) address[l] = l % 2 * 4096 + l / 2 * 4;
    ok(global_sectors(address, all, 4).actual == 4, "two rows, lanes in turn: 4 sectors");
    for (uint64_t l = 0; l < 32; l++) address[l] = l / 8 * 4096;
    Units units = global_sectors(address, all, 4);
    ok(units.actual == 4 && units.ideal == 1,
       "four words, 8 lanes each: 4 sectors, 16 distinct bytes");
    for (uint64_t l = 0; l < 32; l++) address[l] = l * 4096;
    ok(global_sectors(address, 0x11, 4).actual == 2, "two lanes, two sectors");
}

int main(void) {
    test_strides();
    test_broadcasts();
    test_tiles();
    test_masks();
    for (unsigned bytes = 1; bytes <= 16; bytes *= 2) test_partial(bytes);
    test_random();
    test_random_wide();
    test_placement();
    test_sectors();
    test_atomics();
    return done_testing();
}
