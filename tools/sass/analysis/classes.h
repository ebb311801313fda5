/* What kind of work an opcode does, and how opcodes are named in tables and assertions. */
#ifndef SASS_CLASSES_H
#define SASS_CLASSES_H

#include "analysis/listing.h"

typedef enum OpcodeClass {
    CLASS_TENSOR,  /* tensor cores: HMMA, HGMMA */
    CLASS_FMA,     /* additions and multiplications of floats */
    CLASS_MUFU,    /* the special function unit: exp2, reciprocal */
    CLASS_COMPARE, /* comparisons, selections, minima and maxima, predicates */
    CLASS_INTEGER, /* integers, and so addresses */
    CLASS_MOVE,    /* moves, conversions, constants, special registers */
    CLASS_LANES,   /* exchange between the lanes of a warp */
    CLASS_SHARED,  /* shared memory, and the tensor memory of compute capability 10 */
    CLASS_GLOBAL,  /* global memory */
    CLASS_ASYNC,   /* copies in the background, and the waits for them */
    CLASS_LOCAL,   /* local memory: registers spilled, arrays that are not in registers */
    CLASS_BARRIER, /* barriers, fences, waits for tensor cores */
    CLASS_CONTROL, /* branches, convergence, register allocation */
    CLASS_OTHER,   /* an opcode that this table does not know */
    CLASSES
} OpcodeClass;

enum { OPCODE_NAME_SIZE = 64 };

/* True under the guard @!PT. ptxas puts such loads of shared memory beside LDGSTS on sm_80: they do
 * nothing and count as control, not as loads. */
bool opcode_never_executes(const Instruction *instruction);

/* The class of an instruction. A multiplication by zero that the compiler uses as a move is a move.
 */
OpcodeClass opcode_class(const Instruction *instruction);

/* "tensor", "fma" and so on, as assertions spell it. */
const char *class_name(OpcodeClass kind);

/* The class of that name, or CLASSES. */
OpcodeClass class_named(const char *name);

/* The name under which an instruction is counted: the opcode with its modifiers where they say how
 * wide or what function (LDS.128, MUFU.EX2), else without (ISETP). Returns `name`. */
const char *opcode_name(const Instruction *instruction, char name[OPCODE_NAME_SIZE]);

/* Whether an instruction matches "LDS", "LDS.128" (modifiers in any place), "DEPBAR.0x1" (what its
 * last operand is) or a class's name. */
bool opcode_matches(const Instruction *instruction, const char *pattern);

/* True if the opcode without modifiers is `base`. */
bool opcode_is(const Instruction *instruction, const char *base);

#endif
