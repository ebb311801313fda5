/* From instructions to operations. Each family of opcodes has its own decoder (ops/ops_*.c), which
 * either fills in the operation or leaves the instruction to the next family.
 *
 * To add an opcode: find its family, add a row to its table or a branch to its decode function, and
 * write the handler. Every part of the opcode must be taken; one that is left is reported as
 * unsupported.
 */
#ifndef PTXSIM_DECODE_H
#define PTXSIM_DECODE_H

#include "decode/kernel.h"
#include "decode/rounding.h"

typedef struct Decoder {
    Kernel *kernel;
    const Instruction *in;
    Op *op;
    uint32_t taken; /* parts of the opcode that a family has understood, a bit each */
    int next;       /* the operand that comes next */
    int16_t operands, definitions;
    int32_t value[160]; /* of the operation so far: definitions first */
    bool bad;           /* an operand that the family does not expect */
    const char *why;    /* what is wrong with it, if a family has said so */
} Decoder;

typedef bool (*DecodeFamily)(Decoder *d);

/* The families, each true if it knows the instruction. */
bool decode_control(Decoder *d);
bool decode_integer(Decoder *d);
bool decode_carry(Decoder *d);
bool decode_float(Decoder *d);
bool decode_half(Decoder *d);
bool decode_convert(Decoder *d);
bool decode_compare(Decoder *d);
bool decode_move(Decoder *d);
bool decode_warp(Decoder *d);
bool decode_memory(Decoder *d);
bool decode_atomic(Decoder *d);
bool decode_barrier(Decoder *d);
bool decode_copy(Decoder *d);
bool decode_bulk(Decoder *d);
bool decode_mbarrier(Decoder *d);
bool decode_matrix(Decoder *d);
bool decode_wgmma(Decoder *d);
bool decode_call(Decoder *d);

/* ---- The opcode ------------------------------------------------------------------------------ */

/* The first part is `name`; it is then taken. */
bool opcode_is(Decoder *d, const char *name);

/* True if the part is there; it is then taken. */
bool take(Decoder *d, const char *part);

/* The first part and others, "mul.wide"; true if all are there. They are then taken. */
bool take_opcode(Decoder *d, const char *opcode);

/* The index of the first of `names` (ended by NULL) that is there, and takes it; -1: none is. */
int take_one(Decoder *d, const char *const names[]);

/* The last part, usually the type of the operands; part_before is the part before it. Taken. */
Text take_last(Decoder *d);
Text take_before_last(Decoder *d);

/* .rn, .rz, .rm, .rp; ROUND_NEAREST if there is none. */
Rounding take_rounding(Decoder *d);

/* False if `text` is no type. */
bool type_of(Text text, Type *type);

/* ---- Operands: in the order of the instruction; definitions come first ----------------------- */

/* The next operand, NULL if there are no more. */
const Operand *peek_operand(Decoder *d);

/* A register that the operation writes; `_` becomes a register that nobody reads. */
void define(Decoder *d, unsigned bytes);

/* A register, number or special register of `bytes` that it reads. */
void use(Decoder *d, unsigned bytes);

/* A predicate that it reads; *negated says whether !p. */
void use_predicate(Decoder *d, bool *negated);

/* An address: a register of 4 or 8 bytes, or a constant; sets op->address_width and *offset. */
void use_address(Decoder *d, int32_t *offset);

/* The registers of a vector, or one register: `bytes` each, `count` of them. */
void define_vector(Decoder *d, unsigned bytes, int count);
void use_vector(Decoder *d, unsigned bytes, int count);

/* The elements of a list, such as the coordinates of [map, {x, y}], which is not the next
 * operand. */
void use_elements(Decoder *d, const Operand *list, unsigned bytes);

/* A definition or source that this form of the instruction does not have: its offset is -1. */
void absent(Decoder *d, bool is_definition);

/* A number that is part of the instruction; marks the instruction as bad if it is no number. */
int64_t immediate(Decoder *d);

/* Operands by a pattern, one character each: the definitions, '=', the sources. 'p' predicate, '2',
 * '4', '8' bytes. */
void use_pattern(Decoder *d, const char *pattern);

/* A row of a family's table: "mul.wide" with one of the types "s32 u32" has operands "8=44". */
typedef struct Row {
    const char *opcode, *types, *pattern;
    Handler run;
    InstructionClass class;
} Row;

/* Decodes by the first of `rows` that fits: its opcode is the instruction's first part and all its
 * other parts are there, and the last part is one of its types. */
bool decode_by_rows(Decoder *d, const Row rows[], size_t count);
#define ROWS(rows) (rows), sizeof(rows) / sizeof *(rows)

/* Fills in the operation: handler and class. Returns true, for a decode function's return. */
bool done(Decoder *d, Handler run, InstructionClass class);

/* Says what is wrong with the instruction, "it ...". Returns false, for a decode function's return.
 */
bool refuse(Decoder *d, const char *why);

/* ---- Whole kernels --------------------------------------------------------------------------- */

/* Decodes kernel->function into kernel->op. False and one sentence in `error` if an instruction is
 * not supported. Variables get their addresses. */
bool decode_kernel(Kernel *kernel, char *error, size_t error_size);

#endif
