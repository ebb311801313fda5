/* atom and red. PTX ISA, "Parallel Synchronization and Communication: atom, red". The lanes of a
 * warp take their turns in order, or with an odd SIM_ORDER backwards; blocks that use atomics on
 * global memory run one at a time. */
#include "decode/decode.h"
#include "machine/access.h"
#include "machine/lanes.h"
#include "ops/numeric.h"

typedef enum Atomic {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_INC,
    ATOMIC_DEC,
} Atomic;

static bool is_float(Type type) { return type.kind == 'f' || type.kind == 'h' || type.kind == 'g'; }

static uint64_t lane_value(const Warp *warp, const Op *op, int r, unsigned l) {
    uint64_t value = 0;
    memcpy(&value, REG(u8, r) + l * op->bytes, op->bytes);
    return value;
}

static uint64_t integer_result(const Warp *warp, const Op *op, unsigned l, uint64_t old,
                               uint64_t b) {
    const unsigned shift = 64 - 8u * op->bytes;
    const int64_t x = (int64_t)(old << shift), y = (int64_t)(b << shift);
    const bool less = op->is_signed ? x < y : (uint64_t)x < (uint64_t)y;
    switch ((Atomic)op->mode) {
    case ATOMIC_ADD:
        return old + b;
    case ATOMIC_MIN:
        return less ? old : b;
    case ATOMIC_MAX:
        return less ? b : old;
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_XOR:
        return old ^ b;
    case ATOMIC_EXCH:
        return b;
    case ATOMIC_CAS:
        return old == b ? lane_value(warp, op, 3, l) : old;
    case ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    default:
        return old == 0 || old > b ? b : old - 1;
    }
}

static uint16_t half_sum(const Op *op, uint64_t a, uint64_t b) {
    return op->bf16 ? bf16_add((uint16_t)a, (uint16_t)b) : half_add((uint16_t)a, (uint16_t)b);
}

/* fp32 is added to global memory as with .ftz, to shared memory with subnormals (PTX ISA, atom). */
static uint64_t float_sum(const Op *op, uint64_t old, uint64_t b, bool is_global) {
    if (op->type.kind == 'f' && op->bytes == 4) {
        const float x = float_of((uint32_t)old), y = float_of((uint32_t)b);
        return bits_of(is_global ? flush(flush(x) + flush(y)) : x + y);
    }
    if (op->type.kind == 'f') return bits_of_double(double_of(old) + double_of(b));
    return half_sum(op, old, b) | (uint32_t)half_sum(op, old >> 16, b >> 16) << 16; /* or 0 + 0 */
}

/* False if it only reads: a compare-and-swap that does not find its value. */
static bool run_lane(Warp *warp, const Op *op, unsigned l, uint8_t *at, bool is_global) {
    const uint64_t b = lane_value(warp, op, 2, l);
    uint64_t old = 0;
    memcpy(&old, at, op->bytes);
    const bool adds_floats = is_float(op->type) && op->mode == ATOMIC_ADD;
    const uint64_t value =
        adds_floats ? float_sum(op, old, b, is_global) : integer_result(warp, op, l, old, b);
    memcpy(at, &value, op->bytes);
    if (op->r[0] >= 0) memcpy(REG(u8, 0) + l * op->bytes, &old, op->bytes);
    return op->mode != ATOMIC_CAS || old == b;
}

/* For the race detector: it reads, and what it writes goes on with what was released there. */
static void order(Warp *warp, const Op *op, unsigned l, uint64_t place, bool writes) {
    Race *race = warp->block->race;
    race_strong_read(race, (unsigned)warp->index, l, place, op->order);
    if (writes) race_strong_write(race, (unsigned)warp->index, l, place, op->order, true);
}

/* operands: d or -1, address, b, c or -1 */
static void run_atomic(Warp *warp, const Op *op) {
    Block *block = warp->block;
    const bool backwards = block->settings->order % 2;
    Access access;
    access_lanes(warp, op, 1, op->bytes, ACCESS_ATOMIC, &access);
    for (unsigned i = 0; i < LANES; i++) {
        const unsigned l = backwards ? LANES - 1 - i : i;
        if (!(warp->mask >> l & 1)) continue;
        const uint64_t place = access_place(warp, op, 1, l);
        const bool is_global = place > UINT32_MAX; /* no shared address is */
        const bool writes = run_lane(warp, op, l, access.at[l], is_global);
        if (block->race) order(warp, op, l, place, writes);
        if (!block->uses || !is_global) continue;
        const AccessKind kind = writes ? ACCESS_ATOMIC : ACCESS_LOAD;
        global_use(warp, op, place, op->bytes, kind);
        global_order(warp, op, kind);
    }
    block->progress++;
}

static void take_qualifiers(Decoder *d) {
    static const char *const orders[] = {"acquire", "release", "acq_rel", NULL};
    static const uint8_t bits[] = {RACE_ACQUIRES, RACE_RELEASES, RACE_ACQUIRES | RACE_RELEASES};
    static const char *const others[] = {"relaxed", "gpu", "sys", "noftz", NULL};
    while (take_one(d, others) >= 0) continue;
    d->op->of_block = take(d, "cta") || take(d, "cluster");
    const int which = take_one(d, orders);
    d->op->order = (uint8_t)(RACE_STRONG | (which < 0 ? 0 : bits[which]));
}

bool decode_atomic(Decoder *d) {
    static const char *const names[] = {"add",  "min", "max", "and", "or", "xor",
                                        "exch", "cas", "inc", "dec", NULL};
    const bool returns = opcode_is(d, "atom");
    Type type;
    Op *op = d->op;
    if ((!returns && !opcode_is(d, "red")) || !type_of(take_last(d), &type)) return false;
    take_qualifiers(d);
    op->space = take(d, "global")                             ? SPACE_GLOBAL
                : take(d, "shared") || take(d, "shared::cta") ? SPACE_SHARED
                                                              : SPACE_GENERIC;
    const int what = take_one(d, names);
    if (what < 0 || type.bytes == 1 || type.bytes > 8) return false;
    if (is_float(type) && what != ATOMIC_ADD) return false;
    op->mode = (uint8_t)what;
    op->alone = what == ATOMIC_CAS ? 2 : 1;
    op->type = type;
    op->bytes = type.bytes;
    op->is_signed = type.kind == 's';
    op->bf16 = type.kind == 'g';
    if (returns)
        define(d, type.bytes);
    else
        absent(d, true);
    use_address(d, &op->offset);
    use(d, type.bytes);
    if (what == ATOMIC_CAS)
        use(d, type.bytes);
    else
        absent(d, false);
    if (op->space != SPACE_SHARED) d->kernel->in_order = true;
    if (op->space != SPACE_GLOBAL && op->bytes < d->kernel->race_granule)
        d->kernel->race_granule = op->bytes;
    return done(d, run_atomic,
                op->space == SPACE_SHARED ? CLASS_SHARED_ATOMIC : CLASS_GLOBAL_ATOMIC);
}
