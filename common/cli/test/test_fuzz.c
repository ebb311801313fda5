/* Catches: a case that breaks a rule of problems or the limits, a seed whose cases are not the same
 * again or are all alike, edges that are rare, small groups or one INIT alone; a failure that is
 * not made as small as it can be, or so small that it no longer fails. */
#include "cli/fuzz.h"
#include "test/digest.h"
#include "test/tap.h"

#include <inttypes.h>

static const FuzzLimits limits = {300, 1e7};
static const Options any = {
    .d = OPTION_UNSET, .dtype = OPTION_UNSET, .causal = OPTION_UNSET, .init = OPTION_UNSET};

static bool is_edge(int length) { return length == 1 || (length > 14 && (length + 1) % 16 <= 2); }

static void cases(void) {
    enum { CASES = 2000 };
    int valid = 0, small = 0, edges = 0, odd = 0, grouped = 0, lopsided = 0, scaled = 0, strong = 0;
    double kinds[INITS] = {0};
    bool variants[8] = {false}, inits[INITS] = {false}, groups[16] = {false};
    int beside[3] = {0}; /* lengths one below, at and one above a multiple of 16 */
    bool batches[8] = {false}, kv_heads[8] = {false}, with_lse = false, without_lse = false;
    for (uint64_t n = 0; n < CASES; n++) {
        const TrialSetup setup = fuzz_case(7, n, &any, limits);
        const Problem *p = &setup.problem;
        const AttentionProblem *s = &p->shape;
        Error error;
        valid += problem_check(p, &error) && setup.runs == 2;
        small += (double)s->batch * s->heads * s->seq_q * s->seq_kv * p->d <= limits.work;
        for (int i = 0; i < 3; i++) beside[i] += s->seq_kv > 14 && (s->seq_kv + 1) % 16 == i;
        edges += is_edge(s->seq_q) || is_edge(s->seq_kv);
        odd += s->seq_q % 16 != 0 && s->seq_kv % 16 != 0;
        grouped += s->heads > s->kv_heads;
        lopsided += s->seq_q > 50 * s->seq_kv || s->seq_kv > 50 * s->seq_q;
        scaled += s->scale != problem_scale(p->d);
        const double strength = setup.strength;
        strong += (strength > 0) == (init_strength(setup.init) > 0);
        kinds[setup.init] = fmax(kinds[setup.init], strength);
        inits[setup.init] = true;
        groups[s->heads / s->kv_heads % 16] = true;
        batches[s->batch % 8] = kv_heads[s->kv_heads % 8] = true;
        *(setup.lse ? &with_lse : &without_lse) = true;
        variants[(p->d == 128) + 2 * (p->type == TYPE_BF16) + 4 * p->causal] = true;
    }
    is_int(valid, CASES, "every case is a valid problem");
    is_int(small, CASES, "and within the limit of work");
    ok(edges > CASES / 2 && edges < CASES, "edges in more than half of them: %d", edges);
    for (int i = 0; i < 3; i++)
        ok(beside[i] > CASES / 9, "%d beside a multiple of 16: %d", i - 1, beside[i]);
    ok(odd > CASES / 4, "two ragged lengths: %d", odd);
    ok(grouped > CASES / 4 && grouped < CASES, "grouped heads: %d", grouped);
    ok(lopsided > CASES / 20, "tiny against long: %d", lopsided);
    ok(scaled > CASES / 10 && scaled < CASES / 2, "scales of their own: %d", scaled);
    is_int(strong, CASES, "a strength for the inits that take one and no others");
    for (int i = INIT_SINK; i < INITS; i++)
        ok(kinds[i] == 100, "%s occurs with a strength of 100", init_name((Init)i));
    for (int i = 0; i < 8; i++) ok(variants[i], "variant %d occurs", i);
    for (int i = 0; i < INITS; i++) ok(inits[i], "%s occurs", init_name((Init)i));
    for (int i = 0; i < 16; i++)
        ok(groups[i] == ((i >= 1 && i <= 4) || i == 8), "groups of 1, 2, 3, 4 and 8: %d", i);
    for (int i = 0; i < 8; i++)
        ok(batches[i] == (i >= 1 && i <= 4) && kv_heads[i] == batches[i],
           "batches and KV heads of 1 to 4: %d", i);
    ok(with_lse && without_lse, "with LSE and without");
}

static void seeds(void) {
    const TrialSetup a = fuzz_case(7, 3, &any, limits), b = fuzz_case(7, 3, &any, limits);
    const TrialSetup c = fuzz_case(8, 3, &any, limits), d = fuzz_case(7, 4, &any, limits);
    ok(a.problem.shape.seq_q == b.problem.shape.seq_q &&
           a.problem.shape.seq_kv == b.problem.shape.seq_kv && a.seed == b.seed,
       "a seed gives the same case again");
    ok(a.seed != c.seed && a.seed != d.seed, "another seed or number another one");
    uint64_t sum = 0;
    for (uint64_t n = 0; n < 300; n++) {
        const TrialSetup setup = fuzz_case(7, n, &any, limits);
        sum = digest_setup(sum, &setup);
    }
    ok(sum == 0x4c46678eeb348d95, "in every version, so that a failure can be repeated: %" PRIx64,
       sum);
    Options chosen = any;
    chosen.d = 64;
    chosen.causal = 1;
    chosen.init = INIT_LARGE;
    int kept = 0;
    for (uint64_t n = 0; n < 100; n++) {
        const TrialSetup setup = fuzz_case(7, n, &chosen, limits);
        kept += setup.problem.d == 64 && setup.problem.causal && setup.init == INIT_LARGE;
    }
    is_int(kept, 100, "D, CAUSAL and INIT stay as they are set");
    chosen.init = INIT_SINK;
    double least = INFINITY, most = 0;
    for (uint64_t n = 0; n < 100; n++) {
        const double strength = fuzz_case(7, n, &chosen, limits).strength;
        least = fmin(least, strength);
        most = fmax(most, strength);
    }
    ok(least == 1 && most == 100, "INIT alone leaves STRENGTH open");
    chosen.strength = 17;
    kept = 0;
    for (uint64_t n = 0; n < 100; n++) kept += fuzz_case(7, n, &chosen, limits).strength == 17;
    is_int(kept, 100, "STRENGTH stays as it is set");
}

static int asked;

static bool ragged_and_grouped(const TrialSetup *setup, void *least_keys) {
    const AttentionProblem *s = &setup->problem.shape;
    asked++;
    return s->seq_kv >= *(int *)least_keys && s->seq_q % 64 == 17 && s->heads / s->kv_heads >= 3 &&
           setup->init != INIT_ONEHOT;
}

static void shrinking(void) {
    TrialSetup setup = {.problem = {{4, 24, 3, 1041, 3000, 0.5f}, 128, TYPE_BF16, true},
                        .init = INIT_LARGE};
    int keys = 1537;
    fuzz_shrink(&setup, ragged_and_grouped, &keys);
    const AttentionProblem *s = &setup.problem.shape;
    is_int(s->seq_kv, 1537, "keys down to the last that fails");
    is_int(s->seq_q, 17, "rows to the first that fails");
    ok(s->batch == 1 && s->kv_heads == 1 && s->heads == 3, "no more heads than it takes");
    ok(setup.init == INIT_NORMAL && setup.lse && s->scale == problem_scale(128),
       "the usual init, scale and LSE");
    ok(setup.problem.causal && setup.problem.type == TYPE_BF16, "the variant stays");
    is_int(asked, 59, "in no more tries than it takes");
}

static bool two_kv_heads(const TrialSetup *setup, void *unused) {
    (void)unused;
    return setup->problem.shape.kv_heads == 2;
}

static void heads(void) {
    TrialSetup setup = {.problem = {{3, 12, 2, 40, 40, 0.125f}, 64, TYPE_FP16, false}};
    fuzz_shrink(&setup, two_kv_heads, NULL);
    const AttentionProblem *s = &setup.problem.shape;
    ok(s->batch == 1 && s->kv_heads == 2 && s->heads == 2, "KV heads that the failure needs stay");
}

static bool takes_a_sink(const TrialSetup *setup, void *strength) {
    return setup->init == INIT_SINK && setup->strength >= *(double *)strength;
}

static void strengths(void) {
    TrialSetup setup = {.problem = {{1, 1, 1, 40, 40, 0.125f}, 64, TYPE_FP16, false},
                        .init = INIT_SINK,
                        .strength = 60};
    double needed = 20;
    fuzz_shrink(&setup, takes_a_sink, &needed);
    ok(setup.init == INIT_SINK && setup.strength == 60, "a strength that the failure needs stays");
    needed = 5;
    fuzz_shrink(&setup, takes_a_sink, &needed);
    ok(setup.strength == init_strength(INIT_SINK), "another becomes that of the init");
}

int main(void) {
    cases();
    seeds();
    shrinking();
    heads();
    strengths();
    return done_testing();
}
