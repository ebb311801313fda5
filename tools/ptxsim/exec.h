/* What runs: a kernel decoded to operations, and the state of one block that executes them.
 *
 * A warp's registers are arrays over its 32 lanes, one after another in one piece of memory; an
 * operation names them by their byte offsets. A predicate is one 32-bit word, a bit a lane.
 * Constants and special registers are registers too, filled before the block begins.
 */
#ifndef PTXSIM_EXEC_H
#define PTXSIM_EXEC_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counts.h"
#include "memory.h"
#include "numeric.h"
#include "pattern.h"
#include "ptx.h"
#include "race.h"

enum {
    LANES = 32,
    MAX_WARPS = 32,
    MAX_DIVERGENCE = 64, /* frames of a warp's stack */
    NAMED_BARRIERS = 16,
    SHARED_BASE = 1024, /* the first shared address; the system has those below */
    MAX_SHARED = 227 * 1024,
    MULTIPROCESSORS = 4, /* what a persistent kernel sizes its grid by */
};
#define ALL_LANES 0xffffffffu

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct Warp Warp;
typedef struct Block Block;
typedef struct Op Op;
typedef void (*Handler)(Warp *warp, const Op *op);

/* A PTX type: what its letters and digits say. */
typedef struct Type {
    char kind;     /* 'b', 'u', 's', 'f' (fp32, fp64), 'h' (fp16), 'g' (bf16), 'p' (predicate) */
    uint8_t bytes; /* PREDICATE_BYTES for 'p' */
    bool pair;     /* f16x2, bf16x2: bytes is 4 */
} Type;

typedef uint32_t (*Compare)(const void *left, const void *right, unsigned relation);

/* A decoded instruction. Which of the fields below `class` count, and what mode, combination and
 * number mean, is up to the handler. */
struct Op {
    Handler run;
    int32_t *r; /* operands as offsets into the register file, definitions first; -1: absent */
    int32_t guard;
    bool guard_negated;
    bool joins;   /* divergent lanes may meet here */
    bool updates; /* the definitions are read, too */
    uint16_t operands, definitions;
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
    Type type, from; /* of the result and of the sources */
    Compare compare;
    bool is_signed, flush, saturate, relu, bf16, negated, second_negated;
    int32_t offset, second_offset; /* added to addresses */
    int32_t number;
    int32_t target, reconverge; /* branches: indices of operations; -1: the end */
    int index;                  /* into Kernel.op */
    const Instruction *source;
    const JumpTable *table;
};

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
    struct Module *module;
    PtxFunction *function; /* calls inlined */
    Op *op;
    int ops;
    Value *value;
    int values;
    uint32_t register_bytes;
    uint8_t *parameter; /* host memory, read by ld.param and through generic addresses */
    uint32_t parameter_bytes;
    Allocation parameter_range;
    uint32_t static_shared, dynamic_offset; /* bytes; the dynamic part starts at the offset */
    uint32_t local_bytes;                   /* a lane */
    uint32_t race_granule;                  /* the narrowest shared access, 1, 2 or 4 bytes */
    bool in_order;                          /* blocks talk to each other through global memory */
    InstructionInfo *info;                  /* [ops] */
    InstructionCount *count;                /* [ops], over all launches since the last reset */
    KernelCounts totals;
} Kernel;

/* ---- Blocks ---------------------------------------------------------------------------------- */

typedef enum WarpState {
    WARP_READY,
    WARP_AT_BARRIER,
    WARP_AT_MBARRIER, /* in a try_wait whose phase has not completed */
    WARP_POLLING,     /* gave up its turn: a test that failed, nanosleep */
    WARP_DONE,
} WarpState;

/* Lanes in `mask` go on at `pc` once those of the frames above have come to `reconverge`. */
typedef struct Frame {
    int pc, reconverge;
    uint32_t mask;
} Frame;

struct Warp {
    uint8_t *registers;
    uint32_t mask; /* lanes that execute the current operation */
    uint32_t active, live;
    uint32_t carry; /* the condition-code register of add.cc and its like, a bit a lane */
    int pc, depth;
    WarpState state;
    int index; /* in the block */
    Block *block;
    const Op *op;     /* the current operation */
    uint32_t barrier; /* the one waited at */
    uint32_t wait_address, wait_parity;
    uint64_t executed; /* operations, of this block */
    uint8_t *local;    /* [lane][local_bytes] */
    Frame stack[MAX_DIVERGENCE];
    struct CopyQueue *copies; /* cp.async: async.h */
    struct BulkQueue *bulk;   /* bulk stores */
    struct WgmmaQueue *wgmma;
};

typedef struct NamedBarrier {
    uint32_t arrived, expected; /* threads; expected 0: every thread that has not ended */
    uint32_t waiting;           /* warps */
    uint32_t count;             /* of predicates that were true: bar.red */
} NamedBarrier;

/* The last requests of an operation. */
typedef struct OpPatterns {
    Pattern shared, global;
} OpPatterns;

/* How to run: from the environment. */
typedef struct Settings {
    bool late;       /* SIM_ASYNC: asynchronous copies land as late as allowed, else at once */
    bool race;       /* SIM_RACE: look for races in shared memory */
    bool force;      /* FORCE: run however long it takes */
    uint64_t budget; /* SIM_BUDGET: operations a warp may execute in one block */
    int threads;     /* SIM_THREADS: host threads */
    uint64_t index;  /* SIM_INDEX: the largest 32-bit number to be made 64 bits wide; 0: any */
} Settings;

/* One block being executed, with all memory that this needs; it serves for one block after another
 * of a launch. */
struct Block {
    const Kernel *kernel;
    const Settings *settings;
    uint32_t grid[3], threads[3], index[3];
    uint32_t thread_count;
    int warps;
    Warp *warp;
    uint8_t *shared;  /* [shared_bytes], address SHARED_BASE */
    uint8_t *written; /* [shared_bytes]: 0xff where something was written */
    uint32_t shared_bytes;
    NamedBarrier barrier[NAMED_BARRIERS];
    struct BulkLoads *loads; /* bulk loads in flight */
    uint64_t progress;       /* grows whenever something happens that a waiting warp may wait for */
    InstructionCount *count; /* [kernel->ops] */
    const Allocation **range; /* [kernel->ops]: what the operation accessed last */
    OpPatterns *pattern;      /* [kernel->ops]: how */
    Race *race;               /* NULL: not wanted */
    struct Record *record;    /* observe.h; NULL: this block is not recorded */
    jmp_buf escape;           /* fault() ends the block */
    char report[4096];        /* what fault() has to say */
};

/* ---- Running (block.c, simt.c, fault.c) ------------------------------------------------------ */

/* Memory for blocks of one launch. NULL if the host is short of memory. */
Block *block_new(const Kernel *kernel, const Settings *settings, const uint32_t grid[3],
                 const uint32_t threads[3], uint32_t dynamic_shared);
void block_free(Block *block);

/* Runs block `index` of the grid to its end. False: a fault, described in block->report. */
bool block_run(Block *block, uint64_t index);

/* A warp has ended, or a barrier changed: lets go the warps that wait for nothing more. */
void barrier_check(Block *block, uint32_t id);

/* How many threads a barrier of `count` waits for: 0 is all that have not ended. Whole warps, as
 * arrivals are counted too (PTX ISA, "bar, barrier"). */
uint32_t barrier_threads(const Block *block, uint32_t count);

/* Writes a report about the current operation of `warp` and ends the block. lane -1: the warp as a
 * whole. The message is a phrase without a full stop. */
_Noreturn void fault(Warp *warp, int lane, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void fault_race(Warp *warp, const RaceReport *race);

/* Faults if a lane's value is above what SIM_INDEX allows. */
void check_index(Warp *warp, const uint32_t value[], bool is_signed);

/* No warp can go on: reports what each of them waits for. */
_Noreturn void fault_deadlock(Block *block);

/* The source line that an operation belongs to, as "file:line", to text[0..size). */
void op_place(const Kernel *kernel, const Op *op, char *text, size_t size);

/* Handlers that more than one file names. */
void run_nothing(Warp *warp, const Op *op);
void run_branch(Warp *warp, const Op *op);
void run_indexed_branch(Warp *warp, const Op *op);
void run_exit(Warp *warp, const Op *op);
void run_fused(Warp *warp, const Op *op);

/* Continues with lanes that have met, as often as needed; then warp->pc is what to execute. */
void simt_reconverge(Warp *warp);

#endif
