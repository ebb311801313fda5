#include "ptx/ptx.h"

enum { WRAPPER_LINES = 4 };

/* The kernels' own file is .file 1. */
static bool belongs_to_call(const PtxModule *ptx, const Location *l) {
    const InlinedFunction *f = l->inlined < 0 ? NULL : &ptx->inlined[l->inlined];
    return l->file != 0 || (f && f->last_line - f->first_line < WRAPPER_LINES);
}

const Location *ptx_location(const PtxModule *ptx, const Instruction *in) {
    if (in->location < 0) return NULL;
    const Location *l = &ptx->location[in->location];
    while (l->parent >= 0 && belongs_to_call(ptx, l)) l = &ptx->location[l->parent];
    return l;
}

/* ---- Lines that the compiler does not know --------------------------------------------------- */

static bool is_any(const Instruction *in, const char *const name[]) {
    while (*name && !text_is(in->part[0], *name)) name++;
    return *name != NULL;
}

/* Whether something else than the next instruction may follow. */
static bool may_leave(const Instruction *in) {
    static const char *const name[] = {"bra", "brx", "ret", "exit", "trap", NULL};
    return is_any(in, name);
}

static bool is_barrier(const Instruction *in) {
    static const char *const name[] = {"bar", "barrier", NULL};
    return is_any(in, name);
}

static bool has_line(const PtxModule *ptx, const Instruction *in) {
    return in->location >= 0 && ptx->location[in->location].line > 0;
}

/* Its line is one that others can share: at a barrier's nobody looks for anything else. */
static bool has_plain_line(const PtxModule *ptx, const Instruction *in) {
    return has_line(ptx, in) && !is_barrier(in);
}

/* Where instructions without a line end that begin at `from` and are in one basic block. */
static int end_of_gap(const PtxModule *ptx, const PtxFunction *f, int from) {
    int end = from;
    while (end < f->instructions && !has_line(ptx, &f->code[end])) {
        if (end > from && f->code[end].labelled) break;
        if (may_leave(&f->code[end++])) break;
    }
    return end;
}

/* The neighbour of code[from .. end - 1] whose line these get: the next one if it is in their
 * block, else the last one, but rather the other than a barrier. */
static const Instruction *neighbour(const PtxModule *ptx, const PtxFunction *f, int from, int end) {
    const Instruction *last = &f->code[from > 0 ? from - 1 : from];
    const bool follows = end < f->instructions && !may_leave(&f->code[end - 1]);
    const Instruction *next = follows ? &f->code[end] : last;
    const Instruction *near = next->labelled ? last : next, *other = near == next ? last : next;
    if (has_plain_line(ptx, near)) return near;
    return has_plain_line(ptx, other) || !has_line(ptx, near) ? other : near;
}

static void give_lines(const PtxModule *ptx, PtxFunction *f) {
    for (int i = 0; i < f->instructions; i++) {
        const int end = end_of_gap(ptx, f, i);
        if (end == i) continue;
        const Instruction *like = neighbour(ptx, f, i, end);
        const Location *l = has_line(ptx, like) ? ptx_location(ptx, like) : NULL;
        for (int k = i; k < end; k++)
            if (f->code[k].location >= 0) f->code[k].location = l ? (int)(l - ptx->location) : -1;
        i = end - 1;
    }
}

void ptx_give_lines(PtxModule *ptx) {
    for (int i = 0; i < ptx->functions; i++) give_lines(ptx, &ptx->function[i]);
}
