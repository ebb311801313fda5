#include "machine/tensormap.h"

#include <stddef.h>
#include <string.h>

static const uint64_t MAGIC = 0x70616d726f736e74; /* "tnsormap" */
enum { FIRST_FLOAT = 6, TYPE_COUNT = 13 };
enum { MAX_BOX = 256, MAX_STEP = 8, CHUNK = 16 };

_Static_assert(sizeof(TensorMap) <= TENSORMAP_BYTES, "a tensor map fits its 128 bytes");

/* By CUtensorMapDataType: u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 f32_ftz tf32 tf32_ftz. */
static const uint8_t type_bytes[TYPE_COUNT] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

/* The most bytes along dimension 0 of a box, by Swizzle; 0: no limit. */
static const uint32_t swizzle_span[] = {0, 32, 64, 128};

static const char *check_modes(const TensorMapRequest *request) {
    if (request->element_type < 0 || request->element_type >= TYPE_COUNT)
        return "the element type is not one of the 13 of CUtensorMapDataType";
    if (request->rank < 1 || request->rank > TENSORMAP_MAX_RANK) return "the rank must be 1 to 5";
    if (request->interleave != 0) return "only CU_TENSOR_MAP_INTERLEAVE_NONE is supported";
    if (request->swizzle < SWIZZLE_NONE || request->swizzle > SWIZZLE_128B)
        return "the swizzle must be none, 32B, 64B or 128B";
    if (request->l2_promotion < 0 || request->l2_promotion > 3)
        return "the L2 promotion must be one of CUtensorMapL2promotion";
    if (request->fill < 0 || request->fill > 1) return "the out-of-bounds fill must be 0 or 1";
    if (request->fill == 1 && request->element_type < FIRST_FLOAT)
        return "the NaN fill needs a floating-point element type";
    if ((uintptr_t)request->base % 16) return "the global address must be a multiple of 16";
    return NULL;
}

static const char *check_dimension(const TensorMapRequest *request, uint32_t i) {
    if (request->sizes[i] < 1 || request->sizes[i] > 1ull << 32)
        return "every dimension must be 1 to 2^32 elements";
    if (request->box[i] < 1 || request->box[i] > MAX_BOX)
        return "every box dimension must be 1 to 256 elements";
    if (request->steps[i] < 1 || request->steps[i] > MAX_STEP)
        return "every element stride must be 1 to 8";
    if (i == 0) return NULL;
    if (request->strides[i - 1] % 16) return "every global stride must be a multiple of 16 bytes";
    if (request->strides[i - 1] >= 1ull << 40)
        return "every global stride must be below 2^40 bytes";
    return NULL;
}

static const char *check(const TensorMapRequest *request) {
    const char *problem = check_modes(request);
    for (uint32_t i = 0; !problem && i < request->rank; i++) problem = check_dimension(request, i);
    if (problem) return problem;
    uint32_t row = request->box[0] * type_bytes[request->element_type];
    uint32_t span = swizzle_span[request->swizzle];
    if (row % CHUNK) return "a box row (box dimension 0) must be a multiple of 16 bytes";
    if (span && row > span)
        return "a box row (box dimension 0) is longer than the 32, 64 or 128 bytes of the swizzle";
    return NULL;
}

const char *tensormap_encode(void *map, const TensorMapRequest *request) {
    if ((uintptr_t)map % TENSORMAP_ALIGNMENT) return "the tensor map must be aligned to 64 bytes";
    const char *problem = check(request);
    if (problem) return problem;

    TensorMap packed = {.magic = MAGIC, .base = (uint64_t)(uintptr_t)request->base};
    packed.rank = (uint8_t)request->rank;
    packed.element_type = (uint8_t)request->element_type;
    packed.element_bytes = type_bytes[request->element_type];
    packed.swizzle = (uint8_t)request->swizzle;
    packed.fill_nan = request->fill == 1;
    /* the driver ignores the element stride of dimension 0: its hardware steps by one there */
    for (uint32_t i = 0; i < request->rank; i++) {
        packed.size[i] = (uint32_t)(request->sizes[i] - 1);
        packed.stride[i] = i == 0 ? packed.element_bytes : request->strides[i - 1];
        packed.box[i] = (uint16_t)request->box[i];
        packed.step[i] = (uint8_t)(i == 0 ? 1 : request->steps[i]);
    }
    memset(map, 0, TENSORMAP_BYTES);
    memcpy(map, &packed, sizeof packed);
    return NULL;
}

/* Dimensions in the order of their strides: each must step over all that those before hold. */
bool tensormap_overlaps(const TensorMapRequest *request) {
    double held = (double)request->sizes[0] * type_bytes[request->element_type];
    bool counted[TENSORMAP_MAX_RANK] = {true};
    for (uint32_t n = 1; n < request->rank; n++) {
        uint32_t next = 0;
        for (uint32_t i = 1; i < request->rank; i++)
            if (!counted[i] && (!next || request->strides[i - 1] < request->strides[next - 1]))
                next = i;
        counted[next] = true;
        const double stride = (double)request->strides[next - 1];
        if (request->sizes[next] > 1 && stride < held) return true;
        held += (double)(request->sizes[next] - 1) * stride;
    }
    return false;
}

bool tensormap_decode(const void *bytes, TensorMap *map) {
    memcpy(map, bytes, sizeof *map);
    return map->magic == MAGIC;
}

/* With a traversal stride of n a box of b elements holds every n-th of them: ceil(b / n). */
static uint32_t box_elements(const TensorMap *map, unsigned i) {
    return (map->box[i] + map->step[i] - 1u) / map->step[i];
}

uint32_t tensormap_box_bytes(const TensorMap *map) {
    uint32_t bytes = map->element_bytes;
    for (unsigned i = 0; i < map->rank; i++) bytes *= box_elements(map, i);
    return bytes;
}

TensorRows tensor_rows(const TensorMap *map, const int32_t start[]) {
    TensorRows rows = {.map = map};
    for (unsigned i = 0; i < map->rank; i++) rows.start[i] = start[i];
    return rows;
}

/* Steps to the next row like an odometer whose fastest wheel is dimension 1. */
static void advance(TensorRows *rows) {
    const TensorMap *map = rows->map;
    rows->box_offset += (uint32_t)map->box[0] * map->element_bytes;
    for (unsigned i = 1; i < map->rank; i++) {
        if (++rows->at[i] < box_elements(map, i)) return;
        rows->at[i] = 0;
    }
    rows->done = true;
}

bool tensor_rows_next(TensorRows *rows, TensorRow *row) {
    if (rows->done) return false;
    const TensorMap *map = rows->map;
    *row = (TensorRow){.global = map->base, .box_offset = rows->box_offset};
    bool inside = true;
    for (unsigned i = 1; i < map->rank; i++) {
        int64_t index = rows->start[i] + (int64_t)rows->at[i] * map->step[i];
        inside = inside && index >= 0 && index <= map->size[i];
        row->global += (uint64_t)index * map->stride[i];
    }

    int64_t start = rows->start[0], end = start + map->box[0];
    int64_t first = start > 0 ? start : 0;
    if (end > (int64_t)map->size[0] + 1) end = (int64_t)map->size[0] + 1;
    if (inside && first < end) {
        row->first = (uint32_t)(first - start);
        row->count = (uint32_t)(end - first);
        row->global += (uint64_t)first * map->element_bytes;
    }
    advance(rows);
    return true;
}

enum { MAX_ROW = MAX_BOX * 8, NAN_FILL = 0x7ff7 }; /* as an H100 fills, of any type */

/* A row goes through `line`, where it lies before swizzling. */
void tensor_row_load(const TensorMap *map, const TensorRow *row, uint8_t *shared, uint32_t box) {
    uint8_t line[MAX_ROW];
    uint32_t size = map->element_bytes, bytes = map->box[0] * size;
    uint32_t address = box + row->box_offset;
    const uint16_t fill = map->fill_nan ? NAN_FILL : 0;
    for (uint32_t i = 0; i < bytes; i += sizeof fill) memcpy(line + i, &fill, sizeof fill);
    memcpy(line + row->first * size, (const void *)(uintptr_t)row->global, row->count * size);
    for (uint32_t i = 0; i < bytes; i += CHUNK)
        memcpy(shared + swizzle_address(address + i, map->swizzle), line + i, CHUNK);
}

void tensor_row_store(const TensorMap *map, const TensorRow *row, const uint8_t *shared,
                      uint32_t box) {
    uint8_t line[MAX_ROW];
    uint32_t size = map->element_bytes, bytes = map->box[0] * size;
    uint32_t address = box + row->box_offset;
    for (uint32_t i = 0; i < bytes; i += CHUNK)
        memcpy(line + i, shared + swizzle_address(address + i, map->swizzle), CHUNK);
    memcpy((void *)(uintptr_t)row->global, line + row->first * size, row->count * size);
}
