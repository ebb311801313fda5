/* The device's global memory: host memory, with a record of every allocation so that each access
 * can be checked, and of the 32-byte sectors that a launch touches. A device address is a host
 * address. */
#ifndef PTXSIM_MEMORY_H
#define PTXSIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The generic address space: these addresses are no host addresses on any 64-bit machine. */
#define SHARED_WINDOW (1ull << 48) /* + shared address */
#define LOCAL_WINDOW (2ull << 48)  /* + local address */

typedef struct Allocation {
    uint64_t start, end;
    uint64_t *loaded, *stored; /* a bit a sector, of the launch in progress */
} Allocation;

/* `bytes` of device memory, 256-byte aligned, filled with 0xff (NaN in every format). NULL if more
 * than memory_free_bytes() are asked for. */
void *memory_allocate(size_t bytes);

/* False if `address` is not the start of an allocation. */
bool memory_release(void *address);

/* The allocation that holds address .. address + bytes, NULL: none. Valid until the next
 * release. */
const Allocation *memory_find(uint64_t address, uint64_t bytes);

/* The allocation nearest to an address that is in none; NULL if there is no allocation at all. */
const Allocation *memory_nearest(uint64_t address);

/* Whether one of the last allocations that were released held the address; whether the host has
 * memory there. For reports. */
bool memory_was_freed(uint64_t address);
bool memory_is_mapped(uint64_t address);

/* The device has half of the host's memory. */
size_t memory_total_bytes(void);
size_t memory_free_bytes(void);

enum { MARK_SECTOR = 32, MARK_WORD = 64 }; /* bytes per sector, sectors per word of marks */

/* Whether the sector of `address` is marked; marks it as loaded or stored. Threads may do so at
 * once. */
static inline bool memory_is_marked(const uint64_t *sectors, const Allocation *allocation,
                                    uint64_t address) {
    const uint64_t sector = (address - allocation->start) / MARK_SECTOR;
    const uint64_t word = __atomic_load_n(&sectors[sector / MARK_WORD], __ATOMIC_RELAXED);
    return word >> sector % MARK_WORD & 1;
}
static inline void memory_mark(uint64_t *sectors, const Allocation *allocation, uint64_t address) {
    const uint64_t sector = (address - allocation->start) / MARK_SECTOR;
    if (!memory_is_marked(sectors, allocation, address))
        __atomic_fetch_or(&sectors[sector / MARK_WORD], 1ull << sector % MARK_WORD,
                          __ATOMIC_RELAXED);
}

/* The same for all sectors of address .. address + bytes. */
void memory_mark_range(uint64_t *sectors, const Allocation *allocation, uint64_t address,
                       uint64_t bytes);

/* Whether any sector of the allocation that holds `address` is marked as stored. */
bool memory_stored(uint64_t address);

/* Forgets the marks, and counts them. */
void memory_clear_marks(void);
void memory_count_marks(uint64_t *loaded, uint64_t *stored);

#endif
