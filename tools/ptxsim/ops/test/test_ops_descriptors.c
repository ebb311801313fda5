/* wgmma by any matrix descriptor: start, strides and swizzle of A and B are drawn, what lies in
 * shared memory is small integers. Catches: an element that is looked for at another place, a
 * swizzle, a stride or a transposition that is ignored or taken for another. Which lane holds which
 * element of the result is test_ops_matrix.c's. */
#include "test/drawn.h"
#include "test/reference.h"
#include "test/run_ptx.h"
#include "test/tap.h"

enum { ROWS = 64, MOST_COLUMNS = 256, DEPTH = 16, THREADS = 128, ROOM_BYTES = 32 * 1024 };
enum { CHUNK = 16 }; /* bytes, which a swizzle moves */

/* Shared memory before, and the sums after, register by register. */
typedef struct Product {
    uint16_t room[ROOM_BYTES / 2];
    uint32_t sum[MOST_COLUMNS / 2][THREADS];
} Product;
static Product product;
static int value[ROOM_BYTES / 2]; /* of the elements in the room */

/* In bytes. `span` is what a swizzle permutes, CHUNK: nothing. */
typedef struct Matrix {
    int start, leading, stride, span;
    bool transposed;
} Matrix;

/* Where element k of a row of A, or of a column of B, lies in the room: PTX ISA 9.7.15.5.1,
 * "Shared Memory Matrix Layout", and 9.7.15.5.1.2, "Strides". */
static int place(const Matrix *m, int row, int k) {
    const int line = m->span / 2; /* elements that lie side by side */
    int at = m->start;
    if (m->span == CHUNK)
        at += row / 8 * m->stride + k / 8 * m->leading +
              (m->transposed ? k % 8 * CHUNK + row % 8 * 2 : row % 8 * CHUNK + k % 8 * 2);
    else if (m->transposed)
        at += row / line * m->leading + k / 8 * m->stride + k % 8 * m->span + row % line * 2;
    else
        at += row / 8 * m->stride + row % 8 * m->span + k * 2;
    return at ^ (at >> 7 & (m->span / CHUNK - 1)) * CHUNK;
}

static bool fits(const Matrix *m, int rows) {
    int last = 0;
    for (int i = 0; i < rows * DEPTH; i++) {
        const int at = place(m, i / DEPTH, i % DEPTH);
        last = at > last ? at : last;
    }
    return last < ROOM_BYTES;
}

/* Swizzled ones begin where the pattern does, or whole steps of K to the right; their strides are
 * whole patterns of 8 lines. */
static Matrix draw(uint64_t *state, int rows) {
    Matrix m;
    do {
        m = (Matrix){.span = CHUNK << drawn(state, 4), .transposed = drawn(state, 2)};
        const int unit = m.span == CHUNK ? CHUNK : 8 * m.span, most = m.span == CHUNK ? 64 : 8;
        m.leading = unit * (1 + drawn(state, most));
        m.stride = unit * (1 + drawn(state, most));
        m.start = m.span == CHUNK ? CHUNK * drawn(state, 256) : 1024 * drawn(state, 8);
        if (m.span > CHUNK && !m.transposed) m.start += 2 * DEPTH * drawn(state, m.span / 32);
    } while (!fits(&m, rows));
    return m;
}

/* The fields that a descriptor has beside the address. */
static unsigned long long fields(const Matrix *m) {
    const unsigned swizzle = m->span == CHUNK ? 0 : m->span == 128 ? 1 : m->span == 64 ? 2 : 3;
    return (unsigned long long)swizzle << 62 | (unsigned long long)(m->stride / 16) << 32 |
           (unsigned long long)(m->leading / 16) << 16;
}

/* Shared memory from the room, the product, and its sums to memory. */
static void write_text(const Matrix *a, const Matrix *b, int columns, bool bf16, char *text,
                       size_t size) {
    const int sums = columns / 2, at = (int)offsetof(Product, sum);
    const char *type = bf16 ? "bf16" : "f16";
    size_t used = (size_t)snprintf(
        text, size,
        PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q, x, y; .reg .b32 t, s, i, "
                 "z, v<4>; .reg .f32 d<%d>; .reg .pred h; .shared .align 1024 .b8 room[%d];\n"
                 "ld.param.u64 p, [data]; mov.u32 t, %%tid.x; mov.u32 s, room; mov.u32 i, t;\n"
                 "IN: mad.wide.u32 q, i, 16, p; ld.global.v4.u32 {v0, v1, v2, v3}, [q]; "
                 "mad.lo.u32 z, i, 16, s; st.shared.v4.u32 [z], {v0, v1, v2, v3}; "
                 "add.u32 i, i, %d; setp.lt.u32 h, i, %d; @h bra IN;\n"
                 "fence.proxy.async; bar.sync 0; mad.wide.u32 q, t, 4, p;\n"
                 "add.u32 i, s, %d; shr.u32 i, i, 4; cvt.u64.u32 x, i; or.b64 x, x, 0x%llx;\n"
                 "add.u32 i, s, %d; shr.u32 i, i, 4; cvt.u64.u32 y, i; or.b64 y, y, 0x%llx;\n",
        sums, ROOM_BYTES, THREADS, ROOM_BYTES / 16, a->start, fields(a), b->start, fields(b));
    for (int i = 0; i < sums; i++)
        used += (size_t)snprintf(text + used, size - used, "mov.f32 d%d, 0f00000000;\n", i);
    used += (size_t)snprintf(text + used, size - used,
                             "wgmma.fence.sync.aligned; "
                             "wgmma.mma_async.sync.aligned.m64n%dk16.f32.%s.%s {d0",
                             columns, type, type);
    for (int i = 1; i < sums; i++) used += (size_t)snprintf(text + used, size - used, ", d%d", i);
    used += (size_t)snprintf(text + used, size - used,
                             "}, x, y, 1, 1, 1, %d, %d;\nwgmma.commit_group.sync.aligned; "
                             "wgmma.wait_group.sync.aligned 0;\n",
                             a->transposed, b->transposed);
    for (int i = 0; i < sums; i++)
        used += (size_t)snprintf(text + used, size - used, "st.global.f32 [q+%d], d%d;\n",
                                 at + 4 * THREADS * i, i);
    snprintf(text + used, size - used, "ret;\n}\n");
}

static int wrong_sums(const Matrix *a, const Matrix *b, int columns) {
    int wrong = 0;
    for (int i = 0; i < columns / 2 * THREADS; i++) {
        const int e = i / THREADS, t = i % THREADS;
        const int row = t / 32 * 16 + t % 32 / 4 + 8 * (e / 2 % 2);
        const int column = e / 4 * 8 + t % 4 * 2 + e % 2;
        int expected = 0;
        for (int k = 0; k < DEPTH; k++)
            expected += value[place(a, row, k) / 2] * value[place(b, column, k) / 2];
        wrong += as_float(product.sum[e][t]) != (float)expected;
    }
    return wrong;
}

static void test_drawn(uint64_t seed) {
    static char text[40000];
    uint64_t state = seed << 32;
    const bool bf16 = drawn(&state, 2);
    const int columns = 8 * (1 + drawn(&state, MOST_COLUMNS / 8));
    const Matrix a = draw(&state, ROWS), b = draw(&state, columns);
    uint16_t bits[7];
    for (int i = 0; i < 7; i++)
        bits[i] = format_round(bf16 ? format_bf16 : format_f16, (Wide)(i - 3), FE_TONEAREST);
    for (int i = 0; i < ROOM_BYTES / 2; i++) {
        value[i] = drawn(&state, 7) - 3;
        product.room[i] = bits[value[i] + 3];
    }
    memset(product.sum, 0, sizeof product.sum);
    write_text(&a, &b, columns, bf16, text, sizeof text);
    const PtxRun run = run_ptx_grid(text, 1, THREADS, &product, sizeof product);
    const int wrong = wrong_sums(&a, &b, columns);
    ok(run.status == LAUNCH_OK && !wrong,
       "seed %d: %d columns; A: lines of %d bytes%s, B: of %d%s (%d wrong) %s", (int)seed, columns,
       a.span, a.transposed ? ", transposed" : "", b.span, b.transposed ? ", transposed" : "",
       wrong, run.error);
}

int main(void) {
    for (uint64_t seed = 1; seed <= (is_on_gpu() ? 400 : 100); seed++) test_drawn(seed);
    return done_testing();
}
