/* Tensor maps. Catches: an argument the driver refuses let through, a box clipped wrongly at any
 * side, a swizzle that is not the hardware's, a store outside the tensor, a stride that overflowed.
 */
#include <stdint.h>

#include "machine/tensormap.h"
#include "test/tap.h"

enum { F32 = 7, F16 = 6, U8 = 0, U16 = 1 };
enum { MAX = TENSORMAP_MAX_RANK };

typedef struct Arguments {
    uint64_t sizes[MAX], strides[MAX];
    uint32_t box[MAX], steps[MAX];
    TensorMapRequest request;
} Arguments;

static _Alignas(64) uint8_t encoded[TENSORMAP_BYTES];
static _Alignas(16) uint16_t tensor[5 * 4 * 64];
static uint8_t shared[64 * 1024];
enum { BOX = 2048 };

/* A valid request: fp16 [5][4][24], rows 64 elements apart, boxes of [2][3][16]. */
static void fill_valid(Arguments *a) {
    *a = (Arguments){
        .sizes = {24, 4, 5}, .strides = {128, 512}, .box = {16, 3, 2}, .steps = {1, 1, 1}};
    a->request = (TensorMapRequest){.element_type = F16,
                                    .rank = 3,
                                    .base = tensor,
                                    .sizes = a->sizes,
                                    .strides = a->strides,
                                    .box = a->box,
                                    .steps = a->steps};
}

#define REFUSED(change, word)                                                             \
    do {                                                                                  \
        Arguments a;                                                                      \
        fill_valid(&a);                                                                   \
        change;                                                                           \
        const char *why = tensormap_encode(encoded, &a.request);                          \
        ok(why &&strstr(why, word), "refused: %s (%s)", #change, why ? why : "accepted"); \
    } while (0)

static void test_arguments(void) {
    Arguments valid;
    TensorMap map;
    fill_valid(&valid);
    ok(tensormap_encode(encoded, &valid.request) == NULL, "a valid request");
    ok(tensormap_decode(encoded, &map) && map.rank == 3 && map.element_bytes == 2 &&
           map.box[1] == 3,
       "decodes");
    is_int(tensormap_box_bytes(&map), 2 * 3 * 16 * 2, "bytes of a box");
    memset(encoded, 0, sizeof encoded);
    ok(!tensormap_decode(encoded, &map), "zeros are not a tensor map");
    ok(tensormap_encode(encoded + 32, &valid.request) != NULL, "a misaligned map");

    REFUSED(a.request.rank = 0, "rank");
    REFUSED(a.request.rank = 6, "rank");
    REFUSED(a.request.element_type = 13, "type");
    REFUSED(a.request.base = (uint8_t *)tensor + 8, "address");
    REFUSED(a.request.interleave = 1, "INTERLEAVE");
    REFUSED(a.request.swizzle = 4, "swizzle");
    REFUSED(a.request.l2_promotion = 4, "L2");
    REFUSED(a.request.fill = 2, "fill");
    REFUSED((a.request.fill = 1, a.request.element_type = U16), "fill");
    REFUSED(a.sizes[1] = 0, "dimension");
    REFUSED(a.sizes[2] = (1ull << 32) + 1, "dimension");
    REFUSED(a.strides[0] = 120, "stride");
    REFUSED(a.strides[1] = 1ull << 40, "stride");
    REFUSED(a.box[0] = 0, "box");
    REFUSED(a.box[2] = 257, "box");
    REFUSED(a.box[0] = 12, "16 bytes");
    REFUSED(a.steps[1] = 0, "element stride");
    REFUSED(a.steps[1] = 9, "element stride");
    REFUSED((a.request.swizzle = SWIZZLE_32B, a.box[0] = 24), "of the swizzle");
    REFUSED((a.request.swizzle = SWIZZLE_128B, a.box[0] = 72), "of the swizzle");
    REFUSED((a.request.swizzle = SWIZZLE_64B, a.box[0] = 40), "of the swizzle");
    REFUSED(a.request.swizzle = -1, "swizzle");
    REFUSED(a.request.element_type = -1, "type");
    REFUSED(a.request.l2_promotion = -1, "L2");
    REFUSED(a.request.fill = -1, "fill");
}

/* What is just allowed, and the bytes of all types. */
static void test_limits(void) {
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    Arguments a;
    TensorMap map;
    for (int type = 0; type < 13; type++) {
        fill_valid(&a);
        a.request.element_type = type;
        ok(!tensormap_encode(encoded, &a.request) && tensormap_decode(encoded, &map) &&
               map.element_bytes == bytes[type] && map.element_type == type &&
               map.stride[0] == bytes[type],
           "type %d has %d bytes", type, bytes[type]);
        a.request.fill = 1;
        ok((tensormap_encode(encoded, &a.request) == NULL) == (type >= F16), "NaN %s one",
           type < F16 ? "is not" : "is");
    }
#define ALLOWED(change)                                             \
    do {                                                            \
        fill_valid(&a);                                             \
        change;                                                     \
        const char *why = tensormap_encode(encoded, &a.request);    \
        ok(!why, "allowed: %s (%s)", #change, why ? why : "it is"); \
    } while (0)
    ALLOWED((a.request.rank = 1, a.sizes[1] = 0));
    ALLOWED((a.request.rank = 5,
             a.sizes[3] = a.sizes[4] = a.box[3] = a.box[4] = a.steps[3] = a.steps[4] = 1));
    ALLOWED(a.request.l2_promotion = 3);
    ALLOWED(a.sizes[2] = 1ull << 32);
    ALLOWED(a.sizes[1] = 1);
    ALLOWED(a.strides[1] = (1ull << 40) - 16);
    ALLOWED(a.box[2] = 256);
    ALLOWED(a.steps[1] = 8);
    ALLOWED((a.request.swizzle = SWIZZLE_32B, a.box[0] = 16));
    ALLOWED((a.request.swizzle = SWIZZLE_64B, a.box[0] = 32));
    ALLOWED((a.request.swizzle = SWIZZLE_128B, a.box[0] = 64));
    fill_valid(&a);
    a.steps[0] = a.steps[1] = 2;
    ok(!tensormap_encode(encoded, &a.request) && tensormap_decode(encoded, &map) &&
           map.step[0] == 1 && map.step[1] == 2 && map.rank == 3 && map.size[0] == 23 &&
           map.size[2] == 4 && map.stride[1] == 128 && map.stride[2] == 512 &&
           map.base == (uintptr_t)tensor && !map.fill_nan,
       "what is encoded is there");
    is_int(tensormap_box_bytes(&map), 2 * 2 * 16 * 2, "every second row of three is two");
}

static TensorMap make(const Arguments *a) {
    TensorMap map = {0};
    ok(tensormap_encode(encoded, &a->request) == NULL && tensormap_decode(encoded, &map), "encode");
    return map;
}

/* Element (x, y, z) of the tensor, or what lies outside of it. */
static uint16_t expected(const Arguments *a, int64_t x, int64_t y, int64_t z, uint16_t outside) {
    bool inside = x >= 0 && y >= 0 && z >= 0 && x < (int64_t)a->sizes[0] &&
                  y < (int64_t)a->sizes[1] && z < (int64_t)a->sizes[2];
    return inside ? tensor[x + y * 64 + z * 256] : outside;
}

static uint16_t shared_at(uint32_t address) {
    uint16_t value;
    memcpy(&value, shared + address, sizeof value);
    return value;
}

/* Loads the box at every start around the tensor and compares each element. */
static void test_load(const Arguments *a, uint16_t outside, const char *what) {
    TensorMap map = make(a);
    int wrong = 0, boxes = 0;
    for (int32_t z = -3; z < 7; z++)
        for (int32_t y = -4; y < 6; y++)
            for (int32_t x = -20; x < 30; x++, boxes++) {
                TensorRows rows = tensor_rows(&map, (int32_t[]){x, y, z});
                TensorRow row;
                memset(shared + BOX, 0xcc, tensormap_box_bytes(&map));
                while (tensor_rows_next(&rows, &row)) tensor_row_load(&map, &row, shared, BOX);
                uint32_t plain = BOX;
                for (uint32_t k = 0; k < a->box[2]; k++)
                    for (uint32_t j = 0; j < a->box[1]; j += a->steps[1])
                        for (uint32_t i = 0; i < a->box[0]; i++, plain += 2)
                            wrong += shared_at(swizzle_address(plain, map.swizzle)) !=
                                     expected(a, (int64_t)x + i, (int64_t)y + j, (int64_t)z + k,
                                              outside);
            }
    ok(wrong == 0, "%s: %d boxes in and around the tensor (%d elements wrong)", what, boxes, wrong);
}

static void test_loads(void) {
    Arguments a;
    fill_valid(&a);
    test_load(&a, 0, "plain");
    a.request.fill = 1;
    test_load(&a, 0x7ff7, "NaN fill");
    fill_valid(&a);
    a.request.swizzle = SWIZZLE_32B;
    test_load(&a, 0, "32-byte swizzle");
    a.box[0] = 32;
    a.request.swizzle = SWIZZLE_64B;
    test_load(&a, 0, "64-byte swizzle");
    a.box[0] = 64;
    a.request.swizzle = SWIZZLE_128B;
    test_load(&a, 0, "128-byte swizzle, rows wider than the tensor");
    fill_valid(&a);
    a.steps[1] = 2;
    test_load(&a, 0, "every second row");
}

/* Storing a box writes the tensor's elements in it and nothing else. */
static void test_store(void) {
    Arguments a;
    fill_valid(&a);
    TensorMap map = make(&a);
    int wrong = 0;
    for (int32_t y = -3; y < 5; y++)
        for (int32_t x = -17; x < 26; x++) {
            memset(tensor, 0, sizeof tensor);
            memset(shared + BOX, 0x11, tensormap_box_bytes(&map));
            TensorRows rows = tensor_rows(&map, (int32_t[]){x, y, 4});
            TensorRow row;
            while (tensor_rows_next(&rows, &row)) tensor_row_store(&map, &row, shared, BOX);
            for (int k = 0; k < 5; k++)
                for (int j = 0; j < 4; j++)
                    for (int i = 0; i < 64; i++) {
                        bool written =
                            i < 24 && i >= x && i < x + 16 && j >= y && j < y + 3 && k == 4;
                        wrong += tensor[i + j * 64 + k * 256] != (written ? 0x1111 : 0);
                    }
        }
    ok(wrong == 0, "stores are clipped to the tensor (%d elements wrong)", wrong);
}

static void test_rows(void) {
    Arguments a;
    fill_valid(&a);
    TensorMap map = make(&a);
    TensorRows rows = tensor_rows(&map, (int32_t[]){-2, 2, 4});
    TensorRow row;
    ok(tensor_rows_next(&rows, &row) && row.first == 2 && row.count == 14 && row.box_offset == 0 &&
           row.global == (uint64_t)(uintptr_t)&tensor[2 * 64 + 4 * 256],
       "the first row, clipped on the left");
    tensor_rows_next(&rows, &row);
    tensor_rows_next(&rows, &row);
    ok(row.count == 0 && row.box_offset == 64, "the third row is below the tensor");
    int left = 0;
    while (tensor_rows_next(&rows, &row)) left += row.count == 0;
    is_int(left, 3, "three rows more, all behind it");
    ok(swizzle_address(0x380, SWIZZLE_128B) == 0x3f0 &&
           swizzle_address(0x380, SWIZZLE_64B) == 0x3b0 &&
           swizzle_address(0x380, SWIZZLE_32B) == 0x390 &&
           swizzle_address(0x380, SWIZZLE_NONE) == 0x380,
       "the swizzle of address 0x380");
}

/* Of the valid request with other sizes and strides. */
static bool overlaps(uint64_t inner, uint64_t middle, uint64_t outer, uint64_t stride,
                     uint64_t outer_stride) {
    Arguments a;
    fill_valid(&a);
    a.sizes[0] = inner, a.sizes[1] = middle, a.sizes[2] = outer;
    a.strides[0] = stride, a.strides[1] = outer_stride;
    return tensormap_overlaps(&a.request);
}

static void test_overlaps(void) {
    ok(!overlaps(24, 4, 5, 128, 512), "rows with room between them");
    ok(!overlaps(64, 4, 5, 128, 512), "rows one behind the other");
    ok(overlaps(65, 4, 5, 128, 512), "a row that is too long");
    ok(overlaps(64, 5, 5, 128, 512) && !overlaps(64, 5, 5, 128, 640), "a head that is too long");
    ok(overlaps(64, 4, 5, 128, 0) && overlaps(64, 4, 5, 0, 512), "a stride of nothing");
    ok(!overlaps(64, 4, 1, 128, 0) && !overlaps(64, 1, 5, 0, 512), "where nothing is stepped over");
    ok(!overlaps(64, 5, 4, 512, 128) && overlaps(64, 5, 5, 512, 128), "panels before rows");
    ok(!overlaps(64, 1 << 24, 2, 128, 1ull << 31) && overlaps(64, 1 << 24, 2, 128, 1ull << 30),
       "2^31 bytes");
}

int main(void) {
    for (unsigned i = 0; i < sizeof tensor / sizeof *tensor; i++) tensor[i] = (uint16_t)(i + 1);
    test_arguments();
    test_limits();
    test_loads();
    test_rows();
    test_store();
    test_overlaps();
    return done_testing();
}
