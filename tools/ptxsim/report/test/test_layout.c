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
    test_tensors();
    return done_testing();
}
