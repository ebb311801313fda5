#include "machine/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, FREED = 64 };

/* The device's memory is one for the whole process, as a GPU's is. Sorted by address. */
static struct {
    Allocation **allocation;
    size_t count, capacity, used_bytes;
    Allocation freed[FREED]; /* the last ones, without their marks */
    size_t releases;
} device;

size_t memory_total_bytes(void) {
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 2;
}

size_t memory_free_bytes(void) {
    const size_t total = memory_total_bytes();
    return device.used_bytes < total ? total - device.used_bytes : 0;
}

/* The number of allocations that start at or below `address`. */
static size_t count_below(uint64_t address) {
    size_t low = 0, high = device.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (device.allocation[middle]->start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(void) {
    if (device.count < device.capacity) return true;
    const size_t capacity = device.capacity ? 2 * device.capacity : 64;
    Allocation **larger = realloc(device.allocation, capacity * sizeof *larger);
    if (!larger) return false;
    device.allocation = larger;
    device.capacity = capacity;
    return true;
}

static size_t mark_words(const Allocation *a) {
    return (size_t)(a->end - a->start) / MARK_SECTOR / MARK_WORD + 1;
}

static Allocation *new_allocation(void *memory, size_t bytes) {
    Allocation *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->start = (uint64_t)(uintptr_t)memory;
    a->end = a->start + bytes;
    a->loaded = calloc(mark_words(a), sizeof *a->loaded);
    a->stored = calloc(mark_words(a), sizeof *a->stored);
    if (a->loaded && a->stored) return a;
    free(a->loaded);
    free(a->stored);
    free(a);
    return NULL;
}

void *memory_allocate(size_t bytes) {
    if (bytes > memory_free_bytes() || !make_room()) return NULL;
    /* at least one byte beyond the end belongs to no allocation */
    const size_t rounded = (bytes / ALIGNMENT + 1) * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, rounded);
    Allocation *a = memory ? new_allocation(memory, bytes) : NULL;
    if (!a) {
        free(memory);
        return NULL;
    }
    memset(memory, 0xff, rounded);
    const size_t place = count_below(a->start);
    memmove(device.allocation + place + 1, device.allocation + place,
            (device.count - place) * sizeof *device.allocation);
    device.allocation[place] = a;
    device.count++;
    device.used_bytes += bytes;
    return memory;
}

bool memory_release(void *address) {
    const uint64_t start = (uint64_t)(uintptr_t)address;
    const size_t place = count_below(start);
    if (place == 0 || device.allocation[place - 1]->start != start) return false;
    Allocation *a = device.allocation[place - 1];
    device.count--;
    device.used_bytes -= a->end - a->start;
    device.freed[device.releases++ % FREED] = (Allocation){.start = a->start, .end = a->end};
    memmove(device.allocation + place - 1, device.allocation + place,
            (device.count + 1 - place) * sizeof *device.allocation);
    free(a->loaded);
    free(a->stored);
    free(a);
    free(address);
    return true;
}

const Allocation *memory_find(uint64_t address, uint64_t bytes) {
    const size_t place = count_below(address);
    if (place == 0) return NULL;
    const Allocation *a = device.allocation[place - 1];
    return address <= a->end && bytes <= a->end - address ? a : NULL;
}

const Allocation *memory_nearest(uint64_t address) {
    const size_t place = count_below(address);
    if (device.count == 0) return NULL;
    if (place == 0) return device.allocation[0];
    if (place == device.count) return device.allocation[place - 1];
    const Allocation *below = device.allocation[place - 1], *above = device.allocation[place];
    return address - below->end < above->start - address ? below : above;
}

bool memory_was_freed(uint64_t address) {
    bool was = false;
    for (int i = 0; i < FREED; i++)
        was |= device.freed[i].start <= address && address < device.freed[i].end;
    return was;
}

bool memory_is_mapped(uint64_t address) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return msync((void *)(uintptr_t)(address / page * page), page, MS_ASYNC) == 0;
}

void memory_mark_range(uint64_t *sectors, const Allocation *allocation, uint64_t address,
                       uint64_t bytes) {
    const uint64_t offset = address % MARK_SECTOR;
    for (uint64_t at = 0; at < bytes + offset; at += MARK_SECTOR)
        memory_mark(sectors, allocation, address - offset + at);
}

void memory_clear_marks(void) {
    for (size_t i = 0; i < device.count; i++) {
        const Allocation *a = device.allocation[i];
        memset(a->loaded, 0, mark_words(a) * sizeof *a->loaded);
        memset(a->stored, 0, mark_words(a) * sizeof *a->stored);
    }
}

static uint64_t count_bits(const uint64_t *word, size_t words) {
    uint64_t bits = 0;
    for (size_t i = 0; i < words; i++) bits += (uint64_t)__builtin_popcountll(word[i]);
    return bits;
}

bool memory_stored(uint64_t address) {
    const Allocation *a = memory_find(address, 1);
    return a && count_bits(a->stored, mark_words(a)) > 0;
}

void memory_count_marks(uint64_t *loaded, uint64_t *stored) {
    *loaded = *stored = 0;
    for (size_t i = 0; i < device.count; i++) {
        const Allocation *a = device.allocation[i];
        *loaded += count_bits(a->loaded, mark_words(a));
        *stored += count_bits(a->stored, mark_words(a));
    }
}
