/* What the grid covers, as a set: for each of its properties, every value that must occur, in every
 * variant. Catches: a grid with one length, with normal inputs alone, with one group, always with
 * LSE, always with the usual scale; a case that is there and is not run. */
#include "cli/cases.h"
#include "cli/grid.h"
#include "test/digest.h"
#include "test/tap.h"

#include <inttypes.h>
#include <math.h>

enum { LENGTHS = 1024, GROUPS = 16, STRONGEST = 1000000 };

/* What occurred, of one variant. */
typedef struct Seen {
    int cases, invalid;
    bool init[INITS];
    bool batch[4], group[GROUPS], large_group, grouped_heads, scaled_down, scaled_up;
    bool with_lse, without_lse;
    bool long_batch, long_groups; /* where there are several tiles of rows and of keys */
    bool rows_without_keys, long_keys, shared_out, long_rows, beyond_16384, many_heads;
    bool pair[LENGTHS][LENGTHS];
    double strongest;
    bool large; /* a strength at which P is large and does not overflow */
} Seen;

static Seen seen[VARIANTS];

static int variant_of(const Problem *p) {
    return (p->d == 128) | (p->type == TYPE_BF16) << 1 | p->causal << 2;
}

static bool see(const TrialSetup *setup, void *unused) {
    const Problem *p = &setup->problem;
    const AttentionProblem *s = &p->shape;
    Seen *of = &seen[variant_of(p)];
    const float scale = s->scale / problem_scale(p->d);
    Error error;
    (void)unused;
    of->cases++;
    of->invalid += !problem_check(p, &error);
    of->init[setup->init] = true;
    if (s->batch < 4) of->batch[s->batch] = true;
    if (s->heads / s->kv_heads < GROUPS) of->group[s->heads / s->kv_heads] = true;
    of->large_group |= s->heads / s->kv_heads > 4;
    of->grouped_heads |= s->kv_heads > 1 && s->heads > s->kv_heads;
    const bool tiles = s->seq_q > 64 && s->seq_kv > 64;
    of->long_batch |= tiles && s->batch > 1;
    of->long_groups |= tiles && s->kv_heads > 1 && s->heads > s->kv_heads;
    of->scaled_down |= scale < 1;
    of->scaled_up |= scale > 1;
    *(setup->lse ? &of->with_lse : &of->without_lse) = true;
    of->rows_without_keys |= p->causal && s->seq_q > s->seq_kv;
    of->long_keys |= s->seq_kv >= 10000;
    of->shared_out |= s->heads == 5 && s->kv_heads == 5 && s->seq_kv == 2000;
    of->long_rows |= s->seq_q >= 10000;
    of->beyond_16384 |= s->seq_kv > 16384;
    of->many_heads |= s->heads > 65535;
    if (s->seq_q < LENGTHS && s->seq_kv < LENGTHS) of->pair[s->seq_q][s->seq_kv] = true;
    of->strongest = fmax(of->strongest, setup->strength);
    of->large |= setup->init == INIT_PRIMACY && setup->strength == 12;
    return true;
}

static void look(int grid, const char *argument) {
    Options options;
    Error error;
    char copy[40];
    char *const arguments[] = {copy};
    memset(seen, 0, sizeof seen);
    snprintf(copy, sizeof copy, "%s", argument);
    ok(options_parse(1, arguments, &options, &error), "%s", argument);
    options.grid = grid;
    grid_each(&options, false, see, NULL);
}

#define EVERY(condition, ...)                                        \
    do {                                                             \
        bool all = true;                                             \
        for (int v = 0; v < VARIANTS; v++) all = all && (condition); \
        ok(all, __VA_ARGS__);                                        \
    } while (0)

/* What both grids have. */
static void check_both(const char *grid, const int lengths[], int count) {
    for (int i = 0; i < INITS; i++)
        EVERY(seen[v].init[i], "%s: INIT=%s in every variant", grid, init_name((Init)i));
    for (int b = 1; b <= 3; b++) EVERY(seen[v].batch[b], "%s: batch %d", grid, b);
    for (int g = 1; g <= 4; g++) EVERY(seen[v].group[g], "%s: groups of %d heads", grid, g);
    EVERY(seen[v].large_group, "%s: groups of more than four heads", grid);
    EVERY(seen[v].invalid == 0, "%s: every case is a problem", grid);
    EVERY(seen[v].grouped_heads, "%s: groups with several KV heads", grid);
    EVERY(seen[v].long_batch && seen[v].long_groups, "%s: batches and groups of several tiles",
          grid);
    EVERY(seen[v].scaled_down && seen[v].scaled_up, "%s: smaller and larger scales", grid);
    EVERY(seen[v].with_lse && seen[v].without_lse, "%s: with and without LSE", grid);
    EVERY(seen[v].strongest >= 100, "%s: a STRENGTH of 100", grid);
    EVERY(!(v & 4) || seen[v].large, "%s: causal scores that a packed P still holds", grid);
    EVERY(!(v & 4) || seen[v].rows_without_keys, "%s: causal rows without keys", grid);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (!seen[0].pair[lengths[i]][lengths[j]])
                ok(false, "%s: %d x %d", grid, lengths[i], lengths[j]);
    EVERY(memcmp(seen[v].pair, seen[0].pair, sizeof seen[v].pair) == 0,
          "%s: the same lengths in every variant", grid);
}

static int cases;

static bool add(const TrialSetup *setup, void *sum) {
    cases++;
    *(uint64_t *)sum = digest_setup(*(uint64_t *)sum, setup);
    return true;
}

/* The cases of a grid are the same in every version: notes/trust.md counts them, and what failed
 * once is found again. */
static void known(const char *name, int grid, int count, uint64_t digest) {
    char *const arguments[] = {"SEED=1"};
    Options options;
    Error error;
    uint64_t sum = 0;
    cases = 0;
    options_parse(1, arguments, &options, &error);
    options.grid = grid;
    grid_each(&options, false, add, &sum);
    is_int(cases, count, name);
    ok(sum == digest, "the same as ever: %" PRIx64, sum);
}

static bool third(const TrialSetup *setup, void *visits) {
    (void)setup;
    return ++*(int *)visits < 3;
}

/* Tensors or scores that an index of 32 bits cannot reach, one kind at a time. */
static bool is_big(const TrialSetup *setup, void *kinds) {
    const Problem *p = &setup->problem;
    const size_t limit = (size_t)1 << 31, scores = problem_rows(p) * (size_t)p->shape.seq_kv;
    const bool big[] = {problem_q_elements(p) > limit, problem_kv_elements(p) > limit,
                        scores > limit};
    for (int i = 0; i < 3; i++) ((int *)kinds)[i] += big[i] && big[0] + big[1] + big[2] == 1;
    return setup->init == INIT_NORMAL;
}

static void big(void) {
    int kinds[3] = {0}, visits = 0;
    Options options;
    Error error;
    options_parse(1, (char *[]){"GRID=big"}, &options, &error);
    ok(grid_each(&options, false, is_big, kinds), "big: normal inputs");
    ok(kinds[0] > 0 && kinds[1] > 0 && kinds[2] > 0, "big: Q, K and scores: %d %d %d", kinds[0],
       kinds[1], kinds[2]);
    ok(!grid_each(&options, false, third, &visits) && visits == 3, "a visit can end it");
}

int main(void) {
    known("full", GRID_FULL, 4920, 0x971d35301ff134d5);
    known("small", GRID_SMALL, 398, 0xd3951c3d07ff551a);
    known("big", GRID_BIG, 40, 0xc35732a873d84f36);
    big();
    static const int full[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 300, 1000};
    static const int small[] = {1, 2, 17, 64, 65, 129, 194};
    look(GRID_SMALL, "SEED=1");
    check_both("small", small, sizeof small / sizeof *small);
    ok(seen[0].long_rows, "small: 10000 rows");
    ok(seen[0].long_keys && seen[VARIANTS - 1].long_keys,
       "small: 10000 keys, with each head size, type and mask");
    ok(seen[0].shared_out && seen[VARIANTS - 1].shared_out,
       "small: more heads than multiprocessors, and keys to share out");
    int strong = 0;
    for (int v = 0; v < VARIANTS; v++) strong += seen[v].strongest == STRONGEST;
    ok(strong >= VARIANTS / 2, "small: scores near the contract's end in half of the variants");
    look(GRID_FULL, "SEED=1");
    check_both("full", full, sizeof full / sizeof *full);
    EVERY(seen[v].long_keys && seen[v].long_rows, "full: 10000 keys, and 10000 rows");
    EVERY(seen[v].strongest == STRONGEST, "full: scores near the contract's end");
    EVERY(seen[v].beyond_16384, "full: more than 16384 keys");
    EVERY(seen[v].many_heads, "full: more heads than a launch grid's y can count");
    look(GRID_FULL, "INIT=onehot");
    EVERY(seen[v].init[INIT_ONEHOT] && !seen[v].init[INIT_NORMAL], "INIT chooses");
    look(GRID_SMALL, "D=64");
    ok(seen[0].cases && !seen[1].cases, "D chooses");
    return done_testing();
}
