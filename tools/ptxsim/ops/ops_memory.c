/* ld, st and cvta. */
#include "decode/decode.h"
#include "machine/access.h"
#include "machine/lanes.h"
#include "machine/memory/race.h"

/* ---- Handlers -------------------------------------------------------------------------------- */

/* Lanes' elements at distances from `first`. Vectors are put together in registers: whoever reads
 * one that was stored in pieces has to wait for the last of them. */
#define GATHER(type, first) \
    type each[LANES];       \
    UNROLL                  \
    for (unsigned l = 0; l < LANES; l++) memcpy(&each[l], (first) + p->distance[l], sizeof(type))
#define GATHER_TWICE(type, first)                                 \
    type each[LANES];                                             \
    UNROLL                                                        \
    for (unsigned l = 0; l < LANES / 2; l++) {                    \
        type element;                                             \
        memcpy(&element, (first) + p->distance[l], sizeof(type)); \
        each[l] = each[l + LANES / 2] = element;                  \
    }

/* Loads: operands are the registers, then the address. One handler for each pair of a type in
 * memory and a type of register; the conversion extends the sign if the memory's type has one. Of
 * lanes that are whole words apart, what is narrower comes out of their words. */
#define LOAD(name, memory, reg)                                                                   \
    static void name##_pattern(Warp *warp, const Op *op, const Pattern *p, const uint8_t *first,  \
                               unsigned e) {                                                      \
        typedef __typeof__((memory)0 + 0u) Word;                                                  \
        const unsigned skip = sizeof(memory) < sizeof(u32) ? (uintptr_t)first % sizeof(u32) : 0;  \
        if (p->shape == SHAPE_ROW && op->elements == 1) {                                         \
            EACH_OF(reg, e, (reg)((const memory *)(const void *)first)[l]);                       \
        } else if (p->shape == SHAPE_HALVES) {                                                    \
            memory low, high;                                                                     \
            memcpy(&low, first, sizeof low);                                                      \
            memcpy(&high, first + p->distance[LANES - 1], sizeof high);                           \
            EACH_OF(reg, e, (reg)(l < LANES / 2 ? low : high));                                   \
        } else if (sizeof(memory) < sizeof(u32) && !p->words) {                                   \
            GATHER(memory, first);                                                                \
            EACH_OF(reg, e, (reg)each[l]);                                                        \
        } else if (p->shape == SHAPE_TWICE) {                                                     \
            GATHER_TWICE(Word, first - skip);                                                     \
            EACH_OF(reg, e, (reg)(memory)(each[l] >> 8 * skip));                                  \
        } else {                                                                                  \
            GATHER(Word, first - skip);                                                           \
            EACH_OF(reg, e, (reg)(memory)(each[l] >> 8 * skip));                                  \
        }                                                                                         \
    }                                                                                             \
    static void name(Warp *warp, const Op *op) {                                                  \
        Access access;                                                                            \
        access_lanes(warp, op, op->elements, op->elements *(unsigned)sizeof(memory), ACCESS_LOAD, \
                     &access);                                                                    \
        for (unsigned e = 0; e < op->elements; e++) {                                             \
            memory each[LANES];                                                                   \
            if (access.pattern) {                                                                 \
                name##_pattern(warp, op, access.pattern, access.at[0] + e * sizeof(memory), e);   \
                continue;                                                                         \
            }                                                                                     \
            for (unsigned l = 0; l < LANES; l++)                                                  \
                memcpy(&each[l], access.at[l] + e * sizeof(memory), sizeof(memory));              \
            EACH_OF(reg, e, (reg)each[l]);                                                        \
        }                                                                                         \
    }

/* Whether some lane of the store leaves another value where lane l's element e is. If none does,
 * another block has, at this moment. */
static bool is_lost(Warp *warp, const Op *op, const Access *access, int e, unsigned l) {
    const u8 *place = access->at[l] + (unsigned)e * op->bytes, *value = REG(u8, e + 1);
    bool lost = false;
    for (int i = 0; i < op->elements; i++) {
        const u8 *from = REG(u8, i + 1);
        for (unsigned k = 0; k < LANES; k++)
            lost |= warp->mask >> k & 1 && access->at[k] + (unsigned)i * op->bytes == place &&
                    memcmp(from + k * op->width, value + l * op->width, op->bytes) != 0;
    }
    return lost;
}

/* Of lanes that store at the same place the highest wins, with an odd SIM_ORDER the lowest. */
static void settle(Warp *warp, const Op *op, const Access *access) {
    const Settings *settings = warp->block->settings;
    for (int e = 0; e < op->elements; e++) {
        const u8 *from = REG(u8, e + 1);
        const unsigned at = (unsigned)e * op->bytes;
        for (unsigned l = LANES; settings->order % 2 && l-- > 0;)
            if (warp->mask >> l & 1) memcpy(access->at[l] + at, from + l * op->width, op->bytes);
        if (settings->race && !op->order)
            EACH_ACTIVE(if (memcmp(access->at[l] + at, from + l * op->width, op->bytes) != 0 &&
                            is_lost(warp, op, access, e, l)) fault_lost(warp, l));
    }
}

/* Stores: operands are the address, then the registers. */
#define STORE(name, memory, reg)                                                                  \
    static void name(Warp *warp, const Op *op) {                                                  \
        Access access;                                                                            \
        access_lanes(warp, op, 0, op->elements *(unsigned)sizeof(memory), ACCESS_STORE, &access); \
        for (unsigned e = 0; e < op->elements; e++) {                                             \
            const reg *from = REG(reg, e + 1);                                                    \
            for (unsigned l = 0; l < LANES; l++) {                                                \
                const memory value = (memory)from[l];                                             \
                if (warp->mask >> l & 1)                                                          \
                    memcpy(access.at[l] + e * sizeof value, &value, sizeof value);                \
            }                                                                                     \
        }                                                                                         \
        const Settings *settings = warp->block->settings;                                         \
        if (settings->race || settings->order % 2) settle(warp, op, &access);                     \
    }

typedef unsigned __int128 u128 __attribute__((may_alias, aligned(8)));

LOAD(load_u8_16, u8, u16)
LOAD(load_s8_16, s8, s16)
LOAD(load_16, u16, u16)
LOAD(load_u8_32, u8, u32)
LOAD(load_s8_32, s8, s32)
LOAD(load_u16_32, u16, u32)
LOAD(load_s16_32, s16, s32)
LOAD(load_32, u32, u32)
LOAD(load_u8_64, u8, u64)
LOAD(load_s8_64, s8, s64)
LOAD(load_u16_64, u16, u64)
LOAD(load_s16_64, s16, s64)
LOAD(load_u32_64, u32, u64)
LOAD(load_s32_64, s32, s64)
LOAD(load_64, u64, u64)
LOAD(load_128, u128, u128)

STORE(store_8_16, u8, u16)
STORE(store_16, u16, u16)
STORE(store_8_32, u8, u32)
STORE(store_16_32, u16, u32)
STORE(store_32, u32, u32)
STORE(store_8_64, u8, u64)
STORE(store_16_64, u16, u64)
STORE(store_32_64, u32, u64)
STORE(store_64, u64, u64)
STORE(store_128, u128, u128)

static const struct {
    uint8_t bytes, width; /* in memory, in the register */
    Handler unsigned_load, signed_load, store;
} transfers[] = {
    {1, 2, load_u8_16, load_s8_16, store_8_16},
    {2, 2, load_16, load_16, store_16},
    {1, 4, load_u8_32, load_s8_32, store_8_32},
    {2, 4, load_u16_32, load_s16_32, store_16_32},
    {4, 4, load_32, load_32, store_32},
    {1, 8, load_u8_64, load_s8_64, store_8_64},
    {2, 8, load_u16_64, load_s16_64, store_16_64},
    {4, 8, load_u32_64, load_s32_64, store_32_64},
    {8, 8, load_64, load_64, store_64},
    {16, 16, load_128, load_128, store_128},
};

/* ld.param of a parameter by name: the same for all lanes; the decoder has seen that it is inside.
 */
static void load_parameter(Warp *warp, const Op *op) {
    const uint8_t *from = (const uint8_t *)(uintptr_t)REG(u64, op->elements)[0];
    const unsigned unused = 64 - 8u * op->bytes;
    for (unsigned e = 0; e < op->elements; e++) {
        uint64_t value = 0;
        memcpy(&value, from + e * op->bytes, op->bytes);
        if (op->is_signed) value = (uint64_t)((int64_t)(value << unused) >> unused);
        if (op->width == 2)
            EACH_OF(u16, e, (uint16_t)value);
        else if (op->width == 4)
            EACH_OF(u32, e, (uint32_t)value);
        else
            EACH_OF(u64, e, value);
    }
}

static void add_window(Warp *warp, const Op *op) {
    const u64 *from = REG(u64, 1);
    const uint64_t window = op->mode == SPACE_SHARED  ? SHARED_WINDOW
                            : op->mode == SPACE_LOCAL ? LOCAL_WINDOW
                                                      : 0;
    const uint64_t add = op->number > 0 ? window : 0 - window;
    EACH(u64, from[l] + add);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static Space take_space(Decoder *d) {
    static const char *const names[] = {"global",      "shared", "shared::cta", "shared::cluster",
                                        "local",       "const",  "param",       "param::entry",
                                        "param::func", NULL};
    static const Space spaces[] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_SHARED,
                                   SPACE_SHARED, SPACE_LOCAL,  SPACE_CONST,
                                   SPACE_PARAM,  SPACE_PARAM,  SPACE_PARAM};
    const int which = take_one(d, names);
    return which < 0 ? SPACE_GENERIC : spaces[which];
}

/* Cache hints say nothing about what is loaded. An access that is strong may see other blocks'
 * writes; a volatile one is relaxed. */
static void take_modifiers(Decoder *d) {
    static const char *const hints[] = {"nc", "ca", "cg",   "cs",  "lu",  "cv",
                                        "wb", "wt", "weak", "gpu", "sys", NULL};
    static const char *const strong[] = {"volatile", "relaxed", "acquire", "release", "mmio", NULL};
    static const uint8_t orders[] = {0, 0, RACE_ACQUIRES, RACE_RELEASES, 0};
    for (int which; (which = take_one(d, strong)) >= 0;)
        d->op->order |= (uint8_t)(RACE_STRONG | orders[which]);
    while (take_one(d, hints) >= 0) continue;
    d->op->of_block = take(d, "cta") || take(d, "cluster");
    for (int i = 1; i < d->in->parts; i++) { /* .L1::evict_last, .L2::128B and their like */
        const Text part = d->in->part[i];
        if (part.length > 4 && part.at[0] == 'L' && part.at[2] == ':') d->taken |= 1u << i;
    }
}

/* The bytes of the register that holds the value: PTX lets it be wider than the type. */
static unsigned register_bytes(const Decoder *d, const Operand *operand, unsigned bytes) {
    for (int i = 0; operand->kind == OPERAND_VECTOR && i < operand->elements; i++)
        if (operand->element[i].kind == OPERAND_REGISTER) operand = &operand->element[i];
    if (operand->kind == OPERAND_REGISTER) return d->kernel->value[operand->reg].bytes;
    return bytes < 2 ? 2 : bytes;
}

static bool choose_handler(Decoder *d, bool is_load, InstructionClass class) {
    for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++) {
        if (transfers[i].bytes != d->op->bytes || transfers[i].width != d->op->width) continue;
        Handler load = d->op->is_signed ? transfers[i].signed_load : transfers[i].unsigned_load;
        return done(d, is_load ? load : transfers[i].store, class);
    }
    return false;
}

static InstructionClass class_of(Space space, bool is_load) {
    switch (space) {
    case SPACE_SHARED:
        return is_load ? CLASS_SHARED_LOAD : CLASS_SHARED_STORE;
    case SPACE_LOCAL:
        return CLASS_LOCAL;
    case SPACE_PARAM:
    case SPACE_CONST:
        return CLASS_PARAM_LOAD;
    default:
        return is_load ? CLASS_GLOBAL_LOAD : CLASS_GLOBAL_STORE;
    }
}

static void note_granule(Decoder *d, unsigned bytes) {
    if (bytes < d->kernel->race_granule) d->kernel->race_granule = bytes;
}

/* Whether `bytes` at the operand's offset are inside its variable. */
static bool is_inside(const Operand *operand, unsigned bytes) {
    const uint64_t size = operand->variable->bytes, offset = (uint64_t)operand->offset;
    return offset <= size && bytes <= size - offset;
}

/* Whether `bytes`, a power of two, at the operand's offset of a variable that has its place are
 * aligned. */
static bool is_aligned(const Operand *operand, unsigned bytes) {
    return ((operand->variable->address + (uint64_t)operand->offset) & (bytes - 1)) == 0;
}

/* A parameter variable is a kernel's, or local memory that a call passes. */
static Space parameter_space(const Operand *address, Space space) {
    const bool named = address->kind == OPERAND_VARIABLE;
    if (space == SPACE_PARAM && named && !address->variable->is_kernel_parameter)
        return SPACE_LOCAL;
    return space;
}

static bool decode_transfer(Decoder *d, bool is_load) {
    static const char *const vectors[] = {"v2", "v4", NULL};
    Op *op = d->op;
    Type type;
    const Space space = take_space(d);
    const bool hinted = take(d, "L2::cache_hint"); /* and a policy for the cache at the end */
    take_modifiers(d);
    const int vector = take_one(d, vectors);
    if (!type_of(take_last(d), &type) || type.kind == 'p') return false;
    if (d->in->operands != 2 + hinted) return false;
    if (hinted && space != SPACE_GLOBAL && space != SPACE_GENERIC) return false;
    const Operand *address = &d->in->operand[is_load ? 1 : 0];
    const Operand *data = &d->in->operand[is_load ? 0 : 1];
    op->elements = vector < 0 ? 1 : vector ? 4 : 2;
    op->bytes = type.bytes;
    op->width = (uint8_t)register_bytes(d, data, type.bytes);
    op->is_signed = type.kind == 's';
    op->space = (uint8_t)parameter_space(address, space);
    if (op->bytes * op->elements > 16) return false;
    if (!is_load) use_address(d, &op->offset);
    if (is_load)
        define_vector(d, op->width, op->elements);
    else
        use_vector(d, op->width, op->elements);
    if (is_load) use_address(d, &op->offset);
    if (hinted) use(d, 8);
    if (op->space == SPACE_GENERIC || op->space == SPACE_SHARED) note_granule(d, op->bytes);
    if (op->order && (op->space == SPACE_GENERIC || op->space == SPACE_GLOBAL))
        d->kernel->in_order = true;
    if (op->space == SPACE_PARAM && address->kind == OPERAND_VARIABLE &&
        !is_inside(address, op->bytes * op->elements))
        return refuse(d, "it is beyond its parameter");
    if (op->space == SPACE_PARAM && address->kind == OPERAND_VARIABLE &&
        !is_aligned(address, op->bytes * op->elements))
        return refuse(d, "it is not aligned to its size");
    if (op->space == SPACE_PARAM && address->kind == OPERAND_VARIABLE)
        return is_load && op->bytes <= 8 && done(d, load_parameter, CLASS_PARAM_LOAD);
    return choose_handler(d, is_load, class_of((Space)op->space, is_load));
}

/* cvta and cvta.to: a generic address is one in its window. Global ones are as they are. */
static bool decode_cvta(Decoder *d) {
    d->op->number = take(d, "to") ? -1 : 1;
    d->op->mode = (uint8_t)take_space(d);
    if (!take(d, "u64")) return false;
    use_pattern(d, "8=8");
    return done(d, add_window, CLASS_CONVERT);
}

/* Kernel parameters are in the global window, too (PTX ISA, isspacep). */
static bool is_in(const Warp *warp, Space space, uint64_t address) {
    const Allocation *parameters = &warp->block->parameters;
    const uint64_t window = address >> 48 << 48;
    switch (space) {
    case SPACE_SHARED:
        return window == SHARED_WINDOW;
    case SPACE_LOCAL:
        return window == LOCAL_WINDOW;
    case SPACE_PARAM:
        return address >= parameters->start && address < parameters->end;
    case SPACE_CONST:
        return in_constant(warp->block, address);
    default:
        return window != SHARED_WINDOW && window != LOCAL_WINDOW &&
               !in_constant(warp->block, address);
    }
}

/* isspacep.space p, address */
static void run_is_space(Warp *warp, const Op *op) {
    const u64 *address = REG(u64, 1);
    uint32_t bits = 0;
    for (unsigned l = 0; l < LANES; l++)
        bits |= (uint32_t)is_in(warp, (Space)op->mode, address[l]) << l;
    set_predicate(warp, op->r[0], bits);
}

bool decode_memory(Decoder *d) {
    if (opcode_is(d, "ld") || opcode_is(d, "ldu")) return decode_transfer(d, true);
    if (opcode_is(d, "st")) return decode_transfer(d, false);
    if (opcode_is(d, "cvta")) return decode_cvta(d);
    if (!opcode_is(d, "isspacep")) return false;
    d->op->mode = (uint8_t)take_space(d);
    use_pattern(d, "p=8");
    return done(d, run_is_space, CLASS_PREDICATE);
}
