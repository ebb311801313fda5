/* Which loads only guess: those of what a compare-and-swap then compares with. If another thread
 * has changed it meanwhile, the swap finds out, so for the search for races they are as good as
 * relaxed ones. The CUDA C++ Programming Guide builds other atomics so, and cuda_bf16.h its
 * atomicAdd for devices before sm_90. */
#include <stdlib.h>

#include "decode/cfg.h"
#include "machine/memory/race.h"

static bool is_swap(const Op *op) {
    for (int i = 1; op_is(op, "atom") && i < op->source->parts; i++)
        if (text_is(op->source->part[i], "cas")) return true;
    return false;
}

/* Marks what the operation makes a guess of; true if that is new. */
static bool mark_guess(const Op *op, bool *guess) {
    const bool moves = op_is(op, "mov") && op->operands == 2 && guess[op->r[0]];
    if (!moves && !is_swap(op)) return false;
    bool *from = &guess[op->r[moves ? 1 : 2]], known = *from;
    *from = true;
    return !known;
}

void find_guesses(Kernel *kernel) {
    bool *guess = calloc((size_t)kernel->values, sizeof *guess); /* by value */
    if (!guess) abort();
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < kernel->ops; i++) changed |= mark_guess(&kernel->op[i], guess);
    }
    for (int i = 0; i < kernel->ops; i++) {
        Op *op = &kernel->op[i];
        if (op_is(op, "ld") && op->definitions == 1 && guess[op->r[0]]) op->order |= RACE_STRONG;
    }
    free(guess);
}
