/* Catches: a JSON key that is missing, renamed or out of order, a value that is not JSON (NaN, a
 * quote in a name), an absent value that is not null; a table that loses a reason. */
#include "cli/report.h"
#include "test/tap.h"

static char text[16384];

static const char *json_of(const Device *device, const Result *result) {
    const TrialSetup setup = {.problem = {{4, 16, 2, 100, 200, 0.125f}, 64, TYPE_BF16, true},
                              .init = result->timed ? INIT_SINK : INIT_NORMAL,
                              .timing = {.sustained = result->timed ? 2 : 0},
                              .regime = result->timed ? "gqa" : NULL};
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    report_json(out, device, &setup, result);
    fclose(out);
    return text;
}

/* What repeats a run: all of it, and what is not the usual. */
static void repeating(void) {
    TrialSetup setup = {.problem = {{4, 16, 2, 100, 200, 0.125f}, 64, TYPE_BF16, true},
                        .init = INIT_RAMP,
                        .seed = 12345678901,
                        .lse = true,
                        .runs = 1};
    const Rows rows = {.count = 3, .total = 6400};
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    report_problem(out, &setup, &rows);
    setup.init = INIT_PEAKED;
    setup.lse = false;
    setup.problem.shape.scale = 0.5f;
    setup.runs = 2;
    report_arguments(out, &setup);
    setup.strength = 7.5;
    report_arguments(out, &setup);
    fclose(out);
    is_text(text,
            "problem  B=4 H=16 HKV=2 N=100 NKV=200 D=64 CAUSAL=1 DTYPE=bf16 INIT=ramp "
            "SEED=12345678901 LSE=1, 0.2466 GFLOP\n"
            "checked  3 of 6400 rows\n"
            "B=4 H=16 HKV=2 N=100 NKV=200 D=64 CAUSAL=1 DTYPE=bf16 INIT=peaked STRENGTH=3 "
            "SEED=12345678901 LSE=0 SCALE=0.5 RUNS=2"
            "B=4 H=16 HKV=2 N=100 NKV=200 D=64 CAUSAL=1 DTYPE=bf16 INIT=peaked STRENGTH=7.5 "
            "SEED=12345678901 LSE=0 SCALE=0.5 RUNS=2",
            "the arguments that repeat a run");
}

static void full_object(void) {
    const Device device = {.name = "A \"GPU\"\\\n", .simulated = true, .peak_gb_s = 10};
    const Counters counters = {.warp_instructions = 1,
                               .lane_instructions = 2,
                               .mma_instructions = 3,
                               .barriers = 4,
                               .divergent_branches = 5,
                               .blocks = 18,
                               .global_load = {6, 7, 8},
                               .global_store = {9, 10, 11},
                               .shared_load = {12, 13, 14},
                               .shared_store = {15, 16, 17},
                               .shared_atomic = {19, 20, 21}};
    const Result result = {
        .stage = {.name = "07_swizzle", .number = 7},
        .status = STATUS_PASS,
        .checked = true,
        .check = {.pass = true, .max_error = 0.5, .tolerance = 0.75, .rms_error = 0.25},
        .checked_rows = 99,
        .resources = {128, 256, 49152, 0, 80},
        .timed = true,
        .times = {.count = 10,
                  .median = 2.0,
                  .min = 1.5,
                  .spread = 0.01,
                  .host = 0.007,
                  .began = {"2026/01/31 12:00:00.000"},
                  .ended = {"2026/01/31 12:00:02.000"}},
        .counted = true,
        .counters = counters};
    is_text(json_of(&device, &result),
            "{\"stage\":7,\"name\":\"07_swizzle\",\"device\":\"A \\\"GPU\\\"\\\\\\u000a\","
            "\"simulated\":true,\"dtype\":\"bf16\",\"causal\":true,\"batch\":4,\"heads\":16,"
            "\"kv_heads\":2,\"seq_q\":100,\"seq_kv\":200,\"d\":64,\"regime\":\"gqa\","
            "\"init\":\"sink\",\"strength\":12,\"status\":\"pass\","
            "\"reason\":null,\"max_error\":0.5,\"tolerance\":0.75,"
            "\"rms_error\":0.25,\"checked_rows\":99,"
            "\"ms_median\":2,\"ms_min\":1.5,\"host_us\":7,\"tflops\":0.1232896,\"gb_s\":1.0368,"
            "\"hbm_share\":0.10368,\"sustained\":2,\"began\":\"2026/01/31 12:00:00.000\","
            "\"ended\":\"2026/01/31 12:00:02.000\",\"registers\":128,"
            "\"threads\":256,\"shared_bytes\":49152,\"spill_bytes\":0,"
            "\"counters\":{\"warp_instructions\":1,\"lane_instructions\":2,\"mma_instructions\":3,"
            "\"barriers\":4,\"divergent_branches\":5,\"blocks\":18,\"global_load_requests\":6,"
            "\"global_load_units\":7,\"global_load_ideal_units\":8,\"global_store_requests\":9,"
            "\"global_store_units\":10,\"global_store_ideal_units\":11,\"shared_load_requests\":12,"
            "\"shared_load_units\":13,\"shared_load_ideal_units\":14,\"shared_store_requests\":15,"
            "\"shared_store_units\":16,\"shared_store_ideal_units\":17,"
            "\"shared_atomic_requests\":19,\"shared_atomic_units\":20,"
            "\"shared_atomic_ideal_units\":21}}\n",
            "everything present");
}

static void empty_object(void) {
    const Device device = {.name = "H200"};
    const Result result = {.stage = {.name = "mine"},
                           .status = STATUS_FAIL,
                           .reason = "a reason",
                           .checked = true,
                           .check = {.max_error = NAN, .tolerance = 0.5, .rms_error = NAN},
                           .checked_rows = 4,
                           .resources = {-1, -1, -1, -1, -1}};
    const Result zeros = {.timed = true, .times = {.median = 1}, .resources = {0}};
    ok(strstr(json_of(&device, &zeros), "\"host_us\":null,") != NULL, "no time of the host");
    ok(strstr(json_of(&device, &zeros), "\"registers\":0,\"threads\":0,\"shared_bytes\":0,"
                                        "\"spill_bytes\":0,") != NULL,
       "none of a resource is a number");
    is_text(json_of(&device, &result),
            "{\"stage\":null,\"name\":\"mine\",\"device\":\"H200\",\"simulated\":false,"
            "\"dtype\":\"bf16\",\"causal\":true,\"batch\":4,\"heads\":16,\"kv_heads\":2,"
            "\"seq_q\":100,\"seq_kv\":200,\"d\":64,\"regime\":null,"
            "\"init\":\"normal\",\"strength\":null,\"status\":\"fail\",\"reason\":\"a reason\","
            "\"max_error\":null,\"tolerance\":0.5,\"rms_error\":null,"
            "\"checked_rows\":4,\"ms_median\":null,"
            "\"ms_min\":null,\"host_us\":null,\"tflops\":null,\"gb_s\":null,\"hbm_share\":null,"
            "\"sustained\":null,\"began\":null,\"ended\":null,\"registers\":null,\"threads\":null,"
            "\"shared_bytes\":null,\"spill_bytes\":null,\"counters\":null}\n",
            "everything absent, and a NaN");
}

static void device_line(void) {
    const Device device = {.name = "L4",
                           .compute_capability = 89,
                           .multiprocessors = 58,
                           .l2_bytes = 48 << 20,
                           .memory_total = (size_t)3 << 29,
                           .driver = 12080,
                           .runtime = 13010};
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    report_device(out, &device);
    fclose(out);
    is_text(text,
            "device   L4, compute capability 8.9, 58 SMs, 48 MiB L2, 1.5 GiB, driver 12.8, toolkit "
            "13.1\n",
            "a device whose clock and peak are not known");
}

/* Each status has its word; a folder that does not exist counts as a failure. */
static void words(void) {
    static const Status statuses[] = {STATUS_PASS, STATUS_FAIL, STATUS_SKIP, STATUS_USAGE};
    static const char *const words[] = {"pass", "fail", "skip", "fail"};
    for (int i = 0; i < 4; i++) {
        const Device device = {.name = "H200"};
        const Result result = {.status = statuses[i]};
        char expected[64];
        snprintf(expected, sizeof expected, ",\"status\":\"%s\",", words[i]);
        ok(strstr(json_of(&device, &result), expected) != NULL, "%s", expected);
    }
}

static void table(void) {
    const Device device = {.name = "H200", .peak_tflops = 100};
    const Problem p = {{1, 1, 1, 1000, 1000, 0.125f}, 64, TYPE_FP16, false};
    const Result results[] = {
        {.stage = {.name = "01_slow"},
         .timed = true,
         .times = {.count = 9, .median = 2.0, .min = 1.9, .spread = 0.02},
         .checked = true},
        {.stage = {.name = "02_bad"}, .status = STATUS_FAIL, .reason = "it is wrong"},
        {.stage = {.name = "03_skip"}, .status = STATUS_SKIP, .reason = "?"},
        {.stage = {.name = "04_fast"},
         .timed = true,
         .times = {.count = 9, .median = 0.5, .min = 0.5},
         .checked = true}};
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    report_table(out, &device, &p, results, 4);
    fclose(out);
    ok(strstr(text, "FAIL: it is wrong\n") && strstr(text, "SKIP: ?\n"),
       "the table tells why a stage failed or was skipped");
    ok(strstr(text, "02_bad          -         -      -        -      -        - "),
       "a stage that was not timed has no times");
    ok(strstr(text, "    4.00x "), "a stage is compared with the last one that was timed");
    ok(strstr(text, " 0.512 ") && strstr(text, "  0.5%"), "TFLOP/s and their part of the peak");
}

/* As wide as the longest name, or as the word above it. */
static void widths(void) {
    static const char *const names[] = {"x", "five5", "longer"};
    static const char *const heads[] = {"stage        ms", "stage        ms", "stage         ms"};
    for (int i = 0; i < 3; i++) {
        const Device device = {.name = "H200"};
        const Problem p = {{1, 1, 1, 10, 10, 0.125f}, 64, TYPE_FP16, false};
        Result results[] = {{.stage = {.name = "y"}}, {.stage = {.name = "z"}}};
        snprintf(results[0].stage.name, sizeof results[0].stage.name, "%s", names[i]);
        memset(text, 0, sizeof text);
        FILE *out = fmemopen(text, sizeof text, "w");
        report_table(out, &device, &p, results, 2);
        fclose(out);
        ok(strncmp(text, heads[i], strlen(heads[i])) == 0, "a table of %s", names[i]);
    }
}

/* The simulator's: each column its own number, so that none stands for another. */
static void counted_table(void) {
    const Device device = {.name = "simulator", .simulated = true};
    const Problem p = {{1, 1, 1, 1000, 1000, 0.125f}, 64, TYPE_FP16, false};
    const Result results[] = {
        {.stage = {.name = "01_counted"},
         .counted = true,
         .counters = {.warp_instructions = 1000,
                      .mma_instructions = 20,
                      .barriers = 3,
                      .global_load = {.requests = 4, .units = 50, .ideal_units = 25},
                      .shared_load = {.requests = 8, .units = 12, .ideal_units = 10}},
         .resources = {.shared_bytes = 512}},
        {.stage = {.name = "02_not"}, .status = STATUS_SKIP}};
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    report_table(out, &device, &p, results, 2);
    fclose(out);
    is_text(text,
            "stage      instructions        mma  barriers   sectors   x ideal   wavefr.   x ideal"
            "  shared     error   allowed\n"
            "01_counted         1000         20         3     12.50      2.00      1.50      1.20"
            "     512         -         -  PASS\n"
            "02_not                -          -         -         -         -         -         -"
            "       0         -         -  SKIP\n"
            "simulated PTX: instructions, mma and barriers per warp; global sectors and shared"
            " wavefronts per\nload request, each also as a multiple of its ideal\n",
            "the simulator's table");
}

static void arguments(void) {
    static const struct {
        TrialSetup setup;
        const char *expected;
    } cases[] = {{{.init = INIT_SINK, .strength = 30}, "INIT=sink STRENGTH=30 SEED=0"},
                 {{.init = INIT_PEAKED}, "INIT=peaked STRENGTH=3 SEED=0"},
                 {{.init = INIT_RAMP}, "INIT=ramp SEED=0"}};
    for (int i = 0; i < 3; i++) {
        memset(text, 0, sizeof text);
        FILE *out = fmemopen(text, sizeof text, "w");
        report_arguments(out, &cases[i].setup);
        fclose(out);
        ok(strstr(text, cases[i].expected), "a case is repeated by %s", cases[i].expected);
    }
}

int main(void) {
    repeating();
    full_object();
    empty_object();
    device_line();
    words();
    table();
    widths();
    counted_table();
    arguments();
    return done_testing();
}
