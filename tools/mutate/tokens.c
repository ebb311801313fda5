#include "tokens.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 64 };

/* Open brackets, by the number of their token. */
typedef struct Stack {
    int open[MAX_NESTING];
    int depth;
} Stack;

typedef struct Reader {
    Source *source;
    int at, line, capacity;
    Stack stack;
    Stack saved[MAX_NESTING]; /* the brackets that were open at each #if around this place */
    int conditions;
    const char *path;
    Error *error;
} Reader;

static bool fail(Reader *reader, const char *what) {
    return error_set(reader->error, STATUS_FAIL, "%s:%d: %s", reader->path, reader->line, what);
}

static bool load(const char *path, Source *source, Error *error) {
    FILE *file = fopen(path, "rb");
    size_t capacity = 0;
    const ssize_t length = file ? getdelim(&source->text, &capacity, '\0', file) : -1;
    if (file) fclose(file);
    if (length < 0 || length > 1 << 20)
        return error_set(error, STATUS_SKIP, "%s: there is no such file, or it is no text", path);
    source->length = (int)length;
    return true;
}

static bool starts(const Reader *reader, const char *text) {
    return strncmp(reader->source->text + reader->at, text, strlen(text)) == 0;
}

static void skip(Reader *reader, int bytes) {
    for (; bytes > 0 && reader->at < reader->source->length; bytes--)
        reader->line += reader->source->text[reader->at++] == '\n';
}

static void skip_past(Reader *reader, const char *end) {
    const char *from = reader->source->text + reader->at, *found = strstr(from, end);
    skip(reader, (int)((found ? (size_t)(found - from) : strlen(from)) + strlen(end)));
}

/* Each branch of an #if sees the brackets that were open before it; what is open behind the last
 * branch counts. */
static bool read_directive(Reader *reader) {
    char word[16] = "";
    sscanf(reader->source->text + reader->at + 1, " %15[a-z]", word);
    if (strncmp(word, "if", 2) == 0) {
        if (reader->conditions == MAX_NESTING) return fail(reader, "#if nested too deep");
        reader->saved[reader->conditions++] = reader->stack;
    } else if (strcmp(word, "endif") == 0 || strncmp(word, "el", 2) == 0) {
        if (reader->conditions == 0) return fail(reader, "there is no #if to this line");
        if (word[1] == 'l') reader->stack = reader->saved[reader->conditions - 1];
        reader->conditions -= word[1] == 'n';
    }
    const char *text = reader->source->text;
    do skip_past(reader, "\n");
    while (reader->at >= 2 && reader->at < reader->source->length && text[reader->at - 2] == '\\');
    return true;
}

/* Bytes of the name, number or string in quotes that begins here. */
static int word_length(const char *text) {
    int n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.' ||
           (n > 0 && strchr("+-", text[n]) && strchr("eE", text[n - 1]) &&
            isdigit((unsigned char)*text) && text[1] != 'x'))
        n++;
    return n;
}

static int name_length(const char *text) {
    int n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
    return n;
}

static int string_length(const char *text) {
    int n = 1;
    while (text[n] && text[n] != *text) n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return n + (text[n] != '\0');
}

static int punctuation_length(const char *text) {
    static const char *const longer[] = {"<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "<<",
                                         ">>",  "<=",  ">=",  "==",  "!=",  "&&", "||", "+=", "-=",
                                         "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "::"};
    for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++)
        if (strncmp(text, longer[i], strlen(longer[i])) == 0) return (int)strlen(longer[i]);
    return 1;
}

static bool blank(const Source *source, int at) {
    return at < 0 || at >= source->length || isspace((unsigned char)source->text[at]);
}

/* Notes the brackets around a token and, of a bracket, its mate. */
static bool place(Reader *reader, int i) {
    Token *token = &reader->source->token[i];
    Stack *stack = &reader->stack;
    const char c = reader->source->text[token->begin];
    const bool bracket = token->kind == TOKEN_PUNCTUATION && token->end - token->begin == 1;
    if (bracket && strchr(")]}", c)) {
        if (stack->depth == 0) return fail(reader, "a bracket is closed that was not opened");
        token->mate = stack->open[--stack->depth];
        reader->source->token[token->mate].mate = i;
    }
    token->parent = stack->depth ? stack->open[stack->depth - 1] : -1;
    if (bracket && strchr("([{", c)) {
        if (stack->depth == MAX_NESTING) return fail(reader, "brackets nested too deep");
        stack->open[stack->depth++] = i;
    }
    return true;
}

static bool read_token(Reader *reader) {
    Source *source = reader->source;
    const char *text = source->text + reader->at;
    Token token = {.begin = reader->at, .line = reader->line, .mate = -1};
    if (isdigit((unsigned char)*text) || (*text == '.' && isdigit((unsigned char)text[1]))) {
        token.kind = TOKEN_NUMBER;
        skip(reader, word_length(text));
    } else if (isalpha((unsigned char)*text) || *text == '_') {
        token.kind = TOKEN_NAME;
        skip(reader, name_length(text));
    } else if (*text == '"' || *text == '\'') {
        token.kind = TOKEN_STRING;
        skip(reader, string_length(text));
    } else {
        token.kind = TOKEN_PUNCTUATION;
        skip(reader, punctuation_length(text));
    }
    token.end = reader->at;
    token.spaced = blank(source, token.begin - 1) && blank(source, token.end);
    if (source->count == reader->capacity) {
        reader->capacity = 2 * reader->capacity + 1024;
        Token *grown = realloc(source->token, (size_t)reader->capacity * sizeof *grown);
        if (!grown) return fail(reader, "out of memory");
        source->token = grown;
    }
    source->token[source->count] = token;
    return place(reader, source->count++);
}

bool source_read(const char *path, Source *source, Error *error) {
    const size_t length = strlen(path);
    *source = (Source){.plain_c = length > 2 && strcmp(path + length - 2, ".c") == 0};
    if (!load(path, source, error)) return false;
    Reader reader = {.source = source, .line = 1, .path = path, .error = error};
    while (reader.at < source->length) {
        const char c = source->text[reader.at];
        bool done = true;
        if (isspace((unsigned char)c))
            skip(&reader, 1);
        else if (starts(&reader, "//"))
            skip_past(&reader, "\n");
        else if (starts(&reader, "/*"))
            skip_past(&reader, "*/");
        else if (c == '#')
            done = read_directive(&reader);
        else
            done = read_token(&reader);
        if (!done) return false;
    }
    return reader.stack.depth == 0 || fail(&reader, "a bracket is not closed");
}

void source_free(Source *source) {
    free(source->text);
    free(source->token);
    *source = (Source){0};
}

bool token_is(const Source *source, int i, const char *text) {
    if (i < 0 || i >= source->count) return false;
    const Token *token = &source->token[i];
    const size_t length = (size_t)(token->end - token->begin);
    return strlen(text) == length && memcmp(source->text + token->begin, text, length) == 0;
}

bool token_in(const Source *source, int i, const char *const texts[]) {
    for (; *texts; texts++)
        if (token_is(source, i, *texts)) return true;
    return false;
}

bool token_is_kind(const Source *source, int i, TokenKind kind) {
    return i >= 0 && i < source->count && source->token[i].kind == kind;
}

int token_precedence(const Source *source, int i) {
    static const char *const levels[][5] = {{"||"},
                                            {"&&"},
                                            {"|"},
                                            {"^"},
                                            {"&"},
                                            {"==", "!="},
                                            {"<", ">", "<=", ">="},
                                            {"<<", ">>"},
                                            {"+", "-"},
                                            {"*", "/", "%"}};
    if (i < 1 || i >= source->count || !source->token[i].spaced ||
        token_is(source, i - 1, "template"))
        return 0;
    for (int level = 0; level < 10; level++)
        if (token_in(source, i, levels[level])) return level + 1;
    return 0;
}

/* What ends an operand on either side, beside operators and brackets. */
static bool ends_operand(const Source *source, int i) {
    static const char *const ends[] = {
        ",",  ";",  "?",  ":",   "=",   "+=",     "-=", "*=", "/=", "%=",
        "&=", "|=", "^=", "<<=", ">>=", "return", "{",  "}",  NULL};
    return token_in(source, i, ends);
}

int operand_first(const Source *source, int i) {
    const int parent = source->token[i].parent, level = token_precedence(source, i);
    int first = i;
    for (int j = i - 1; j > parent; j--) {
        const int other = token_precedence(source, j);
        if (ends_operand(source, j) || (other && other <= level)) break;
        if (token_is(source, j, ")") || token_is(source, j, "]")) j = source->token[j].mate;
        first = j;
    }
    return first;
}

int operand_last(const Source *source, int i) {
    const int level = token_precedence(source, i);
    int last = i;
    for (int j = i + 1; j < source->count; j++) {
        const int other = token_precedence(source, j);
        if (ends_operand(source, j) || (other && other <= level)) break;
        if (source->token[j].mate >= 0 && source->token[j].mate < j) break;
        if (source->token[j].mate > j) j = source->token[j].mate;
        last = j;
    }
    return last;
}

/* Whether a statement can begin with token i: behind another one, or behind what governs it. */
static bool statement_begins(const Source *source, int i) {
    static const char *const before[] = {";", "{", "}", "else", "do", NULL};
    static const char *const governs[] = {"if", "for", "while", NULL};
    const int parent = source->token[i].parent;
    if (!token_is(source, parent, "{")) return false;
    if (token_is(source, i - 1, ")"))
        return token_in(source, source->token[i - 1].mate - 1, governs);
    return token_in(source, i - 1, before);
}

int statement_end(const Source *source, int i) {
    static const char *const others[] = {"if", "for", "while", "do", "else",
                                         "{",  "}",   ",",     ";",  NULL};
    if (!statement_begins(source, i) || token_in(source, i, others)) return -1;
    for (int j = i; j < source->count; j++) {
        if (token_is(source, j, ";")) return j;
        if (token_is(source, j, "}") ||
            (strchr("([{", source->text[source->token[j].begin]) && source->token[j].mate < j))
            return -1; /* the end of what is around it, or a bracket closed in another #if branch */
        if (source->token[j].mate > j) j = source->token[j].mate;
    }
    return -1;
}

/* Whether a function, by what stands before its name, is also one of the host. */
static bool is_host(const Source *source, int name) {
    static const char *const device[] = {"__device__", "__global__", NULL};
    bool host = true;
    for (int i = name; i >= 0; i--) {
        if (source->token[i].parent >= 0) continue;
        if (token_is(source, i, ";") || token_is(source, i, "}")) break;
        if (token_is(source, i, "__host__")) return true;
        if (token_in(source, i, device)) host = false;
    }
    return host;
}

/* The next token of this text, the number of tokens if there is none. */
static int next(const Source *source, int i, const char *text) {
    while (i < source->count && !token_is(source, i, text)) i++;
    return i;
}

/* `const int rows = 3;` and `static const char *const names[] = {...};`, from `const` or `static`
 * on, the value without its outer braces. */
static bool is_constant(const Source *source, int i, Region *region) {
    const int end = next(source, i, ";"), is = next(source, i, "=");
    if (is >= end || source->token[is].parent >= 0) return false;
    const bool braces = token_is(source, is + 1, "{");
    const int last = braces ? source->token[is + 1].mate : end;
    *region = (Region){.name = is - 1, .first = is + 1 + braces, .last = last - 1, .host = true};
    return true;
}

static bool is_enum(const Source *source, int i, Region *region) {
    const int open = next(source, i, "{");
    if (open > i + 2) return false;
    *region = (Region){i, open + 1, source->token[open].mate - 1, .host = true};
    return true;
}

bool next_region(const Source *source, int i, Region *region) {
    static const char *const constants[] = {"static", "const", NULL};
    for (; i < source->count; i++) {
        if (source->token[i].parent >= 0) continue;
        if (token_is(source, i, "constexpr")) {
            const int is = next(source, i, "="), end = next(source, is, ";");
            *region = (Region){.name = is - 1, .first = is + 1, .last = end, .host = true};
            return end < source->count;
        }
        if (source->plain_c && token_in(source, i, constants) && is_constant(source, i, region))
            return true;
        if (source->plain_c && token_is(source, i, "enum") && is_enum(source, i, region))
            return true;
        if (token_is(source, i, "{") && token_is(source, i - 1, ")")) {
            const int name = source->token[i - 1].mate - 1;
            *region = (Region){name, i + 1, source->token[i].mate - 1, is_host(source, name)};
            return true;
        }
    }
    return false;
}
