/* Which refusals of a stage the contract knows. Catches: a stage that leaves out what is hard and
 * passes; one that a GPU cannot run, or a launch of 2^31 blocks, taken for a failure. */
#include "cli/refusal.h"
#include "test/tap.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

/* What no stage may accept. */
static const char *uncountable(const AttentionProblem *p) {
    return (double)p->batch * p->heads > INT_MAX ? "too many heads" : NULL;
}

static const char *never(const AttentionProblem *p, int capability) {
    (void)capability;
    return uncountable(p);
}

static const char *counts_in_32_bits(const AttentionProblem *p, int capability) {
    (void)capability;
    return (unsigned)p->batch * (unsigned)p->heads > INT_MAX ? "too many heads" : NULL;
}

static const char *counts_in_64_bits(const AttentionProblem *p, int capability) {
    (void)capability;
    const uint64_t row_tiles = ((uint64_t)p->seq_q + 63) / 64;
    return row_tiles * (uint64_t)p->batch * (uint64_t)p->heads > INT_MAX ? "too many heads" : NULL;
}

static const char *other_device(const AttentionProblem *p, int capability) {
    return capability == 90 ? uncountable(p) : "needs compute capability 9.0";
}

static int alone; /* the compute capability of the one device that runs it */

static const char *one_device(const AttentionProblem *p, int capability) {
    return capability == alone ? uncountable(p) : "needs another";
}

static const char *any_device(const AttentionProblem *p, int capability) {
    (void)p, (void)capability;
    return "no";
}

static const char *odd_lengths(const AttentionProblem *p, int capability) {
    (void)capability;
    return p->seq_q > 1 && p->seq_q % 2 ? "odd" : uncountable(p);
}

static const char *many_blocks(const AttentionProblem *p, int capability) {
    (void)capability;
    return (long long)p->batch * p->heads * p->seq_q > 1 << 20 ? "too many blocks" : NULL;
}

static const char *batches(const AttentionProblem *p, int capability) {
    (void)capability;
    return p->batch > 65535 ? "batch above 65535" : NULL;
}

static const char *heads(const AttentionProblem *p, int capability) {
    (void)capability;
    return p->heads > 65535 ? "heads above 65535" : NULL;
}

static const char *rows_of_heads(const AttentionProblem *p, int capability) {
    (void)capability;
    const bool many = p->batch == 1 && p->heads > 1 && (long long)p->heads * p->seq_q > 1 << 25;
    return many ? "too many rows" : uncountable(p);
}

static const char *rows(const AttentionProblem *p, int capability) {
    (void)capability;
    return p->seq_q > 1 << 25 || p->scale != 1 ? "too long" : NULL;
}

static const char *in_percent(const AttentionProblem *p, int capability) {
    return capability == 90 ? "needs 100 %%" : uncountable(p);
}

/* Runs nothing but the smallest problem of all, with the scale of the one that is asked for. */
static const char *smallest(const AttentionProblem *p, int capability) {
    const bool is_smallest = p->batch == 1 && p->heads == 1 && p->kv_heads == 1 && p->seq_q == 1 &&
                             p->seq_kv == 1 && p->scale == 1;
    return is_smallest && capability == 90 ? NULL : "no";
}

static size_t none(const AttentionProblem *p) {
    (void)p;
    return 0;
}

static size_t all_scores(const AttentionProblem *p) {
    return sizeof(float) * (size_t)p->batch * (size_t)(p->heads * p->seq_q * p->seq_kv);
}

static size_t scores_in_32_bits(const AttentionProblem *p) {
    return sizeof(float) * ((unsigned)p->batch * (unsigned)(p->heads * p->seq_q * p->seq_kv));
}

static size_t counter_or_parts(const AttentionProblem *p) {
    return p->batch < 132 ? 256 + (size_t)p->batch * 4096 : 256;
}

static size_t constant(const AttentionProblem *p) {
    (void)p;
    return 256;
}

typedef const char *(*Supports)(const AttentionProblem *problem, int capability);

static Problem problem_of(int batch, int heads, int seq_q, int seq_kv) {
    return (Problem){.shape = {batch, heads, 1, seq_q, seq_kv, 1}, .d = 64, .type = TYPE_FP16};
}

static Error error;

/* STATUS_PASS: accepted. */
static Status asked(Supports supports, Problem problem, int capability) {
    const Stage stage = {.supports = supports, .workspace_bytes = none};
    return stage_accepts(&stage, &problem, capability, &error) ? STATUS_PASS : error.status;
}

static int least, most_of_all; /* the compute capabilities that run it */

static const char *devices(const AttentionProblem *p, int capability) {
    return capability >= least && capability <= most_of_all ? uncountable(p) : "needs another";
}

/* Of a stage that is compiled for `ptx`, and for no other if `ptx` ends with a letter, and runs
 * from..to, on a device of 9.0. */
static Status compiled(const char *ptx, int from, int to) {
    static const int function;
    static const AttentionKernel kernels[] = {{"a", &function, 128, 500}, {NULL, NULL, 0, 0}};
    const Stage stage = {.kernels = kernels,
                         .supports = devices,
                         .workspace_bytes = none,
                         .one_device = strchr(ptx, 'a') != NULL};
    const Device device = {.compute_capability = 90, .block_shared_bytes = 2000};
    const Problem problem = problem_of(1, 2, 33, 40);
    StageResources resources;
    least = from, most_of_all = to;
    setenv("FAKE_PTX", ptx, 1); /* its number */
    const bool fits = stage_fits(&stage, &problem, &device, &resources, &error);
    unsetenv("FAKE_PTX");
    return fits ? STATUS_PASS : error.status;
}

static void devices_it_is_compiled_for(void) {
    ok(compiled("80", 80, 999) == STATUS_PASS && compiled("80", 75, 999) == STATUS_PASS,
       "from 8.0 on");
    ok(compiled("80", 86, 999) == STATUS_FAIL &&
           strcmp(error.text,
                  "attention_supports refuses compute capability 8.0 (\"needs another\"), "
                  "but the stage is compiled for 8.0") == 0,
       "but from 8.6 on: %s", error.text);
    ok(compiled("80", 80, 120) == STATUS_FAIL && strstr(error.text, "capability 12.1 ("),
       "all but the newest: %s", error.text);
    ok(compiled("80", 80, 80) == STATUS_FAIL &&
           strstr(error.text, "8.6 (\"needs another\"), but the stage is compiled for 8.0 and "
                              "also runs on newer ones"),
       "8.0 alone: %s", error.text);
    ok(compiled("90a", 90, 90) == STATUS_PASS && compiled("90", 90, 90) == STATUS_PASS,
       "9.0 alone has what is nowhere else");
    ok(compiled("90", 90, 100) == STATUS_FAIL &&
           strstr(error.text, "refuses compute capability 10.3"),
       "but not on one more: %s", error.text);
    ok(compiled("90a", 90, 999) == STATUS_FAIL &&
           strcmp(error.text,
                  "attention_supports accepts compute capability 10.0, but the stage is "
                  "compiled for 9.0 only") == 0,
       "nor on all newer ones: %s", error.text);
    ok(compiled("90", 90, 999) == STATUS_PASS, "where it needs no feature of 9.0 alone, it may");
    ok(compiled("90a", 80, 999) == STATUS_PASS, "and where it runs on older ones it needs none");
    ok(compiled("90a", 100, 100) == STATUS_FAIL && compiled("100a", 100, 100) == STATUS_SKIP,
       "what is compiled for another device is left out");
    ok(compiled("80", 999, 999) == STATUS_FAIL &&
           strstr(error.text, "attention_supports refuses this problem"),
       "who refuses everything refuses the problem: %s", error.text);
    ok(compiled("0", 80, 86) == STATUS_SKIP, "nothing is asked where nobody knows");
}

static bool workspace_accepted(size_t (*bytes)(const AttentionProblem *problem)) {
    const Stage stage = {.supports = never, .workspace_bytes = bytes};
    const Problem small = problem_of(1, 2, 33, 40);
    return stage_accepts(&stage, &small, 90, &error);
}

static void workspaces(void) {
    ok(workspace_accepted(none) && workspace_accepted(all_scores), "a workspace may grow, or not");
    ok(workspace_accepted(constant) && workspace_accepted(counter_or_parts),
       "or be needed where there is little work alone");
    ok(!workspace_accepted(scores_in_32_bits) && error.status == STATUS_FAIL &&
           strcmp(error.text,
                  "attention_workspace_bytes returns 16384 for B=1 and twice that for B=2, "
                  "but 0 for B=4194304 (H=1 N=64 NKV=64): does it compute in 32 bits?") == 0,
       "but it may not stop growing: %s", error.text);
}

int main(void) {
    devices_it_is_compiled_for();
    workspaces();
    ok(asked(counts_in_32_bits, problem_of(1, 2, 33, 40), 90) == STATUS_FAIL &&
           strcmp(error.text,
                  "attention_supports accepts B=1048576 H=1048576 HKV=1048576 N=1073741824 "
                  "NKV=64, but must refuse more than 2^31 - 1 tiles, even if the "
                  "kernel's grid is fixed") == 0,
       "who counts blocks in 32 bits would accept 2^40: %s", error.text);
    ok(asked(counts_in_64_bits, problem_of(1, 2, 33, 40), 90) == STATUS_FAIL &&
           strstr(error.text, "attention_supports accepts B=1048576"),
       "and in 64 bits 2^64: %s", error.text);
    const Problem small = problem_of(1, 2, 33, 40);
    ok(asked(never, small, 80) == STATUS_PASS, "what is accepted runs");
    ok(asked(other_device, small, 80) == STATUS_SKIP, "a stage for another device is left out");
    ok(asked(other_device, small, 90) == STATUS_PASS, "and runs on its own");
    ok(asked(in_percent, small, 90) == STATUS_SKIP && strcmp(error.text, "needs 100 %%") == 0,
       "the stage's sentence is told as it is: %s", error.text);
    ok(asked(any_device, small, 90) == STATUS_FAIL, "one that no device runs has failed");
    ok(asked(odd_lengths, small, 90) == STATUS_FAIL, "no length may be refused");
    ok(asked(odd_lengths, problem_of(1, 2, 34, 40), 90) == STATUS_PASS, "the others run");
    ok(asked(many_blocks, problem_of(4, 16, 1 << 16, 1 << 16), 90) == STATUS_FAIL, "nor 2^22 rows");
    ok(asked(many_blocks, problem_of(1 << 10, 1 << 10, 1 << 11, 64), 90) == STATUS_FAIL,
       "nor 2^31 rows of 64 elements");
    ok(asked(many_blocks, problem_of(1 << 12, 1 << 12, 1 << 10, 64), 90) == STATUS_SKIP,
       "2^34 rows, which may be 2^31 blocks, may be");
    ok(asked(many_blocks, small, 90) == STATUS_FAIL && asked(batches, small, 90) == STATUS_FAIL &&
           asked(heads, small, 90) == STATUS_FAIL,
       "who would refuse many blocks, batches or heads has failed on a small problem");
    ok(asked(rows, small, 90) == STATUS_FAIL &&
           strcmp(error.text,
                  "attention_supports refuses B=1 H=1 HKV=1 N=67108864 NKV=64 (\"too long\"), "
                  "but the contract (common/attention.h) allows no such limit") == 0,
       "or long ones: %s", error.text);
    ok(asked(rows_of_heads, small, 90) == STATUS_FAIL &&
           strstr(error.text, "refuses B=1 H=65536 HKV=1 N=1024 NKV=64 (\"too many rows\")"),
       "or many of many heads: %s", error.text);
    ok(asked(smallest, small, 80) == STATUS_SKIP, "the smallest problem tells what a device is");
    ok(asked(smallest, small, 90) == STATUS_FAIL, "and what a refusal of more is");
    ok(asked(any_device, problem_of(1, 1, INT_MAX, 256), 90) == STATUS_FAIL &&
           asked(any_device, problem_of(1, 1, INT_MAX, 257), 90) == STATUS_SKIP,
       "256 elements per block");
    static const int devices[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
    for (int i = 0; i < 12; i++) {
        alone = devices[i];
        ok(asked(one_device, small, 70) == STATUS_SKIP, "there is a device of %d", alone);
    }
    const double most = 16.0 * 2 * 33 * 64 + (32 << 20);
    ok(!workspace_excessive(&small, (size_t)most) && workspace_excessive(&small, (size_t)most + 1),
       "S and P in fp32 and 32 MiB are not excessive, a byte more is");
    const Problem wide = problem_of(1, 2, 33, 400);
    const double wider = 16.0 * 2 * 33 * 400 + (32 << 20);
    ok(!workspace_excessive(&wide, (size_t)wider) && workspace_excessive(&wide, (size_t)wider + 1),
       "with many keys S is larger than O");
    ok(!workspace_excessive(&small, 16 * 2 * 33 * 64), "S and P fit into a workspace");
    ok(!workspace_excessive(&small, 264 * 128 * 130 * 4), "and so do the pieces of few rows");
    ok(workspace_excessive(&small, 33 << 20), "more is excessive");
    return done_testing();
}
