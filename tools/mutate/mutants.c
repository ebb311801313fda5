#include "mutants.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Cuts off what the old text and the new one begin and end with. */
static void trim(const Source *source, Mutant *mutant) {
    size_t length = strlen(mutant->text), same = 0;
    const char *old = source->text + mutant->begin;
    size_t old_length = (size_t)(mutant->end - mutant->begin);
    while (same < length && same < old_length && old[same] == mutant->text[same]) same++;
    memmove(mutant->text, mutant->text + same, length - same + 1);
    mutant->begin += (int)same;
    length -= same;
    while (length > 0 && mutant->end > mutant->begin &&
           source->text[mutant->end - 1] == mutant->text[length - 1]) {
        mutant->text[--length] = '\0';
        mutant->end--;
    }
}

static int line_breaks(const char *text, size_t length) {
    int count = 0;
    for (size_t i = 0; i < length; i++) count += text[i] == '\n';
    return count;
}

static bool known(const Mutants *mutants, const Mutant *new) {
    for (int i = 0; i < mutants->count; i++) {
        const Mutant *old = &mutants->mutant[i];
        if (old->begin == new->begin && old->end == new->end &&strcmp(old->text, new->text) == 0)
            return true;
    }
    return false;
}

static bool append(Mutants *mutants, const Mutant *new) {
    if (mutants->count == mutants->capacity) {
        const int capacity = 2 * mutants->capacity + 256;
        Mutant *grown = realloc(mutants->mutant, (size_t)capacity * sizeof *grown);
        if (!grown) return false;
        mutants->mutant = grown;
        mutants->capacity = capacity;
    }
    mutants->mutant[mutants->count++] = *new;
    return true;
}

void add_mutant(Mutants *mutants, const char *operation, int first, int last, const char *format,
                ...) {
    const Source *source = mutants->source;
    Mutant new = {.operation = operation,
                  .begin = source->token[first].begin,
                  .end = source->token[last].end,
                  .host = mutants->host};
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    const int missing = length < 0
                            ? 0
                            : line_breaks(source->text + new.begin, (size_t)(new.end - new.begin)) -
                                  line_breaks(text, (size_t)length);
    if (length < 0 ||
        asprintf(&new.text, "%s%.*s", text, missing > 0 ? missing : 0,
                 "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n") < 0) {
        if (length >= 0) free(text);
        mutants->failed = true;
        return;
    }
    free(text);
    trim(source, &new);
    if ((new.begin == new.end && !*new.text) || known(mutants, &new))
        free(new.text);
    else if (!append(mutants, &new)) {
        free(new.text);
        mutants->failed = true;
    }
}

/* ---- Functions that synchronise ---------------------------------------------------------------*/

static bool contains(const char *text, int length, const char *word) {
    return memmem(text, (size_t)length, word, strlen(word)) != NULL;
}

/* Instructions of PTX, in an asm string, and functions of CUDA that order threads, copies or
 * memory. */
static bool synchronises(const Source *source, int i) {
    static const char *const words[] = {"bar.",           "barrier",    "fence",
                                        "membar",         "wait_",      "commit_",
                                        "griddepcontrol", "setmaxnreg", NULL};
    static const char *const prefixes[] = {
        "__syncthreads",      "__syncwarp", "__threadfence", "__pipeline_", "cudaGridDependency",
        "cudaTriggerProgram", NULL};
    const Token *token = &source->token[i];
    const char *text = source->text + token->begin;
    if (token->kind == TOKEN_STRING)
        for (int w = 0; words[w]; w++)
            if (contains(text, token->end - token->begin, words[w])) return true;
    if (token->kind == TOKEN_NAME)
        for (int p = 0; prefixes[p]; p++)
            if (strncmp(text, prefixes[p], strlen(prefixes[p])) == 0) return true;
    return false;
}

static bool same_token(const Source *source, int a, int b) {
    const Token *s = &source->token[a], *t = &source->token[b];
    return s->kind == t->kind && s->end - s->begin == t->end - t->begin &&
           memcmp(source->text + s->begin, source->text + t->begin, (size_t)(s->end - s->begin)) ==
               0;
}

/* Marks all tokens that are the name of a function whose body has a marked token: a wrapper of a
 * synchronisation, or something that calls one. One pass is enough, for C defines before use. */
static void mark_functions(const Source *source, bool *sync) {
    if (source->plain_c) return; /* no function there synchronises the threads of a kernel */
    for (int i = 0; i < source->count; i++) sync[i] = synchronises(source, i);
    Region region;
    for (int i = 0; next_region(source, i, &region); i = region.last + 1) {
        bool any = false;
        for (int j = region.first; j <= region.last; j++) any = any || sync[j];
        for (int j = 0; any && j < source->count; j++)
            sync[j] = sync[j] || same_token(source, j, region.name);
    }
}

/* ---- All of them ------------------------------------------------------------------------------*/

/* attention_supports refuses what no simulator could run: nothing to be seen there. */
static bool wanted(const Source *source, const Region *region) {
    return !token_is(source, region->name, "attention_supports");
}

bool mutants_find(const Source *source, Mutants *mutants, Error *error) {
    *mutants = (Mutants){.source = source};
    bool *sync = calloc((size_t)source->count + 1, sizeof *sync);
    if (!sync) return error_set(error, STATUS_SKIP, "out of memory");
    mark_functions(source, sync);
    mutants->sync = sync;
    Region region;
    for (int i = 0; next_region(source, i, &region); i = region.last + 1) {
        mutants->host = region.host;
        for (int j = region.first; wanted(source, &region) && j <= region.last; j++)
            for (int o = 0; operators[o]; o++) operators[o](mutants, j);
    }
    mutants->sync = NULL;
    free(sync);
    return !mutants->failed || error_set(error, STATUS_SKIP, "out of memory");
}

void mutants_free(Mutants *mutants) {
    for (int i = 0; i < mutants->count; i++) free(mutants->mutant[i].text);
    free(mutants->mutant);
    *mutants = (Mutants){0};
}

/* ---- Where a mutant is ------------------------------------------------------------------------*/

static int line_begin(const Source *source, int at) {
    while (at > 0 && source->text[at - 1] != '\n') at--;
    return at;
}

static int line_number(const Source *source, int at) {
    return 1 + line_breaks(source->text, (size_t)at);
}

/* The line without the blanks around it; more than one blank inside becomes one. */
static void print_line(const char *text, size_t length, FILE *file) {
    bool blank = false, begun = false;
    for (size_t i = 0; i < length && text[i] != '\n'; i++) {
        if (isspace((unsigned char)text[i])) {
            blank = begun;
            continue;
        }
        if (blank) putc(' ', file);
        putc(text[i], file);
        blank = false;
        begun = true;
    }
}

void mutant_list(const Mutants *mutants, int i, FILE *file) {
    const Source *source = mutants->source;
    const Mutant *mutant = &mutants->mutant[i];
    const int begin = line_begin(source, mutant->begin), before = mutant->begin - begin;
    fprintf(file, "%d\t%d\t%s\t", i + 1, line_number(source, mutant->begin), mutant->operation);
    print_line(source->text + begin, (size_t)(source->length - begin), file);
    char *line = NULL;
    const int length = asprintf(&line, "%.*s%s%s", before, source->text + begin, mutant->text,
                                source->text + mutant->end);
    putc('\t', file);
    if (length >= 0) print_line(line, (size_t)length, file);
    if (length >= 0) free(line);
    putc('\t', file);
    int above = begin;
    while (above > 0 && isspace((unsigned char)source->text[above - 1])) above--;
    above = line_begin(source, above);
    print_line(source->text + above, (size_t)(source->length - above), file);
    fprintf(file, "\t%s\n", mutant->host ? "host" : "device");
}

void mutant_print(const Mutants *mutants, int i, FILE *file) {
    const Source *source = mutants->source;
    const Mutant *mutant = &mutants->mutant[i];
    fwrite(source->text, 1, (size_t)mutant->begin, file);
    fputs(mutant->text, file);
    fwrite(source->text + mutant->end, 1, (size_t)(source->length - mutant->end), file);
}

/* ---- A sample ---------------------------------------------------------------------------------*/

/* FNV-1a, 64 bits. */
static uint64_t mix(uint64_t hash, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_of(const Mutants *mutants, int i, uint64_t seed) {
    const Source *source = mutants->source;
    const Mutant *mutant = &mutants->mutant[i];
    const int begin = line_begin(source, mutant->begin);
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325) ^ seed, mutant->text, strlen(mutant->text));
    hash = mix(hash, source->text + begin, (size_t)(mutant->end - begin));
    return mix(hash, mutant->operation, strlen(mutant->operation));
}

typedef struct Candidate {
    uint64_t hash;
    int mutant;
} Candidate;

static int by_hash(const void *a, const void *b) {
    const uint64_t x = ((const Candidate *)a)->hash, y = ((const Candidate *)b)->hash;
    return (x > y) - (x < y);
}

bool mutants_sample(const Mutants *mutants, int wanted_count, uint64_t seed, bool *chosen,
                    Error *error) {
    Candidate *candidate = calloc((size_t)mutants->count + 1, sizeof *candidate);
    if (!candidate) return error_set(error, STATUS_SKIP, "out of memory");
    int count = 0;
    for (int i = 0; i < mutants->count; i++) {
        chosen[i] = strcmp(mutants->mutant[i].operation, "remove sync") == 0;
        if (chosen[i])
            wanted_count--;
        else
            candidate[count++] = (Candidate){hash_of(mutants, i, seed), i};
    }
    qsort(candidate, (size_t)count, sizeof *candidate, by_hash);
    for (int i = 0; i < count && i < wanted_count; i++) chosen[candidate[i].mutant] = true;
    free(candidate);
    return true;
}
