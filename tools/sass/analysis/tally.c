#include "analysis/tally.h"

#include "list.h"

const Count *counts_find(const Counts *counts, const char *name, OpcodeClass kind) {
    for (int i = 0; i < counts->opcodes; i++)
        if (counts->opcode[i].kind == kind && strcmp(counts->opcode[i].name, name) == 0)
            return &counts->opcode[i];
    return NULL;
}

static Count *row_of(Counts *counts, const char *name, OpcodeClass kind) {
    const Count *row = counts_find(counts, name, kind);
    if (row) return &counts->opcode[row - counts->opcode];
    Count *fresh = LIST_ADD(counts->opcode, counts->opcodes);
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
    fresh->kind = kind;
    return fresh;
}

static void count_one(Count *count, const Instruction *instruction, Region region) {
    count->region[region]++;
    count->total++;
    count->predicated += *instruction->guard != '\0';
}

void counts_add(Counts *counts, const Kernel *kernel, int i) {
    char name[OPCODE_NAME_SIZE];
    const Instruction *instruction = &kernel->function->instruction[i];
    const Region region = kernel->flow.region[i];
    if (region == REGION_PADDING) return;
    const OpcodeClass kind = opcode_class(instruction);
    count_one(row_of(counts, opcode_name(instruction, name), kind), instruction, region);
    count_one(&counts->kind[kind], instruction, region);
    count_one(&counts->all, instruction, region);
}

static int compare_rows(const void *a, const void *b) {
    const Count *x = a, *y = b;
    if (x->kind != y->kind) return (int)x->kind - (int)y->kind;
    if (x->total != y->total) return y->total - x->total;
    return strcmp(x->name, y->name);
}

Counts counts_of(const Module *module, int kernel) {
    Counts counts = {0};
    for (int kind = 0; kind < CLASSES; kind++) {
        counts.kind[kind].kind = (OpcodeClass)kind;
        strcpy(counts.kind[kind].name, class_name((OpcodeClass)kind));
    }
    strcpy(counts.all.name, "all");
    for (int k = 0; k < module->kernels; k++)
        for (int i = 0; i < module->kernel[k].function->instructions; i++)
            if (kernel < 0 || kernel == k) counts_add(&counts, &module->kernel[k], i);
    if (counts.opcodes)
        qsort(counts.opcode, (size_t)counts.opcodes, sizeof *counts.opcode, compare_rows);
    return counts;
}

int counts_unit(const Counts *counts, const char **name) {
    const Count *ffma = counts_find(counts, "FFMA", CLASS_FMA);
    const int tensor = counts->kind[CLASS_TENSOR].region[REGION_LOOP];
    *name = tensor ? "mma" : "FFMA";
    return tensor ? tensor : ffma ? ffma->region[REGION_LOOP] : 0;
}

void counts_free(Counts *counts) {
    free(counts->opcode);
    *counts = (Counts){0};
}
