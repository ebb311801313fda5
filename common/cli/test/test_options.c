/* Catches: a bad value that is accepted, changed in silence or refused without a sentence that
 * names the variable and what is allowed; a default that is wrong; an empty value taken for a
 * value. */
#include "cli/options.h"
#include "test/tap.h"

#include <limits.h>
#include <stddef.h>

static bool parse(char *argument, Options *options, Error *error) {
    char *const arguments[] = {argument};
    return options_parse(1, arguments, options, error);
}

static void refuses(const char *argument, const char *allowed) {
    char copy[512];
    Options options;
    Error error = {0};
    snprintf(copy, sizeof copy, "%s", argument);
    const bool refused = !parse(copy, &options, &error) && error.status == STATUS_USAGE;
    if (!ok(refused && strncmp(error.text, argument, strlen(argument)) == 0 &&
                strstr(error.text, allowed),
            "refuses '%s' and names '%s'", argument, allowed))
        printf("# %s\n", refused ? error.text : "accepted");
}

static void refuses_problem(int count, char *const arguments[], const char *name,
                            const char *allowed) {
    Options options;
    Problem problem;
    Error error = {0};
    const bool refused = options_parse(count, arguments, &options, &error) &&
                         !options_problem(&options, false, &problem, &error) &&
                         error.status == STATUS_USAGE;
    if (!ok(refused && strstr(error.text, name) && strstr(error.text, allowed),
            "refuses the sizes %s %s and names '%s'", arguments[0], arguments[count - 1], allowed))
        printf("# %s\n", refused ? error.text : "accepted");
}

static void bad_values(void) {
    static const char *const sizes[] = {"B", "H", "HKV", "N", "NKV"};
    static const char *const bad[] = {
        "0", "-1", "x", "1x", "1.5", " 1", "+1", "2147483648", "99999999999999999999"};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
            char argument[64];
            snprintf(argument, sizeof argument, "%s=%s", sizes[s], bad[b]);
            refuses(argument, "whole numbers from 1 to 2147483647");
        }
    refuses("D=32", "64|128");
    refuses("D=0", "64|128");
    refuses("D=6", "64|128");
    refuses("CAUSAL=2", "0|1");
    refuses("CAUSAL=yes", "0|1");
    refuses("DTYPE=fp32", "fp16|bf16");
    refuses("DTYPE=fp1", "fp16|bf16");
    refuses("DTYPE=FP16", "fp16|bf16");
    refuses("INIT=zero", "normal|uniform|large|onehot|ramp|tiny|equal|zeros|dominant|infinite|nan");
    refuses("INIT=sinks", "sink|peaked|local|recency|primacy|all");
    static const char *const strengths[] = {"0", "-1", "nan", "-nan", "inf",
                                            "x", "1x", "1e7", "1e-4"};
    for (size_t i = 0; i < sizeof strengths / sizeof strengths[0]; i++) {
        char argument[64];
        snprintf(argument, sizeof argument, "STRENGTH=%s", strengths[i]);
        refuses(argument, "numbers from 0.001 to 1000000");
    }
    refuses("STRENGTH=5", "INIT=sink, peaked, local, recency or primacy");
    refuses("SEED=-1", "2^64-1");
    refuses("SEED=18446744073709551616", "2^64-1");
    refuses("DEVICE=cpu", "auto|gpu|sim");
    refuses("GPU=-1", "0 to");
    refuses("FORMAT=xml", "text|json");
    refuses("REPS=many", "0 to");
    refuses("REPS=-1", "0 to");
    refuses("LSE=2", "0|1");
    refuses("COUNTERS=all", "table|full|source|html");
    refuses("GRID=huge", "full|small|big");
    refuses("REGIME=huge", "square|gqa|ragged|prefill|small|chunk|decode|random|all");
    refuses("SUSTAINED=3", "0|1|2|5|10|30");
    refuses("SEQS=512,,1024", "1 to 16384");
    refuses("SEQS=32768", "1 to 16384");
    char zeros[300]; /* longer than any list: its end must not be cut off */
    snprintf(zeros, sizeof zeros, "SEQS=512,%0280d", 64);
    refuses(zeros, "1 to 16384");
    refuses("COLOUR=red", "B H HKV N NKV D CAUSAL DTYPE INIT");
    refuses("n=5", "B H HKV");
    Options options;
    Error error;
    ok(!parse("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ=5", &options, &error) &&
           strstr(error.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDE=5: unknown variable"),
       "of a long name as much as there is room for");
    refuses("=5", "B H HKV");
}

/* Every variable that is a number: the least, the most, and what is beyond them. */
static void numbers(void) {
    static const struct {
        const char *name;
        size_t offset;
        int least, most;
    } of[] = {{"B", offsetof(Options, batch), 1, INT_MAX},
              {"H", offsetof(Options, heads), 1, INT_MAX},
              {"HKV", offsetof(Options, kv_heads), 1, INT_MAX},
              {"N", offsetof(Options, seq_q), 1, INT_MAX},
              {"NKV", offsetof(Options, seq_kv), 1, INT_MAX},
              {"GPU", offsetof(Options, gpu), 0, INT_MAX},
              {"REPS", offsetof(Options, reps), 0, 1000},
              {"RUNS", offsetof(Options, runs), 1, INT_MAX},
              {"LIMIT", offsetof(Options, limit), 1, INT_MAX},
              {"SECONDS", offsetof(Options, seconds), 1, INT_MAX},
              {"BLOCK", offsetof(Options, block), 0, INT_MAX}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const int edges[] = {of[i].least, of[i].most};
        char argument[64], allowed[64];
        for (int e = 0; e < 2; e++) {
            Options options;
            Error error;
            snprintf(argument, sizeof argument, "%s=%d", of[i].name, edges[e]);
            ok(parse(argument, &options, &error) &&
                   *(int *)((char *)&options + of[i].offset) == edges[e],
               "%s", argument);
        }
        snprintf(allowed, sizeof allowed, "whole numbers from %d to %d", of[i].least, of[i].most);
        snprintf(argument, sizeof argument, "%s=%d", of[i].name, of[i].least - 1);
        refuses(argument, allowed);
        snprintf(argument, sizeof argument, "%s=%lld", of[i].name, of[i].most + 1LL);
        refuses(argument, allowed);
    }
}

/* SCALE is a positive float that is normal, also times log2(e). */
static void scales(void) {
    static char *const good[] = {"SCALE=0x1p-126", "SCALE=2.3e38", "SCALE=0.5"};
    static const char *const bad[] = {
        "SCALE=0x0.fffffep-126", "SCALE=2.4e38", "SCALE=-1", "SCALE=nan", "SCALE=0", "SCALE=1x"};
    for (int i = 0; i < 3; i++) {
        Options options;
        Error error;
        ok(parse(good[i], &options, &error) && options.scale > 0, "%s", good[i]);
    }
    for (int i = 0; i < 6; i++) refuses(bad[i], "numbers from 1.2e-38 to 2.3e38");
}

static void bad_sizes(void) {
    refuses_problem(2, (char *[]){"H=3", "HKV=2"}, "HKV=2", "divisors of H");
    refuses_problem(2, (char *[]){"H=2", "HKV=4"}, "HKV=4", "divisors of H");
    refuses_problem(2, (char *[]){"B=65536", "H=65536"}, "B=65536", "at most 2147483647");
    refuses_problem(2, (char *[]){"N=2147483647", "NKV=2147483647"}, "N=2147483647", "63 bits");
    refuses_problem(2, (char *[]){"NKV=2147483647", "B=200000"}, "NKV=2147483647", "63 bits");
}

static void defaults(void) {
    Options options;
    Problem p;
    Error error;
    ok(options_parse(0, NULL, &options, &error) && options_problem(&options, false, &p, &error),
       "no arguments, on a GPU");
    ok(p.shape.batch == 4 && p.shape.heads == 16 && p.shape.kv_heads == 16 &&
           p.shape.seq_q == 4096 && p.shape.seq_kv == 4096 && p.d == 128 && !p.causal &&
           p.type == TYPE_FP16,
       "are B=4 H=16 HKV=16 N=4096 NKV=4096 D=128 CAUSAL=0 DTYPE=fp16");
    is_near(p.shape.scale, 1 / sqrt(128), 1e-8, "scale is 1 / sqrt(D)");
    ok(options_problem(&options, true, &p, &error) && p.shape.batch == 1 && p.shape.heads == 2 &&
           p.shape.kv_heads == 1 && p.shape.seq_q == 256 && p.shape.seq_kv == 256 && p.d == 128,
       "simulated: B=1 H=2 HKV=1 N=256 NKV=256 D=128");
    ok(options.seed == 1 && options.lse == 1 && options.device == DEVICE_AUTO && options.reps == 0,
       "SEED=1 LSE=1 DEVICE=auto REPS=0");
    ok(options_limit(&options) == 60 && options.seconds == 60 && options.gpu == 0 &&
           !options.json && options.counters == COUNTERS_TABLE && options.sustained == 0 &&
           options.strength == 0 && options.scale == 0 && !options.seed_given &&
           options.seq_count == 0 && options.stage_count == 0,
       "LIMIT=60 SECONDS=60 GPU=0 FORMAT=text COUNTERS=table SUSTAINED=0");
    ok(options.grid == OPTION_UNSET && options.runs == OPTION_UNSET &&
           options.regime == OPTION_UNSET && options.block == OPTION_UNSET &&
           options.limit == OPTION_UNSET,
       "the rest is left to the command");
}

static void good_values(void) {
    char *const arguments[] = {"B=2",        "H=6",         "HKV=3",
                               "N=5",        "NKV=",        "D=64",
                               "CAUSAL=1",   "INIT=",       "SEED=18446744073709551615",
                               "INIT=nan",   "DTYPE=bf16",  "REPS=7",
                               "GRID=",      "SEQS=512,64", "a/07_x",
                               "DEVICE=sim", "GPU=3",       "a/08_y/",
                               "FORMAT=json"};
    Options options;
    Problem p;
    Error error;
    ok(options_parse(19, arguments, &options, &error), "accepts good values");
    ok(options_problem(&options, false, &p, &error), "and their problem");
    ok(p.shape.batch == 2 && p.shape.heads == 6 && p.shape.kv_heads == 3 && p.shape.seq_q == 5 &&
           p.shape.seq_kv == 5 && p.d == 64 && p.causal && p.type == TYPE_BF16,
       "the sizes arrive, NKV= is N");
    is_int((long long)options.seed, -1, "SEED up to 2^64 - 1");
    ok(options.seed_given, "which was given");
    is_int(options.init, INIT_NAN, "an empty INIT= does not count");
    ok(options.device == DEVICE_SIM && options.gpu == 3 && options.json && options.reps == 7,
       "DEVICE GPU FORMAT REPS arrive");
    ok(options.seq_count == 2 && options.seqs[1] == 64, "SEQS is a list");
    is_int(options.stage_count, 2, "what has no '=' is a stage");
}

static void strengths(void) {
    static char *const edges[] = {"STRENGTH=0.001", "STRENGTH=1000000"};
    for (int i = 0; i < 2; i++) {
        Options edge;
        Error none;
        ok(options_parse(2, (char *[]){"INIT=sink", edges[i]}, &edge, &none), "%s", edges[i]);
    }

    Options options;
    Error error;
    InputChoice one;
    int count;
    ok(options_parse(2, (char *[]){"STRENGTH=30", "INIT=sink"}, &options, &error) &&
           options_inputs(&options, &one, &count) == &one && count == 1 && one.init == INIT_SINK &&
           one.strength == 30,
       "INIT=sink STRENGTH=30 in any order");
    ok(options_parse(1, (char *[]){"INIT=primacy"}, &options, &error) &&
           options_inputs(&options, &one, &count)->strength == 20 &&
           options_one_problem(&options, "run", &error),
       "a strength that is not set is that of the init");
    ok(!options_parse(2, (char *[]){"INIT=ramp", "STRENGTH=5"}, &options, &error) &&
           error.status == STATUS_USAGE && strstr(error.text, "STRENGTH=5") &&
           strstr(error.text, "here it is INIT=ramp"),
       "an init that takes no strength: %s", error.text);
    ok(!options_parse(2, (char *[]){"INIT=all", "STRENGTH=5"}, &options, &error) &&
           strstr(error.text, "here it is INIT=all"),
       "nor does INIT=all: %s", error.text);
    ok(options_parse(1, (char *[]){"INIT=all"}, &options, &error) &&
           options_inputs(&options, &one, &count) == model_bench_inputs(&count) && count > 1,
       "INIT=all is the list of a bench");
    ok(!options_one_problem(&options, "grid", &error) && error.status == STATUS_USAGE &&
           strstr(error.text, "INIT=all works with bench only: give grid one"),
       "and of nothing else: %s", error.text);
}

static void of_bench(void) {
    Options chosen;
    Error beyond = {0};
    ok(options_parse(2, (char *[]){"SUSTAINED=5", "LIMIT=10"}, &chosen, &beyond) &&
           parse("SUSTAINED=30", &chosen, &beyond),
       "SUSTAINED within half of the LIMIT");
    ok(!options_parse(2, (char *[]){"LIMIT=9", "SUSTAINED=5"}, &chosen, &beyond) &&
           beyond.status == STATUS_USAGE &&
           strcmp(beyond.text, "LIMIT=9 is too short for SUSTAINED=5: use at least 10") == 0,
       "and no more: %s", beyond.text);
    static char *const arguments[] = {"REGIME=gqa", "SUSTAINED=1"};
    for (int i = 0; i < 2; i++) {
        Options options;
        Error error = {0};
        ok(parse(arguments[i], &options, &error) && !options_one_problem(&options, "run", &error) &&
               error.status == STATUS_USAGE &&
               strstr(error.text, "allowed with bench, not with run"),
           "%s is of bench alone: %s", arguments[i], error.text);
    }
}

int main(void) {
    Options options;
    Error error;
    bad_values();
    numbers();
    scales();
    bad_sizes();
    defaults();
    good_values();
    strengths();
    of_bench();
    ok(!options_parse(2, (char *[]){"FORMAT=json", "COUNTERS=html"}, &options, &error),
       "refuses JSON and a page on one stdout");
    ok(options_parse(1, (char *[]){"HKV=2"}, &options, &error) &&
           !options_no_shape(&options, "grid", &error) && strstr(error.text, "HKV"),
       "a shape variable is refused where the command chooses shapes");
    return done_testing();
}
