/* What the executor counts: a snapshot that the report and the annotated source are made from.
 *
 * Counts are of PTX instructions. ptxas later merges, moves and removes some of them, so hardware
 * counts of instructions differ; memory requests and mma counts hardly do.
 */
#ifndef PTXSIM_COUNTS_H
#define PTXSIM_COUNTS_H

#include <stddef.h>
#include <stdint.h>

typedef enum InstructionClass {
    CLASS_INTEGER,
    CLASS_FLOAT,   /* fp32 and fp64: add, mul, fma, min, max */
    CLASS_SPECIAL, /* ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh */
    CLASS_HALF,    /* fp16 and bf16 arithmetic */
    CLASS_CONVERT,
    CLASS_MOVE,       /* mov, selp, prmt */
    CLASS_PREDICATE,  /* setp and predicate logic */
    CLASS_BRANCH,     /* bra, call, ret, exit */
    CLASS_SHUFFLE,    /* shfl, vote, match, redux, elect, bar.warp.sync */
    CLASS_PARAM_LOAD, /* ld.param, ld.const */
    CLASS_GLOBAL_LOAD,
    CLASS_GLOBAL_STORE,
    CLASS_GLOBAL_ATOMIC,
    CLASS_SHARED_LOAD,
    CLASS_SHARED_STORE,
    CLASS_SHARED_ATOMIC,
    CLASS_LOCAL,
    CLASS_LDMATRIX,
    CLASS_STMATRIX,
    CLASS_CP_ASYNC,  /* global side in units, shared side in second_units */
    CLASS_BULK_LOAD, /* cp.async.bulk: one request a copy; units are sectors */
    CLASS_BULK_STORE,
    CLASS_MMA,
    CLASS_WGMMA, /* executions by warp: four per instruction of the warpgroup */
    CLASS_BARRIER,
    CLASS_MBARRIER,
    CLASS_OTHER, /* waits, fences, setmaxnreg, prefetch */
    CLASS_COUNT
} InstructionClass;

/* What a class is called in reports (report.c). */
const char *counts_class_name(InstructionClass class);

/* One PTX instruction, summed over all warps, blocks and launches. */
typedef struct InstructionCount {
    uint64_t executions; /* by a warp with at least one active lane */
    uint64_t lanes;      /* active lanes, summed over executions */
    uint64_t divergent;  /* branches: executions whose lanes went both ways */
    uint64_t requests; /* memory: executions that accessed it; cp.async: that read global memory */
    uint64_t units;    /* sectors (global) or wavefronts (shared): banks.h */
    uint64_t ideal_units;
    uint64_t second_units; /* cp.async: wavefronts of its writes to shared memory; a generic access:
                              those of its requests that were to shared memory */
    uint64_t second_ideal_units;
} InstructionCount;

/* The same instruction's fixed facts. */
typedef struct InstructionInfo {
    InstructionClass class;
    int file;         /* index into CountsSnapshot.files, -1: unknown */
    int line;         /* 1-based; 0: unknown */
    const char *text; /* PTX text */
} InstructionInfo;

typedef struct KernelCounts {
    const char *name; /* readable, if the executor can demangle it */
    uint64_t launches, blocks;
    uint32_t grid[3], block[3]; /* of the last launch */
    uint32_t shared_bytes;      /* a block, static and dynamic */
    size_t instructions;
    const InstructionInfo *info;    /* [instructions] */
    const InstructionCount *count;  /* [instructions] */
    uint64_t distinct_load_sectors; /* global sectors read at least once: compulsory traffic */
    uint64_t distinct_store_sectors;
} KernelCounts;

typedef struct CountsSnapshot {
    size_t kernels;
    const KernelCounts *kernel;
    size_t files;
    const char *const *file; /* paths as in the PTX's .file directives */
} CountsSnapshot;

#endif
