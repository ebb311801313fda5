/* Which tiles of a record share a layout, and which tensor an address is in. Catches: a box that
 * sticks out of its tensor and is taken for a whole one, whole boxes that are told apart, the
 * farther of two pointers into one allocation. */
#include "machine/memory/memory.h"
#include "report/record.h"
#include "test/run_ptx.h"
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
    static const Instruction sources[2];
    static const Op ops[] = {{.source = &sources[0]}, {.source = &sources[1]}};
    bulk = (Bulk){.op = &ops[0],
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
                           box_at(0, ROWS - BOX_ROWS + 2),
                           box_at(0, ROWS - BOX_ROWS + 3),
                           box_at(0, INT32_MIN + ROWS - BOX_ROWS + 3)};
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
    bulk.shared -= 512;
    bulk.start[2] = -1;
    ok(box_at(0, 0) == inside && box_at(-1, 0) == outside[3], "a dimension that is not there");
    bulk.start[2] = 0;
    bulk.map.box[1] = BOX_ROWS / 2, bulk.bytes /= 2;
    is_int(box_at(-1, 0), 2 + OUTSIDE, "half of a box that is before its tensor");
    is_int(box_at(0, -1), 3 + OUTSIDE, "or above it");
    bulk.map.box[1] = BOX_ROWS, bulk.bytes *= 2;
    bulk.op = &ops[1];
    is_int(box_at(-1, 0), 4 + OUTSIDE, "one of another instruction");
    bulk.op = &ops[0];
    bulk.shared += 512;
    is_int(box_at(0, -1), 5 + OUTSIDE, "or of another phase");
    bulk.shared -= 512;
}

/* A box in all dimensions that ends behind its tensor in the last one. */
static void test_dimensions(void) {
    static const Instruction source;
    static const Op op = {.source = &source};
    Bulk most = {.op = &op,
                 .map = {.base = 1 << 20,
                         .stride = {2, 16, 32, 64, 128},
                         .size = {7, 1, 1, 1, 1},
                         .box = {8, 2, 2, 2, 2},
                         .step = {1, 1, 1, 1, 1},
                         .rank = 5,
                         .element_bytes = 2},
                 .shared = 4096,
                 .bytes = 256};
    const int inside = record_box(&record, &most, 1 << 20);
    most.start[4] = 1;
    const int outside = record_box(&record, &most, (1 << 20) + 128);
    const int64_t *offset = record.layout.at[outside].offset;
    ok(outside == inside + 1 && record_box(&record, &most, 0) == outside, "in five dimensions");
    ok(offset[0] == 0 && offset[7] == 112 && offset[8] == NO_CHUNK && offset[15] == NO_CHUNK,
       "the half outside has no place");
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
    static Tensor near[] = {
        {0, 1000, 900, 2000}, {1, 1200, 900, 2000}, {2, 5000, 5000, 6000}, {3, 8100, 8000, 9000}};
    static const struct {
        uint64_t address;
        int tensor;
        int64_t offset;
    } cases[] = {{1000, 0, 0},     {1199, 0, 199},  {1200, 1, 0},     {1999, 1, 799},
                 {5000, 2, 0},     {5999, 2, 999},  {2000, -1, 2000}, {899, -1, 899},
                 {4999, -1, 4999}, {8000, 3, -100}, {8999, 3, 899}};
    for (int turned = 0; turned < 2; turned++) {
        int wrong = 0;
        record.tensor.at = near;
        record.tensor.count = 4;
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

/* What parameters point to: of an allocation the last byte, and its end; numbers; tensor maps, and
 * what only begins as one. Variables of the first instruction and of the last. */
static void test_kernel(void) {
    static const char text[] =
        PTX_HEAD ".global .align 4 .b8 other[4];\n"
                 ".visible .entry k(.param .u64 last, .param .u64 end, .param .u32 number, "
                 ".param .align 64 .b8 map[128], .param .align 64 .b8 zeros[128], "
                 ".param .align 64 .b8 more[256])\n{\n.reg .b32 a; .reg .b64 p;\n"
                 ".shared .align 4 .b8 one[4], two[4], three[4];\n"
                 "mov.u32 a, two;\nmov.u64 p, other;\nmov.u32 a, two;\n"
                 "st.shared.u32 [one], a;\n}\n";
    static const uint64_t sizes[] = {64}, strides[] = {2};
    static const uint32_t box[] = {64}, steps[] = {1}, shape[] = {1, 1, 1};
    _Alignas(TENSORMAP_ALIGNMENT) uint8_t map[TENSORMAP_BYTES];
    char error[400] = "", *memory = memory_allocate(256);
    const TensorMapRequest request = {.element_type = 6, /* fp16 */
                                      .rank = 1,
                                      .base = memory + 16,
                                      .sizes = sizes,
                                      .strides = strides,
                                      .box = box,
                                      .steps = steps};
    const void *arguments[] = {&(void *){memory + 255},
                               &(void *){memory + 256},
                               &(int){1},
                               map,
                               (uint8_t[TENSORMAP_BYTES]){0},
                               map};
    const char *refused = tensormap_encode(map, &request);
    Module *module = module_load(text, strlen(text), error, sizeof error);
    Kernel *kernel = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    if (refused || !kernel) printf("Bail out! %s%s\n", refused ? refused : "", error), exit(1);
    for (int i = 0; i < kernel->function->parameters; i++) {
        const Variable *v = kernel->function->parameter[i];
        memcpy((void *)(uintptr_t)v->address, arguments[i], v->bytes < 128 ? v->bytes : 128);
    }
    Record *found = record_new(kernel, 0, shape, shape);
    record_find_tensors(found);
    const Tensor *t = found->tensor.at;
    const uint64_t start = (uint64_t)(uintptr_t)memory;
    ok(found->tensor.count == 2 && t[0].parameter == 0 && t[0].pointer == start + 255 &&
           t[0].start == start && t[0].end == start + 256,
       "a parameter that points to the last byte");
    ok(t[1].parameter == 3 && t[1].pointer == start + 16 && t[1].end == start + 256,
       "and one that is a tensor map");
    record_find_variables(found);
    ok(found->variable.count == 2 && text_is(found->variable.at[0]->name, "two") &&
           text_is(found->variable.at[1]->name, "one"),
       "variables that are used, each once");
    record_free(found);
    module_free(module);
    memory_release(memory);
}

int main(void) {
    test_boxes();
    test_dimensions();
    test_places();
    test_kinds();
    test_tensors();
    test_kernel();
    return done_testing();
}
