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
