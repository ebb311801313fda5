/* Which loads and stores have the addresses of an earlier one, but for their offset: those of the
 * same address register in the same straight piece, if nothing has written it in between. */
#include <stdlib.h>

#include "decode/cfg.h"

static bool is_access(const Op *op) {
    switch ((InstructionClass)op->class) {
    case CLASS_GLOBAL_LOAD:
    case CLASS_GLOBAL_STORE:
    case CLASS_SHARED_LOAD:
    case CLASS_SHARED_STORE:
    case CLASS_LDMATRIX:
    case CLASS_STMATRIX:
        return op->straight > 0;
    default:
        return false;
    }
}

/* Loads have as many definitions as elements, and the address after them; stores begin with it. */
static int32_t address_of(const Op *op) { return op->r[op->definitions]; }

static bool alike(const Op *op, const Op *first) {
    return op->class == first->class && op->space == first->space && op->bytes == first->bytes &&
           op->elements == first->elements;
}

void find_addresses(Kernel *kernel) {
    /* by value: the access whose address it was last, until it is written; from 1, 0: none */
    int *last = calloc((size_t)kernel->values, sizeof *last);
    if (!last) abort();
    for (int i = 0, piece = 0; i < kernel->ops; i++) {
        Op *op = &kernel->op[i];
        if (op->joins || !op->straight) piece = i;
        op->repeats = -1;
        if (is_access(op)) {
            int *before = &last[address_of(op)];
            if (*before > piece && alike(op, &kernel->op[*before - 1]))
                op->repeats = *before - 1;
            else
                *before = i + 1;
        }
        for (int r = 0; r < op->definitions; r++)
            if (op->r[r] >= 0) last[op->r[r]] = 0;
    }
    free(last);
}
