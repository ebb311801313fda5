/* How many instructions of each opcode and class, and where. */
#ifndef SASS_TALLY_H
#define SASS_TALLY_H

#include "analysis/classes.h"
#include "analysis/cubin.h"

typedef struct Count {
    char name[OPCODE_NAME_SIZE]; /* an opcode_name or a class_name */
    OpcodeClass kind;
    int region[REGION_PADDING]; /* [Region]; padding is not counted */
    int total;
    int predicated; /* of the total, under a guard such as @!P0 */
} Count;

typedef struct Counts {
    Count *opcode; /* by class, the most frequent first */
    int opcodes;
    Count kind[CLASSES];
    Count all;
} Counts;

/* The instructions of a module's kernels, or of one of them (`kernel` >= 0). */
Counts counts_of(const Module *module, int kernel);

/* Counts instruction i of a kernel, unless it is padding; rows stay in the order of arrival. */
void counts_add(Counts *counts, const Kernel *kernel, int i);

/* The row of an opcode, or NULL. An opcode in disguise (IMAD for a move) has a row in each class.
 */
const Count *counts_find(const Counts *counts, const char *name, OpcodeClass kind);

/* What "per mma" divides by: the tensor instructions of the main loop or, without any, its FFMAs;
 * *name says which. 0: neither. */
int counts_unit(const Counts *counts, const char **name);

void counts_free(Counts *counts);

#endif
