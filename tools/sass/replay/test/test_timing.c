/* What single instructions ask of the model. Catches: a result that is taken for a source, a
 * register behind RZ, a predicate or a constant, an opcode in another's pipe, latencies that count
 * a part twice, a machine of which too little is known. */
#include "replay/timing.h"
#include "test/sample.h"
#include "test/tap.h"

#include <stddef.h>

static const Machine machine = {.fma = 128,
                                .imad = 64,
                                .half = 128,
                                .widen = 64,
                                .alu = 64,
                                .mufu = 16,
                                .shuffle = 32,
                                .mma = 1024,
                                .shared_bytes = 128,
                                .lds_latency = 23,
                                .ldmatrix_latency = 29,
                                .shuffle_latency = 24,
                                .mufu_latency = 17,
                                .l2_latency = 280,
                                .hbm_latency = 600,
                                .copy_latency = 300,
                                .barrier_latency = 14,
                                .barrier_warp = 2,
                                .lds_128_cycles = 2,
                                .lsu_cycles = 4,
                                .lsu_queue = 16,
                                .l2_port = 64,
                                .code_kib = 32,
                                .code_line = 18,
                                .block_start = 300,
                                .launch_us = 3,
                                .tensor_mhz = 1800};

static Timing timing(const char *instruction, const Operation *operation, bool from_hbm) {
    char code[300];
    snprintf(code, sizeof code, "%s%s\n", KERNEL("k"), instruction);
    Module module = sample_code(code);
    const Timing found =
        timing_of(&module.kernel[0].function->instruction[0], operation, NULL, from_hbm, &machine);
    module_close(&module);
    return found;
}

static void reads(const char *instruction, int a, int b, int c, const char *what) {
    const Operands got = timing(instruction, NULL, false).operands;
    ok(got.source[0] == a && got.source[1] == b && got.source[2] == c, "%s", what);
}

static void test_operands(void) {
    reads("FFMA R1, R2, R3, R4", 2, 3, 4, "three sources behind the result");
    reads("FADD R1, -R2, |R30|", 2, 30, NO_REGISTER, "signs");
    reads("FFMA R1, R2.reuse, UR3, RZ", 2, NO_REGISTER, NO_REGISTER, "no uniform register, no RZ");
    reads("IMAD R1, R2, 0x10, c[0x0][0x20]", 2, NO_REGISTER, NO_REGISTER, "no constants");
    reads("ISETP.GE.AND P1, PT, R72, R5, PT", 72, 5, NO_REGISTER, "a predicate as the result");
    reads("IADD3 R1, P0, R2, R3, R4", 2, 3, 4, "and beside it");
    reads("HADD2.F32 R1, -RZ, R12.H0_H0", NO_REGISTER, 12, NO_REGISTER, "half a register");
    const Operands kept = timing("FFMA R1, R2, R3.reuse, R4", NULL, false).operands;
    ok(!kept.kept[0] && kept.kept[1] && !kept.kept[2], "what is kept");
}

static void takes(const char *instruction, Pipe pipe, double busy) {
    const Timing got = timing(instruction, NULL, false);
    is_int(got.pipe, pipe, instruction);
    is_near(got.busy, busy, 1e-9, "so long");
}

static void test_pipes(void) {
    takes("FFMA R1, R2, R3, R4", PIPE_FMA, 2);
    takes("IMAD R1, R2, R3, R4", PIPE_FMA_HEAVY, 2);
    takes("HADD2.F32 R1, -RZ, R2.H0_H0", PIPE_FMA_HEAVY, 2);
    takes("HFMA2 R1, R2, R3, R4", PIPE_FMA_HEAVY, 2);
    takes("HFMA2.MMA R1, R2, R3, R4", PIPE_FMA_LITE, 2);
    takes("LOP3.LUT R1, R2, R3, R4, 0x78, !PT", PIPE_ALU, 2);
    takes("MUFU.EX2 R1, R2", PIPE_MUFU, 8);
    takes("HMMA.16816.F32 R4, R8, R2, R4", PIPE_TENSOR, 8);
    takes("HMMA.1688.F32 R4, R8, R2, R4", PIPE_TENSOR, 4);
    takes("LDS R1, [R2]", PIPE_LSU, 4);
    takes("SHFL.BFLY PT, R1, R2, 0x1, 0x1f", PIPE_LSU, 4);
    takes("BRA `(.L_x_0)", PIPE_NONE, 0);
    takes("@!PT LDS RZ, [RZ]", PIPE_NONE, 0);
    ok(timing("HGMMA.64x128x16.F32 R24, gdesc[UR4], R24", NULL, false).unmodelled,
       "wgmma is not modelled");
}

/* Handing over, the shared pipe and the rest are the latency of a single instruction. */
static void lasts(const char *instruction, const Operation *operation, bool from_hbm,
                  double expected) {
    const Timing got = timing(instruction, operation, from_hbm);
    is_near(got.busy + got.shared + got.latency, expected, 1e-9, instruction);
}

static void test_memory(void) {
    const Operation four = {"\"ld.shared\"", "\"shared load\"", 10, 10, 40, 0, 0},
                    one = {"\"ld.global\"", "\"global load\"", 10, 10, 40, 0, 0},
                    copy = {"\"cp.async\"", "\"cp.async\"", 10, 0, 160, 40, 0};
    lasts("LDS R1, [R2]", NULL, false, 23);
    lasts("LDS R1, [R2]", &four, false, 26);
    lasts("LDS.128 R4, [R2]", NULL, false, 24);
    is_near(timing("STS.128 [R2], R4", NULL, false).shared, 1, 1e-9, "a store takes no longer");
    lasts("LDSM.16.M88.4 R4, [R2]", &four, false, 29);
    lasts("SHFL.BFLY PT, R1, R2, 0x1, 0x1f", NULL, false, 24);
    lasts("MUFU.EX2 R1, R2", NULL, false, 17);
    lasts("LDG.E R1, [R2.64]", &one, false, 280);
    lasts("LDG.E R1, [R2.64]", &one, true, 600);
    const Timing copies = timing("LDGSTS.E.BYPASS.128 [R1], [R2.64]", &copy, false);
    is_near(copies.shared, 4, 1e-9, "a copy takes the wavefronts of its shared side");
    is_near(copies.filled, 512, 1e-9, "and brings its sectors");
    lasts("LDGSTS.E.BYPASS.128 [R1], [R2.64]", &copy, false, 304);
    lasts("LDGSTS.E.BYPASS.128 [R1], [R2.64]", &copy, true, 624);
    const Operation none = {"\"cp.async\"", "\"cp.async\"", 0, 0, 0, 0, 0};
    is_near(timing("LDGSTS.E.BYPASS.128 [R1], [R2.64]", &none, false).filled, 0, 0,
            "one that was never executed brings none");
    is_int(copies.kind, KIND_COPY, "and is waited for by groups");
    is_int(timing("DEPBAR.LE SB0, 0x1", NULL, false).groups, 1, "of which so many may be left");
    is_int(timing("BAR.SYNC.DEFER_BLOCKING 0x0", NULL, false).kind, KIND_BARRIER, "a barrier");
}

static void loses(const char *instruction, double cycles) {
    is_near(timing(instruction, NULL, false).taken, cycles, 1e-9, instruction);
}

/* Half a cycle for each register, of a load for each that it writes. */
static void test_taken(void) {
    loses("FFMA R1, R2.reuse, -R3, R4", 1.5);
    loses("FADD R1, R2, 1.5", 0.5);
    loses("MOV R1, RZ", 0);
    loses("ISETP.GE.AND P1, PT, R72, R5, PT", 1);
    loses("IADD3 R1, P0, R2, UR3, R4", 1);
    loses("LDS R1, [R2]", 0.5);
    loses("LDS.64 R2, [R2]", 1);
    loses("LDS.128 R4, [R2+UR4]", 2);
    loses("LDSM.16.M88.2 R4, [R2]", 1);
    loses("LDSM.16.MT88.4 R4, [R2]", 2);
    loses("STS [R1+0x10], R2", 1);
    loses("SHFL.BFLY PT, R1, R2, 0x1, 0x1f", 0.5);
}

#define KEY(name) offsetof(Machine, name)

/* Without any one of these there is no replay; one of them may be as little as it likes. */
static void test_known(void) {
    static const size_t key[] = {
        KEY(lds_latency), KEY(ldmatrix_latency), KEY(shuffle_latency), KEY(mufu_latency),
        KEY(l2_latency),  KEY(hbm_latency),      KEY(copy_latency),    KEY(barrier_latency),
        KEY(lsu_cycles),  KEY(lsu_queue),        KEY(widen),           KEY(code_kib),
        KEY(code_line),   KEY(block_start),      KEY(launch_us),       KEY(tensor_mhz)};
    ok(timing_known(&machine), "all that is needed is known");
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        Machine less = machine;
        double *number = (double *)(void *)((char *)&less + key[i]);
        *number = 0;
        const bool without = timing_known(&less);
        *number = 0.5;
        ok(!without && timing_known(&less), "key %d: 0 is not known, a half is", (int)i);
    }
}

int main(void) {
    test_operands();
    test_pipes();
    test_memory();
    test_taken();
    test_known();
    return done_testing();
}
