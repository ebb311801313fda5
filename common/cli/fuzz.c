#include "cli/fuzz.h"

#include "base/clock.h"
#include "base/generator.h"
#include "base/progress.h"
#include "cli/cases.h"

#include <time.h>

static const FuzzLimits on_gpu = {4096, 4e9}, simulated = {300, 1e7};

/* ---- Drawing --------------------------------------------------------------------------------- */

/* 0 .. count - 1, and the next one at the next call: SplitMix64 (Steele, Lea, Flood 2014). */
static int draw(uint64_t *state, int count) {
    *state += 0x9e3779b97f4a7c15;
    return (int)(mix64(*state) % (uint64_t)count);
}

static int draw_length(uint64_t *state, int longest) {
    static const int tiles[] = {16, 64, 128};
    const int kind = draw(state, 8), tile = tiles[draw(state, 3)];
    if (kind == 0) return 1;
    if (kind == 1) return 1 + draw(state, 20);
    if (kind < 6) return tile * (1 + draw(state, longest / tile)) + draw(state, 3) - 1;
    return 1 + draw(state, longest);
}

static void draw_lengths(uint64_t *state, int longest, AttentionProblem *shape) {
    const int kind = draw(state, 16);
    shape->seq_q = draw_length(state, kind == 0 ? 4 * longest : longest);
    shape->seq_kv = draw_length(state, kind == 1 ? 4 * longest : longest);
    if (kind == 0) shape->seq_kv = 1 + draw(state, 3);
    if (kind == 1) shape->seq_q = 1 + draw(state, 3);
}

static double padded(int length) { return (length + 63) / 64 * 64; }

static double work(const Problem *problem) {
    const AttentionProblem *s = &problem->shape;
    return (double)s->batch * s->heads * padded(s->seq_q) * padded(s->seq_kv) * problem->d;
}

static float draw_scale(uint64_t *state, int d) {
    static const float scales[] = {0.01f, 0.05f, 0.25f, 0.5f};
    const int kind = draw(state, 16);
    return kind < 4 ? scales[kind] : problem_scale(d);
}

/* STRENGTH, or one of a few; 0 for an init that takes none. */
static double draw_strength(uint64_t *state, Init init, const Options *options) {
    static const double strengths[] = {1, 3, 6, 12, 20, 30, 60, 89, 100};
    const double drawn = strengths[draw(state, sizeof strengths / sizeof strengths[0])];
    if (init_strength(init) == 0) return 0;
    return options->strength > 0 ? options->strength : drawn;
}

static void draw_shape(uint64_t *state, int longest, AttentionProblem *shape) {
    static const int groups[] = {1, 1, 2, 3, 4, 8};
    shape->batch = 1 + draw(state, 4);
    shape->kv_heads = 1 + draw(state, 4);
    shape->heads = shape->kv_heads * groups[draw(state, 6)];
    draw_lengths(state, longest, shape);
}

TrialSetup fuzz_case(uint64_t seed, uint64_t number, const Options *options, FuzzLimits limits) {
    uint64_t state = mix64(seed) + mix64(number + 1);
    TrialSetup setup = setup_of(options, &(Problem){0}, ROWS_WORK_GRID);
    Problem *p = &setup.problem;
    setup.runs = 2;
    while (!cases_variant(options, draw(&state, VARIANTS), p)) {
    }
    do draw_shape(&state, limits.longest, &p->shape);
    while (work(p) > limits.work);
    p->shape.scale = draw_scale(&state, p->d);
    if (options->init == OPTION_UNSET) setup.init = (Init)draw(&state, INITS);
    setup.strength = draw_strength(&state, setup.init, options);
    setup.seed = (uint64_t)draw(&state, 1000000);
    setup.lse = draw(&state, 4) > 0;
    return setup;
}

/* ---- Shrinking ------------------------------------------------------------------------------- */

enum { COUNTS = 5 };

static void get_counts(const AttentionProblem *s, int counts[COUNTS]) {
    counts[0] = s->batch;
    counts[1] = s->kv_heads;
    counts[2] = s->heads / s->kv_heads;
    counts[3] = s->seq_q;
    counts[4] = s->seq_kv;
}

static void set_counts(const int counts[COUNTS], AttentionProblem *s) {
    s->batch = counts[0];
    s->kv_heads = counts[1];
    s->heads = counts[1] * counts[2];
    s->seq_q = counts[3];
    s->seq_kv = counts[4];
}

/* What is tried and whether it failed. */
typedef struct Shrink {
    TrialSetup *smallest;
    bool (*fails)(const TrialSetup *setup, void *context);
    void *context;
} Shrink;

/* Takes `candidate` if it fails too. */
static bool take(const Shrink *shrink, TrialSetup candidate) {
    if (!shrink->fails(&candidate, shrink->context)) return false;
    *shrink->smallest = candidate;
    return true;
}

static bool lower(const Shrink *shrink, int which, int by) {
    TrialSetup candidate = *shrink->smallest;
    int counts[COUNTS];
    get_counts(&candidate.problem.shape, counts);
    counts[which] -= by;
    if (by == 0 || counts[which] < 1) return false;
    set_counts(counts, &candidate.problem.shape);
    return take(shrink, candidate);
}

static int count_of(const Shrink *shrink, int which) {
    int counts[COUNTS];
    get_counts(&shrink->smallest->problem.shape, counts);
    return counts[which];
}

/* Steps of powers of two, so that a length keeps its place in a tile as long as it can. True if any
 * was taken. */
static bool lower_count(const Shrink *shrink, int which) {
    bool lowered = lower(shrink, which, count_of(shrink, which) - 1);
    int step = 1;
    while (step <= count_of(shrink, which) / 2) step *= 2;
    for (; step > 0; step /= 2)
        while (lower(shrink, which, step)) lowered = true;
    return lowered;
}

static void make_usual(const Shrink *shrink) {
    TrialSetup usual = *shrink->smallest;
    usual.problem.shape.scale = problem_scale(usual.problem.d);
    take(shrink, usual);
    usual = *shrink->smallest;
    usual.init = INIT_NORMAL;
    usual.strength = 0;
    take(shrink, usual);
    usual = *shrink->smallest;
    usual.strength = init_strength(usual.init);
    if (usual.strength != shrink->smallest->strength) take(shrink, usual);
    usual = *shrink->smallest;
    usual.lse = true;
    take(shrink, usual);
}

void fuzz_shrink(TrialSetup *setup, bool (*fails)(const TrialSetup *setup, void *context),
                 void *context) {
    const Shrink shrink = {setup, fails, context};
    make_usual(&shrink);
    for (bool lowered = true; lowered;) {
        lowered = false;
        for (int which = 0; which < COUNTS; which++) lowered |= lower_count(&shrink, which);
    }
}

/* ---- The command ----------------------------------------------------------------------------- */

/* The smallest failure so far of one stage. */
typedef struct Failure {
    const Device *device;
    Result result;
} Failure;

static bool still_fails(const TrialSetup *setup, void *context) {
    Failure *failure = context;
    Result result;
    progress("fuzz: looking for a smaller case");
    cases_try_one(failure->device, setup, &failure->result.stage, &result);
    if (result.status != STATUS_FAIL) return false;
    failure->result = result;
    return true;
}

static void shrink_failure(const Cases *cases, const TrialSetup *setup, const Result *result) {
    Failure failure = {cases->device, *result};
    TrialSetup smallest = *setup;
    fuzz_shrink(&smallest, still_fails, &failure);
    cases_print_failure(cases, &smallest, &failure.result);
}

int fuzz_command(const Options *options, const Device *device) {
    const uint64_t seed = options->seed_given ? options->seed : (uint64_t)time(NULL);
    const double started = clock_seconds();
    Cases cases;
    Error error;
    if (!options_no_shape(options, "fuzz", &error)) return error_exit(&error);
    cases_begin(options, device, &cases);
    cases.patience = 1;
    cases.failed = shrink_failure;
    fprintf(cases.text, "fuzz     SEED=%llu SECONDS=%d\n", (unsigned long long)seed,
            options->seconds);
    for (uint64_t n = 0; cases_go_on(&cases) && clock_seconds() - started < options->seconds; n++) {
        const TrialSetup setup =
            fuzz_case(seed, n, options, device->simulated ? simulated : on_gpu);
        progress("fuzz: case %llu, begun after %.0f s of %d", (unsigned long long)n + 1,
                 clock_seconds() - started, options->seconds);
        if (!cases_try(&cases, &setup, &error)) return error_exit(&error);
    }
    return cases_end(&cases);
}
