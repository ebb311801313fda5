#include <stdio.h>
#include <string.h>

#include "decode/kernel.h"

void op_place(const Kernel *kernel, const Op *op, char *text, size_t size) {
    const PtxModule *ptx = kernel->ptx;
    const Location *l = ptx_location(ptx, op->source);
    const char *file = l && l->file >= 0 && l->file < ptx->files ? ptx->file[l->file] : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (file)
        snprintf(text, size, "%s:%d", slash ? slash + 1 : file, l->line);
    else
        snprintf(text, size, "PTX line %d", op->source->line);
}
