/* The state of one block that executes a kernel, and of its warps. */
#ifndef PTXSIM_BLOCK_H
#define PTXSIM_BLOCK_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "decode/kernel.h"
#include "machine/memory/grid_race.h"
#include "machine/memory/memo.h"
#include "machine/memory/memory.h"
#include "machine/memory/pattern.h"
#include "machine/memory/race.h"

enum {
    MAX_WARPS = 32,
    MAX_DIVERGENCE = 63, /* frames of a warp's stack: 32 lanes apart, and 31 places to meet */
    NAMED_BARRIERS = 16,
    SHARED_PATTERNS = 8,
};

typedef struct Block Block;

typedef enum WarpState {
    WARP_READY,
    WARP_AT_BARRIER,
    WARP_AT_MBARRIER, /* in a try_wait whose phase has not completed */
    WARP_POLLING,     /* gave up its turn: a test that failed, nanosleep */
    WARP_DONE,
} WarpState;

/* Lanes on one way: they go on at `pc`, until they come to `reconverge`. Or lanes of several ways,
 * frames above this one, which go on at `pc` when all have come there. */
typedef struct Frame {
    int pc, reconverge;
    uint32_t mask;
} Frame;

struct Warp {
    uint8_t *registers;
    uint32_t mask; /* lanes that execute the current operation */
    uint32_t active, live;
    uint32_t waiting; /* lanes that let others of the warp go first: simt.h */
    uint32_t come;    /* lanes at a bar.warp.sync that waits for others */
    uint32_t met;     /* lanes at one to which the others have come since */
    uint32_t carry;   /* the condition-code register of add.cc and its like, a bit a lane */
    int pc, depth;
    WarpState state;
    int index; /* in the block */
    Block *block;
    const Op *op;     /* the current operation */
    uint32_t barrier; /* the one waited at */
    uint32_t wait_address, wait_parity;
    bool expired;      /* its try_wait has come back without a phase: the next one does not */
    uint64_t executed; /* operations of this block, up to pc */
    uint32_t granted;  /* registers of a thread by setmaxnreg; 0: as launched */
    const Op *grant;   /* that one */
    bool early;        /* the launch before may still be running: griddepcontrol.wait is to come */
    uint8_t *local;    /* [lane][local_bytes] */
    Frame stack[MAX_DIVERGENCE];
    uint32_t members[LANES];  /* of the lanes that have `come`: their member masks */
    struct CopyQueue *copies; /* cp.async: async.h */
    struct BulkQueue *bulk;   /* bulk stores */
    struct WgmmaQueue *wgmma;
};

typedef struct NamedBarrier {
    uint32_t arrived, expected; /* threads; expected 0: every thread that has not ended */
    uint32_t waiting;           /* warps */
    uint32_t count;             /* of predicates that were true: bar.red */
} NamedBarrier;

/* An operation's last requests: in what memory, and numbers of patterns. Where addresses are
 * swizzled, a loop has several patterns, and they mostly come in the same order again and again. */
typedef struct OpRequests {
    const Allocation *range;
    uint64_t piece; /* Block.piece when it last had a pattern: this one */
    uint16_t fits;
    uint16_t shared[SHARED_PATTERNS], global;
    uint16_t current; /* of the shared ones */
} OpRequests;

/* How to run: from the environment. */
typedef struct Settings {
    bool late;       /* SIM_ASYNC: asynchronous copies land as late as allowed, else at once */
    bool race;       /* SIM_RACE: look for races */
    bool force;      /* FORCE: run however long it takes */
    uint64_t budget; /* SIM_BUDGET: operations a warp may execute in one block */
    int threads;     /* SIM_THREADS: host threads */
    uint64_t order;  /* SIM_ORDER: in which order blocks and warps run; 0: as they are numbered */
    uint64_t index;  /* SIM_INDEX: the largest 32-bit number to be made 64 bits wide; 0: any */
    uint32_t multiprocessors; /* SIM_MULTIPROCESSORS: what a persistent kernel sizes its grid by */
} Settings;

/* How often the operations of a straight piece were executed, with how many lanes in all. */
typedef struct StraightCount {
    uint64_t executions, lanes;
} StraightCount;

/* One block being executed, with all memory that this needs; it serves for one block after another
 * of a launch. */
struct Block {
    const Kernel *kernel;
    const Settings *settings;
    uint32_t grid[3], threads[3], index[3];
    uint32_t thread_count;
    bool early; /* LaunchShape */
    int warps;
    Warp *warp;
    uint8_t *shared;  /* [shared_bytes], address SHARED_BASE */
    uint8_t *written; /* [shared_bytes]: 0xff where something was written */
    uint32_t *phases; /* [shared_bytes / 8]: of the mbarrier there, how many have completed */
    uint32_t shared_bytes;
    Allocation parameters; /* kernel->parameter, as memory that the kernel may read */
    NamedBarrier barrier[NAMED_BARRIERS];
    uint32_t launched; /* registers of a thread at launch, once setmaxnreg asked; 0: not known */
    struct BulkLoads *loads; /* bulk loads in flight */
    uint64_t progress;       /* grows whenever something happens that a waiting warp may wait for */
    InstructionCount *count; /* [kernel->ops] */
    StraightCount *straight; /* [kernel->ops]: of op->straight, not yet in `count` */
    OpRequests *requests;    /* [kernel->ops] */
    uint64_t piece;          /* grows with each execution of a straight piece, or an operation */
    Patterns *patterns;      /* of all requests */
    Memo *readable;          /* patterns at places in shared memory all of which is written */
    Memo *marked;            /* patterns at places in global memory whose sectors are marked */
    Race *race;              /* in shared memory; NULL: not wanted */
    GridUses *uses;          /* of global memory; NULL: not wanted */
    struct Record *record;   /* observe.h; NULL: this block is not recorded */
    jmp_buf escape;          /* fault() ends the block */
    char report[4096];       /* what fault() has to say */
};

/* ---- Faults (report/fault.c) ----------------------------------------------------------------- */

/* Writes a report about the current operation of `warp` and ends the block. lane -1: the warp as a
 * whole. The message is a phrase without a full stop. */
_Noreturn void fault(Warp *warp, int lane, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The warp has used up its budget of operations. */
_Noreturn void fault_endless(Warp *warp);
_Noreturn void fault_race(Warp *warp, const RaceReport *race);

/* Writes a report about two blocks, to the report of any block of the launch. */
void report_grid_race(Block *block, const GridConflict *conflict);

/* No warp can go on: reports what each of them waits for. */
_Noreturn void fault_deadlock(Block *block);

/* The host bytes of shared address 0. */
static inline uint8_t *shared_zero(const Block *block) {
    return (uint8_t *)((uintptr_t)block->shared - SHARED_BASE);
}

/* The mark of shared address 0: what is written has marks of 0xff. */
static inline uint8_t *shared_marks(const Block *block) {
    return (uint8_t *)((uintptr_t)block->written - SHARED_BASE);
}

static inline void shared_mark_written(const Block *block, uint32_t address, uint32_t bytes) {
    memset(shared_marks(block) + address, 0xff, bytes);
}

#endif
