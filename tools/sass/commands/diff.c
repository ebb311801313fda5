#include "commands/commands.h"
#include "commands/delta.h"

#include <stdlib.h>
#include <string.h>

/* The two kernels, and how the heads of columns call them: by the numbers of their stages, or, if
 * both are of one stage, as the user does. */
typedef struct Sides {
    const Module *from, *to;
    char name[2][8];
} Sides;

static bool of_one_stage(const Module *from, const Module *to) {
    return strncmp(from->stage, to->stage, 2) == 0;
}

static Sides sides_of(const Module *from, const Module *to) {
    Sides sides = {from, to, {"FROM", "TO"}};
    if (of_one_stage(from, to)) return sides;
    snprintf(sides.name[0], sizeof sides.name[0], "%.2s", from->stage);
    snprintf(sides.name[1], sizeof sides.name[1], "%.2s", to->stage);
    return sides;
}

static void add_change(Table *table, int from, int to) {
    table_add_count(table, from);
    table_add_count(table, to);
    if (from == to)
        table_add(table, ".");
    else
        table_add(table, "%+d", to - from);
}

static void add_row(Table *table, const Delta *delta) {
    add_change(table, delta->from.region[REGION_LOOP], delta->to.region[REGION_LOOP]);
    add_change(table, delta->from.total, delta->to.total);
}

static void add_heading(Table *table, const char *first, const Sides *sides) {
    table_add_text(table, first);
    for (int all = 0; all < 2; all++) {
        for (int i = 0; i < 2; i++) table_add(table, "%s %s", all ? "all" : "loop", sides->name[i]);
        table_add(table, "change");
    }
}

static void print_classes(const Deltas *deltas, const Sides *sides, Format format) {
    Table table = {.columns = 7};
    add_heading(&table, "class", sides);
    for (int kind = 0; kind < CLASSES; kind++) {
        if (!deltas->kind[kind].from.total && !deltas->kind[kind].to.total) continue;
        table_add_text(&table, deltas->kind[kind].name);
        add_row(&table, &deltas->kind[kind]);
    }
    const Delta all = {"all", CLASS_OTHER, deltas->from.all, deltas->to.all};
    table_add(&table, "all");
    add_row(&table, &all);
    table_print(&table, format, stdout);
}

static void print_opcodes(const Deltas *deltas, const Sides *sides, Format format) {
    Table table = {.columns = 8};
    add_heading(&table, "opcode", sides);
    table_add(&table, "class");
    for (int i = 0; i < deltas->changed; i++) {
        table_add_text(&table, deltas->opcode[i].name);
        add_row(&table, &deltas->opcode[i]);
        table_add_text(&table, class_name(deltas->opcode[i].kind));
    }
    table_print(&table, format, stdout);
    const int same = deltas->opcodes - deltas->changed;
    printf("%s%d opcode%s unchanged.\n", format == FORMAT_MARKDOWN ? "\n" : "", same,
           same == 1 ? "" : "s");
}

static void add_finding(Table *table, const Prediction *prediction, int side) {
    if (prediction->known[side])
        table_add(table, "%.10g %s", prediction->found[side],
                  prediction->holds[side] ? "yes" : "no");
    else
        table_add(table, "-");
}

static void print_predictions(const char *stages, const Sides *sides, Format format) {
    int count;
    Prediction *list = predictions_of(stages, sides->from, sides->to, &count);
    Table table = {.columns = 3};
    table_add(&table, "the signature of %s predicts", sides->to->stage);
    for (int i = 0; i < 2; i++) table_add(&table, "in %s", sides->name[i]);
    for (int i = 0; i < count; i++) {
        table_add_text(&table, list[i].text);
        add_finding(&table, &list[i], 0);
        add_finding(&table, &list[i], 1);
    }
    if (count == 0) {
        table_add(&table, "nothing: it has none");
        table_add(&table, "-");
        table_add(&table, "-");
    }
    table_print(&table, format, stdout);
    free(list);
}

static void print_module(const Module *module, const char *side) {
    int registers = 0, shared = 0, spills = 0;
    for (int k = 0; k < module->kernels; k++) {
        const Kernel *kernel = &module->kernel[k];
        registers = kernel->registers > registers ? kernel->registers : registers;
        shared = kernel_shared(kernel) > shared ? kernel_shared(kernel) : shared;
        spills += kernel_spills(kernel);
    }
    printf(
        "%s%s %s %s (ptxas %s): kernels %d, registers %d, bytes of shared memory %d, spills %d\n",
        side, module->stage, module->variant, module->arch, module->compiler, module->kernels,
        registers, shared, spills);
}

static void put_change(const char *name, const Count *from, const Count *to, bool loop) {
    printf(",\"%s_from\":%d,\"%s_to\":%d", name, loop ? from->region[REGION_LOOP] : from->total,
           name, loop ? to->region[REGION_LOOP] : to->total);
}

/* One object an opcode, on one line. */
static void print_json(const Deltas *deltas, const Module *from, const Module *to) {
    for (int i = 0; i < deltas->opcodes; i++) {
        const Delta *delta = &deltas->opcode[i];
        fputs("{\"from\":", stdout);
        put_json(from->stage, stdout);
        fputs(",\"to\":", stdout);
        put_json(to->stage, stdout);
        fputs(",\"opcode\":", stdout);
        put_json(delta->name, stdout);
        printf(",\"class\":\"%s\"", class_name(delta->kind));
        put_change("loop", &delta->from, &delta->to, true);
        put_change("total", &delta->from, &delta->to, false);
        fputs("}\n", stdout);
    }
}

static void print_diff(const Options *options, const Module *from, const Module *to) {
    Deltas deltas = deltas_of(from, to);
    const Sides sides = sides_of(from, to);
    const bool same = of_one_stage(from, to);
    const char *gap = options->format == FORMAT_MARKDOWN ? "\n" : "";
    if (options->format == FORMAT_JSON)
        print_json(&deltas, from, to);
    else {
        print_module(from, same ? "FROM " : "");
        fputs(gap, stdout);
        print_module(to, same ? "TO " : "");
        fputs("\n", stdout);
        print_predictions(options->stages, &sides, options->format);
        fputs("\n", stdout);
        print_classes(&deltas, &sides, options->format);
        fputs("\n", stdout);
        print_opcodes(&deltas, &sides, options->format);
    }
    deltas_free(&deltas);
}

bool diff_command(const Options *options, Error *error) {
    Module from, to;
    if (!module_open(options->files[0], false, &from, error)) return false;
    const bool opened = module_open(options->files[1], false, &to, error);
    if (opened) {
        print_diff(options, &from, &to);
        module_close(&to);
    }
    module_close(&from);
    return opened;
}
