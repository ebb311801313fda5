/* ldmatrix, stmatrix, movmatrix and mma.sync. The arithmetic is in mma.h. */
#include "decode/decode.h"
#include "machine/access.h"
#include "machine/lanes.h"
#include "ops/mma.h"

enum { ROWS_A_MATRIX = 8, ROW_BYTES = 16, MMA_REGISTERS = 14 };

static void require_whole_warp(Warp *warp, const char *what) {
    if (warp->mask != ALL_LANES)
        fault(warp, -1, "%s needs all 32 lanes; lanes 0x%08x execute it", what, warp->mask);
}

/* ---- ldmatrix, stmatrix ---------------------------------------------------------------------- */

static void run_ldmatrix(Warp *warp, const Op *op) {
    Access access;
    const uint8_t *row[LANES];
    uint32_t value[4][LANES]; /* an address may be among the registers that are loaded */
    require_whole_warp(warp, "ldmatrix");
    access_lanes(warp, op, op->elements, ROW_BYTES, ACCESS_LOAD, &access);
    const Pattern *p = access.pattern;
    for (unsigned l = 0; l < LANES; l++) row[l] = p ? access.at[0] + p->distance[l] : access.at[l];
    for (unsigned m = 0; m < op->elements; m++)
        ldmatrix(row + ROWS_A_MATRIX * m, op->mode, value[m]);
    for (unsigned m = 0; m < op->elements; m++) memcpy(REG(u8, m), value[m], sizeof value[m]);
}

static void run_stmatrix(Warp *warp, const Op *op) {
    Access access;
    require_whole_warp(warp, "stmatrix");
    access_lanes(warp, op, 0, ROW_BYTES, ACCESS_STORE, &access);
    for (unsigned m = 0; m < op->elements; m++)
        stmatrix(access.at + ROWS_A_MATRIX * m, op->mode, (const uint32_t *)REG(u32, m + 1));
    for (unsigned m = 0; warp->block->settings->race && m < op->elements; m++) {
        uint32_t value[LANES];
        ldmatrix((const uint8_t *const *)access.at + ROWS_A_MATRIX * m, op->mode, value);
        for (unsigned l = 0; l < LANES; l++)
            if (value[l] != REG(u32, m + 1)[l]) fault_lost(warp, l);
    }
}

static bool decode_ldstmatrix(Decoder *d) {
    static const char *const counts[] = {"x1", "x2", "x4", NULL};
    const bool loads = opcode_is(d, "ldmatrix");
    if (!loads && !opcode_is(d, "stmatrix")) return false;
    if (!take(d, "sync") || !take(d, "aligned") || !take(d, "m8n8") || !take(d, "b16"))
        return false;
    if (!take(d, "shared")) take(d, "shared::cta");
    const int which = take_one(d, counts);
    if (which < 0) return false;
    d->op->elements = (uint8_t)(1 << which);
    d->op->mode = take(d, "trans");
    d->op->space = SPACE_SHARED;
    if (loads) define_vector(d, 4, d->op->elements);
    use_address(d, &d->op->offset);
    if (!loads) use_vector(d, 4, d->op->elements);
    return done(d, loads ? run_ldmatrix : run_stmatrix, loads ? CLASS_LDMATRIX : CLASS_STMATRIX);
}

/* ---- movmatrix ------------------------------------------------------------------------------- */

/* Element (row, column) of the 8x8 matrix whose fragments the lanes hold. */
static uint32_t element(const u32 *fragment, unsigned row, unsigned column) {
    return fragment[4 * row + column / 2] >> 16 * (column % 2) & 0xffff;
}

static void run_movmatrix(Warp *warp, const Op *op) {
    const u32 *a = REG(u32, 1);
    uint32_t value[LANES]; /* the result may come to where the operand stands */
    require_whole_warp(warp, "movmatrix");
    for (unsigned l = 0; l < LANES; l++) {
        const unsigned row = l / 4, column = l % 4 * 2;
        value[l] = element(a, column, row) | element(a, column + 1, row) << 16;
    }
    memcpy(REG(u8, 0), value, sizeof value);
}

static bool decode_movmatrix(Decoder *d) {
    if (!opcode_is(d, "movmatrix") || !take(d, "sync") || !take(d, "aligned")) return false;
    if (!take(d, "m8n8") || !take(d, "trans") || !take(d, "b16")) return false;
    use_pattern(d, "4=4");
    return done(d, run_movmatrix, CLASS_SHUFFLE);
}

/* ---- mma.sync -------------------------------------------------------------------------------- */

/* operands: d, a, b, c; op->number is k, op->elements the registers of d. For m16n8k16 A has 4
 * registers and B 2, for m16n8k8 half of that; C has as many as d, at most 4. */
static void run_mma(Warp *warp, const Op *op) {
    const unsigned k = (unsigned)op->number, d_regs = op->elements;
    const unsigned a_first = d_regs, b_first = a_first + k / 4, c_first = b_first + k / 8;
    uint32_t *r[MMA_REGISTERS];
    require_whole_warp(warp, "mma.sync");
    for (int i = 0; i < op->operands; i++) r[i] = (uint32_t *)REG(u32, i);
    const uint32_t *const *in = (const uint32_t *const *)r;
    if (d_regs == 4)
        mma_f32(k, op->bf16 ? MMA_BF16 : MMA_F16, r, in + a_first, in + b_first, in + c_first);
    else
        mma_f16(k, r, in + a_first, in + b_first, in + c_first);
}

static bool is_part(const Decoder *d, int i, const char *name) {
    return i >= 0 && i < d->in->parts && text_is(d->in->part[i], name);
}

/* mma.sync.aligned.m16n8k16.row.col.{d}.{a}.{b}.{c} */
static bool decode_mma(Decoder *d) {
    const int last = d->in->parts - 1;
    if (!opcode_is(d, "mma") || !take(d, "sync") || !take(d, "aligned")) return false;
    d->op->number = take(d, "m16n8k16") ? 16 : take(d, "m16n8k8") ? 8 : 0;
    if (!d->op->number || !take(d, "row") || !take(d, "col")) return false;
    const bool single = is_part(d, last, "f32") && is_part(d, last - 3, "f32");
    const bool half = is_part(d, last, "f16") && is_part(d, last - 3, "f16");
    d->op->bf16 = is_part(d, last - 1, "bf16");
    if (!single && !half) return false;
    if (!is_part(d, last - 2, d->op->bf16 ? "bf16" : "f16")) return false;
    if (!d->op->bf16 && !is_part(d, last - 1, "f16")) return false;
    if (half && d->op->bf16) return false;
    for (int i = last - 3; i <= last; i++) d->taken |= 1u << i;
    d->op->elements = single ? 4 : 2;
    define_vector(d, 4, d->op->elements);
    use_vector(d, 4, d->op->number / 4);
    use_vector(d, 4, d->op->number / 8);
    use_vector(d, 4, d->op->elements);
    return done(d, run_mma, CLASS_MMA);
}

bool decode_matrix(Decoder *d) {
    return decode_ldstmatrix(d) || decode_movmatrix(d) || decode_mma(d);
}
