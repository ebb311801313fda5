#include "replay/timing.h"

#include "analysis/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FMA_PIPES = 2, LANES = 32, PARTITIONS = 4, WAVEFRONT_BYTES = 128, SECTOR_BYTES = 32 };

static bool is_one_of(const Instruction *instruction, const char *const *opcodes) {
    for (; *opcodes; opcodes++)
        if (opcode_is(instruction, *opcodes)) return true;
    return false;
}

/* Cycles of a partition for a warp at so many lanes per multiprocessor and cycle. */
static double cycles_at(double lanes) { return LANES * PARTITIONS / lanes; }

/* A conversion of fp16 that ptxas writes as an addition. */
static bool widens(const Instruction *instruction) {
    return strncmp(instruction->opcode, "HADD2.F32", 9) == 0;
}

static double multiply_adds_of(const Instruction *instruction) {
    return strstr(instruction->opcode, ".1688") ? 16 * 8 * 8 : 16 * 8 * 16;
}

static void set_arithmetic(const Instruction *at, Work work, const Machine *m, Timing *timing) {
    timing->fixed = true;
    switch ((int)work) {
    case WORK_FP32:
        timing->pipe = PIPE_FMA, timing->busy = cycles_at(m->fma / FMA_PIPES);
        break;
    case WORK_IMAD:
        timing->pipe = PIPE_FMA_HEAVY, timing->busy = cycles_at(m->imad);
        break;
    case WORK_HALF:
        timing->pipe = PIPE_FMA_HEAVY;
        timing->busy = cycles_at(widens(at) ? m->widen : m->half / FMA_PIPES);
        break;
    case WORK_ALU:
        timing->pipe = PIPE_ALU, timing->busy = cycles_at(m->alu);
        break;
    case WORK_MUFU:
        timing->pipe = PIPE_MUFU, timing->busy = cycles_at(m->mufu);
        timing->latency = m->mufu_latency - timing->busy;
        timing->fixed = false;
        break;
    default:
        if (strstr(at->opcode, ".MMA"))
            timing->pipe = PIPE_FMA_LITE, timing->busy = cycles_at(m->half / FMA_PIPES);
        break;
    }
}

/* Shared memory, L1 and what passes through them. */
static void set_memory(const Instruction *at, const Operation *operation, const Counted *shape,
                       bool from_hbm, const Machine *m, Timing *timing) {
    timing->pipe = PIPE_LSU;
    timing->busy = m->lsu_cycles;
    timing->fixed = false;
    const double units = work_units(at, operation, shape);
    const double bytes = operation && operation->executions > 0
                             ? operation->units * SECTOR_BYTES / operation->executions
                             : 0;
    timing->shared = units * WAVEFRONT_BYTES / m->shared_bytes;
    if (opcode_is(at, "LDS") && strstr(at->opcode, ".128"))
        timing->shared = fmax(timing->shared, m->lds_128_cycles);
    timing->latency = m->lds_latency - timing->busy - 1;
    if (opcode_is(at, "SHFL")) {
        timing->shared = LANES / m->shuffle;
        timing->latency = m->shuffle_latency - timing->busy - 1;
    } else if (opcode_is(at, "LDSM")) {
        timing->latency = m->ldmatrix_latency - timing->busy - timing->shared;
    } else if (opcode_is(at, "LDG")) {
        timing->latency = (from_hbm ? m->hbm_latency : m->l2_latency) - timing->busy - 1;
    } else if (opcode_is(at, "STG")) {
        timing->filled = bytes;
    } else if (opcode_is(at, "LDGSTS")) {
        timing->kind = KIND_COPY;
        timing->latency = m->copy_latency - timing->busy;
        if (from_hbm) timing->latency += m->hbm_latency - m->l2_latency;
        timing->filled = bytes;
    }
    timing->global = timing->filled > 0 || opcode_is(at, "LDG");
    timing->latency = fmax(0, timing->latency);
}

static void set_kind(const Instruction *at, Timing *timing) {
    if (opcode_is(at, "BAR"))
        timing->kind = KIND_BARRIER;
    else if (opcode_is(at, "LDGDEPBAR"))
        timing->kind = KIND_COMMIT;
    else if (opcode_is(at, "DEPBAR")) {
        const char *groups = strchr(at->operands, ',');
        timing->kind = KIND_AWAIT;
        timing->groups = groups ? (int)strtol(groups + 1, NULL, 0) : 0;
    }
}

Timing timing_of(const Instruction *instruction, const Operation *operation, const Counted *shape,
                 bool from_hbm, const Machine *machine) {
    static const char *const memory[] = {"LDS", "STS",  "LDSM",   "STSM", "LDG",
                                         "STG", "SHFL", "LDGSTS", NULL};
    static const char *const beside[] = {"HGMMA", "UTMALDG",   "UTMASTG", "UBLKCP",
                                         "SYNCS", "WARPGROUP", NULL};
    Timing timing = {.control = control_decode(instruction->upper),
                     .operands = operands_of(instruction)};
    timing.unmodelled = is_one_of(instruction, beside);
    if (opcode_never_executes(instruction)) return timing;
    set_kind(instruction, &timing);
    if (is_one_of(instruction, memory)) {
        set_memory(instruction, operation, shape, from_hbm, machine, &timing);
    } else if (opcode_is(instruction, "HMMA")) {
        timing.pipe = PIPE_TENSOR;
        timing.busy = multiply_adds_of(instruction) * PARTITIONS / machine->mma;
    } else {
        set_arithmetic(instruction, work_pipe(instruction), machine, &timing);
    }
    timing.taken = (double)ports_of(instruction) / BANKS;
    /* Special registers and constants: no pipe is published; as slow as shared memory. */
    if (timing.control.written != NO_BARRIER && timing.pipe == PIPE_NONE)
        timing.latency = machine->lds_latency;
    return timing;
}

bool timing_known(const Machine *m) {
    return m->lds_latency > 0 && m->ldmatrix_latency > 0 && m->shuffle_latency > 0 &&
           m->mufu_latency > 0 && m->l2_latency > 0 && m->hbm_latency > 0 && m->copy_latency > 0 &&
           m->barrier_latency > 0 && m->lsu_cycles > 0 && m->lsu_queue > 0 && m->widen > 0 &&
           m->code_kib > 0 && m->code_line > 0 && m->block_start > 0 && m->launch_us > 0 &&
           m->tensor_mhz > 0;
}
