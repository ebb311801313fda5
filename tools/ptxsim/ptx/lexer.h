/* A cursor over PTX text: blanks, comments, words, numbers. */
#ifndef PTXSIM_LEXER_H
#define PTXSIM_LEXER_H

#include "ptx/ptx.h"

typedef struct Lexer {
    const char *at, *end;
    int line;
} Lexer;

/* The next character after blanks, 0 at the end; lexer_accept moves over it if it is `wanted`. */
char lexer_peek(Lexer *lexer);
bool lexer_accept(Lexer *lexer, char wanted);

/* The longest run of letters, digits, _ $ % and characters of `extra`; empty if there is none. */
Text lexer_word(Lexer *lexer, const char *extra);

/* A number: decimal, 0x, 0 (octal), 0b, each with an optional - and U; 0f and 0d give the bits.
 * False if there is none. */
bool lexer_number(Lexer *lexer, uint64_t *bits);

/* A decimal number with a point, "1.5" or "-2.0e-3": the bits of the double. False if there is
 * none.
 */
bool lexer_real(Lexer *lexer, uint64_t *bits);

/* Moves to the end of the line. */
void lexer_skip_line(Lexer *lexer);

#endif
