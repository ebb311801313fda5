/* What constants, special registers and those that nobody has written hold in every thread of every
 * block. Catches: a register of the block before, a zero that a GPU would not have, a dimension
 * that stands for another one, a constant of another width, a size that leaves a part of the memory
 * out. */
#include "test/run_ptx.h"
#include "test/tap.h"

enum {
    X = 8,
    Y = 5,
    Z = 1,
    GX = 3,
    GY = 2,
    GZ = 2,
    THREADS = X * Y * Z,
    ALL = THREADS * GX * GY * GZ
};

/* Whether every thread finds `expected` of its block and its number there in d, 32 bits wide. */
static void holds(const char *code, uint32_t (*expected)(uint32_t block, uint32_t thread)) {
    static uint32_t data[ALL];
    const LaunchShape shape = {{GX, GY, GZ}, {X, Y, Z}, 100, false};
    char text[2000];
    int wrong = 0;
    snprintf(text, sizeof text,
             PTX_HEAD
             ".extern .shared .align 16 .b8 room[];\n.visible .entry k(.param .u64 data)\n{\n"
             ".shared .align 4 .b8 fixed[20]; .reg .b64 p, w, x; .reg .b32 d, a, b, c, t; "
             ".reg .b16 h; .reg .b128 z; .reg .pred g;\nld.param.u64 p, [data];\n"
             "mov.u32 a, %%ctaid.z; "
             "mad.lo.u32 a, a, %d, %%ctaid.y; mad.lo.u32 a, a, %d, %%ctaid.x; "
             "mad.lo.u32 a, a, %d, %%tid.x; mov.u32 b, %%tid.y; mad.lo.u32 a, b, %d, a; "
             "mad.wide.u32 p, a, 4, p; mov.u32 t, room; mov.u32 t, fixed;\n"
             "%s;\nst.global.u32 [p], d; ret;\n}\n",
             GY, GX, THREADS, X, code);
    void *memory = memory_allocate(sizeof data);
    const PtxRun run = run_ptx_shape(text, &shape, memory);
    memcpy(data, memory, sizeof data);
    memory_release(memory);
    for (uint32_t i = 0; i < ALL; i++) wrong += data[i] != expected(i / THREADS, i % THREADS);
    if (!ok(run.status == LAUNCH_OK && !wrong, "%s (%d wrong)", code, wrong))
        printf("# %s\n", run.error);
}

static uint32_t multiprocessor(uint32_t block, uint32_t thread) {
    return block % GX % 2 + 0 * thread;
}
static uint32_t two(uint32_t block, uint32_t thread) { return 2 + 0 * block * thread; }
static uint32_t dynamic(uint32_t block, uint32_t thread) { return 100 + 0 * block * thread; }
static uint32_t most_warps(uint32_t block, uint32_t thread) { return 64 + 0 * block * thread; }
static uint32_t total(uint32_t block, uint32_t thread) { return 256 + 0 * block * thread; }
static uint32_t fourth(uint32_t block, uint32_t thread) { return thread / 32 + 0 * block; }
static uint32_t column(uint32_t block, uint32_t thread) { return thread % X + 0 * block; }
static uint32_t layer(uint32_t block, uint32_t thread) { return block / GX / GY + 0 * thread; }
static uint32_t number(uint32_t block, uint32_t thread) { return 0x89abcdef + 0 * block * thread; }
static uint32_t half(uint32_t block, uint32_t thread) { return 0xcdef + 0 * block * thread; }
static uint32_t twice(uint32_t block, uint32_t thread) { return 2 * (thread / X) + 0 * block; }
static uint32_t no(uint32_t block, uint32_t thread) { return 0 * block * thread; }
static uint32_t yes(uint32_t block, uint32_t thread) { return 1 + 0 * block * thread; }
static uint32_t ones(uint32_t block, uint32_t thread) { return ~(0 * block * thread); }
static uint32_t half_ones(uint32_t block, uint32_t thread) { return 0xffff + 0 * block * thread; }
static uint32_t some(uint32_t block, uint32_t thread) { return thread % X ? ~(0 * block) : 7; }

/* As many values as the list has room for: nobody looks behind the last one. */
static void test_full_list(void) {
    char text[1000], error[512] = "";
    Kernel *k = NULL;
    Module *module = NULL;
    for (int registers = 1; registers < 300 && !(k && k->values == 256); registers++) {
        module_free(module);
        snprintf(text, sizeof text,
                 PTX_HEAD ".visible .entry k()\n{\n.reg .b32 r<%d>; .reg .pred g;\n"
                          "mov.u32 r0, %%tid.x; add.u32 r0, r0, 7; setp.eq.u32 g, r0, 8;\n"
                          "@g mov.u32 r0, %%ctaid.x; ret;\n}\n",
                 registers);
        module = module_load(text, strlen(text), error, sizeof error);
        k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    }
    const LaunchShape shape = {{2, 1, 1}, {32, 1, 1}, 0, false};
    ok(k && k->values == 256 && launch_run(k, &shape, NULL) == LAUNCH_OK, "256 values %s", error);
    module_free(module);
}

int main(void) {
    setenv("SIM_MULTIPROCESSORS", "2", 1);
    setenv("SIM_THREADS", "1", 1);
    holds("mov.u32 d, %smid", multiprocessor);
    holds("mov.u32 d, %nsmid", two);
    holds("mov.u32 d, %nwarpid", most_warps);
    holds("mov.u32 d, %warpid", fourth);
    holds("mov.u32 d, %dynamic_smem_size", dynamic);
    holds("mov.u32 d, %total_smem_size", total);
    holds("mov.u64 w, %tid.x; cvt.u32.u64 d, w", column);
    holds("mov.u64 w, %ctaid.z; cvt.u32.u64 d, w", layer);
    holds("mov.u32 d, 0x89abcdef", number);
    holds("mov.u64 w, 0x89abcdef01234567; shr.u64 w, w, 32; cvt.u32.u64 d, w", number);
    holds("mov.u16 h, 0xcdef; cvt.u32.u16 d, h", half);
    holds("setp.eq.u32 g, 1, 1; selp.b32 d, 1, 0, g", yes);
    holds("selp.b32 d, 1, 0, 1", yes);
    holds("selp.b32 d, 1, 0, 0", no);
    holds("selp.b32 a, 2, 4, 0; selp.b32 b, 5, 6, 1; sub.u32 a, 10, a; sub.u32 d, a, b", yes);
    holds("mov.u16 h, 0xcdef; mov.u32 c, 0x1234567; cvt.u32.u16 d, h", half);
    holds("mov.u64 w, %tid.y; mov.u32 a, %tid.y; cvt.u32.u64 b, w; add.u32 d, a, b", twice);
    holds("mov.u32 a, %tid.y; mov.u64 w, %tid.y; cvt.u32.u64 b, w; add.u32 d, a, b", twice);
    holds("mov.u64 w, %gridid; cvt.u32.u64 d, w; add.u32 d, d, 1", yes);
    holds("mov.u32 d, c; mov.u32 c, 5", ones);
    holds("add.f32 d, c, 0f3F800000; setp.nan.f32 g, d, d; selp.b32 d, 1, 0, g; mov.u32 c, 5", yes);
    holds("shr.u64 w, x, 32; cvt.u32.u64 d, w; mov.u64 x, 5", ones);
    holds("cvt.u32.u16 d, h; mov.u16 h, 5", half_ones);
    holds("selp.b32 d, 1, 0, g; setp.eq.u32 g, 1, 2", yes);
    holds("mov.u32 a, %tid.x; setp.eq.u32 g, a, 0; @g mov.u32 d, 7", some);
    test_full_list();
    return done_testing();
}
