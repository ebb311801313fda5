/* Which tiles of a record share a layout, and which tensor an address is in. Catches: a box that
 * sticks out of its tensor and is taken for a whole one, whole boxes that are told apart, the
 * farther of two pointers into one allocation. */
#include "machine/memory/memory.h"
#include "report/record.h"
#include "test/tap.h"

enum { WIDTH = 64, ROWS = 160, BOX_WIDTH = 32, BOX_ROWS = 64 };

static Record record;
static Bulk bulk;

/* The layout of the box that begins there. */
static int box_at(int column, int row) {
    bulk.start[0] = column;
    bulk.start[1] = row;
    return record_box(&record, &bulk, 0);
}

static void test_boxes(void) {
    static const Instruction source;
    static const Op op = {.source = &source};
    bulk = (Bulk){.op = &op,
                  .map = {.base = 1 << 20,
                          .stride = {2, 2 * WIDTH},
                          .size = {WIDTH - 1, ROWS - 1},
                          .box = {BOX_WIDTH, BOX_ROWS},
                          .step = {1, 1},
                          .rank = 2,
                          .element_bytes = 2},
                  .shared = 4096,
                  .bytes = 2 * BOX_WIDTH * BOX_ROWS};
    const int inside = box_at(0, 0);
    ok(box_at(0, 1) == inside && box_at(31, 64) == inside, "boxes inside have one layout");
    ok(box_at(WIDTH - BOX_WIDTH, ROWS - BOX_ROWS) == inside, "and one that ends with the tensor");
    const int outside[] = {box_at(0, ROWS - BOX_ROWS + 1),
                           box_at(WIDTH - BOX_WIDTH + 1, 0),
                           box_at(WIDTH - BOX_WIDTH + 1, ROWS - BOX_ROWS + 1),
                           box_at(-1, 0),
                           box_at(0, -1),
                           box_at(0, ROWS - BOX_ROWS + 2)};
    enum { OUTSIDE = sizeof outside / sizeof *outside };
    int same = 0;
    for (int i = 0; i < OUTSIDE; i++) {
        same += outside[i] == inside;
        for (int k = 0; k < i; k++) same += outside[i] == outside[k];
    }
    ok(same == 0 && record.layout.count == 1 + OUTSIDE, "each that sticks out has its own");
    ok(box_at(1, ROWS - BOX_ROWS + 1) == outside[0], "wherever its other side is");
    bulk.shared += 1024;
    is_int(box_at(0, 0), inside, "the next place of the same swizzle");
    bulk.shared += 512;
    ok(box_at(0, 0) == 1 + OUTSIDE, "another phase of the swizzle");
}

/* A row of a box of 4 by 16 bytes: where its chunks are. */
static bool has_row(const Layout *layout, unsigned row, const int64_t expected[4]) {
    if (memcmp(&layout->offset[4 * row], expected, 4 * sizeof *expected) == 0) return true;
    for (unsigned i = 0; i < 4; i++) printf("# %lld\n", (long long)layout->offset[4 * row + i]);
    return false;
}

/* The places of chunks count from where the box begins, though that is before the tensor. */
static void test_places(void) {
    static const Instruction sources[2];
    static const Op ops[] = {{.source = &sources[0]}, {.source = &sources[1]}};
    const int64_t none[] = {NO_CHUNK, NO_CHUNK, NO_CHUNK, NO_CHUNK};
    bulk.op = &ops[0];
    bulk.shared = 8192;
    const uint64_t base = bulk.map.base, pitch = bulk.map.stride[1];
    bulk.start[0] = -3, bulk.start[1] = -2;
    const int before = record_box(&record, &bulk, base - 2 * pitch - 6);
    const Layout *layout = &record.layout.at[before];
    is_int(layout->chunks, 4 * BOX_ROWS, "a chunk for each 16 bytes");
    ok(has_row(layout, 0, none) && has_row(layout, 1, none),
       "rows before the tensor have no place");
    ok(has_row(layout, 2, (int64_t[]){256, 272, 288, 304}) &&
           has_row(layout, 63, (int64_t[]){8064, 8080, 8096, 8112}),
       "the others are where they are");
    bulk.start[0] = 40, bulk.start[1] = 100;
    layout = &record.layout.at[record_box(&record, &bulk, base + 100 * pitch + 80)];
    ok(has_row(layout, 0, (int64_t[]){0, 16, 32, 48}) &&
           has_row(layout, 59, (int64_t[]){7552, 7568, 7584, 7600}) && has_row(layout, 60, none),
       "a box that ends behind the tensor");
    bulk.start[0] = bulk.start[1] = 0;
    bulk.map.swizzle = SWIZZLE_64B;
    bulk.map.base += 4096;
    const int another = record_box(&record, &bulk, base + 4096);
    layout = &record.layout.at[another];
    ok(another == record.layout.count - 1, "a tensor at another place has a layout of its own");
    ok(has_row(layout, 0, (int64_t[]){0, 16, 32, 48}) &&
           has_row(layout, 2, (int64_t[]){272, 256, 304, 288}) &&
           has_row(layout, 7, (int64_t[]){944, 928, 912, 896}),
       "a swizzle changes chunks of a row");
    bulk.op = &ops[1];
    ok(record_box(&record, &bulk, base + 4096) == another + 1, "so has another instruction");
    bulk.op = &ops[0];
    is_int(record_box(&record, &bulk, base + 4096), another, "the first one is known");
    bulk.map.rank = 0;
    is_int(record_box(&record, &bulk, base), -1, "plain bytes have no layout");
}

/* A box in three dimensions all of whose numbers are those of an operand of a product. */
static void test_kinds(void) {
    static const Instruction source;
    static const Op op = {.source = &source};
    const WgmmaTile tile = {{2048 + 512, 128, 256, 0, 0}, 0, 8, false};
    bulk = (Bulk){.op = &op,
                  .map = {.base = (uint64_t)(uintptr_t)&source ^ 128,
                          .stride = {2, 16, 64},
                          .size = {7, 3, 8},
                          .box = {8, 4, 8},
                          .step = {1, 1, 1},
                          .rank = 3,
                          .element_bytes = 2},
                  .start = {0, 0, 8},
                  .shared = 4096 + 256,
                  .bytes = 512};
    const int operand = record_operand(&record, &tile);
    const int box = record_box(&record, &bulk, 0);
    ok(operand == record.layout.count - 2 && box == operand + 1, "a box is no operand");
    is_int(record.layout.at[operand].chunks, 16, "of which each half row is a chunk");
    ok(record_operand(&record, &tile) == operand && record_box(&record, &bulk, 0) == box,
       "each is found again");
}

/* Two pointers into one allocation, in either order, and one into another. */
static void test_tensors(void) {
    static Tensor near[] = {{0, 1000, 900, 2000}, {1, 1200, 900, 2000}, {2, 5000, 5000, 6000}};
    static const struct {
        uint64_t address;
        int tensor;
        int64_t offset;
    } cases[] = {{1000, 0, 0},   {1199, 0, 199},   {1200, 1, 0},   {1999, 1, 799},  {5000, 2, 0},
                 {5999, 2, 999}, {2000, -1, 2000}, {899, -1, 899}, {4999, -1, 4999}};
    for (int turned = 0; turned < 2; turned++) {
        int wrong = 0;
        record.tensor.at = near;
        record.tensor.count = 3;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int64_t offset;
            const int found = record_tensor(&record, cases[i].address, &offset);
            const int parameter = found < 0 ? -1 : near[found].parameter;
            wrong += parameter != cases[i].tensor || offset != cases[i].offset;
        }
        ok(wrong == 0, "the nearest pointer before an address (%d wrong)", wrong);
        const Tensor first = near[0];
        near[0] = near[1];
        near[1] = first;
    }
}

int main(void) {
    test_boxes();
    test_places();
    test_kinds();
    test_tensors();
    return done_testing();
}
