/* Which elements of loads are only passed on, from one place to another. Nobody writes the padding
 * of a struct, but who copies the struct copies it, too, or loads it as a part of a vector. */
#include <stdlib.h>

#include "decode/cfg.h"

enum { PASSED_ON = 1, COMPUTED = 2 }; /* what happens to a value */

/* Whether the operation does no more with operand r than to pass it on: to memory, or to a register
 * of which the same holds. */
static bool passes_on(const Op *op, int r, const uint8_t *fate) {
    if (op_is(op, "st")) return r > 0 && r <= op->elements;
    bool passes = op_is(op, "mov") || (op_is(op, "selp") && r < 3);
    for (int i = 0; i < op->definitions; i++) passes = passes && !(fate[op->r[i]] & COMPUTED);
    return passes;
}

/* Notes what the operation does with values; true if it computes with one more. */
static bool note_fates(const Op *op, uint8_t *fate) {
    bool changed = false;
    for (int r = op->updates ? 0 : op->definitions; r < op->operands; r++) {
        if (op->r[r] < 0 || fate[op->r[r]] & COMPUTED) continue;
        const bool passed = passes_on(op, r, fate);
        fate[op->r[r]] |= passed ? PASSED_ON : COMPUTED;
        changed |= !passed;
    }
    return changed;
}

/* What goes nowhere counts as copied if it is loaded beside what goes somewhere. */
static void note_copies(Op *op, const uint8_t *fate) {
    uint8_t any = 0;
    for (int e = 0; op_is(op, "ld") && e < op->definitions; e++) {
        op->copied |= (uint8_t)(!(fate[op->r[e]] & COMPUTED) << e);
        any |= fate[op->r[e]];
    }
    if (!any) op->copied = 0;
}

void find_copies(Kernel *kernel) {
    uint8_t *fate = calloc((size_t)kernel->values, sizeof *fate);
    if (!fate) abort();
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = kernel->ops - 1; i >= 0; i--) changed |= note_fates(&kernel->op[i], fate);
    }
    for (int i = 0; i < kernel->ops; i++) note_copies(&kernel->op[i], fate);
    free(fate);
}
