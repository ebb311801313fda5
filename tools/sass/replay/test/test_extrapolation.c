/* What blocks execute at lengths that were not counted, on a kernel of one loop. Catches: blocks of
 * another size, a causal problem whose blocks are all alike or of which the average is another, an
 * operation of the loop that is taken for one that each block executes once. */
#include "replay/extrapolation.h"
#include "test/sample.h"
#include "test/tap.h"

enum { OPERATIONS = 5, INSTRUCTIONS = 4, ROWS = 64, WARPS = 2, THREADS = 64 };

static Operation operations[LENGTHS][OPERATIONS];
static Counted launches[LENGTHS];
static Runs runs = {.length = {256, 512, 768}};

/* Two heads of N / 64 blocks; each warp goes through the loop once for 32 keys. The last operation
 * made no machine code: eight times, and once more for 256 keys. */
static void count(bool causal) {
    for (int j = 0; j < LENGTHS; j++) {
        const double tiles = runs.length[j] / ROWS, blocks = SIMULATED_HEADS * tiles,
                     keys = causal ? (runs.length[j] + ROWS) / 2 : runs.length[j];
        const double times[OPERATIONS] = {1, keys / 32, keys / 32, 1, 8 + keys / 256};
        for (int i = 0; i < OPERATIONS; i++)
            operations[j][i] = (Operation){
                .text = "\"\"", .kind = "\"\"", .executions = blocks * WARPS * times[i]};
        launches[j] = (Counted){.kernel = "k",
                                .blocks = blocks,
                                .threads = THREADS,
                                .operation = operations[j],
                                .operations = OPERATIONS};
        runs.of[j] = (CountedRun){.launch = &launches[j], .launches = 1};
    }
}

static void steps(const Path *path, double rounds, const char *what) {
    is_int(path->steps, 2 + (int)(2 * rounds), what);
    is_near(path->strayed, 0, 1e-9, "as was counted");
}

int main(void) {
    Module module = sample_code(KERNEL("k") "FADD R1, R2, R3\n"
                                            ".L_x_0:\n"
                                            "FFMA R1, R2, R3, R1\n"
                                            "@P0 BRA `(.L_x_0)\n"
                                            "EXIT\n");
    Function *function = &module.listing.function[0];
    for (int i = 0; i < INSTRUCTIONS; i++) function->instruction[i].ptx_line = i + 1;
    int line[] = {-1, 0, 1, 2, 3};
    Demand demand = {.rows = ROWS};
    Extrapolation blocks = {.code = &module.kernel[0],
                            .demand = &demand,
                            .runs = &runs,
                            .lines = {.lines = INSTRUCTIONS, .operation = line}};
    Path path[PARTS];
    double keys;

    count(false);
    is_int(extrapolation_paths(&blocks, 2048, path, &keys), 1,
           "all blocks of a full problem are alike");
    is_near(keys, 2048, 1e-9, "and see all keys");
    steps(&path[0], 64, "a path for a length that was not counted");
    path_free(&path[0]);
    ok(extrapolation_once(&blocks, 0) && !extrapolation_once(&blocks, 1) &&
           !extrapolation_once(&blocks, 4),
       "what is once, and what in the loop, rare as it may be");

    blocks.causal = true;
    count(true);
    is_int(extrapolation_paths(&blocks, 1024, path, &keys), PARTS, "those of a causal one are not");
    is_near(keys, (192 + 448 + 704 + 960) / 4.0, 1e-9, "tiles 3, 7, 11 and 15 of 16");
    for (int p = 0; p < PARTS; p++) {
        steps(&path[p], 6 + 8 * p, "each with its own keys");
        path_free(&path[p]);
    }
    ok(extrapolation_once(&blocks, 0) && !extrapolation_once(&blocks, 1), "the same holds there");

    demand.rows = 1;
    is_int(extrapolation_paths(&blocks, 1024, path, &keys), 1,
           "blocks that are no tiles are all alike");
    steps(&path[0], (768 + 64) / 64.0, "on average, as at the longest that was counted");
    path_free(&path[0]);
    module_close(&module);
    return done_testing();
}
