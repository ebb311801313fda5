/* The report and the harness's sums from a snapshot. Catches: a class added to the wrong sum,
 * cp.async counted on one side only, a ratio upside down, numbers formatted wrongly. */
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/summary.h"
#include "report/test/sample_counts.h"
#include "test/tap.h"

static void is_memory(MemoryCounters got, uint64_t requests, uint64_t units, uint64_t ideal,
                      const char *name) {
    ok(got.requests == requests && got.units == units && got.ideal_units == ideal, "%s", name);
}

static void test_sum(void) {
    Counters sum;
    counts_sum(&sample, &sum);
    is_int((long long)sum.warp_instructions, 1000232, "warp instructions");
    is_int((long long)sum.lane_instructions, 32007233, "lane instructions");
    is_int((long long)sum.mma_instructions, 28, "mma and wgmma");
    is_int((long long)sum.barriers, 8, "barriers");
    is_int((long long)sum.divergent_branches, 2, "divergent branches");
    is_int((long long)sum.blocks, 8, "blocks");
    is_memory(sum.global_load, 116, 3772, 972, "global loads: ld, cp.async, bulk");
    is_memory(sum.global_store, 4, 8, 8, "global stores");
    is_memory(sum.shared_load, 55, 420, 70, "shared loads: ld, ldmatrix");
    is_memory(sum.shared_store, 10, 10, 10, "shared stores: st, not cp.async");
}

/* What counts_report prints. */
static char *report_text(const CountsSnapshot *counts) {
    static char text[1 << 14];
    FILE *file = tmpfile();
    counts_report(counts, file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void has(const char *text, const char *part) {
    if (!ok(strstr(text, part) != NULL, "the report has \"%s\"", part)) printf("# %s\n", text);
}

static void test_text(void) {
    const char *text = report_text(&sample);
    has(text, "PTX-level");
    has(text, "  8 blocks of 128 threads (grid 2 x 4 x 1), 32.00 KiB of shared memory");
    has(text, "1,000,000         32,000,000   100 % 100.0 %");
    has(text, "32.00 sectors        4.00   8.00 x the ideal");
    has(text, "8.00 wavefronts     1.00   8.00 x the ideal");
    has(text, "cp.async, shared side                      20      4.00 wavefronts     4.00");
    has(text, "117.88 KiB requested, 29.47 KiB distinct: each sector 4.0 times");
    has(text, "28 mma instructions, 8 barrier arrivals, 2 divergent of 6 branches");
    ok(strstr(text, "stmatrix") == NULL, "and leaves out what did not happen");
}

/* A kernel in three dimensions that ran twice. */
static void test_heading(void) {
    KernelCounts kernel = sample_kernel;
    kernel.launches = 2;
    memcpy(kernel.grid, (uint32_t[]){3, 5, 7}, sizeof kernel.grid);
    memcpy(kernel.block, (uint32_t[]){2, 11, 13}, sizeof kernel.block);
    kernel.instructions = 1; /* no memory */
    const CountsSnapshot counts = {1, &kernel, 2, sample_files};
    ok(!strstr(report_text(&counts), "requested"), "what moves nothing says nothing of it");
    has(report_text(&counts),
        "  8 blocks of 286 threads (grid 3 x 5 x 7) in 2 launches, 32.00 KiB of shared memory");
}

/* One instruction of each class: the sums that it is in, by the letters of their names (load,
 * store and atomic, global and shared), and the unit of its line among the memory requests. */
static const struct {
    const char *in, *unit;
} places[CLASS_COUNT] = {
    [CLASS_GLOBAL_LOAD] = {"gl", "sectors"},
    [CLASS_GLOBAL_STORE] = {"gs", "sectors"},
    [CLASS_GLOBAL_ATOMIC] = {"", "sectors"},
    [CLASS_CP_ASYNC] = {"gl", "sectors"},
    [CLASS_BULK_LOAD] = {"gl", "sectors"},
    [CLASS_BULK_STORE] = {"gs", "sectors"},
    [CLASS_SHARED_LOAD] = {"sl", "wavefronts"},
    [CLASS_SHARED_STORE] = {"ss", "wavefronts"},
    [CLASS_SHARED_ATOMIC] = {"sa", "wavefronts"},
    [CLASS_LDMATRIX] = {"sl", "wavefronts"},
    [CLASS_STMATRIX] = {"ss", "wavefronts"},
    [CLASS_MMA] = {"m", NULL},
    [CLASS_WGMMA] = {"m", NULL},
    [CLASS_BARRIER] = {"b", NULL},
};

static bool is_in(MemoryCounters got, bool expected) {
    return expected ? got.requests == 3 && got.units == 9 && got.ideal_units == 6
                    : !got.requests && !got.units && !got.ideal_units;
}

static void test_classes(void) {
    for (int class = 0; class < CLASS_COUNT; class ++) {
        const char *in = places[class].in ? places[class].in : "", *unit = places[class].unit;
        const char *name = counts_class_name((InstructionClass) class);
        const InstructionInfo info = {(InstructionClass) class, 0, 1, ""};
        const InstructionCount count = {5, 80, 2, 3, 9, 6, 35, 20};
        const KernelCounts kernel = {.name = "k",
                                     .blocks = 1,
                                     .block = {32, 1, 1},
                                     .grid = {1, 1, 1},
                                     .instructions = 1,
                                     .info = &info,
                                     .count = &count};
        const CountsSnapshot counts = {1, &kernel, 2, sample_files};
        char expected[4000], memory[400] = "", traffic[200] = "";
        Counters sum;
        counts_sum(&counts, &sum);
        ok(sum.warp_instructions == 5 && sum.lane_instructions == 80 &&
               sum.divergent_branches == 2 && sum.mma_instructions == (*in == 'm' ? 5 : 0) &&
               sum.barriers == (*in == 'b' ? 5 : 0),
           "%s: its sums", name);
        ok(is_in(sum.global_load, !strcmp(in, "gl")) &&
               is_in(sum.global_store, !strcmp(in, "gs")) &&
               is_in(sum.shared_load, !strcmp(in, "sl")) &&
               is_in(sum.shared_store, !strcmp(in, "ss")) &&
               is_in(sum.shared_atomic, !strcmp(in, "sa")),
           "and its requests");
        if (unit)
            snprintf(
                memory, sizeof memory,
                "  memory                               requests          per request    ideal\n"
                "  %-28s                3      3.00 %-10s     2.00   1.50 x the ideal\n%s\n",
                name, unit,
                class == CLASS_CP_ASYNC ? "  cp.async, shared side                       5"
                                          "      7.00 wavefronts     4.00   1.75 x the ideal\n"
                                        : "");
        if (*in == 'g')
            snprintf(traffic, sizeof traffic,
                     "  global memory, %-13s            288 B requested, 0 B distinct\n",
                     in[1] == 'l' ? "read" : "written");
        snprintf(
            expected, sizeof expected,
            "k\n  1 block of 32 threads (grid 1 x 1 x 1), 0 B of shared memory per block\n\n"
            "  instructions                         by warps           by lanes  active   share\n"
            "  %-28s                5                 80    50 %% 100.0 %%  "
            "####################\n"
            "  all                                         5                 80    50 %%\n\n"
            "%s%s  %d mma instructions, %d barrier arrivals, %d divergent of %d branches\n\n",
            name, memory, traffic, *in == 'm' ? 5 : 0, *in == 'b' ? 5 : 0,
            class == CLASS_BRANCH ? 2 : 0, class == CLASS_BRANCH ? 5 : 0);
        is_text(strstr(report_text(&counts), "k\n"), expected, "its report, whole");
    }
}

/* Of requests that need less than the ideal, or no memory at all, nothing is said. */
static void test_requests(void) {
    static const InstructionInfo info[] = {
        {CLASS_GLOBAL_LOAD, 0, 1, ""}, {CLASS_SHARED_LOAD, 0, 1, ""}, {CLASS_LDMATRIX, 0, 1, ""}};
    static const InstructionCount count[] = {
        {.executions = 2, .requests = 2, .units = 4, .ideal_units = 4},
        {.executions = 1},
        {.requests = 1, .units = 1, .ideal_units = 1}};
    const KernelCounts kernel = {.name = "k",
                                 .launches = 1,
                                 .instructions = 3,
                                 .info = info,
                                 .count = count,
                                 .distinct_load_sectors = 2};
    const CountsSnapshot counts = {1, &kernel, 2, sample_files};
    const char *text = report_text(&counts);
    has(text, "  global load                                 2      2.00 sectors        2.00\n\n");
    has(text, "  global load                                 2                  0     0 %  66.7 %  "
              "#############\n");
    has(text, "  shared load                                 1                  0     0 %  33.3 %  "
              "#######\n");
    ok(!strstr(text, "ldmatrix"), "what was not executed has no line");
    ok(!strstr(text, "launches"), "one launch goes without saying");
    has(text,
        "  global memory, read                     128 B requested, 64 B distinct: each sector "
        "2.0 times\n");
}

static void test_formats(void) {
    char text[FORMAT_SIZE];
    is_text(format_grouped(0, text), "0", "0");
    is_text(format_grouped(999, text), "999", "999");
    is_text(format_grouped(1000, text), "1,000", "1,000");
    is_text(format_grouped(UINT64_MAX, text), "18,446,744,073,709,551,615", "2^64 - 1");
    is_text(format_bytes(1023, text), "1023 B", "1023 bytes");
    is_text(format_bytes(1024, text), "1.00 KiB", "1024 bytes");
    is_text(format_bytes(1048064, text), "1023.50 KiB", "not yet 1 MiB");
    is_text(format_bytes(3407872, text), "3.25 MiB", "3.25 MiB");
    is_text(format_bytes(1ull << 30, text), "1.00 GiB", "2^30 bytes");
    is_text(format_bytes(1ull << 40, text), "1.00 TiB", "2^40 bytes");
    is_text(format_bytes(1ull << 53, text), "8192.00 TiB", "there is no larger unit");
}

int main(void) {
    test_sum();
    test_text();
    test_heading();
    test_classes();
    test_requests();
    test_formats();
    return done_testing();
}
