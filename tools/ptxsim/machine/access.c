#include "machine/access.h"

#include <stdio.h>
#include <string.h>

#include "machine/lanes.h"
#include "machine/memory/written.h"
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
static void fill_idle(const uint32_t address[LANES], uint32_t mask, uint32_t filled[LANES]) {
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

/* The operation's pattern that the request repeats, NULL: none of them. Lanes' addresses without
 * the offset are `base`. */
static inline const Pattern *find_shared(const Block *block, const Op *op,
                                         const uint32_t base[LANES], uint32_t first) {
    OpRequests *requests = &block->requests[op->index];
    const Pattern *all = block->patterns->pattern,
                  *last = &all[requests->shared[requests->current]];
    if (pattern_fits_shared(last, base, first)) return last;
    for (unsigned i = 1; i < SHARED_PATTERNS; i++) {
        const unsigned which = (requests->current + i) % SHARED_PATTERNS;
        if (!pattern_fits_shared(&all[requests->shared[which]], base, first)) continue;
        requests->current = (uint16_t)which;
        return &all[requests->shared[which]];
    }
    return NULL;
}

static void learn_shared(const Block *block, const Op *op, const uint32_t address[LANES],
                         unsigned bytes, Units units) {
    OpRequests *requests = &block->requests[op->index];
    requests->current = (uint16_t)((requests->current + SHARED_PATTERNS - 1) % SHARED_PATTERNS);
    requests->shared[requests->current] =
        (uint16_t)pattern_learn_shared(block->patterns, address, bytes, units);
}

static Units shared_cost(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                         unsigned bytes, int matrices) {
    const Block *block = warp->block;
    const Pattern *p = mask == ALL_LANES ? find_shared(block, op, address, address[0]) : NULL;
    if (p && pattern_in_shared(block, p, address[0], bytes)) return p->units;
    check_each_shared(warp, address, mask, bytes);
    const Units units = matrices    ? matrix_wavefronts(address, (unsigned)matrices)
                        : op->alone ? atomic_wavefronts(address, mask, bytes, op->alone)
                                    : shared_wavefronts(address, mask, bytes);
    if (mask == ALL_LANES && !p) learn_shared(block, op, address, bytes, units);
    return units;
}

Units shared_request(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                     unsigned bytes, int matrices) {
    const Units units = shared_cost(warp, op, address, mask, bytes, matrices);
    Record *record = warp->block->record;
    if (record) observe_shared(record, warp, address, mask, bytes, matrices, units);
    return units;
}

bool shared_readable(const Block *block, const uint32_t address[], unsigned count, unsigned bytes) {
    bool readable = true;
    for (unsigned i = 0; i < count && readable; i++)
        readable = in_shared(block, address[i], bytes) &&
                   written_piece(shared_marks(block) + address[i], bytes);
    return readable;
}

void shared_require_written(Warp *warp, int lane, uint32_t address, uint32_t bytes) {
    const unsigned written = written_bytes(shared_marks(warp->block) + address, bytes);
    if (written < bytes)
        fault(warp, lane, "shared memory is read before it was written, at 0x%x",
              address + written);
}

/* Whether what the lane reads is written but for the padding of a struct: bytes of elements with
 * which nothing computes, beside others that are written. nvcc loads padding with its neighbours or
 * by itself in bytes, and a struct's alignment, 16 at most, is more than its padding. */
static bool reads_padding(const Block *block, const Op *op, uint32_t address) {
    enum { ALIGNMENT = 16 };
    const uint32_t first = address & ~(ALIGNMENT - 1u);
    const uint32_t rest = SHARED_BASE + block->shared_bytes - first;
    const uint8_t *around = shared_marks(block) + first, *mark = shared_marks(block) + address;
    bool beside = op->bytes == 1 && memchr(around, UINT8_MAX, rest < ALIGNMENT ? rest : ALIGNMENT);
    for (unsigned i = 0; op->copied && i < op->bytes * op->elements; i++) {
        beside |= mark[i] != 0;
        if (mark[i]) continue;
        if (!(op->copied >> i / op->bytes & 1)) return false;
        shared_zero(block)[address + i] = 0xff; /* NaN */
    }
    return beside && op->copied;
}

/* The 8x8 matrices that ldmatrix and stmatrix move, 0 for other operations; a lane has the address
 * of a row. */
static int matrices_of(const Op *op) {
    return op->class == CLASS_LDMATRIX || op->class == CLASS_STMATRIX ? op->elements : 0;
}

static void race_lanes(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                       unsigned bytes, AccessKind kind) {
    static const RaceAccess weak[] = {RACE_READ, RACE_WRITE, RACE_ATOMIC};
    static const RaceAccess matrix[] = {RACE_MATRIX_READ, RACE_MATRIX_WRITE};
    static const RaceAccess strong[] = {RACE_STRONG_READ, RACE_STRONG_WRITE, RACE_ATOMIC};
    const RaceAccess access = (op->order ? strong : matrices_of(op) ? matrix : weak)[kind];
    const unsigned piece = !op->order ? bytes : op->type.pair ? 2 : op->bytes;
    uint32_t piece_at[LANES];
    const uint32_t *at = address;
    RaceReport report;
    for (unsigned done = 0; done < bytes; done += piece) {
        for (unsigned l = 0; done && l < LANES; l++) piece_at[l] = address[l] + done;
        if (done) at = piece_at;
        if (race_access(warp->block->race, (unsigned)warp->index, access, mask, at, piece,
                        (uint32_t)op->index, &report))
            fault_race(warp, &report);
    }
}

static void count_request(InstructionCount *count, Units units) {
    count->requests++;
    count->units += units.actual;
    count->ideal_units += units.ideal;
}

static uint32_t lanes_of(const Warp *warp, const Op *op) {
    const int rows = 8 * matrices_of(op);
    return rows == 0 || rows == LANES ? warp->mask : (1u << rows) - 1;
}

static void shared_lanes(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                         unsigned bytes, AccessKind kind, Access *access) {
    Block *block = warp->block;
    const Units units = shared_request(warp, op, address, mask, bytes, matrices_of(op));
    uint32_t filled[LANES];
    if (mask != ALL_LANES) fill_idle(address, mask, filled);
    const uint32_t *all = mask == ALL_LANES ? address : filled;
    const int32_t *distance = (const int32_t *)all; /* from address 0 */
    const bool written =
        kind == ACCESS_STORE || written_lanes(shared_marks(block), distance, bytes);
    for (uint32_t left = written ? 0 : mask; left; left &= left - 1)
        if (!reads_padding(block, op, address[first_lane(left)]))
            shared_require_written(warp, (int)first_lane(left), address[first_lane(left)], bytes);
    if (kind != ACCESS_LOAD) written_mark_lanes(shared_marks(block), distance, bytes);
    if (block->race) race_lanes(warp, op, address, mask, bytes, kind);
    count_request(counter(warp, op), units);
    for (unsigned l = 0; l < LANES; l++) access->at[l] = shared_zero(block) + all[l];
}

/* All of a pattern at another place is written. What is written stays so until the block ends. */
static bool pattern_readable(const Block *block, const Pattern *p, uint32_t first, unsigned bytes) {
    const uint64_t fact = (uint64_t)p->known << 32 | first;
    const uint8_t *mark = shared_marks(block) + first;
    if (p->shape == SHAPE_ROW) return written_piece(mark, LANES * bytes);
    if (p->shape == SHAPE_HALVES)
        return written_piece(mark, bytes) && written_piece(mark + p->distance[LANES - 1], bytes);
    if (memo_knows(block->readable, fact)) return true;
    if (!written_lanes(mark, p->distance, bytes)) return false;
    memo_learn(block->readable, fact);
    return true;
}

static void pattern_access(const Pattern *p, uint8_t *at, AccessKind kind, Access *access) {
    access->at[0] = at;
    access->pattern = p;
    for (unsigned l = 1; kind != ACCESS_LOAD && l < LANES; l++) access->at[l] = at + p->distance[l];
}

/* The pattern that an earlier access of the straight piece had at the same addresses, if this one
 * has it, too: they may be at different places in a period. NULL: not known. */
static inline const Pattern *repeated(const Block *block, const Op *op, uint64_t first) {
    if (op->repeats < 0) return NULL;
    const OpRequests *before = &block->requests[op->repeats];
    const Pattern *p = &block->patterns->pattern[before->fits];
    if (before->piece != block->piece) return NULL;
    return (first ^ p->residue) & (p->period - 1) ? NULL : p;
}

/* Those that repeat this one have its pattern. */
static inline void note_pattern(const Block *block, const Op *op, const Pattern *p) {
    OpRequests *requests = &block->requests[op->index];
    requests->piece = block->piece;
    requests->fits = (uint16_t)p->known;
}

/* What shared_lanes does for all lanes of a request that has the pattern of the operation's last
 * one and reads what was written; false if it is not such a request. */
static bool shared_again(Warp *warp, const Op *op, const u32 base[LANES], unsigned bytes,
                         AccessKind kind, Access *access) {
    const Block *block = warp->block;
    const uint32_t first = base[0] + (uint32_t)op->offset;
    const Pattern *p = repeated(block, op, first);
    if (!p) {
        p = find_shared(block, op, base, first);
        if (p) note_pattern(block, op, p);
    }
    if (!p || !pattern_in_shared(block, p, first, bytes)) return false;
    if (kind != ACCESS_STORE && !pattern_readable(block, p, first, bytes)) return false;
    if (kind != ACCESS_LOAD) written_mark_lanes(shared_marks(block) + first, p->distance, bytes);
    count_request(counter(warp, op), p->units);
    pattern_access(p, shared_zero(block) + first, kind, access);
    return true;
}

uint32_t shared_address(Warp *warp, const Op *op, int r, unsigned lane, int32_t offset) {
    if (op->address_width == 4) return REG(u32, r)[lane] + (uint32_t)offset;
    const uint64_t address = REG(u64, r)[lane] + (uint64_t)(int64_t)offset;
    if (address >> 48 != SHARED_WINDOW >> 48 && address >> 32)
        fault(warp, (int)lane, "0x%llx is no address of shared memory",
              (unsigned long long)address);
    return (uint32_t)address;
}

void shared_addresses(Warp *warp, const Op *op, int r, uint32_t mask, uint32_t address[LANES]) {
    const u32 *base = REG(u32, r);
    if (op->address_width == 4)
        for (unsigned l = 0; l < LANES; l++)
            address[l] = mask >> l & 1 ? base[l] + (uint32_t)op->offset : address[l];
    for (uint32_t left = op->address_width == 4 ? 0 : mask; left; left &= left - 1)
        address[first_lane(left)] = shared_address(warp, op, r, first_lane(left), op->offset);
}

/* ---- Global memory --------------------------------------------------------------------------- */

static bool inside(const Allocation *a, uint64_t address, uint64_t bytes) {
    return a && address >= a->start && address <= a->end && bytes <= a->end - address;
}

/* What is where no allocation has all of the bytes, as far as that is known. */
static void describe_place(uint64_t address, uint64_t bytes, char *text, size_t size) {
    static const uint64_t FAR = 1ull << 32; /* no index of a kernel leads that far */
    typedef unsigned long long Number;
    const Allocation *near = memory_nearest(address);
    const bool below = near && address < near->start, freed = memory_was_freed(address);
    const uint64_t away = !near   ? UINT64_MAX
                          : below ? near->start - address
                                  : address + bytes - near->end;
    if (address < FAR && address < away && !freed)
        snprintf(text, size, address ? "%llu bytes beyond null" : "a null pointer",
                 (Number)address);
    else if (away < FAR)
        snprintf(text, size, "which %s %llu bytes %s an allocation of %llu bytes at 0x%llx%s",
                 below ? "begin" : "reach", (Number)away, below ? "before" : "beyond the end of",
                 (Number)(near->end - near->start), (Number)near->start,
                 freed ? ", in memory that was freed" : "");
    else
        snprintf(text, size, "%s",
                 freed                       ? "in memory that was freed"
                 : memory_is_mapped(address) ? "in memory of the host"
                                             : "where nothing is allocated");
}

_Noreturn static void fault_global(Warp *warp, int lane, uint64_t address, uint64_t bytes,
                                   AccessKind kind) {
    const unsigned long long at = address, size = bytes;
    char place[200];
    if (address >> 48)
        fault(warp, lane, "%s of %llu bytes at 0x%llx, which is no address of global memory",
              kind_names[kind], size, at);
    describe_place(address, bytes, place, sizeof place);
    fault(warp, lane, "%s out of bounds: %llu bytes at 0x%llx, %s", kind_names[kind], size, at,
          place);
}

bool in_constant(const Block *block, uint64_t address) {
    const PtxModule *ptx = block->kernel->ptx;
    for (int i = 0; i < ptx->variables; i++) {
        const Variable *v = ptx->variable[i];
        if (v->space == SPACE_CONST && v->placed && address - v->address < v->bytes) return true;
    }
    return false;
}

/* What holds the bytes: an allocation, or the parameters. Nobody may write those, or constants. */
static const Allocation *find_range(Warp *warp, int lane, uint64_t address, uint64_t bytes,
                                    AccessKind kind) {
    const Allocation *parameters = &warp->block->parameters;
    const bool parameter = inside(parameters, address, bytes);
    const Allocation *a = parameter ? parameters : memory_find(address, bytes);
    if (parameter && kind != ACCESS_LOAD)
        fault(warp, lane, "%s of %llu bytes in a kernel parameter, which may only be read",
              kind_names[kind], (unsigned long long)bytes);
    if (!a) fault_global(warp, lane, address, bytes, kind);
    if (kind != ACCESS_LOAD && in_constant(warp->block, address))
        fault(warp, lane, "%s of %llu bytes in constant memory, which may only be read",
              kind_names[kind], (unsigned long long)bytes);
    return a;
}

/* A launch that may begin early knows its parameters, and before griddepcontrol.wait nothing else:
 * the launch before may not have written it yet (PTX ISA 9.7.13.13). */
static void require_begun(Warp *warp, int lane, uint64_t address, AccessKind kind) {
    if (!warp->early || inside(&warp->block->parameters, address, 1)) return;
    fault(warp, lane,
          "global %s before griddepcontrol.wait: the launch before this one may still be running",
          kind_names[kind]);
}

void global_use(const Warp *warp, const Op *op, uint64_t address, uint64_t bytes, AccessKind kind) {
    const RaceMoment now = race_blocks_moment(warp->block->race, (unsigned)warp->index);
    const bool strong = op->order && !op->of_block;
    const unsigned writes = kind == ACCESS_LOAD ? 0 : GRID_WRITES;
    const unsigned size = !strong ? 0 : op->type.pair ? 2 : op->bytes;
    grid_note(warp->block->uses, &now, writes | (strong ? GRID_STRONG : 0), size, address, bytes,
              (uint32_t)op->index);
}

void global_order(const Warp *warp, const Op *op, AccessKind kind) {
    const Block *block = warp->block;
    if (!op->order || op->of_block) return;
    if (kind != ACCESS_STORE) race_blocks_read(block->race, (unsigned)warp->index, op->order);
    if (kind == ACCESS_LOAD) return;
    race_blocks_write(block->race, (unsigned)warp->index, op->order, block->uses->released);
}

void global_range(Warp *warp, int lane, uint64_t address, uint64_t bytes, AccessKind kind) {
    require_begun(warp, lane, address, kind);
    const Allocation *a = find_range(warp, lane, address, bytes, kind);
    if (a->loaded)
        memory_mark_range(kind == ACCESS_LOAD ? a->loaded : a->stored, a, address, bytes);
    if (warp->block->uses) global_use(warp, warp->op, address, bytes, kind);
}

static void mark(const Allocation *a, uint64_t address, AccessKind kind) {
    if (a->loaded) memory_mark(kind == ACCESS_LOAD ? a->loaded : a->stored, a, address);
}

static void check_each_global(Warp *warp, const Op *op, const uint64_t address[LANES],
                              uint32_t mask, unsigned bytes, const uint8_t *read, AccessKind kind) {
    const Allocation **range = &warp->block->requests[op->index].range;
    for (unsigned l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        const unsigned size = read ? read[l] : bytes;
        if (address[l] & (bytes - 1))
            fault(warp, (int)l, "misaligned global %s: %u bytes at 0x%llx", kind_names[kind], bytes,
                  (unsigned long long)address[l]);
        if (!inside(*range, address[l], size))
            *range = find_range(warp, (int)l, address[l], size, kind);
        mark(*range, address[l], kind);
    }
}

/* The sectors of a request that has the pattern. They are those of another such request if lane 0
 * is in the same sector: either all lanes are whole sectors apart, or the place is the same. */
static void mark_pattern(const Block *block, const Pattern *p, const Allocation *a, uint64_t first,
                         AccessKind kind) {
    uint64_t *sectors = kind == ACCESS_LOAD ? a->loaded : a->stored;
    const uint64_t which = (uint64_t)p->known << 1 | (kind == ACCESS_LOAD);
    const uint64_t fact = which << 48 | first / SECTOR_BYTES;
    if (memo_knows(block->marked, fact)) return;
    memo_learn(block->marked, fact);
    for (uint32_t left = sectors ? p->leaders : 0; left; left &= left - 1)
        memory_mark(sectors, a, first + (uint64_t)(int64_t)p->distance[first_lane(left)]);
}

/* All of a pattern at another place is inside and aligned. */
static bool pattern_in_global(const Pattern *p, const Allocation *a, uint64_t first,
                              unsigned bytes) {
    return !(first & (bytes - 1)) && inside(a, first + (uint64_t)(int64_t)p->lowest, p->span);
}

/* The pattern of a request: that of the operation's last one, or the one that came after it then,
 * because steps that are no whole sectors come round. NULL if it is neither. */
static const Pattern *expected_global(const Block *block, OpRequests *requests,
                                      const uint64_t address[LANES], uint64_t first) {
    const Pattern *all = block->patterns->pattern, *p = &all[requests->global];
    if (!pattern_fits_global(p, address, first)) {
        p = &all[p->next];
        if (!pattern_fits_global(p, address, first)) return NULL;
        requests->global = (uint16_t)p->known;
    }
    return p;
}

static void learn_global(const Block *block, OpRequests *requests, const uint64_t address[LANES],
                         unsigned bytes, Units units) {
    const unsigned now = pattern_learn_global(block->patterns, address, bytes, units);
    block->patterns->pattern[requests->global].next = now;
    requests->global = (uint16_t)now;
}

/* Lanes that take no part get the first one's address, which adds nothing to the sectors: so a
 * request of some lanes has a pattern, too. */
static void fill_lanes(uint64_t filled[LANES], const uint64_t address[LANES], uint32_t mask) {
    const uint64_t first = address[first_lane(mask)];
    for (unsigned l = 0; l < LANES; l++) filled[l] = mask >> l & 1 ? address[l] : first;
}

/* What lanes use; neighbours mostly use what comes next, or the same. */
static void use_lanes(const Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                      unsigned bytes, const uint8_t *read, AccessKind kind) {
    uint64_t from = 0, end = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned l = first_lane(left);
        const uint64_t at = address[l], to = at + (read ? read[l] : bytes);
        if (at < from || at > end) {
            global_use(warp, op, from, end - from, kind);
            from = end = at;
        }
        if (to > end) end = to;
    }
    global_use(warp, op, from, end - from, kind);
    global_order(warp, op, kind);
}

void global_request(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                    unsigned bytes, const uint8_t *read, AccessKind kind) {
    const Block *block = warp->block;
    OpRequests *requests = &block->requests[op->index];
    const Allocation *a = requests->range;
    uint64_t filled[LANES];
    Units units;
    require_begun(warp, (int)first_lane(mask), address[first_lane(mask)], kind);
    fill_lanes(filled, address, mask);
    const Pattern *p = expected_global(block, requests, filled, filled[0]);
    if (p && pattern_in_global(p, a, filled[0], bytes)) {
        units = p->units;
        mark_pattern(block, p, a, filled[0], kind);
    } else {
        check_each_global(warp, op, address, mask, bytes, read, kind);
        units = global_sectors(address, mask, bytes);
        learn_global(block, requests, filled, bytes, units);
    }
    Record *record = block->record;
    if (record) observe_global(record, warp, address, mask, bytes, units);
    count_request(counter(warp, op), units);
    if (block->uses && kind != ACCESS_ATOMIC) use_lanes(warp, op, address, mask, bytes, read, kind);
}

/* What all lanes of a weak request use that has the pattern. */
static void use_pattern(const Warp *warp, const Op *op, const Pattern *p, uint64_t first,
                        unsigned bytes, AccessKind kind) {
    const RaceMoment now = race_blocks_moment(warp->block->race, (unsigned)warp->index);
    const uint64_t which = (uint64_t)p->known << 1 | (kind == ACCESS_LOAD);
    if (grid_noted(warp->block->uses, &now, kind != ACCESS_LOAD, which << 48 | first)) return;
    if (p->shape == SHAPE_ROW) {
        global_use(warp, op, first, (uint64_t)LANES * bytes, kind);
        return;
    }
    uint64_t address[LANES];
    for (unsigned l = 0; l < LANES; l++) address[l] = first + (uint64_t)(int64_t)p->distance[l];
    use_lanes(warp, op, address, ALL_LANES, bytes, NULL, kind);
}

/* What global_lanes does for all lanes of a weak request that has the pattern of the operation's
 * last one; false if it is not such a request. */
static bool global_again(Warp *warp, const Op *op, const u64 base[LANES], unsigned bytes,
                         AccessKind kind, Access *access) {
    const Block *block = warp->block;
    const uint64_t offset = (uint64_t)(int64_t)op->offset, first = base[0] + offset;
    const Pattern *p = repeated(block, op, first);
    OpRequests *requests = &block->requests[p ? op->repeats : op->index];
    const Allocation *a = requests->range;
    if (!p) {
        p = expected_global(block, requests, base, first);
        if (!p) return false;
        note_pattern(block, op, p);
    }
    if (warp->early || !pattern_in_global(p, a, first, bytes)) return false;
    mark_pattern(block, p, a, first, kind);
    count_request(counter(warp, op), p->units);
    if (block->uses) use_pattern(warp, op, p, first, bytes, kind);
    pattern_access(p, (uint8_t *)(uintptr_t)first, kind, access);
    return true;
}

static void global_lanes(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                         unsigned bytes, AccessKind kind, Access *access) {
    const uint64_t any = address[first_lane(mask)];
    global_request(warp, op, address, mask, bytes, NULL, kind);
    for (unsigned l = 0; l < LANES; l++) access->at[l] = (uint8_t *)(uintptr_t)address[l];
    for (unsigned l = 0; mask != ALL_LANES && l < LANES; l++)
        if (!(mask >> l & 1)) access->at[l] = (uint8_t *)(uintptr_t)any;
}

/* ld.param and ld.const: no requests, no sectors */
static void constant_lanes(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                           unsigned bytes, Access *access) {
    const unsigned first = first_lane(mask);
    for (unsigned l = 0; l < LANES; l++) {
        const unsigned lane = mask >> l & 1 ? l : first;
        const uint64_t at = address[lane];
        find_range(warp, (int)lane, at, bytes, ACCESS_LOAD);
        if (at & (bytes - 1))
            fault(warp, (int)lane, "misaligned load of a %s: %u bytes at 0x%llx",
                  op->space == SPACE_PARAM ? "parameter" : "constant", bytes,
                  (unsigned long long)at);
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
        if (address[lane] & (bytes - 1))
            fault(warp, (int)lane, "misaligned local access: %u bytes at 0x%llx", bytes,
                  (unsigned long long)address[lane]);
        access->at[l] = warp->local + (size_t)lane * size + address[lane];
    }
    counter(warp, op)->requests++;
    Record *record = warp->block->record;
    if (record) observe_local(record, warp, address, mask, bytes);
}

/* ---- All together ---------------------------------------------------------------------------- */

static void take_lanes(Access *access, const Access *part, uint32_t lanes) {
    for (unsigned l = 0; l < LANES; l++)
        if (lanes >> l & 1) access->at[l] = part->at[l];
}

/* Generic addresses: each window's lanes are a request of their own. The first also has bytes for
 * the lanes of the others, and for those that do not execute. */
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
    if (local && kind == ACCESS_ATOMIC)
        fault(warp, (int)first_lane(local),
              "atomic on local memory: there are atomics on global and shared memory alone");
    const uint32_t global = warp->mask & ~shared & ~local;
    if (global) global_lanes(warp, op, address, global, bytes, kind, access);
    for (unsigned l = 0; l < LANES; l++) {
        low[l] = (uint32_t)address[l];
        address[l] = low[l];
    }
    if (shared) {
        shared_lanes(warp, op, low, shared, bytes, kind, &part);
        counter(warp, op)->second_units++;
        take_lanes(access, &part, global ? shared : ALL_LANES);
    }
    if (local) {
        local_lanes(warp, op, address, local, bytes, &part);
        take_lanes(access, &part, global | shared ? local : ALL_LANES);
    }
}

/* The lanes' addresses, 64 bits wide. */
static void lane_addresses(const Warp *warp, const Op *op, int r, uint64_t address[LANES]) {
    if (op->address_width == 4) {
        const u32 *base = REG(u32, r);
        for (unsigned l = 0; l < LANES; l++) address[l] = base[l] + (uint32_t)op->offset;
    } else {
        const u64 *base = REG(u64, r);
        for (unsigned l = 0; l < LANES; l++) address[l] = base[l] + (uint64_t)(int64_t)op->offset;
    }
}

uint64_t access_place(const Warp *warp, const Op *op, int r, unsigned lane) {
    if (op->address_width == 4) return REG(u32, r)[lane] + (uint32_t)op->offset;
    const uint64_t address = REG(u64, r)[lane] + (uint64_t)(int64_t)op->offset;
    return address >> 48 == SHARED_WINDOW >> 48 ? (uint32_t)address : address;
}

/* For the race detector: what a strong load acquires, or a strong store releases. */
static void order_lanes(Warp *warp, const Op *op, int r, AccessKind kind) {
    Race *race = warp->block->race;
    const unsigned index = (unsigned)warp->index;
    EACH_ACTIVE({
        const uint64_t place = access_place(warp, op, r, l);
        if (kind == ACCESS_LOAD)
            race_strong_read(race, index, l, place, op->order);
        else
            race_strong_write(race, index, l, place, op->order, false);
    });
}

/* Any request. */
static void access_anew(Warp *warp, const Op *op, int r, uint32_t mask, unsigned bytes,
                        AccessKind kind, Access *access) {
    uint64_t address[LANES];
    uint32_t low[LANES] = {0};
    access->pattern = NULL;
    switch ((Space)op->space) {
    case SPACE_SHARED:
        shared_addresses(warp, op, r, mask, low);
        shared_lanes(warp, op, low, mask, bytes, kind, access);
        return;
    case SPACE_GLOBAL:
        lane_addresses(warp, op, r, address);
        global_lanes(warp, op, address, mask, bytes, kind, access);
        return;
    case SPACE_LOCAL:
        lane_addresses(warp, op, r, address);
        local_lanes(warp, op, address, mask, bytes, access);
        return;
    case SPACE_PARAM:
    case SPACE_CONST:
        lane_addresses(warp, op, r, address);
        constant_lanes(warp, op, address, mask, bytes, access);
        return;
    default:
        lane_addresses(warp, op, r, address);
        generic_lanes(warp, op, address, bytes, kind, access);
    }
}

void fault_lost(Warp *warp, unsigned lane) {
    fault(warp, (int)lane,
          "data race within a store: another lane leaves a different value at the same place, and "
          "which of them stays is undefined");
}

void access_lanes(Warp *warp, const Op *op, int r, unsigned bytes, AccessKind kind,
                  Access *access) {
    const Block *block = warp->block;
    const uint32_t mask = lanes_of(warp, op);
    const bool simple = mask == ALL_LANES && !block->record;
    if (simple && !block->race && op->space == SPACE_SHARED && op->address_width == 4 &&
        shared_again(warp, op, REG(u32, r), bytes, kind, access))
        return;
    const bool weak = !op->order || !block->race;
    if (simple && weak && op->space == SPACE_GLOBAL && op->address_width == 8 &&
        global_again(warp, op, REG(u64, r), bytes, kind, access))
        return;
    access_anew(warp, op, r, mask, bytes, kind, access);
    if (block->race && op->order && kind != ACCESS_ATOMIC) order_lanes(warp, op, r, kind);
}
