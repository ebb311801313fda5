/* Mutants of a kernel or of a file of C: small edits, each a mistake that somebody could make. */
#ifndef MUTATE_MUTANTS_H
#define MUTATE_MUTANTS_H

#include "tokens.h"

#include <stdint.h>
#include <stdio.h>

/* Bytes begin .. end - 1 of the text become `text`. */
typedef struct Mutant {
    const char *operation; /* "remove sync", ... */
    int begin, end;
    char *text;
    bool host; /* code of the host depends on it, too */
} Mutant;

typedef struct Mutants {
    const Source *source;
    const bool *sync; /* of each token: the name of a function that synchronises */
    Mutant *mutant;
    int count, capacity;
    bool host;   /* for the next mutants */
    bool failed; /* out of memory */
} Mutants;

/* Adds the mutant that replaces tokens first .. last by the formatted text; not twice the same, and
 * none that changes nothing. Line breaks go on: the lines behind it keep their numbers. */
void add_mutant(Mutants *mutants, const char *operation, int first, int last, const char *format,
                ...) __attribute__((format(printf, 5, 6)));

/* The length and the begin of tokens first .. last in the text, for %.*s. */
#define TOKENS(source, first, last)                           \
    (source)->token[last].end - (source)->token[first].begin, \
        (source)->text + (source)->token[first].begin

/* Each looks at one token and adds the mutants that begin or have their operator there. */
typedef void Operator(Mutants *mutants, int i);
extern Operator *const operators[]; /* ended by NULL */

/* All mutants of the source, in the order of its tokens. mutants_free also after a failure. */
bool mutants_find(const Source *source, Mutants *mutants, Error *error);
void mutants_free(Mutants *mutants);

/* Whether the mutant is one of `wanted`: those that remove a synchronisation always are, of the
 * others as many as are missing, chosen by a hash of their edit and its line: an edit of the kernel
 * elsewhere does not change the choice. `chosen` has a place for each mutant. */
bool mutants_sample(const Mutants *mutants, int wanted, uint64_t seed, bool *chosen, Error *error);

/* With tabs between: number, line, operator, the first line that changes, what it becomes, the line
 * above that is not empty, and "host" or "device": where the code that changes runs. */
void mutant_list(const Mutants *mutants, int i, FILE *file);

/* The whole text with the mutant applied. */
void mutant_print(const Mutants *mutants, int i, FILE *file);

#endif
