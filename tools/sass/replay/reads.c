#include "replay/reads.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "-R12.H0_H0" or "|R12|.reuse" is 12; anything else, RZ too, is no register. */
static int register_of(const char *operand, size_t length) {
    const char *at = operand;
    while (at < operand + length && strchr("-|~! ", *at)) at++;
    if (*at != 'R' || !isdigit((unsigned char)at[1])) return NO_REGISTER;
    return atoi(at + 1);
}

static bool is_kept(const char *operand, size_t length) {
    static const char mark[] = ".reuse";
    for (size_t i = 0; i + strlen(mark) <= length; i++)
        if (strncmp(operand + i, mark, strlen(mark)) == 0) return true;
    return false;
}

static bool is_result(const char *operand) {
    return *operand == 'R' || (operand[0] == 'U' && operand[1] == 'R');
}

Operands operands_of(const Instruction *instruction) {
    Operands operands = {{NO_REGISTER, NO_REGISTER, NO_REGISTER}, {false}};
    const char *at = instruction->operands;
    bool first = true;
    for (int slot = 0; *at && slot < SLOTS;) {
        at += strspn(at, ", ");
        const size_t length = strcspn(at, ",");
        const bool predicate = *at == 'P' || (*at == '!' && at[1] == 'P');
        if (!(first && is_result(at)) && !predicate) {
            operands.source[slot] = register_of(at, length);
            operands.kept[slot++] = is_kept(at, length);
        }
        first = false;
        at += length;
    }
    return operands;
}
