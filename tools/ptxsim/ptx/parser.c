/* PTX text to PtxModule, in one pass. A { } inside a function (inline asm, a call) is a scope with
 * its own registers, variables and labels; labels are resolved when their scope ends. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/bounds.h"
#include "ptx/lexer.h"
#include "ptx/ptx.h"

enum { MAX_DEPTH = 1000 }; /* of braces and brackets */

/* .reg .b32 r, or .reg .b32 %r<count> for %r0 .. %r(count - 1) */
typedef struct RegisterName {
    Text name;
    int first;
    int count; /* 0: one register of exactly this name */
} RegisterName;

/* Of an instruction, or of a jump table; the other is -1. */
typedef struct Label {
    Text name;
    int instruction, table;
} Label;

/* A label used before its scope ends: by instruction `instruction`, or by a jump table's slot. */
typedef struct Fixup {
    Text name;
    int instruction, table, slot;
    bool of_table; /* brx, whose label is a jump table's */
    int depth;     /* of the scope that may still define it */
} Fixup;

typedef struct Parser {
    Lexer lexer;
    PtxModule *module;
    PtxFunction function; /* the one being parsed */
    Arena scratch;        /* the arrays below */
    RegisterName *name;
    Label *label;
    Fixup *fixup;
    Variable **local;
    int names, labels, fixups, locals;
    int depth, location;
    char *error;
    size_t error_size;
    jmp_buf failed;
} Parser;

#define NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define PUSH(arena, array, count) \
    ((array) = arena_grow((arena), (array), (size_t)(count), sizeof *(array)), &(array)[(count)++])

/* The line of the kernel's own file, .file 1, that the place comes from; 0: none, or unknown. */
static int source_line(const Parser *p) {
    const Location *location = p->module->location;
    int i = p->location;
    while (i >= 0 && location[i].file != 0) i = location[i].parent;
    return i < 0 ? 0 : location[i].line;
}

/* What is wrong is most likely in an asm of the programmer, who does not see the PTX. */
__attribute__((format(printf, 2, 3))) _Noreturn static void fail(Parser *p, const char *format,
                                                                 ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    int rest = (int)(p->lexer.end - p->lexer.at), shown = 0;
    while (shown < rest && shown < 40 && p->lexer.at[shown] != '\n') shown++;
    char source[40] = "";
    if (source_line(p)) snprintf(source, sizeof source, " (source line %d)", source_line(p));
    snprintf(p->error, p->error_size, "PTX line %d%s: %s, near '%.*s'", p->lexer.line, source, what,
             shown, p->lexer.at);
    longjmp(p->failed, 1);
}

/* ---- Small pieces ---------------------------------------------------------------------------- */

static bool accept(Parser *p, char c) { return lexer_accept(&p->lexer, c); }

static void expect(Parser *p, char c) {
    if (!accept(p, c)) fail(p, "expected '%c'", c);
}

static Text word(Parser *p) {
    Text text = lexer_word(&p->lexer, "");
    if (!text.length) fail(p, "expected a name");
    return text;
}

static bool accept_word(Parser *p, const char *wanted) {
    Lexer before = p->lexer;
    if (text_is(lexer_word(&p->lexer, ""), wanted)) return true;
    p->lexer = before;
    return false;
}

static uint64_t number(Parser *p) {
    uint64_t bits;
    if (!lexer_number(&p->lexer, &bits)) fail(p, "expected a number");
    return bits;
}

/* A number in 0 .. limit. */
static int small_number(Parser *p, int limit) {
    uint64_t bits = number(p);
    if (bits > (uint64_t)limit) fail(p, "a number above %d", limit);
    return (int)bits;
}

/* Moves behind the next `last`, or to the end. */
static void skip_past(Parser *p, char last) {
    while (p->lexer.at < p->lexer.end && !accept(p, last)) p->lexer.at++;
}

/* Bytes of type "b8", "f32", "f16x2", "pred"; fails for anything else. */
static uint32_t type_bytes(Parser *p, Text type) {
    static const struct {
        const char *suffix;
        uint32_t bytes;
    } widths[] = {{"8", 1}, {"16", 2}, {"16x2", 4}, {"32", 4}, {"64", 8}, {"128", 16}};
    if (text_is(type, "pred")) return PREDICATE_BYTES;
    int start = 0;
    while (start < type.length && (type.at[start] < '0' || type.at[start] > '9')) start++;
    Text digits = {type.at + start, type.length - start};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (text_is(digits, widths[i].suffix)) return widths[i].bytes;
    fail(p, "unknown type '%.*s'", type.length, type.at);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void declare_registers(Parser *p) { /* after .reg */
    PtxFunction *f = &p->function;
    expect(p, '.');
    Text type = word(p);
    uint32_t bytes = type_bytes(p, type);
    if (bytes == 1 && !text_is(type, "pred")) bytes = 2; /* .b8 registers hold 16 bits here */
    do {
        RegisterName entry = {word(p), f->regs, 0};
        if (accept(p, '<')) {
            entry.count = small_number(p, MAX_REGISTERS);
            expect(p, '>');
        }
        if (f->regs + (entry.count ? entry.count : 1) > MAX_REGISTERS)
            fail(p, "more than %d registers", MAX_REGISTERS);
        *PUSH(&p->scratch, p->name, p->names) = entry;
        for (int i = 0; i < (entry.count ? entry.count : 1); i++)
            *PUSH(&p->module->arena, f->reg, f->regs) = (uint8_t)bytes;
    } while (accept(p, ','));
    expect(p, ';');
}

/* The number behind `stem` in `name`: 12 of n912 behind n9. -1 if that is no number of a range. */
static int number_behind(Text name, Text stem) {
    int number = 0;
    if (name.length <= stem.length || !text_equal((Text){name.at, stem.length}, stem)) return -1;
    for (int i = stem.length; i < name.length; i++) {
        const char digit = name.at[i];
        if (digit < '0' || digit > '9') return -1;
        if (number < MAX_REGISTERS) number = 10 * number + (digit - '0');
    }
    return number;
}

/* The register called `name`, -1 if there is none. */
static int find_register(const Parser *p, Text name) {
    for (int i = p->names - 1; i >= 0; i--) {
        const RegisterName *entry = &p->name[i];
        if (!entry->count && text_equal(entry->name, name)) return entry->first;
        const int number = entry->count ? number_behind(name, entry->name) : -1;
        if (number >= 0 && number < entry->count) return entry->first + number;
    }
    return -1;
}

static Variable *find_in(Variable *const *variable, int count, Text name) {
    for (int i = count - 1; i >= 0; i--)
        if (text_equal(variable[i]->name, name)) return variable[i];
    return NULL;
}

static Variable *find_variable(const Parser *p, Text name) {
    const PtxFunction *f = &p->function;
    Variable *found = find_in(p->local, p->locals, name);
    if (!found) found = find_in(f->parameter, f->parameters, name);
    if (!found) found = find_in(f->result, f->results, name);
    return found ? found : find_in(p->module->variable, p->module->variables, name);
}

/* ---- Variables ------------------------------------------------------------------------------- */

/* One value of an initialiser, at `offset`. */
static void initial_value(Parser *p, Variable *v, uint64_t offset, uint32_t bytes) {
    uint64_t bits;
    if (offset + bytes > v->bytes) fail(p, "more initial values than elements");
    if (bytes <= sizeof bits && lexer_number(&p->lexer, &bits)) {
        memcpy(v->initial + offset, &bits, bytes);
        return;
    }
    Relocation relocation = {.offset = offset, .generic = accept_word(p, "generic")};
    if (relocation.generic) expect(p, '(');
    relocation.target = find_variable(p, word(p));
    if (!relocation.target && bytes == 8)
        fail(p, "only variables have an address here: calls through a pointer, such as those of "
                "virtual functions, are not supported");
    if (!relocation.target || bytes != 8) fail(p, "unsupported initial value");
    if (relocation.generic) expect(p, ')');
    if (accept(p, '+')) relocation.addend = (int64_t)number(p);
    *PUSH(&p->module->arena, v->relocation, v->relocations) = relocation;
}

/* Values in nested braces fill the elements in order. */
static uint64_t initial_values(Parser *p, Variable *v, uint64_t offset, uint32_t bytes) {
    if (!accept(p, '{')) {
        initial_value(p, v, offset, bytes);
        return offset + bytes;
    }
    if (accept(p, '}')) return offset;
    if (++p->depth > MAX_DEPTH) fail(p, "nested too deep");
    do offset = initial_values(p, v, offset, bytes);
    while (accept(p, ','));
    expect(p, '}');
    p->depth--;
    return offset;
}

static void dimensions(Parser *p, Variable *v) {
    while (accept(p, '[')) {
        if (accept(p, ']')) {
            v->dynamic = true; /* or sized by its initial values, which nvcc never does */
            v->bytes = 0;
            continue;
        }
        uint64_t elements = number(p);
        if (elements > UINT32_MAX || v->bytes > UINT32_MAX) fail(p, "an array that is too large");
        v->bytes *= elements;
        expect(p, ']');
    }
}

/* After the state space: .align N, .ptr and its attributes, .vN, .type. Sets the alignment and the
 * bytes of one element; returns those of its type, of which a vector has several. */
static uint32_t variable_type(Parser *p, Variable *v) {
    uint32_t bytes = 0, vector = 1;
    for (bool pointer = false; accept(p, '.');) {
        Text text = word(p);
        if (text_is(text, "align")) {
            uint32_t align = (uint32_t)small_number(p, 1 << 20);
            if (!pointer) v->align = align; /* of the pointee otherwise */
        } else if (text_is(text, "ptr")) {
            pointer = true;
        } else if (text_is(text, "v2") || text_is(text, "v4")) {
            vector = (uint32_t)(text.at[1] - '0');
        } else if (text_is(text, "attribute")) {
            expect(p, '(');
            skip_past(p, ')');
        } else if (!pointer) {
            bytes = type_bytes(p, text);
        }
    }
    if (!bytes) fail(p, "a variable without a type");
    if (!v->align) v->align = bytes * vector;
    if (v->align & (v->align - 1)) fail(p, "an alignment that is no power of two");
    v->bytes = bytes * vector;
    return bytes;
}

/* One variable of a declaration, whose space and type are those of `like`; `bytes` of an element's
 * type. */
static Variable *declare_variable(Parser *p, const Variable *like, uint32_t bytes) {
    Variable *v = NEW(&p->module->arena, Variable);
    *v = *like;
    v->name = lexer_word(&p->lexer, ".");
    if (!v->name.length) fail(p, "a variable without a name");
    dimensions(p, v);
    if (accept(p, '=')) {
        if (v->dynamic || v->bytes > MAX_MODULE_VARIABLES)
            fail(p, "an initial value of unknown size");
        v->initial = arena_alloc(&p->module->arena, v->bytes);
        initial_values(p, v, 0, bytes);
    }
    return v;
}

/* After the state space: .type a, b[4]; */
static void declare_variables(Parser *p, Space space, Arena *arena, Variable ***list, int *count) {
    Variable like = {.space = space};
    const uint32_t bytes = variable_type(p, &like);
    do {
        Variable *v = declare_variable(p, &like, bytes);
        *PUSH(arena, *list, *count) = v;
    } while (accept(p, ','));
    expect(p, ';');
}

static bool space_of(Text text, Space *space) {
    static const struct {
        const char *name;
        Space space;
    } spaces[] = {{"global", SPACE_GLOBAL},
                  {"shared", SPACE_SHARED},
                  {"local", SPACE_LOCAL},
                  {"param", SPACE_PARAM},
                  {"const", SPACE_CONST}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (!text_is(text, spaces[i].name)) continue;
        *space = spaces[i].space;
        return true;
    }
    return false;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static Operand operand(Parser *p);

static Operand operand_list(Parser *p, char closing) {
    Operand list = {.kind = OPERAND_VECTOR};
    if (accept(p, closing)) return list;
    do {
        Operand element = operand(p);
        *PUSH(&p->module->arena, list.element, list.elements) = element;
    } while (accept(p, ','));
    expect(p, closing);
    return list;
}

static int64_t operand_offset(Parser *p) {
    if (accept(p, '+')) return (int64_t)number(p);
    return lexer_peek(&p->lexer) == '-' ? (int64_t)number(p) : 0;
}

static Operand memory_operand(Parser *p) { /* after [ */
    Operand base = operand(p);
    if (base.kind == OPERAND_VECTOR || base.memory) fail(p, "unsupported address");
    base.memory = true;
    if (base.kind == OPERAND_REGISTER) base.offset = operand_offset(p);
    if (accept(p, ',')) {
        expect(p, '{');
        Operand coordinates = operand_list(p, '}');
        base.element = coordinates.element;
        base.elements = coordinates.elements;
    }
    expect(p, ']');
    return base;
}

static Operand named_operand(Parser *p, Text name) {
    Operand result = {.name = name};
    if (text_is(name, "_")) {
        result.kind = OPERAND_SINK;
    } else if (text_is(name, "WARP_SZ")) {
        result.kind = OPERAND_NUMBER;
        result.bits = 32;
    } else if ((result.reg = find_register(p, name)) >= 0) {
        result.kind = OPERAND_REGISTER;
    } else if (name.at[0] == '%') {
        result.kind = OPERAND_SPECIAL;
    } else if ((result.variable = find_variable(p, name)) != NULL) {
        result.kind = OPERAND_VARIABLE;
        result.offset = operand_offset(p);
    } else {
        result.kind = OPERAND_NAME;
    }
    return result;
}

static Operand operand(Parser *p) {
    char next = lexer_peek(&p->lexer);
    if (++p->depth > MAX_DEPTH) fail(p, "nested too deep");
    Operand result = {.kind = OPERAND_NUMBER};
    if (accept(p, '[')) {
        result = memory_operand(p);
    } else if (accept(p, '{')) {
        result = operand_list(p, '}');
    } else if (accept(p, '(')) {
        result = operand_list(p, ')');
    } else if (accept(p, '!')) {
        result = operand(p);
        result.negated = !result.negated;
    } else if (next == '-' || (next >= '0' && next <= '9')) {
        result.real = lexer_real(&p->lexer, &result.bits);
        if (!result.real) result.bits = number(p);
    } else {
        Text name = lexer_word(&p->lexer, ".");
        if (!name.length) fail(p, "expected an operand");
        result = named_operand(p, name);
    }
    p->depth--;
    return result;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static void split_opcode(Parser *p, Instruction *in, Text opcode) {
    in->part = arena_alloc(&p->module->arena, MAX_PARTS * sizeof *in->part);
    for (int start = 0; start <= opcode.length; in->parts++) {
        if (in->parts == MAX_PARTS) fail(p, "an opcode of too many parts");
        int end = start;
        while (end < opcode.length && opcode.at[end] != '.') end++;
        in->part[in->parts] = (Text){opcode.at + start, end - start};
        start = end + 1;
    }
}

static void operands(Parser *p, Instruction *in) {
    in->operand = arena_alloc(&p->module->arena, MAX_OPERANDS * sizeof *in->operand);
    for (bool second = false; !accept(p, ';');) {
        if (in->operands == MAX_OPERANDS) fail(p, "too many operands");
        in->operand[in->operands] = operand(p);
        in->operand[in->operands++].second = second;
        second = accept(p, '|');
        if (second || accept(p, ',')) continue;
        expect(p, ';');
        break;
    }
}

/* A statement in one line, however nvcc breaks it: it writes each argument of a call in its own. */
static Text one_line(Parser *p, Text text) {
    if (!memchr(text.at, '\n', (size_t)text.length)) return text;
    char *line = arena_alloc(&p->module->arena, (size_t)text.length);
    int length = 0;
    for (int i = 0; i < text.length; i++) {
        const bool blank = isspace((unsigned char)text.at[i]);
        if (!blank || (length && line[length - 1] != ' '))
            line[length++] = blank ? ' ' : text.at[i];
    }
    return (Text){line, length};
}

static void add_fixup(Parser *p, Fixup fixup) {
    fixup.depth = p->depth;
    *PUSH(&p->scratch, p->fixup, p->fixups) = fixup;
}

static void instruction(Parser *p) {
    PtxFunction *f = &p->function;
    Instruction in = {.guard = -1, .target = -1, .table = -1, .location = p->location};
    in.line = p->lexer.line;
    in.labelled = p->labels && p->label[p->labels - 1].instruction == f->instructions;
    const char *start = p->lexer.at;
    if (accept(p, '@')) {
        in.guard_negated = accept(p, '!');
        Text name = word(p);
        in.guard = find_register(p, name);
        if (in.guard < 0 || f->reg[in.guard] != PREDICATE_BYTES) fail(p, "unknown predicate");
    }
    if (f->instructions == MAX_INSTRUCTIONS) fail(p, "more than %d instructions", MAX_INSTRUCTIONS);
    Text opcode = lexer_word(&p->lexer, ".:");
    if (!opcode.length) fail(p, "expected an instruction");
    split_opcode(p, &in, opcode);
    operands(p, &in);
    in.text = one_line(p, (Text){start, (int)(p->lexer.at - 1 - start)});
    if (text_is(in.part[0], "bra")) {
        if (in.operands != 1 || in.operand[0].kind != OPERAND_NAME) fail(p, "bra without a label");
        add_fixup(p,
                  (Fixup){.name = in.operand[0].name, .instruction = f->instructions, .table = -1});
    }
    if (text_is(in.part[0], "brx")) {
        if (in.operands != 2) fail(p, "brx without its .branchtargets");
        const Text name = in.operand[1].name;
        add_fixup(p, (Fixup){.name = name, .instruction = f->instructions, .of_table = true});
    }
    *PUSH(&p->module->arena, f->code, f->instructions) = in;
}

static void branch_targets(Parser *p, Text name) { /* after name: .branchtargets */
    PtxFunction *f = &p->function;
    JumpTable table = {.name = name};
    do {
        Text label = word(p);
        add_fixup(p, (Fixup){.name = label, .table = f->tables, .slot = table.targets});
        *PUSH(&p->module->arena, table.target, table.targets) = -1;
    } while (accept(p, ','));
    expect(p, ';');
    *PUSH(&p->scratch, p->label, p->labels) = (Label){name, -1, f->tables};
    *PUSH(&p->module->arena, f->table, f->tables) = table;
}

/* name: or nothing */
static bool accept_label(Parser *p) {
    Lexer before = p->lexer;
    Text name = lexer_word(&p->lexer, "");
    bool colon = name.length && accept(p, ':') && lexer_peek(&p->lexer) != ':';
    if (!colon) {
        p->lexer = before;
        return false;
    }
    Lexer after = p->lexer;
    const bool directive = accept(p, '.');
    if (directive && accept_word(p, "branchtargets")) {
        branch_targets(p, name);
        return true;
    }
    if (directive && accept_word(p, "callprototype")) { /* of a call that ptx_inline refuses */
        skip_past(p, ';');
        return true;
    }
    p->lexer = after;
    *PUSH(&p->scratch, p->label, p->labels) = (Label){name, p->function.instructions, -1};
    return true;
}

/* The label that a fixup asks for, from `first` on; NULL if there is none. */
static const Label *find_label(const Parser *p, const Fixup *fixup, int first) {
    for (int i = p->labels - 1; i >= first; i--) {
        const Label *label = &p->label[i];
        if (text_equal(label->name, fixup->name) && (label->table >= 0) == fixup->of_table)
            return label;
    }
    return NULL;
}

static void apply(PtxFunction *f, const Fixup *fixup, const Label *label) {
    if (fixup->of_table)
        f->code[fixup->instruction].table = label->table;
    else if (fixup->table >= 0)
        f->table[fixup->table].target[fixup->slot] = label->instruction;
    else
        f->code[fixup->instruction].target = label->instruction;
}

/* Resolves what refers to labels from `first_label` on; the rest is left to the scope around. */
static void resolve_labels(Parser *p, int first_label) {
    int kept = 0;
    for (int i = 0; i < p->fixups; i++) {
        Fixup *fixup = &p->fixup[i];
        const bool sees = fixup->depth >= p->depth;
        const Label *label = sees ? find_label(p, fixup, first_label) : NULL;
        if (label) {
            apply(&p->function, fixup, label);
            continue;
        }
        if (fixup->depth == p->depth) fixup->depth--;
        p->fixup[kept++] = *fixup;
    }
    p->fixups = kept;
}

/* ---- Directives inside a function ------------------------------------------------------------ */

/* .loc that was seen at this place, for inlined_at; a new one without a parent if there is none. */
static int find_location(Parser *p, Location wanted) {
    PtxModule *m = p->module;
    for (int i = m->locations - 1; i >= 0; i--) {
        const Location *l = &m->location[i];
        if (l->file == wanted.file && l->line == wanted.line && l->column == wanted.column)
            return i;
    }
    *PUSH(&m->arena, m->location, m->locations) = wanted;
    return m->locations - 1;
}

static Location place(Parser *p) { /* file line column */
    Location location = {.parent = -1, .inlined = -1};
    location.file = small_number(p, 1 << 20) - 1;
    location.line = small_number(p, 1 << 30);
    location.column = small_number(p, 1 << 30);
    return location;
}

/* The inlined function whose name is at `label`; `line` is one of its lines. */
static int find_inlined(Parser *p, Text label, int line) {
    PtxModule *m = p->module;
    int i = 0;
    while (i < m->inlined_functions && !text_equal(m->inlined[i].label, label)) i++;
    if (i == m->inlined_functions)
        *PUSH(&m->arena, m->inlined, m->inlined_functions) = (InlinedFunction){label, line, line};
    InlinedFunction *f = &m->inlined[i];
    if (line < f->first_line) f->first_line = line;
    if (line > f->last_line) f->last_line = line;
    return i;
}

static void source_location(Parser *p) { /* after .loc */
    Location location = place(p);
    Text label = {"", 0};
    while (accept(p, ',')) {
        if (accept_word(p, "inlined_at")) {
            location.parent = find_location(p, place(p));
        } else { /* function_name $L__info_string0+8 */
            word(p);
            label = lexer_word(&p->lexer, "+");
        }
    }
    if (label.length && location.line) location.inlined = find_inlined(p, label, location.line);
    *PUSH(&p->module->arena, p->module->location, p->module->locations) = location;
    p->location = p->module->locations - 1;
}

static void function_directive(Parser *p) { /* after the dot */
    Text name = word(p);
    Space space;
    if (text_is(name, "reg")) {
        declare_registers(p);
    } else if (space_of(name, &space)) {
        declare_variables(p, space, &p->scratch, &p->local, &p->locals);
    } else if (text_is(name, "loc")) {
        source_location(p);
    } else if (text_is(name, "pragma")) {
        skip_past(p, ';');
    } else {
        fail(p, "unknown directive .%.*s", name.length, name.at);
    }
}

static void body(Parser *p) { /* after { */
    const int names = p->names, labels = p->labels, locals = p->locals;
    if (++p->depth > MAX_DEPTH) fail(p, "nested too deep");
    while (!accept(p, '}')) {
        if (accept(p, ';')) continue;
        if (accept(p, '{')) {
            body(p);
        } else if (accept(p, '.')) {
            function_directive(p);
        } else if (!accept_label(p)) {
            instruction(p);
        }
    }
    resolve_labels(p, labels);
    p->names = names;
    p->labels = labels;
    p->locals = locals;
    p->depth--;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static void parameters(Parser *p, Variable ***list, int *count) { /* after ( */
    if (accept(p, ')')) return;
    do {
        expect(p, '.');
        Text name = word(p);
        if (!text_is(name, "param")) fail(p, "only .param parameters are supported");
        Variable like = {.space = SPACE_PARAM, .is_kernel_parameter = p->function.is_kernel};
        const uint32_t bytes = variable_type(p, &like);
        Variable *v = declare_variable(p, &like, bytes);
        *PUSH(&p->module->arena, *list, *count) = v;
    } while (accept(p, ','));
    expect(p, ')');
}

/* A count of threads, or one more than there may be: products of those do not overflow. */
static uint64_t few_threads(uint64_t count) {
    return count > MAX_BLOCK_THREADS ? MAX_BLOCK_THREADS + 1 : count;
}

/* .maxntid 128, 1, 1 and its like, up to { or ; */
static void performance_directives(Parser *p) {
    while (accept(p, '.')) {
        Text name = word(p);
        uint64_t bits, product = 1;
        uint32_t number[3] = {1, 1, 1};
        for (int i = 0; lexer_number(&p->lexer, &bits); i++) {
            product = few_threads(product * few_threads(bits));
            if (i < 3) number[i] = (uint32_t)few_threads(bits);
            if (!accept(p, ',')) break;
        }
        if (text_is(name, "maxntid") || text_is(name, "reqntid"))
            p->function.max_threads = product <= MAX_BLOCK_THREADS ? (int)product : 0;
        if (text_is(name, "reqntid")) memcpy(p->function.required, number, sizeof number);
        if (text_is(name, "minnctapersm")) p->function.min_blocks = (int)product;
        if (text_is(name, "maxnreg")) p->function.max_registers = (int)product;
        if (text_is(name, "reqnctapercluster")) p->function.clustered = product > 1;
    }
}

static void add_function(Parser *p) {
    PtxModule *m = p->module;
    PtxFunction *known = ptx_function(m, p->function.name);
    if (!known)
        known = PUSH(&m->arena, m->function, m->functions);
    else if (known->has_body)
        return; /* a prototype after the definition */
    *known = p->function;
}

_Noreturn static void fail_unknown_label(Parser *p, const Fixup *fixup) {
    if (fixup->of_table) fail(p, "brx without its .branchtargets");
    fail(p, "unknown label %.*s", fixup->name.length, fixup->name.at);
}

static void function(Parser *p, bool is_kernel) { /* after .entry or .func */
    PtxFunction *f = &p->function;
    *f = (PtxFunction){.is_kernel = is_kernel};
    if (accept(p, '(')) parameters(p, &f->result, &f->results);
    f->name = word(p);
    if (accept(p, '(')) parameters(p, &f->parameter, &f->parameters);
    performance_directives(p);
    f->has_body = accept(p, '{');
    if (f->has_body) {
        body(p);
        if (p->fixups) fail_unknown_label(p, p->fixup);
    } else {
        expect(p, ';');
    }
    p->location = -1;
    add_function(p);
}

/* ---- The module ------------------------------------------------------------------------------ */

/* A byte of a path: one that is not ASCII is written as three octal digits behind a backslash. */
static char path_byte(Lexer *lexer) {
    const char *at = lexer->at;
    int value = 0, digits = 0;
    if (*at == '\\')
        while (digits < 3 && at + digits + 1 < lexer->end && at[digits + 1] >= '0' &&
               at[digits + 1] <= '7')
            value = 8 * value + at[++digits] - '0';
    lexer->at += digits == 3 ? 4 : 1;
    return (char)(digits == 3 ? value : *at);
}

static void source_file(Parser *p) { /* after .file: number "path" and perhaps more */
    PtxModule *m = p->module;
    int index = small_number(p, 1 << 16);
    expect(p, '"');
    const char *end = p->lexer.at;
    while (end < p->lexer.end && *end != '"' && *end != '\n') end++;
    char *path = arena_alloc(&m->arena, (size_t)(end - p->lexer.at) + 1);
    for (int i = 0; p->lexer.at < end; i++) path[i] = path_byte(&p->lexer);
    while (m->files < index) *PUSH(&m->arena, m->file, m->files) = NULL;
    if (index > 0) m->file[index - 1] = path;
    lexer_skip_line(&p->lexer);
}

static bool is_linkage(Text name) {
    return text_is(name, "visible") || text_is(name, "extern") || text_is(name, "weak") ||
           text_is(name, "common");
}

static void module_directive(Parser *p) { /* after the dot */
    Text name = word(p);
    Space space;
    if (is_linkage(name)) {
        return;
    } else if (text_is(name, "entry") || text_is(name, "func")) {
        function(p, text_is(name, "entry"));
    } else if (space_of(name, &space) && space != SPACE_PARAM && space != SPACE_LOCAL) {
        PtxModule *m = p->module;
        declare_variables(p, space, &m->arena, &m->variable, &m->variables);
    } else if (text_is(name, "version") || text_is(name, "target") ||
               text_is(name, "address_size")) {
        lexer_skip_line(&p->lexer);
    } else if (text_is(name, "file")) {
        source_file(p);
    } else if (text_is(name, "section")) {
        skip_past(p, '}'); /* debug strings: .section name { ... } */
    } else if (text_is(name, "pragma")) {
        skip_past(p, ';');
    } else {
        fail(p, "unknown directive .%.*s", name.length, name.at);
    }
}

static bool parse_all(Parser *p) {
    if (setjmp(p->failed)) return false;
    while (lexer_peek(&p->lexer)) {
        expect(p, '.');
        module_directive(p);
    }
    return true;
}

PtxModule *ptx_parse(const char *text, size_t length, char *error, size_t error_size) {
    Parser *p = calloc(1, sizeof *p);
    PtxModule *module = calloc(1, sizeof *module);
    bool parsed = false;
    if (!p || !module) {
        snprintf(error, error_size, "out of host memory");
    } else {
        char *copy = arena_alloc(&module->arena, length + 1);
        memcpy(copy, text, length);
        *p = (Parser){.lexer = {.at = copy, .end = copy + length, .line = 1}, .module = module};
        p->error = error;
        p->error_size = error_size;
        p->location = -1;
        parsed = parse_all(p);
        arena_free(&p->scratch);
    }
    free(p);
    if (parsed) {
        ptx_give_lines(module);
        return module;
    }
    ptx_free(module);
    return NULL;
}

void ptx_free(PtxModule *module) {
    if (!module) return;
    arena_free(&module->arena);
    free(module);
}

PtxFunction *ptx_function(const PtxModule *module, Text name) {
    for (int i = 0; i < module->functions; i++)
        if (text_equal(module->function[i].name, name)) return &module->function[i];
    return NULL;
}
