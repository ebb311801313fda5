#include "cli/grid.h"

#include "base/generator.h"
#include "base/progress.h"
#include "cli/cases.h"

enum { LISTED_FAILURES = 10 }; /* of a stage */

static const int full_lengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 300, 1000};
/* 129 x 194, causal: row 127, the last of a block of 128, is the first that sees key 192. */
static const int small_lengths[] = {1, 2, 17, 64, 65, 129, 194};
static const Init hard_inits[] = {INIT_TINY,     INIT_EQUAL,    INIT_ZEROS,
                                  INIT_DOMINANT, INIT_INFINITE, INIT_NAN,
                                  INIT_UNIFORM,  INIT_ONEHOT,   INIT_RAMP};
/* Times 1 / sqrt(d). */
static const float scales[] = {1, 1, 1, 0.25f, 2};
/* Of full problems and of causal ones. Strong enough that a P which is made with the maximum of
 * other keys overflows fp16; or, sink 9 and primacy 12, that it is large and does not. At 89 nats
 * it is at the end of fp32, where it may be finite and one over it denormal. */
static const InputChoice model_inputs[][2] = {
    {{INIT_SINK, 12}, {INIT_SINK, 9}},        {{INIT_SINK, 89}, {INIT_SINK, 89}},
    {{INIT_PEAKED, 6}, {INIT_PEAKED, 6}},     {{INIT_LOCAL, 20}, {INIT_LOCAL, 20}},
    {{INIT_RECENCY, 20}, {INIT_RECENCY, 20}}, {{INIT_PRIMACY, 20}, {INIT_PRIMACY, 100}},
    {{INIT_PRIMACY, 100}, {INIT_PRIMACY, 12}}};
/* Scores of 10^7, near the contract's end: `peaked` in every other turn of these. */
static const InputChoice far_scores = {INIT_PEAKED, 1e6};
enum {
    FULL_LENGTHS = sizeof full_lengths / sizeof full_lengths[0],
    SMALL_LENGTHS = sizeof small_lengths / sizeof small_lengths[0],
    HARD_INITS = sizeof hard_inits / sizeof hard_inits[0],
    MODEL_INPUTS = sizeof model_inputs / sizeof model_inputs[0],
    CAUSAL_VARIANT = VARIANTS / 2, /* the first, see cases.h */
    SCALES = sizeof scales / sizeof scales[0],
    SEVERAL_TILES = 129, /* keys, so that a maximum can be stale */
    HEADS = 6,           /* heads and kv_heads */
    COMBINATIONS = 18,   /* of batch 1 to 3 and these */
    SMALL_PAIRS = 80000  /* pairs_of a case of the small grid: the most */
};

/* Shapes beside the pairs of lengths: long and thin ones; some heads more than multiprocessors, of
 * the simulator and of an H200, with keys enough to share them out, so that a block takes several
 * pieces; more heads than the y and the z of a launch grid can count, whose number times that of KV
 * heads has more than 31 bits; more keys than 2^14; more rows or keys than 16 bits count, in tiles
 * of 32 to 192 rows whose number n has n * (1 / n) < 1 in fp32. */
static const AttentionProblem more_shapes[] = {
    {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 1, .seq_kv = 10000},
    {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 10000, .seq_kv = 1},
    {.batch = 1, .heads = 5, .kv_heads = 5, .seq_q = 6, .seq_kv = 2000},
    {.batch = 1, .heads = 160, .kv_heads = 160, .seq_q = 6, .seq_kv = 3000},
    {.batch = 1, .heads = 105000, .kv_heads = 21000, .seq_q = 1, .seq_kv = 2},
    {.batch = 65537, .heads = 1, .kv_heads = 1, .seq_q = 2, .seq_kv = 1},
    {.batch = 1, .heads = 2, .kv_heads = 1, .seq_q = 300, .seq_kv = 20011},
    {.batch = 1, .heads = 2, .kv_heads = 1, .seq_q = 72161, .seq_kv = 3},
    {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 3, .seq_kv = 70000}};
enum { LONG_SHAPES = 3, MORE_SHAPES = 9, BIG_SHAPES = 5 }; /* the small grid's come first */

/* More than 2^31 elements: Q and O of one head, then of many; K and V of many heads, then of one;
 * scores. */
static AttentionProblem big_shape(int number, int d) {
    const int rows = (int)((1u << 31) / (unsigned)d) + 77, heads = 32 * 64;
    const AttentionProblem shapes[BIG_SHAPES] = {
        {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = rows, .seq_kv = 17},
        {.batch = 32, .heads = 64, .kv_heads = 1, .seq_q = rows / heads + 1, .seq_kv = 17},
        {.batch = 32, .heads = 64, .kv_heads = 64, .seq_q = 1, .seq_kv = rows / heads + 1},
        {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 2, .seq_kv = rows},
        {.batch = 1, .heads = 2, .kv_heads = 1, .seq_q = 46400, .seq_kv = 46400}};
    return shapes[number];
}

/* batch, heads, kv_heads number 0 .. COMBINATIONS - 1; with batch 1 number 0 .. HEADS - 1. Groups
 * of more than four heads: of the full grid they are among more_shapes. */
static void set_heads(GridSize size, int combination, AttentionProblem *shape) {
    static const int full[HEADS][2] = {{1, 1}, {2, 1}, {2, 2}, {4, 1}, {6, 2}, {4, 2}};
    static const int small[HEADS][2] = {{1, 1}, {4, 1}, {2, 2}, {5, 1}, {6, 2}, {4, 2}};
    const int *const heads = (size == GRID_SMALL ? small : full)[combination % HEADS];
    shape->batch = combination / HEADS + 1;
    shape->heads = heads[0];
    shape->kv_heads = heads[1];
}

/* Of a row and a key. */
static int pairs_of(const AttentionProblem *s) {
    return s->batch * s->heads * s->seq_q * s->seq_kv;
}

typedef struct Grid {
    const Options *options;
    GridSize size;
    const int *lengths; /* of which all pairs are shapes, and after them so many more */
    int length_count, more;
} Grid;

static int pairs(const Grid *grid) { return grid->length_count * grid->length_count; }

/* Everything but the scale, which is there already. */
static void set_shape(const Grid *grid, int number, int combination, Problem *problem) {
    AttentionProblem shape = {.seq_kv = 1};
    if (grid->size == GRID_BIG) {
        shape = big_shape(number, problem->d);
    } else if (number >= pairs(grid)) {
        shape = more_shapes[number - pairs(grid)];
    } else {
        shape.seq_q = grid->lengths[number / grid->length_count];
        shape.seq_kv = grid->lengths[number % grid->length_count];
        set_heads(grid->size, combination % COMBINATIONS, &shape);
        while (grid->size == GRID_SMALL && pairs_of(&shape) > SMALL_PAIRS)
            if (--shape.batch == 0) set_heads(grid->size, ++combination % HEADS, &shape);
    }
    shape.scale = problem->shape.scale;
    problem->shape = shape;
}

/* The input as a model makes it that this shape and variant have, or NULL: half of the shapes with
 * keys for several tiles have one, all of them in turn. */
static const InputChoice *model_input(const Grid *grid, int variant, int shape) {
    if (shape >= pairs(grid)) return NULL;
    const int rows = shape / grid->length_count, keys = shape % grid->length_count;
    if (grid->lengths[keys] < SEVERAL_TILES || (rows + keys + variant) % 2) return NULL;
    const int number = rows + variant;
    const InputChoice *input = &model_inputs[number % MODEL_INPUTS][variant / CAUSAL_VARIANT];
    const bool other = number / MODEL_INPUTS % 2;
    return other && input->init == far_scores.init ? &far_scores : input;
}

/* STRENGTH, if INIT chooses; 0 for that of the init. */
static double strength(const Grid *grid, int variant, int shape, int init) {
    const InputChoice *model = model_input(grid, variant, shape);
    if (grid->options->init != OPTION_UNSET) return grid->options->strength;
    return model && (int)model->init == init ? model->strength : 0;
}

/* The case of this shape, variant and init, each counted whether it is wanted or not, so that a
 * case keeps its seed and heads when the options leave others out. */
static TrialSetup make_case(const Grid *grid, const Problem *problem, int shape, int variant,
                            int init) {
    const int number = (shape * VARIANTS + variant) * INITS + init;
    TrialSetup setup = setup_of(grid->options, problem, ROWS_WORK_GRID);
    setup.init = (Init)init;
    setup.strength = strength(grid, variant, shape, init);
    setup.seed = mix64(setup.seed + (uint64_t)number) >> 33;
    setup.lse = number % 7 != 0;
    setup.problem.shape.scale *= scales[mix64((uint64_t)number) % SCALES];
    set_shape(grid, shape, shape + 2 * variant + init, &setup.problem);
    return setup;
}

/* INIT, if it chooses. Else normal, large and a third one, such as a model makes or a hard one; of
 * these the small grid has one a case, and the big one, which is about indices, always normal. */
static bool has_init(const Grid *grid, int variant, int shape, int init) {
    const Init hard = hard_inits[(shape + 3 * variant) % HARD_INITS];
    const InputChoice *model = model_input(grid, variant, shape);
    const Init third = model ? model->init : hard;
    const Init turns[] = {INIT_NORMAL, INIT_LARGE, hard, hard};
    if (grid->options->init != OPTION_UNSET) return grid->options->init == init;
    if (grid->size == GRID_BIG) return init == INIT_NORMAL;
    if (grid->size == GRID_SMALL)
        return (Init)init == (model ? model->init : turns[(variant + shape) % 4]);
    return init == INIT_NORMAL || init == INIT_LARGE || (Init)init == third;
}

/* The small grid has each of the long shapes in two variants: those of many keys in two which have
 * nothing in common, that of many rows, which takes longer, with D=64 DTYPE=fp16. */
static bool has_shape(const Grid *grid, int variant, int shape) {
    const int other = shape == pairs(grid) + 1 ? CAUSAL_VARIANT : VARIANTS - 1;
    return grid->size != GRID_SMALL || shape < pairs(grid) || variant == 0 || variant == other;
}

static bool has_case(const Grid *grid, int variant, int shape, int init) {
    return has_shape(grid, variant, shape) && has_init(grid, variant, shape, init);
}

static bool visit_variant(const Grid *grid, int variant, GridVisit visit, void *context) {
    Problem problem;
    if (!cases_variant(grid->options, variant, &problem)) return true;
    for (int shape = 0; shape < pairs(grid) + grid->more; shape++) {
        for (int init = 0; init < INITS; init++) {
            if (!has_case(grid, variant, shape, init)) continue;
            const TrialSetup setup = make_case(grid, &problem, shape, variant, init);
            if (!visit(&setup, context)) return false;
        }
    }
    return true;
}

static Grid make_grid(const Options *options, bool simulated) {
    const GridSize usual = simulated ? GRID_SMALL : GRID_FULL;
    Grid grid = {.options = options, .more = BIG_SHAPES};
    grid.size = options->grid == OPTION_UNSET ? usual : (GridSize)options->grid;
    if (grid.size == GRID_FULL) {
        grid.lengths = full_lengths;
        grid.length_count = FULL_LENGTHS;
        grid.more = MORE_SHAPES;
    } else if (grid.size == GRID_SMALL) {
        grid.lengths = small_lengths;
        grid.length_count = SMALL_LENGTHS;
        grid.more = LONG_SHAPES;
    }
    return grid;
}

bool grid_each(const Options *options, bool simulated, GridVisit visit, void *context) {
    const Grid grid = make_grid(options, simulated);
    for (int variant = 0; variant < VARIANTS; variant++)
        if (!visit_variant(&grid, variant, visit, context)) return false;
    return true;
}

/* ---- The command ----------------------------------------------------------------------------- */

typedef struct Run {
    Cases cases;
    Error error;
    int done, total;
} Run;

static bool count_case(const TrialSetup *setup, void *context) {
    (void)setup;
    ((Run *)context)->total++;
    return true;
}

static bool try_case(const TrialSetup *setup, void *context) {
    Run *run = context;
    progress("grid: case %d of %d", ++run->done, run->total);
    return cases_try(&run->cases, setup, &run->error);
}

int grid_command(const Options *options, const Device *device) {
    Run run = {.done = 0};
    if (!options_no_shape(options, "grid", &run.error) ||
        (options->grid == GRID_BIG && device->simulated &&
         !error_set(&run.error, STATUS_SKIP, "GRID=big: its tensors are too large to simulate")))
        return error_exit(&run.error);
    cases_begin(options, device, &run.cases);
    run.cases.patience = LISTED_FAILURES;
    run.cases.thorough = true;
    run.cases.failed = cases_print_failure;
    grid_each(options, device->simulated, count_case, &run);
    if (!grid_each(options, device->simulated, try_case, &run)) return error_exit(&run.error);
    return cases_end(&run.cases);
}
