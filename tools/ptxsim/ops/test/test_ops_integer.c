/* Integer instructions on edge values, against 128-bit arithmetic. Catches: a sign that is lost, an
 * overflow, a shift or field beyond the width, a modifier or type that is taken for another. */
#include "test/operands.h"

typedef __int128 s128;
typedef unsigned __int128 u128;

/* The operands of an instruction as numbers, by the instruction's type. */
typedef struct Numbers {
    s128 a, b, c, e;
    int width;
    bool is_signed;
} Numbers;

/* '%' in `text` becomes each of the types in turn. `sizes` has 't' for an operand of the type, 'w'
 * for one of twice its width, digits for bytes; only operands of 't' and 'w' have its sign. */
typedef struct IntegerRow {
    const char *text, *types, *sizes;
    s128 (*value)(const Numbers *n);
} IntegerRow;

#define VALUE(name, expression)             \
    static s128 name(const Numbers *n) {    \
        const s128 a = n->a, b = n->b;      \
        const s128 c = n->c, e = n->e;      \
        const int width = n->width;         \
        (void)a, (void)b, (void)c, (void)e; \
        (void)width;                        \
        return (s128)(expression);          \
    }

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* The product's upper half, whose top bit may be a sign or not. */
static s128 upper(const Numbers *n, s128 x, s128 y) {
    return n->is_signed ? (x * y) >> n->width : (s128)(((u128)x * (u128)y) >> n->width);
}

static s128 low24(const Numbers *n, s128 x) {
    const s128 low = x & 0xffffff;
    return n->is_signed && low >> 23 ? low - 0x1000000 : low;
}

static s128 clamp(s128 x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x; }

VALUE(add, a + b)
VALUE(sub, a - b)
VALUE(mul, (u128)a *(u128)b)
VALUE(mul_hi, upper(n, a, b))
VALUE(mad, (u128)a *(u128)b + (u128)c)
VALUE(mad_hi, upper(n, a, b) + c)
VALUE(mul24, low24(n, a) * low24(n, b))
VALUE(mad24, low24(n, a) * low24(n, b) + c)
VALUE(divide, b ? a / b : -1)
VALUE(remainder_of, b ? a % b : -1)
VALUE(least, a < b ? a : b)
VALUE(most, a > b ? a : b)
VALUE(negate, -a)
VALUE(magnitude, a < 0 ? -a : a)
VALUE(difference, c + (a < b ? b - a : a - b))
VALUE(add_clamped, clamp(a + b))
VALUE(sub_clamped, clamp(a - b))

/* What carries: a sum or difference of the low halves of two numbers, then of the high ones. */
static u128 low_half(const Numbers *n, s128 x) { return (u128)x & (((u128)1 << n->width) - 1); }
static s128 carry(const Numbers *n, s128 x, s128 y) {
    return (s128)((low_half(n, x) + low_half(n, y)) >> n->width);
}
VALUE(carried, c + e + carry(n, a, b))
VALUE(borrowed, c - e - (low_half(n, a) < low_half(n, b)))
VALUE(added_after, c + e + (low_half(n, a) >= low_half(n, b)))
VALUE(mad_up, upper(n, a, b) + e + carry(n, mul(n), c))
VALUE(mad_down, (u128)mul(n) + (u128)e + (u128)carry(n, upper(n, a, b), c))

/* ---- Pairs of 16-bit integers ---------------------------------------------------------------- */

static s128 half_of(const Numbers *n, s128 x, int half) {
    const uint16_t bits = (uint16_t)(x >> 16 * half);
    return n->is_signed ? (int16_t)bits : bits;
}

static s128 by_halves(const Numbers *n, s128 (*value)(const Numbers *)) {
    s128 result = 0;
    for (int h = 0; h < 2; h++) {
        Numbers half = *n;
        half.a = half_of(n, n->a, h), half.b = half_of(n, n->b, h);
        result |= (s128)(uint16_t)value(&half) << 16 * h;
    }
    return result;
}

VALUE(add_pair, by_halves(n, add))
VALUE(least_pair, by_halves(n, least))
VALUE(most_pair, by_halves(n, most))

/* ---- Logic, shifts and bits, one at a time --------------------------------------------------- */

static int bit(s128 x, s128 i) { return i < 0 || i > 127 ? 0 : (int)(x >> i & 1); }

/* Bit by bit: `b` times, or until nothing changes. */
static s128 shift_right(const Numbers *n) {
    s128 x = n->a;
    for (s128 i = 0; i < n->b && i < 64; i++) x >>= 1;
    return x;
}

static s128 shift_left(const Numbers *n) {
    u128 x = (u128)n->a;
    for (s128 i = 0; i < n->b && i < 64; i++) x <<= 1;
    return (s128)x;
}

VALUE(conjunction, a &b)
VALUE(disjunction, a | b)
VALUE(exclusive, a ^ b)
VALUE(complement, ~a)
VALUE(is_zero, a == 0)
VALUE(funnel_left_wrap, (u128)(b << 32 | a) << (c & 31) >> 32)
VALUE(funnel_right_wrap, (b << 32 | a) >> (c & 31))
VALUE(funnel_left_clamp, (u128)(b << 32 | a) << (c < 32 ? c : 32) >> 32)
VALUE(funnel_right_clamp, (b << 32 | a) >> (c < 32 ? c : 32))

static s128 population(const Numbers *n) {
    int bits = 0;
    for (int i = 0; i < n->width; i++) bits += bit(n->a, i);
    return bits;
}

static s128 leading_zeros(const Numbers *n) {
    int zeros = 0;
    while (zeros < n->width && !bit(n->a, n->width - 1 - zeros)) zeros++;
    return zeros;
}

static s128 reversed(const Numbers *n) {
    s128 result = 0;
    for (int i = 0; i < n->width; i++) result |= (s128)bit(n->a, i) << (n->width - 1 - i);
    return result;
}

static s128 top_bit(const Numbers *n) {
    const int sign = n->is_signed ? bit(n->a, n->width - 1) : 0;
    int i = n->width - 1;
    while (i >= 0 && bit(n->a, i) == sign) i--;
    return i;
}

VALUE(top_shift, top_bit(n) < 0 ? -1 : width - 1 - top_bit(n))

/* PTX ISA, bfe: bits beyond the top are the sign, or zeros. */
static s128 field(const Numbers *n) {
    const int start = (int)(n->b & 255), length = (int)(n->c & 255), top = n->width - 1;
    const int last = start + length - 1 < top ? start + length - 1 : top;
    const int sign = n->is_signed && length ? bit(n->a, last) : 0;
    s128 result = 0;
    for (int i = 0; i < n->width; i++)
        result |= (s128)(i < length && start + i <= top ? bit(n->a, start + i) : sign) << i;
    return result;
}

/* PTX ISA, bmsk: b ones from bit a up. */
static s128 ones(s128 start, s128 length) {
    s128 result = 0;
    for (int i = 0; i < 32; i++) result |= (s128)(i >= start && i < start + length) << i;
    return result;
}
VALUE(mask_clamp, ones(a, b))
VALUE(mask_wrap, ones(a % 32, b % 32))

/* PTX ISA, szext: the number that the low bits of a are. */
static s128 extended(const Numbers *n, int bits) {
    s128 result = 0;
    for (int i = 0; i < 32; i++)
        result |= (s128)(i < bits ? bit(n->a, i) : n->is_signed && bits && bit(n->a, bits - 1))
                  << i;
    return result;
}
VALUE(extended_clamp, extended(n, b < 32 ? (int)b : 32))
VALUE(extended_wrap, extended(n, (int)(b & 31)))

/* PTX ISA, fns, for bases from 0 to 31 and offsets from -8 to 7. */
static s128 nth_bit(const Numbers *n) {
    const int base = (int)(n->b & 31), offset = (int)(n->c & 15) - 8;
    int seen = 0;
    if (!offset) return bit(n->a, base) ? base : -1;
    for (int i = base; i >= 0 && i < 32; i += offset < 0 ? -1 : 1) {
        seen += bit(n->a, i);
        if (seen == (offset < 0 ? -offset : offset)) return i;
    }
    return -1;
}

/* PTX ISA, bfi: bits of a at position c of b, e of them. */
static s128 inserted(const Numbers *n) {
    const int start = (int)(n->c & 255), length = (int)(n->e & 255);
    s128 result = n->b;
    for (int i = 0; i < length && start + i < n->width; i++)
        result = (result & ~((s128)1 << (start + i))) | (s128)bit(n->a, i) << (start + i);
    return result;
}

static s128 byte_of(const Numbers *n, int i) { return (n->b << 32 | n->a) >> 8 * i & 255; }

static s128 permuted(const Numbers *n) {
    s128 result = 0;
    for (int i = 0; i < 4; i++) {
        const int pick = (int)(n->c >> 4 * i & 15);
        s128 byte = byte_of(n, pick & 7);
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* prmt's modes: four bytes, the i-th given by `which` of i and the selector's low two bits. */
static s128 pick_bytes(const Numbers *n, int (*which)(int i, int by)) {
    s128 result = 0;
    for (int i = 0; i < 4; i++) result |= byte_of(n, which(i, (int)(n->c & 3))) << 8 * i;
    return result;
}

static int forward(int i, int by) { return i + by; }
static int backward(int i, int by) { return (by - i) & 7; }
static int replicated(int i, int by) { return i * 0 + by; }
static int clamped_left(int i, int by) { return i > by ? i : by; }
static int clamped_right(int i, int by) { return i < by ? i : by; }
static int half_replicated(int i, int by) { return (i & 1) + 2 * (by & 1); }
VALUE(prmt_f4e, pick_bytes(n, forward))
VALUE(prmt_b4e, pick_bytes(n, backward))
VALUE(prmt_rc8, pick_bytes(n, replicated))
VALUE(prmt_ecl, pick_bytes(n, clamped_left))
VALUE(prmt_ecr, pick_bytes(n, clamped_right))
VALUE(prmt_rc16, pick_bytes(n, half_replicated))

/* The sum of four products of bytes; `sign` has bit 0 for a's signs and bit 1 for b's. */
static s128 dot(const Numbers *n, int sign) {
    s128 sum = n->c;
    for (int i = 0; i < 32; i += 8) {
        const s128 x = sign & 1 ? (int8_t)(n->a >> i) : (uint8_t)(n->a >> i);
        const s128 y = sign & 2 ? (int8_t)(n->b >> i) : (uint8_t)(n->b >> i);
        sum += x * y;
    }
    return sum;
}
VALUE(dot_uu, dot(n, 0))
VALUE(dot_su, dot(n, 1))
VALUE(dot_us, dot(n, 2))
VALUE(dot_ss, dot(n, 3))

static s128 dot_halves(const Numbers *n, int sign, int skip) {
    s128 sum = n->c;
    for (int i = 0; i < 2; i++) {
        const uint16_t half = (uint16_t)(n->a >> 16 * i);
        const uint8_t byte = (uint8_t)(n->b >> 8 * (skip + i));
        sum += (s128)(sign & 1 ? (int16_t)half : half) * (sign & 2 ? (int8_t)byte : byte);
    }
    return sum;
}
VALUE(dot_low_uu, dot_halves(n, 0, 0))
VALUE(dot_low_su, dot_halves(n, 1, 0))
VALUE(dot_high_us, dot_halves(n, 2, 2))
VALUE(dot_high_ss, dot_halves(n, 3, 2))
VALUE(majority, (a & b) | (a & c) | (b & c))
VALUE(choice, (a & b) | (~a & c))

/* ---- The table ------------------------------------------------------------------------------- */

/* Places and lengths of 64-bit fields: what is above 255, which PTX excludes, is not masked there
 * on an H200. */
#define BYTES(x, y) "and.b32 " x ", " x ", 255; and.b32 " y ", " y ", 255; "
#define ALL_TYPES "s16 u16 s32 u32 s64 u64"
static const IntegerRow rows[] = {
    {"add.% d, a, b", ALL_TYPES, "t=tt", add},
    {"sub.% d, a, b", ALL_TYPES, "t=tt", sub},
    {"mul.lo.% d, a, b", ALL_TYPES, "t=tt", mul},
    {"mul.hi.% d, a, b", ALL_TYPES, "t=tt", mul_hi},
    {"mul.wide.% d, a, b", "s16 u16 s32 u32", "w=tt", mul},
    {"mad.lo.% d, a, b, c", ALL_TYPES, "t=ttt", mad},
    {"mad.hi.% d, a, b, c", "s32 u32 s64 u64", "t=ttt", mad_hi},
    {"mad.wide.% d, a, b, c", "s16 u16 s32 u32", "w=ttw", mad},
    {"mul24.lo.% d, a, b", "s32 u32", "t=tt", mul24},
    {"mad24.lo.% d, a, b, c", "s32 u32", "t=ttt", mad24},
    {"div.% d, a, b", ALL_TYPES, "t=tt", divide},
    {"rem.% d, a, b", ALL_TYPES, "t=tt", remainder_of},
    {"min.% d, a, b", ALL_TYPES, "t=tt", least},
    {"max.% d, a, b", ALL_TYPES, "t=tt", most},
    {"neg.% d, a", "s16 s32 s64", "t=t", negate},
    {"abs.% d, a", "s16 s32 s64", "t=t", magnitude},
    {"sad.% d, a, b, c", "s32 u32", "t=ttt", difference},
    {"add.sat.% d, a, b", "s32", "t=tt", add_clamped},
    {"sub.sat.% d, a, b", "s32", "t=tt", sub_clamped},
    {"add.% d, a, b", "s16x2 u16x2", "4=44", add_pair},
    {"min.% d, a, b", "s16x2 u16x2", "4=44", least_pair},
    {"max.% d, a, b", "s16x2 u16x2", "4=44", most_pair},
    {"and.% d, a, b", "b16 b32 b64", "t=tt", conjunction},
    {"or.% d, a, b", "b16 b32 b64", "t=tt", disjunction},
    {"xor.% d, a, b", "b16 b32 b64", "t=tt", exclusive},
    {"not.% d, a", "b16 b32 b64", "t=t", complement},
    {"cnot.% d, a", "b16 b32 b64", "t=t", is_zero},
    {"shl.% d, a, b", "b16 b32 b64", "t=t4", shift_left},
    {"shr.% d, a, b", "b16 b32 b64 " ALL_TYPES, "t=t4", shift_right},
    {"shf.l.wrap.b32 d, a, b, c", "b32", "t=ttt", funnel_left_wrap},
    {"shf.r.wrap.b32 d, a, b, c", "b32", "t=ttt", funnel_right_wrap},
    {"shf.l.clamp.b32 d, a, b, c", "b32", "t=ttt", funnel_left_clamp},
    {"shf.r.clamp.b32 d, a, b, c", "b32", "t=ttt", funnel_right_clamp},
    {"popc.% d, a", "b32 b64", "4=t", population},
    {"clz.% d, a", "b32 b64", "4=t", leading_zeros},
    {"brev.% d, a", "b32 b64", "t=t", reversed},
    {"bfind.% d, a", "s32 u32 s64 u64", "4=t", top_bit},
    {"bfind.shiftamt.% d, a", "s32 u32 s64 u64", "4=t", top_shift},
    {"bfe.% d, a, b, c", "s32 u32", "t=t44", field},
    {"bfi.% d, a, b, c, e", "b32", "t=tt44", inserted},
    {"bmsk.clamp.b32 d, a, b", "b32", "t=tt", mask_clamp},
    {"bmsk.wrap.b32 d, a, b", "b32", "t=tt", mask_wrap},
    {"szext.clamp.% d, a, b", "s32 u32", "t=t4", extended_clamp},
    {"szext.wrap.% d, a, b", "s32 u32", "t=t4", extended_wrap},
    {"and.b32 b, b, 31; and.b32 c, c, 15; sub.s32 c, c, 8; fns.b32 d, a, b, c", "b32", "t=ttt",
     nth_bit},
    {BYTES("b", "c") "bfe.% d, a, b, c", "s64 u64", "t=t44", field},
    {BYTES("c", "e") "bfi.% d, a, b, c, e", "b64", "t=tt44", inserted},
    {"prmt.b32 d, a, b, c", "b32", "t=ttt", permuted},
    {"prmt.b32.f4e d, a, b, c", "b32", "t=ttt", prmt_f4e},
    {"prmt.b32.b4e d, a, b, c", "b32", "t=ttt", prmt_b4e},
    {"prmt.b32.rc8 d, a, b, c", "b32", "t=ttt", prmt_rc8},
    {"prmt.b32.ecl d, a, b, c", "b32", "t=ttt", prmt_ecl},
    {"prmt.b32.ecr d, a, b, c", "b32", "t=ttt", prmt_ecr},
    {"prmt.b32.rc16 d, a, b, c", "b32", "t=ttt", prmt_rc16},
    {"lop3.b32 d, a, b, c, 0xe8", "b32", "t=ttt", majority},
    {"lop3.b32 d, a, b, c, 0xca", "b32", "t=ttt", choice},
    {"dp4a.u32.u32 d, a, b, c", "b32", "t=ttt", dot_uu},
    {"dp4a.s32.u32 d, a, b, c", "b32", "t=ttt", dot_su},
    {"dp4a.u32.s32 d, a, b, c", "b32", "t=ttt", dot_us},
    {"dp4a.s32.s32 d, a, b, c", "b32", "t=ttt", dot_ss},
    {"dp2a.lo.u32.u32 d, a, b, c", "b32", "t=ttt", dot_low_uu},
    {"dp2a.lo.s32.u32 d, a, b, c", "b32", "t=ttt", dot_low_su},
    {"dp2a.hi.u32.s32 d, a, b, c", "b32", "t=ttt", dot_high_us},
    {"dp2a.hi.s32.s32 d, a, b, c", "b32", "t=ttt", dot_high_ss},
    {"add.cc.% d, a, b; addc.% d, c, e", "s32 u32 s64 u64", "t=tttt", carried},
    {"sub.cc.% d, a, b; subc.% d, c, e", "s32 u32 s64 u64", "t=tttt", borrowed},
    {"add.cc.% d, a, b; addc.cc.% d, c, e", "u32 u64", "t=tttt", carried},
    {"sub.cc.% d, a, b; subc.cc.% d, c, e", "u32 u64", "t=tttt", borrowed},
    {"sub.cc.% d, a, b; addc.% d, c, e", "s32 u32 s64 u64", "t=tttt", added_after},
    {"mad.lo.cc.% d, a, b, c; madc.hi.% d, a, b, e", "s32 u32 s64 u64", "t=tttt", mad_up},
    {"mad.hi.cc.% d, a, b, c; madc.lo.% d, a, b, e", "s32 u32 s64 u64", "t=tttt", mad_down},
};

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct Instance {
    const IntegerRow *row;
    char sizes[8];
    int width;
    bool is_signed;
} Instance;

static s128 number(const Instance *instance, int source, uint64_t bits) {
    const char *sizes = strchr(instance->row->sizes, '=') + 1;
    const char size = source < (int)strlen(sizes) ? sizes[source] : '8';
    const int width = size == 't' ? instance->width : size == 'w' ? 2 * instance->width : 64;
    if (!instance->is_signed || (size != 't' && size != 'w')) return bits;
    return (s128)((u128)bits << (128 - width)) >> (128 - width);
}

static uint64_t reference(const void *what, const uint64_t in[]) {
    const Instance *instance = what;
    Numbers n = {.width = instance->width, .is_signed = instance->is_signed};
    n.a = number(instance, 0, in[0]), n.b = number(instance, 1, in[1]);
    n.c = number(instance, 2, in[2]), n.e = number(instance, 3, in[3]);
    return (uint64_t)instance->row->value(&n);
}

static void try_type(const IntegerRow *row, const char *type) {
    Instance instance = {.row = row, .width = atoi(type + 1), .is_signed = type[0] == 's'};
    char text[120];
    for (int i = 0; row->sizes[i]; i++) {
        const char size = row->sizes[i];
        instance.sizes[i] = (char)(size == 't'   ? '0' + instance.width / 8
                                   : size == 'w' ? '0' + instance.width / 4
                                                 : size);
    }
    Trial trial = {.text = expand(row->text, type, text, sizeof text),
                   .sizes = instance.sizes,
                   .reference = reference,
                   .what = &instance};
    for (int i = 0; i < MAX_SOURCES; i++) trial.values[i] = VALUES(edge_integers);
    try_operands(&trial);
}

int main(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char types[80], *rest = types;
        strcpy(types, rows[i].types);
        for (char *type = strtok_r(types, " ", &rest); type; type = strtok_r(NULL, " ", &rest))
            try_type(&rows[i], type);
    }
    return done_testing();
}
