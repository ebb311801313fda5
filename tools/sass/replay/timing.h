/* How the units of a multiprocessor treat an instruction: which pipe takes it and for how long, and
 * when what it set up is there. */
#ifndef SASS_TIMING_H
#define SASS_TIMING_H

#include "analysis/control.h"
#include "limits/machine.h"
#include "limits/work.h"
#include "replay/reads.h"

/* Pipes of a partition, except that of loads and stores, which all partitions feed. */
typedef enum Pipe {
    PIPE_NONE,      /* an issue slot alone: branches, moves, the uniform data path */
    PIPE_FMA,       /* either of two pipes, each of half the lanes */
    PIPE_FMA_HEAVY, /* the one that multiplies integers and pairs of fp16, too */
    PIPE_FMA_LITE,  /* the other */
    PIPE_ALU,
    PIPE_MUFU, /* has a queue, as it is slow: the warp goes on */
    PIPE_TENSOR,
    PIPE_LSU, /* has a queue; shared memory, L1 and exchanges between lanes */
    PIPES
} Pipe;

typedef enum Kind {
    KIND_PLAIN,
    KIND_BARRIER, /* waits for all warps of the block */
    KIND_COPY,    /* LDGSTS */
    KIND_COMMIT,  /* LDGDEPBAR: a group of copies ends */
    KIND_AWAIT    /* DEPBAR.LE: waits until so many groups are left */
} Kind;

typedef struct Timing {
    Control control;
    Operands operands;
    Pipe pipe;
    Kind kind;
    int groups;      /* of KIND_AWAIT */
    double busy;     /* cycles that the pipe of a partition is taken */
    double shared;   /* cycles of the pipe that the multiprocessor has once, behind that */
    double filled;   /* bytes that surely come from L2, or go there */
    double taken;    /* cycles that mma.sync loses if it is issued meanwhile */
    double latency;  /* from then on until the result is there */
    bool global;     /* waits for L2 or HBM */
    bool fixed;      /* reads registers in a fixed window: the banks matter */
    bool unmodelled; /* wgmma, TMA, mbarriers: runs beside the warps */
} Timing;

/* `operation`: what the simulator counted of it, or NULL; `shape`, for its lines_of: work.h. What a
 * load or copy waits for is L2, or HBM (`from_hbm`): a warp waits for the slowest of its lines, and
 * what L1 keeps is not known.
 *
 * mma.sync reads its registers through the ports of both banks nearly all the time, and a register
 * that another instruction moves takes one of the two for a cycle: half of what mma.sync needs. On
 * an H200 (mma_loses of tools/limits/latencies.cu, in builds with other registers) it loses 0.1 to
 * 1.1 cycles to an instruction of one register, 0.6 to 1.8 to one of two, 1.3 to 1.7 to one of
 * three and 2.0 to 2.3 to the four of ldmatrix; which, depends on the banks, and is left out here.
 */
Timing timing_of(const Instruction *instruction, const Operation *operation, const Counted *shape,
                 bool from_hbm, const Machine *machine);

/* Whether the machine's file has all latencies. */
bool timing_known(const Machine *machine);

#endif
