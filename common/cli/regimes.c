#include "cli/regimes.h"

#include "base/generator.h"

enum { TOKENS = 16384, HIDDEN = 2048, RANDOM_CELLS = 12 };

/* The bounds of what is drawn: some milliseconds of work, and tensors that the host makes quickly.
 */
static const double MOST_FLOPS = 2e12;
static const size_t MOST_BYTES = (size_t)1 << 29;

typedef struct Shape {
    int d, causal, batch, heads, kv_heads, seq_q, seq_kv;
} Shape;

/* 32 query heads over 8 KV heads, as in Llama 3 8B; 64 over 8, as in its 70B. */
static const Shape gqa[] = {
    {128, 1, 16, 32, 8, 1024, 1024},  {128, 1, 4, 32, 8, 4096, 4096},
    {128, 1, 1, 32, 8, 16384, 16384}, {128, 0, 16, 32, 8, 1024, 1024},
    {128, 0, 4, 32, 8, 4096, 4096},   {128, 0, 1, 32, 8, 16384, 16384},
    {128, 1, 2, 64, 8, 4096, 4096},   {64, 1, 4, 32, 8, 4096, 4096},
    {64, 1, 1, 32, 8, 16384, 16384},  {64, 0, 4, 32, 8, 4096, 4096},
};

static const Shape ragged[] = {
    {128, 1, 4, 16, 16, 1000, 1000}, {128, 1, 4, 16, 16, 4095, 4095},
    {128, 1, 2, 16, 16, 7777, 7777}, {128, 0, 4, 16, 16, 1000, 1000},
    {128, 0, 4, 16, 16, 4095, 4095}, {128, 0, 2, 16, 16, 7777, 7777},
    {128, 0, 4, 16, 16, 1531, 3001}, {64, 1, 4, 32, 32, 1000, 1000},
    {64, 1, 4, 32, 32, 4097, 4097},  {64, 0, 4, 32, 32, 2049, 2049},
    {64, 0, 4, 32, 32, 3001, 1531},
};

/* Heads of Llama 3 8B (32/8), Qwen 2.5 7B (28/4), 14B (40/8) and 0.5B (14/2), and what one GPU has
 * of the first three where four share them. */
static const Shape prefill[] = {
    {128, 1, 1, 32, 8, 1024, 1024}, {128, 1, 1, 32, 8, 4096, 4096}, {128, 1, 1, 8, 2, 2048, 2048},
    {128, 1, 1, 8, 2, 8192, 8192},  {128, 1, 1, 28, 4, 2048, 2048}, {128, 1, 1, 28, 4, 8192, 8192},
    {128, 1, 1, 7, 1, 4096, 4096},  {128, 1, 1, 40, 8, 1024, 1024}, {128, 1, 1, 40, 8, 4096, 4096},
    {128, 1, 1, 10, 2, 8192, 8192}, {64, 1, 1, 14, 2, 2048, 2048},  {64, 1, 1, 14, 2, 8192, 8192},
};

static const Shape small[] = {
    {128, 1, 1, 8, 8, 128, 128},   {128, 1, 1, 8, 8, 256, 256},   {128, 1, 1, 8, 8, 512, 512},
    {128, 1, 1, 8, 8, 1024, 1024}, {128, 1, 1, 8, 8, 2048, 2048}, {128, 0, 1, 8, 8, 128, 128},
    {128, 0, 1, 8, 8, 256, 256},   {128, 0, 1, 8, 8, 512, 512},   {128, 0, 1, 8, 8, 1024, 1024},
    {128, 0, 1, 8, 8, 2048, 2048}, {64, 1, 1, 8, 8, 256, 256},    {64, 1, 1, 8, 8, 1024, 1024},
};

static const Shape chunk[] = {
    {128, 1, 1, 32, 8, 32, 8192},  {128, 1, 1, 32, 8, 128, 8192},  {128, 1, 1, 32, 8, 512, 8192},
    {128, 1, 1, 32, 8, 32, 32768}, {128, 1, 1, 32, 8, 128, 32768}, {128, 1, 1, 32, 8, 512, 32768},
    {128, 1, 4, 32, 8, 128, 8192}, {128, 0, 1, 32, 8, 128, 8192},  {128, 0, 1, 16, 16, 512, 8192},
    {64, 1, 1, 32, 8, 128, 8192},
};

/* The mask of a single query hides nothing, so the full variant serves. */
static const Shape decode[] = {
    {128, 0, 1, 32, 8, 1, 2048},   {128, 0, 1, 32, 8, 1, 8192},  {128, 0, 1, 32, 8, 1, 32768},
    {128, 0, 1, 32, 8, 1, 131072}, {128, 0, 8, 32, 8, 1, 2048},  {128, 0, 8, 32, 8, 1, 8192},
    {128, 0, 32, 32, 8, 1, 2048},  {128, 0, 32, 32, 8, 1, 8192}, {128, 0, 1, 32, 32, 1, 8192},
    {128, 0, 8, 32, 32, 1, 2048},  {64, 0, 8, 32, 8, 1, 8192},   {128, 1, 8, 32, 8, 1, 8192},
    {128, 1, 8, 32, 8, 4, 8192},
};

#define LIST(name) \
    { #name, name, sizeof(name) / sizeof(name)[0] }
static const struct {
    const char *name;
    const Shape *shapes;
    size_t count;
} lists[REGIMES] = {{.name = "square"}, LIST(gqa),   LIST(ragged), LIST(prefill),
                    LIST(small),        LIST(chunk), LIST(decode), {.name = "random"}};

const char *regime_name(Regime regime) { return lists[regime].name; }

typedef struct Cells {
    const Options *options;
    Cell *cells;
    int count;
} Cells;

static bool wanted(int option, int value) { return option == OPTION_UNSET || option == value; }

static Problem problem_of(const Options *options, const Shape *s) {
    const float scale = options->scale > 0 ? (float)options->scale : problem_scale(s->d);
    return (Problem){.shape = {.batch = s->batch,
                               .heads = s->heads,
                               .kv_heads = s->kv_heads,
                               .seq_q = s->seq_q,
                               .seq_kv = s->seq_kv,
                               .scale = scale},
                     .d = s->d,
                     .type = options->dtype == TYPE_BF16 ? TYPE_BF16 : TYPE_FP16,
                     .causal = s->causal != 0};
}

/* Adds a cell, unless D or CAUSAL leaves it out. */
static void add(Cells *cells, Regime regime, const Shape *shape) {
    const Options *options = cells->options;
    if (!wanted(options->d, shape->d) || !wanted(options->causal, shape->causal)) return;
    cells->cells[cells->count++] = (Cell){regime, problem_of(options, shape)};
}

/* ---- square ---------------------------------------------------------------------------------- */

/* The lengths that SEQS chooses, or all: their number. */
static int lengths(const Options *options, const int **seqs) {
    static const int all[] = {512, 1024, 2048, 4096, 8192, 16384}, of_all_inputs[] = {4096, 16384};
    *seqs = options->seq_count ? options->seqs : options->init == INIT_ALL ? of_all_inputs : all;
    return options->seq_count ? options->seq_count : options->init == INIT_ALL ? 2 : 6;
}

static void add_square(Cells *cells) {
    const int *seqs;
    const int count = lengths(cells->options, &seqs);
    for (int d = 128; d >= 64; d -= 64)
        for (int causal = 0; causal <= 1; causal++)
            for (int i = 0; i < count; i++)
                add(cells, REGIME_SQUARE,
                    &(Shape){d, causal, TOKENS / seqs[i], HIDDEN / d, HIDDEN / d, seqs[i],
                             seqs[i]});
}

/* ---- random ---------------------------------------------------------------------------------- */

/* 0 .. count - 1, and the next one at the next call: SplitMix64 (Steele, Lea, Flood 2014). */
static int draw(uint64_t *state, int count) {
    *state += 0x9e3779b97f4a7c15;
    return (int)(mix64(*state) % (uint64_t)count);
}

/* 2^least .. 2^most - 1, all powers of two between them equally likely. */
static int draw_length(uint64_t *state, int least, int most) {
    const int power = 1 << (least + draw(state, most - least));
    return power + draw(state, power);
}

static void draw_lengths(uint64_t *state, Shape *shape) {
    const int kind = draw(state, 8);
    shape->seq_q = draw_length(state, 7, 14);
    shape->seq_kv = shape->seq_q;
    if (kind == 4 || kind == 5) { /* a chunk */
        shape->seq_q = draw_length(state, 4, 10);
        shape->seq_kv = shape->seq_q + draw_length(state, 10, 16);
    } else if (kind == 6) { /* decode */
        shape->causal = 0;
        shape->seq_q = 1;
        shape->seq_kv = draw_length(state, 9, 17);
    } else if (kind == 7) { /* attention to another sequence */
        shape->causal = 0;
        shape->seq_kv = draw_length(state, 7, 13);
    }
}

static Shape draw_shape(uint64_t *state) {
    static const int batches[] = {1, 1, 1, 2, 4, 8}, kv_heads[] = {1, 2, 4, 8, 16};
    static const int groups[] = {1, 1, 2, 4, 5, 7, 8};
    Shape shape = {.d = 64 << draw(state, 2),
                   .causal = draw(state, 2),
                   .batch = batches[draw(state, 6)],
                   .kv_heads = kv_heads[draw(state, 5)]};
    shape.heads = shape.kv_heads * groups[draw(state, 7)];
    draw_lengths(state, &shape);
    return shape;
}

static bool affordable(const Options *options, const Shape *shape) {
    const Problem problem = problem_of(options, shape);
    return problem_flops(&problem) <= MOST_FLOPS && problem_bytes(&problem) <= MOST_BYTES;
}

/* What D and CAUSAL leave out is drawn all the same, so that a seed always means the same shapes.
 */
static void add_random(Cells *cells) {
    uint64_t state = mix64(cells->options->seed);
    for (int i = 0; i < RANDOM_CELLS; i++) {
        Shape shape = draw_shape(&state);
        while (!affordable(cells->options, &shape)) shape = draw_shape(&state);
        add(cells, REGIME_RANDOM, &shape);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void add_regime(Cells *cells, Regime regime) {
    if (regime == REGIME_SQUARE) add_square(cells);
    if (regime == REGIME_RANDOM) add_random(cells);
    for (size_t i = 0; i < lists[regime].count; i++) add(cells, regime, &lists[regime].shapes[i]);
}

int regimes_cells(const Options *options, Cell list[MAX_CELLS], Error *error) {
    Cells cells = {.options = options, .cells = list};
    const int chosen = options->regime == OPTION_UNSET ? REGIME_SQUARE : options->regime;
    if (chosen != REGIME_SQUARE && (options->seq_count || options->init == INIT_ALL))
        return error_set(error, STATUS_USAGE, "%s can only be used with REGIME=square",
                         options->seq_count ? "SEQS" : "INIT=all");
    if (options->init == INIT_ALL && options->sustained)
        return error_set(error, STATUS_USAGE, "INIT=all and SUSTAINED cannot be combined");
    for (int regime = 0; regime < REGIMES; regime++)
        if (chosen == regime || (chosen == REGIME_ALL && regime != REGIME_RANDOM))
            add_regime(&cells, (Regime)regime);
    if (cells.count == 0)
        error_set(error, STATUS_USAGE,
                  "REGIME=%s has no shape with this D and CAUSAL: leave one of them out",
                  regime_name((Regime)chosen));
    return cells.count;
}
