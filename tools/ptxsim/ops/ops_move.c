/* mov: registers, constants, addresses, clocks, and vectors packed into one register or
 * unpacked. */
#include "decode/decode.h"
#include "machine/lanes.h"
#include "machine/observe.h"

#define MOVE(name, T)                            \
    static void name(Warp *warp, const Op *op) { \
        const T *a = REG(T, 1);                  \
        EACH(T, a[l]);                           \
    }
typedef unsigned __int128 u128 __attribute__((may_alias));
MOVE(move_16, u16)
MOVE(move_32, u32)
MOVE(move_64, u64)
MOVE(move_128, u128)

static void pack_2x16(Warp *warp, const Op *op) {
    const u16 *low = REG(u16, 1), *high = REG(u16, 2);
    EACH(u32, (uint32_t)low[l] | (uint32_t)high[l] << 16);
}

static void pack_2x32(Warp *warp, const Op *op) {
    const u32 *low = REG(u32, 1), *high = REG(u32, 2);
    EACH(u64, (uint64_t)low[l] | (uint64_t)high[l] << 32);
}

/* Any other vector: op->elements of op->bytes each. */
static void pack(Warp *warp, const Op *op) {
    const unsigned whole = op->bytes * op->elements;
    for (int i = 0; i < op->elements; i++)
        EACH_ACTIVE(memcpy(REG(u8, 0) + l * whole + (unsigned)i * op->bytes,
                           REG(u8, i + 1) + l * op->bytes, op->bytes));
}

#define UNPACK_HALVES(name, Whole, Half, bits)                      \
    static void name(Warp *warp, const Op *op) {                    \
        const Whole *from = REG(Whole, 2);                          \
        Half *low = REG(Half, 0), *high = REG(Half, 1);             \
        VECTORISE                                                   \
        for (unsigned l = 0; l < LANES; l++) {                      \
            const bool active = warp->mask >> l & 1;                \
            low[l] = active ? (Half)from[l] : low[l];               \
            high[l] = active ? (Half)(from[l] >> (bits)) : high[l]; \
        }                                                           \
    }
UNPACK_HALVES(unpack_2x16, u32, u16, 16)
UNPACK_HALVES(unpack_2x32, u64, u32, 32)

static void unpack(Warp *warp, const Op *op) {
    const unsigned whole = op->bytes * op->elements;
    for (int i = 0; i < op->elements; i++)
        EACH_ACTIVE(memcpy(REG(u8, i) + l * op->bytes,
                           REG(u8, op->elements) + l * whole + (unsigned)i * op->bytes, op->bytes));
}

/* %clock and its like: no time passes here, so they count the warp's instructions; in a block that
 * is recorded they are the record's time, which knows waits, too. op->number is the bit that they
 * begin at. */
static void read_clock(Warp *warp, const Op *op) {
    const Record *record = warp->block->record;
    const uint64_t before = warp->executed - (uint64_t)(warp->pc - op->index);
    const uint64_t time = record ? observe_clock(record, warp) : before;
    const uint64_t now = time >> op->number;
    if (op->width == 4)
        EACH(u32, (uint32_t)now);
    else
        EACH(u64, now);
}

static bool take_clock(Decoder *d) {
    static const struct {
        const char *name;
        unsigned bytes, first_bit;
    } clocks[] = {
        {"%clock", 4, 0},       {"%clock_hi", 4, 32},      {"%clock64", 8, 0},
        {"%globaltimer", 8, 0}, {"%globaltimer_lo", 4, 0}, {"%globaltimer_hi", 4, 32},
    };
    const Operand *operand = peek_operand(d);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (operand->kind != OPERAND_SPECIAL || !text_is(operand->name, clocks[i].name)) continue;
        d->op->number = (int32_t)clocks[i].first_bit;
        d->bad |= d->op->width != clocks[i].bytes;
        d->next++;
        return true;
    }
    return false;
}

static bool decode_vector(Decoder *d, Type type) {
    const Operand *to = &d->in->operand[0], *from = &d->in->operand[1];
    const bool packs = from->kind == OPERAND_VECTOR;
    const int elements = packs ? from->elements : to->elements;
    Op *op = d->op;
    if (packs == (to->kind == OPERAND_VECTOR) || (elements != 2 && elements != 4)) return false;
    op->elements = (uint8_t)elements;
    op->bytes = (uint8_t)(type.bytes / elements);
    if (op->bytes < 2) return false;
    if (packs) {
        define(d, type.bytes);
        use_vector(d, op->bytes, elements);
        const Handler halves = op->bytes == 2 ? pack_2x16 : op->bytes == 4 ? pack_2x32 : pack;
        return done(d, elements == 2 ? halves : pack, CLASS_MOVE);
    }
    define_vector(d, op->bytes, elements);
    use(d, type.bytes);
    const Handler halves = op->bytes == 2 ? unpack_2x16 : op->bytes == 4 ? unpack_2x32 : unpack;
    return done(d, elements == 2 ? halves : unpack, CLASS_MOVE);
}

bool decode_move(Decoder *d) {
    Type type;
    if (!opcode_is(d, "mov") || !type_of(take_last(d), &type) || d->in->operands != 2) return false;
    if (type.kind == 'p') return false;
    if (d->in->operand[0].kind == OPERAND_VECTOR || d->in->operand[1].kind == OPERAND_VECTOR)
        return decode_vector(d, type);
    define(d, type.bytes);
    d->op->width = type.bytes;
    if (take_clock(d)) return done(d, read_clock, CLASS_MOVE);
    use(d, type.bytes);
    switch (type.bytes) {
    case 2:
        return done(d, move_16, CLASS_MOVE);
    case 4:
        return done(d, move_32, CLASS_MOVE);
    case 8:
        return done(d, move_64, CLASS_MOVE);
    default:
        return done(d, move_128, CLASS_MOVE);
    }
}
