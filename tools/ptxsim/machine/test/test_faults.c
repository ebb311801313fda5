/* What a kernel does wrong, in the words of the report. Catches: a barrier for more threads than
 * there are, or for part of a warp; a place that is another block's or thread's; what one block
 * left behind that the next one finds. */
#include "test/capture.h"
#include "test/tap.h"

static char said[4000];

/* Kernel `k` of `body`, which has registers t and b, a predicate p and a place q in memory. */
static LaunchStatus run(const LaunchShape *shape, const char *body) {
    static uint64_t memory[4];
    char text[3000];
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 q, x, y; "
                      ".reg .b32 t, b, c; .reg .f32 f<4>; .reg .pred p;\n%s\nret;\n}\n",
             body);
    FILE *file = tmpfile();
    fflush(NULL);
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    const PtxRun result = run_ptx_shape(text, shape, memory);
    fflush(NULL);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    if (result.error[0]) printf("# %s\n", result.error);
    return result.status;
}

static void refused(const LaunchShape *shape, const char *body, const char *words) {
    if (!ok(run(shape, body) == LAUNCH_FAULT && strstr(said, words), "%s", words))
        printf("# %s\n", said);
}

static void passes(const LaunchShape *shape, const char *body) {
    if (!ok(run(shape, body) == LAUNCH_OK, "%s", body)) printf("# %s\n", said);
}

static void barriers(void) {
    const LaunchShape two_warps = {{1, 1, 1}, {64, 1, 1}, 0, false};
    const LaunchShape part = {{1, 1, 1}, {40, 1, 1}, 0, false};
    passes(&two_warps, "bar.sync 15, 64;");
    passes(&part, "bar.sync 15, 64;");
    refused(&two_warps, "bar.sync 0, 96;", "barrier 0 waits for 96 threads, the block has 64");
    refused(&part, "bar.sync 0, 96;", "barrier 0 waits for 96 threads, the block has 40");
    refused(&two_warps, "bar.sync 1, 40;", "barrier 1 of 40 threads: not a multiple of 32");
    refused(&two_warps, "bar.sync 1, 0;", "barrier 1 of 0 threads: not a multiple of 32");
    refused(&two_warps, "bar.sync 16;", "barrier 16 does not exist: there are 16");
    refused(&two_warps,
            "mov.u32 t, %tid.x; setp.lt.u32 p, t, 32; @p bar.arrive 2, 64; @p ret; bar.sync 2, 32;",
            "barrier 2 is used for 32 threads while others use it for 64");
}

/* Thread (1, 0, 2) of block (1, 2, 3), the only one that reads address 0. */
static void places(void) {
    const LaunchShape shape = {{2, 3, 4}, {2, 4, 8}, 0, false};
    refused(&shape,
            "mov.u32 t, %tid.x; mov.u32 c, %tid.y; mad.lo.u32 t, c, 2, t; mov.u32 c, %tid.z; "
            "mad.lo.u32 t, c, 8, t; mov.u32 b, %ctaid.x; mov.u32 c, %ctaid.y; "
            "mad.lo.u32 b, c, 2, b; mov.u32 c, %ctaid.z; mad.lo.u32 b, c, 6, b; "
            "mad.lo.u32 t, b, 64, t; setp.eq.u32 p, t, 1489; mov.u64 q, 0; "
            "@p ld.global.u32 c, [q];",
            "block (1, 2, 3), warp 0, lane 17: thread (1, 0, 2)");
}

/* The first block has had its fence, and leaves; the second one has none. */
static void blocks(void) {
    const LaunchShape shape = {{2, 1, 1}, {128, 1, 1}, 0, false};
    refused(&shape,
            ".shared .align 1024 .b8 room[8192];\nmov.u32 b, %ctaid.x; setp.eq.u32 p, b, 1; "
            "@p bra SECOND; wgmma.fence.sync.aligned; ret;\nSECOND: mov.u64 x, 0x1000080040; "
            "mov.u64 y, 0x1000080140; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
            "{f0, f1, f2, f3}, x, y, 0, 1, 1, 0, 0;",
            "wgmma without any wgmma.fence before it");
}

int main(void) {
    barriers();
    places();
    blocks();
    return done_testing();
}
