/* mutate FILE [NUMBER] [SAMPLE=count] [SEED=number]
 *
 * Without NUMBER lists the mutants of a kernel.cu or of a file of C, see mutant_list; SAMPLE lists
 * so many of them, and always every removed synchronisation. With NUMBER prints the file with that
 * mutant applied. */
#include "mutants.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct Arguments {
    const char *file;
    int number; /* 0: list them */
    int sample; /* INT_MAX: all */
    unsigned seed;
} Arguments;

static bool read_number(const char *text, long least, long *number) {
    char *end;
    *number = strtol(text, &end, 10);
    return *text && !*end && *number >= least && *number <= INT_MAX;
}

static bool parse(int count, char *const argument[], Arguments *arguments, Error *error) {
    *arguments = (Arguments){.sample = INT_MAX, .seed = 1};
    for (int i = 0; i < count; i++) {
        long number;
        if (strncmp(argument[i], "SAMPLE=", 7) == 0) {
            if (!read_number(argument[i] + 7, 0, &number))
                return error_set(error, STATUS_USAGE, "SAMPLE must be a number; not '%s'",
                                 argument[i] + 7);
            arguments->sample = (int)number;
        } else if (strncmp(argument[i], "SEED=", 5) == 0) {
            if (!read_number(argument[i] + 5, 0, &number))
                return error_set(error, STATUS_USAGE, "SEED must be a number; not '%s'",
                                 argument[i] + 5);
            arguments->seed = (unsigned)number;
        } else if (!arguments->file) {
            arguments->file = argument[i];
        } else {
            if (!read_number(argument[i], 1, &number))
                return error_set(error, STATUS_USAGE, "a mutant has a number from 1; not '%s'",
                                 argument[i]);
            arguments->number = (int)number;
        }
    }
    return arguments->file || error_set(error, STATUS_USAGE,
                                        "usage: mutate FILE [NUMBER] [SAMPLE=count] [SEED=number]");
}

static bool list(const Mutants *mutants, const Arguments *arguments, Error *error) {
    bool *chosen = calloc((size_t)mutants->count + 1, sizeof *chosen);
    if (!chosen) return error_set(error, STATUS_SKIP, "out of memory");
    const bool done = mutants_sample(mutants, arguments->sample, arguments->seed, chosen, error);
    for (int i = 0; done && i < mutants->count; i++)
        if (chosen[i]) mutant_list(mutants, i, stdout);
    free(chosen);
    return done;
}

static bool print(const Mutants *mutants, const Arguments *arguments, Error *error) {
    if (arguments->number > mutants->count)
        return error_set(error, STATUS_USAGE, "%s has mutants 1 to %d; not '%d'", arguments->file,
                         mutants->count, arguments->number);
    mutant_print(mutants, arguments->number - 1, stdout);
    return true;
}

int main(int count, char *argument[]) {
    Arguments arguments;
    Error error;
    Source source = {0};
    Mutants mutants = {0};
    bool done = parse(count - 1, argument + 1, &arguments, &error) &&
                source_read(arguments.file, &source, &error) &&
                mutants_find(&source, &mutants, &error);
    if (done) done = (arguments.number ? print : list)(&mutants, &arguments, &error);
    mutants_free(&mutants);
    source_free(&source);
    if (!done) fprintf(stderr, "mutate: %s\n", error.text);
    return done ? STATUS_PASS : (int)error.status;
}
