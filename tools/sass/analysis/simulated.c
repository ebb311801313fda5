#include "analysis/simulated.h"

#include "analysis/program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {
    "warp_instructions",     "mma_instructions",   "barriers",
    "global_load_requests",  "global_load_units",  "global_load_ideal_units",
    "global_store_requests", "global_store_units", "global_store_ideal_units",
    "shared_load_requests",  "shared_load_units",  "shared_load_ideal_units",
    "shared_store_requests", "shared_store_units", "shared_store_ideal_units"};
enum { NAMES = sizeof names / sizeof names[0], PATH_SIZE = 1024 };

bool is_counter(const char *word) {
    for (int i = 0; i < NAMES; i++)
        if (strcmp(word, names[i]) == 0) return true;
    return false;
}

static bool is_part_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool asks_for_counters(const char *text) {
    while (*text) {
        char word[64];
        size_t length = 0;
        if (*text == '#') text += strcspn(text, "\n");
        while (is_part_of_name(text[length])) length++;
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), text);
        if (is_counter(word)) return true;
        text += length + (text[length] != '\0' && text[length] != '#');
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

static bool has(const char *variant, const char *part) { return strstr(variant, part) != NULL; }

bool simulate(const char *file, const char *variant, char **counters, Error *error) {
    char folder[PATH_SIZE], program[PATH_SIZE];
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
                               "N=200",
                               "NKV=330",
                               has(variant, "d64_") ? "D=64" : "D=128",
                               has(variant, "bf16") ? "DTYPE=bf16" : "DTYPE=fp16",
                               has(variant, "causal") ? "CAUSAL=1" : "CAUSAL=0",
                               folder,
                               NULL};
    return run_program(NULL, arguments, counters, error);
}
