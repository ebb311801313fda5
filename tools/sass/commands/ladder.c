#include "analysis/tally.h"
#include "commands/commands.h"
#include "list.h"

/* A stage's column. */
typedef struct Stage {
    Module module;
    Counts counts;
} Stage;

static void add_heading(Table *table, const char *first, const Stage *stages, int count) {
    table->columns = count + 1;
    table_add_text(table, first);
    for (int s = 0; s < count; s++) table_add(table, "%.2s", stages[s].module.stage);
}

static int number_in(const Count *count, bool loop) {
    return !count ? 0 : loop ? count->region[REGION_LOOP] : count->total;
}

/* Adds the row unless all of it is zero. */
static void add_row(Table *table, const Stage *stages, int count, const char *name,
                    OpcodeClass kind, bool opcode, bool loop) {
    int any = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !any) return;
        if (pass) table_add(table, "%s%s", opcode ? "  " : "", name);
        for (int s = 0; s < count; s++) {
            const Counts *counts = &stages[s].counts;
            const Count *row = opcode ? counts_find(counts, name, kind) : &counts->kind[kind];
            if (pass) table_add_count(table, number_in(row, loop));
            any |= number_in(row, loop);
        }
    }
}

/* The opcodes of a class that any stage has, each once. */
static void add_class(Table *table, const Stage *stages, int count, OpcodeClass kind, bool loop) {
    add_row(table, stages, count, class_name(kind), kind, false, loop);
    for (int s = 0; s < count; s++)
        for (int i = 0; i < stages[s].counts.opcodes; i++) {
            const Count *row = &stages[s].counts.opcode[i];
            bool seen = row->kind != kind;
            for (int before = 0; before < s && !seen; before++)
                seen = counts_find(&stages[before].counts, row->name, kind) != NULL;
            if (!seen) add_row(table, stages, count, row->name, kind, true, loop);
        }
}

static void print_counts(const Stage *stages, int count, bool loop, Format format) {
    Table table = {0};
    add_heading(&table, loop ? "main loop, one iteration" : "whole kernels", stages, count);
    for (int kind = 0; kind < CLASSES; kind++)
        add_class(&table, stages, count, (OpcodeClass)kind, loop);
    table_add(&table, "all");
    for (int s = 0; s < count; s++) table_add_count(&table, number_in(&stages[s].counts.all, loop));
    table_print(&table, format, stdout);
}

static int largest(int a, int b) { return a > b ? a : b; }

static void print_resources(const Stage *stages, int count, Format format) {
    static const char *const names[] = {"kernels", "registers", "bytes of shared memory",
                                        "bytes of stack", "spills"};
    Table table = {0};
    add_heading(&table, "a kernel's most", stages, count);
    for (int row = 0; row < 5; row++) {
        table_add_text(&table, names[row]);
        for (int s = 0; s < count; s++) {
            const Module *module = &stages[s].module;
            int most = 0;
            for (int k = 0; k < module->kernels; k++) {
                const Kernel *kernel = &module->kernel[k];
                const int values[] = {module->kernels, kernel->registers, kernel_shared(kernel),
                                      kernel->stack, kernel_spills(kernel)};
                most = largest(most, values[row]);
            }
            table_add_count(&table, most);
        }
    }
    table_print(&table, format, stdout);
}

static void print_stages(const Stage *stages, int count, Format format) {
    const char *line = format == FORMAT_MARKDOWN ? "- " : "";
    for (int s = 0; s < count; s++) {
        const Module *module = &stages[s].module;
        printf("%s%s %s %s (ptxas %s)\n", line, module->stage, module->variant, module->arch,
               module->compiler);
    }
    fputs("\n", stdout);
}

bool ladder_command(const Options *options, Error *error) {
    if (options->format == FORMAT_JSON) return count_command(options, error);
    Stage *stages = list_zeroed((size_t)options->file_count, sizeof *stages);
    int count = 0;
    while (count < options->file_count &&
           module_open(options->files[count], false, &stages[count].module, error)) {
        stages[count].counts = counts_of(&stages[count].module, -1);
        count++;
    }
    const bool opened = count == options->file_count;
    if (opened) {
        print_stages(stages, count, options->format);
        print_resources(stages, count, options->format);
        fputs("\n", stdout);
        print_counts(stages, count, true, options->format);
        fputs("\n", stdout);
        print_counts(stages, count, false, options->format);
    }
    for (int s = 0; s < count; s++) {
        counts_free(&stages[s].counts);
        module_close(&stages[s].module);
    }
    free(stages);
    return opened;
}
