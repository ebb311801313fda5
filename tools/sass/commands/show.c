#include "analysis/cubin.h"
#include "analysis/ptx_lines.h"
#include "analysis/source.h"
#include "analysis/tally.h"
#include "commands/commands.h"
#include "analysis/control.h"
#include "list.h"

/* What a listing is printed from, and how far it is. */
typedef struct Printer {
    const Options *options;
    const Module *module;
    Source source;
    Ptx ptx;
    bool *wanted_ptx;     /* [lines of PTX + 1]: chosen by LINE and INSTR; 0, no line, is not */
    const Kernel *kernel; /* the one that is being printed */
    bool *opened;         /* [loops]: its heading is printed */
    int loop;             /* the innermost that is open, or -1 */
    int frame, frames;    /* the source lines last printed */
    int ptx_line;
    Counts became; /* of what LINE and INSTR chose */
} Printer;

static bool is_source(const Printer *printer, const Frame *frame) {
    return strcmp(frame->file, printer->module->source) == 0;
}

/* Whether the instruction comes from line LINE, or is inlined there. */
static bool is_from_line(const Printer *printer, const Instruction *instruction) {
    for (int f = 0; f < instruction->frames; f++) {
        const Frame *frame = &printer->kernel->function->frame[instruction->frame + f];
        if (is_source(printer, frame) && frame->line == printer->options->line) return true;
    }
    return false;
}

static bool is_wanted(const Printer *printer, const Instruction *instruction) {
    if (printer->options->line && !is_from_line(printer, instruction)) return false;
    if (!*printer->options->instr) return true;
    const int line = instruction->ptx_line;
    return line <= printer->ptx.source.lines && printer->wanted_ptx[line];
}

/* Marks the lines of PTX that LINE and INSTR ask for; returns how many. */
static int choose_ptx(Printer *printer) {
    const Options *options = printer->options;
    int chosen = 0;
    printer->wanted_ptx = list_zeroed((size_t)printer->ptx.source.lines + 1, sizeof(bool));
    for (int i = 1; i <= printer->ptx.source.lines; i++) {
        printer->wanted_ptx[i] = ptx_is_opcode(&printer->ptx, i, options->instr) &&
                                 (!options->line || ptx_is_from(&printer->ptx, i, options->line));
        chosen += printer->wanted_ptx[i];
    }
    return chosen;
}

static void indent(int depth) { printf("%*s", 4 * depth, ""); }

/* "// 36 < 114: text": line 36 is inlined in line 114. The text is that of the first line that is
 * in the kernel's own file. */
static void print_source(Printer *printer, const Instruction *instruction, int depth) {
    const Frame *frame = &printer->kernel->function->frame[instruction->frame];
    const char *text = "";
    if (instruction->frame == printer->frame && instruction->frames == printer->frames) return;
    printer->frame = instruction->frame;
    printer->frames = instruction->frames;
    if (!instruction->frames) return;
    indent(depth);
    for (int f = 0; f < instruction->frames; f++) {
        fputs(f ? " < " : "// ", stdout);
        if (!is_source(printer, &frame[f])) printf("%s:", file_name(frame[f].file));
        printf("%d", frame[f].line);
        if (!*text && is_source(printer, &frame[f]))
            text = source_line(&printer->source, frame[f].line);
    }
    printf(": %s\n", text);
}

static void print_ptx(Printer *printer, const Instruction *instruction, int depth) {
    if (!printer->options->ptx && !*printer->options->instr) return;
    if (instruction->ptx_line == printer->ptx_line) return;
    printer->ptx_line = instruction->ptx_line;
    const char *text = source_line(&printer->ptx.source, instruction->ptx_line);
    if (!*text || strcmp(text, "{") == 0) return;
    indent(depth);
    printf("// ptx %d: %s\n", instruction->ptx_line, text);
}

/* Opens a loop and those around it that are not open yet. */
static void enter_loop(Printer *printer, int loop) {
    if (loop == printer->loop) return;
    const Flow *flow = &printer->kernel->flow;
    const Loop *at = &flow->loop[loop];
    enter_loop(printer, at->parent);
    indent(at->depth - 1);
    printf("%sloop %s%s", printer->opened[loop] ? "back in " : "", at->name,
           loop == flow->main_loop ? ", the main loop" : "");
    if (!printer->opened[loop]) printf(": %d instructions", at->instructions);
    fputs(" {\n", stdout);
    printer->opened[loop] = true;
    printer->loop = loop;
}

/* Closes the innermost loop. */
static void leave_loop(Printer *printer) {
    const Loop *loop = &printer->kernel->flow.loop[printer->loop];
    indent(loop->depth - 1);
    printf("} loop %s\n", loop->name);
    printer->loop = loop->parent;
}

static void print_labels(const Function *function, int at, int depth) {
    for (int i = 0; i < function->labels; i++) {
        const char *name = function->label[i].name;
        if (function->label[i].at != at || strncmp(name, ".text", strlen(".text")) == 0) continue;
        indent(depth);
        printf("%s:\n", name);
    }
}

/* The address and the control bits. */
static void print_place(const Instruction *instruction) {
    char control[CONTROL_TEXT] = "";
    if (instruction->encoded) control_text(control_decode(instruction->upper), control);
    printf("%04lx  %s  ", instruction->address, control);
}

static void print_instruction(Printer *printer, int i) {
    const Flow *flow = &printer->kernel->flow;
    const Instruction *instruction = &printer->kernel->function->instruction[i];
    while (printer->loop >= 0 && !flow_in_loop(flow, printer->loop, i)) leave_loop(printer);
    enter_loop(printer, flow->loop_of[i]);
    const int depth = printer->loop < 0 ? 0 : flow->loop[printer->loop].depth;
    print_labels(printer->kernel->function, i, depth);
    print_source(printer, instruction, depth);
    print_ptx(printer, instruction, depth);
    indent(depth);
    if (!printer->options->clean) print_place(instruction);
    printf("%5s %s%s%s\n", instruction->guard, instruction->opcode,
           *instruction->operands ? " " : "", instruction->operands);
}

/* All instructions of a kernel that are wanted. */
static void print_kernel(Printer *printer, const Kernel *kernel) {
    bool headed = false;
    const Module *module = printer->module;
    printer->kernel = kernel;
    printer->opened = list_zeroed((size_t)kernel->flow.loops, sizeof(bool));
    printer->loop = -1;
    printer->frame = printer->frames = printer->ptx_line = -1;
    for (int i = 0; i < kernel->function->instructions; i++) {
        if (kernel->flow.region[i] == REGION_PADDING) continue;
        if (!is_wanted(printer, &kernel->function->instruction[i])) continue;
        if (!headed) {
            printf("\n%s %s %s %s\n", module->stage, module->variant, module->arch, kernel->name);
            if (!printer->options->clean) printf("// %s\n", control_legend);
        }
        headed = true;
        print_instruction(printer, i);
        counts_add(&printer->became, kernel, i);
    }
    while (printer->loop >= 0) leave_loop(printer);
    free(printer->opened);
}

/* What a line became is shown as PTX first, whole, and then as SASS. */
static void print_chosen_ptx(const Printer *printer) {
    for (int i = 1; i <= printer->ptx.source.lines; i++)
        if (printer->wanted_ptx[i])
            printf("ptx %5d  %s\n", i, source_line(&printer->ptx.source, i));
}

/* "5 PTX instructions became 4 LDSM.16.M88.4, 1 IADD3"; how many, nobody knows of a bare cubin. */
static void print_summary(const Printer *printer, int chosen) {
    const Counts *became = &printer->became;
    if (printer->ptx.source.lines)
        printf("\n%d PTX instruction%s became", chosen, chosen == 1 ? "" : "s");
    else
        printf("\nPTX, which is not in this file, became");
    for (int i = 0; i < became->opcodes; i++)
        printf("%s %d %s", i ? "," : "", became->opcode[i].total, became->opcode[i].name);
    printf("\n");
}

static bool nothing_wanted(const Printer *printer, Error *error) {
    const Options *options = printer->options;
    const Module *module = printer->module;
    if (*options->instr && !printer->ptx.source.lines)
        return error_set(error, STATUS_USAGE, "INSTR asks for PTX, and %s has none", module->stage);
    if (*options->instr)
        return error_set(error, STATUS_USAGE,
                         "INSTR must be a PTX instruction that %s has%s and that became SASS; not "
                         "'%s'",
                         module->stage, options->line ? " on that line" : "", options->instr);
    return error_set(error, STATUS_USAGE,
                     "LINE must be a line of %s that became instructions; not '%d'",
                     module->source ? file_name(module->source) : module->stage, options->line);
}

static int count_wanted(Printer *printer) {
    int wanted = 0;
    for (int k = 0; k < printer->module->kernels; k++) {
        printer->kernel = &printer->module->kernel[k];
        for (int i = 0; i < printer->kernel->function->instructions; i++)
            wanted += is_wanted(printer, &printer->kernel->function->instruction[i]);
    }
    return wanted;
}

static bool show_module(Printer *printer, Error *error) {
    const Options *options = printer->options;
    const Module *module = printer->module;
    const int chosen = choose_ptx(printer);
    if (count_wanted(printer) == 0) return nothing_wanted(printer, error);
    if (options->line) {
        printf("%s:%d: %s\n", file_name(module->source), options->line,
               source_line(&printer->source, options->line));
        print_chosen_ptx(printer);
    }
    for (int k = 0; k < module->kernels; k++) print_kernel(printer, &module->kernel[k]);
    if (options->line || *options->instr) print_summary(printer, chosen);
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_instruction(const Printer *printer, const Instruction *instruction) {
    char control[CONTROL_TEXT], text[1024];
    const char *separator = "";
    snprintf(text, sizeof text, "%s%s%s%s%s", instruction->guard, *instruction->guard ? " " : "",
             instruction->opcode, *instruction->operands ? " " : "", instruction->operands);
    printf("{\"address\":%lu,\"text\":", instruction->address);
    put_json(text, stdout);
    if (instruction->encoded)
        printf(",\"control\":\"%s\"", control_text(control_decode(instruction->upper), control));
    printf(",\"lines\":[");
    for (int f = 0; f < instruction->frames; f++) {
        const Frame *frame = &printer->kernel->function->frame[instruction->frame + f];
        if (!is_source(printer, frame)) continue;
        printf("%s%d", separator, frame->line);
        separator = ",";
    }
    printf("]}");
}

static void put_kernel(Printer *printer, const Kernel *kernel) {
    const char *separator = "\n";
    printer->kernel = kernel;
    printf("{\"name\":");
    put_json(kernel->name, stdout);
    printf(",\"instructions\":[");
    for (int i = 0; i < kernel->function->instructions; i++) {
        const Instruction *instruction = &kernel->function->instruction[i];
        if (kernel->flow.region[i] == REGION_PADDING || !is_wanted(printer, instruction)) continue;
        fputs(separator, stdout);
        put_instruction(printer, instruction);
        separator = ",\n";
    }
    printf("]}");
}

/* One object a file, with every instruction that is wanted, its control bits and the lines that it
 * comes from. */
static bool put_module(Printer *printer, Error *error) {
    const Module *module = printer->module;
    choose_ptx(printer);
    if (count_wanted(printer) == 0) return nothing_wanted(printer, error);
    printf("{\"stage\":");
    put_json(module->stage, stdout);
    printf(",\"variant\":");
    put_json(module->variant, stdout);
    printf(",\"legend\":");
    put_json(control_legend, stdout);
    printf(",\"kernels\":[");
    for (int k = 0; k < module->kernels; k++) {
        if (k) printf(",\n");
        put_kernel(printer, &module->kernel[k]);
    }
    printf("]}\n");
    return true;
}

bool show_command(const Options *options, Error *error) {
    const bool ptx = options->ptx || *options->instr || options->line;
    bool shown = true;
    if (options->format == FORMAT_MARKDOWN)
        return error_set(error, STATUS_USAGE, "FORMAT must be one of: text json; not 'markdown'");
    for (int f = 0; f < options->file_count && shown; f++) {
        Module module;
        if (!module_open(options->files[f], ptx, &module, error)) return false;
        Printer printer = {.options = options, .module = &module};
        printer.source = source_read(module.source);
        printer.ptx = ptx_read(module.ptx, module.source);
        module.ptx = NULL;
        shown = options->format == FORMAT_JSON ? put_module(&printer, error)
                                               : show_module(&printer, error);
        free(printer.wanted_ptx);
        counts_free(&printer.became);
        source_free(&printer.source);
        ptx_free(&printer.ptx);
        module_close(&module);
    }
    return shown;
}
