#include "mma.h"

#include <string.h>

#include "clones.h"
#include "numeric.h"
#include "tensormap.h"

/* The work is done on fragments as the lanes hold them, so that nothing is put in matrix order.
 *
 * Lane 4g + t holds of A the rows g and g + 8 at k = 2t, 2t + 1 (+ 8), of B the column g at the
 * same k, of C and D the rows g and g + 8 at columns 2t, 2t + 1. Taking k and the columns in the
 * order "even ones, then odd ones", a row of 8 columns of C is 4 neighbouring lanes of an even and
 * of an odd register, and 4 neighbouring lanes of a widened A register are 4 values of k. */
enum { LANES = 32, ROWS = 16, COLUMNS = 8, QUAD = 4, MATRIX = 8 };
enum { MAX_HALVES = 2 }; /* k = 16 is two halves of 8, each an 8x8 matrix of B */

/* [parity of k][half of k][..][t]; k = 8 * half + 2 * t + parity */
typedef float FragmentA[2][MAX_HALVES][ROWS][QUAD];
typedef float FragmentB[2][MAX_HALVES][QUAD][COLUMNS]; /* columns: 0 2 4 6 1 3 5 7 */
typedef float Accumulator[ROWS][COLUMNS];              /* the same order of columns */

/* Lets the compiler fuse a * b + c. That changes no result here, since the products are exact. */
#if defined(__GNUC__) && !defined(__clang__)
#define CONTRACT __attribute__((optimize("fp-contract=fast")))
#else
#define CONTRACT
#endif

/* ---- Fragments ------------------------------------------------------------------------------- */

/* Splits the 32 words of a register into the fp32 values of their lower and upper elements. */
static inline void widen(const uint32_t *word, MmaElement element, float *restrict low,
                         float *restrict high) {
    if (element == MMA_BF16) {
        for (unsigned l = 0; l < LANES; l++) low[l] = float_of(word[l] << 16);
        for (unsigned l = 0; l < LANES; l++) high[l] = float_of(word[l] & 0xffff0000);
    } else {
        for (unsigned l = 0; l < LANES; l++) low[l] = half_to_float((uint16_t)word[l]);
        for (unsigned l = 0; l < LANES; l++) high[l] = half_to_float((uint16_t)(word[l] >> 16));
    }
}

/* A register q of A holds rows 0-7 (even q) or 8-15 of half q / 2 of k. */
CLONES static void load_a(unsigned halves, MmaElement element, const uint32_t *const a[],
                          FragmentA fragment) {
    for (unsigned h = 0; h < halves; h++)
        for (unsigned upper = 0; upper < 2; upper++)
            widen(a[2 * h + upper], element, fragment[0][h][8 * upper], fragment[1][h][8 * upper]);
}

/* A register of B holds one half of k, four lanes a column. */
CLONES static void load_b(unsigned halves, MmaElement element, const uint32_t *const b[],
                          FragmentB fragment) {
    for (unsigned h = 0; h < halves; h++) {
        uint32_t word[QUAD][COLUMNS];
        for (unsigned i = 0; i < COLUMNS / 2; i++)
            for (unsigned t = 0; t < QUAD; t++) {
                word[t][i] = b[h][QUAD * (2 * i) + t];
                word[t][COLUMNS / 2 + i] = b[h][QUAD * (2 * i + 1) + t];
            }
        widen(word[0], element, fragment[0][h][0], fragment[1][h][0]);
    }
}

/* fp32 accumulators: registers 0, 1 hold the even and odd columns of rows 0-7, 2, 3 of rows 8-15. */
static void load_f32(const uint32_t *const c[4], Accumulator sum) {
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned odd = 0; odd < 2; odd++)
            memcpy(&sum[row][QUAD * odd], &c[row / 8 * 2 + odd][row % 8 * QUAD], QUAD * sizeof(float));
}

static void store_f32(uint32_t *const d[4], Accumulator sum) {
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned odd = 0; odd < 2; odd++)
            memcpy(&d[row / 8 * 2 + odd][row % 8 * QUAD], &sum[row][QUAD * odd], QUAD * sizeof(float));
}

/* fp16 accumulators: register 0 holds rows 0-7, 1 rows 8-15, an even and an odd column a word. */
static void load_f16(const uint32_t *const c[2], Accumulator sum) {
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned t = 0; t < QUAD; t++) {
            uint32_t word = c[row / 8][row % 8 * QUAD + t];
            sum[row][t] = half_to_float((uint16_t)word);
            sum[row][QUAD + t] = half_to_float((uint16_t)(word >> 16));
        }
}

static void store_f16(uint32_t *const d[2], Accumulator sum) {
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned t = 0; t < QUAD; t++) {
            uint32_t low = half_from_float(sum[row][t]), high = half_from_float(sum[row][QUAD + t]);
            d[row / 8][row % 8 * QUAD + t] = low | high << 16;
        }
}

/* ---- The product ----------------------------------------------------------------------------- */

typedef float Vector __attribute__((vector_size(COLUMNS * sizeof(float)), aligned(4)));

/* sum += A B. Four rows at a time keep eight independent chains of additions in registers. */
CLONES CONTRACT static void multiply(unsigned halves, FragmentA a, FragmentB b, Accumulator sum) {
    enum { STRIP = 4 };
    for (unsigned h = 0; h < halves; h++)
        for (unsigned first = 0; first < ROWS; first += STRIP) {
            Vector even[STRIP], odd[STRIP];
            for (unsigned r = 0; r < STRIP; r++) {
                even[r] = *(Vector *)sum[first + r];
                odd[r] = (Vector){0};
            }
            for (unsigned t = 0; t < QUAD; t++)
                for (unsigned r = 0; r < STRIP; r++) {
                    even[r] += a[0][h][first + r][t] * *(Vector *)b[0][h][t];
                    odd[r] += a[1][h][first + r][t] * *(Vector *)b[1][h][t];
                }
            for (unsigned r = 0; r < STRIP; r++) *(Vector *)sum[first + r] = even[r] + odd[r];
        }
}

void mma_f32(unsigned k, MmaElement element, uint32_t *const d[4], const uint32_t *const a[],
             const uint32_t *const b[], const uint32_t *const c[4]) {
    FragmentA fragment_a;
    FragmentB fragment_b;
    Accumulator sum;
    load_a(k / 8, element, a, fragment_a);
    load_b(k / 8, element, b, fragment_b);
    load_f32(c, sum);
    multiply(k / 8, fragment_a, fragment_b, sum);
    store_f32(d, sum);
}

void mma_f16(unsigned k, uint32_t *const d[2], const uint32_t *const a[], const uint32_t *const b[],
             const uint32_t *const c[2]) {
    FragmentA fragment_a;
    FragmentB fragment_b;
    Accumulator sum;
    load_a(k / 8, MMA_F16, a, fragment_a);
    load_b(k / 8, MMA_F16, b, fragment_b);
    load_f16(c, sum);
    multiply(k / 8, fragment_a, fragment_b, sum);
    store_f16(d, sum);
}

/* ---- ldmatrix and stmatrix ------------------------------------------------------------------- */

static uint16_t element_at(const uint8_t *row, unsigned column) {
    uint16_t value;
    memcpy(&value, row + column * sizeof value, sizeof value);
    return value;
}

void ldmatrix(const uint8_t *const row[8], bool transposed, uint32_t value[32]) {
    for (unsigned r = 0; r < MATRIX && !transposed; r++) memcpy(&value[QUAD * r], row[r], 16);
    for (unsigned l = 0; l < LANES && transposed; l++) {
        unsigned column = l / QUAD, r = l % QUAD * 2;
        value[l] = element_at(row[r], column) | (uint32_t)element_at(row[r + 1], column) << 16;
    }
}

void stmatrix(uint8_t *const row[8], bool transposed, const uint32_t value[32]) {
    for (unsigned r = 0; r < MATRIX && !transposed; r++) memcpy(row[r], &value[QUAD * r], 16);
    for (unsigned l = 0; l < LANES && transposed; l++) {
        unsigned column = l / QUAD, r = l % QUAD * 2;
        uint16_t low = (uint16_t)value[l], high = (uint16_t)(value[l] >> 16);
        memcpy(row[r] + column * sizeof low, &low, sizeof low);
        memcpy(row[r + 1] + column * sizeof high, &high, sizeof high);
    }
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

/* Byte offset, before swizzling, of the 16-byte chunk that holds operand row `row` (the first of 8,
 * if transposed) at `k` (the first of 8, if not). A swizzled pattern is `width` chunks wide, 8
 * lines high, its lines 16 * width bytes apart. The layouts are the canonical ones of CUTLASS,
 * include/cute/arch/mma_sm90_desc.hpp. */
static uint32_t chunk_offset(const WgmmaTile *tile, unsigned row, unsigned k) {
    const WgmmaDescriptor *d = &tile->descriptor;
    unsigned width = 1u << d->swizzle;
    bool swizzled = d->swizzle != SWIZZLE_NONE;
    if (!tile->transposed) {
        uint32_t chunk_step = swizzled ? 16 : d->leading_offset;
        return row % 8 * 16 * width + row / 8 * d->stride_offset + k / 8 * chunk_step;
    }
    unsigned chunk = row / 8;
    if (!swizzled) return chunk * d->stride_offset + k % 8 * 16 + k / 8 * d->leading_offset;
    return chunk % width * 16 + chunk / width * d->leading_offset + k % 8 * 16 * width +
           k / 8 * d->stride_offset;
}

unsigned wgmma_chunks(const WgmmaTile *tile, uint32_t address[WGMMA_MAX_CHUNKS]) {
    unsigned count = 0;
    for (unsigned block = 0; block < tile->rows; block += MATRIX)
        for (unsigned k = 0; k < 16; k += MATRIX)
            for (unsigned line = 0; line < MATRIX; line++) {
                unsigned row = tile->first + block + (tile->transposed ? 0 : line);
                uint32_t offset = chunk_offset(tile, row, k + (tile->transposed ? line : 0));
                uint32_t plain = tile->descriptor.address + offset;
                address[count++] = swizzle_address(plain, tile->descriptor.swizzle);
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
        if (operation->a) memcpy(value[q], operation->a[q], sizeof value[q]);
        else load_matrix(operation->shared, rows, operation->a_tile.transposed, value[q]);
    }
    bool negate = operation->negate_a != operation->negate_b;
    for (unsigned q = 0; negate && q < 4; q++)
        for (unsigned l = 0; l < LANES; l++) value[q][l] ^= 0x80008000;
    const uint32_t *const a[4] = {value[0], value[1], value[2], value[3]};
    load_a(2, operation->element, a, fragment);
}

/* Column block j of B, by the chunks of its two matrices. */
static void load_wgmma_b(const WgmmaOperation *operation, const uint32_t chunk[2 * MATRIX],
                         FragmentB fragment) {
    uint32_t value[2][LANES];
    for (unsigned h = 0; h < 2; h++)
        load_matrix(operation->shared, chunk + MATRIX * h, operation->b_tile.transposed, value[h]);
    const uint32_t *const b[2] = {value[0], value[1]};
    load_b(2, operation->element, b, fragment);
}

void wgmma_f32(const WgmmaOperation *operation, uint32_t *const d[], const uint32_t *const c[]) {
    FragmentA a;
    uint32_t chunk[WGMMA_MAX_CHUNKS];
    load_wgmma_a(operation, a);
    wgmma_chunks(&operation->b_tile, chunk);
    for (unsigned j = 0; j < operation->n / COLUMNS; j++) {
        FragmentB b;
        Accumulator sum = {{0}};
        load_wgmma_b(operation, chunk + 2 * MATRIX * j, b);
        if (operation->accumulate) load_f32(c + 4 * j, sum);
        multiply(2, a, b, sum);
        store_f32(d + 4 * j, sum);
    }
}

void wgmma_f16(const WgmmaOperation *operation, uint32_t *const d[], const uint32_t *const c[]) {
    FragmentA a;
    uint32_t chunk[WGMMA_MAX_CHUNKS];
    load_wgmma_a(operation, a);
    wgmma_chunks(&operation->b_tile, chunk);
    for (unsigned j = 0; j < operation->n / COLUMNS; j++) {
        FragmentB b;
        Accumulator sum = {{0}};
        load_wgmma_b(operation, chunk + 2 * MATRIX * j, b);
        if (operation->accumulate) load_f16(c + 2 * j, sum);
        multiply(2, a, b, sum);
        store_f16(d + 2 * j, sum);
    }
}
