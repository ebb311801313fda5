/* A kernel decoded to operations.
 *
 * A warp's registers are arrays over its 32 lanes, one after another in one piece of memory; an
 * operation names them by their byte offsets. A predicate is one 32-bit word, a bit a lane.
 * Constants and special registers are registers too, filled before the block begins.
 */
#ifndef PTXSIM_KERNEL_H
#define PTXSIM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/counts.h"
#include "ptx/ptx.h"

enum {
    LANES = 32,
    SHARED_BASE = 1024, /* the first shared address; the system has those below */
};
#define ALL_LANES 0xffffffffu

typedef struct Warp Warp;
typedef struct Op Op;
typedef void (*Handler)(Warp *warp, const Op *op);

/* A PTX type: what its letters and digits say. */
typedef struct Type {
    char kind;     /* 'b', 'u', 's', 'f' (fp32, fp64), 'h' (fp16), 'g' (bf16), 'p' (predicate) */
    uint8_t bytes; /* PREDICATE_BYTES for 'p' */
    bool pair;     /* f16x2, bf16x2: bytes is 4 */
} Type;

typedef uint32_t (*Compare)(const void *left, const void *right, unsigned relation);

enum { CACHE_LINE = 64, FEW_OPERANDS = 4 };

/* A decoded instruction. Which of the fields below `class` count, and what mode, combination and
 * number mean, is up to the handler. What most of them need is in the first cache line. */
struct Op {
    _Alignas(CACHE_LINE) Handler run;
    int32_t *r; /* operands as offsets into the register file, definitions first; -1: absent */
    int32_t few[FEW_OPERANDS]; /* where r points to if there are no more */
    int index;                 /* into Kernel.op */
    int straight;   /* this operation and those after it that the same lanes execute in one go */
    int32_t guard;  /* a predicate; -1: none */
    int32_t offset; /* added to addresses */
    int repeats;    /* an earlier access of the straight piece at the same addresses; -1: none */
    bool guard_negated;
    bool joins;    /* divergent lanes may meet here */
    uint8_t class; /* InstructionClass */
    uint8_t space; /* Space */
    uint8_t bytes; /* of one element in memory */
    uint8_t elements;
    uint8_t width; /* bytes of the register that holds the value */
    uint8_t source_width;
    uint8_t address_width; /* bytes of the address register */
    uint8_t rounding;      /* Rounding */
    uint8_t mode;
    uint8_t combination;
    uint8_t copied; /* of a load: its elements that nothing computes with, a bit each */
    uint8_t order;  /* of a strong access: bits, see race.h; 0: it is weak */
    uint8_t alone;  /* of an atomic: wavefronts in shared memory that serve one lane; else 0 */
    bool of_block;  /* of a strong access or a fence: its scope has no other blocks */
    bool is_signed, flush, saturate, relu, bf16, negated, second_negated;
    bool updates;    /* the definitions are read, too */
    Type type, from; /* of the result and of the sources */
    uint16_t operands, definitions;
    int32_t second_offset;
    int32_t number;
    int32_t target, reconverge; /* branches: indices of operations; -1: the end */
    Compare compare;
    const Instruction *source;
    const JumpTable *table;
};

/* Whether its instruction has this name, without what follows a point. */
static inline bool op_is(const Op *op, const char *name) {
    return text_is(op->source->part[0], name);
}

typedef enum ValueKind { VALUE_REGISTER, VALUE_CONSTANT, VALUE_SPECIAL } ValueKind;

/* Something an operation can name. */
typedef struct Value {
    ValueKind kind;
    uint8_t bytes;  /* PREDICATE_BYTES, 2, 4, 8 or 16 */
    bool pinned;    /* shares its place with no other value */
    int special;    /* index into the table of special registers */
    uint64_t bits;  /* of a constant */
    int32_t offset; /* into the register file; -1: never used */
} Value;

typedef struct Kernel {
    Arena arena;      /* of the operands */
    const char *name; /* as in the source, without its parameters */
    PtxModule *ptx;
    PtxFunction *function; /* calls inlined */
    Op *op;
    int ops;
    Value *value;
    int values;
    int32_t *unwritten; /* [unwrittens], registers that may be read before they are written */
    int unwrittens;
    uint32_t register_bytes;
    uint8_t *parameter; /* host memory, read by ld.param and through generic addresses */
    uint32_t parameter_bytes;
    uint32_t static_shared, dynamic_offset; /* bytes; the dynamic part starts at the offset */
    uint32_t local_bytes;                   /* a lane */
    uint32_t race_granule;                  /* the narrowest shared access, 1, 2 or 4 bytes */
    bool in_order;                          /* blocks talk to each other through global memory */
    InstructionInfo *info;                  /* [ops] */
    InstructionCount *count;                /* [ops], over all launches since the last reset */
    KernelCounts totals;
} Kernel;

/* The source line that an operation belongs to, as "file:line", to text[0..size). */
void op_place(const Kernel *kernel, const Op *op, char *text, size_t size);

/* Handlers that more than one file names: machine/simt.c, ops_control.c and ops_float.c have
 * them. */
void run_nothing(Warp *warp, const Op *op);
void run_branch(Warp *warp, const Op *op);
void run_indexed_branch(Warp *warp, const Op *op);
void run_exit(Warp *warp, const Op *op);
void run_fused(Warp *warp, const Op *op);

#endif
