#include "limits/work.h"

#include "analysis/classes.h"
#include "limits/json.h"

#include <stdio.h>
#include <string.h>

enum { SECTOR_BYTES = 32, WAVEFRONT_BYTES = 128, GROUP_WARPS = 4, MMA_M = 64, ROW_BYTES = 32 };

static bool is_one_of(const Instruction *instruction, const char *opcodes) {
    char word[64];
    snprintf(word, sizeof word, " %.*s ", (int)strcspn(instruction->opcode, "."),
             instruction->opcode);
    return strstr(opcodes, word) != NULL;
}

/* Source: Nsight Compute, Kernel Profiling Guide, Pipelines. */
Work work_pipe(const Instruction *instruction) {
    if (is_one_of(instruction, " FFMA FADD FMUL FFMA32I FADD32I FMUL32I FSWZADD "))
        return WORK_FP32;
    if (is_one_of(instruction, " HFMA2 HADD2 HMUL2 HFMA2_32I HADD2_32I HMUL2_32I "))
        return strstr(instruction->opcode, ".MMA") ? WORKS : WORK_HALF;
    if (is_one_of(instruction, " IMAD IMAD32I IMUL IMUL32I IDP IDP4A ")) return WORK_IMAD;
    if (is_one_of(instruction, " MUFU F2F F2I I2F FRND POPC FLO BREV ")) return WORK_MUFU;
    if (is_one_of(instruction, " F2FP PRMT ")) return WORK_ALU;
    const OpcodeClass kind = opcode_class(instruction);
    if (kind != CLASS_COMPARE && kind != CLASS_INTEGER) return WORKS;
    return *instruction->opcode == 'U' ? WORKS : WORK_ALU;
}

/* Wavefronts or lines that one execution of a memory instruction takes. */
static double units_a_request(const Operation *operation, const Counted *shape, bool global) {
    if (!operation || operation->requests == 0) return 1;
    const double units = operation->units / operation->requests;
    if (!global) return units;
    const int sectors = (int)(units + 0.5);
    const double lines = sectors <= SECTORS && shape ? shape->lines_of[sectors] : 0;
    return lines > 0 ? lines : 1;
}

double work_units(const Instruction *instruction, const Operation *operation,
                  const Counted *shape) {
    if (opcode_is(instruction, "LDGSTS"))
        return operation && operation->executions > 0
                   ? operation->shared_units / operation->executions
                   : 0;
    const bool global = opcode_is(instruction, "LDG") || opcode_is(instruction, "STG");
    return units_a_request(operation, shape, global);
}

/* Bytes of shared memory that one warp's part of a wgmma m64nNk16 reads: B, N rows of 16 columns,
 * and A, 64 rows, unless it is in registers. */
static double wgmma_bytes(const Instruction *instruction) {
    int n;
    const char *shape = strchr(instruction->opcode, '.'), *operand = instruction->operands;
    if (!shape || sscanf(shape, ".%*dx%d", &n) != 1) return 0;
    const char *source = strchr(operand, ',');
    const bool in_shared = source && strncmp(source + 1 + strspn(source + 1, " "), "gdesc", 5) == 0;
    return (double)(n + (in_shared ? MMA_M : 0)) * ROW_BYTES / GROUP_WARPS;
}

static void add_memory(const Instruction *instruction, double times, const Operation *operation,
                       const Counted *shape, double work[WORKS]) {
    if (opcode_class(instruction) == CLASS_SHARED || opcode_is(instruction, "LDG") ||
        opcode_is(instruction, "STG") || opcode_is(instruction, "LDGSTS"))
        work[WORK_SHARED] += times * work_units(instruction, operation, shape);
    else if (opcode_is(instruction, "SHFL"))
        work[WORK_SHUFFLE] += times;
    else if (opcode_is(instruction, "HGMMA"))
        work[WORK_SHARED] += times * wgmma_bytes(instruction) / WAVEFRONT_BYTES;
}

/* The multiply-adds of a "...m16n8k16..." of a warp or a warpgroup. */
static double multiply_adds(const char *text) {
    int m, n, k;
    for (const char *at = text; (at = strstr(at, ".m")); at++)
        if (sscanf(at, ".m%dn%dk%d", &m, &n, &k) == 3) return (double)m * n * k;
    return 0;
}

/* What the simulator's counters say without the machine code. */
static void add_counted(const Operation *operation, double work[WORKS]) {
    char kind[NAME_SIZE], text[NAME_SIZE];
    const double bytes = operation->units * SECTOR_BYTES;
    if (!json_string(operation->kind, kind, sizeof kind)) return;
    json_string(operation->text, text, sizeof text);
    if (strcmp(kind, "mma") == 0)
        work[WORK_MMA] += operation->executions * multiply_adds(text);
    else if (strcmp(kind, "wgmma") == 0)
        work[WORK_WGMMA] += operation->executions * multiply_adds(text) / GROUP_WARPS;
    else if (strncmp(kind, "bulk", 4) == 0)
        work[WORK_SHARED] += bytes / WAVEFRONT_BYTES;
    if (strcmp(kind, "cp.async") == 0 || strncmp(kind, "bulk", 4) == 0 ||
        strcmp(kind, "global store") == 0)
        work[WORK_L2] += bytes;
}

void work_of(const Kernel *kernel, const Executions *executions, const Counted *launch,
             const Matching *lines, const Counted *shape, double work[WORKS]) {
    for (int w = 0; w < WORKS; w++) work[w] = 0;
    for (int i = 0; i < kernel->function->instructions; i++) {
        const Instruction *at = &kernel->function->instruction[i];
        const double times = executions->of[i];
        const int op = at->ptx_line <= lines->lines ? lines->operation[at->ptx_line] : -1;
        work[WORK_ISSUE] += times;
        if (opcode_never_executes(at)) continue;
        const Work pipe = work_pipe(at);
        if (pipe < WORKS) work[pipe] += times;
        if (opcode_is(at, "BAR")) work[WORK_BARRIER] += times;
        add_memory(at, times, op < 0 ? NULL : &launch->operation[op], shape, work);
    }
    for (int i = 0; i < launch->operations; i++) add_counted(&launch->operation[i], work);
    work[WORK_READ] = launch->read_bytes;
    work[WORK_WRITTEN] = launch->written_bytes;
}
