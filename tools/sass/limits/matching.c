#include "limits/matching.h"

#include "limits/json.h"
#include "list.h"

#include <ctype.h>

enum { OPCODE_SIZE = 128 };

/* A reader of PTX, statement by statement. */
typedef struct Reader {
    const char *at;
    int line, depth;
} Reader;

/* A statement: its first word behind a guard, and where it stands. */
typedef struct Statement {
    char opcode[OPCODE_SIZE];
    int first_line, last_line;
} Statement;

static void step(Reader *reader) { reader->line += *reader->at++ == '\n'; }

static void skip_line(Reader *reader) {
    while (*reader->at && *reader->at != '\n') reader->at++;
}

static void skip_blanks(Reader *reader) {
    while (isspace((unsigned char)*reader->at) || *reader->at == '/')
        if (*reader->at == '/')
            skip_line(reader);
        else
            step(reader);
}

static size_t word_length(const char *at) { return strcspn(at, " \t\r\n;{}"); }

/* "@%p1 bra L1" gives "bra". */
static void first_word(const char *text, char opcode[OPCODE_SIZE]) {
    if (*text == '@') {
        text += word_length(text);
        text += strspn(text, " \t\r\n");
    }
    snprintf(opcode, OPCODE_SIZE, "%.*s", (int)word_length(text), text);
}

/* The next instruction of a body; false behind its last brace. */
static bool next_statement(Reader *reader, Statement *statement) {
    for (;;) {
        skip_blanks(reader);
        const char *at = reader->at;
        const size_t length = word_length(at);
        if (*at == '\0') return false;
        if (*at == '{' || *at == '}' || *at == ';') {
            reader->depth += (*at == '{') - (*at == '}');
            reader->at++;
            if (reader->depth == 0) return false;
        } else if (strncmp(at, ".loc", 4) == 0) {
            skip_line(reader);
        } else if (at[length - 1] == ':') {
            reader->at += length;
        } else {
            statement->first_line = reader->line;
            while (*reader->at && *reader->at != ';') step(reader);
            statement->last_line = reader->line;
            first_word(at, statement->opcode);
            if (*at != '.') return true;
        }
    }
}

/* What is before the first brace of a kernel, or NULL. */
static const char *body_of(const char *ptx, const char *symbol) {
    const size_t length = strlen(symbol);
    for (const char *at = ptx; (at = strstr(at, ".entry "));) {
        at += strlen(".entry ");
        if (strncmp(at, symbol, length) == 0 && strchr("( \t\r\n", at[length]))
            return strstr(at, "\n{");
    }
    return NULL;
}

static void opcode_of(const Operation *operation, char opcode[OPCODE_SIZE]) {
    char text[4 * OPCODE_SIZE] = "";
    json_string(operation->text, text, sizeof text);
    first_word(text, opcode);
}

/* The simulator ends every kernel with an exit of its own. */
static bool is_all(const Counted *launch, int found) {
    char opcode[OPCODE_SIZE];
    if (found == launch->operations) return true;
    opcode_of(&launch->operation[found], opcode);
    return found + 1 == launch->operations && strcmp(opcode, "exit") == 0;
}

bool matching_find(const char *ptx, const char *symbol, const Counted *launch, Matching *matching) {
    const char *body = body_of(ptx, symbol);
    Reader reader = {.at = ptx, .line = 1};
    Statement statement;
    int found = 0;
    *matching = (Matching){0};
    if (!body) return false;
    while (reader.at < body) step(&reader);
    for (const char *at = ptx; *at; at++) matching->lines += *at == '\n';
    matching->lines++;
    matching->operation = list_zeroed((size_t)matching->lines + 1, sizeof *matching->operation);
    for (int i = 0; i <= matching->lines; i++) matching->operation[i] = -1;
    for (; next_statement(&reader, &statement); found++) {
        char opcode[OPCODE_SIZE];
        if (found == launch->operations) break;
        opcode_of(&launch->operation[found], opcode);
        if (strcmp(opcode, statement.opcode) != 0) break;
        for (int line = statement.first_line; line <= statement.last_line; line++)
            if (matching->operation[line] < 0) matching->operation[line] = found;
    }
    if (reader.depth == 0 && is_all(launch, found)) return true;
    matching_free(matching);
    return false;
}

const Kernel *matching_kernel(const Module *module, const Counted *launch, Matching *lines) {
    for (int k = 0; k < module->kernels; k++) {
        const Kernel *kernel = &module->kernel[k];
        if (strstr(kernel->function->name, launch->kernel) &&
            matching_find(module->ptx, kernel->function->name, launch, lines))
            return kernel;
    }
    return NULL;
}

void matching_free(Matching *matching) {
    free(matching->operation);
    *matching = (Matching){0};
}
