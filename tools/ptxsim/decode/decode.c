#include "decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/cfg.h"
#include "decode/specials.h"
#include "ptx/bounds.h"

/* ---- The opcode ------------------------------------------------------------------------------ */

static bool take_part(Decoder *d, int i) {
    d->taken |= 1u << i;
    return true;
}

bool opcode_is(Decoder *d, const char *name) {
    return text_is(d->in->part[0], name) && take_part(d, 0);
}

bool take(Decoder *d, const char *part) {
    for (int i = 1; i < d->in->parts; i++)
        if (!(d->taken >> i & 1) && text_is(d->in->part[i], part)) return take_part(d, i);
    return false;
}

int take_one(Decoder *d, const char *const names[]) {
    for (int i = 0; names[i]; i++)
        if (take(d, names[i])) return i;
    return -1;
}

Text take_last(Decoder *d) {
    take_part(d, d->in->parts - 1);
    return d->in->part[d->in->parts - 1];
}

Text take_before_last(Decoder *d) {
    const Text none = {"", 0};
    if (d->in->parts < 3) return none;
    take_part(d, d->in->parts - 2);
    return d->in->part[d->in->parts - 2];
}

Rounding take_rounding(Decoder *d) {
    static const char *const names[] = {"rn", "rz", "rm", "rp", NULL};
    const int mode = take_one(d, names);
    return mode < 0 ? ROUND_NEAREST : (Rounding)mode;
}

bool type_of(Text text, Type *type) {
    static const struct {
        const char *name;
        Type type;
    } types[] = {
        {"b8", {'b', 1, false}},    {"u8", {'u', 1, false}},
        {"s8", {'s', 1, false}},    {"b16", {'b', 2, false}},
        {"u16", {'u', 2, false}},   {"s16", {'s', 2, false}},
        {"b32", {'b', 4, false}},   {"u32", {'u', 4, false}},
        {"s32", {'s', 4, false}},   {"b64", {'b', 8, false}},
        {"u64", {'u', 8, false}},   {"s64", {'s', 8, false}},
        {"f32", {'f', 4, false}},   {"f64", {'f', 8, false}},
        {"f16", {'h', 2, false}},   {"bf16", {'g', 2, false}},
        {"f16x2", {'h', 4, true}},  {"bf16x2", {'g', 4, true}},
        {"b128", {'b', 16, false}}, {"pred", {'p', PREDICATE_BYTES, false}},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!text_is(text, types[i].name)) continue;
        *type = types[i].type;
        return true;
    }
    return false;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static int32_t add_value(Kernel *k, Value value) {
    if (k->values % 256 == 0) {
        k->value = realloc(k->value, (size_t)(k->values + 256) * sizeof *k->value);
        if (!k->value) abort();
    }
    k->value[k->values] = value;
    return k->values++;
}

static int32_t constant(Kernel *k, uint64_t bits, unsigned bytes) {
    if (bytes == PREDICATE_BYTES)
        bits = bits ? ALL_LANES : 0;
    else if (bytes < 8)
        bits &= (1ull << 8 * bytes) - 1;
    for (int32_t i = k->function->regs; i < k->values; i++) {
        const Value *v = &k->value[i];
        if (v->kind == VALUE_CONSTANT && v->bits == bits && v->bytes == bytes) return i;
    }
    return add_value(k, (Value){.kind = VALUE_CONSTANT, .bytes = (uint8_t)bytes, .bits = bits});
}

static int32_t special(Decoder *d, Text name, unsigned bytes) {
    Kernel *k = d->kernel;
    unsigned own_bytes = 0; /* of none */
    const int which = special_find(name, &own_bytes);
    d->bad |= bytes != own_bytes && !(bytes == 8 && own_bytes == 4);
    for (int32_t i = k->function->regs; i < k->values; i++) {
        const Value *v = &k->value[i];
        if (v->kind == VALUE_SPECIAL && v->special == which && v->bytes == bytes) return i;
    }
    const Value value = {.kind = VALUE_SPECIAL, .bytes = (uint8_t)bytes, .special = which};
    return add_value(k, value);
}

/* The address of a variable in its own space. */
static uint64_t variable_address(Decoder *d, const Operand *operand) {
    const Variable *v = operand->variable;
    d->bad |= !v->placed;
    return v->address + (uint64_t)operand->offset;
}

/* The bits of a number as an operand of so many bytes. */
static uint64_t number_bits(Decoder *d, const Operand *operand, unsigned bytes) {
    double value;
    float single;
    uint32_t bits;
    if (!operand->real || bytes == sizeof value) return operand->bits;
    d->bad |= bytes != sizeof single;
    memcpy(&value, &operand->bits, sizeof value);
    single = (float)value;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static int32_t value_of(Decoder *d, const Operand *operand, unsigned bytes) {
    switch (operand->kind) {
    case OPERAND_REGISTER:
        d->bad |= d->kernel->value[operand->reg].bytes != bytes;
        return operand->reg;
    case OPERAND_NUMBER:
        return constant(d->kernel, number_bits(d, operand, bytes), bytes);
    case OPERAND_SPECIAL:
        return special(d, operand->name, bytes);
    case OPERAND_VARIABLE:
        return constant(d->kernel, variable_address(d, operand), bytes);
    default:
        d->bad = true;
        return -1;
    }
}

/* ---- Operands -------------------------------------------------------------------------------- */

const Operand *peek_operand(Decoder *d) {
    return d->next < d->in->operands ? &d->in->operand[d->next] : NULL;
}

static const Operand *next_operand(Decoder *d) {
    static const Operand none = {.kind = OPERAND_NAME};
    const Operand *operand = peek_operand(d);
    d->bad |= !operand;
    d->next++;
    return operand ? operand : &none;
}

static void push(Decoder *d, int32_t value, bool is_definition) {
    const int capacity = (int)(sizeof d->value / sizeof *d->value);
    if (d->operands == capacity || (is_definition && d->operands != d->definitions)) {
        d->bad = true;
        return;
    }
    d->value[d->operands++] = value;
    if (is_definition) d->definitions = d->operands;
}

static void define_one(Decoder *d, const Operand *operand, unsigned bytes) {
    if (operand->kind == OPERAND_SINK) {
        const Value sink = {.kind = VALUE_REGISTER, .bytes = (uint8_t)bytes};
        push(d, add_value(d->kernel, sink), true);
        return;
    }
    d->bad |= operand->kind != OPERAND_REGISTER || operand->memory || operand->negated;
    push(d, value_of(d, operand, bytes), true);
}

static void use_one(Decoder *d, const Operand *operand, unsigned bytes) {
    d->bad |= operand->memory || operand->negated;
    push(d, value_of(d, operand, bytes), false);
}

void define(Decoder *d, unsigned bytes) { define_one(d, next_operand(d), bytes); }

void use(Decoder *d, unsigned bytes) { use_one(d, next_operand(d), bytes); }

void use_predicate(Decoder *d, bool *negated) {
    Operand operand = *next_operand(d);
    *negated = operand.negated;
    operand.negated = false;
    use_one(d, &operand, PREDICATE_BYTES);
}

void use_address(Decoder *d, int32_t *offset) {
    const Operand *operand = next_operand(d);
    unsigned bytes = 8;
    *offset = 0;
    d->bad |= !operand->memory;
    if (operand->kind == OPERAND_REGISTER) {
        bytes = d->kernel->value[operand->reg].bytes;
        *offset = (int32_t)operand->offset;
        d->bad |= bytes != 4 && bytes != 8;
        d->bad |= operand->offset != *offset;
    } else if (operand->kind == OPERAND_VARIABLE && operand->variable->space == SPACE_SHARED) {
        bytes = 4;
    }
    d->op->address_width = (uint8_t)bytes;
    push(d, value_of(d, operand, bytes), false);
}

static void vector(Decoder *d, unsigned bytes, int count, bool is_definition) {
    const Operand *operand = next_operand(d);
    const bool single = operand->kind != OPERAND_VECTOR;
    d->bad |= (single ? 1 : operand->elements) != count;
    for (int i = 0; i < count && !d->bad; i++) {
        const Operand *element = single ? operand : &operand->element[i];
        if (is_definition)
            define_one(d, element, bytes);
        else
            use_one(d, element, bytes);
    }
}

void use_elements(Decoder *d, const Operand *list, unsigned bytes) {
    for (int i = 0; i < list->elements; i++) use_one(d, &list->element[i], bytes);
}

void define_vector(Decoder *d, unsigned bytes, int count) { vector(d, bytes, count, true); }
void use_vector(Decoder *d, unsigned bytes, int count) { vector(d, bytes, count, false); }

void absent(Decoder *d, bool is_definition) { push(d, -1, is_definition); }

int64_t immediate(Decoder *d) {
    const Operand *operand = next_operand(d);
    d->bad |= operand->kind != OPERAND_NUMBER || operand->memory || operand->real;
    return (int64_t)operand->bits;
}

void use_pattern(Decoder *d, const char *pattern) {
    bool definitions = strchr(pattern, '=') != NULL, negated;
    for (; *pattern; pattern++) {
        const unsigned bytes = (unsigned)(*pattern - '0');
        if (*pattern == '=')
            definitions = false;
        else if (definitions)
            define(d, *pattern == 'p' ? PREDICATE_BYTES : bytes);
        else if (*pattern == 'p')
            use_predicate(d, &negated), d->bad |= negated;
        else
            use(d, bytes);
    }
}

bool done(Decoder *d, Handler run, InstructionClass class) {
    d->op->run = run;
    d->op->class = (uint8_t) class;
    return true;
}

bool refuse(Decoder *d, const char *why) {
    d->why = why;
    return false;
}

/* Behind `word`, if `list` begins with it and the next character is `end` or none; else NULL. */
static const char *behind(Text word, const char *list, char end) {
    for (int i = 0; i < word.length; i++)
        if (list[i] != word.at[i]) return NULL;
    list += word.length;
    return *list == end || !*list ? list : NULL;
}

/* True if `word` is one of the words of `list`, which blanks part. */
static bool in_list(Text word, const char *list) {
    for (; list; list = strchr(list, ' ') ? strchr(list, ' ') + 1 : NULL)
        if (behind(word, list, ' ')) return true;
    return false;
}

bool take_opcode(Decoder *d, const char *opcode) {
    const char *rest = behind(d->in->part[0], opcode, '.');
    if (!rest) return false;
    take_part(d, 0);
    while (*rest) {
        const char *next = NULL;
        int i = 1;
        while (i < d->in->parts && !(next = behind(d->in->part[i], rest + 1, '.'))) i++;
        if (!next) return false;
        take_part(d, i);
        rest = next;
    }
    return true;
}

bool decode_by_rows(Decoder *d, const Row rows[], size_t count) {
    const uint32_t taken = d->taken;
    for (size_t i = 0; i < count; i++) {
        d->taken = taken;
        if (!take_opcode(d, rows[i].opcode)) continue;
        if (!in_list(take_last(d), rows[i].types)) continue;
        if (d->taken != (1u << d->in->parts) - 1) continue;
        use_pattern(d, rows[i].pattern);
        return done(d, rows[i].run, rows[i].class);
    }
    d->taken = taken;
    return false;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static const DecodeFamily families[] = {
    decode_control, decode_memory,  decode_integer,  decode_carry, decode_float,  decode_half,
    decode_convert, decode_compare, decode_move,     decode_warp,  decode_matrix, decode_barrier,
    decode_copy,    decode_atomic,  decode_mbarrier, decode_bulk,  decode_wgmma,  decode_call,
};

/* What a family leaves behind is forgotten if it does not know the instruction after all. */
static bool decode_by(Decoder *d, DecodeFamily family) {
    const Op clean = *d->op;
    d->taken = 0;
    d->next = d->operands = d->definitions = 0;
    d->bad = false;
    if (family(d) && !d->bad && d->next == d->in->operands && d->taken == (1u << d->in->parts) - 1)
        return true;
    *d->op = clean;
    return false;
}

/* False: *why says what is wrong, if that is known. */
static bool decode_instruction(Kernel *k, const Instruction *in, Op *op, const char **why) {
    Decoder d = {.kernel = k, .in = in, .op = op};
    *op = (Op){.guard = in->guard, .guard_negated = in->guard_negated, .source = in};
    op->target = op->reconverge = -1;
    op->index = (int)(op - k->op);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (!decode_by(&d, families[i])) continue;
        const size_t bytes = (size_t)d.operands * sizeof *op->r;
        op->r = d.operands <= FEW_OPERANDS ? op->few : arena_alloc(&k->arena, bytes);
        memcpy(op->r, d.value, bytes);
        op->operands = (uint16_t)d.operands;
        op->definitions = (uint16_t)d.definitions;
        return true;
    }
    *why = d.why;
    return false;
}

/* ---- Variables ------------------------------------------------------------------------------- */

static uint32_t round_up(uint32_t bytes, uint32_t align) {
    return (bytes + align - 1) / align * align;
}

/* Behind what has been placed so far. Beyond the limit there is no place: *bytes then says so. */
static void place(Variable *v, uint32_t *bytes, uint32_t limit) {
    const uint32_t at = *bytes > limit ? *bytes : round_up(*bytes, v->align);
    v->address = at;
    v->placed = true;
    *bytes = at <= limit && v->bytes <= limit - at ? at + (uint32_t)v->bytes : limit + 1;
}

static void place_parameters(Kernel *k) {
    const PtxFunction *f = k->function;
    for (int i = 0; i < f->parameters; i++)
        place(f->parameter[i], &k->parameter_bytes, MAX_PARAMETERS);
    const size_t rounded = round_up(k->parameter_bytes + 1, 128);
    k->parameter = aligned_alloc(128, rounded);
    if (!k->parameter) abort();
    memset(k->parameter, 0, rounded);
    for (int i = 0; i < f->parameters; i++)
        f->parameter[i]->address += (uint64_t)(uintptr_t)k->parameter;
}

typedef void (*Visit)(Kernel *k, Variable *v);

static void visit_operands(Kernel *k, const Operand *operand, int count, Visit visit) {
    for (int i = 0; i < count; i++) {
        if (operand[i].kind == OPERAND_VARIABLE) visit(k, operand[i].variable);
        if (operand[i].elements) visit_operands(k, operand[i].element, operand[i].elements, visit);
    }
}

static void visit_variables(Kernel *k, Visit visit) {
    for (int i = 0; i < k->function->instructions; i++) {
        const Instruction *in = &k->function->code[i];
        visit_operands(k, in->operand, in->operands, visit);
    }
}

/* A .param variable inside a function holds what a call passes. */
static bool is_local(const Variable *v) {
    return v->space == SPACE_LOCAL || (v->space == SPACE_PARAM && !v->is_kernel_parameter);
}

/* Several kernels may use the same one: each places it anew. */
static void forget_place(Kernel *k, Variable *v) {
    (void)k;
    if (v->space == SPACE_SHARED || is_local(v)) v->placed = false;
}

static void place_static(Kernel *k, Variable *v) {
    if (v->placed) return;
    if (v->space == SPACE_SHARED && !v->dynamic) {
        place(v, &k->static_shared, MAX_SHARED);
        v->address += SHARED_BASE;
    } else if (is_local(v)) {
        place(v, &k->local_bytes, MAX_LOCAL);
    }
}

/* All dynamic arrays begin at one address, after the static ones. */
static void align_dynamic(Kernel *k, Variable *v) {
    if (v->space != SPACE_SHARED || !v->dynamic) return;
    k->dynamic_offset = round_up(k->dynamic_offset, v->align > 16 ? v->align : 16);
}

static void place_dynamic(Kernel *k, Variable *v) {
    if (v->space != SPACE_SHARED || !v->dynamic) return;
    v->address = SHARED_BASE + k->dynamic_offset;
    v->placed = true;
}

static bool fits(const Kernel *k, uint32_t bytes, uint32_t limit, const char *what, char *error,
                 size_t size) {
    if (bytes <= limit) return true;
    snprintf(error, size, "kernel %s needs more than %u bytes of %s", k->name, limit, what);
    return false;
}

static bool place_variables(Kernel *k, char *error, size_t size) {
    place_parameters(k);
    visit_variables(k, forget_place);
    visit_variables(k, place_static);
    const bool fit =
        fits(k, k->parameter_bytes, MAX_PARAMETERS, "parameters", error, size) &&
        fits(k, k->local_bytes, MAX_LOCAL, "local memory for each thread", error, size);
    k->local_bytes = round_up(k->local_bytes, 16);
    k->dynamic_offset = k->static_shared;
    visit_variables(k, align_dynamic);
    visit_variables(k, place_dynamic);
    return fit && fits(k, k->dynamic_offset, MAX_SHARED, "shared memory", error, size);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void add_registers(Kernel *k) {
    for (int i = 0; i < k->function->regs; i++)
        add_value(k, (Value){.kind = VALUE_REGISTER, .bytes = k->function->reg[i]});
}

static void complain(const Kernel *k, const Op *op, const char *why, char *error, size_t size) {
    char at[256];
    op_place(k, op, at, sizeof at);
    if (op_is(op, "wmma")) why = "use ldmatrix and mma.sync, as stages 08 and 09";
    if (memmem(op->source->text.at, (size_t)op->source->text.length, "%envreg", 7))
        why = "grid.sync() needs a cooperative launch, and there is none here";
    snprintf(error, size, "unsupported instruction in kernel %s (%s): %.*s%s%s", k->name, at,
             op->source->text.length, op->source->text.at, why ? ": " : "", why ? why : "");
}

bool decode_kernel(Kernel *k, char *error, size_t error_size) {
    static const char exit_name[] = "exit";
    static Text exit_part = {exit_name, 4};
    static const Instruction end = {.part = &exit_part,
                                    .parts = 1,
                                    .guard = -1,
                                    .target = -1,
                                    .table = -1,
                                    .location = -1,
                                    .text = {exit_name, 4}};
    const int count = k->function->instructions;
    k->op = aligned_alloc(CACHE_LINE, ((size_t)count + 1) * sizeof *k->op);
    if (!k->op) abort();
    k->race_granule = 4;
    add_registers(k);
    if (!place_variables(k, error, error_size)) return false;
    for (k->ops = 0; k->ops <= count; k->ops++) {
        const Instruction *in = k->ops < count ? &k->function->code[k->ops] : &end;
        const char *why = NULL;
        if (decode_instruction(k, in, &k->op[k->ops], &why)) continue;
        complain(k, &k->op[k->ops], why, error, error_size);
        return false;
    }
    find_copies(k);
    Graph graph = cfg_build(k);
    cfg_reconvergence(&graph, k);
    cfg_straight(k);
    find_addresses(k);
    find_guesses(k);
    fuse_products(&graph, k);
    const bool assigned = registers_assign(&graph, k);
    cfg_free(&graph);
    if (!assigned)
        snprintf(error, error_size, "kernel %s keeps too many values at one time", k->name);
    return assigned;
}
