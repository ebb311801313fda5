/* Matrix instructions on plain arrays: ldmatrix, stmatrix, mma.m16n8k8/k16, wgmma.m64nNk16.
 *
 * A register is an array of 32 lanes of 32-bit words. Layouts are those of the PTX ISA, "Matrix
 * Fragments for mma" and "Asynchronous Warpgroup Level Matrix Instructions". A product of two
 * 16-bit elements is exact in fp32; the products are added in fp32, in two chains (even k, odd k).
 * Tensor cores add in another order and with other intermediate rounding, so a sum may differ from
 * the hardware's in its last bits.
 */
#ifndef PTXSIM_MMA_H
#define PTXSIM_MMA_H

#include <stdbool.h>
#include <stdint.h>

typedef enum MmaElement { MMA_F16, MMA_BF16 } MmaElement;

/* ldmatrix of one 8x8 matrix of 16-bit elements: row[r] are the 16 bytes of row r. Lane l gets row
 * l / 4, columns 2 * (l % 4) and the next; with `transposed`, the same of the transposed matrix.
 * .x2 and .x4 repeat this: matrix j takes its rows from the addresses in lanes 8j .. 8j + 7. */
void ldmatrix(const uint8_t *const row[8], bool transposed, uint32_t value[32]);

/* stmatrix of one matrix, the inverse. */
void stmatrix(uint8_t *const row[8], bool transposed, const uint32_t value[32]);

/* Where elements are: register `reg` of a lane holds in its lower half (`half` 0) or its upper half
 * the element at `row` and `column`. MMA_A is m16 x k16, MMA_B k16 x n8; MMA_SUM is m16 x n8 in
 * fp32, which has no halves, and MMA_HALF_SUM the same in fp16. A wgmma's sum is n / 8 of these
 * side by side, its A in registers is MMA_A. MMA_MATRIX is what ldmatrix loads, a register a
 * matrix; with .trans row and column are exchanged. */
typedef enum MmaOperand { MMA_A, MMA_B, MMA_SUM, MMA_HALF_SUM, MMA_MATRIX } MmaOperand;
typedef struct MmaPlace {
    uint8_t row, column;
} MmaPlace;
MmaPlace mma_place(MmaOperand operand, unsigned lane, unsigned reg, unsigned half);

/* D = A B + C of mma.sync.aligned.m16n8k16 (a: 4 registers, b: 2) or m16n8k8 (a: 2, b: 1), row.col,
 * with fp32 accumulators: c and d have 4 registers. d may be the registers of a, b or c. */
void mma_f32(unsigned k, MmaElement element, uint32_t *const d[4], const uint32_t *const a[],
             const uint32_t *const b[], const uint32_t *const c[4]);

/* The same for fp16 elements and fp16 accumulators: c and d have 2 registers. The sum is in fp32
 * and rounded to fp16 once. */
void mma_f16(unsigned k, uint32_t *const d[2], const uint32_t *const a[], const uint32_t *const b[],
             const uint32_t *const c[2]);

enum { WGMMA_MAX_N = 256, WGMMA_MAX_CHUNKS = 2 * WGMMA_MAX_N };

/* The matrix descriptor of wgmma, unpacked (PTX ISA, "Matrix descriptor"). */
typedef struct WgmmaDescriptor {
    uint32_t address;        /* shared address of the operand, bytes */
    uint32_t leading_offset; /* LBO, bytes */
    uint32_t stride_offset;  /* SBO, bytes */
    uint32_t base_offset;    /* 0 .. 7; only 0 is supported */
    unsigned swizzle;        /* a Swizzle of tensormap.h */
} WgmmaDescriptor;

/* The bits that these have; the others must be 0. */
#define WGMMA_DESCRIPTOR_FIELDS 0xc00e3fff3fff3fffull

WgmmaDescriptor wgmma_descriptor(uint64_t bits);

/* One operand tile in shared memory: `rows` of the operand (M of A, N of B; a multiple of 8) by 16
 * of k, starting at row `first` of what the descriptor describes. */
typedef struct WgmmaTile {
    WgmmaDescriptor descriptor;
    unsigned first, rows;
    bool transposed; /* tnspA or tnspB: the rows, not k, are contiguous in memory */
} WgmmaTile;

/* The shared addresses of the tile's 16-byte chunks, rows * 2 of them; returns that number. The
 * executor checks each (bounds, written, races) before it lets wgmma_f32 read there. */
unsigned wgmma_chunks(const WgmmaTile *tile, uint32_t address[WGMMA_MAX_CHUNKS]);

/* What one warp of the warpgroup contributes to wgmma.mma_async.m64nNk16: its 16 rows of D. */
typedef struct WgmmaOperation {
    unsigned n; /* 8 .. 256, a multiple of 8 */
    MmaElement element;
    const uint8_t *shared;    /* host bytes of shared address 0 */
    const uint32_t *const *a; /* 4 registers, or NULL: A is a_tile */
    WgmmaTile a_tile;         /* 16 rows: first = 16 * (warp % 4) */
    WgmmaTile b_tile;         /* n rows */
    bool accumulate;          /* scale-d: D = A B + D, else D = A B */
    bool negate_a, negate_b;  /* imm-scale-a, imm-scale-b are -1 */
} WgmmaOperation;

/* fp32 accumulators: D has n / 2 registers. Reads D from c[] if accumulate, writes it to d[];
 * they may be the same registers. The executor shows d to the program at the wait. */
void wgmma_f32(const WgmmaOperation *operation, uint32_t *const d[], const uint32_t *const c[]);

/* fp16 accumulators: D has n / 4 registers, rounded once an instruction. */
void wgmma_f16(const WgmmaOperation *operation, uint32_t *const d[], const uint32_t *const c[]);

#endif
