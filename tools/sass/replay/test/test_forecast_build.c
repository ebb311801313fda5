/* The replay of a kernel of one loop, from what was counted of it. Catches: a length that is
 * replayed in the place of another one, memory that is as fast or slow as the other, cycles of a
 * head that are those of a block, a block alone that is as fast as several, a kernel that is
 * replayed although it cannot be, and another reason for that, what holds of another kernel. */
#include "limits/test/made_counts.h"
#include "replay/forecast.h"

#include <stdint.h>

static const Machine known = {.device = "Card",
                              .capability = 80,
                              .sms = 10,
                              .clock_mhz = 1000,
                              .issue = 4,
                              .fma = 128,
                              .imad = 64,
                              .half = 128,
                              .alu = 64,
                              .mufu = 16,
                              .shuffle = 32,
                              .barrier = 16,
                              .mma = 1024,
                              .shared_bytes = 128,
                              .l2_bytes = 1000,
                              .hbm_gb_s = 1000,
                              .registers = 65536,
                              .shared_kib = 100,
                              .threads = 64,
                              .blocks = 32,
                              .widen = 64,
                              .lds_latency = 23,
                              .ldmatrix_latency = 29,
                              .shuffle_latency = 24,
                              .mufu_latency = 17,
                              .l2_latency = 280,
                              .hbm_latency = 600,
                              .copy_latency = 300,
                              .barrier_latency = 14,
                              .barrier_warp = 2,
                              .lsu_cycles = 4,
                              .lsu_queue = 16,
                              .l2_port = 64,
                              .code_kib = 32,
                              .code_line = 18,
                              .block_start = 300,
                              .launch_us = 3,
                              .tensor_mhz = 900};

static char folder[] = "/tmp/forecast.XXXXXX";

/* The first load sets barrier 0, that of the loop barrier 1, and the sum waits for both. */
static void set_barriers(Module *module) {
    static const uint64_t none = 7, bit = 1;
    Function *function = &module->listing.function[0];
    for (int i = 0; i < function->instructions; i++) {
        Instruction *at = &function->instruction[i];
        const uint64_t written = strncmp(at->opcode, "LDG", 3) == 0 ? (uint64_t)(i > 0) : none;
        const bool waits = strcmp(at->opcode, "FFMA") == 0;
        at->upper = bit << 41 | written << 46 | none << 49 | (waits ? 3 * bit << 52 : 0);
    }
}

/* `fixed`: the number of a kernel whose blocks stay, or none. */
static Forecast forecast_with(const Machine *machine, const char *code, const char *counted,
                              bool causal, int fixed) {
    Module module = counted_module(code, counted_ptx);
    Model model;
    Error error;
    Forecast forecast = {0};
    set_barriers(&module);
    if (ok(model_build(&module, machine, folder, &model, &error), "a model")) {
        if (fixed >= 0) model.demand[fixed].fixed_blocks = 1;
        forecast = forecast_build(&model, counted, causal);
    } else
        printf("# %s\n", error.text);
    module_close(&module);
    return forecast;
}

static Forecast forecast_of(const Machine *machine, const char *code, const char *counted,
                            bool causal) {
    return forecast_with(machine, code, counted, causal, -1);
}

static Growth growth_of(const Machine *machine, bool causal) {
    Forecast forecast = forecast_of(machine, counted_sass, folder, causal);
    is_int(forecast.kernels, 1, "one kernel is replayed");
    is_text(forecast.reason, "", "without a reason why not");
    return forecast.kernel[0].cycles;
}

/* The second warp, which is one cycle behind, has what it loads first from HBM in cycle 601, and
 * ends in 603 without further rounds, each of which takes 282 cycles with what it loads from L2.
 * The next block begins 300 cycles later. */
static const double ALONE = 300 + 603 - 282, ROUND = 282;

static void test_full(void) {
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    const Growth growth = growth_of(&known, false);
    is_near(growth.constant, 0, 0, "nothing once per head");
    is_near(growth.linear, ALONE / 64, 1e-9, "so much for each row");
    is_near(growth.square, ROUND / 32 / 64, 1e-9, "and for each row and key");
    const Forecast one = forecast_of(&known, counted_sass, folder, false);
    is_near(one.kernel[0].alone, 1, 0, "where there is room for one it has all of the speed");
    is_near(one.kernel[0].replay.cycles, ALONE + ROUND * 4 * 768 / 32, 1e-6,
            "what is told of the replay is that of the long problem");
    ok(!one.kernel[0].tensor, "no tensor cores");
    Machine two = known;
    two.threads = 128;
    const Forecast both = forecast_of(&two, counted_sass, folder, false);
    is_near(both.kernel[0].alone, 0.5, 0.001, "where two have room one alone has half of it");
    is_near(both.kernel[0].cycles.square, ROUND / 32 / 64 / 2, 1e-5, "each takes half the time");
}

/* Bytes that grow with the length, and as its square: so many times as much of the longest. */
static void put_reads(double squares) {
    for (int j = 0; j < LENGTHS; j++) {
        char name[32];
        const double length = counted_lengths[j];
        snprintf(name, sizeof name, "%d.txt", counted_lengths[j]);
        FILE *out = counted_file(folder, name);
        fprintf(out,
                "counters\n\nk\n  blocks\n  global memory, read  1 B requested, %.0f B distinct",
                1e6 * length * (1 + squares * length / counted_lengths[LENGTHS - 1]));
        fprintf(out, "\n  0 mma instructions\n");
        fclose(out);
    }
}

/* Bytes of S or P grow with pairs of rows and keys: each load of the loop waits for HBM. */
static void test_streams(void) {
    put_counts(folder, BLOCKS_FULL, 100, true, 8, 8);
    is_near(growth_of(&known, false).square, 602.0 / 32 / 64, 1e-6, "what L2 cannot hold");
    for (int read = 0; read < 2; read++) {
        put_counts(folder, BLOCKS_FULL, read, false, 8, 8);
        is_near(growth_of(&known, false).square, ROUND / 32 / 64, 1e-9, "what it can");
    }
    put_reads(0.9);
    is_near(growth_of(&known, false).square, ROUND / 32 / 64, 1e-9, "more of it at 768 keys");
    put_reads(1.1);
    is_near(growth_of(&known, false).square, 602.0 / 32 / 64, 1e-6, "less of it there");
}

static void test_causal(void) {
    put_counts(folder, BLOCKS_CAUSAL, 100, false, 2, 4);
    const Growth growth = growth_of(&known, true);
    is_near(growth.square, ROUND / 32 / 64 / 2, 1e-6, "half the keys");
    is_near(growth.constant, 0, 0, "nothing once per head");
    is_near(growth.linear, (ALONE + ROUND) / 64, 1e-3, "and half a tile");
}

/* Blocks that are no tiles are alike: what the longest problem has of them, 144 per head. Nothing
 * says that a load is executed once for all keys, so that the first one waits for L2, too. */
static void test_pairs(void) {
    put_counts(folder, BLOCKS_PAIRS, 100, false, 8, 8);
    const Growth growth = growth_of(&known, false);
    is_near(growth.constant + growth.linear, 0, 0, "their number grows with the square");
    is_near(growth.square, (300 + 287 + ROUND * 23) * 144 / (768.0 * 768), 1e-9, "of the length");
}

static void refuses(const Machine *machine, const char *code, const char *counted,
                    const char *reason) {
    const Forecast forecast = forecast_of(machine, code, counted, false);
    is_int(forecast.kernels, 0, "no replay");
    is_text(forecast.reason, reason, "and why");
}

static void test_refused(void) {
    Machine less = known;
    put_counts(folder, BLOCKS_FIXED, 100, false, 8, 8);
    refuses(&known, counted_sass, folder, "blocks that stay: k");
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    refuses(&known, counted_sass, "/nowhere",
            "/nowhere/lengths cannot be read: No such file or directory");
    less.l2_latency = 0;
    refuses(&less, counted_sass, folder, "latencies are not known of Card");
    refuses(&known, "4 LDG.E R1, [R8.64]\n7 HGMMA.64x128x16.F32 R24, gdesc[UR4], R24\n10 EXIT\n",
            folder, "not modelled: HGMMA.64x128x16.F32");
    refuses(&known, "7 HGMMA.64x128x16.F32 R24, gdesc[UR4], R24\n4 LDG.E R1, [R8.64]\n10 EXIT\n",
            folder, "not modelled: HGMMA.64x128x16.F32");
    refuses(&known, "4 LDG.E R1, [R8.64]\n.L_x_0:\n7 FFMA R1, R2, R3, R1\n9 BRA `(.L_x_0)\n",
            folder, "the path of a warp has no end in k");
    refuses(&known, "4 LDG.E R1, [R8.64]\n6 LDG.E R1, [R8.64]\n7 FFMA R1, R2, R3, R1\n10 EXIT\n",
            folder, "the path of a warp cannot be derived in k, at ?:0");
    refuses(&known,
            "\t//## File \"/a/tile.cuh\", line 3 inlined at \"/a/kernel.cu\", line 17\n"
            "\t//## File \"/a/kernel.cu\", line 17\n"
            "4 LDG.E R1, [R8.64]\n6 LDG.E R1, [R8.64]\n7 FFMA R1, R2, R3, R1\n10 EXIT\n",
            folder, "the path of a warp cannot be derived in k, at kernel.cu:17");
    less = known;
    less.lsu_queue = 0.5;
    refuses(&less, counted_sass, folder, "warps wait for what never comes in k");
}

/* A reason is a line of a table: of a long one the beginning. */
static void test_long_reason(void) {
    char nowhere[400] = "/", expected[REASON_SIZE / 2 + 1] = "";
    for (int i = 1; i < 399; i++) nowhere[i] = i % 20 ? 'n' : '/';
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    memcpy(expected, nowhere, REASON_SIZE / 2);
    refuses(&known, counted_sass, nowhere, expected);
}

/* Writes each record once more with its launch twice; what is read is told of the first alone. */
static void launch_twice(void) {
    static const char *const names[] = {"256.json", "512.json", "768.json", "first.json",
                                        "second.json"};
    static const char head[] = "{\"launches\":[";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200], text[8192];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *in = fopen(path, "r");
        text[fread(text, 1, sizeof text - 1, in)] = '\0';
        fclose(in);
        const char *launch = text + strlen(head);
        FILE *out = fopen(path, "w");
        const int length = (int)(strrchr(launch, ']') - launch);
        fprintf(out, "%s%.*s,%.*s]}\n", head, length, launch, length, launch);
        fclose(out);
    }
}

static void test_launches(void) {
    put_counts(folder, BLOCKS_FULL, 100, true, 8, 8);
    launch_twice();
    const Forecast both = forecast_of(&known, counted_sass, folder, false);
    is_int(both.kernels, 2, "two kernels are replayed");
    is_near(both.kernel[0].cycles.square, 602.0 / 32 / 64, 1e-6, "one of which waits for HBM");
    is_near(both.kernel[1].cycles.square, ROUND / 32 / 64, 1e-9, "and one for L2");
    for (int fixed = 0; fixed < 2; fixed++) {
        const Forecast none = forecast_with(&known, counted_sass, folder, false, fixed);
        is_int(none.kernels, 0, "both or none");
        is_text(none.reason, "blocks that stay: k", "for either's sake");
    }
}

static void test_tensor(void) {
    const char code[] = "4 LDG.E R1, [R8.64]\n.L_x_0:\n6 LDG.E R2, [R8.64]\n7 FFMA R1, R2, R3, R1\n"
                        "9 @P0 BRA `(.L_x_0)\n10 HMMA.16816.F32 R4, R8, R2, R4\n10 EXIT\n";
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    const Forecast forecast = forecast_of(&known, code, folder, false);
    ok(forecast.kernels == 1 && forecast.kernel[0].tensor, "one instruction of tensor cores");
    const char first[] =
        "4 HMMA.16816.F32 R4, R8, R2, R4\n4 LDG.E R1, [R8.64]\n.L_x_0:\n"
        "6 LDG.E R2, [R8.64]\n7 FFMA R1, R2, R3, R1\n9 @P0 BRA `(.L_x_0)\n10 EXIT\n";
    ok(forecast_of(&known, first, folder, false).kernel[0].tensor, "the first one");
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    test_full();
    test_streams();
    test_causal();
    test_pairs();
    test_refused();
    test_long_reason();
    test_launches();
    test_tensor();
    remove_counts(folder);
    return done_testing();
}
