/* PTX as lines, each with the source line that it comes from. */
#ifndef SASS_PTX_LINES_H
#define SASS_PTX_LINES_H

#include "analysis/source.h"

/* A place as PTX writes it: .loc file line column */
typedef struct PtxPlace {
    int file, line, column;
} PtxPlace;

typedef struct PtxLoc {
    PtxPlace place;
    PtxPlace call; /* where it is inlined; file 0: nowhere */
} PtxLoc;

typedef struct Ptx {
    Source source;
    PtxLoc *loc; /* in the order of the text */
    int locs;
    int *loc_of; /* [lines]: the .loc that holds for it, or -1 */
    int file;    /* the number of the kernels' own source file; 0: not known */
} Ptx;

/* Takes PTX text over (NULL: none). `path` is the kernels' source file, or NULL. */
Ptx ptx_read(char *text, const char *path);

/* Whether line `number` of the PTX, from 1, is an instruction that starts with `opcode`, whole
 * parts of it: "mma" and "mma.sync" match mma.sync.aligned, but not wgmma and not mma_. */
bool ptx_is_opcode(const Ptx *ptx, int number, const char *opcode);

/* Whether the instruction on line `number` of the PTX comes from line `line` of the source, or from
 * a function that is inlined there. */
bool ptx_is_from(const Ptx *ptx, int number, int line);

void ptx_free(Ptx *ptx);

#endif
