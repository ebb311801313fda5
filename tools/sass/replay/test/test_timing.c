/* What single instructions ask of the model. Catches: an opcode in another's pipe, a rate or a
 * latency of another unit, a part that counts twice, bytes or lines of another count, control bits
 * that are not the instruction's, a machine of which too little is known. */
#include "replay/timing.h"
#include "test/sample.h"
#include "test/tap.h"

#include <stddef.h>

/* A warp takes a pipe of fma for one cycle, imad 2, alu 3, half 4, widen 8, mufu 10. */
static const Machine machine = {.fma = 256,
                                .imad = 64,
                                .half = 64,
                                .widen = 16,
                                .alu = 128 / 3.0,
                                .mufu = 12.8,
                                .shuffle = 16,
                                .mma = 512,
                                .shared_bytes = 64,
                                .lds_latency = 23,
                                .ldmatrix_latency = 29,
                                .shuffle_latency = 31,
                                .mufu_latency = 19,
                                .l2_latency = 280,
                                .hbm_latency = 600,
                                .copy_latency = 300,
                                .barrier_latency = 14,
                                .barrier_warp = 2,
                                .lds_128_cycles = 5,
                                .lsu_cycles = 4,
                                .lsu_queue = 16,
                                .l2_port = 64,
                                .code_kib = 32,
                                .code_line = 18,
                                .block_start = 300,
                                .launch_us = 3,
                                .tensor_mhz = 1800};

/* A request of `lines` takes two sectors for each execution in shared memory, or eight of global
 * memory, which are three lines; a copy, four wavefronts and sixteen sectors. */
static const Operation lines = {.executions = 10, .requests = 20, .units = 40},
                       sectors = {.executions = 20, .requests = 10, .units = 80},
                       copies = {.executions = 10, .units = 160, .shared_units = 40},
                       none = {.executions = 0};
static const Counted shape = {.lines_of = {[4] = 9, [8] = 3}};

static Timing timing_on(const Machine *on, const char *instruction, const Operation *operation,
                        bool from_hbm, unsigned long long upper) {
    char code[300];
    snprintf(code, sizeof code, "%s%s\n", KERNEL("k"), instruction);
    Module module = sample_code(code);
    Instruction *at = &module.kernel[0].function->instruction[0];
    at->upper = upper;
    const Timing found = timing_of(at, operation, &shape, from_hbm, on);
    module_close(&module);
    return found;
}

/* Control bits with no barrier. */
static const unsigned long long CALM = 63ULL << 46;

static Timing timing(const char *instruction) {
    return timing_on(&machine, instruction, NULL, false, CALM);
}

/* Two reads of a bank in its window matter where operands are read at a fixed time. */
static void test_arithmetic(void) {
    static const struct {
        const char *instruction;
        Pipe pipe;
        double busy, latency;
        bool fixed;
    } expected[] = {
        {"FFMA R1, R2, R3, R4", PIPE_FMA, 1, 0, true},
        {"IMAD R1, R2, R3, R4", PIPE_FMA_HEAVY, 2, 0, true},
        {"LOP3.LUT R1, R2, R3, R4, 0x78, !PT", PIPE_ALU, 3, 0, true},
        {"HFMA2 R1, R2, R3, R4", PIPE_FMA_HEAVY, 4, 0, true},
        {"HADD2 R1, R2, R3", PIPE_FMA_HEAVY, 4, 0, true},
        {"HFMA2.MMA R1, R2, R3, R4", PIPE_FMA_LITE, 4, 0, true},
        {"HADD2.F32 R1, -RZ, R2.H0_H0", PIPE_FMA_HEAVY, 8, 0, true},
        {"MUFU.EX2 R1, R2", PIPE_MUFU, 10, 9, false},
        {"HMMA.16816.F32 R4, R8, R2, R4", PIPE_TENSOR, 16, 0, false},
        {"HMMA.1688.F32 R4, R8, R2, R4", PIPE_TENSOR, 8, 0, false},
        {"MOV R1, R2", PIPE_NONE, 0, 0, true},
        {"BRA `(.L_x_0)", PIPE_NONE, 0, 0, true},
        {"@!PT LDS RZ, [RZ]", PIPE_NONE, 0, 0, false},
        {"@!PT FFMA R1, R2, R3, R4", PIPE_NONE, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const Timing got = timing(expected[i].instruction);
        is_int(got.pipe, expected[i].pipe, expected[i].instruction);
        is_near(got.busy, expected[i].busy, 1e-9, "takes its pipe so long");
        is_near(got.latency, expected[i].latency, 1e-9, "then so long to the result");
        ok(got.fixed == expected[i].fixed, "and reads registers in a fixed window or not");
        is_near(got.shared + got.filled + got.global, 0, 0, "with no memory");
    }
    is_near(timing_on(&machine, "@!PT FFMA R1, R2, R3, R4", NULL, false, CALM).taken, 0, 0,
            "what never executes takes no port");
    is_near(timing("FFMA R1, R2, R3, R4").taken, 1.5, 0, "three registers take one and a half");
    is_near(timing("LDSM.16.M88.4 R4, [R2]").taken, 2, 0, "four that are loaded two");
}

/* All are handed over in four cycles. Two cycles of the shared pipe are a wavefront; where more
 * than one cycle of it passes, a result is there that much later, but ldmatrix has it in its
 * latency. */
static void test_memory(void) {
    static const struct {
        const char *instruction;
        const Operation *operation;
        bool from_hbm;
        double shared, filled, latency;
        bool global;
    } expected[] = {
        {"LDS R1, [R2]", NULL, false, 2, 0, 23 - 5, false},
        {"LDS R1, [R2]", &lines, true, 4, 0, 23 - 5, false},
        {"LDS.64 R2, [R2]", NULL, false, 2, 0, 23 - 5, false},
        {"LDS.128 R4, [R2]", NULL, false, 5, 0, 23 - 5, false},
        {"LDS.128 R4, [R2]", &lines, false, 5, 0, 23 - 5, false},
        {"LDS.128 R4, [R2]", &sectors, false, 16, 0, 23 - 5, false},
        {"STS.128 [R2], R4", NULL, false, 2, 0, 23 - 5, false},
        {"STSM.16.M88.4 [R2], R4", &sectors, false, 16, 0, 23 - 5, false},
        {"LDSM.16.M88.4 R4, [R2]", NULL, false, 2, 0, 29 - 4 - 2, false},
        {"LDSM.16.M88.4 R4, [R2]", &sectors, false, 16, 0, 29 - 4 - 16, false},
        {"SHFL.BFLY PT, R1, R2, 0x1, 0x1f", NULL, false, 2, 0, 31 - 5, false},
        {"LDG.E R1, [R2.64]", NULL, false, 2, 0, 280 - 5, true},
        {"LDG.E R1, [R2.64]", &sectors, false, 2 * 3, 0, 280 - 5, true},
        {"LDG.E R1, [R2.64]", NULL, true, 2, 0, 600 - 5, true},
        {"STG.E [R2.64], R1", &sectors, true, 2 * 3, 4 * 32, 23 - 5, true},
        {"STG.E [R2.64], R1", NULL, true, 2, 0, 23 - 5, false},
        {"LDGSTS.E [R1], [R2.64]", &copies, false, 2 * 4, 16 * 32, 300 - 4, true},
        {"LDGSTS.E [R1], [R2.64]", &copies, true, 2 * 4, 16 * 32, 300 - 4 + 320, true},
        {"LDGSTS.E [R1], [R2.64]", &none, false, 0, 0, 300 - 4, false},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const Timing got = timing_on(&machine, expected[i].instruction, expected[i].operation,
                                     expected[i].from_hbm, CALM);
        is_int(got.pipe, PIPE_LSU, expected[i].instruction);
        is_near(got.busy, 4, 0, "is handed over,");
        is_near(got.shared, expected[i].shared, 1e-9, "takes the shared pipe,");
        is_near(got.filled, expected[i].filled, 1e-9, "passes so many bytes of L2,");
        is_near(got.latency, expected[i].latency, 1e-9, "has its result later,");
        ok(got.global == expected[i].global, "and waits for global memory or not");
        ok(!got.fixed, "its registers are read when it is handed over");
    }
    Machine fast = machine;
    fast.lds_latency = 5.5;
    is_near(timing_on(&fast, "LDS R1, [R2]", NULL, false, CALM).latency, 0.5, 1e-9, "half a cycle");
    fast.lds_latency = 2;
    is_near(timing_on(&fast, "LDS R1, [R2]", NULL, false, CALM).latency, 0, 0, "but none below 0");
}

static void test_kinds(void) {
    static const struct {
        const char *instruction;
        Kind kind;
        int groups;
    } expected[] = {
        {"BAR.SYNC.DEFER_BLOCKING 0x0", KIND_BARRIER, 0},
        {"LDGSTS.E [R1], [R2.64]", KIND_COPY, 0},
        {"LDGDEPBAR", KIND_COMMIT, 0},
        {"DEPBAR.LE SB0, 0x1", KIND_AWAIT, 1},
        {"DEPBAR.LE SB0, 0x10", KIND_AWAIT, 16},
        {"DEPBAR SB0", KIND_AWAIT, 0},
        {"LDG.E R1, [R2.64]", KIND_PLAIN, 0},
        {"BRA `(.L_x_0)", KIND_PLAIN, 0},
        {"@!PT BAR.SYNC 0x0", KIND_PLAIN, 0},
    };
    static const char *const beside[] = {"HGMMA.64x128x16.F32 R24, gdesc[UR4], R24",
                                         "UTMALDG.2D [UR4], [UR6]",
                                         "UTMASTG.2D [UR4], [UR6]",
                                         "UBLKCP [UR4], [UR6], UR8",
                                         "SYNCS.EXCH.64 URZ, [UR4], UR6",
                                         "WARPGROUP.ARRIVE"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const Timing got = timing(expected[i].instruction);
        is_int(got.kind, expected[i].kind, expected[i].instruction);
        is_int(got.groups, expected[i].groups, "of so many groups");
        ok(!got.unmodelled, "is modelled");
    }
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        ok(timing(beside[i]).unmodelled, "%s is not", beside[i]);
}

/* Barrier 2 falls when the result is there, in a stall of five cycles. */
static void test_control(void) {
    static const unsigned long long result = 5ULL << 41 | 2ULL << 46 | 7ULL << 49 | 9ULL << 52;
    const Timing special = timing_on(&machine, "S2R R1, SR_TID.X", NULL, false, result),
                 sum = timing_on(&machine, "FFMA R1, R2, R3, R4", NULL, false, result);
    is_int(special.control.stall, 5, "a stall count");
    is_int(special.control.written, 2, "the barrier of the result");
    is_int(special.control.read, NO_BARRIER, "none of the sources");
    is_int(special.control.waits, 9, "and two that are waited for");
    is_near(special.latency, 23, 0, "a special register comes as late as shared memory");
    is_near(sum.latency, 0, 0, "what has a pipe does not");
    is_near(timing("S2R R1, SR_TID.X").latency, 0, 0, "nor what sets no barrier");
    is_int(sum.operands.source[2], 4, "the operands are those of the instruction");
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
    test_arithmetic();
    test_memory();
    test_kinds();
    test_control();
    test_known();
    return done_testing();
}
