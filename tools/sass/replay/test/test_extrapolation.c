/* What blocks execute at lengths that were not counted, on a kernel of one loop. Catches: blocks of
 * another size, a causal problem whose blocks are all alike or of which the average is another, an
 * operation of the loop that is taken for one that each block executes once, work that becomes less
 * than none, paths that stay when one of them has no end. */
#include "replay/extrapolation.h"
#include "test/sample.h"
#include "test/tap.h"

enum { OPERATIONS = 6, INSTRUCTIONS = 6, ROWS = 64, WARPS = 2, EVER = 1, LOOP = 2, LESS = 3 };

static Operation operations[LENGTHS][OPERATIONS];
static Counted launches[LENGTHS];
static Runs runs = {.length = {256, 512, 768}};

/* Two heads of N / 64 blocks; each warp goes through the loop once for 32 keys. An operation behind
 * it is executed the less often, the more keys there are; the last one made no machine code: eight
 * times, and once more for 256 keys. */
static void count(bool causal, int threads) {
    for (int j = 0; j < LENGTHS; j++) {
        const double tiles = runs.length[j] / ROWS, blocks = SIMULATED_HEADS * tiles,
                     keys = causal ? (runs.length[j] + ROWS) / 2 : runs.length[j];
        const double times[OPERATIONS] = {0, 1, keys / 32, 1 - keys / 1024, 1, 8 + keys / 256};
        for (int i = 0; i < OPERATIONS; i++)
            operations[j][i] = (Operation){
                .text = "\"\"", .kind = "\"\"", .executions = blocks * WARPS * times[i]};
        launches[j] = (Counted){.kernel = "k",
                                .blocks = blocks,
                                .threads = threads,
                                .operation = operations[j],
                                .operations = OPERATIONS};
        runs.of[j] = (CountedRun){.launch = &launches[j], .launches = 1};
    }
}

/* Rounds of the loop, and whether what is behind it is executed. */
static void steps(const Path *path, double rounds, bool behind, const char *what) {
    is_int(path->steps, 3 + (int)(2 * rounds) + behind, what);
    is_near(path->strayed, 0, 1e-9, "as was counted");
}

static void test_warps(void) {
    static const int threads[] = {1, 32, 33, 64, 65, 1024}, warps[] = {1, 1, 2, 2, 3, 32};
    for (int i = 0; i < 6; i++)
        is_int(extrapolation_warps(&(Counted){.threads = threads[i]}), warps[i],
               "a part of a warp is one");
}

static void test_full(Extrapolation *blocks) {
    Path path[PARTS];
    double keys;
    for (int threads = 33; threads <= 64; threads += 31) {
        count(false, threads);
        is_int(extrapolation_paths(blocks, 2048, path, &keys), 1,
               "all blocks of a full problem are alike");
        is_near(keys, 2048, 1e-9, "and see all keys");
        steps(&path[0], 64, false, "a path for a length that was not counted");
        path_free(&path[0]);
    }
}

static void test_causal(Extrapolation *blocks) {
    static const struct {
        int length, tile[PARTS]; /* of 64 rows, in the middle of each quarter */
    } expected[] = {{1024, {3, 7, 11, 15}}, {384, {1, 3, 4, 6}}, {447, {1, 3, 4, 6}},
                    {128, {1, 1, 2, 2}},    {64, {1, 1, 1, 1}},  {65, {1, 1, 1, 1}}};
    Path path[PARTS];
    double keys;
    blocks->causal = true;
    count(true, WARPS * 32);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        double sum = 0;
        is_int(extrapolation_paths(blocks, expected[i].length, path, &keys), PARTS,
               "blocks of a causal problem are not");
        for (int p = 0; p < PARTS; p++) {
            const int tile = expected[i].tile[p];
            sum += tile;
            is_int(path[p].step[path[p].steps - 1], INSTRUCTIONS - 1, "to the end of the kernel");
            is_int(path[p].steps, 3 + 4 * tile + (tile <= 8), "each with its own keys");
            path_free(&path[p]);
        }
        is_near(keys, sum * ROWS / PARTS, 1e-9, "what they see on average");
    }
}

/* Of 768 million keys the first part sees 96, in 6 million steps; a path of 2^24 has no end. */
static void test_endless(Extrapolation *blocks) {
    Path path[1 + PARTS];
    double keys;
    count(true, WARPS * 32);
    path[0].steps = 7;
    is_int(extrapolation_paths(blocks, 768e6, &path[1], &keys), 0, "a second part without an end");
    ok(path[1].steps == 0 && path[2].steps == 0 && path[0].steps == 7, "leaves none of the first");
}

/* Where blocks are no tiles. */
static void test_others(Extrapolation *blocks) {
    Path path[PARTS];
    double keys;
    is_int(extrapolation_paths(blocks, 1024, path, &keys), 1,
           "blocks that are no tiles are all alike");
    steps(&path[0], (768 + 64) / 64.0, true, "on average, as at the longest that was counted");
    path_free(&path[0]);
}

/* Operation 0 is executed 1000 N + `square` N^2 / 768 times. */
static bool is_once(const Extrapolation *blocks, double linear, double square) {
    for (int j = 0; j < LENGTHS; j++) {
        const double length = runs.length[j];
        operations[j][0].executions = 5 + linear * length + square * length * length / 768;
    }
    return extrapolation_once(blocks, 0);
}

static void test_once(Extrapolation *blocks) {
    for (int causal = 0; causal < 2; causal++) {
        count(causal, WARPS * 32);
        ok(extrapolation_once(blocks, EVER), "once");
        ok(!extrapolation_once(blocks, LOOP) && !extrapolation_once(blocks, LESS) &&
               !extrapolation_once(blocks, OPERATIONS - 1),
           "what is in the loop is not, rare as it may be");
    }
    ok(is_once(blocks, 1000, 0) && is_once(blocks, 1000, 9) && is_once(blocks, 1000, -9),
       "at the longest length less than a hundredth comes from keys");
    ok(!is_once(blocks, 1000, 11) && !is_once(blocks, 1000, -11), "and not more");
    ok(!is_once(blocks, 0, 0), "what is never executed is not once");
}

int main(void) {
    Module module = sample_code(KERNEL("k") "FADD R1, R2, R3\n"
                                            ".L_x_0:\n"
                                            "FFMA R1, R2, R3, R1\n"
                                            "@P0 BRA `(.L_x_0)\n"
                                            "@P1 BRA `(.L_x_1)\n"
                                            "FMUL R1, R2, R3\n"
                                            ".L_x_1:\n"
                                            "EXIT\n");
    Function *function = &module.listing.function[0];
    for (int i = 0; i < INSTRUCTIONS; i++) function->instruction[i].ptx_line = i + 1;
    int line[] = {-1, EVER, LOOP, LOOP, EVER, LESS, 4};
    Demand demand = {.rows = ROWS};
    Extrapolation blocks = {.code = &module.kernel[0],
                            .demand = &demand,
                            .runs = &runs,
                            .lines = {.lines = INSTRUCTIONS, .operation = line}};
    test_warps();
    test_full(&blocks);
    test_causal(&blocks);
    test_endless(&blocks);
    test_once(&blocks);
    demand.rows = 1;
    count(true, WARPS * 32);
    test_others(&blocks);
    module_close(&module);
    return done_testing();
}
