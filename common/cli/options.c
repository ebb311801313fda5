#include "cli/options.h"

#include "device/timer.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A variable whose value is an int: a whole number in a range, or one word of a list. A list of
 * numbers stores the number, a list of words the position. */
typedef struct Variable {
    const char *name;
    size_t offset;
    int least, most;   /* most 0: INT_MAX */
    const char *words; /* "full|small|big"; NULL: a number */
} Variable;

static const Variable variables[] = {
    {"B", offsetof(Options, batch), .least = 1},
    {"H", offsetof(Options, heads), .least = 1},
    {"HKV", offsetof(Options, kv_heads), .least = 1},
    {"N", offsetof(Options, seq_q), .least = 1},
    {"NKV", offsetof(Options, seq_kv), .least = 1},
    {"D", offsetof(Options, d), .words = "64|128"},
    {"CAUSAL", offsetof(Options, causal), .words = "0|1"},
    {"DTYPE", offsetof(Options, dtype), .words = "fp16|bf16"},
    {"INIT", offsetof(Options, init),
     .words = "normal|uniform|large|onehot|ramp|tiny|equal|zeros|dominant|infinite|nan|"
              "sink|peaked|local|recency|primacy|all"},
    {"LSE", offsetof(Options, lse), .words = "0|1"},
    {"DEVICE", offsetof(Options, device), .words = "auto|gpu|sim"},
    {"GPU", offsetof(Options, gpu), .least = 0},
    {"FORMAT", offsetof(Options, json), .words = "text|json"},
    {"REPS", offsetof(Options, reps), .least = 0, .most = TIMER_MOST_REPS},
    {"COUNTERS", offsetof(Options, counters), .words = "table|full|source|html"},
    {"GRID", offsetof(Options, grid), .words = "full|small|big"},
    {"RUNS", offsetof(Options, runs), .least = 1},
    {"LIMIT", offsetof(Options, limit), .least = 1},
    {"SECONDS", offsetof(Options, seconds), .least = 1},
    {"REGIME", offsetof(Options, regime),
     .words = "square|gqa|ragged|prefill|small|chunk|decode|random|all"},
    {"SUSTAINED", offsetof(Options, sustained), .words = "0|1|2|5|10|30"},
    {"BLOCK", offsetof(Options, block), .least = 0},
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

/* A whole number without sign or blanks; false if it is none or exceeds `most`. */
static bool whole_number(const char *text, uint64_t most, uint64_t *value) {
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0 && *value <= most;
}

/* The position of `text` in a list "a|b|c", or -1. */
static int word_position(const char *words, const char *text) {
    const size_t length = strlen(text);
    int position = 0;
    for (const char *word = words;; word++, position++) {
        const size_t word_length = strcspn(word, "|");
        if (word_length == length && strncmp(word, text, length) == 0) return position;
        word += word_length;
        if (*word == '\0') return -1;
    }
}

static bool set_variable(const Variable *variable, const char *text, Options *options,
                         Error *error) {
    int *field = (int *)((char *)options + variable->offset);
    uint64_t number;
    if (variable->words) {
        const int position = word_position(variable->words, text);
        if (position < 0)
            return error_set(error, STATUS_USAGE, "%s=%s: allowed are %s", variable->name, text,
                             variable->words);
        *field = isdigit((unsigned char)*text) ? atoi(text) : position;
        return true;
    }
    const int most = variable->most ? variable->most : INT_MAX;
    if (!whole_number(text, (uint64_t)most, &number) || (int)number < variable->least)
        return error_set(error, STATUS_USAGE, "%s=%s: allowed are whole numbers from %d to %d",
                         variable->name, text, variable->least, most);
    *field = (int)number;
    return true;
}

static bool set_seqs(const char *text, Options *options, Error *error) {
    char copy[256];
    char *rest = copy;
    const bool whole = snprintf(copy, sizeof copy, "%s", text) < (int)sizeof copy;
    options->seq_count = 0;
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
        uint64_t number;
        if (!whole || !whole_number(item, 16384, &number) || number < 1 ||
            options->seq_count == MAX_SEQS)
            return error_set(error, STATUS_USAGE,
                             "SEQS=%s: allowed are up to %d lengths from 1 to 16384 with commas "
                             "between them, as in 512,1024",
                             text, MAX_SEQS);
        options->seqs[options->seq_count++] = (int)number;
    }
    return true;
}

static bool set_seed(const char *text, Options *options, Error *error) {
    options->seed_given = true;
    return whole_number(text, UINT64_MAX, &options->seed) ||
           error_set(error, STATUS_USAGE, "SEED=%s: allowed are whole numbers from 0 to 2^64-1",
                     text);
}

/* So that it is a normal number of fp32, also times log2(e) (attention.h). */
static bool set_scale(const char *text, Options *options, Error *error) {
    char *end;
    options->scale = strtod(text, &end);
    return (*end == '\0' && options->scale >= FLT_MIN && options->scale <= 2.3e38) ||
           error_set(error, STATUS_USAGE, "SCALE=%s: allowed are numbers from 1.2e-38 to 2.3e38",
                     text);
}

/* So that every element is a finite number of fp16. */
static bool set_strength(const char *text, Options *options, Error *error) {
    char *end;
    options->strength = strtod(text, &end);
    return (*end == '\0' && options->strength >= 1e-3 && options->strength <= 1e6) ||
           error_set(error, STATUS_USAGE, "STRENGTH=%s: allowed are numbers from 0.001 to 1000000",
                     text);
}

static bool set_key(const char *key, const char *value, Options *options, Error *error) {
    static const struct {
        const char *name;
        bool (*set)(const char *text, Options *options, Error *error);
    } others[] = {
        {"SEED", set_seed}, {"SEQS", set_seqs}, {"SCALE", set_scale}, {"STRENGTH", set_strength}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(key, others[i].name) == 0)
            return *value == '\0' || others[i].set(value, options, error);
    for (int i = 0; i < VARIABLES; i++)
        if (strcmp(key, variables[i].name) == 0)
            return *value == '\0' || set_variable(&variables[i], value, options, error);

    char names[256] = "";
    for (int i = 0; i < VARIABLES; i++) {
        strcat(names, variables[i].name);
        strcat(names, " ");
    }
    return error_set(error, STATUS_USAGE,
                     "%s=%s: unknown variable; allowed are %sSEED SEQS SCALE STRENGTH", key, value,
                     names);
}

bool options_parse(int count, char *const arguments[], Options *options, Error *error) {
    *options = (Options){.batch = OPTION_UNSET,
                         .heads = OPTION_UNSET,
                         .kv_heads = OPTION_UNSET,
                         .seq_q = OPTION_UNSET,
                         .seq_kv = OPTION_UNSET,
                         .d = OPTION_UNSET,
                         .causal = OPTION_UNSET,
                         .dtype = OPTION_UNSET,
                         .init = OPTION_UNSET,
                         .grid = OPTION_UNSET,
                         .runs = OPTION_UNSET,
                         .regime = OPTION_UNSET,
                         .block = OPTION_UNSET,
                         .limit = OPTION_UNSET,
                         .seconds = 60,
                         .seed = 1,
                         .lse = 1};
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(arguments[i], '=');
        if (equals) {
            char key[32];
            snprintf(key, sizeof key, "%.*s", (int)(equals - arguments[i]), arguments[i]);
            if (!set_key(key, equals + 1, options, error)) return false;
        } else if (options->stage_count == MAX_STAGES) {
            return error_set(error, STATUS_USAGE, "more than %d stage folders", MAX_STAGES);
        } else {
            options->stages[options->stage_count++] = arguments[i];
        }
    }
    if (options->strength > 0 && init_strength(options_init(options)) == 0)
        return error_set(
            error, STATUS_USAGE,
            "STRENGTH=%g needs INIT=sink, peaked, local, recency or primacy; here it is "
            "INIT=%s",
            options->strength,
            options->init == INIT_ALL ? "all" : init_name(options_init(options)));
    if (options_limit(options) < 2 * options->sustained)
        return error_set(error, STATUS_USAGE,
                         "LIMIT=%d is too short for SUSTAINED=%d: use at least %d",
                         options_limit(options), options->sustained, 2 * options->sustained);
    if (options->json && options->counters == COUNTERS_HTML)
        return error_set(error, STATUS_USAGE,
                         "COUNTERS=html writes a page, which needs FORMAT=text");
    return true;
}

static int or_default(int value, int fallback) { return value == OPTION_UNSET ? fallback : value; }

bool options_problem(const Options *options, bool simulated, Problem *problem, Error *error) {
    const int heads = or_default(options->heads, simulated ? 2 : 16);
    const int seq_q = or_default(options->seq_q, simulated ? 256 : 4096);
    const int d = or_default(options->d, 128);
    const float scale = options->scale > 0 ? (float)options->scale : problem_scale(d);
    *problem = (Problem){.shape = {.batch = or_default(options->batch, simulated ? 1 : 4),
                                   .heads = heads,
                                   .kv_heads = or_default(options->kv_heads, simulated ? 1 : heads),
                                   .seq_q = seq_q,
                                   .seq_kv = or_default(options->seq_kv, seq_q),
                                   .scale = scale},
                         .d = d,
                         .type = (ElementType)or_default(options->dtype, TYPE_FP16),
                         .causal = or_default(options->causal, 0) != 0};
    return problem_check(problem, error);
}

int options_limit(const Options *options) { return or_default(options->limit, 60); }

Init options_init(const Options *options) { return (Init)or_default(options->init, INIT_NORMAL); }

const InputChoice *options_inputs(const Options *options, InputChoice *one, int *count) {
    if (options->init == INIT_ALL) return model_bench_inputs(count);
    const Init init = options_init(options);
    *one = (InputChoice){init, options->strength > 0 ? options->strength : init_strength(init)};
    *count = 1;
    return one;
}

bool options_one_problem(const Options *options, const char *command, Error *error) {
    if (options->init == INIT_ALL)
        return error_set(
            error, STATUS_USAGE,
            "INIT=all works with bench only: give %s one kind of input, such as INIT=normal",
            command);
    return (options->regime == OPTION_UNSET && options->sustained == 0) ||
           error_set(error, STATUS_USAGE, "%s: allowed with bench, not with %s",
                     options->sustained ? "SUSTAINED" : "REGIME", command);
}

bool options_no_shape(const Options *o, const char *command, Error *error) {
    const int values[] = {o->batch, o->heads, o->kv_heads, o->seq_q, o->seq_kv};
    for (int i = 0; i < 5; i++) /* the first five variables are these five sizes */
        if (values[i] != OPTION_UNSET)
            return error_set(error, STATUS_USAGE,
                             "%s=%d: %s chooses the shapes itself; leave %s out", variables[i].name,
                             values[i], command, variables[i].name);
    return true;
}
