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

static void test_formats(void) {
    char text[FORMAT_SIZE];
    is_text(format_grouped(0, text), "0", "0");
    is_text(format_grouped(999, text), "999", "999");
    is_text(format_grouped(1000, text), "1,000", "1,000");
    is_text(format_grouped(UINT64_MAX, text), "18,446,744,073,709,551,615", "2^64 - 1");
    is_text(format_bytes(1023, text), "1023 B", "1023 bytes");
    is_text(format_bytes(1024, text), "1.00 KiB", "1024 bytes");
    is_text(format_bytes(3407872, text), "3.25 MiB", "3.25 MiB");
    is_text(format_bytes(1ull << 30, text), "1.00 GiB", "2^30 bytes");
    is_text(format_bytes(1ull << 40, text), "1.00 TiB", "2^40 bytes");
    is_text(format_bytes(1ull << 53, text), "8192.00 TiB", "there is no larger unit");
}

int main(void) {
    test_sum();
    test_text();
    test_heading();
    test_formats();
    return done_testing();
}
