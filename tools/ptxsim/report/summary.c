#include "report/summary.h"

#include <stdbool.h>
#include <string.h>

#include "machine/memory/banks.h"
#include "report/format.h"

static const char *const class_name[CLASS_COUNT] = {
    [CLASS_INTEGER] = "integer",
    [CLASS_FLOAT] = "fp32 arithmetic",
    [CLASS_SPECIAL] = "special function (ex2 ...)",
    [CLASS_HALF] = "fp16 / bf16 arithmetic",
    [CLASS_CONVERT] = "conversion",
    [CLASS_MOVE] = "move, select",
    [CLASS_PREDICATE] = "comparison, predicate",
    [CLASS_BRANCH] = "branch, exit",
    [CLASS_SHUFFLE] = "shuffle, vote",
    [CLASS_PARAM_LOAD] = "parameter load",
    [CLASS_GLOBAL_LOAD] = "global load",
    [CLASS_GLOBAL_STORE] = "global store",
    [CLASS_GLOBAL_ATOMIC] = "global atomic",
    [CLASS_SHARED_LOAD] = "shared load",
    [CLASS_SHARED_STORE] = "shared store",
    [CLASS_SHARED_ATOMIC] = "shared atomic",
    [CLASS_LOCAL] = "local load / store",
    [CLASS_LDMATRIX] = "ldmatrix",
    [CLASS_STMATRIX] = "stmatrix",
    [CLASS_CP_ASYNC] = "cp.async",
    [CLASS_BULK_LOAD] = "bulk load (TMA)",
    [CLASS_BULK_STORE] = "bulk store (TMA)",
    [CLASS_MMA] = "mma",
    [CLASS_WGMMA] = "wgmma",
    [CLASS_BARRIER] = "barrier",
    [CLASS_MBARRIER] = "mbarrier",
    [CLASS_OTHER] = "wait, fence, other",
};

const char *counts_class_name(InstructionClass class) { return class_name[class]; }

/* What a class's units are. */
typedef enum Side { SIDE_NONE, SIDE_GLOBAL, SIDE_SHARED } Side;

static Side side_of(InstructionClass class) {
    switch (class) {
    case CLASS_GLOBAL_LOAD:
    case CLASS_GLOBAL_STORE:
    case CLASS_GLOBAL_ATOMIC:
    case CLASS_CP_ASYNC:
    case CLASS_BULK_LOAD:
    case CLASS_BULK_STORE:
        return SIDE_GLOBAL;
    case CLASS_SHARED_LOAD:
    case CLASS_SHARED_STORE:
    case CLASS_SHARED_ATOMIC:
    case CLASS_LDMATRIX:
    case CLASS_STMATRIX:
        return SIDE_SHARED;
    default:
        return SIDE_NONE;
    }
}

static void add(InstructionCount *sum, const InstructionCount *count) {
    sum->executions += count->executions;
    sum->lanes += count->lanes;
    sum->divergent += count->divergent;
    sum->requests += count->requests;
    sum->units += count->units;
    sum->ideal_units += count->ideal_units;
    sum->second_units += count->second_units;
    sum->second_ideal_units += count->second_ideal_units;
}

static void add_kernel(InstructionCount by_class[CLASS_COUNT], const KernelCounts *kernel) {
    for (size_t i = 0; i < kernel->instructions; i++)
        add(&by_class[kernel->info[i].class], &kernel->count[i]);
}

/* ---- The harness's sums ---------------------------------------------------------------------- */

static void add_memory(MemoryCounters *sum, const InstructionCount *count) {
    sum->requests += count->requests;
    sum->units += count->units;
    sum->ideal_units += count->ideal_units;
}

void counts_sum(const CountsSnapshot *snapshot, Counters *sum) {
    InstructionCount by_class[CLASS_COUNT] = {0};
    memset(sum, 0, sizeof *sum);
    for (size_t k = 0; k < snapshot->kernels; k++) {
        add_kernel(by_class, &snapshot->kernel[k]);
        sum->blocks += snapshot->kernel[k].blocks;
    }
    for (int class = 0; class < CLASS_COUNT; class ++) {
        sum->warp_instructions += by_class[class].executions;
        sum->lane_instructions += by_class[class].lanes;
        sum->divergent_branches += by_class[class].divergent;
    }
    sum->mma_instructions = by_class[CLASS_MMA].executions + by_class[CLASS_WGMMA].executions;
    sum->barriers = by_class[CLASS_BARRIER].executions;
    add_memory(&sum->global_load, &by_class[CLASS_GLOBAL_LOAD]);
    add_memory(&sum->global_load, &by_class[CLASS_CP_ASYNC]);
    add_memory(&sum->global_load, &by_class[CLASS_BULK_LOAD]);
    add_memory(&sum->global_store, &by_class[CLASS_GLOBAL_STORE]);
    add_memory(&sum->global_store, &by_class[CLASS_BULK_STORE]);
    add_memory(&sum->shared_load, &by_class[CLASS_SHARED_LOAD]);
    add_memory(&sum->shared_load, &by_class[CLASS_LDMATRIX]);
    add_memory(&sum->shared_store, &by_class[CLASS_SHARED_STORE]);
    add_memory(&sum->shared_store, &by_class[CLASS_STMATRIX]);
    add_memory(&sum->shared_atomic, &by_class[CLASS_SHARED_ATOMIC]);
}

/* ---- The report ------------------------------------------------------------------------------ */

static double ratio(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0.0;
}

static void print_heading(const KernelCounts *kernel, FILE *out) {
    char blocks[FORMAT_SIZE], shared[FORMAT_SIZE];
    const uint32_t *grid = kernel->grid, *block = kernel->block;
    fprintf(out, "%s\n", kernel->name);
    fprintf(out, "  %s block%s of %u threads (grid %u x %u x %u)",
            format_grouped(kernel->blocks, blocks), kernel->blocks == 1 ? "" : "s",
            block[0] * block[1] * block[2], grid[0], grid[1], grid[2]);
    if (kernel->launches > 1)
        fprintf(out, " in %llu launches", (unsigned long long)kernel->launches);
    fprintf(out, ", %s of shared memory per block\n\n", format_bytes(kernel->shared_bytes, shared));
}

static void print_instructions(const InstructionCount by_class[CLASS_COUNT], FILE *out) {
    enum { BAR = 20 };
    char warps[FORMAT_SIZE], lanes[FORMAT_SIZE];
    InstructionCount all = {0};
    for (int class = 0; class < CLASS_COUNT; class ++) add(&all, &by_class[class]);
    fprintf(out, "  %-28s %16s %18s %7s %7s\n", "instructions", "by warps", "by lanes", "active",
            "share");
    for (int class = 0; class < CLASS_COUNT; class ++) {
        const InstructionCount *count = &by_class[class];
        if (!count->executions) continue;
        double share = ratio(count->executions, all.executions);
        int bar = (int)(share * BAR + 0.5);
        fprintf(out, "  %-28s %16s %18s %5.0f %% %5.1f %%%s%.*s\n", class_name[class],
                format_grouped(count->executions, warps), format_grouped(count->lanes, lanes),
                100 * ratio(count->lanes, 32 * count->executions), 100 * share, bar ? "  " : "",
                bar, "####################");
    }
    fprintf(out, "  %-28s %16s %18s %5.0f %%\n\n", "all", format_grouped(all.executions, warps),
            format_grouped(all.lanes, lanes), 100 * ratio(all.lanes, 32 * all.executions));
}

static void print_requests(const char *name, const char *unit, uint64_t requests, uint64_t units,
                           uint64_t ideal, FILE *out) {
    char text[FORMAT_SIZE];
    if (!requests) return;
    fprintf(out, "  %-28s %16s %9.2f %-10s %8.2f", name, format_grouped(requests, text),
            ratio(units, requests), unit, ratio(ideal, requests));
    if (units > ideal) fprintf(out, "   %.2f x the ideal", ratio(units, ideal));
    fputc('\n', out);
}

static void print_memory(const InstructionCount by_class[CLASS_COUNT], FILE *out) {
    static const char *const unit[] = {"", "sectors", "wavefronts"};
    const InstructionCount *copy = &by_class[CLASS_CP_ASYNC];
    bool heading = false;
    for (int class = 0; class < CLASS_COUNT; class ++) {
        const InstructionCount *count = &by_class[class];
        Side side = side_of((InstructionClass) class);
        if (side == SIDE_NONE || !count->executions) continue;
        if (!heading)
            fprintf(out, "  %-28s %16s %20s %8s\n", "memory", "requests", "per request", "ideal");
        heading = true;
        print_requests(class_name[class], unit[side], count->requests, count->units,
                       count->ideal_units, out);
        if (class == CLASS_CP_ASYNC)
            print_requests("cp.async, shared side", unit[SIDE_SHARED], copy->executions,
                           copy->second_units, copy->second_ideal_units, out);
    }
    if (heading) fputc('\n', out);
}

static void print_traffic_line(const char *name, uint64_t sectors, uint64_t distinct, FILE *out) {
    char moved[FORMAT_SIZE], least[FORMAT_SIZE];
    if (!sectors) return;
    fprintf(out, "  global memory, %-13s %16s requested, %s distinct", name,
            format_bytes(sectors * SECTOR_BYTES, moved),
            format_bytes(distinct * SECTOR_BYTES, least));
    if (distinct) fprintf(out, ": each sector %.1f times", ratio(sectors, distinct));
    fputc('\n', out);
}

static void print_traffic(const InstructionCount by_class[CLASS_COUNT], const KernelCounts *kernel,
                          FILE *out) {
    uint64_t read = by_class[CLASS_GLOBAL_LOAD].units + by_class[CLASS_CP_ASYNC].units +
                    by_class[CLASS_BULK_LOAD].units;
    uint64_t written = by_class[CLASS_GLOBAL_STORE].units + by_class[CLASS_BULK_STORE].units;
    print_traffic_line("read", read, kernel->distinct_load_sectors, out);
    print_traffic_line("written", written, kernel->distinct_store_sectors, out);
}

static void print_events(const InstructionCount by_class[CLASS_COUNT], FILE *out) {
    char mma[FORMAT_SIZE], barriers[FORMAT_SIZE], divergent[FORMAT_SIZE], branches[FORMAT_SIZE];
    const InstructionCount *branch = &by_class[CLASS_BRANCH];
    uint64_t products = by_class[CLASS_MMA].executions + by_class[CLASS_WGMMA].executions;
    fprintf(
        out, "  %s mma instructions, %s barrier arrivals, %s divergent of %s branches\n\n",
        format_grouped(products, mma), format_grouped(by_class[CLASS_BARRIER].executions, barriers),
        format_grouped(branch->divergent, divergent), format_grouped(branch->executions, branches));
}

void counts_report(const CountsSnapshot *snapshot, FILE *out) {
    fprintf(out,
            "Simulated counters. They are PTX-level: ptxas later merges and removes some\n"
            "instructions; requests, sectors, wavefronts and mma hardly change. A lane that does\n"
            "not take a branch is not active there.\n\n");
    for (size_t k = 0; k < snapshot->kernels; k++) {
        const KernelCounts *kernel = &snapshot->kernel[k];
        InstructionCount by_class[CLASS_COUNT] = {0};
        add_kernel(by_class, kernel);
        print_heading(kernel, out);
        print_instructions(by_class, out);
        print_memory(by_class, out);
        print_traffic(by_class, kernel, out);
        print_events(by_class, out);
    }
}
