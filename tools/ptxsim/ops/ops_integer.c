/* Integer arithmetic, logic and bit fields. PTX ISA, "Integer Arithmetic Instructions", "Logic and
 * Shift Instructions". */
#include "decode/decode.h"
#include "machine/lanes.h"

#define UNARY(name, D, A, value)                 \
    static void name(Warp *warp, const Op *op) { \
        const A *a = REG(A, 1);                  \
        EACH(D, (D)(value));                     \
    }
#define BINARY(name, D, A, B, value)             \
    static void name(Warp *warp, const Op *op) { \
        const A *a = REG(A, 1);                  \
        const B *b = REG(B, 2);                  \
        EACH(D, (D)(value));                     \
    }
#define TERNARY(name, D, A, B, C, value)         \
    static void name(Warp *warp, const Op *op) { \
        const A *a = REG(A, 1);                  \
        const B *b = REG(B, 2);                  \
        const C *c = REG(C, 3);                  \
        EACH(D, (D)(value));                     \
    }

/* ---- Arithmetic: the sum and the low half of a product do not depend on signs ---------------- */

BINARY(add_16, u16, u16, u16, a[l] + b[l])
BINARY(add_32, u32, u32, u32, a[l] + b[l])
BINARY(add_64, u64, u64, u64, a[l] + b[l])
BINARY(sub_16, u16, u16, u16, a[l] - b[l])
BINARY(sub_32, u32, u32, u32, a[l] - b[l])
BINARY(sub_64, u64, u64, u64, a[l] - b[l])
BINARY(mul_16, u16, u16, u16, (uint32_t)a[l] * b[l])
BINARY(mul_32, u32, u32, u32, a[l] * b[l])
BINARY(mul_64, u64, u64, u64, a[l] * b[l])
TERNARY(mad_16, u16, u16, u16, u16, (uint32_t)a[l] * b[l] + c[l])
TERNARY(mad_32, u32, u32, u32, u32, a[l] * b[l] + c[l])
TERNARY(mad_64, u64, u64, u64, u64, a[l] * b[l] + c[l])

typedef __int128 s128;
typedef unsigned __int128 u128;

BINARY(mul_hi_s16, u16, s16, s16, a[l] * b[l] >> 16)
BINARY(mul_hi_u16, u16, u16, u16, (uint32_t)a[l] * b[l] >> 16)
BINARY(mul_hi_s32, u32, s32, s32, (int64_t)a[l] * b[l] >> 32)
BINARY(mul_hi_u32, u32, u32, u32, (uint64_t)a[l] * b[l] >> 32)
BINARY(mul_hi_s64, u64, s64, s64, (s128)a[l] * b[l] >> 64)
BINARY(mul_hi_u64, u64, u64, u64, (u128)a[l] * b[l] >> 64)
TERNARY(mad_hi_s32, u32, s32, s32, u32, (uint32_t)((int64_t)a[l] * b[l] >> 32) + c[l])
TERNARY(mad_hi_u32, u32, u32, u32, u32, (uint32_t)((uint64_t)a[l] * b[l] >> 32) + c[l])
TERNARY(mad_hi_s64, u64, s64, s64, u64, (uint64_t)((s128)a[l] * b[l] >> 64) + c[l])
TERNARY(mad_hi_u64, u64, u64, u64, u64, (uint64_t)((u128)a[l] * b[l] >> 64) + c[l])

BINARY(mul_wide_s16, u32, s16, s16, a[l] * b[l])
BINARY(mul_wide_u16, u32, u16, u16, (uint32_t)a[l] * b[l])
TERNARY(mad_wide_s16, u32, s16, s16, u32, (uint32_t)(a[l] * b[l]) + c[l])
TERNARY(mad_wide_u16, u32, u16, u16, u32, (uint32_t)a[l] * b[l] + c[l])

#define WIDE(multiply, multiply_add, T, W, is_signed)    \
    static void multiply(Warp *warp, const Op *op) {     \
        const T *a = REG(T, 1), *b = REG(T, 2);          \
        widens(warp, op, 1, is_signed);                  \
        widens(warp, op, 2, is_signed);                  \
        EACH(u64, (u64)((W)a[l] * b[l]));                \
    }                                                    \
    static void multiply_add(Warp *warp, const Op *op) { \
        const T *a = REG(T, 1), *b = REG(T, 2);          \
        const u64 *c = REG(u64, 3);                      \
        widens(warp, op, 1, is_signed);                  \
        widens(warp, op, 2, is_signed);                  \
        EACH(u64, (u64)((W)a[l] * b[l]) + c[l]);         \
    }
WIDE(mul_wide_s32, mad_wide_s32, s32, int64_t, true)
WIDE(mul_wide_u32, mad_wide_u32, u32, uint64_t, false)

static inline int32_t low24(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }
BINARY(mul24_s32, u32, s32, s32, (int64_t)low24(a[l]) * low24(b[l]))
BINARY(mul24_u32, u32, u32, u32, (uint64_t)(a[l] & 0xffffff) * (b[l] & 0xffffff))
TERNARY(mad24_s32, u32, s32, s32, u32, (uint64_t)((int64_t)low24(a[l]) * low24(b[l])) + c[l])
TERNARY(mad24_u32, u32, u32, u32, u32, (uint64_t)(a[l] & 0xffffff) * (b[l] & 0xffffff) + c[l])

/* Division by zero: quotient and remainder are all ones, as on an H200. The most negative number by
 * -1 wraps round. */
BINARY(div_u16, u16, u16, u16, b[l] ? a[l] / b[l] : UINT16_MAX)
BINARY(div_s16, u16, s16, s16, b[l] ? a[l] / b[l] : -1)
BINARY(div_u32, u32, u32, u32, b[l] ? a[l] / b[l] : UINT32_MAX)
BINARY(div_s32, u32, s32, s32, b[l] ? (int64_t)a[l] / b[l] : -1)
BINARY(div_u64, u64, u64, u64, b[l] ? a[l] / b[l] : UINT64_MAX)
BINARY(div_s64, u64, s64, s64,
       b[l] == 0    ? UINT64_MAX
       : b[l] == -1 ? 0 - (uint64_t)a[l]
                    : (uint64_t)(a[l] / b[l]))
BINARY(rem_u16, u16, u16, u16, b[l] ? a[l] % b[l] : UINT16_MAX)
BINARY(rem_s16, u16, s16, s16, b[l] ? a[l] % b[l] : -1)
BINARY(rem_u32, u32, u32, u32, b[l] ? a[l] % b[l] : UINT32_MAX)
BINARY(rem_s32, u32, s32, s32, b[l] ? (int64_t)a[l] % b[l] : -1)
BINARY(rem_u64, u64, u64, u64, b[l] ? a[l] % b[l] : UINT64_MAX)
BINARY(rem_s64, u64, s64, s64, b[l] == 0 ? -1 : b[l] == -1 ? 0 : a[l] % b[l])

BINARY(min_u16, u16, u16, u16, a[l] < b[l] ? a[l] : b[l])
BINARY(min_s16, u16, s16, s16, a[l] < b[l] ? a[l] : b[l])
BINARY(min_u32, u32, u32, u32, a[l] < b[l] ? a[l] : b[l])
BINARY(min_s32, s32, s32, s32, a[l] < b[l] ? a[l] : b[l])
BINARY(min_u64, u64, u64, u64, a[l] < b[l] ? a[l] : b[l])
BINARY(min_s64, s64, s64, s64, a[l] < b[l] ? a[l] : b[l])
BINARY(max_u16, u16, u16, u16, a[l] > b[l] ? a[l] : b[l])
BINARY(max_s16, u16, s16, s16, a[l] > b[l] ? a[l] : b[l])
BINARY(max_u32, u32, u32, u32, a[l] > b[l] ? a[l] : b[l])
BINARY(max_s32, s32, s32, s32, a[l] > b[l] ? a[l] : b[l])
BINARY(max_u64, u64, u64, u64, a[l] > b[l] ? a[l] : b[l])
BINARY(max_s64, s64, s64, s64, a[l] > b[l] ? a[l] : b[l])

UNARY(neg_16, u16, u16, 0 - a[l])
UNARY(neg_32, u32, u32, 0 - a[l])
UNARY(neg_64, u64, u64, 0 - a[l])
UNARY(abs_16, u16, s16, a[l] < 0 ? -a[l] : a[l])
UNARY(abs_32, u32, s32, a[l] < 0 ? 0 - (uint32_t)a[l] : (uint32_t)a[l])
UNARY(abs_64, u64, s64, a[l] < 0 ? 0 - (uint64_t)a[l] : (uint64_t)a[l])

TERNARY(sad_s32, u32, s32, s32, u32,
        c[l] + (a[l] < b[l] ? (uint32_t)b[l] - (uint32_t)a[l] : (uint32_t)a[l] - (uint32_t)b[l]))
TERNARY(sad_u32, u32, u32, u32, u32, c[l] + (a[l] < b[l] ? b[l] - a[l] : a[l] - b[l]))

static inline int64_t clamp_s32(int64_t x) {
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}
BINARY(add_sat, u32, s32, s32, clamp_s32((int64_t)a[l] + b[l]))
BINARY(sub_sat, u32, s32, s32, clamp_s32((int64_t)a[l] - b[l]))

/* ---- Pairs of 16-bit integers ---------------------------------------------------------------- */

static inline uint32_t pair(int32_t low, int32_t high) {
    return ((uint32_t)low & 0xffff) | (uint32_t)high << 16;
}
static inline int32_t s_low(uint32_t x) { return (int16_t)x; }
static inline int32_t s_high(uint32_t x) { return (int16_t)(x >> 16); }
static inline int32_t u_low(uint32_t x) { return (int32_t)(x & 0xffff); }
static inline int32_t u_high(uint32_t x) { return (int32_t)(x >> 16); }
static inline int32_t lesser(int32_t x, int32_t y) { return x < y ? x : y; }
static inline int32_t greater(int32_t x, int32_t y) { return x > y ? x : y; }

BINARY(add_16x2, u32, u32, u32, pair(u_low(a[l]) + u_low(b[l]), u_high(a[l]) + u_high(b[l])))
BINARY(min_s16x2, u32, u32, u32,
       pair(lesser(s_low(a[l]), s_low(b[l])), lesser(s_high(a[l]), s_high(b[l]))))
BINARY(min_u16x2, u32, u32, u32,
       pair(lesser(u_low(a[l]), u_low(b[l])), lesser(u_high(a[l]), u_high(b[l]))))
BINARY(max_s16x2, u32, u32, u32,
       pair(greater(s_low(a[l]), s_low(b[l])), greater(s_high(a[l]), s_high(b[l]))))
BINARY(max_u16x2, u32, u32, u32,
       pair(greater(u_low(a[l]), u_low(b[l])), greater(u_high(a[l]), u_high(b[l]))))

/* ---- Logic and shifts: a shift by the width or more gives what shifting bit by bit would ----- */

BINARY(and_16, u16, u16, u16, a[l] & b[l])
BINARY(and_32, u32, u32, u32, a[l] & b[l])
BINARY(and_64, u64, u64, u64, a[l] & b[l])
BINARY(or_16, u16, u16, u16, a[l] | b[l])
BINARY(or_32, u32, u32, u32, a[l] | b[l])
BINARY(or_64, u64, u64, u64, a[l] | b[l])
BINARY(xor_16, u16, u16, u16, a[l] ^ b[l])
BINARY(xor_32, u32, u32, u32, a[l] ^ b[l])
BINARY(xor_64, u64, u64, u64, a[l] ^ b[l])
UNARY(not_16, u16, u16, ~a[l])
UNARY(not_32, u32, u32, ~a[l])
UNARY(not_64, u64, u64, ~a[l])
UNARY(cnot_16, u16, u16, a[l] == 0)
UNARY(cnot_32, u32, u32, a[l] == 0)
UNARY(cnot_64, u64, u64, a[l] == 0)
BINARY(shl_16, u16, u16, u32, b[l] > 15 ? 0 : (uint32_t)a[l] << (b[l] & 15))
BINARY(shl_32, u32, u32, u32, b[l] > 31 ? 0 : a[l] << (b[l] & 31))
BINARY(shl_64, u64, u64, u32, b[l] > 63 ? 0 : a[l] << (b[l] & 63))
BINARY(shr_u16, u16, u16, u32, b[l] > 15 ? 0 : a[l] >> (b[l] & 15))
BINARY(shr_s16, u16, s16, u32, a[l] >> (b[l] > 15 ? 15 : b[l]))
BINARY(shr_u32, u32, u32, u32, b[l] > 31 ? 0 : a[l] >> (b[l] & 31))
BINARY(shr_s32, s32, s32, u32, a[l] >> (b[l] > 31 ? 31 : b[l]))
BINARY(shr_u64, u64, u64, u32, b[l] > 63 ? 0 : a[l] >> (b[l] & 63))
BINARY(shr_s64, s64, s64, u32, a[l] >> (b[l] > 63 ? 63 : b[l]))

/* The funnel of b:a shifted, one half kept. */
static inline uint64_t funnel(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }
static inline uint32_t at_most_32(uint32_t x) { return x > 32 ? 32 : x; }
TERNARY(shf_l_wrap, u32, u32, u32, u32, funnel(a[l], b[l]) << (c[l] & 31) >> 32)
TERNARY(shf_r_wrap, u32, u32, u32, u32, funnel(a[l], b[l]) >> (c[l] & 31))
TERNARY(shf_l_clamp, u32, u32, u32, u32, funnel(a[l], b[l]) << at_most_32(c[l]) >> 32)
TERNARY(shf_r_clamp, u32, u32, u32, u32, funnel(a[l], b[l]) >> at_most_32(c[l]))

/* lop3: bit i of op->number is the result for inputs whose bits are i = 4 a + 2 b + c. */
static inline uint32_t lop3(uint32_t x, uint32_t y, uint32_t z, uint32_t table) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 8; i++)
        result |= (0 - (table >> i & 1)) & (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
    return result;
}
TERNARY(lop3_32, u32, u32, u32, u32, lop3(a[l], b[l], c[l], (uint32_t)op->number))

/* ---- Bits ------------------------------------------------------------------------------------ */

static inline uint32_t count_leading(uint64_t x, unsigned width) {
    return x ? (uint32_t)__builtin_clzll(x) - (64 - width) : width;
}

static inline uint64_t reverse(uint64_t x, unsigned width) {
    uint64_t result = 0;
    for (unsigned i = 0; i < width; i++) result |= (x >> i & 1) << (width - 1 - i);
    return result;
}

/* The most significant bit that differs from the sign; all ones if there is none. */
static inline uint32_t find_top(uint64_t x, unsigned width, bool as_shift) {
    if (!x) return UINT32_MAX;
    const uint32_t leading = count_leading(x, width);
    return as_shift ? leading : width - 1 - leading;
}

UNARY(popc_32, u32, u32, __builtin_popcount(a[l]))
UNARY(popc_64, u32, u64, __builtin_popcountll(a[l]))
UNARY(clz_32, u32, u32, count_leading(a[l], 32))
UNARY(clz_64, u32, u64, count_leading(a[l], 64))
UNARY(brev_32, u32, u32, reverse(a[l], 32))
UNARY(brev_64, u64, u64, reverse(a[l], 64))
UNARY(bfind_u32, u32, u32, find_top(a[l], 32, op->mode))
UNARY(bfind_s32, u32, s32, find_top((uint32_t)(a[l] < 0 ? ~a[l] : a[l]), 32, op->mode))
UNARY(bfind_u64, u32, u64, find_top(a[l], 64, op->mode))
UNARY(bfind_s64, u32, s64, find_top((uint64_t)(a[l] < 0 ? ~a[l] : a[l]), 64, op->mode))

/* bfe: `length` bits from `start` up; beyond the top come zeros, or copies of the sign bit: the
 * field's own top bit, or the top bit of x if the field reaches beyond it. */
static inline uint64_t extract(uint64_t x, uint32_t start, uint32_t length, unsigned width,
                               bool is_signed) {
    start &= 255;
    length &= 255;
    const uint32_t top = start + length > width ? width - 1 : start + length - 1;
    const bool sign = is_signed && length && x >> top & 1;
    const uint64_t kept = start < width ? x >> start : 0;
    const uint32_t room = start < width ? width - start : 0, bits = length < room ? length : room;
    const uint64_t mask = bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
    return (kept & mask) | (sign ? ~mask : 0);
}
TERNARY(bfe_u32, u32, u32, u32, u32, extract(a[l], b[l], c[l], 32, false))
TERNARY(bfe_s32, u32, u32, u32, u32, extract(a[l], b[l], c[l], 32, true))
TERNARY(bfe_u64, u64, u64, u32, u32, extract(a[l], b[l], c[l], 64, false))
TERNARY(bfe_s64, u64, u64, u32, u32, extract(a[l], b[l], c[l], 64, true))

/* bmsk: `length` ones from bit `start` up; CUB's radix sort and histogram have it. */
static inline uint32_t ones(uint32_t start, uint32_t length) {
    return start > 31 ? 0 : (length > 31 ? UINT32_MAX : (1u << length) - 1) << start;
}
BINARY(bmsk_clamp, u32, u32, u32, ones(a[l], b[l]))
BINARY(bmsk_wrap, u32, u32, u32, ones(a[l] & 31, b[l] & 31))

/* szext: the low bits of x, as many as `bits`, and above them the sign, or zeros. */
static inline uint32_t extend(uint32_t x, uint32_t bits, bool clamps, bool is_signed) {
    const uint32_t low = clamps && bits > 31 ? 32 : bits & 31;
    return (uint32_t)extract(x, 0, low, 32, is_signed);
}
BINARY(szext_clamp_u32, u32, u32, u32, extend(a[l], b[l], true, false))
BINARY(szext_clamp_s32, u32, u32, u32, extend(a[l], b[l], true, true))
BINARY(szext_wrap_u32, u32, u32, u32, extend(a[l], b[l], false, false))
BINARY(szext_wrap_s32, u32, u32, u32, extend(a[l], b[l], false, true))

/* fns: of the ones of x that are met from bit `base` on, upwards or downwards, number |offset|; if
 * offset is 0, `base` itself, if it is one. Cooperative groups have it for lanes. */
static inline uint32_t find_nth(uint32_t x, uint32_t base, int32_t offset) {
    uint32_t left = offset < 0 ? 0 - (uint32_t)offset : (uint32_t)offset;
    if (offset == 0) return base < 32 && x >> base & 1 ? base : UINT32_MAX;
    for (uint32_t at = base; at < 32; at += offset < 0 ? UINT32_MAX : 1)
        if (x >> at & 1 && --left == 0) return at;
    return UINT32_MAX;
}
TERNARY(fns_32, u32, u32, u32, u32, find_nth(a[l], b[l], (int32_t)c[l]))

/* bfi d, a, b, c, e: the low bits of a at position c of b, e of them. */
static inline uint64_t insert_field(uint64_t x, uint64_t into, uint32_t start, uint32_t length,
                                    unsigned width) {
    start &= 255;
    length &= 255;
    if (start >= width) return into;
    const uint64_t field = length < 64 ? (1ull << length) - 1 : UINT64_MAX;
    return (into & ~(field << start)) | (x & field) << start;
}
#define INSERT(name, T, width)                                   \
    static void name(Warp *warp, const Op *op) {                 \
        const T *a = REG(T, 1), *b = REG(T, 2);                  \
        const u32 *c = REG(u32, 3), *e = REG(u32, 4);            \
        EACH(T, (T)insert_field(a[l], b[l], c[l], e[l], width)); \
    }
INSERT(bfi_32, u32, 32)
INSERT(bfi_64, u64, 64)

/* prmt: each nibble of the selector picks one of eight bytes; its top bit, that byte's sign. */
static inline uint32_t permute(uint32_t low, uint32_t high, uint32_t selector) {
    const uint64_t bytes = funnel(low, high);
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t pick = selector >> 4 * i & 15;
        const uint32_t byte = (uint32_t)(bytes >> 8 * (pick & 7)) & 255;
        result |= (pick & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return result;
}
TERNARY(prmt_32, u32, u32, u32, u32, permute(a[l], b[l], c[l]))

/* The selectors of prmt's named modes, by the low two bits of the selector (PTX ISA, prmt). */
static const uint16_t prmt_modes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
    {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
    {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
    {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
};
TERNARY(prmt_mode, u32, u32, u32, u32, permute(a[l], b[l], prmt_modes[op->mode][c[l] & 3]))

/* dp4a: four products of bytes and a sum; op->is_signed and op->mode say whose bytes have signs. */
static inline uint32_t byte_product(uint32_t x, uint32_t y, bool x_signed, bool y_signed) {
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        const int32_t p = x_signed ? (int8_t)(x >> i) : (uint8_t)(x >> i);
        const int32_t q = y_signed ? (int8_t)(y >> i) : (uint8_t)(y >> i);
        sum += (uint32_t)(p * q);
    }
    return sum;
}
TERNARY(dp4a, u32, u32, u32, u32, c[l] + byte_product(a[l], b[l], op->is_signed, op->mode))

/* dp2a: two products of a half of a and a byte of b, the lower two bytes or the upper. nvcc makes
 * one of a sum such as 3 * s + 5 * t with short s and t. */
static inline uint32_t half_product(uint32_t x, uint32_t y, bool x_signed, bool y_signed) {
    uint32_t sum = 0;
    for (unsigned i = 0; i < 2; i++) {
        const int32_t p = x_signed ? (int16_t)(x >> 16 * i) : (uint16_t)(x >> 16 * i);
        const int32_t q = y_signed ? (int8_t)(y >> 8 * i) : (uint8_t)(y >> 8 * i);
        sum += (uint32_t)(p * q);
    }
    return sum;
}
TERNARY(dp2a_lo, u32, u32, u32, u32, c[l] + half_product(a[l], b[l], op->is_signed, op->mode))
TERNARY(dp2a_hi, u32, u32, u32, u32, c[l] + half_product(a[l], b[l] >> 16, op->is_signed, op->mode))

/* ---- Tables ---------------------------------------------------------------------------------- */

static const Row rows[] = {
    {"add", "s32 u32", "4=44", add_32, CLASS_INTEGER},
    {"add", "s64 u64", "8=88", add_64, CLASS_INTEGER},
    {"add", "s16 u16", "2=22", add_16, CLASS_INTEGER},
    {"add", "s16x2 u16x2", "4=44", add_16x2, CLASS_INTEGER},
    {"add.sat", "s32", "4=44", add_sat, CLASS_INTEGER},
    {"sub", "s32 u32", "4=44", sub_32, CLASS_INTEGER},
    {"sub", "s64 u64", "8=88", sub_64, CLASS_INTEGER},
    {"sub", "s16 u16", "2=22", sub_16, CLASS_INTEGER},
    {"sub.sat", "s32", "4=44", sub_sat, CLASS_INTEGER},
    {"mul.lo", "s32 u32", "4=44", mul_32, CLASS_INTEGER},
    {"mul.lo", "s64 u64", "8=88", mul_64, CLASS_INTEGER},
    {"mul.lo", "s16 u16", "2=22", mul_16, CLASS_INTEGER},
    {"mul.hi", "s16", "2=22", mul_hi_s16, CLASS_INTEGER},
    {"mul.hi", "u16", "2=22", mul_hi_u16, CLASS_INTEGER},
    {"mul.hi", "s32", "4=44", mul_hi_s32, CLASS_INTEGER},
    {"mul.hi", "u32", "4=44", mul_hi_u32, CLASS_INTEGER},
    {"mul.hi", "s64", "8=88", mul_hi_s64, CLASS_INTEGER},
    {"mul.hi", "u64", "8=88", mul_hi_u64, CLASS_INTEGER},
    {"mul.wide", "s16", "4=22", mul_wide_s16, CLASS_INTEGER},
    {"mul.wide", "u16", "4=22", mul_wide_u16, CLASS_INTEGER},
    {"mul.wide", "s32", "8=44", mul_wide_s32, CLASS_INTEGER},
    {"mul.wide", "u32", "8=44", mul_wide_u32, CLASS_INTEGER},
    {"mul24.lo", "s32", "4=44", mul24_s32, CLASS_INTEGER},
    {"mul24.lo", "u32", "4=44", mul24_u32, CLASS_INTEGER},
    {"mad.lo", "s32 u32", "4=444", mad_32, CLASS_INTEGER},
    {"mad.lo", "s64 u64", "8=888", mad_64, CLASS_INTEGER},
    {"mad.lo", "s16 u16", "2=222", mad_16, CLASS_INTEGER},
    {"mad.hi", "s32", "4=444", mad_hi_s32, CLASS_INTEGER},
    {"mad.hi", "u32", "4=444", mad_hi_u32, CLASS_INTEGER},
    {"mad.hi", "s64", "8=888", mad_hi_s64, CLASS_INTEGER},
    {"mad.hi", "u64", "8=888", mad_hi_u64, CLASS_INTEGER},
    {"mad.wide", "s16", "4=224", mad_wide_s16, CLASS_INTEGER},
    {"mad.wide", "u16", "4=224", mad_wide_u16, CLASS_INTEGER},
    {"mad.wide", "s32", "8=448", mad_wide_s32, CLASS_INTEGER},
    {"mad.wide", "u32", "8=448", mad_wide_u32, CLASS_INTEGER},
    {"mad24.lo", "s32", "4=444", mad24_s32, CLASS_INTEGER},
    {"mad24.lo", "u32", "4=444", mad24_u32, CLASS_INTEGER},
    {"div", "u16", "2=22", div_u16, CLASS_INTEGER},
    {"div", "s16", "2=22", div_s16, CLASS_INTEGER},
    {"div", "u32", "4=44", div_u32, CLASS_INTEGER},
    {"div", "s32", "4=44", div_s32, CLASS_INTEGER},
    {"div", "u64", "8=88", div_u64, CLASS_INTEGER},
    {"div", "s64", "8=88", div_s64, CLASS_INTEGER},
    {"rem", "u16", "2=22", rem_u16, CLASS_INTEGER},
    {"rem", "s16", "2=22", rem_s16, CLASS_INTEGER},
    {"rem", "u32", "4=44", rem_u32, CLASS_INTEGER},
    {"rem", "s32", "4=44", rem_s32, CLASS_INTEGER},
    {"rem", "u64", "8=88", rem_u64, CLASS_INTEGER},
    {"rem", "s64", "8=88", rem_s64, CLASS_INTEGER},
    {"min", "u16", "2=22", min_u16, CLASS_INTEGER},
    {"min", "s16", "2=22", min_s16, CLASS_INTEGER},
    {"min", "u32", "4=44", min_u32, CLASS_INTEGER},
    {"min", "s32", "4=44", min_s32, CLASS_INTEGER},
    {"min", "u64", "8=88", min_u64, CLASS_INTEGER},
    {"min", "s64", "8=88", min_s64, CLASS_INTEGER},
    {"min", "u16x2", "4=44", min_u16x2, CLASS_INTEGER},
    {"min", "s16x2", "4=44", min_s16x2, CLASS_INTEGER},
    {"max", "u16", "2=22", max_u16, CLASS_INTEGER},
    {"max", "s16", "2=22", max_s16, CLASS_INTEGER},
    {"max", "u32", "4=44", max_u32, CLASS_INTEGER},
    {"max", "s32", "4=44", max_s32, CLASS_INTEGER},
    {"max", "u64", "8=88", max_u64, CLASS_INTEGER},
    {"max", "s64", "8=88", max_s64, CLASS_INTEGER},
    {"max", "u16x2", "4=44", max_u16x2, CLASS_INTEGER},
    {"max", "s16x2", "4=44", max_s16x2, CLASS_INTEGER},
    {"neg", "s16", "2=2", neg_16, CLASS_INTEGER},
    {"neg", "s32", "4=4", neg_32, CLASS_INTEGER},
    {"neg", "s64", "8=8", neg_64, CLASS_INTEGER},
    {"abs", "s16", "2=2", abs_16, CLASS_INTEGER},
    {"abs", "s32", "4=4", abs_32, CLASS_INTEGER},
    {"abs", "s64", "8=8", abs_64, CLASS_INTEGER},
    {"sad", "s32", "4=444", sad_s32, CLASS_INTEGER},
    {"sad", "u32", "4=444", sad_u32, CLASS_INTEGER},
    {"and", "b16", "2=22", and_16, CLASS_INTEGER},
    {"and", "b32", "4=44", and_32, CLASS_INTEGER},
    {"and", "b64", "8=88", and_64, CLASS_INTEGER},
    {"or", "b16", "2=22", or_16, CLASS_INTEGER},
    {"or", "b32", "4=44", or_32, CLASS_INTEGER},
    {"or", "b64", "8=88", or_64, CLASS_INTEGER},
    {"xor", "b16", "2=22", xor_16, CLASS_INTEGER},
    {"xor", "b32", "4=44", xor_32, CLASS_INTEGER},
    {"xor", "b64", "8=88", xor_64, CLASS_INTEGER},
    {"not", "b16", "2=2", not_16, CLASS_INTEGER},
    {"not", "b32", "4=4", not_32, CLASS_INTEGER},
    {"not", "b64", "8=8", not_64, CLASS_INTEGER},
    {"cnot", "b16", "2=2", cnot_16, CLASS_INTEGER},
    {"cnot", "b32", "4=4", cnot_32, CLASS_INTEGER},
    {"cnot", "b64", "8=8", cnot_64, CLASS_INTEGER},
    {"shl", "b16", "2=24", shl_16, CLASS_INTEGER},
    {"shl", "b32", "4=44", shl_32, CLASS_INTEGER},
    {"shl", "b64", "8=84", shl_64, CLASS_INTEGER},
    {"shr", "u16 b16", "2=24", shr_u16, CLASS_INTEGER},
    {"shr", "s16", "2=24", shr_s16, CLASS_INTEGER},
    {"shr", "u32 b32", "4=44", shr_u32, CLASS_INTEGER},
    {"shr", "s32", "4=44", shr_s32, CLASS_INTEGER},
    {"shr", "u64 b64", "8=84", shr_u64, CLASS_INTEGER},
    {"shr", "s64", "8=84", shr_s64, CLASS_INTEGER},
    {"shf.l.wrap", "b32", "4=444", shf_l_wrap, CLASS_INTEGER},
    {"shf.r.wrap", "b32", "4=444", shf_r_wrap, CLASS_INTEGER},
    {"shf.l.clamp", "b32", "4=444", shf_l_clamp, CLASS_INTEGER},
    {"shf.r.clamp", "b32", "4=444", shf_r_clamp, CLASS_INTEGER},
    {"popc", "b32", "4=4", popc_32, CLASS_INTEGER},
    {"popc", "b64", "4=8", popc_64, CLASS_INTEGER},
    {"clz", "b32", "4=4", clz_32, CLASS_INTEGER},
    {"clz", "b64", "4=8", clz_64, CLASS_INTEGER},
    {"brev", "b32", "4=4", brev_32, CLASS_INTEGER},
    {"brev", "b64", "8=8", brev_64, CLASS_INTEGER},
    {"bfind", "u32", "4=4", bfind_u32, CLASS_INTEGER},
    {"bfind", "s32", "4=4", bfind_s32, CLASS_INTEGER},
    {"bfind", "u64", "4=8", bfind_u64, CLASS_INTEGER},
    {"bfind", "s64", "4=8", bfind_s64, CLASS_INTEGER},
    {"bfe", "u32", "4=444", bfe_u32, CLASS_INTEGER},
    {"bfe", "s32", "4=444", bfe_s32, CLASS_INTEGER},
    {"bfe", "u64", "8=844", bfe_u64, CLASS_INTEGER},
    {"bfe", "s64", "8=844", bfe_s64, CLASS_INTEGER},
    {"bmsk.clamp", "b32", "4=44", bmsk_clamp, CLASS_INTEGER},
    {"bmsk.wrap", "b32", "4=44", bmsk_wrap, CLASS_INTEGER},
    {"szext.clamp", "u32", "4=44", szext_clamp_u32, CLASS_INTEGER},
    {"szext.clamp", "s32", "4=44", szext_clamp_s32, CLASS_INTEGER},
    {"szext.wrap", "u32", "4=44", szext_wrap_u32, CLASS_INTEGER},
    {"szext.wrap", "s32", "4=44", szext_wrap_s32, CLASS_INTEGER},
    {"fns", "b32", "4=444", fns_32, CLASS_INTEGER},
    {"bfi", "b32", "4=4444", bfi_32, CLASS_INTEGER},
    {"bfi", "b64", "8=8844", bfi_64, CLASS_INTEGER},
    {"prmt", "b32", "4=444", prmt_32, CLASS_MOVE},
};

static bool decode_lop3(Decoder *d) {
    if (!opcode_is(d, "lop3") || !take(d, "b32")) return false;
    use_pattern(d, "4=444");
    d->op->number = (int32_t)immediate(d);
    return done(d, lop3_32, CLASS_INTEGER);
}

static bool decode_prmt_mode(Decoder *d) { /* prmt.b32.f4e: the mode comes last */
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL};
    if (!opcode_is(d, "prmt")) return false;
    const int mode = take_one(d, modes);
    if (mode < 0 || !take(d, "b32")) return false;
    d->op->mode = (uint8_t)mode;
    use_pattern(d, "4=444");
    return done(d, prmt_mode, CLASS_MOVE);
}

static bool decode_dot_product(Decoder *d) {
    Type a, b;
    Handler run = dp4a;
    if (opcode_is(d, "dp2a"))
        run = take(d, "hi") ? dp2a_hi : take(d, "lo") ? dp2a_lo : NULL;
    else if (!opcode_is(d, "dp4a"))
        return false;
    if (!run || !type_of(take_last(d), &b) || !type_of(take_before_last(d), &a)) return false;
    d->op->is_signed = a.kind == 's';
    d->op->mode = b.kind == 's';
    use_pattern(d, "4=444");
    return done(d, run, CLASS_INTEGER);
}

bool decode_integer(Decoder *d) {
    if (decode_by_rows(d, ROWS(rows)) || decode_lop3(d) || decode_prmt_mode(d) ||
        decode_dot_product(d))
        return true;
    if (!text_is(d->in->part[0], "bfind")) return false;
    d->op->mode = take(d, "shiftamt");
    return decode_by_rows(d, ROWS(rows));
}

/* ---- Arithmetic with carry: add.cc, addc, sub.cc, subc, mad.cc, madc ------------------------- */

/* sub is add of the complement, and sets the carry where it does not borrow: nvcc's division of
 * __int128 has an addc behind a sub.cc. The operation is a product's half (op->mode: 0 none, 1 low,
 * 2 high), plus the last operand, plus the carry if it takes one (op->negated), and sets the carry
 * if asked to (op->saturate). */
#define CARRY(name, T, W, widen, width)                                                            \
    static void name(Warp *warp, const Op *op) {                                                   \
        const bool subtract = op->second_negated;                                                  \
        const T *a = REG(T, 1), *b = REG(T, 2), *c = op->mode ? REG(T, 3) : NULL;                  \
        uint32_t carry = 0;                                                                        \
        T out[LANES];                                                                              \
        for (unsigned l = 0; l < LANES; l++) {                                                     \
            const W product = op->is_signed ? (W)(widen(a[l]) * widen(b[l])) : (W)a[l] * b[l];     \
            const T x = op->mode == 0 ? a[l] : op->mode == 1 ? (T)product : (T)(product >> width); \
            const T y = op->mode ? c[l] : subtract ? (T)~b[l] : b[l];                              \
            const uint32_t old = warp->carry >> l & 1;                                             \
            const uint32_t in = op->negated ? old : subtract;                                      \
            const W sum = (W)x + y + in;                                                           \
            out[l] = (T)sum;                                                                       \
            carry |= ((uint32_t)(sum >> width) & 1) << l;                                          \
        }                                                                                          \
        EACH(T, out[l]);                                                                           \
        if (op->saturate) warp->carry = (warp->carry & ~warp->mask) | (carry & warp->mask);        \
    }
static inline int64_t widen_32(uint32_t x) { return (int32_t)x; }
static inline s128 widen_64(uint64_t x) { return (int64_t)x; }
CARRY(carry_32, u32, uint64_t, widen_32, 32)
CARRY(carry_64, u64, u128, widen_64, 64)

bool decode_carry(Decoder *d) {
    static const char *const halves[] = {"lo", "hi", NULL};
    Op *op = d->op;
    Type type;
    const bool adds = opcode_is(d, "add") || opcode_is(d, "addc");
    const bool subtracts = opcode_is(d, "sub") || opcode_is(d, "subc");
    const bool multiplies = opcode_is(d, "mad") || opcode_is(d, "madc");
    const Text name = d->in->part[0];
    if ((!adds && !subtracts && !multiplies) || !type_of(take_last(d), &type)) return false;
    op->negated = name.at[name.length - 1] == 'c'; /* addc, subc, madc */
    op->saturate = take(d, "cc");
    op->mode = multiplies ? (uint8_t)(take_one(d, halves) + 1) : 0;
    op->second_negated = subtracts;
    op->is_signed = type.kind == 's';
    if ((!op->negated && !op->saturate) || (multiplies && !op->mode)) return false;
    if ((type.kind != 's' && type.kind != 'u') || (type.bytes != 4 && type.bytes != 8))
        return false;
    const char *pattern4 = multiplies ? "4=444" : "4=44", *pattern8 = multiplies ? "8=888" : "8=88";
    use_pattern(d, type.bytes == 4 ? pattern4 : pattern8);
    return done(d, type.bytes == 4 ? carry_32 : carry_64, CLASS_INTEGER);
}
