/* What is remembered of a request, and which requests it fits. Catches: lanes that are kept at a
 * wrong distance, a span that is measured from elsewhere, a pattern that fits addresses that are
 * not it or that is too wide to be one, a lane whose sector nobody counts, patterns that are taken
 * for each other. */
#include "machine/memory/pattern.h"

#include <string.h>

#include "test/tap.h"

enum { LANES = 32 };
static const Units units = {7, 5};
static Patterns patterns; /* of a test */

static const Pattern *learn_shared(const uint32_t address[LANES], unsigned bytes) {
    return &patterns.pattern[pattern_learn_shared(&patterns, address, bytes, units)];
}
static const Pattern *learn_global(const uint64_t address[LANES], unsigned bytes) {
    return &patterns.pattern[pattern_learn_global(&patterns, address, bytes, units)];
}

/* Lane l is l * step + extra * (l == which) behind `first`. */
static void set(uint64_t address[LANES], uint64_t first, int64_t step, int which, int64_t extra) {
    for (int l = 0; l < LANES; l++)
        address[l] = first + (uint64_t)(l * step + (l == which ? extra : 0));
}

static void narrow(const uint64_t address[LANES], uint32_t low[LANES]) {
    for (int l = 0; l < LANES; l++) low[l] = (uint32_t)address[l];
}

/* A request of `bytes` per lane: what is remembered, in both memories. */
static void learns(const char *name, const uint64_t address[LANES], unsigned bytes, int lowest,
                   unsigned span, Shape shape) {
    uint32_t low[LANES];
    narrow(address, low);
    for (int i = 0; i < 2; i++) {
        const Pattern *p = i ? learn_global(address, bytes) : learn_shared(low, bytes);
        int wrong = 0;
        for (int l = 0; l < LANES; l++) wrong += p->distance[l] != (int64_t)(address[l] - *address);
        ok(p->known && !wrong, "%s, %s: distances (%d wrong)", i ? "global" : "shared", name,
           wrong);
        ok(p->lowest == lowest && p->span == span, "from %d, %u bytes (%d, %u)", lowest, span,
           p->lowest, p->span);
        ok(p->shape == shape && p->units.actual == 7 && p->units.ideal == 5, "shape and cost");
    }
}

static void test_learn(void) {
    uint64_t address[LANES];
    set(address, 4096, 4, 0, 0);
    learns("a row", address, 4, 0, 128, SHAPE_ROW);
    set(address, 4096, 8, 0, 0);
    learns("a row with gaps", address, 4, 0, 252, SHAPE_ANY);
    set(address, 4096, 0, 0, 0);
    learns("one place", address, 16, 0, 16, SHAPE_HALVES);
    set(address, 4096, -4, 0, 0);
    learns("downwards", address, 4, -124, 128, SHAPE_ANY);
    set(address, 4096, 0, 5, 100);
    learns("one lane further", address, 4, 0, 104, SHAPE_ANY);
    set(address, 4096, 0, 31, -100);
    learns("one lane before", address, 4, -100, 104, SHAPE_ANY);
    for (int l = 0; l < LANES; l++) address[l] = 4096 + (l < 16 ? 0u : 64u);
    learns("two halves", address, 4, 0, 68, SHAPE_HALVES);
    for (int l = 0; l < LANES; l++) address[l] = 4096 + (l < 16 ? 64u : 0u);
    learns("the second half first", address, 4, -64, 68, SHAPE_HALVES);
    for (int l = 0; l < LANES; l++) address[l] = 4096 + (uint64_t)l % 16 * 260;
    learns("the second half as the first", address, 2, 0, 15 * 260 + 2, SHAPE_TWICE);
    address[31] += 2;
    learns("but for the last lane", address, 2, 0, 15 * 260 + 4, SHAPE_ANY);
}

/* What is narrower than a word may be read with it where lanes are whole words apart. */
static void test_words(void) {
    uint64_t address[LANES];
    for (int step = 2; step <= 8; step += 2) {
        set(address, 4098, step, 0, 0);
        const Pattern *p = learn_global(address, 2);
        ok(p->words == (step % 4 == 0), "lanes that are %d bytes apart", step);
    }
    set(address, 4096, 4, 31, 2);
    ok(!learn_global(address, 2)->words, "but for one");
}

/* Equal patterns are one, wherever they were; a list that is full learns nothing, and forgets
 * nothing. */
static void test_list(void) {
    uint64_t address[LANES];
    unsigned number[MAX_PATTERNS], wrong = 0;
    memset(&patterns, 0, sizeof patterns);
    for (unsigned i = 0; i < MAX_PATTERNS; i++) {
        set(address, 4096, 32, 31, 32 * (int64_t)i);
        number[i] = pattern_learn_global(&patterns, address, 4, units);
        wrong += number[i] != (i + 1 < MAX_PATTERNS ? i + 1 : 0);
    }
    ok(!wrong, "%d patterns have numbers, the next one has none (%u wrong)", MAX_PATTERNS - 1,
       wrong);
    for (unsigned i = 0; i < MAX_PATTERNS; i++) {
        set(address, 8192, 32, 31, 32 * (int64_t)i);
        wrong += pattern_learn_global(&patterns, address, 4, units) != number[i];
    }
    ok(!wrong, "at another place they have the same (%u wrong)", wrong);
    set(address, 4096, 32, 0, 0);
    const Units dearer = {8, 5}, better = {7, 6};
    ok(pattern_learn_global(&patterns, address, 4, dearer) != number[0] &&
           pattern_learn_global(&patterns, address, 4, better) != number[0] &&
           pattern_learn_global(&patterns, address, 8, units) != number[0],
       "what costs more, or is wider, is another one");
    memset(&patterns, 0, sizeof patterns);
}

/* One that is known is left as it is, and so are those after it. */
static void test_known(void) {
    uint64_t address[LANES];
    unsigned number[3];
    for (unsigned i = 0; i < 2; i++) {
        set(address, 4096, 32, 31, 32 * (int64_t)i);
        number[i] = pattern_learn_global(&patterns, address, 4, units);
    }
    patterns.pattern[number[0]].next = 7;
    patterns.pattern[number[1]].next = 8;
    for (unsigned i = 0; i < 2; i++) {
        set(address, 4096, 32, 31, 32 * (int64_t)(1 - i));
        ok(pattern_learn_global(&patterns, address, 4, units) == number[1 - i], "known");
    }
    ok(patterns.pattern[number[0]].next == 7 && patterns.pattern[number[1]].next == 8,
       "with what came after it");
    set(address, 4096, 32, 31, 64);
    number[2] = pattern_learn_global(&patterns, address, 4, units);
    ok(number[2] == 3 && patterns.count == 3, "a new one comes behind all others");
    memset(&patterns, 0, sizeof patterns);
}

/* The same request `by` bytes on, and one with a lane elsewhere. */
static void test_fits(void) {
    static const struct {
        unsigned bytes;
        int step;
        unsigned shared, global; /* the cost is the same so many bytes on, and so many times that */
    } cases[] = {{4, 4, 1, 32},   {2, 2, 4, 32}, {1, 1, 4, 32},
                 {16, 16, 1, 32}, {4, 32, 1, 1}, {4, 48, 1, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address[LANES];
        uint32_t low[LANES];
        int wrong = 0;
        set(address, 4096, cases[i].step, 0, 0);
        narrow(address, low);
        ok(!pattern_fits_shared(patterns.pattern, low, 4096) &&
               !pattern_fits_global(patterns.pattern, address, 4096),
           "nothing fits the first of the list");
        const Pattern *shared = learn_shared(low, cases[i].bytes);
        const Pattern *global = learn_global(address, cases[i].bytes);
        for (unsigned by = 0; by < 130; by++) {
            set(address, 4096 + by, cases[i].step, 0, 0);
            narrow(address, low);
            wrong += pattern_fits_shared(shared, low, low[0]) != (by % cases[i].shared == 0);
            wrong += pattern_fits_global(global, address, *address) != (by % cases[i].global == 0);
        }
        ok(!wrong, "%u bytes, %d apart: it fits where its cost is the same (%d wrong)",
           cases[i].bytes, cases[i].step, wrong);
        for (int l = 0; l < LANES; l++) {
            set(address, 4096, cases[i].step, l, 256);
            narrow(address, low);
            wrong += pattern_fits_shared(shared, low, 4096);
            wrong += pattern_fits_global(global, address, 4096);
        }
        ok(!wrong, "and no lane may be elsewhere (%d wrong)", wrong);
    }
}

/* Distances are kept in 32 bits. */
static void test_wide(void) {
    static const struct {
        int64_t extra;
        bool known;
    } cases[] = {{INT32_MAX / 2 - 1, true}, {INT32_MAX / 2, false},
                 {INT32_MIN / 2 + 1, true}, {INT32_MIN / 2, false},
                 {(int64_t)1 << 32, false}, {-((int64_t)1 << 40), false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address[LANES];
        set(address, (uint64_t)1 << 44, 0, 9, cases[i].extra);
        ok((pattern_learn_global(&patterns, address, 4, units) != 0) == cases[i].known,
           "a lane %lld bytes away is %s", (long long)cases[i].extra,
           cases[i].known ? "kept" : "too far");
    }
}

/* The lanes that are asked for their sectors have all of the sectors between them. */
static void leads(const char *name, const uint64_t address[LANES], uint32_t leaders) {
    const uint32_t found = learn_global(address, 4)->leaders;
    ok(found == leaders, "%s: lanes %08x (%08x)", name, leaders, found);
}

static void test_leaders(void) {
    uint64_t address[LANES];
    set(address, 4096, 4, 0, 0);
    leads("a row: every eighth lane", address, 0x01010101);
    set(address, 4096, 32, 0, 0);
    leads("a sector each: all", address, 0xffffffff);
    set(address, 4096, 0, 0, 0);
    leads("one place: the first", address, 1);
    for (int l = 0; l < LANES; l++) address[l] = 4096 + (uint64_t)l % 16 * 32;
    leads("the second half as the first: the first half", address, 0x0000ffff);
    set(address, 4096 + 28, 4, 0, 0);
    leads("from the end of a sector", address, 0x02020203);
}

int main(void) {
    test_learn();
    test_words();
    test_list();
    test_known();
    test_fits();
    test_wide();
    test_leaders();
    return done_testing();
}
