#include "analysis/source.h"
#include "analysis/tally.h"
#include "commands/commands.h"

/* "kernel.cu:127" for an instruction, or "-". */
static void print_place(const Function *function, int instruction, FILE *out) {
    const Instruction *at = &function->instruction[instruction];
    if (at->frames == 0) {
        fputc('-', out);
        return;
    }
    const Frame *frame = &function->frame[at->frame + at->frames - 1];
    fprintf(out, "%s:%d", file_name(frame->file), frame->line);
}

static void print_resources(const Kernel *kernel, FILE *out) {
    fprintf(out, "%d registers, %d bytes of shared memory, %d bytes of stack, %d spills\n",
            kernel->registers, kernel_shared(kernel), kernel->stack, kernel_spills(kernel));
}

static void print_loops(const Kernel *kernel, FILE *out) {
    const Flow *flow = &kernel->flow;
    int inner = 0, work = 0;
    for (int i = 0; i < flow->loops; i++) work += flow->loop[i].tensor + flow->loop[i].fma;
    if (flow->main_loop < 0) {
        fprintf(out, "no main loop: no loop holds %s\n",
                work ? "a third of both the products and the exponentials"
                     : "tensor or FMA instructions");
        return;
    }
    const Loop *loop = &flow->loop[flow->main_loop];
    for (int i = 0; i < flow->loops; i++)
        inner += i != flow->main_loop && flow_in_loop(flow, flow->main_loop, flow->loop[i].header);
    fprintf(out, "main loop: loop %s of %d, repeated at ", loop->name, flow->loops);
    print_place(kernel->function, loop->back, out);
    if (inner) fprintf(out, "; inner loops: %d, their instructions counted once", inner);
    fputc('\n', out);
}

static void add_row(Table *table, const Count *count, const char *indent, const bool *shown,
                    int unit) {
    table_add(table, "%s%s", indent, count->name);
    for (int r = 0; r < REGION_PADDING; r++)
        if (shown[r]) table_add_count(table, count->region[r]);
    table_add_count(table, count->total);
    table_add_count(table, count->predicated);
    if (unit && count->region[REGION_LOOP])
        table_add(table, "%.2f", (double)count->region[REGION_LOOP] / unit);
    else if (unit)
        table_add(table, ".");
}

static void print_table(const Counts *counts, Format format, FILE *out) {
    bool shown[REGION_PADDING];
    const char *unit_name;
    const int unit = counts_unit(counts, &unit_name);
    Table table = {.columns = 3 + (unit > 0)};
    table_add(&table, "class, opcode");
    for (int r = 0; r < REGION_PADDING; r++) {
        shown[r] = counts->all.region[r] > 0;
        if (!shown[r]) continue;
        table_add_text(&table, region_name((Region)r));
        table.columns++;
    }
    table_add(&table, "total");
    table_add(&table, "predicated");
    if (unit) table_add(&table, "loop / %s", unit_name);
    for (int kind = 0; kind < CLASSES; kind++) {
        if (!counts->kind[kind].total) continue;
        add_row(&table, &counts->kind[kind], "", shown, unit);
        for (int i = 0; i < counts->opcodes; i++)
            if (counts->opcode[i].kind == (OpcodeClass)kind)
                add_row(&table, &counts->opcode[i], "  ", shown, unit);
    }
    add_row(&table, &counts->all, "", shown, unit);
    table_print(&table, format, out);
}

static void print_kernel(const Module *module, int k, Format format, FILE *out) {
    const Kernel *kernel = &module->kernel[k];
    const char *mark = format == FORMAT_MARKDOWN ? "## " : "", *gap = *mark ? "\n" : "";
    Counts counts = counts_of(module, k);
    fprintf(out, "%s%s %s %s %s (ptxas %s)\n%s", mark, module->stage, module->variant, module->arch,
            kernel->name, module->compiler, gap);
    print_resources(kernel, out);
    fputs(gap, out);
    print_loops(kernel, out);
    fputs("\n", out);
    print_table(&counts, format, out);
    counts_free(&counts);
}

static void put_number(const char *key, int number, FILE *out) {
    if (number < 0)
        fprintf(out, ",\"%s\":null", key);
    else
        fprintf(out, ",\"%s\":%d", key, number);
}

static void put_string(const char *key, const char *text, FILE *out) {
    fprintf(out, ",\"%s\":", key);
    put_json(text, out);
}

static void put_count(const Count *count, FILE *out) {
    for (int r = 0; r < REGION_PADDING; r++)
        put_number(region_name((Region)r), count->region[r], out);
    put_number("total", count->total, out);
    put_number("predicated", count->predicated, out);
    fputc('}', out);
}

/* One object a kernel, on one line. */
static void print_json(const Module *module, int k, FILE *out) {
    const Kernel *kernel = &module->kernel[k];
    Counts counts = counts_of(module, k);
    fputs("{\"stage\":", out);
    put_json(module->stage, out);
    put_string("variant", module->variant, out);
    put_string("arch", module->arch, out);
    put_string("compiler", module->compiler, out);
    put_string("kernel", kernel->name, out);
    put_number("registers", kernel->registers, out);
    put_number("shared_bytes", kernel_shared(kernel), out);
    put_number("stack_bytes", kernel->stack, out);
    put_number("spills", kernel_spills(kernel), out);
    fputs(",\"classes\":[", out);
    for (int kind = 0; kind < CLASSES; kind++) {
        fputs(kind ? ",{\"class\":" : "{\"class\":", out);
        put_json(counts.kind[kind].name, out);
        put_count(&counts.kind[kind], out);
    }
    fputs("],\"opcodes\":[", out);
    for (int i = 0; i < counts.opcodes; i++) {
        fputs(i ? ",{\"opcode\":" : "{\"opcode\":", out);
        put_json(counts.opcode[i].name, out);
        put_string("class", class_name(counts.opcode[i].kind), out);
        put_count(&counts.opcode[i], out);
    }
    fputs("]}\n", out);
    counts_free(&counts);
}

bool count_command(const Options *options, Error *error) {
    for (int f = 0; f < options->file_count; f++) {
        Module module;
        if (!module_open(options->files[f], false, &module, error)) return false;
        for (int k = 0; k < module.kernels; k++) {
            if (f + k > 0 && options->format != FORMAT_JSON) fputc('\n', stdout);
            if (options->format == FORMAT_JSON)
                print_json(&module, k, stdout);
            else
                print_kernel(&module, k, options->format, stdout);
        }
        module_close(&module);
    }
    return true;
}
