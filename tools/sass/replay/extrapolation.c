#include "replay/extrapolation.h"

#include "list.h"

#include <math.h>

enum { WARP = 32 };

bool extrapolation_of_tiles(const Extrapolation *blocks) { return blocks->demand->rows > 1; }

int extrapolation_warps(const Counted *launch) { return (launch->threads + WARP - 1) / WARP; }

static Growth growth_of(const Extrapolation *blocks, int operation) {
    double value[LENGTHS];
    for (int j = 0; j < LENGTHS; j++)
        value[j] = blocks->runs->of[j].launch[blocks->launch].operation[operation].executions;
    return growth_through(blocks->runs->length, value);
}

bool extrapolation_once(const Extrapolation *blocks, int operation) {
    const Growth growth = growth_of(blocks, operation);
    return fabs(growth.square) * blocks->runs->length[LENGTHS - 1] < 0.01 * growth.linear;
}

/* One block, whose rows see so many keys. */
static Counted block_that_sees(const Extrapolation *blocks, const Counted *launch, double keys) {
    const double rows = blocks->demand->rows;
    Counted block = *launch;
    block.blocks = 1;
    block.operation = list_zeroed((size_t)launch->operations, sizeof *block.operation);
    for (int i = 0; i < launch->operations; i++) {
        const Growth growth = growth_of(blocks, i);
        const double of_keys = blocks->causal ? 2 * growth.square : growth.square,
                     alone = growth.linear - (blocks->causal ? growth.square * rows : 0),
                     times = rows * (alone + of_keys * keys) / SIMULATED_HEADS;
        block.operation[i].executions = fmax(0, times);
    }
    return block;
}

static double keys_of(const Extrapolation *blocks, double length, int part) {
    if (!blocks->causal) return length;
    const double rows = blocks->demand->rows, tiles = floor(length / rows);
    return (floor((part + 0.5) / PARTS * tiles) + 1) * rows;
}

static bool add_path(const Extrapolation *blocks, const Counted *counted, Path *path) {
    Executions executions = executions_of(blocks->code, counted, &blocks->lines);
    const double warps = counted->blocks * extrapolation_warps(counted);
    const bool found = path_derive(blocks->code, &executions, warps, path);
    executions_free(&executions);
    return found;
}

int extrapolation_paths(const Extrapolation *blocks, double length, Path *path, double *keys) {
    const Counted *launch = &blocks->runs->of[LENGTHS - 1].launch[blocks->launch];
    const bool tiles = extrapolation_of_tiles(blocks);
    const int parts = tiles && blocks->causal ? PARTS : 1;
    *keys = 0;
    for (int part = 0; part < parts; part++) {
        const double sees = keys_of(blocks, length, part);
        Counted block = tiles ? block_that_sees(blocks, launch, sees) : *launch;
        const bool found = add_path(blocks, &block, &path[part]);
        if (tiles) free(block.operation);
        if (!found) {
            while (part-- > 0) path_free(&path[part]);
            return 0;
        }
        *keys += sees / parts;
    }
    return parts;
}
