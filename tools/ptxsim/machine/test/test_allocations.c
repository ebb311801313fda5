/* Global memory and its marks. Catches: an address beyond an allocation that is found, one inside
 * that is not, the farther of two neighbours, memory that is counted after it was given back, a
 * sector that is counted twice, in another allocation or not at all. */
#include "machine/memory/memory.h"
#include "test/allocator.h"
#include "test/tap.h"

#include <unistd.h>

enum { BLOCKS = 200 };
static long pages = 1 << 20; /* of the host */

long sysconf(int name) { return name == _SC_PAGESIZE ? 4096 : pages; }

static void test_places(void) {
    static uint8_t *block[BLOCKS];
    const size_t before = memory_free_bytes();
    int good = 0, empty = 0;
    for (int i = 0; i < BLOCKS; i++) block[i] = memory_allocate((size_t)i * 16);
    for (int i = 0; i < BLOCKS; i++) {
        const uint64_t at = (uint64_t)(uintptr_t)block[i], bytes = (uint64_t)i * 16;
        const Allocation *a = memory_find(at, bytes);
        good += a && a->start == at && a->end == at + bytes && at % 256 == 0 &&
                memory_find(at + bytes, 0) == a && !memory_find(at + bytes, 1) &&
                !memory_find(at, bytes + 1) &&
                memory_find(at + bytes / 2, bytes - bytes / 2) == a && memory_find(at - 1, 1) != a;
        empty += i && block[i][0] == 0xff && block[i][bytes - 1] == 0xff;
    }
    is_int(good, BLOCKS, "every allocation is found from its first byte to its last");
    is_int(empty, BLOCKS - 1, "and holds NaN");
    is_int((long long)(before - memory_free_bytes()), 16LL * BLOCKS * (BLOCKS - 1) / 2,
           "is counted");
    ok(!memory_release(block[5] + 1) && !memory_release(NULL), "what is none is not given back");
    for (int i = 0; i < BLOCKS; i += 2) good -= memory_release(block[i]);
    is_int(good, BLOCKS / 2, "every other one is given back");
    for (int i = 0; i < BLOCKS; i++)
        good += (memory_find((uint64_t)(uintptr_t)block[i], 1) != NULL) == (i % 2 == 1);
    is_int(good, BLOCKS / 2 + BLOCKS, "and only those are gone");
    for (int i = 1; i < BLOCKS; i += 2) memory_release(block[i]);
    is_int((long long)memory_free_bytes(), (long long)before, "all is free again");
    ok(!memory_release(block[1]), "nothing twice");
    ok(!memory_allocate(memory_total_bytes() + 1), "not more than there is");
    ok(!memory_nearest(4096), "nothing is near where nothing is");
}

/* Memory that is given back and taken again lies between what stays. */
static void test_again(void) {
    static uint8_t *block[BLOCKS];
    int found = 0;
    for (int i = 0; i < BLOCKS; i++) block[i] = memory_allocate(1000);
    for (int round = 1; round <= 3; round++) {
        for (int i = round; i < BLOCKS; i += 1 + round) memory_release(block[i]);
        for (int i = round; i < BLOCKS; i += 1 + round) block[i] = memory_allocate(1000);
    }
    for (int i = 0; i < BLOCKS; i++) {
        const uint64_t at = (uint64_t)(uintptr_t)block[i];
        const Allocation *a = memory_find(at + 999, 1);
        found += a && a->start == at && a->end == at + 1000;
    }
    is_int(found, BLOCKS, "memory that was taken again is found");
    for (int i = 0; i < BLOCKS; i++) found -= memory_release(block[i]);
    is_int(found, 0, "and given back");
}

/* Where there is no memory for what belongs to an allocation, there is none, and nothing stays. */
static void test_short(void) {
#if ALLOCATOR_COUNTS
    const long first = atomic_load(&held);
    refuse(0);
    ok(!memory_allocate(100), "no list");
    is_int(atomic_load(&held) - first, 0, "and nothing is kept");
    refuse(-1);
    memory_release(memory_allocate(100)); /* the list has room now */
    const size_t free_bytes = memory_free_bytes();
    const long before = atomic_load(&held);
    for (int which = 0; which < 4; which++) {
        refuse(which);
        ok(!memory_allocate(100), "allocation %d refused", which);
    }
    refuse(-1);
    is_int(atomic_load(&held) - before, 0, "what was taken for it is given back");
    ok(memory_free_bytes() == free_bytes && !memory_nearest(4096), "and is not counted");
#endif
}

static void test_nearest(void) {
    uint8_t *one = memory_allocate(1 << 20), *two = memory_allocate(1 << 20);
    const uint64_t low = (uint64_t)(uintptr_t)(one < two ? one : two),
                   high = (uint64_t)(uintptr_t)(one < two ? two : one),
                   middle = (low + (1 << 20) + high) / 2;
    ok(memory_nearest(low - 1)->start == low && memory_nearest(16)->start == low, "below all");
    ok(memory_nearest(middle - 2)->start == low, "nearer to the lower one");
    ok(memory_nearest(middle + 2)->start == high, "nearer to the upper one");
    ok(memory_nearest(high + (1 << 21))->start == high, "above all");
    memory_release(one);
    memory_release(two);
}

static void count(uint64_t loaded, uint64_t stored, const char *name) {
    uint64_t l, s;
    memory_count_marks(&l, &s);
    ok(l == loaded && s == stored, "%s: %d and %d", name, (int)l, (int)s);
}

static void test_marks(void) {
    uint8_t *one = memory_allocate(10000), *two = memory_allocate(64);
    const uint64_t at = (uint64_t)(uintptr_t)one, other = (uint64_t)(uintptr_t)two;
    const Allocation *a = memory_find(at, 1), *b = memory_find(other, 1);
    count(0, 0, "none at first");
    memory_mark(a->loaded, a, at + 31);
    memory_mark(a->loaded, a, at);
    count(1, 0, "one sector, twice");
    ok(memory_is_marked(a->loaded, a, at + 5) && !memory_is_marked(a->loaded, a, at + 32) &&
           !memory_is_marked(a->stored, a, at),
       "and no other");
    memory_mark(a->stored, a, at + 9999);
    memory_mark(b->stored, b, other + 63);
    count(1, 2, "the last ones of two allocations");
    memory_mark_range(a->loaded, a, at + 31, 1);
    count(1, 2, "a range of a byte");
    memory_mark_range(a->loaded, a, at + 31, 2);
    count(2, 2, "of two, in two sectors");
    memory_mark_range(a->loaded, a, at + 64, 32);
    count(3, 2, "of a sector");
    memory_mark_range(a->loaded, a, at + 64, 33);
    count(4, 2, "and a byte");
    memory_mark_range(a->stored, a, at + 2000, 96);
    count(4, 6, "of three that begins in the middle of one");
    memory_mark_range(b->loaded, b, other, 0);
    count(4, 6, "of nothing");
    memory_mark(a->loaded, a, at + 9999);
    memory_clear_marks();
    count(0, 0, "forgotten");
    ok(!memory_is_marked(a->loaded, a, at), "all of them");
    ok(!memory_stored(at) && !memory_stored(16), "nothing is stored");
    memory_mark(a->loaded, a, at);
    memory_mark(b->stored, b, other + 63);
    ok(!memory_stored(at), "what is loaded is not");
    ok(memory_stored(other) && memory_stored(other + 63), "what is in the same allocation is");
    ok(!memory_stored(other + 64), "at its end is nothing");
    memory_release(one);
    memory_release(two);
}

/* More is in use than there is, once the host says that it has less. */
static void test_full(void) {
    void *memory = memory_allocate(8192);
    pages = 5;
    is_int((long long)memory_free_bytes(), 10240 - 8192, "what is left");
    pages = 4;
    is_int((long long)memory_free_bytes(), 0, "nothing");
    pages = 3;
    is_int((long long)memory_free_bytes(), 0, "nor less");
    ok(!memory_allocate(1), "so there is no byte");
    pages = 1 << 20;
    memory_release(memory);
}

int main(void) {
    is_int((long long)memory_total_bytes(), 1LL << 31, "the device has half of the host's memory");
    test_short(); /* before there is any list */
    test_places();
    test_again();
    test_nearest();
    test_marks();
    test_full();
    return done_testing();
}
