/* A GPU as the limits see it: what one multiprocessor does in a cycle, from a file of
 * tools/limits/machines/. A line is `key value | source`; # begins a comment. */
#ifndef SASS_MACHINE_H
#define SASS_MACHINE_H

#include "base/error.h"

enum { MACHINE_NAME_SIZE = 64, REFUSAL_SIZE = 256 };

/* Rates are per multiprocessor and cycle, in lanes: 32 are one instruction of a warp. */
typedef struct Machine {
    char file[MACHINE_NAME_SIZE];   /* "h200" */
    char device[MACHINE_NAME_SIZE]; /* "NVIDIA H200", as the CUDA runtime calls it */
    double capability;              /* 90 */
    double sms, clock_mhz;          /* the highest clock */
    double issue;                   /* instructions of warps */
    double fma, imad, half, alu, mufu, shuffle, barrier; /* lanes; of `barrier`, threads */
    double half_in_fma;  /* 1: fp16 arithmetic takes the FMA pipe, 0: its own */
    double mma, wgmma;   /* multiply-adds of fp16 with fp32 sums; wgmma 0: none */
    double shared_bytes; /* read or written in shared memory and L1 */
    double l2_bytes;     /* by all multiprocessors, per cycle */
    double hbm_gb_s;     /* 10^9 bytes a second */
    double l2_mib;       /* its size */
    double registers, shared_kib, threads, blocks; /* resident on a multiprocessor at most */
    double mma_tflops, wgmma_tflops; /* as measured, which power may limit; 0: not measured */
    /* What a replay needs besides; 0: not known. Latencies are cycles from the issue of an
     * instruction to that of one that needs its result. */
    double lds_latency, ldmatrix_latency, shuffle_latency, mufu_latency;
    double l2_latency, hbm_latency,
        copy_latency;                     /* of a load; of cp.async with its wait, from L2 */
    double barrier_latency, barrier_warp; /* of a barrier of one warp; for each further warp */
    double lds_128_cycles; /* of the shared pipe that a load of 16 bytes per lane takes at least */
    double lsu_cycles;     /* between two loads or stores that one partition hands over */
    double lsu_queue;      /* how many of them wait in a partition */
    double widen;          /* lanes that convert fp16 to fp32 */
    double code_kib;       /* cache of instructions of a partition */
    double code_line;      /* cycles of a line of 128 bytes that is not in it */
    double block_start;    /* cycles from the end of a block to the start of the next */
    double tensor_mhz;     /* clock of kernels that use tensor cores */
    double launch_us;      /* microseconds of a kernel that does nothing */
    double l2_port;        /* bytes per cycle between L2 and one multiprocessor */
} Machine;

/* Reads folder/name.txt. A name that has no file: STATUS_USAGE, with those that have one; a number
 * that is missing, given twice, impossible or without a source: STATUS_FAIL with file and line. */
bool machine_read(const char *folder, const char *name, Machine *machine, Error *error);

/* The name of the first machine in the folder, in alphabetical order from the end, that runs code
 * for `arch` ("sm_80") as its own. False if there is none. */
bool machine_for(const char *folder, const char *arch, char name[MACHINE_NAME_SIZE]);

/* NULL if the machine runs code for `arch` (sm_90a), else why not, one sentence's end. */
const char *machine_refuses(const Machine *machine, const char *arch, char text[REFUSAL_SIZE]);

#endif
