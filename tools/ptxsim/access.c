#include "access.h"

#include <string.h>

#include "banks.h"
#include "lanes.h"

static const char *const kind_names[] = {"load", "store", "atomic"};

/* ---- Shared memory ---------------------------------------------------------------------------- */

static void fault_shared_range(Warp *warp, int lane, uint32_t address, uint32_t bytes,
                               const char *what) {
    const uint32_t end = SHARED_BASE + warp->block->shared_bytes;
    fault(warp, lane,
          "%s outside shared memory: %u bytes at 0x%x, the block has %u bytes, 0x%x to 0x%x", what,
          bytes, address, warp->block->shared_bytes, SHARED_BASE, end - 1);
}

static bool in_shared(const Block *block, uint32_t address, uint32_t bytes) {
    return address >= SHARED_BASE && bytes <= block->shared_bytes &&
           address - SHARED_BASE <= block->shared_bytes - bytes;
}

uint8_t *shared_range(Warp *warp, int lane, uint32_t address, uint32_t bytes, const char *what) {
    if (!in_shared(warp->block, address, bytes))
        fault_shared_range(warp, lane, address, bytes, what);
    return shared_zero(warp->block) + address;
}

CLONES void shared_check(Warp *warp, const uint32_t address[LANES], uint32_t mask,
                         unsigned bytes) {
    const Block *block = warp->block;
    const uint32_t room = block->shared_bytes - bytes;
    uint32_t worst = 0, low_bits = 0;
    for (unsigned l = 0; l < LANES; l++) {
        const uint32_t offset = mask >> l & 1 ? address[l] - SHARED_BASE : 0;
        worst = offset > worst ? offset : worst;
        low_bits |= offset;
    }
    if (block->shared_bytes >= bytes && worst <= room && !(low_bits & (bytes - 1))) return;
    for (unsigned l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        shared_range(warp, (int)l, address[l], bytes, "access");
        if (address[l] & (bytes - 1))
            fault(warp, (int)l, "misaligned shared access: %u bytes at 0x%x", bytes, address[l]);
    }
}

void shared_mark_written(Block *block, uint32_t address, uint32_t bytes) {
    memset(block->written + (address - SHARED_BASE), 0xff, bytes);
}

void shared_require_written(Warp *warp, int lane, uint32_t address, uint32_t bytes) {
    const uint8_t *written = warp->block->written + (address - SHARED_BASE);
    for (uint32_t i = 0; i < bytes; i++)
        if (!written[i])
            fault(warp, lane, "shared memory is read before it was written, at 0x%x", address + i);
}

/* Loads: the lanes' bytes must all be marked. Stores: mark them. In words of `type`. */
#define MARK(type)                                                                    \
    do {                                                                              \
        type all = (type)~(type)0;                                                    \
        for (unsigned l = 0; l < LANES; l++) {                                        \
            type mark;                                                                \
            memcpy(&mark, written + offset[l], sizeof mark);                          \
            all &= mark;                                                              \
        }                                                                             \
        if (kind != ACCESS_STORE && all != (type)~(type)0) return false;              \
        all = (type)~(type)0;                                                         \
        for (unsigned l = 0; kind != ACCESS_LOAD && l < LANES; l++)                   \
            memcpy(written + offset[l], &all, sizeof all);                            \
        return true;                                                                  \
    } while (0)

/* False if something is read that was not written. */
static bool mark_lanes(Block *block, const uint32_t offset[LANES], unsigned bytes,
                       AccessKind kind) {
    typedef unsigned __int128 u128;
    uint8_t *written = block->written;
    switch (bytes) {
    case 1: MARK(uint8_t);
    case 2: MARK(uint16_t);
    case 4: MARK(uint32_t);
    case 8: MARK(uint64_t);
    default: MARK(u128);
    }
}

static void race_lanes(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                       unsigned bytes, AccessKind kind) {
    static const RaceAccess accesses[] = {RACE_READ, RACE_WRITE, RACE_ATOMIC};
    RaceReport report;
    if (race_access(warp->block->race, (unsigned)warp->index, accesses[kind], mask, address, bytes,
                    (uint32_t)op->index, &report))
        fault_race(warp, &report);
}

static void shared_lanes(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                         unsigned bytes, AccessKind kind, Access *access) {
    Block *block = warp->block;
    const uint32_t any = address[first_lane(mask)];
    uint32_t offset[LANES];
    shared_check(warp, address, mask, bytes);
    for (unsigned l = 0; l < LANES; l++)
        offset[l] = (mask >> l & 1 ? address[l] : any) - SHARED_BASE;
    if (!mark_lanes(block, offset, bytes, kind))
        for (unsigned l = 0; l < LANES; l++)
            shared_require_written(warp, (int)l, SHARED_BASE + offset[l], bytes);
    if (block->race) race_lanes(warp, op, address, mask, bytes, kind);
    const Units units = shared_wavefronts(address, mask, bytes);
    InstructionCount *count = counter(warp, op);
    count->requests++;
    count->units += units.actual;
    count->ideal_units += units.ideal;
    for (unsigned l = 0; l < LANES; l++) access->at[l] = block->shared + offset[l];
}

uint32_t shared_address(Warp *warp, const Op *op, int r, unsigned lane, int32_t offset) {
    if (op->address_width == 4) return REG(u32, r)[lane] + (uint32_t)offset;
    const uint64_t address = REG(u64, r)[lane] + (uint64_t)(int64_t)offset;
    if (address >> 48 != SHARED_WINDOW >> 48 && address >> 32)
        fault(warp, (int)lane, "0x%llx is no address of shared memory",
              (unsigned long long)address);
    return (uint32_t)address;
}

/* ---- Global memory ---------------------------------------------------------------------------- */

static bool inside(const Allocation *a, uint64_t address, uint64_t bytes) {
    return a && address >= a->start && address <= a->end && bytes <= a->end - address;
}

static const Allocation *find_range(const Warp *warp, uint64_t address, uint64_t bytes) {
    const Allocation *parameters = &warp->block->kernel->parameter_range;
    return inside(parameters, address, bytes) ? parameters : memory_find(address, bytes);
}

_Noreturn static void fault_global(Warp *warp, int lane, uint64_t address, uint64_t bytes,
                                   AccessKind kind) {
    const unsigned long long at = address, size = bytes;
    const Allocation *near = memory_nearest(address);
    if (address >> 48)
        fault(warp, lane, "%s of %llu bytes at 0x%llx, which is no address of global memory",
              kind_names[kind], size, at);
    if (!near) fault(warp, lane, "%s at 0x%llx: nothing is allocated", kind_names[kind], at);
    const bool below = address < near->start;
    fault(warp, lane,
          "%s out of bounds: %llu bytes at 0x%llx, %llu bytes %s an allocation of %llu bytes at "
          "0x%llx",
          kind_names[kind], size, at,
          (unsigned long long)(below ? near->start - address : address + bytes - near->end),
          below ? "before" : "beyond the end of", (unsigned long long)(near->end - near->start),
          (unsigned long long)near->start);
}

void global_range(Warp *warp, int lane, uint64_t address, uint64_t bytes, AccessKind kind) {
    const Allocation *a = find_range(warp, address, bytes);
    if (!a) fault_global(warp, lane, address, bytes, kind);
    if (a->loaded && bytes) memory_mark(kind == ACCESS_LOAD ? a->loaded : a->stored, a, address, bytes);
}

static void check_each(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                       unsigned bytes, AccessKind kind) {
    for (unsigned l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        if (address[l] & (bytes - 1))
            fault(warp, (int)l, "misaligned global %s: %u bytes at 0x%llx", kind_names[kind], bytes,
                  (unsigned long long)address[l]);
        const Allocation *a = find_range(warp, address[l], bytes);
        if (!a) fault_global(warp, (int)l, address[l], bytes, kind);
        warp->block->range[op->index] = a;
    }
}

/* All lanes in the allocation that this operation used last, and aligned? */
CLONES static bool all_inside(const Allocation *a, const uint64_t address[LANES], uint32_t mask,
                              unsigned bytes) {
    uint64_t outside = 0, low_bits = 0;
    if (!a || a->end - a->start < bytes) return false;
    for (unsigned l = 0; l < LANES; l++) {
        const uint64_t offset = mask >> l & 1 ? address[l] - a->start : 0;
        outside |= offset | (a->end - a->start - bytes - offset);
        low_bits |= mask >> l & 1 ? address[l] : 0;
    }
    return !(outside >> 63) && !(low_bits & (bytes - 1));
}

static void mark_sectors(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                         AccessKind kind) {
    const Allocation *a = warp->block->range[op->index];
    uint64_t last = UINT64_MAX;
    if (!a->loaded) return;
    for (unsigned l = 0; l < LANES; l++) {
        if (!(mask >> l & 1) || address[l] / SECTOR_BYTES == last) continue;
        last = address[l] / SECTOR_BYTES;
        if (!inside(a, address[l], 1)) a = memory_find(address[l], 1);
        if (a && a->loaded) memory_mark(kind == ACCESS_LOAD ? a->loaded : a->stored, a, address[l], 1);
    }
}

void global_check(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                  unsigned bytes, AccessKind kind) {
    InstructionCount *count = counter(warp, op);
    if (!all_inside(warp->block->range[op->index], address, mask, bytes))
        check_each(warp, op, address, mask, bytes, kind);
    mark_sectors(warp, op, address, mask, kind);
    const Units units = global_sectors(address, mask, bytes);
    count->requests++;
    count->units += units.actual;
    count->ideal_units += units.ideal;
}

static void global_lanes(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                         unsigned bytes, AccessKind kind, Access *access) {
    const uint64_t any = address[first_lane(mask)];
    global_check(warp, op, address, mask, bytes, kind);
    for (unsigned l = 0; l < LANES; l++)
        access->at[l] = (uint8_t *)(uintptr_t)(mask >> l & 1 ? address[l] : any);
}

/* ld.param and ld.const: no requests, no sectors */
static void constant_lanes(Warp *warp, const uint64_t address[LANES], uint32_t mask, unsigned bytes,
                           Access *access) {
    const unsigned first = first_lane(mask);
    for (unsigned l = 0; l < LANES; l++) {
        const uint64_t at = address[mask >> l & 1 ? l : first];
        if (!find_range(warp, at, bytes)) fault_global(warp, (int)l, at, bytes, ACCESS_LOAD);
        access->at[l] = (uint8_t *)(uintptr_t)at;
    }
}

/* ---- Local memory ----------------------------------------------------------------------------- */

static void local_lanes(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                        unsigned bytes, Access *access) {
    const uint32_t size = warp->block->kernel->local_bytes;
    const unsigned first = first_lane(mask);
    for (unsigned l = 0; l < LANES; l++) {
        const unsigned lane = mask >> l & 1 ? l : first;
        if (address[lane] > size || bytes > size - address[lane])
            fault(warp, (int)lane, "access outside local memory: %u bytes at 0x%llx of %u", bytes,
                  (unsigned long long)address[lane], size);
        access->at[l] = warp->local + (size_t)lane * size + address[lane];
    }
    counter(warp, op)->requests++;
}

/* ---- All together ----------------------------------------------------------------------------- */

/* Generic addresses: each window's lanes are a request of their own. */
static void generic_lanes(Warp *warp, const Op *op, uint64_t address[LANES], unsigned bytes,
                          AccessKind kind, Access *access) {
    uint32_t shared = 0, local = 0, low[LANES];
    Access part;
    for (unsigned l = 0; l < LANES; l++) {
        shared |= (uint32_t)(address[l] >> 48 == SHARED_WINDOW >> 48) << l;
        local |= (uint32_t)(address[l] >> 48 == LOCAL_WINDOW >> 48) << l;
    }
    shared &= warp->mask;
    local &= warp->mask;
    const uint32_t global = warp->mask & ~shared & ~local;
    if (global) global_lanes(warp, op, address, global, bytes, kind, access);
    for (unsigned l = 0; l < LANES; l++) {
        low[l] = (uint32_t)address[l];
        if (local >> l & 1) address[l] = low[l];
    }
    if (shared) shared_lanes(warp, op, low, shared, bytes, kind, global ? &part : access);
    for (unsigned l = 0; global && l < LANES; l++)
        if (shared >> l & 1) access->at[l] = part.at[l];
    if (local) local_lanes(warp, op, address, local, bytes, global | shared ? &part : access);
    for (unsigned l = 0; (global | shared) && l < LANES; l++)
        if (local >> l & 1) access->at[l] = part.at[l];
}

void access_lanes(Warp *warp, const Op *op, int r, unsigned bytes, AccessKind kind,
                  Access *access) {
    uint64_t address[LANES];
    uint32_t low[LANES];
    if (op->space == SPACE_SHARED && op->address_width == 4) {
        const u32 *base = REG(u32, r);
        for (unsigned l = 0; l < LANES; l++) low[l] = base[l] + (uint32_t)op->offset;
        shared_lanes(warp, op, low, warp->mask, bytes, kind, access);
        return;
    }
    for (unsigned l = 0; l < LANES; l++)
        address[l] = op->address_width == 4
                         ? REG(u32, r)[l] + (uint32_t)op->offset
                         : REG(u64, r)[l] + (uint64_t)(int64_t)op->offset;
    switch ((Space)op->space) {
    case SPACE_GLOBAL: global_lanes(warp, op, address, warp->mask, bytes, kind, access); return;
    case SPACE_LOCAL: local_lanes(warp, op, address, warp->mask, bytes, access); return;
    case SPACE_PARAM:
    case SPACE_CONST: constant_lanes(warp, address, warp->mask, bytes, access); return;
    case SPACE_SHARED:
        for (unsigned l = 0; l < LANES; l++) low[l] = (uint32_t)address[l];
        shared_lanes(warp, op, low, warp->mask, bytes, kind, access);
        return;
    default: generic_lanes(warp, op, address, bytes, kind, access);
    }
}
