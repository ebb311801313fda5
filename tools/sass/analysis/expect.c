#include "analysis/expect.h"

#include "analysis/classes.h"
#include "list.h"
#include "analysis/simulated.h"

#include <ctype.h>
#include <math.h>

typedef struct Constant {
    char name[PATTERN_SIZE];
    double value;
} Constant;

/* Where the reader stands in a line of the signature. */
typedef struct Reader {
    const Module *module;
    const char *path;
    int line;
    const char *at;          /* the text that is still to be read */
    char word[PATTERN_SIZE]; /* the next word or sign; "" at the end */
    bool applies;            /* the line is about this module */
    int kernel;              /* of the line's scope; -1: all */
    Assertion *assertion;    /* of the line */
    int comment;             /* the first of those directly above */
    Constant constant[MAX_CONSTANTS];
    int constants;
    bool failed;
    Error *error;
} Reader;

static bool fail(Reader *reader, const char *what) {
    if (!reader->failed)
        error_set(reader->error, STATUS_USAGE, "%s:%d: %s '%s'", reader->path, reader->line, what,
                  reader->word);
    reader->failed = true;
    return false;
}

static bool is_word_character(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Goes on to the next word: a name, a number, a relation or a sign. */
static void advance(Reader *reader) {
    size_t length = 0;
    const char *at = reader->at + strspn(reader->at, " \t\r");
    while (is_word_character(at[length])) length++;
    if (length == 0 && *at) length = strchr("=!<>", *at) && at[1] == '=' ? 2 : 1;
    snprintf(reader->word, PATTERN_SIZE, "%.*s", (int)length, at);
    reader->at = at + length;
}

static bool is(const Reader *reader, const char *word) { return strcmp(reader->word, word) == 0; }

static bool take(Reader *reader, const char *word) {
    if (!is(reader, word)) return false;
    advance(reader);
    return true;
}

/* The head size that the variant's name says, or 0. */
static int head_size(const Module *module) {
    return module->variant[0] == 'd' ? atoi(module->variant + 1) : 0;
}

static int largest(int a, int b) { return a > b ? a : b; }

/* A quantity of the module, or of the one kernel of the scope. */
static bool read_quantity(Reader *reader, double *value) {
    const Module *module = reader->module;
    int registers = -1, stack = -1, shared = -1;
    for (int k = 0; k < module->kernels; k++) {
        if (reader->kernel >= 0 && reader->kernel != k) continue;
        registers = largest(registers, module->kernel[k].registers);
        stack = largest(stack, module->kernel[k].stack);
        shared = largest(shared, kernel_shared(&module->kernel[k]));
    }
    const struct {
        const char *name;
        int value;
    } quantities[] = {{"kernels", module->kernels},
                      {"registers", registers},
                      {"stack", stack},
                      {"shared_bytes", shared},
                      {"d", head_size(module)}};
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        if (is(reader, quantities[i].name)) {
            *value = quantities[i].value;
            return true;
        }
    return false;
}

/* A counter of the simulator. Where nobody asked it, the line is not about this module. */
static bool read_counter(Reader *reader, double *value) {
    if (!is_counter(reader->word)) return false;
    if (!reader->module->counters)
        reader->applies = false;
    else if (!counter_value(reader->module->counters, reader->word, value))
        fail(reader, "the simulator has not counted");
    return true;
}

static bool read_constant(const Reader *reader, double *value) {
    for (int i = reader->constants - 1; i >= 0; i--)
        if (is(reader, reader->constant[i].name)) {
            *value = reader->constant[i].value;
            return true;
        }
    return false;
}

/* Whether there is such an opcode: the table of classes knows it, or the module has it. A misspelt
 * one would be asserted to be absent, and be so for ever. */
static bool is_opcode(const Module *module, const char *pattern) {
    const Instruction alone = {.guard = "", .opcode = pattern, .operands = ""};
    bool found = opcode_class(&alone) != CLASS_OTHER;
    for (int k = 0; k < module->kernels; k++)
        for (int i = 0; i < module->kernel[k].function->instructions && !found; i++)
            found = opcode_matches(&module->kernel[k].function->instruction[i], pattern);
    return found;
}

/* An opcode, a class or "all". */
static bool read_pattern(Reader *reader, char pattern[PATTERN_SIZE]) {
    const bool spills = is(reader, "spills"); /* what uses local memory, by its usual cause */
    const bool named = isupper((unsigned char)reader->word[0]) || is(reader, "all") || spills ||
                       class_named(reader->word) != CLASSES;
    if (!named) return fail(reader, "an opcode or a class is missing at");
    if (isupper((unsigned char)reader->word[0]) && !is_opcode(reader->module, reader->word))
        return fail(reader, "there is no opcode");
    strcpy(pattern, spills ? "local" : reader->word);
    advance(reader);
    return true;
}

/* [before|after first|last PATTERN] or [split by PATTERN] */
static bool read_order(Reader *reader, Selection *selection) {
    if (take(reader, "split")) {
        selection->order = ORDER_SPLIT;
        return take(reader, "by") ? read_pattern(reader, selection->other)
                                  : fail(reader, "'by' is missing at");
    }
    if (!is(reader, "before") && !is(reader, "after")) return true;
    selection->order = is(reader, "before") ? ORDER_BEFORE : ORDER_AFTER;
    advance(reader);
    selection->last = is(reader, "last");
    if (!take(reader, "first") && !take(reader, "last"))
        return fail(reader, "'first' or 'last' is missing at");
    return read_pattern(reader, selection->other);
}

static int read_region(Reader *reader) {
    for (int r = 0; r < REGION_PADDING; r++)
        if (take(reader, region_name((Region)r))) return r;
    return -1;
}

static void count(const Module *module, Selection *selection) {
    for (int k = 0; k < module->kernels; k++)
        for (int i = 0; i < module->kernel[k].function->instructions; i++)
            selection->count += selection_has(selection, module, k, i);
}

/* [REGION] PATTERN [ORDER] */
static double read_selection(Reader *reader) {
    Selection selection = {.kernel = reader->kernel, .region = read_region(reader)};
    if (read_pattern(reader, selection.pattern) && read_order(reader, &selection))
        count(reader->module, &selection);
    if (reader->assertion->selections < MAX_SELECTIONS)
        reader->assertion->selection[reader->assertion->selections++] = selection;
    return selection.count;
}

static double read_sum(Reader *reader, int depth);

static double read_factor(Reader *reader, int depth) {
    double value = 0;
    char *end;
    if (take(reader, "(")) {
        if (depth == 0) return fail(reader, "too many parentheses at");
        value = read_sum(reader, depth - 1);
        if (!take(reader, ")")) fail(reader, "')' is missing at");
        return value;
    }
    if (isdigit((unsigned char)reader->word[0])) {
        value = strtod(reader->word, &end);
        if (*end) fail(reader, "this is not a number:");
    } else if (!read_quantity(reader, &value) && !read_counter(reader, &value) &&
               !read_constant(reader, &value))
        return read_selection(reader);
    advance(reader);
    return value;
}

static double read_product(Reader *reader, int depth) {
    double value = read_factor(reader, depth);
    while (is(reader, "*") || is(reader, "/")) {
        const bool times = is(reader, "*");
        advance(reader);
        const double factor = read_factor(reader, depth);
        value = times ? value * factor : value / factor;
    }
    return value;
}

static double read_sum(Reader *reader, int depth) {
    double value = read_product(reader, depth);
    while (is(reader, "+") || is(reader, "-")) {
        const bool plus = is(reader, "+");
        advance(reader);
        const double term = read_product(reader, depth);
        value = plus ? value + term : value - term;
    }
    return value;
}

/* What holds if one side is less than the other, equal, more. Something divided by none is no
 * number, and nothing holds of it. */
typedef struct Relation {
    const char *sign;
    bool less, equal, more;
} Relation;

static bool compare(const Relation *relation, double a, double b) {
    return isfinite(a) && isfinite(b) &&
           ((relation->less && a < b) || (relation->equal && a == b) || (relation->more && a > b));
}

/* The next word as a relation, or NULL. */
static const Relation *read_relation(Reader *reader) {
    static const Relation relations[] = {{"==", false, true, false}, {"!=", true, false, true},
                                         {"<=", true, true, false},  {">=", false, true, true},
                                         {"<", true, false, false},  {">", false, false, true}};
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++)
        if (take(reader, relations[i].sign)) return &relations[i];
    fail(reader, "one of == != <= >= < > is missing at");
    return NULL;
}

enum { DEPTH = 8 }; /* parentheses in parentheses */

/* NAME = SUM */
static void read_definition(Reader *reader, const char *name) {
    advance(reader);
    const double value = read_sum(reader, DEPTH);
    if (reader->constants == MAX_CONSTANTS) {
        fail(reader, "there are too many constants at");
        return;
    }
    Constant *constant = &reader->constant[reader->constants++];
    strcpy(constant->name, name);
    constant->value = value;
}

/* SUM RELATION SUM */
static void read_assertion(Reader *reader) {
    Assertion *assertion = reader->assertion;
    assertion->found = read_sum(reader, DEPTH);
    const Relation *relation = read_relation(reader);
    if (!relation) return;
    strcpy(assertion->relation, relation->sign);
    assertion->expected = read_sum(reader, DEPTH);
    assertion->holds = compare(relation, assertion->found, assertion->expected);
}

/* True if the next word is a name and a single "=" follows. */
static bool is_definition(const Reader *reader) {
    const char *at = reader->at + strspn(reader->at, " \t");
    return islower((unsigned char)reader->word[0]) && at[0] == '=' && at[1] != '=';
}

/* One word of a scope, which may speak of something else. */
static bool read_scope_word(Reader *reader) {
    static const char *const variants[] = {"d64", "d128", "fp16", "bf16", "full", "causal"};
    char parts[MODULE_NAME_SIZE + 2], part[PATTERN_SIZE + 2];
    if (strncmp(reader->word, "sm_", 3) == 0) {
        reader->applies &= is(reader, reader->module->arch);
        return true;
    }
    snprintf(parts, sizeof parts, "_%s_", reader->module->variant);
    snprintf(part, sizeof part, "_%s_", reader->word);
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        if (is(reader, variants[i])) {
            reader->applies &= strstr(parts, part) != NULL;
            return true;
        }
    for (int k = 0; k < reader->module->kernels; k++)
        if (is(reader, reader->module->kernel[k].name)) {
            reader->kernel = k;
            return true;
        }
    return fail(reader, "a scope is sm_80 and the like, d64, d128, fp16, bf16, full, causal or a "
                        "kernel of the stage; not");
}

/* [WORD ... :] */
static bool read_scope(Reader *reader) {
    reader->applies = true;
    if (!strchr(reader->at, ':')) return true;
    while (!is(reader, ":")) {
        if (!read_scope_word(reader)) return false;
        advance(reader);
    }
    advance(reader);
    return true;
}

/* The text without the blanks around it. */
static char *trimmed(char *text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t", text[length - 1])) length--;
    text[length] = '\0';
    return text;
}

/* Takes the comment off a line, and gives the assertion what is its own. */
static char *read_comment(Reader *reader, char *line, Signature *signature) {
    Assertion *assertion = reader->assertion;
    line[strcspn(line, "\r")] = '\0';
    char *comment = strchr(line, '#');
    if (comment) {
        *comment++ = '\0';
        *(const char **)LIST_ADD(signature->comment, signature->comments) = trimmed(comment);
    }
    line = trimmed(line);
    assertion->comment = comment && *line ? signature->comments - 1 : reader->comment;
    assertion->comments = signature->comments - assertion->comment;
    if (!comment || *line) reader->comment = signature->comments;
    return line;
}

static void read_line(Reader *reader, char *line, Signature *signature) {
    Assertion assertion = {.line = reader->line};
    reader->assertion = &assertion;
    line = read_comment(reader, line, signature);
    assertion.text = line;
    reader->at = line;
    reader->kernel = -1;
    advance(reader);
    if (is(reader, "") || !read_scope(reader)) return;
    const bool definition = is_definition(reader);
    const int constants = reader->constants;
    char name[PATTERN_SIZE];
    strcpy(name, reader->word);
    if (definition) {
        advance(reader);
        read_definition(reader, name);
    } else
        read_assertion(reader);
    if (!is(reader, "")) fail(reader, "the line should end before");
    if (!reader->applies) reader->constants = constants;
    if (definition || !reader->applies) return;
    *(Assertion *)LIST_ADD(signature->assertion, signature->assertions) = assertion;
    signature->holding += assertion.holds;
}

bool signature_read(char *text, const char *path, const Module *module, Signature *signature,
                    Error *error) {
    Reader reader = {.module = module, .path = path, .error = error};
    *signature = (Signature){0};
    while (text) {
        char *line = text, *end = strchr(text, '\n');
        if (end) *end++ = '\0';
        text = end;
        reader.line++;
        read_line(&reader, line, signature);
    }
    if (signature->assertions == 0) fail(&reader, "nothing is asserted by");
    if (reader.failed) signature_free(signature);
    return !reader.failed;
}

void signature_free(Signature *signature) {
    free(signature->assertion);
    free(signature->comment);
    *signature = (Signature){0};
}
