#include "analysis/simulated.h"

#include "analysis/program.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"warp_instructions",
                                    "mma_instructions",
                                    "barriers",
                                    "global_load_requests",
                                    "global_load_units",
                                    "global_load_ideal_units",
                                    "global_store_requests",
                                    "global_store_units",
                                    "global_store_ideal_units",
                                    "shared_load_requests",
                                    "shared_load_units",
                                    "shared_load_ideal_units",
                                    "shared_store_requests",
                                    "shared_store_units",
                                    "shared_store_ideal_units",
                                    "blocks"};
enum { NAMES = sizeof names / sizeof names[0] };

bool is_counter(const char *word) {
    for (int i = 0; i < NAMES; i++)
        if (strcmp(word, names[i]) == 0) return true;
    return false;
}

static bool is_part_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool has(const char *variant, const char *part) { return strstr(variant, part) != NULL; }

/* The next word of a line, "" at its end or at its comment. */
static const char *next_word(const char *at, char word[64]) {
    size_t length = 0;
    while (*at && *at != '\n' && *at != '#' && !is_part_of_name(*at)) at++;
    while (is_part_of_name(at[length])) length++;
    snprintf(word, 64, "%.*s", (int)length, at);
    return at + length;
}

/* Whether the scope of a line, which ends at its ":", names another variant. */
static bool is_of_another(const char *line, const char *variant) {
    static const char *const parts[] = {"d64", "d128", "fp16", "bf16", "full", "causal"};
    const char *end = line + strcspn(line, ":#\n");
    char word[64];
    if (*end != ':') return false;
    for (const char *at = next_word(line, word); at <= end; at = next_word(at, word))
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strcmp(word, parts[i]) == 0 && !has(variant, word)) return true;
    return false;
}

bool asks_for_counters(const char *text, const char *variant) {
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        char word[64];
        if (is_of_another(text, variant)) continue;
        for (const char *at = next_word(text, word); *word; at = next_word(at, word))
            if (is_counter(word)) return true;
    }
    return false;
}

bool counter_value(const char *counters, const char *name, double *value) {
    char key[80];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = counters ? strstr(counters, key) : NULL;
    char *end = NULL;
    if (at) *value = strtod(at + strlen(key), &end);
    return at && end != at + strlen(key);
}

bool simulate(const char *file, const char *variant, char **counters, Error *error) {
    char folder[PATH_MAX], program[PATH_MAX];
    const char *chosen = getenv("SIMULATOR"), *slash = strrchr(file, '/');
    snprintf(program, sizeof program, "%s", chosen ? chosen : "build/attention-sim");
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
    *counters = NULL;
    if (access(program, X_OK) != 0)
        return error_set(error, STATUS_SKIP, "the signature asks for counters, and %s is not built",
                         program);
    char *const arguments[] = {program,
                               "run",
                               "DEVICE=sim",
                               "FORMAT=json",
                               "B=1",
                               "H=2",
                               "HKV=1",
                               "N=300",
                               "NKV=330",
                               has(variant, "d64_") ? "D=64" : "D=128",
                               has(variant, "bf16") ? "DTYPE=bf16" : "DTYPE=fp16",
                               has(variant, "causal") ? "CAUSAL=1" : "CAUSAL=0",
                               folder,
                               NULL};
    return run_program(NULL, arguments, counters, error);
}
