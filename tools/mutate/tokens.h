/* The text of a kernel, or of a C file, as tokens, with just as much structure as operators need:
 * brackets, statements, functions. It reads C as clang-format writes it: a binary operator has
 * blanks on both sides, and the < of a template, the * of a pointer and a sign have not. */
#ifndef MUTATE_TOKENS_H
#define MUTATE_TOKENS_H

#include "base/error.h"

#include <stdbool.h>

typedef enum TokenKind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCTUATION } TokenKind;

/* Comments and lines of the preprocessor are no tokens. Both branches of an #if are there. */
typedef struct Token {
    TokenKind kind;
    int begin, end; /* bytes of the text */
    int line;       /* from 1 */
    int mate;       /* of a bracket: the one that it belongs to; else, or if it has none, -1 */
    int parent;     /* the bracket around the token, -1: none */
    bool spaced;    /* blanks, or the end of a line, on both sides */
} Token;

typedef struct Source {
    bool plain_c; /* its name ends with ".c": nothing in it runs on a device */
    char *text;
    int length;
    Token *token;
    int count;
} Source;

/* Reads the file and finds its tokens. source_free also after a failure. */
bool source_read(const char *path, Source *source, Error *error);
void source_free(Source *source);

/* Whether token i is this text; whether the tokens are the same text. False beyond the ends. */
bool token_is(const Source *source, int i, const char *text);
bool token_in(const Source *source, int i, const char *const texts[]); /* ended by NULL */
bool token_is_kind(const Source *source, int i, TokenKind kind);

/* The precedence of binary operator i, from 1 (||) to 10 (* / %); 0: it is none of them. */
int token_precedence(const Source *source, int i);

/* The operands of binary operator i, as the first and the last token of an operand. */
int operand_first(const Source *source, int i); /* of the left operand */
int operand_last(const Source *source, int i);  /* of the right operand */

/* The token that ends the statement which begins with token i, its ';'; -1: no simple statement
 * begins there. */
int statement_end(const Source *source, int i);

/* A part of the file that may be changed: tokens first .. last of a function's body, or of what a
 * constexpr at file level is set to; in plain C of what a constant, a table or an enum is. */
typedef struct Region {
    int name; /* token: the name of the function or constant */
    int first, last;
    bool host; /* code of the host depends on it, too */
} Region;

/* The next region that begins at token i or later. False: there is none. */
bool next_region(const Source *source, int i, Region *region);

#endif
