/* The machine code of a kernel, issued cycle by cycle on a model of one multiprocessor.
 *
 * Four partitions with a scheduler each issue one instruction of one warp in a cycle. A warp's next
 * instruction is ready when the stall count of the one before has passed, the scoreboard barriers
 * that it waits for have fallen, its line of code is there, its registers can be read and its pipe
 * is free. The scheduler goes on with the warp that it issued last, else takes the youngest that is
 * ready.
 *
 * Sources: the control bits: analysis/control.h. The order of warps, the two banks of registers
 * with one port each, read in a window of three cycles, and the cache behind .reuse: Huerta,
 * Shoushtary, Cruz, Gonzalez, "Analyzing Modern NVIDIA GPU cores", 2025 (arXiv 2503.20481). Rates
 * and latencies: the machine's file. */
#ifndef SASS_REPLAY_H
#define SASS_REPLAY_H

#include "replay/path.h"
#include "replay/timing.h"

/* Why a warp did not issue in a cycle. */
typedef enum Wait {
    WAIT_STALL,     /* the stall count of the instruction before */
    WAIT_CODE,      /* the next instructions, which are not in the cache */
    WAIT_GLOBAL,    /* a scoreboard barrier: global memory, and groups of copies */
    WAIT_SHARED,    /* the same: shared memory and exchanges between lanes */
    WAIT_OTHER,     /* the same: MUFU, special registers */
    WAIT_BARRIER,   /* the other warps of its block */
    WAIT_REGISTERS, /* a bank of registers */
    WAIT_FMA,       /* a pipe that is busy, or whose queue is full */
    WAIT_ALU,
    WAIT_MUFU,
    WAIT_TENSOR,
    WAIT_LSU,
    WAIT_TURN, /* it could have: another warp was issued */
    WAITS
} Wait;

typedef struct Replay {
    double cycles;       /* per block, where as many share the multiprocessor as fit */
    double issued;       /* share of the issue slots */
    double waits[WAITS]; /* of the cycles of warps that were not issued, sum 1 */
} Replay;

typedef struct ReplayInput {
    const Machine *machine;
    const Timing *timing; /* [instructions] */
    const Path *path;     /* [paths]: of the warps of the blocks, by turns */
    int paths;
    int warps;    /* per block */
    int resident; /* blocks */
} ReplayInput;

/* Each block that ends makes room for another, for three generations at least; what counts is the
 * time from the end of the first to the end of the last but one. Its cycles are 0 if warps wait for
 * what never comes. */
Replay replay_run(const ReplayInput *input);

/* "barrier" and so on, as tables show it; its key in JSON. */
const char *wait_name(Wait wait);
const char *wait_key(Wait wait);

#endif
