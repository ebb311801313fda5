#include "commands/delta.h"

#include "analysis/program.h"
#include "list.h"

static int difference(const Delta *delta, bool loop) {
    const int change = loop ? delta->to.region[REGION_LOOP] - delta->from.region[REGION_LOOP]
                            : delta->to.total - delta->from.total;
    return abs(change);
}

static int larger_change_first(const void *a, const void *b) {
    const Delta *x = a, *y = b;
    for (int all = 0; all < 2; all++)
        if (difference(x, !all) != difference(y, !all))
            return difference(x, !all) > difference(y, !all) ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_opcode(Deltas *deltas, const Count *from, const Count *to) {
    Delta *delta = LIST_ADD(deltas->opcode, deltas->opcodes);
    if (from) delta->from = *from;
    if (to) delta->to = *to;
    delta->name = from ? from->name : to->name;
    delta->kind = from ? from->kind : to->kind;
    deltas->changed += difference(delta, true) || difference(delta, false);
}

Deltas deltas_of(const Module *from, const Module *to) {
    Deltas deltas = {.from = counts_of(from, -1), .to = counts_of(to, -1)};
    for (int i = 0; i < deltas.from.opcodes; i++) {
        const Count *row = &deltas.from.opcode[i];
        add_opcode(&deltas, row, counts_find(&deltas.to, row->name, row->kind));
    }
    for (int i = 0; i < deltas.to.opcodes; i++) {
        const Count *row = &deltas.to.opcode[i];
        if (!counts_find(&deltas.from, row->name, row->kind)) add_opcode(&deltas, NULL, row);
    }
    if (deltas.opcodes)
        qsort(deltas.opcode, (size_t)deltas.opcodes, sizeof *deltas.opcode, larger_change_first);
    for (int kind = 0; kind < CLASSES; kind++)
        deltas.kind[kind] = (Delta){class_name((OpcodeClass)kind), (OpcodeClass)kind,
                                    deltas.from.kind[kind], deltas.to.kind[kind]};
    return deltas;
}

void deltas_free(Deltas *deltas) {
    counts_free(&deltas->from);
    counts_free(&deltas->to);
    free(deltas->opcode);
    *deltas = (Deltas){0};
}

/* Evaluates the signature for one of the two; one that is not about this stage's kernels may not
 * make sense for it. */
static void predict(const char *path, const Module *module, int side, Prediction **list,
                    int *count) {
    char *text;
    Error error;
    Signature signature;
    if (!read_file(path, &text, NULL, &error)) return;
    if (signature_read(text, path, module, &signature, &error)) {
        for (int a = 0; a < signature.assertions; a++) {
            const Assertion *assertion = &signature.assertion[a];
            int p = 0;
            while (p < *count && (*list)[p].line != assertion->line) p++;
            if (p == *count && side == 0) continue; /* the later stage is read first */
            if (p == *count) {
                Prediction *added = LIST_ADD(*list, *count);
                added->line = assertion->line;
                snprintf(added->text, sizeof added->text, "%s", assertion->text);
            }
            (*list)[p].known[side] = true;
            (*list)[p].holds[side] = assertion->holds;
            (*list)[p].found[side] = assertion->found;
        }
        signature_free(&signature);
    }
    free(text);
}

Prediction *predictions_of(const char *stages, const Module *from, const Module *to, int *count) {
    char path[1024];
    Prediction *list = NULL;
    *count = 0;
    snprintf(path, sizeof path, "%s/%s/expect.sass", stages, to->stage);
    predict(path, to, 1, &list, count);
    predict(path, from, 0, &list, count);
    return list;
}
