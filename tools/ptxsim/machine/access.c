#include "machine/access.h"

#include <string.h>

#include "machine/lanes.h"
#include "machine/observe.h"

static const char *const kind_names[] = {"load", "store", "atomic"};

/* ---- Shared memory --------------------------------------------------------------------------- */

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

/* The lanes' addresses, those of idle lanes replaced by an active one's. */
CLONES static void fill_idle(const uint32_t address[LANES], uint32_t mask, uint32_t filled[LANES]) {
    const uint32_t any = address[first_lane(mask)];
    for (unsigned l = 0; l < LANES; l++) {
        const uint32_t active = 0 - (mask >> l & 1);
        filled[l] = (address[l] & active) | (any & ~active);
    }
}

static void check_each_shared(Warp *warp, const uint32_t address[LANES], uint32_t mask,
                              unsigned bytes) {
    for (unsigned l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        shared_range(warp, (int)l, address[l], bytes, "access");
        if (address[l] & (bytes - 1))
            fault(warp, (int)l, "misaligned shared access: %u bytes at 0x%x", bytes, address[l]);
    }
}

/* All of a pattern at another place is inside and aligned. */
static bool pattern_in_shared(const Block *block, const Pattern *p, uint32_t first,
                              unsigned bytes) {
    return !(first & (bytes - 1)) && in_shared(block, first + (uint32_t)p->lowest, p->span);
}

static Units shared_cost(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                         unsigned bytes, int matrices) {
    Pattern *p = &warp->block->pattern[op->index].shared;
    if (mask == ALL_LANES && pattern_fits_shared(p, address) &&
        pattern_in_shared(warp->block, p, address[0], bytes))
        return p->units;
    check_each_shared(warp, address, mask, bytes);
    const Units units = matrices ? matrix_wavefronts(address, (unsigned)matrices)
                                 : shared_wavefronts(address, mask, bytes);
    if (mask == ALL_LANES) pattern_learn_shared(p, address, bytes, units);
    return units;
}

Units shared_request(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                     unsigned bytes, int matrices) {
    const Units units = shared_cost(warp, op, address, mask, bytes, matrices);
    Record *record = warp->block->record;
    if (record) observe_shared(record, warp, address, mask, bytes, matrices, units);
    return units;
}

void shared_mark_written(Block *block, uint32_t address, uint32_t bytes) {
    memset(block->written + (address - SHARED_BASE), 0xff, bytes);
}

static bool all_written(const uint8_t *written, uint32_t bytes) {
    uint64_t eight, all = UINT64_MAX;
    uint32_t i = 0;
    for (; i + sizeof eight <= bytes; i += (uint32_t)sizeof eight) {
        memcpy(&eight, written + i, sizeof eight);
        all &= eight;
    }
    for (; i < bytes; i++) all &= written[i] ? UINT64_MAX : 0;
    return all == UINT64_MAX;
}

void shared_require_written(Warp *warp, int lane, uint32_t address, uint32_t bytes) {
    const uint8_t *written = warp->block->written + (address - SHARED_BASE);
    uint32_t first = 0;
    if (all_written(written, bytes)) return;
    while (written[first]) first++;
    fault(warp, lane, "shared memory is read before it was written, at 0x%x", address + first);
}

/* Loads: all the lanes' marks must be set. Stores: set them. In words as wide as the access. */
#define MARK(type)                                                     \
    do {                                                               \
        type all = (type) ~(type)0;                                    \
        UNROLL                                                         \
        for (unsigned l = 0; kind != ACCESS_STORE && l < LANES; l++) { \
            type mark;                                                 \
            memcpy(&mark, written + address[l], sizeof mark);          \
            all &= mark;                                               \
        }                                                              \
        if (all != (type) ~(type)0) return false;                      \
        for (unsigned l = 0; kind != ACCESS_LOAD && l < LANES; l++)    \
            memcpy(written + address[l], &all, sizeof all);            \
        return true;                                                   \
    } while (0)

/* False if something is read that was not written. All lanes have addresses. */
static bool mark_lanes(Block *block, const uint32_t address[LANES], unsigned bytes,
                       AccessKind kind) {
    typedef unsigned __int128 u128;
    uint8_t *written = (uint8_t *)((uintptr_t)block->written - SHARED_BASE);
    switch (bytes) {
    case 1:
        MARK(uint8_t);
    case 2:
        MARK(uint16_t);
    case 4:
        MARK(uint32_t);
    case 8:
        MARK(uint64_t);
    default:
        MARK(u128);
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

/* The same where lanes access the same bytes, or neighbouring ones. */
static bool mark_shape(Block *block, const uint32_t address[LANES], unsigned bytes, AccessKind kind,
                       Shape shape) {
    const unsigned pieces = shape == SHAPE_ROW ? 1 : 2;
    const uint32_t piece = shape == SHAPE_ROW ? LANES * bytes : bytes;
    for (unsigned i = 0; i < pieces; i++) {
        const uint32_t at = address[i * (LANES / 2)];
        if (kind != ACCESS_STORE && !all_written(block->written + (at - SHARED_BASE), piece))
            return false;
        if (kind != ACCESS_LOAD) shared_mark_written(block, at, piece);
    }
    return true;
}

CLONES static void shared_lanes(Warp *warp, const Op *op, const uint32_t address[LANES],
                                uint32_t mask, unsigned bytes, AccessKind kind, Access *access) {
    Block *block = warp->block;
    InstructionCount *count = counter(warp, op);
    const Units units = shared_request(warp, op, address, mask, bytes, 0);
    const Pattern *p = &block->pattern[op->index].shared;
    uint32_t filled[LANES];
    if (mask != ALL_LANES) fill_idle(address, mask, filled);
    const uint32_t *all = mask == ALL_LANES ? address : filled;
    access->shape = mask == ALL_LANES && p->known ? p->shape : SHAPE_ANY;
    const bool good = access->shape == SHAPE_ANY
                          ? mark_lanes(block, all, bytes, kind)
                          : mark_shape(block, all, bytes, kind, access->shape);
    for (unsigned l = 0; !good && l < LANES; l++)
        shared_require_written(warp, (int)l, all[l], bytes);
    if (block->race) race_lanes(warp, op, address, mask, bytes, kind);
    count->requests++;
    count->units += units.actual;
    count->ideal_units += units.ideal;
    uint8_t *zero = shared_zero(block);
    for (unsigned l = 0; l < LANES; l++) access->at[l] = zero + all[l];
}

uint32_t shared_address(Warp *warp, const Op *op, int r, unsigned lane, int32_t offset) {
    if (op->address_width == 4) return REG(u32, r)[lane] + (uint32_t)offset;
    const uint64_t address = REG(u64, r)[lane] + (uint64_t)(int64_t)offset;
    if (address >> 48 != SHARED_WINDOW >> 48 && address >> 32)
        fault(warp, (int)lane, "0x%llx is no address of shared memory",
              (unsigned long long)address);
    return (uint32_t)address;
}

/* ---- Global memory --------------------------------------------------------------------------- */

static bool inside(const Allocation *a, uint64_t address, uint64_t bytes) {
    return a && address >= a->start && address <= a->end && bytes <= a->end - address;
}

static const Allocation *find_range(const Warp *warp, uint64_t address, uint64_t bytes) {
    const Allocation *parameters = &warp->block->parameters;
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
    if (a->loaded)
        memory_mark_range(kind == ACCESS_LOAD ? a->loaded : a->stored, a, address, bytes);
}

static void mark(const Allocation *a, uint64_t address, AccessKind kind) {
    if (a->loaded) memory_mark(kind == ACCESS_LOAD ? a->loaded : a->stored, a, address);
}

static void check_each_global(Warp *warp, const Op *op, const uint64_t address[LANES],
                              uint32_t mask, unsigned bytes, AccessKind kind) {
    const Allocation **range = &warp->block->range[op->index];
    for (unsigned l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        if (address[l] & (bytes - 1))
            fault(warp, (int)l, "misaligned global %s: %u bytes at 0x%llx", kind_names[kind], bytes,
                  (unsigned long long)address[l]);
        if (!inside(*range, address[l], bytes)) *range = find_range(warp, address[l], bytes);
        if (!*range) fault_global(warp, (int)l, address[l], bytes, kind);
        mark(*range, address[l], kind);
    }
}

/* The sectors of a request that has the pattern. They are those of the last such request if lane 0
 * is still in its sector: either all lanes are whole sectors apart, or the place is the same. */
static void mark_pattern(Pattern *p, const Allocation *a, const uint64_t address[LANES],
                         AccessKind kind) {
    const uint64_t sector = address[0] / SECTOR_BYTES;
    if (sector == p->marked) return;
    for (uint32_t left = p->leaders; left; left &= left - 1)
        mark(a, address[first_lane(left)], kind);
    p->marked = sector;
}

void global_request(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                    unsigned bytes, AccessKind kind) {
    Pattern *p = &warp->block->pattern[op->index].global;
    const Allocation *a = warp->block->range[op->index];
    InstructionCount *count = counter(warp, op);
    Units units;
    if (mask == ALL_LANES && pattern_fits_global(p, address) && !(address[0] & (bytes - 1)) &&
        inside(a, address[0] + (uint64_t)(int64_t)p->lowest, p->span)) {
        units = p->units;
        mark_pattern(p, a, address, kind);
    } else {
        check_each_global(warp, op, address, mask, bytes, kind);
        units = global_sectors(address, mask, bytes);
        if (mask == ALL_LANES) pattern_learn_global(p, address, bytes, units);
    }
    Record *record = warp->block->record;
    if (record) observe_global(record, warp, address, mask, bytes, units);
    count->requests++;
    count->units += units.actual;
    count->ideal_units += units.ideal;
}

CLONES static void global_lanes(Warp *warp, const Op *op, const uint64_t address[LANES],
                                uint32_t mask, unsigned bytes, AccessKind kind, Access *access) {
    const uint64_t any = address[first_lane(mask)];
    const Pattern *p = &warp->block->pattern[op->index].global;
    global_request(warp, op, address, mask, bytes, kind);
    access->shape = mask == ALL_LANES && p->known ? p->shape : SHAPE_ANY;
    for (unsigned l = 0; l < LANES; l++) access->at[l] = (uint8_t *)(uintptr_t)address[l];
    for (unsigned l = 0; mask != ALL_LANES && l < LANES; l++)
        if (!(mask >> l & 1)) access->at[l] = (uint8_t *)(uintptr_t)any;
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

/* ---- Local memory ---------------------------------------------------------------------------- */

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
    Record *record = warp->block->record;
    if (record) observe_local(record, warp, address, mask, bytes);
}

/* ---- All together ---------------------------------------------------------------------------- */

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

/* The lanes' addresses, 64 bits wide. */
CLONES static void lane_addresses(const Warp *warp, const Op *op, int r, uint64_t address[LANES]) {
    if (op->address_width == 4) {
        const u32 *base = REG(u32, r);
        for (unsigned l = 0; l < LANES; l++) address[l] = base[l] + (uint32_t)op->offset;
    } else {
        const u64 *base = REG(u64, r);
        for (unsigned l = 0; l < LANES; l++) address[l] = base[l] + (uint64_t)(int64_t)op->offset;
    }
}

CLONES void access_lanes(Warp *warp, const Op *op, int r, unsigned bytes, AccessKind kind,
                         Access *access) {
    uint64_t address[LANES];
    uint32_t low[LANES];
    access->shape = SHAPE_ANY;
    if (op->space == SPACE_SHARED && op->address_width == 4) {
        const u32 *base = REG(u32, r);
        for (unsigned l = 0; l < LANES; l++) low[l] = base[l] + (uint32_t)op->offset;
        shared_lanes(warp, op, low, warp->mask, bytes, kind, access);
        return;
    }
    lane_addresses(warp, op, r, address);
    switch ((Space)op->space) {
    case SPACE_GLOBAL:
        global_lanes(warp, op, address, warp->mask, bytes, kind, access);
        return;
    case SPACE_LOCAL:
        local_lanes(warp, op, address, warp->mask, bytes, access);
        return;
    case SPACE_PARAM:
    case SPACE_CONST:
        constant_lanes(warp, address, warp->mask, bytes, access);
        return;
    case SPACE_SHARED:
        for (unsigned l = 0; l < LANES; l++) low[l] = (uint32_t)address[l];
        shared_lanes(warp, op, low, warp->mask, bytes, kind, access);
        return;
    default:
        generic_lanes(warp, op, address, bytes, kind, access);
    }
}
