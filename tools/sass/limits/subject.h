/* What the commands about limits have in common: a built stage, its machine and its model. */
#ifndef SASS_SUBJECT_H
#define SASS_SUBJECT_H

#include "limits/model.h"
#include "limits/recorded.h"

#include <limits.h>

typedef struct Subject {
    Module module;
    Machine machine;
    Model model;
    bool causal; /* of the variant */
    int d;
    char type[8];
    char counted[PATH_MAX]; /* the folder with what was counted of it */
} Subject;

/* Opens a variant, build/sm_90/07_swizzle/d128_fp16_full.so, and reads what was counted of it, in
 * `counted`/sm_90/07_swizzle/d128_fp16_full. gpu "": the machine that runs the code as its
 * own. */
bool subject_open(const char *file, const char *gpu, const char *machines, const char *counted,
                  Subject *subject, Error *error);

void subject_close(Subject *subject);

/* The recorded times of a device in all .jsonl files of a folder; "" is none. */
bool subject_cells(const char *folder, const char *device, Cells *cells, Error *error);

#endif
