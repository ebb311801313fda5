/* Tensor maps (the 128 opaque bytes of a CUtensorMap) and the copies they describe.
 *
 * Encoding checks what cuTensorMapEncodeTiled checks: CUDA driver API, "Tensor Map Object
 * Management". Numbers are the driver's enumerators, given as int so that this file needs no
 * <cuda.h>. A copy goes through the box row by row (a row runs along dimension 0), so that its
 * executor moves memory a row at a time; elements outside the tensor load as zero and do not store.
 */
#ifndef PTXSIM_TENSORMAP_H
#define PTXSIM_TENSORMAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TENSORMAP_BYTES = 128,
    TENSORMAP_ALIGNMENT = 64,         /* of the map itself */
    TENSORMAP_SHARED_ALIGNMENT = 128, /* of a box in shared memory; the hardware faults otherwise */
    TENSORMAP_MAX_RANK = 5,
    FIRST_CONVERTED = 10, /* CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ; TFLOAT32 and its _FTZ follow */
};

/* How 16-byte chunks are permuted in shared memory; the driver's CU_TENSOR_MAP_SWIZZLE_*. */
typedef enum Swizzle { SWIZZLE_NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B } Swizzle;

/* Our packing; dimension 0 is the contiguous one. */
typedef struct TensorMap {
    uint64_t magic;
    uint64_t base;                       /* global address of element (0, ..., 0) */
    uint64_t stride[TENSORMAP_MAX_RANK]; /* bytes from one element to the next of a dimension */
    uint32_t size[TENSORMAP_MAX_RANK];   /* elements, minus 1: a dimension may hold 2^32 */
    uint16_t box[TENSORMAP_MAX_RANK];    /* elements of a copy, 1 .. 256 */
    uint8_t step[TENSORMAP_MAX_RANK];    /* traversal stride: every step-th element; [0] is 1 */
    uint8_t rank;
    uint8_t element_bytes;
    uint8_t swizzle;  /* a Swizzle */
    uint8_t fill_nan; /* out-of-bounds elements load as NaN, not zero */
    uint8_t element_type;
} TensorMap;

/* The arguments of cuTensorMapEncodeTiled after the map. `strides` (bytes) has rank - 1 entries,
 * for dimensions 1 and up; the other arrays have rank entries. */
typedef struct TensorMapRequest {
    int element_type; /* CUtensorMapDataType */
    uint32_t rank;
    void *base;
    const uint64_t *sizes;
    const uint64_t *strides;
    const uint32_t *box;
    const uint32_t *steps; /* CUDA's elementStrides, 1 .. 8 */
    int interleave;        /* CUtensorMapInterleave; only 0, none, is supported */
    int swizzle;           /* CUtensorMapSwizzle, 0 .. 3 */
    int l2_promotion;
    int fill; /* CUtensorMapFloatOOBfill */
} TensorMapRequest;

/* Packs a request into `map` (TENSORMAP_BYTES, aligned to TENSORMAP_ALIGNMENT). Returns NULL, or
 * one sentence that says which argument the driver would refuse (CUDA_ERROR_INVALID_VALUE) and why;
 * then `map` is not written. */
const char *tensormap_encode(void *map, const TensorMapRequest *request);

/* Whether two elements of the tensor have one address, or may have. The driver does not ask; where
 * the strides of a contiguous tensor say so, one of them was computed wrong. */
bool tensormap_overlaps(const TensorMapRequest *request);

/* Unpacks `bytes` (any alignment); false if they are not a tensor map. */
bool tensormap_decode(const void *bytes, TensorMap *map);

/* Bytes of a whole box in shared memory, which is also what it adds to an mbarrier's tx-count. */
uint32_t tensormap_box_bytes(const TensorMap *map);

/* One row of a box, clipped to the tensor. If `count` is 0 nothing of it is inside. */
typedef struct TensorRow {
    uint64_t global;     /* address of the first element inside the tensor */
    uint32_t box_offset; /* bytes from the start of the box to the row, before swizzling */
    uint32_t first;      /* elements of the row before the first one inside */
    uint32_t count;      /* elements inside */
} TensorRow;

typedef struct TensorRows {
    const TensorMap *map;
    int64_t start[TENSORMAP_MAX_RANK];
    uint32_t at[TENSORMAP_MAX_RANK];
    uint32_t box_offset;
    bool done;
} TensorRows;

/* Begins a walk over the rows of the box at element coordinates start[0..rank); any may be
 * negative. `map` must outlive the walk. */
TensorRows tensor_rows(const TensorMap *map, const int32_t start[]);

/* The next row, in the order of its place in shared memory; false after the last one. */
bool tensor_rows_next(TensorRows *rows, TensorRow *row);

/* The shared-memory address of unswizzled address `address`: chunk bits 4-6 are XORed with
 * address bits 7-9, by as many bits as the mode has. */
static inline uint32_t swizzle_address(uint32_t address, Swizzle swizzle) {
    uint32_t chunks = (1u << (unsigned)swizzle) - 1; /* 0, 1, 3, 7 */
    return address ^ ((address >> 7 & chunks) << 4);
}

/* Moves one row between global memory and `shared`, the host bytes of shared address 0, for a box
 * at shared address `box`. The caller has checked both ranges. A load also writes the fill for
 * elements outside the tensor; a store leaves global memory outside alone. */
void tensor_row_load(const TensorMap *map, const TensorRow *row, uint8_t *shared, uint32_t box);
void tensor_row_store(const TensorMap *map, const TensorRow *row, const uint8_t *shared,
                      uint32_t box);

#endif
