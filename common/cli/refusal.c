#include "cli/refusal.h"

#include <limits.h>

enum {
    LEAST_ELEMENTS = 256, /* of S or O that a block computes: fewer would be a wasted launch */
    PARTS = 32 << 20,     /* bytes: counters, and what pieces of a small problem leave */
};

static const int capabilities[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
enum { CAPABILITIES = sizeof capabilities / sizeof capabilities[0] };

/* Who refuses it refuses the device. */
static AttentionProblem smallest_problem(const Problem *problem) {
    return (AttentionProblem){.batch = 1,
                              .heads = 1,
                              .kv_heads = 1,
                              .seq_q = 1,
                              .seq_kv = 1,
                              .scale = problem->shape.scale};
}

static bool runs_somewhere(const Stage *stage, const AttentionProblem *smallest) {
    for (size_t i = 0; i < CAPABILITIES; i++)
        if (!stage_supports(stage, smallest, capabilities[i])) return true;
    return false;
}

static bool refuses_device(const Stage *stage, const Problem *problem, int compute_capability) {
    const AttentionProblem smallest = smallest_problem(problem);
    return runs_somewhere(stage, &smallest) && stage_supports(stage, &smallest, compute_capability);
}

/* 2^26 rows in three ways, which is less than 2^31 blocks in any. Nobody computes them here: a
 * stage that refuses what is large passes all that a simulator can run. */
static bool accepts_many_rows(const Stage *stage, const Problem *problem, int compute_capability,
                              Error *error) {
    AttentionProblem many[] = {
        {.batch = 1 << 20, .heads = 64, .kv_heads = 8, .seq_q = 1, .seq_kv = 1},
        {.batch = 1, .heads = 1 << 16, .kv_heads = 1, .seq_q = 1 << 10, .seq_kv = 64},
        {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 1 << 26, .seq_kv = 64},
    };
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        many[i].scale = problem->shape.scale;
        const char *why = stage_supports(stage, &many[i], compute_capability);
        if (why)
            return error_set(
                error, STATUS_FAIL,
                "attention_supports refuses B=%d H=%d HKV=%d N=%d NKV=%d (\"%s\"), but "
                "the contract (common/attention.h) allows no such limit",
                many[i].batch, many[i].heads, many[i].kv_heads, many[i].seq_q, many[i].seq_kv, why);
    }
    return true;
}

/* 2^40 heads of 2^30 rows: no launch can count their blocks. Tiles of 64 rows are 2^64, of which a
 * stage that counts in 32 or in 64 bits would launch some or none. */
static bool refuses_too_many(const Stage *stage, const Problem *problem, int compute_capability,
                             Error *error) {
    const AttentionProblem most = {.batch = 1 << 20,
                                   .heads = 1 << 20,
                                   .kv_heads = 1 << 20,
                                   .seq_q = 1 << 30,
                                   .seq_kv = 64,
                                   .scale = problem->shape.scale};
    return stage_supports(stage, &most, compute_capability) ||
           error_set(
               error, STATUS_FAIL,
               "attention_supports accepts B=%d H=%d HKV=%d N=%d NKV=%d, but must refuse more than "
               "2^31 - 1 tiles, even if the kernel's grid is fixed",
               most.batch, most.heads, most.kv_heads, most.seq_q, most.seq_kv);
}

enum { MANY_BATCHES = 1 << 22 }; /* of 64 queries and keys: 2^34 scores */

static size_t workspace_of(const Stage *stage, const Problem *problem, int batch) {
    const AttentionProblem asked = {.batch = batch,
                                    .heads = 1,
                                    .kv_heads = 1,
                                    .seq_q = 64,
                                    .seq_kv = 64,
                                    .scale = problem->shape.scale};
    return stage_workspace_bytes(stage, &asked);
}

/* Where two batches need twice the workspace of one, many need as many times as much: a number of
 * bytes or elements that is computed in 32 bits ends before. Nobody allocates it here. */
static bool workspace_grows(const Stage *stage, const Problem *problem, Error *error) {
    const size_t one = workspace_of(stage, problem, 1), two = workspace_of(stage, problem, 2),
                 many = workspace_of(stage, problem, MANY_BATCHES);
    if (two != 2 * one || many == one * MANY_BATCHES) return true;
    return error_set(
        error, STATUS_FAIL,
        "attention_workspace_bytes returns %zu for B=1 and twice that for B=2, but %zu for "
        "B=%d (H=1 N=64 NKV=64): does it compute in 32 bits?",
        one, many, MANY_BATCHES);
}

/* Whether it refuses every device that is older, or newer. */
static bool refuses_all(const Stage *stage, const AttentionProblem *problem, int version,
                        bool newer) {
    for (size_t i = 0; i < CAPABILITIES; i++)
        if ((newer ? capabilities[i] > version : capabilities[i] < version) &&
            !stage_supports(stage, problem, capabilities[i]))
            return false;
    return true;
}

/* Machine code for a device runs on all newer ones, too, unless it needs features of one
 * architecture (sm_90a). A stage that refuses another is found out here, on whatever device it is;
 * so is one that is compiled for such features, needs them, as it refuses what is older, and
 * accepts what is newer. */
static bool accepts_its_devices(const Stage *stage, const Problem *problem, int ptx_version,
                                Error *error) {
    const AttentionProblem smallest = smallest_problem(problem);
    if (!runs_somewhere(stage, &smallest)) return true; /* it is not about devices */
    const bool alone = ptx_version >= 90 && refuses_all(stage, &smallest, ptx_version, true),
               needs = stage->one_device && refuses_all(stage, &smallest, ptx_version, false);
    for (size_t i = 0; i < CAPABILITIES; i++) {
        const int asked = capabilities[i];
        const bool newer = asked > ptx_version;
        const char *why = stage_supports(stage, &smallest, asked);
        if (why && (asked == ptx_version || (newer && !alone)))
            return error_set(
                error, STATUS_FAIL,
                "attention_supports refuses compute capability %d.%d (\"%s\"), but the "
                "stage is compiled for %d.%d%s",
                asked / 10, asked % 10, why, ptx_version / 10, ptx_version % 10,
                newer ? " and also runs on newer ones" : "");
        if (!why && newer && needs)
            return error_set(
                error, STATUS_FAIL,
                "attention_supports accepts compute capability %d.%d, but the stage is "
                "compiled for %d.%d only",
                asked / 10, asked % 10, ptx_version / 10, ptx_version % 10);
    }
    return true;
}

/* Elements of S or of O, whichever are more. */
static double elements(const Problem *problem) {
    const int columns = problem->shape.seq_kv > problem->d ? problem->shape.seq_kv : problem->d;
    return (double)problem_rows(problem) * columns;
}

bool stage_accepts(const Stage *stage, const Problem *problem, int compute_capability,
                   Error *error) {
    const char *why = stage_supports(stage, &problem->shape, compute_capability);
    if (!why)
        return accepts_many_rows(stage, problem, compute_capability, error) &&
               refuses_too_many(stage, problem, compute_capability, error) &&
               workspace_grows(stage, problem, error);
    if (refuses_device(stage, problem, compute_capability) ||
        elements(problem) / LEAST_ELEMENTS > INT_MAX)
        return error_set(error, STATUS_SKIP, "%s", why);
    return error_set(error, STATUS_FAIL,
                     "attention_supports refuses this problem (\"%s\"), but the contract "
                     "(common/attention.h) allows no such limit",
                     why);
}

bool stage_fits(const Stage *stage, const Problem *problem, const Device *device,
                StageResources *resources, Error *error) {
    *resources = stage_resources(stage, device->simulated);
    if (resources->ptx_version > 0 &&
        !accepts_its_devices(stage, problem, resources->ptx_version, error))
        return false;
    if (!stage_accepts(stage, problem, device->compute_capability, error) ||
        !stage_kernels_known(stage, error))
        return false;
    if (resources->shared_bytes <= device->block_shared_bytes) return true;
    return error_set(error, STATUS_SKIP,
                     "a block needs %d bytes of shared memory, and the device has %d",
                     resources->shared_bytes, device->block_shared_bytes);
}

double workspace_most(const Problem *problem) { return 16 * elements(problem) + PARTS; }

bool workspace_excessive(const Problem *problem, size_t bytes) {
    return (double)bytes > workspace_most(problem);
}
