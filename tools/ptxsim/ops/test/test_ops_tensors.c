/* Copies of boxes of tensors (TMA): cp.async.bulk.tensor by every kind of tensor map. Each runs in
 * both orders in which copies may land, with and without the search for races. Catches: a
 * coordinate out of order, a side at which a box is cut off wrongly, another swizzle, steps or fill
 * that are ignored, a byte beside the box that is written. The layout of tensor maps is
 * test_tensormap.c's. */
#include "test/drawn.h"
#include "test/each_order.h"
#include "test/tap.h"

enum { MAX_RANK = TENSORMAP_MAX_RANK, TENSOR_WORDS = 288, BOX_WORDS = 128 };
enum { U32 = 2, F16 = 6, F32 = 7, F32_FTZ = 10, TF32, TF32_FTZ }; /* CUtensorMapDataType */

/* The kernel sees: its thread in t, the tensor map in p, shared memory in s. */
#define HEAD                                                                                     \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q, x, y; .reg .b32 t, s, w, " \
             "v<2>, c<5>; .reg .pred g, h; .shared .align 1024 .b8 room[9216]; "                 \
             ".shared .align 8 .b64 bar;\nld.param.u64 p, [data]; mov.u32 t, %tid.x; "           \
             "mov.u32 s, room; mov.b64 y, 0;\n"
#define BEGIN                                                                \
    "setp.ne.u32 g, t, 0; @g bra BEGUN; mbarrier.init.shared.b64 [bar], 1; " \
    "fence.mbarrier_init.release.cluster; BEGUN: bar.sync 0; "               \
    "@g bra WAIT;\n"
#define WAIT "WAIT: mbarrier.try_wait.parity.shared.b64 h, [bar], 0; @!h bra WAIT;\n"

/* Device memory of a test; `box` is what a load brings, or what a store takes. */
typedef struct TensorTest {
    _Alignas(TENSORMAP_ALIGNMENT) uint8_t map[TENSORMAP_BYTES];
    uint32_t tensor[TENSOR_WORDS], box[BOX_WORDS];
} TensorTest;

static const uint64_t sizes[MAX_RANK] = {8, 3, 3, 2, 2};
static const uint64_t strides[MAX_RANK - 1] = {32, 96, 288, 576}; /* bytes */
static const uint32_t box_sizes[MAX_RANK] = {8, 2, 2, 2, 2}, steps[MAX_RANK] = {1, 1, 1, 1, 1};
/* Of loads and of stores: partly outside in every dimension, but stores not below 0. */
static const int32_t starts[2][MAX_RANK] = {{4, -1, 2, -1, 1}, {4, 2, 2, 1, 1}};

/* The word of the tensor that word i of the box is, -1: outside. */
static int tensor_word(int rank, int i, bool stores) {
    int at = 0;
    for (int r = 0; r < rank; r++) {
        const int coordinate = starts[stores][r] + i % (int)box_sizes[r];
        if (coordinate < 0 || coordinate >= (int)sizes[r]) return -1;
        at += coordinate * (r ? (int)strides[r - 1] / 4 : 1);
        i /= (int)box_sizes[r];
    }
    return at;
}

static TensorMapRequest map_of(int type, int rank, const uint64_t *size, const uint64_t *stride,
                               const uint32_t *box, Swizzle swizzle) {
    return (TensorMapRequest){.element_type = type,
                              .rank = (uint32_t)rank,
                              .sizes = size,
                              .strides = stride,
                              .box = box,
                              .steps = steps,
                              .swizzle = (int)swizzle};
}

static PtxRun run_tensor(const char *text, TensorTest *test, TensorMapRequest map) {
    map.base = test->tensor;
    return run_ptx_map(text, 1, BOX_WORDS, test, sizeof *test, &map);
}

static void coordinates(int rank, char *text, size_t size) {
    size_t used = 0;
    for (int r = 0; r < rank; r++)
        used += (size_t)snprintf(text + used, size - used, "%sc%d", r ? ", " : "", r);
}

#define LOAD_AT "mov.u32 c0, 4; mov.s32 c1, -1; mov.u32 c2, 2; mov.s32 c3, -1; mov.u32 c4, 1;\n"
#define STORE_AT "mov.u32 c0, 4; mov.u32 c1, 2; mov.u32 c2, 2; mov.u32 c3, 1; mov.u32 c4, 1;\n"

static void test_tensor_load(int rank, const char *order, const char *hint) {
    TensorTest test = {0};
    const int words = 8 << (rank - 1);
    char text[4000], at[40];
    int wrong = 0;
    for (uint32_t i = 0; i < TENSOR_WORDS; i++) test.tensor[i] = i + 1;
    coordinates(rank, at, sizeof at);
    snprintf(text, sizeof text,
             "%s" LOAD_AT BEGIN "mbarrier.arrive.expect_tx.shared.b64 x, [bar], %d; "
             "cp.async.bulk.prefetch.tensor.%dd.L2.global.tile [p, {%s}];\n"
             "cp.async.bulk.tensor.%dd.shared::cluster.global%s.mbarrier::complete_tx::bytes%s "
             "[s], [p, {%s}], [bar]%s;\n" WAIT
             "setp.ge.u32 h, t, %d; @h bra END; mad.lo.u32 w, t, 4, s; ld.shared.u32 v0, [w]; "
             "mad.wide.u32 q, t, 4, p; st.global.u32 [q+%d], v0;\nEND: ret;\n}\n",
             HEAD, 4 * words, rank, at, rank, *hint ? ".tile" : "", hint, at, *hint ? ", y" : "",
             words, (int)offsetof(TensorTest, box));
    const PtxRun run =
        run_tensor(text, &test, map_of(U32, rank, sizes, strides, box_sizes, SWIZZLE_NONE));
    for (int i = 0; i < words; i++) {
        const int from = tensor_word(rank, i, false);
        wrong += test.box[i] != (from < 0 ? 0 : test.tensor[from]);
    }
    ok(run.status == LAUNCH_OK && !wrong, "%s: a load of %d dimensions%s (%d wrong) %s", order,
       rank, hint, wrong, run.error);
}

/* A box of 4 rows of 32 words at row 6 of a tensor of 8 rows of `width` words: of shared memory
 * only what goes into the tensor is written, without word `lacking`, which is a fault; -1: all of
 * it. */
static void try_clipped_store(const char *order, uint64_t width, int lacking) {
    const uint64_t size[] = {width, 8};
    static const uint64_t stride[] = {128};
    static const uint32_t box[] = {32, 4};
    TensorTest test = {0};
    char text[3000];
    int wrong = 0;
    /* thread t has word t % 32 of row t / 32; in row 1 the chunks of two are exchanged */
    snprintf(text, sizeof text,
             "%sand.b32 w, t, 31; shr.u32 v1, t, 5; setp.lt.u32 h, w, %d; "
             "setp.ne.and.s32 h, t, %d, h; shl.b32 w, t, 2; shl.b32 v1, v1, 4; "
             "xor.b32 w, w, v1; add.u32 w, w, s; add.u32 v0, t, 1; @h st.shared.u32 [w], v0; "
             "fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 g, t, 0; @g bra END; "
             "mov.u32 v0, 6; mov.u32 v1, 0;\n"
             "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [p, {v1, v0}], [s]; "
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nEND: ret;\n}\n",
             HEAD, (int)width, lacking);
    const PtxRun run = run_tensor(text, &test, map_of(U32, 2, size, stride, box, SWIZZLE_128B));
    for (uint32_t i = 0; i < 8 * 32; i++) {
        const bool inside = i / 32 >= 6 && i % 32 < width;
        wrong += test.tensor[i] != (inside ? i - 6 * 32 + 1 : 0);
    }
    const bool whole = lacking < 0;
    ok(run.status == (whole ? LAUNCH_OK : LAUNCH_FAULT) && (!whole || !wrong),
       "%s: %d words of a row of a box are stored, without %d (%d wrong) %s", order, (int)width,
       lacking, wrong, run.error);
}

/* Rows that end before the box does, and with it. */
static void test_clipped_store(const char *order) {
    for (int width = 24; width <= 32; width += 4)
        for (int lacking = -1; lacking < (is_on_gpu() ? 0 : width); lacking++)
            try_clipped_store(order, (uint64_t)width, lacking);
}

/* A store of a box of 4 rows of `columns` words to rows of `width` words: what a GPU does otherwise
 * is refused. */
static void try_store_of(int type, uint64_t width, uint32_t columns, bool is_fault) {
    const uint64_t size[] = {width, 8};
    static const uint64_t stride[] = {128};
    const uint32_t box[] = {columns, 4};
    TensorTest test = {0};
    char text[3000];
    snprintf(text, sizeof text,
             "%smad.lo.u32 w, t, 4, s; st.shared.u32 [w], t; fence.proxy.async.shared::cta; "
             "bar.sync 0; setp.ne.u32 g, t, 0; @g bra END; mov.u32 v0, 0;\n"
             "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [p, {v0, v0}], [s]; "
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nEND: ret;\n}\n",
             HEAD);
    const PtxRun run = run_tensor(text, &test, map_of(type, 2, size, stride, box, SWIZZLE_128B));
    ok(run.status == (is_fault ? LAUNCH_FAULT : LAUNCH_OK),
       "type %d, rows of %d words, %u of them in a box: %s %s", type, (int)width, columns,
       is_fault ? "refused" : "stored", run.error);
}

static void test_refused_stores(void) {
    try_store_of(U32, 32, 32, false);
    try_store_of(U32, 32, 16, true); /* shorter than the swizzle's span */
    try_store_of(U32, 28, 32, false);
    try_store_of(U32, 30, 32, true); /* ends within a chunk */
    try_store_of(F32, 32, 32, false);
    try_store_of(F32_FTZ, 32, 32, true);
    try_store_of(TF32, 32, 32, true);
    try_store_of(TF32_FTZ, 32, 32, true);
}

static void test_tensor_store(int rank, const char *order, const char *hint) {
    TensorTest test = {0};
    const int words = 8 << (rank - 1);
    uint32_t expected[TENSOR_WORDS] = {0};
    char text[4000], at[40];
    for (uint32_t i = 0; i < BOX_WORDS; i++) test.box[i] = 100 + i;
    for (int i = 0; i < words; i++)
        if (tensor_word(rank, i, true) >= 0) expected[tensor_word(rank, i, true)] = test.box[i];
    coordinates(rank, at, sizeof at);
    snprintf(text, sizeof text,
             "%s" STORE_AT "mad.wide.u32 q, t, 4, p; ld.global.u32 v0, [q+%d]; "
             "mad.lo.u32 w, t, 4, s; st.shared.u32 [w], v0; fence.proxy.async.shared::cta; "
             "bar.sync 0; setp.ne.u32 g, t, 0; @g bra END;\n"
             "cp.async.bulk.tensor.%dd.global.shared::cta%s.bulk_group%s [p, {%s}], [s]%s; "
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nEND: ret;\n}\n",
             HEAD, (int)offsetof(TensorTest, box), rank, *hint ? ".tile" : "", hint, at,
             *hint ? ", y" : "");
    const PtxRun run =
        run_tensor(text, &test, map_of(U32, rank, sizes, strides, box_sizes, SWIZZLE_NONE));
    ok(run.status == LAUNCH_OK && memcmp(test.tensor, expected, sizeof expected) == 0,
       "%s: a store of %d dimensions%s %s", order, rank, hint, run.error);
}

static void test_tensors(const char *order) {
    for (int rank = 1; rank <= MAX_RANK; rank++)
        for (int hinted = 0; hinted < 2; hinted++) {
            test_tensor_load(rank, order, hinted ? ".L2::cache_hint" : "");
            test_tensor_store(rank, order, hinted ? ".L2::cache_hint" : "");
        }
}

/* ---- Any tensor map -------------------------------------------------------------------------- */

enum { TENSOR_BYTES = 16 * 1024, ROOM_BYTES = 9 * 1024, BOX_BYTES = 8 * 1024, CHUNK = 16 };
enum { THREADS = 128 };

/* `room` is all of shared memory, before and after. */
typedef struct AnyTest {
    _Alignas(TENSORMAP_ALIGNMENT) uint8_t map[TENSORMAP_BYTES];
    int32_t start[8];
    uint8_t tensor[TENSOR_BYTES], room[ROOM_BYTES];
} AnyTest;

/* A copy that is drawn. `steps` is of dimension 0 always 1. */
typedef struct Copy {
    int type, bytes, rank, swizzle;
    bool stores, fills_nan;
    uint64_t size[MAX_RANK], stride[MAX_RANK - 1];
    uint32_t box[MAX_RANK], step[MAX_RANK];
    int32_t start[MAX_RANK];
} Copy;

/* How many elements of a dimension a box brings. */
static int count_of(const Copy *c, int r) {
    return (int)((c->box[r] + c->step[r] - 1) / c->step[r]);
}

/* What a GPU refuses is not drawn: rows of a box that are no whole chunks or longer than the
 * swizzle, coordinates of dimension 0 that are not, stores below 0; nor what the simulator does. */
static Copy draw(uint64_t seed) {
    static const int type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    uint64_t state = seed << 32;
    Copy c = {.type = drawn(&state, 10), .rank = 1 + drawn(&state, MAX_RANK)};
    c.bytes = type_bytes[c.type];
    c.swizzle = drawn(&state, 4);
    c.stores = drawn(&state, 2);
    c.fills_nan = c.type >= F16 && drawn(&state, 2);
    const int row = c.swizzle ? CHUNK << c.swizzle : CHUNK * (1 + drawn(&state, 8));
    const int width = CHUNK / c.bytes * (1 + drawn(&state, 10));
    const int wanted = c.stores ? width : width - drawn(&state, CHUNK / c.bytes);
    uint64_t pitch = (uint64_t)width * (uint64_t)c.bytes + CHUNK * (uint64_t)drawn(&state, 3);
    int left = BOX_BYTES / row;
    for (int r = 0; r < c.rank; r++) {
        const int size = r ? 1 + drawn(&state, 5) : wanted;
        const int box = 1 + drawn(&state, left < 7 ? left : 7), below = c.stores ? 0 : 2;
        c.size[r] = (uint64_t)(r && pitch * (uint64_t)size > TENSOR_BYTES ? 1 : size);
        if (r)
            c.stride[r - 1] = pitch, pitch = pitch * c.size[r] + CHUNK * (uint64_t)drawn(&state, 3);
        c.box[r] = (uint32_t)(r ? box : row / c.bytes);
        c.step[r] = r ? 1 + (uint32_t)drawn(&state, 2) * (uint32_t)drawn(&state, 3) : 1;
        if (r) left /= box;
        c.start[r] = r ? drawn(&state, (int)c.size[r] + 1 + below) - below
                       : CHUNK / c.bytes * (drawn(&state, 12) - 2 * below);
    }
    return c;
}

/* What the copy makes of tensor or room, from PTX ISA 5.5, "Tensors", element by element. */
static void copy_box(const Copy *c, AnyTest *test) {
    int total = 1;
    for (int r = 0; r < c->rank; r++) total *= count_of(c, r);
    for (int i = 0; i < total; i++) {
        int rest = i, at = i * c->bytes;
        int64_t from = 0;
        bool inside = true;
        for (int r = 0; r < c->rank; r++) {
            const int64_t x = c->start[r] + rest % count_of(c, r) * (int64_t)c->step[r];
            rest /= count_of(c, r);
            inside &= x >= 0 && x < (int64_t)c->size[r];
            from += x * (r ? (int64_t)c->stride[r - 1] : c->bytes);
        }
        at ^= (at >> 7 & ((1 << c->swizzle) - 1)) * CHUNK;
        if (c->stores && inside) memcpy(test->tensor + from, test->room + at, (size_t)c->bytes);
        for (int b = 0; !c->stores && b < c->bytes; b++) /* NaN: 0x7ff7, whatever the type */
            test->room[at + b] = inside         ? test->tensor[from + b]
                                 : c->fills_nan ? (uint8_t)(b % 2 ? 0x7f : 0xf7)
                                                : 0;
    }
}

/* Shared memory from `room`, the copy, and shared memory back. */
static void write_text(const Copy *c, char *text, size_t size) {
    static const char copies[] =
        "mov.u32 w, t; mad.wide.u32 q, t, 4, p;\n"
        "%s: ld.global.u32 v0, [q+%d]; mad.lo.u32 v1, w, 4, s; st.shared.u32 [v1], v0; "
        "add.u32 w, w, %d; add.u64 q, q, %d; setp.lt.u32 h, w, %d; @h bra %s;\n";
    int bytes = c->bytes;
    char at[40];
    for (int r = 0; r < c->rank; r++) bytes *= count_of(c, r);
    size_t used = (size_t)snprintf(text, size, "%s", HEAD);
    for (int r = 0; r < c->rank; r++)
        used += (size_t)snprintf(text + used, size - used, "ld.global.s32 c%d, [p+%d]; ", r,
                                 (int)offsetof(AnyTest, start) + 4 * r);
    coordinates(c->rank, at, sizeof at);
    used += (size_t)snprintf(text + used, size - used, copies, "IN", (int)offsetof(AnyTest, room),
                             THREADS, 4 * THREADS, ROOM_BYTES / 4, "IN");
    used += (size_t)snprintf(text + used, size - used, "fence.proxy.async; " BEGIN);
    if (c->stores)
        used += (size_t)snprintf(text + used, size - used,
                                 "cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group "
                                 "[p, {%s}], [s]; cp.async.bulk.commit_group; "
                                 "cp.async.bulk.wait_group 0;\nWAIT: ",
                                 c->rank, at);
    else
        used += (size_t)snprintf(text + used, size - used,
                                 "mbarrier.arrive.expect_tx.shared.b64 x, [bar], %d; "
                                 "cp.async.bulk.tensor.%dd.shared::cluster.global"
                                 ".mbarrier::complete_tx::bytes [s], [p, {%s}], [bar];\n" WAIT,
                                 bytes, c->rank, at);
    snprintf(text + used, size - used,
             "bar.sync 0; mov.u32 w, t; mad.wide.u32 q, t, 4, p;\n"
             "OUT: mad.lo.u32 v1, w, 4, s; ld.shared.u32 v0, [v1]; st.global.u32 [q+%d], v0; "
             "add.u32 w, w, %d; add.u64 q, q, %d; setp.lt.u32 h, w, %d; @h bra OUT; ret;\n}\n",
             (int)offsetof(AnyTest, room), THREADS, 4 * THREADS, ROOM_BYTES / 4);
}

static void test_any(const char *order) {
    static AnyTest test, expected;
    for (uint64_t seed = 1; seed <= (is_on_gpu() ? 1000 : 150); seed++) {
        const Copy c = draw(seed);
        const TensorMapRequest map = {.element_type = c.type,
                                      .rank = (uint32_t)c.rank,
                                      .base = test.tensor,
                                      .sizes = c.size,
                                      .strides = c.stride,
                                      .box = c.box,
                                      .steps = c.step,
                                      .swizzle = c.swizzle,
                                      .fill = c.fills_nan};
        char text[4000];
        memcpy(test.start, c.start, sizeof c.start);
        for (int i = 0; i < TENSOR_BYTES; i++) test.tensor[i] = (uint8_t)(i * 7 + i / 256 + 1);
        for (int i = 0; i < ROOM_BYTES; i++) test.room[i] = (uint8_t)(i * 5 + i / 128 + 3);
        expected = test;
        copy_box(&c, &expected);
        write_text(&c, text, sizeof text);
        const PtxRun run = run_ptx_map(text, 1, THREADS, &test, sizeof test, &map);
        ok(run.status == LAUNCH_OK &&
               memcmp(test.tensor, expected.tensor, sizeof test.tensor) == 0 &&
               memcmp(test.room, expected.room, sizeof test.room) == 0,
           "%s: a drawn %s, seed %d, %d dimensions of type %d, swizzle %d %s", order,
           c.stores ? "store" : "load", (int)seed, c.rank, c.type, c.swizzle, run.error);
    }
}

int main(void) {
    each_order(test_tensors);
    each_order(test_clipped_store);
    each_order(test_any);
    if (!is_on_gpu()) test_refused_stores();
    return done_testing();
}
