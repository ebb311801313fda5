/* Replaces calls by the bodies of the functions they call, so that a kernel is one piece of code:
 * the rest of the simulator then knows no call stack. A function's .param variables become those
 * that the caller passes. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "ptx/bounds.h"
#include "ptx/ptx.h"

enum { MAX_CALL_DEPTH = 64 };

typedef struct Inliner {
    PtxModule *module;
    PtxFunction *out;
    const PtxFunction *open[MAX_CALL_DEPTH]; /* the functions whose bodies are being copied */
    int depth;
    int calls; /* that were replaced */
    char *error;
    size_t error_size;
    jmp_buf failed;
} Inliner;

/* The variables that stand for a function's parameters and results at one call. */
typedef struct Binding {
    const PtxFunction *callee;
    Operand result, argument; /* vectors of variables */
} Binding;

_Noreturn static void fail(Inliner *inliner, Text name, const char *what) {
    snprintf(inliner->error, inliner->error_size, "function %.*s: %s", name.length, name.at, what);
    longjmp(inliner->failed, 1);
}

_Noreturn static void fail_beyond(Inliner *inliner, int limit, const char *what) {
    snprintf(inliner->error, inliner->error_size,
             "kernel %.*s has more than %d %s once every call is replaced by the function's body",
             inliner->open[0]->name.length, inliner->open[0]->name.at, limit, what);
    longjmp(inliner->failed, 1);
}

static Variable *bound(const Binding *binding, Variable *variable) {
    const PtxFunction *f = binding->callee;
    for (int i = 0; i < f->results; i++)
        if (f->result[i] == variable) return binding->result.element[i].variable;
    for (int i = 0; i < f->parameters; i++)
        if (f->parameter[i] == variable) return binding->argument.element[i].variable;
    return variable;
}

static Operand rename_operand(Inliner *inliner, const Binding *binding, Operand operand, int reg) {
    if (operand.kind == OPERAND_REGISTER) operand.reg += reg;
    if (operand.kind == OPERAND_VARIABLE && binding)
        operand.variable = bound(binding, operand.variable);
    if (operand.elements) {
        Operand *copy =
            arena_alloc(&inliner->module->arena, (size_t)operand.elements * sizeof *copy);
        for (int i = 0; i < operand.elements; i++)
            copy[i] = rename_operand(inliner, binding, operand.element[i], reg);
        operand.element = copy;
    }
    return operand;
}

static Instruction *append(Inliner *inliner, Instruction in) {
    PtxFunction *out = inliner->out;
    if (out->instructions == MAX_INSTRUCTIONS)
        fail_beyond(inliner, MAX_INSTRUCTIONS, "instructions");
    out->code = arena_grow(&inliner->module->arena, out->code, (size_t)out->instructions,
                           sizeof *out->code);
    out->code[out->instructions] = in;
    return &out->code[out->instructions++];
}

static int add_registers(Inliner *inliner, const PtxFunction *f) {
    PtxFunction *out = inliner->out;
    const int first = out->regs;
    if (f->regs > MAX_REGISTERS - first) fail_beyond(inliner, MAX_REGISTERS, "registers");
    for (int i = 0; i < f->regs; i++) {
        out->reg = arena_grow(&inliner->module->arena, out->reg, (size_t)out->regs, 1);
        out->reg[out->regs++] = f->reg[i];
    }
    return first;
}

static void copy_body(Inliner *inliner, const PtxFunction *f, const Binding *binding);

/* What a call passes is in .param variables: its own, or those of the function that it is in. */
static bool are_variables(const Operand *list, int count) {
    if (list->kind != OPERAND_VECTOR || list->elements != count) return false;
    for (int i = 0; i < count; i++) {
        const Operand *element = &list->element[i];
        if (element->kind != OPERAND_VARIABLE || element->variable->space != SPACE_PARAM ||
            element->variable->is_kernel_parameter)
            return false;
    }
    return true;
}

/* call (results), name, (arguments); either list may be missing */
static void copy_call(Inliner *inliner, const Instruction *in) {
    const Operand none = {.kind = OPERAND_VECTOR};
    const int name = in->operands > 0 && in->operand[0].kind == OPERAND_VECTOR;
    const Text caller = inliner->open[inliner->depth - 1]->name;
    if (in->operands > name && in->operand[name].kind == OPERAND_REGISTER)
        fail(inliner, caller, "a call through a pointer is not supported");
    if (in->operands <= name || in->operand[name].kind != OPERAND_NAME || in->guard >= 0)
        fail(inliner, caller, "unsupported call");
    const Text called = in->operand[name].name;
    const PtxFunction *callee = ptx_function(inliner->module, called);
    if (!callee) fail(inliner, called, "called, but not defined");
    Binding binding = {callee, name ? in->operand[0] : none,
                       in->operands > name + 1 ? in->operand[name + 1] : none};
    if (!are_variables(&binding.result, callee->results) ||
        !are_variables(&binding.argument, callee->parameters))
        fail(inliner, called, "called with other than its .param variables");
    if (inliner->calls++ == MAX_INSTRUCTIONS) fail_beyond(inliner, MAX_INSTRUCTIONS, "calls");
    if (callee->has_body)
        copy_body(inliner, callee, &binding);
    else
        append(inliner, *in);
}

/* ret: continue after the body */
static Instruction branch_instead_of_return(Inliner *inliner, const Instruction *in) {
    static const char bra[] = "bra";
    Instruction branch = *in;
    branch.part = arena_alloc(&inliner->module->arena, sizeof *branch.part);
    branch.part[0] = (Text){bra, 3};
    branch.parts = 1;
    branch.target = -1; /* set when the end is known */
    return branch;
}

static void copy_tables(Inliner *inliner, const PtxFunction *f) {
    PtxFunction *out = inliner->out;
    for (int t = 0; t < f->tables; t++) {
        out->table = arena_grow(&inliner->module->arena, out->table, (size_t)out->tables,
                                sizeof *out->table);
        JumpTable copy = f->table[t];
        copy.target =
            arena_alloc(&inliner->module->arena, (size_t)copy.targets * sizeof *copy.target);
        memcpy(copy.target, f->table[t].target, (size_t)copy.targets * sizeof *copy.target);
        out->table[out->tables++] = copy;
    }
}

static void enter(Inliner *inliner, const PtxFunction *f) {
    for (int i = 0; i < inliner->depth; i++)
        if (inliner->open[i] == f) fail(inliner, f->name, "recursion is not supported");
    if (inliner->depth == MAX_CALL_DEPTH) fail(inliner, f->name, "calls nested too deep");
    inliner->open[inliner->depth++] = f;
}

static Instruction copy_instruction(Inliner *inliner, const Instruction *in, const Binding *binding,
                                    int first_reg, int first_table) {
    Instruction copy = *in;
    if (binding && text_is(in->part[0], "ret")) copy = branch_instead_of_return(inliner, in);
    copy.operand = arena_alloc(&inliner->module->arena, MAX_OPERANDS * sizeof *copy.operand);
    for (int o = 0; o < in->operands; o++)
        copy.operand[o] = rename_operand(inliner, binding, in->operand[o], first_reg);
    if (copy.guard >= 0) copy.guard += first_reg;
    if (copy.table >= 0) copy.table += first_table;
    return copy;
}

/* Turns the targets of the copied branches from places in `f` into places in the output. place[i]
 * is where instruction i went, place[f->instructions] where the body ends. */
static void move_targets(PtxFunction *out, const PtxFunction *f, const int *place, bool is_call,
                         int first_table) {
    for (int i = 0; i < f->instructions; i++) {
        const Text opcode = f->code[i].part[0];
        if (text_is(opcode, "bra")) out->code[place[i]].target = place[f->code[i].target];
        if (text_is(opcode, "ret") && is_call) out->code[place[i]].target = place[f->instructions];
    }
    for (int t = 0; t < f->tables; t++)
        for (int k = 0; k < f->table[t].targets; k++)
            out->table[first_table + t].target[k] = place[f->table[t].target[k]];
}

static void copy_body(Inliner *inliner, const PtxFunction *f, const Binding *binding) {
    PtxFunction *out = inliner->out;
    enter(inliner, f);
    const int first_reg = add_registers(inliner, f), first_table = out->tables;
    int *place = arena_alloc(&inliner->module->arena, ((size_t)f->instructions + 1) * sizeof(int));
    copy_tables(inliner, f);
    for (int i = 0; i < f->instructions; i++) {
        Instruction copy = copy_instruction(inliner, &f->code[i], binding, first_reg, first_table);
        place[i] = out->instructions;
        if (text_is(copy.part[0], "call"))
            copy_call(inliner, &copy);
        else
            append(inliner, copy);
    }
    place[f->instructions] = out->instructions;
    move_targets(out, f, place, binding != NULL, first_table);
    inliner->depth--;
}

PtxFunction *ptx_inline(PtxModule *module, const PtxFunction *kernel, char *error,
                        size_t error_size) {
    Inliner inliner = {.module = module, .error = error, .error_size = error_size};
    inliner.out = arena_alloc(&module->arena, sizeof *inliner.out);
    *inliner.out = *kernel;
    inliner.out->code = NULL;
    inliner.out->reg = NULL;
    inliner.out->table = NULL;
    inliner.out->instructions = inliner.out->regs = inliner.out->tables = 0;
    if (setjmp(inliner.failed)) return NULL;
    copy_body(&inliner, kernel, NULL);
    return inliner.out;
}
