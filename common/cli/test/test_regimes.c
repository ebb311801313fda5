/* Catches: a regime without cells, a shape that no stage takes, a cell in the wrong list or twice,
 * D or CAUSAL that is not respected, a mask that hides everything, seeds that give the same shapes
 * or one seed that gives two, or other ones than those that were timed. */
#include "cli/regimes.h"
#include "test/digest.h"
#include "test/tap.h"

#include <inttypes.h>

static Cell cells[MAX_CELLS], again[MAX_CELLS];

/* The number of cells of up to three arguments; 0 with `error`. */
static int ask(const char *one, const char *two, const char *three, Cell list[], Error *error) {
    const char *const given[] = {one, two, three};
    char copies[3][64];
    char *arguments[3];
    Options options;
    int count = 0;
    for (int i = 0; i < 3; i++) {
        if (!given[i]) continue;
        snprintf(copies[count], sizeof copies[count], "%s", given[i]);
        arguments[count] = copies[count];
        count++;
    }
    *error = (Error){0};
    if (!options_parse(count, arguments, &options, error)) return 0;
    return regimes_cells(&options, list, error);
}

static bool same(const Cell *a, const Cell *b) {
    const AttentionProblem *s = &a->problem.shape, *t = &b->problem.shape;
    return a->problem.d == b->problem.d && a->problem.causal == b->problem.causal &&
           s->batch == t->batch && s->heads == t->heads && s->kv_heads == t->kv_heads &&
           s->seq_q == t->seq_q && s->seq_kv == t->seq_kv;
}

/* What every cell has to be. */
static bool fit(int count) {
    Error error;
    for (int i = 0; i < count; i++) {
        const Problem *p = &cells[i].problem;
        if (!problem_check(p, &error) || (p->d != 64 && p->d != 128)) return false;
        if (p->shape.scale != problem_scale(p->d)) return false;
        if (p->causal && p->shape.seq_kv < p->shape.seq_q) return false;
        for (int j = 0; j < i; j++)
            if (same(&cells[i], &cells[j])) return false;
    }
    return true;
}

/* True of each cell of the regime that bears this name. */
static bool belongs(const char *name, const AttentionProblem *s) {
    if (strcmp(name, "gqa") == 0) return s->heads > s->kv_heads && s->seq_q == s->seq_kv;
    if (strcmp(name, "ragged") == 0) return s->seq_q % 64 != 0;
    if (strcmp(name, "prefill") == 0) return s->batch == 1 && s->seq_q == s->seq_kv;
    if (strcmp(name, "small") == 0) return s->batch == 1 && s->heads == 8 && s->seq_q <= 2048;
    if (strcmp(name, "chunk") == 0) return s->seq_q >= 32 && 8 * s->seq_q < s->seq_kv + 1;
    if (strcmp(name, "decode") == 0) return s->seq_q <= 4;
    return s->seq_q > 0;
}

static void lists(void) {
    static const char *const names[] = {"square", "gqa",   "ragged", "prefill",
                                        "small",  "chunk", "decode", "random"};
    Error error;
    int total = 0;
    for (int i = 0; i < 8; i++) {
        char argument[64];
        snprintf(argument, sizeof argument, "REGIME=%s", names[i]);
        const int count = ask(argument, NULL, NULL, cells, &error);
        bool right = strcmp(names[i], "square") == 0 ? count == 24 : count >= 10 && count <= 16;
        for (int j = 0; j < count; j++)
            right = right && strcmp(regime_name(cells[j].regime), names[i]) == 0 &&
                    belongs(names[i], &cells[j].problem.shape);
        ok(right, "%s: %d cells of its kind", argument, count);
        ok(fit(count), "each with a shape that stages take, and once");
        ok(error.status == STATUS_PASS && !error.text[0], "and nothing to say");
        if (i < 7) total += count;
    }
    is_int(ask("REGIME=all", NULL, NULL, cells, &error), total, "all are those but random");
}

static void square(void) {
    Error error;
    is_int(ask(NULL, NULL, NULL, cells, &error), 24, "without REGIME the square ones");
    const Problem *p = &cells[0].problem;
    ok(p->d == 128 && !p->causal && p->shape.batch == 32 && p->shape.heads == 16 &&
           p->shape.kv_heads == 16 && p->shape.seq_q == 512 && p->shape.seq_kv == 512,
       "of 16,384 tokens and a hidden size of 2048");
    ok(cells[6].problem.causal && cells[12].problem.d == 64 && cells[12].problem.shape.heads == 32,
       "d 128 before d 64, full before causal");
    is_int(ask("SEQS=1,64", "D=64", "CAUSAL=1", cells, &error), 2, "SEQS, D and CAUSAL choose");
    ok(cells[1].problem.shape.batch == 256 && cells[1].problem.d == 64 && cells[1].problem.causal,
       "the tokens stay the same");
    is_int(ask("INIT=all", "D=64", NULL, cells, &error), 4, "INIT=all: two lengths");
    ok(cells[0].problem.shape.seq_q == 4096 && cells[1].problem.shape.seq_kv == 16384,
       "4096 and 16384");
    is_int(ask("DTYPE=bf16", NULL, NULL, cells, &error) && cells[0].problem.type == TYPE_BF16, 1,
           "DTYPE arrives");
    ask("SCALE=0.5", NULL, NULL, cells, &error);
    is_near(cells[0].problem.shape.scale, 0.5, 0, "SCALE, too");
}

/* The cells of a regime that stage 16 was timed on for notes/results. 0: there is no such file. */
static int recorded(const char *regime, Cell list[]) {
    FILE *file = fopen("notes/results/nvidia_h200_regimes_stage16.jsonl", "r");
    char line[4096];
    int count = 0;
    while (file && count < MAX_CELLS && fgets(line, sizeof line, file)) {
        char causal[8], name[16];
        Problem *p = &list[count].problem;
        AttentionProblem *s = &p->shape;
        const char *at = strstr(line, "\"causal\"");
        if (!strstr(line, "{\"stage\":16,") || !at) continue;
        if (sscanf(at,
                   "\"causal\":%7[a-z],\"batch\":%d,\"heads\":%d,\"kv_heads\":%d,\"seq_q\":%d,"
                   "\"seq_kv\":%d,\"d\":%d,\"regime\":\"%15[a-z]",
                   causal, &s->batch, &s->heads, &s->kv_heads, &s->seq_q, &s->seq_kv, &p->d,
                   name) != 8)
            return -1;
        p->causal = strcmp(causal, "true") == 0;
        count += strcmp(name, regime) == 0;
    }
    if (file) fclose(file);
    return count;
}

static bool listed(const Cell *cell, const Cell list[], int count) {
    for (int i = 0; i < count; i++)
        if (same(cell, &list[i])) return true;
    return false;
}

/* The shapes of a regime are the same in every version, so that its times can be compared with the
 * recorded ones. */
static void as_recorded(void) {
    static const char *const names[] = {"gqa", "ragged", "prefill", "small", "chunk", "decode"};
    for (int i = 0; i < 6; i++) {
        char argument[64];
        Error error;
        snprintf(argument, sizeof argument, "REGIME=%s", names[i]);
        const int count = recorded(names[i], again);
        const int cell_count = ask(argument, "SEED=7", NULL, cells, &error);
        int missing = 0;
        if (count == 0) return skip_test("no recorded results: run from the root");
        for (int j = 0; j < cell_count; j++) missing += !listed(&cells[j], again, count);
        ok(count == cell_count && missing == 0, "%s: the recorded ones, %d, and %d others",
           argument, count, missing);
    }
}

/* And so are those of a seed: these are the first and the last of notes/results/h200.md. */
static void as_ever(void) {
    static const char *const seeds[] = {"SEED=501", "SEED=515"};
    uint64_t digest = 0;
    for (int i = 0; i < 2; i++) {
        Error error;
        const int count = ask("REGIME=random", seeds[i], NULL, cells, &error);
        for (int j = 0; j < count; j++) {
            const Problem *p = &cells[j].problem;
            digest = digest_shape(digest, &p->shape);
            digest = digest_add(digest_add(digest, p->d), p->causal);
        }
    }
    ok(digest == 0x26e4d9538ca57c4f, "random shapes of two seeds are as ever: %" PRIx64, digest);
}

/* Each cell has one of the variants. */
static void partition(void) {
    Error error;
    for (int i = 0; i < 9; i++) {
        static const char *const names[] = {"square", "gqa",    "ragged", "prefill", "small",
                                            "chunk",  "decode", "random", "all"};
        static const char *const d[] = {"D=64", "D=128"}, *const mask[] = {"CAUSAL=0", "CAUSAL=1"};
        char argument[64];
        int parts = 0;
        snprintf(argument, sizeof argument, "REGIME=%s", names[i]);
        for (int part = 0; part < 4; part++)
            parts += ask(argument, d[part / 2], mask[part % 2], cells, &error);
        is_int(parts, ask(argument, NULL, NULL, cells, &error), "D and CAUSAL divide a regime");
    }
}

static void filters(void) {
    Error error;
    const int count = ask("REGIME=gqa", "D=128", "CAUSAL=1", cells, &error);
    bool right = count > 0;
    for (int i = 0; i < count; i++)
        right = right && cells[i].problem.d == 128 && cells[i].problem.causal;
    ok(right, "D and CAUSAL leave cells out");
    ok(ask("REGIME=prefill", "CAUSAL=0", NULL, cells, &error) == 0 &&
           error.status == STATUS_USAGE && strstr(error.text, "REGIME=prefill"),
       "but not all: %s", error.text);
    ok(ask("REGIME=gqa", "SEQS=512", NULL, cells, &error) == 0 && error.status == STATUS_USAGE &&
           strstr(error.text, "SEQS can only be used with REGIME=square"),
       "lengths are of the square regime: %s", error.text);
    ok(ask("INIT=all", "REGIME=all", NULL, cells, &error) == 0 && error.status == STATUS_USAGE &&
           strstr(error.text, "INIT=all can only be used with REGIME=square"),
       "so are all inputs: %s", error.text);
    ok(ask("INIT=all", "SUSTAINED=1", NULL, cells, &error) == 0 && error.status == STATUS_USAGE &&
           strstr(error.text, "INIT=all and SUSTAINED cannot be combined"),
       "which take turns: %s", error.text);
}

static void seeds(void) {
    Error error;
    const int count = ask("REGIME=random", "SEED=7", NULL, cells, &error);
    int different = 0;
    ok(ask("REGIME=random", "SEED=7", NULL, again, &error) == count && same(cells, again) &&
           same(&cells[count - 1], &again[count - 1]),
       "a seed always gives the same shapes");
    ask("REGIME=random", "SEED=8", NULL, again, &error);
    for (int i = 0; i < count; i++) different += !same(&cells[i], &again[i]);
    ok(different > count / 2, "another one others");
    const int fewer = ask("REGIME=random", "SEED=7", "D=64", again, &error);
    int found = 0;
    for (int i = 0; i < fewer; i++)
        for (int j = 0; j < count; j++) found += same(&again[i], &cells[j]);
    ok(fewer > 0 && fewer < count && found == fewer, "of which D chooses some");
    double most = 0;
    size_t bytes = 0;
    for (int seed = 0; seed < 100; seed++) {
        char argument[64];
        snprintf(argument, sizeof argument, "SEED=%d", seed);
        const int drawn = ask("REGIME=random", argument, NULL, cells, &error);
        if (!fit(drawn)) ok(false, "%s: a shape that stages take", argument);
        for (int i = 0; i < drawn; i++) {
            const size_t here = problem_bytes(&cells[i].problem);
            most = fmax(most, problem_flops(&cells[i].problem));
            if (here > bytes) bytes = here;
        }
    }
    ok(most > 1e11 && most <= 2e12, "work is bounded: at most %.2g operations", most);
    ok(bytes > 1 << 28 && bytes <= 1 << 29, "and so are tensors: at most %zu bytes", bytes);
}

int main(void) {
    lists();
    square();
    as_recorded();
    as_ever();
    partition();
    filters();
    seeds();
    return done_testing();
}
