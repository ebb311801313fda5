/* Loops over the lanes of a warp, for handlers.
 *
 * REG(u32, i) is operand i of the current operation as an array over lanes. EACH computes all lanes
 * in a loop without branches that the compiler turns into vector code, and keeps only those of the
 * lanes that execute. So expressions must be harmless for any input.
 */
#ifndef PTXSIM_LANES_H
#define PTXSIM_LANES_H

#include <string.h>

#include "machine/block.h"

/* Registers hold bits: one may be read as another type than it was written. */
typedef int8_t s8 __attribute__((may_alias));
typedef uint8_t u8 __attribute__((may_alias));
typedef int16_t s16 __attribute__((may_alias));
typedef uint16_t u16 __attribute__((may_alias));
typedef int32_t s32 __attribute__((may_alias));
typedef uint32_t u32 __attribute__((may_alias));
typedef int64_t s64 __attribute__((may_alias));
typedef uint64_t u64 __attribute__((may_alias));
typedef float f32 __attribute__((may_alias));
typedef double f64 __attribute__((may_alias));

/* Tells GCC that no two arrays of a loop overlap, but for being the same one. */
#ifdef __clang__
#define VECTORISE
#else
#define VECTORISE _Pragma("GCC ivdep")
#endif

/* For loops over lanes that no vector instruction helps. */
#define UNROLL _Pragma("GCC unroll 32")

#define REG(type, i) ((type *)(void *)(warp->registers + op->r[i]))

/* Copies the elements, each of so many bytes, of the lanes in the mask. */
void keep_lanes(void *out, const void *part, size_t bytes, uint32_t mask);

/* operand i = value, a lane at a time; `value` may use l, the lane */
#define EACH_OF(type, i, value)                                      \
    do {                                                             \
        type *out_ = REG(type, i);                                   \
        if (warp->mask == ALL_LANES) {                               \
            VECTORISE                                                \
            for (unsigned l = 0; l < LANES; l++) out_[l] = (value);  \
        } else {                                                     \
            type part_[LANES];                                       \
            VECTORISE                                                \
            for (unsigned l = 0; l < LANES; l++) part_[l] = (value); \
            keep_lanes(out_, part_, sizeof(type), warp->mask);       \
        }                                                            \
    } while (0)

/* the same for operand 0, the result of most operations */
#define EACH(type, value) EACH_OF(type, 0, value)

/* Runs a statement for each lane that executes, in order. */
#define EACH_ACTIVE(statement)                                         \
    do {                                                               \
        for (uint32_t left_ = warp->mask; left_; left_ &= left_ - 1) { \
            const unsigned l = (unsigned)__builtin_ctz(left_);         \
            statement;                                                 \
        }                                                              \
    } while (0)

/* Faults if a lane's value is above what SIM_INDEX allows. */
void check_index(Warp *warp, const uint32_t value[], bool is_signed);

/* Operand i, 32 bits wide, becomes 64 bits wide: an index, most likely, unless it is a number. */
static inline void widens(Warp *warp, const Op *op, int i, bool is_signed) {
    if (warp->block->settings->index && op->source->operand[i].kind != OPERAND_NUMBER)
        check_index(warp, REG(u32, i), is_signed);
}

static inline uint32_t predicate(const Warp *warp, int32_t offset) {
    uint32_t bits;
    memcpy(&bits, warp->registers + offset, sizeof bits);
    return bits;
}

/* Sets the bits of the lanes that execute. */
static inline void set_predicate(Warp *warp, int32_t offset, uint32_t bits) {
    bits = (predicate(warp, offset) & ~warp->mask) | (bits & warp->mask);
    memcpy(warp->registers + offset, &bits, sizeof bits);
}

static inline unsigned first_lane(uint32_t mask) { return (unsigned)__builtin_ctz(mask); }

/* Operand i, which PTX requires to be the same in all lanes. */
static inline uint32_t uniform_u32(const Warp *warp, const Op *op, int i) {
    return REG(u32, i)[first_lane(warp->mask)];
}

/* Whether operand i, 32 or 64 bits wide, is the same in all lanes that execute. */
static inline bool is_uniform_u32(const Warp *warp, const Op *op, int i) {
    const u32 *value = REG(u32, i), first = uniform_u32(warp, op, i);
    uint32_t differs = 0;
    for (unsigned l = 0; l < LANES; l++) differs |= warp->mask >> l & 1 ? value[l] ^ first : 0;
    return !differs;
}

static inline bool is_uniform_u64(const Warp *warp, const Op *op, int i) {
    const u64 *value = REG(u64, i), first = value[first_lane(warp->mask)];
    uint64_t differs = 0;
    for (unsigned l = 0; l < LANES; l++) differs |= warp->mask >> l & 1 ? value[l] ^ first : 0;
    return !differs;
}

static inline InstructionCount *counter(Warp *warp, const Op *op) {
    return &warp->block->count[op->index];
}

#endif
