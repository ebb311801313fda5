/* A PTX module as the parser leaves it: names resolved, nothing interpreted yet.
 *
 * Text is never copied: every Text points into the module's own copy of the PTX.
 */
#ifndef PTXSIM_PTX_H
#define PTXSIM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/arena.h"

typedef struct Text {
    const char *at;
    int length;
} Text;

bool text_is(Text text, const char *name);
bool text_equal(Text a, Text b);

/* Where an instruction comes from: a .loc directive. Indices are into PtxModule.locations. */
typedef struct Location {
    int file; /* index into PtxModule.files, -1: unknown */
    int line; /* 0: the compiler knows none */
    int column;
    int parent;  /* the call that was inlined here, -1: none */
    int inlined; /* index into PtxModule.inlined: the function it is in; -1: the kernel itself */
} Location;

/* A function that the compiler has inlined: the lines of it that left instructions. */
typedef struct InlinedFunction {
    Text label; /* of its name among the debug strings */
    int first_line, last_line;
} InlinedFunction;

typedef enum Space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_CONST,
} Space;

/* An address inside a variable's initial value: `target` plus `addend`, 8 bytes at `offset`. */
typedef struct Relocation {
    uint64_t offset;
    struct Variable *target;
    int64_t addend;
    bool generic; /* the address in the generic space */
} Relocation;

typedef struct Variable {
    Text name;
    Space space;
    bool is_kernel_parameter;
    bool dynamic; /* extern .shared name[]: its size comes with the launch */
    uint32_t align;
    uint64_t bytes;
    uint8_t *initial; /* [bytes], NULL: zeros */
    Relocation *relocation;
    int relocations;
    bool placed;      /* address is valid */
    uint64_t address; /* global, const: host address; param: host address or, in a function, local
                         address; shared and local: address in the space */
} Variable;

enum { PREDICATE_BYTES = 1 }; /* the size that marks a register as a predicate */

typedef enum OperandKind {
    OPERAND_REGISTER,
    OPERAND_NUMBER,   /* bits, or fp32/fp64 bits for 0f and 0d; with a point, fp64 bits */
    OPERAND_SPECIAL,  /* %tid.x and the like: name */
    OPERAND_VARIABLE, /* the address of a variable */
    OPERAND_VECTOR,   /* {a, b} and (a, b) */
    OPERAND_NAME,     /* a label, a jump table or a function */
    OPERAND_SINK,     /* _ */
} OperandKind;

typedef struct Operand {
    OperandKind kind;
    bool negated;   /* !p */
    bool memory;    /* in [ ] */
    bool second;    /* q of p|q */
    bool real;      /* a number with a point */
    int64_t offset; /* [base + offset] */
    int reg;        /* index into PtxFunction.reg */
    uint64_t bits;
    Text name;
    Variable *variable;
    struct Operand *element; /* of a vector; of [base, {coordinates}]: the coordinates */
    int elements;
} Operand;

enum { MAX_PARTS = 24, MAX_OPERANDS = 12 };

typedef struct Instruction {
    Text text;  /* the whole statement, without its semicolon */
    Text *part; /* the opcode, split at dots: "ld", "global", "f32" */
    int parts;
    int guard; /* predicate register, -1: none */
    bool guard_negated;
    Operand *operand;
    int operands;
    int target;   /* bra: index of an instruction */
    int table;    /* brx.idx: index of a jump table */
    int location; /* index into PtxModule.locations, -1: none */
    int line;     /* in the PTX */
    bool labelled;
} Instruction;

/* .branchtargets */
typedef struct JumpTable {
    Text name;
    int *target; /* indices of instructions */
    int targets;
} JumpTable;

typedef struct PtxFunction {
    Text name;
    bool is_kernel, has_body;
    Variable **result, **parameter;
    int results, parameters;
    uint8_t *reg; /* bytes of each register; PREDICATE_BYTES: a predicate */
    int regs;
    Instruction *code;
    int instructions;
    JumpTable *table;
    int tables;
    int max_threads;      /* .maxntid or .reqntid, 0: not given */
    uint32_t required[3]; /* .reqntid: the shape that a block must have; 0: not given */
    int min_blocks;       /* .minnctapersm, 0: not given */
    int max_registers;    /* .maxnreg, 0: not given */
    bool clustered;       /* .reqnctapercluster: more than one block in a cluster */
} PtxFunction;

typedef struct PtxModule {
    Arena arena;
    PtxFunction *function;
    int functions;
    Variable **variable; /* of the module: global, const, shared */
    int variables;
    Location *location;
    int locations;
    InlinedFunction *inlined;
    int inlined_functions;
    const char **file; /* file[i] is .file i + 1; NULL: a number that was left out */
    int files;
} PtxModule;

/* Parses text[0..length). Returns NULL and one sentence in `error` if it is not PTX that this
 * parser knows. Free with ptx_free. */
PtxModule *ptx_parse(const char *text, size_t length, char *error, size_t error_size);
void ptx_free(PtxModule *module);

/* NULL: none of that name. */
PtxFunction *ptx_function(const PtxModule *module, Text name);

/* A copy of the kernel with every call replaced by the called function's body. Calls of functions
 * without a body stay. NULL and one sentence in `error`: recursion, an indirect call. Allocated
 * from the module's arena. */
PtxFunction *ptx_inline(PtxModule *module, const PtxFunction *kernel, char *error,
                        size_t error_size);

/* The location that an instruction's counters and faults belong to: where it is in the source, but
 * for what comes from a header of the toolkit or from an inlined function of a few lines, such as
 * the wrapper of one PTX instruction. That belongs to the call. NULL: unknown. */
const Location *ptx_location(const PtxModule *ptx, const Instruction *in);

/* Gives the instructions whose .loc has line 0, because the compiler has merged or moved them, the
 * line of a neighbour: of the next instruction with a line in their basic block. If there is none,
 * or if it is a barrier, of the last one before them. */
void ptx_give_lines(PtxModule *module);

#endif
