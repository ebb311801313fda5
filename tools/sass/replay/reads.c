#include "replay/reads.h"

#include "analysis/classes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "-R12.H0_H0" or "|R12|.reuse" is 12; anything else, RZ too, is no register. */
static int register_of(const char *operand) {
    const char *at = operand + strspn(operand, "-|~! ");
    if (*at != 'R' || !isdigit((unsigned char)at[1])) return NO_REGISTER;
    return atoi(at + 1);
}

static bool is_kept(const char *operand, size_t length) {
    static const char mark[] = ".reuse";
    return memmem(operand, length, mark, strlen(mark)) != NULL;
}

static bool is_result(const char *operand) { return *operand == 'R' || *operand == 'U'; }

Operands operands_of(const Instruction *instruction) {
    Operands operands = {{NO_REGISTER, NO_REGISTER, NO_REGISTER}, {false}};
    const char *at = instruction->operands;
    bool first = true;
    for (int slot = 0; slot < SLOTS;) {
        at += strspn(at, ", ");
        const size_t length = strcspn(at, ",");
        if (!(first && is_result(at)) && *at != 'P') {
            operands.source[slot] = register_of(at);
            operands.kept[slot++] = is_kept(at, length);
        }
        first = false;
        at += length;
    }
    return operands;
}

/* Registers that a load writes: its last suffix says 2 or 4, or how many bits. */
static int results_of(const Instruction *load) {
    const char *suffix = strrchr(load->opcode, '.');
    const int number = suffix ? atoi(suffix + 1) : 0;
    if (number == 128 || number == 4) return 4;
    return number == 64 || number == 2 ? 2 : 1;
}

static bool is_load(const Instruction *instruction) {
    static const char *const loads[] = {"LDS", "LDSM", "LDG", "SHFL", NULL};
    for (int i = 0; loads[i]; i++)
        if (opcode_is(instruction, loads[i])) return true;
    return false;
}

static bool begins_register(const char *text, const char *at) {
    return *at == 'R' && isdigit((unsigned char)at[1]) &&
           (at == text || !isalnum((unsigned char)at[-1]));
}

int ports_of(const Instruction *instruction) {
    if (is_load(instruction)) return results_of(instruction);
    const char *text = instruction->operands;
    int registers = 0;
    for (const char *at = text; *at; at++) registers += begins_register(text, at);
    return registers - begins_register(text, text);
}
