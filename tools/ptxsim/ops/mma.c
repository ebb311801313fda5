#include "ops/mma.h"

#include <string.h>

#include "machine/tensormap.h"
#include "ops/numeric.h"
#include "ops/shuffle.h"

/* The work is done on fragments as the lanes hold them, so that little has to be put in order.
 *
 * Lane 4g + t holds of A the rows g and g + 8 at k = 2t, 2t + 1 (+ 8), of B the column g at the
 * same k, of C and D the rows g and g + 8 at columns 2t, 2t + 1. Taking k and the columns in the
 * order "even ones, then odd ones", a row of 8 columns of C is 4 neighbouring lanes of an even and
 * of an odd register, and 4 neighbouring lanes of a widened A register are 4 values of k. */
enum { LANES = 32, ROWS = 16, COLUMNS = 8, QUAD = 4, MATRIX = 8 };
enum { HALVES = 2 }; /* k = 16 is two halves of 8, each an 8x8 matrix of B */

/* [parity of k][half of k][..][t]; k = 8 * half + 2 * t + parity */
typedef float FragmentA[2][HALVES][ROWS][QUAD];
typedef float FragmentB[2][HALVES][QUAD][COLUMNS]; /* columns: 0 2 4 6 1 3 5 7 */

typedef float Row __attribute__((vector_size(32), aligned(4), may_alias));
typedef float HalfRow __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint32_t Words __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint16_t Elements __attribute__((vector_size(16))); /* a row of an 8x8 matrix */

/* Lets the compiler fuse a * b + c. That changes no result here, since the products are exact. */
#if defined(__GNUC__) && !defined(__clang__)
#define CONTRACT __attribute__((optimize("fp-contract=fast")))
#else
#define CONTRACT
#endif

/* ---- Fragments ------------------------------------------------------------------------------- */

/* Splits 32 words into the fp32 values of their lower and upper elements. */
static inline void widen(const uint32_t *word, MmaElement element, float *restrict low,
                         float *restrict high) {
    if (element == MMA_BF16) {
        for (unsigned l = 0; l < LANES; l++) low[l] = float_of(word[l] << 16);
        for (unsigned l = 0; l < LANES; l++) high[l] = float_of(word[l] & 0xffff0000);
    } else {
        uint16_t half[2][LANES];
        for (unsigned l = 0; l < LANES; l++) half[0][l] = (uint16_t)word[l];
        for (unsigned l = 0; l < LANES; l++) half[1][l] = (uint16_t)(word[l] >> 16);
        halves_to_floats(half[0], low);
        halves_to_floats(half[1], high);
    }
}

/* Register q of A holds rows 0-7 (even q) or 8-15 of half q / 2 of k. */
static void load_a(MmaElement element, const uint32_t *const a[4], FragmentA fragment) {
    for (unsigned h = 0; h < HALVES; h++)
        for (unsigned upper = 0; upper < 2; upper++)
            widen(a[2 * h + upper], element, fragment[0][h][8 * upper], fragment[1][h][8 * upper]);
}

/* A register of B holds one half of k, four lanes per column. A vector of 8 lanes is an even and an
 * odd column, so transposing 4x4 words in the halves of four vectors gives four lines [t][column].
 */
static inline void transpose(const uint32_t b[LANES], Words line[QUAD]) {
    Words c01 = *(const Words *)b, c23 = *(const Words *)(b + 8);
    Words c45 = *(const Words *)(b + 16), c67 = *(const Words *)(b + 24);
    Words low03 = SHUFFLE(c01, c23, 0, 8, 1, 9, 4, 12, 5, 13);
    Words high03 = SHUFFLE(c01, c23, 2, 10, 3, 11, 6, 14, 7, 15);
    Words low47 = SHUFFLE(c45, c67, 0, 8, 1, 9, 4, 12, 5, 13);
    Words high47 = SHUFFLE(c45, c67, 2, 10, 3, 11, 6, 14, 7, 15);
    line[0] = SHUFFLE(low03, low47, 0, 1, 8, 9, 4, 5, 12, 13);
    line[1] = SHUFFLE(low03, low47, 2, 3, 10, 11, 6, 7, 14, 15);
    line[2] = SHUFFLE(high03, high47, 0, 1, 8, 9, 4, 5, 12, 13);
    line[3] = SHUFFLE(high03, high47, 2, 3, 10, 11, 6, 7, 14, 15);
}

static void load_b(MmaElement element, const uint32_t *const b[2], FragmentB fragment) {
    for (unsigned h = 0; h < HALVES; h++) {
        Words line[QUAD];
        transpose(b[h], line);
        widen((const uint32_t *)line, element, fragment[0][h][0], fragment[1][h][0]);
    }
}

MmaPlace mma_place(MmaOperand operand, unsigned lane, unsigned reg, unsigned half) {
    const unsigned group = lane / QUAD, pair = 2 * (lane % QUAD);
    switch (operand) {
    case MMA_A:
        return (MmaPlace){(uint8_t)(group + reg % 2 * 8), (uint8_t)(pair + half + reg / 2 * 8)};
    case MMA_B:
        return (MmaPlace){(uint8_t)(pair + half + reg * 8), (uint8_t)group};
    case MMA_SUM:
        return (MmaPlace){(uint8_t)(group + reg / 2 * 8), (uint8_t)(pair + reg % 2)};
    case MMA_HALF_SUM:
        return (MmaPlace){(uint8_t)(group + reg * 8), (uint8_t)(pair + half)};
    default:
        return (MmaPlace){(uint8_t)group, (uint8_t)(pair + half)};
    }
}

/* ---- The product ----------------------------------------------------------------------------- */

/* D = A B + C. Registers 0 and 1 of C and D hold the even and the odd columns of rows 0-7,
 * registers 2 and 3 those of rows 8-15. Four rows at a time keep eight independent chains of
 * additions. */
CONTRACT static void multiply(FragmentA a, FragmentB b, uint32_t *const d[4],
                              const uint32_t *const c[4]) {
    enum { STRIP = 4 };
    for (unsigned first = 0; first < ROWS; first += STRIP) {
        Row even[STRIP], odd[STRIP];
        unsigned q = first / 8 * 2, lane = first % 8 * QUAD;
        for (unsigned r = 0; r < STRIP; r++) {
            HalfRow left = *(const HalfRow *)(c[q] + lane + QUAD * r);
            HalfRow right = *(const HalfRow *)(c[q + 1] + lane + QUAD * r);
            even[r] = JOIN(Row, left, right);
            odd[r] = (Row){0};
        }
        for (unsigned h = 0; h < HALVES; h++)
            for (unsigned t = 0; t < QUAD; t++)
                for (unsigned r = 0; r < STRIP; r++) {
                    even[r] += a[0][h][first + r][t] * *(Row *)b[0][h][t];
                    odd[r] += a[1][h][first + r][t] * *(Row *)b[1][h][t];
                }
        for (unsigned r = 0; r < STRIP; r++) {
            Row sum = even[r] + odd[r];
            memcpy(d[q] + lane + QUAD * r, &sum, sizeof(HalfRow));
            memcpy(d[q + 1] + lane + QUAD * r, (float *)&sum + QUAD, sizeof(HalfRow));
        }
    }
}

/* The same with fp16 accumulators: register 0 holds rows 0-7, 1 rows 8-15, an even and an odd
 * column a word. */
static void multiply_f16(FragmentA a, FragmentB b, uint32_t *const d[2],
                         const uint32_t *const c[2]) {
    float wide[4][LANES];
    for (unsigned i = 0; i < 2; i++) widen(c[i], MMA_F16, wide[2 * i], wide[2 * i + 1]);
    uint32_t *sum[4];
    for (unsigned i = 0; i < 4; i++) sum[i] = (uint32_t *)wide[i];
    multiply(a, b, sum, (const uint32_t *const *)sum);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned l = 0; l < LANES; l++) {
            uint32_t low = half_from_float(wide[2 * i][l]);
            uint32_t high = half_from_float(wide[2 * i + 1][l]);
            d[i][l] = low | high << 16;
        }
}

/* The fragments of one mma; where k is 8 the other half of k is zero. */
static void load_operands(unsigned k, MmaElement element, const uint32_t *const a[],
                          const uint32_t *const b[], FragmentA fragment_a, FragmentB fragment_b) {
    static const uint32_t zero[LANES];
    bool whole = k == 16;
    const uint32_t *const all_a[4] = {a[0], a[1], whole ? a[2] : zero, whole ? a[3] : zero};
    const uint32_t *const all_b[2] = {b[0], whole ? b[1] : zero};
    load_a(element, all_a, fragment_a);
    load_b(element, all_b, fragment_b);
}

/* Whether writing D overwrites a register of C that is still to be read: its own one is not. */
static bool in_another_order(uint32_t *const d[4], const uint32_t *const c[4]) {
    bool found = false;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 4; j++) found |= i != j && d[i] == c[j];
    return found;
}

void mma_f32(unsigned k, MmaElement element, uint32_t *const d[4], const uint32_t *const a[],
             const uint32_t *const b[], const uint32_t *const c[4]) {
    FragmentA fragment_a;
    FragmentB fragment_b;
    uint32_t kept[4][LANES];
    const uint32_t *const copy[4] = {kept[0], kept[1], kept[2], kept[3]};
    const bool copies = in_another_order(d, c);
    load_operands(k, element, a, b, fragment_a, fragment_b);
    for (unsigned i = 0; copies && i < 4; i++) memcpy(kept[i], c[i], sizeof kept[i]);
    multiply(fragment_a, fragment_b, d, copies ? copy : c);
}

void mma_f16(unsigned k, uint32_t *const d[2], const uint32_t *const a[], const uint32_t *const b[],
             const uint32_t *const c[2]) {
    FragmentA fragment_a;
    FragmentB fragment_b;
    load_operands(k, MMA_F16, a, b, fragment_a, fragment_b);
    multiply_f16(fragment_a, fragment_b, d, c);
}

/* ---- ldmatrix and stmatrix ------------------------------------------------------------------- */

/* Transposes in three rounds, each of which interleaves row i with row i + 4. */
static inline void transpose_matrix(Elements row[MATRIX]) {
    for (unsigned round = 0; round < 3; round++) {
        Elements next[MATRIX];
        for (unsigned i = 0; i < MATRIX / 2; i++) {
            Elements a = row[i], b = row[i + 4];
            next[2 * i] = SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
            next[2 * i + 1] = SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(row, next, sizeof next);
    }
}

/* Lane l's word is the l % 4th of row l / 4: the register is the matrix, row after row. */
void ldmatrix(const uint8_t *const row[8], bool transposed, uint32_t value[32]) {
    Elements matrix[MATRIX];
    for (unsigned r = 0; r < MATRIX; r++) memcpy(&matrix[r], row[r], sizeof matrix[r]);
    if (transposed) transpose_matrix(matrix);
    memcpy(value, matrix, sizeof matrix);
}

void stmatrix(uint8_t *const row[8], bool transposed, const uint32_t value[32]) {
    Elements matrix[MATRIX];
    memcpy(matrix, value, sizeof matrix);
    if (transposed) transpose_matrix(matrix);
    for (unsigned r = 0; r < MATRIX; r++) memcpy(row[r], &matrix[r], sizeof matrix[r]);
}

/* ---- wgmma ----------------------------------------------------------------------------------- */

WgmmaDescriptor wgmma_descriptor(uint64_t bits) {
    static const Swizzle mode[] = {SWIZZLE_NONE, SWIZZLE_128B, SWIZZLE_64B, SWIZZLE_32B};
    return (WgmmaDescriptor){
        .address = (uint32_t)(bits & 0x3fff) << 4,
        .leading_offset = (uint32_t)(bits >> 16 & 0x3fff) << 4,
        .stride_offset = (uint32_t)(bits >> 32 & 0x3fff) << 4,
        .base_offset = (uint32_t)(bits >> 49 & 7),
        .swizzle = mode[bits >> 62],
    };
}

/* Byte offset, before swizzling, of the first of the 16-byte chunks of an 8x8 matrix: number
 * `block` along the operand's rows, number `half` along k. A swizzled pattern is `width` chunks
 * wide. The layouts are the canonical ones of CUTLASS, include/cute/arch/mma_sm90_desc.hpp. */
static uint32_t matrix_offset(const WgmmaTile *tile, unsigned block, unsigned half) {
    const WgmmaDescriptor *d = &tile->descriptor;
    const unsigned width = 1u << d->swizzle;
    if (d->swizzle == SWIZZLE_NONE) return block * d->stride_offset + half * d->leading_offset;
    if (!tile->transposed) return block * d->stride_offset + half * 16;
    return block % width * 16 + block / width * d->leading_offset + half * d->stride_offset;
}

unsigned wgmma_chunks(const WgmmaTile *tile, uint32_t address[WGMMA_MAX_CHUNKS]) {
    const uint32_t base = tile->descriptor.address;
    const Swizzle swizzle = (Swizzle)tile->descriptor.swizzle;
    const uint32_t line_step = 16u << swizzle; /* from a line of a matrix to the next one */
    unsigned count = 0;
    for (unsigned row = 0; row < tile->rows; row += MATRIX)
        for (unsigned half = 0; half < HALVES; half++, count += MATRIX) {
            const unsigned block = (tile->first + row) / MATRIX;
            const uint32_t matrix = base + matrix_offset(tile, block, half);
            for (unsigned line = 0; line < MATRIX; line++)
                address[count + line] = swizzle_address(matrix + line * line_step, swizzle);
        }
    return count;
}

/* The 8x8 matrix whose chunks are chunk[0..7], as the register that ldmatrix would give. */
static void load_matrix(const uint8_t *shared, const uint32_t chunk[MATRIX], bool transposed,
                        uint32_t value[LANES]) {
    const uint8_t *row[MATRIX];
    for (unsigned r = 0; r < MATRIX; r++) row[r] = shared + chunk[r];
    ldmatrix(row, transposed, value);
}

/* A from registers or shared memory. The matrices of a tile come rows 0-7 k 0-7, rows 0-7 k 8-15,
 * rows 8-15 ...; registers come rows first. Negating A or B negates the product's other factor. */
static void load_wgmma_a(const WgmmaOperation *operation, FragmentA fragment) {
    uint32_t value[4][LANES], chunk[WGMMA_MAX_CHUNKS];
    if (!operation->a) wgmma_chunks(&operation->a_tile, chunk);
    for (unsigned q = 0; q < 4; q++) {
        const uint32_t *rows = chunk + MATRIX * (q % 2 * 2 + q / 2);
        if (operation->a)
            memcpy(value[q], operation->a[q], sizeof value[q]);
        else
            load_matrix(operation->shared, rows, operation->a_tile.transposed, value[q]);
    }
    bool negate = operation->negate_a != operation->negate_b;
    for (unsigned q = 0; negate && q < 4; q++)
        for (unsigned l = 0; l < LANES; l++) value[q][l] ^= 0x80008000;
    const uint32_t *const a[4] = {value[0], value[1], value[2], value[3]};
    load_a(operation->element, a, fragment);
}

/* Column block j of B, by the chunks of its two matrices. */
static void load_wgmma_b(const WgmmaOperation *operation, const uint32_t chunk[2 * MATRIX],
                         FragmentB fragment) {
    uint32_t value[2][LANES];
    for (unsigned h = 0; h < 2; h++)
        load_matrix(operation->shared, chunk + MATRIX * h, operation->b_tile.transposed, value[h]);
    const uint32_t *const b[2] = {value[0], value[1]};
    load_b(operation->element, b, fragment);
}

/* Where D = A B the sum starts from this register, once for each that C would have. */
static const uint32_t zero_register[LANES];
static const uint32_t *const zeros[4] = {zero_register, zero_register, zero_register,
                                         zero_register};

void wgmma_f32(const WgmmaOperation *operation, uint32_t *const d[], const uint32_t *const c[]) {
    FragmentA a;
    uint32_t chunk[WGMMA_MAX_CHUNKS];
    load_wgmma_a(operation, a);
    wgmma_chunks(&operation->b_tile, chunk);
    for (unsigned j = 0; j < operation->n / COLUMNS; j++) {
        FragmentB b;
        load_wgmma_b(operation, chunk + 2 * MATRIX * j, b);
        multiply(a, b, d + 4 * j, operation->accumulate ? c + 4 * j : zeros);
    }
}

void wgmma_f16(const WgmmaOperation *operation, uint32_t *const d[], const uint32_t *const c[]) {
    FragmentA a;
    uint32_t chunk[WGMMA_MAX_CHUNKS];
    load_wgmma_a(operation, a);
    wgmma_chunks(&operation->b_tile, chunk);
    for (unsigned j = 0; j < operation->n / COLUMNS; j++) {
        FragmentB b;
        load_wgmma_b(operation, chunk + 2 * MATRIX * j, b);
        multiply_f16(a, b, d + 2 * j, operation->accumulate ? c + 2 * j : zeros);
    }
}
