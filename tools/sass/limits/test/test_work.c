/* What single instructions ask of the units, and how long a unit takes for it. Catches: an opcode
 * that is given to another pipe, bytes or lines that are counted once too often, a rate that
 * belongs to another unit, a unit of which nothing is known and that binds. */
#include "limits/units.h"
#include "test/sample.h"
#include "test/tap.h"

static const char *const work_names[WORKS] = {
    [WORK_ISSUE] = "issue",     [WORK_FP32] = "fp32",      [WORK_HALF] = "half",
    [WORK_IMAD] = "imad",       [WORK_ALU] = "alu",        [WORK_MUFU] = "mufu",
    [WORK_MMA] = "mma",         [WORK_WGMMA] = "wgmma",    [WORK_SHARED] = "shared",
    [WORK_SHUFFLE] = "shuffle", [WORK_L2] = "l2",          [WORK_READ] = "read",
    [WORK_WRITTEN] = "written", [WORK_BARRIER] = "barrier"};

/* What a kernel of one instruction, executed ten times, asks for: all that is not 0. It comes from
 * line 1 of the PTX, which is `operation`. */
static void asks(const char *instruction, const Operation *operation, const Counted *shape,
                 const char *expected) {
    char code[300], got[300] = "", *at = got;
    double work[WORKS + 1];
    snprintf(code, sizeof code, KERNEL("k") "//## File \".nv_debug_ptx_txt\", line 1\n%s\n",
             instruction);
    Module module = sample_code(code);
    Operation copy = operation ? *operation : (Operation){0};
    Counted launch = {
        .operation = &copy, .operations = operation != NULL, .read_bytes = 5, .written_bytes = 7};
    int of_line[] = {-1, operation ? 0 : -1};
    const Matching lines = {.lines = 1, .operation = of_line};
    double times = 10;
    const Executions executions = {.of = &times, .unmatched = -1};
    for (int w = 0; w <= WORKS; w++) work[w] = 1e6;
    work_of(&module.kernel[0], &executions, &launch, &lines, shape, work);
    for (int w = 0; w < WORKS; w++)
        if (work[w] != 0 && w != WORK_READ && w != WORK_WRITTEN)
            at += sprintf(at, "%s%s %g", at > got ? ", " : "", work_names[w], work[w]);
    is_text(got, expected, instruction);
    ok(work[WORKS] == 1e6, "and no more");
    ok(work[WORK_READ] == 5 && work[WORK_WRITTEN] == 7, "beside what is read and written");
    module_close(&module);
}

static void test_pipes(void) {
    static const struct {
        const char *opcodes, *expected;
    } pipes[] = {
        {"FFMA FADD FMUL FFMA32I FADD32I FMUL32I FSWZADD FFMA.FTZ", "issue 10, fp32 10"},
        {"HFMA2 HADD2 HMUL2 HFMA2_32I HADD2_32I HMUL2_32I HADD2.F32", "issue 10, half 10"},
        {"IMAD IMAD32I IMUL IMUL32I IDP IDP4A IMAD.MOV.U32", "issue 10, imad 10"},
        {"MUFU.EX2 MUFU.RCP F2F F2I I2F FRND POPC FLO BREV", "issue 10, mufu 10"},
        {"F2FP PRMT FMNMX ISETP LOP3 SHF LEA IADD3 SEL FSEL", "issue 10, alu 10"},
        {"HFMA2.MMA MOV UIADD3 ULOP3 HMMA EXIT BRA NOP DFMA S2R", "issue 10"},
        {"BAR.SYNC BAR", "issue 10, barrier 10"},
        {"SHFL SHFL.BFLY", "issue 10, shuffle 10"},
    };
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++)
        for (const char *at = pipes[i].opcodes; *at; at += strspn(at, " ")) {
            char instruction[80];
            const int length = (int)strcspn(at, " ");
            snprintf(instruction, sizeof instruction, "%.*s R1, R2, R3, R4", length, at);
            asks(instruction, NULL, NULL, pipes[i].expected);
            at += length;
        }
    static const char *const never[] = {"LDS R1, [R2]", "FADD R1, R2, R3", "LDG.E R1, [R2.64]",
                                        "BAR.SYNC 0x0", "SHFL.BFLY PT, R2, R4"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        char instruction[80];
        snprintf(instruction, sizeof instruction, "@!PT %s", never[i]);
        asks(instruction, NULL, NULL, "issue 10");
    }
    asks("@P0 FADD R1, R2, R3", NULL, NULL, "issue 10, fp32 10");
}

static void test_memory(void) {
    const Counted shape = {.lines_of = {[4] = 2.5, [32] = 7}, .read_bytes = 3};
    Operation load = {"\"ld.shared\"", "\"shared load\"", 40, 40, 120, 0, 0};
    asks("LDS R1, [R2]", NULL, NULL, "issue 10, shared 10");
    asks("LDS R1, [R2]", &load, NULL, "issue 10, shared 30");
    asks("STS [R1], R2", &load, NULL, "issue 10, shared 30");
    asks("LDSM.16.M88.4 R1, [R2]", &load, NULL, "issue 10, shared 30");
    asks("//## File \".nv_debug_ptx_txt\", line 2\nLDS R1, [R2]", &load, NULL,
         "issue 10, shared 10");
    load.requests = 1;
    asks("LDS R1, [R2]", &load, NULL, "issue 10, shared 1200");
    load.requests = 0;
    asks("LDS R1, [R2]", &load, NULL, "issue 10, shared 10");
    Operation global = {"\"ld.global\"", "\"global load\"", 40, 40, 160, 0, 0};
    asks("LDG.E R1, [R2.64]", NULL, &shape, "issue 10, shared 10");
    asks("LDG.E R1, [R2.64]", &global, &shape, "issue 10, shared 25");
    asks("LDG.E R1, [R2.64]", &global, NULL, "issue 10, shared 10");
    global.units = 140; /* three and a half a request are four */
    asks("LDG.E R1, [R2.64]", &global, &shape, "issue 10, shared 25");
    global.units = 139; /* less are three, of which nothing is known */
    asks("LDG.E R1, [R2.64]", &global, &shape, "issue 10, shared 10");
    global.units = 40 * 32;
    asks("LDG.E R1, [R2.64]", &global, &shape, "issue 10, shared 70");
    global.units = 40 * 33;
    asks("LDG.E R1, [R2.64]", &global, &shape, "issue 10, shared 10");
    global.kind = "\"global store\"";
    global.units = 160;
    asks("STG.E [R2.64], R1", &global, &shape, "issue 10, shared 25, l2 5120");
    Operation copy = {"\"cp.async\"", "\"cp.async\"", 40, 0, 160, 320, 0};
    asks("LDGSTS.E [R1], [R2.64]", &copy, NULL, "issue 10, shared 80, l2 5120");
    copy.executions = 1;
    asks("LDGSTS.E [R1], [R2.64]", &copy, NULL, "issue 10, shared 3200, l2 5120");
    copy.executions = 0;
    asks("LDGSTS.E [R1], [R2.64]", &copy, NULL, "issue 10, l2 5120");
    asks("LDGSTS.E [R1], [R2.64]", NULL, NULL, "issue 10");
    const Operation bulk = {"\"cp.async.bulk\"", "\"bulk load (TMA)\"", 1, 1, 512, 0, 0},
                    store = {"\"cp.async.bulk\"", "\"bulk store (TMA)\"", 1, 1, 512, 0, 0};
    asks("UBLKCP [UR1], [UR2]", &bulk, NULL, "issue 10, shared 128, l2 16384");
    asks("UBLKCP [UR1], [UR2]", &store, NULL, "issue 10, shared 128, l2 16384");
}

static void test_tensor(void) {
    const Operation mma = {"\"mma.sync.aligned.m16n8k16.row.col.f32\"", "\"mma\"", 3, 0, 0, 0, 0},
                    odd = {"\"mma.more.m.m8n8k4\"", "\"mma\"", 3, 0, 0, 0, 0},
                    none = {"\"mma.sync\"", "\"mma\"", 3, 0, 0, 0, 0},
                    cut = {"\"mma.m16n8k16\"", "\"mma", 3, 0, 0, 0, 0},
                    wgmma = {"\"wgmma.mma_async.m64n128k16\"", "\"wgmma\"", 8, 0, 0, 0, 0};
    asks("HMMA.16816.F32 R1, R2, R3, R4", &mma, NULL, "issue 10, mma 6144");
    asks("HMMA.16816.F32 R1, R2, R3, R4", &odd, NULL, "issue 10, mma 768");
    asks("HMMA.16816.F32 R1, R2, R3, R4", &none, NULL, "issue 10");
    asks("HMMA.16816.F32 R1, R2, R3, R4", &cut, NULL, "issue 10");
    /* B has 128 rows of 32 bytes, and A 64 if it is in shared memory, for four warps. */
    asks("HGMMA.64x128x16.F32 R24, gdesc[UR4], R24", &wgmma, NULL,
         "issue 10, wgmma 262144, shared 120");
    asks("HGMMA.64x128x16.F32 R24, R4, gdesc[UR4], R24", &wgmma, NULL,
         "issue 10, wgmma 262144, shared 80");
    asks("HGMMA.64x128x16.F32 R24", NULL, NULL, "issue 10, shared 80");
    asks("HGMMA R24, gdesc[UR4], R24", NULL, NULL, "issue 10");
    asks("HGMMA.F32 R24, gdesc[UR4], R24", NULL, NULL, "issue 10");
}

/* Each amount of work is a power of two, each rate another: cycles tell who took which. */
static void test_units(void) {
    static const char *const keys[] = {"issue",  "fma",     "half",  "alu", "mufu", "tensor",
                                       "shared", "barrier", "power", "l2",  "hbm"};
    static const char *const names[] = {"issue slots",
                                        "FMA",
                                        "fp16",
                                        "ALU",
                                        "MUFU",
                                        "tensor cores",
                                        "shared memory and L1",
                                        "barriers",
                                        "tensor cores as measured",
                                        "L2",
                                        "HBM"};
    Machine m = {.clock_mhz = 1000,
                 .issue = 4,
                 .fma = 128,
                 .imad = 96,
                 .half = 256,
                 .alu = 32,
                 .mufu = 16,
                 .shuffle = 8,
                 .barrier = 2,
                 .mma = 512,
                 .wgmma = 1024,
                 .shared_bytes = 64,
                 .l2_bytes = 2048,
                 .hbm_gb_s = 4096,
                 .mma_tflops = 2,
                 .wgmma_tflops = 4};
    double work[WORKS], cycles[UNITS];
    for (int w = 0; w < WORKS; w++) work[w] = 1000 * (w + 1);
    unit_cycles(&m, work, cycles);
    const double expected[] = {1000 / 4.0,
                               32 * (2000 + 4000) / 128.0,
                               32 * 3000 / 256.0,
                               32 * 5000 / 32.0,
                               32 * 6000 / 16.0,
                               7000 / 512.0 + 8000 / 1024.0,
                               128 * 9000 / 64.0 + 32 * 10000 / 8.0,
                               32 * 14000 / 2.0,
                               2e-3 * (7000 / 2.0 + 8000 / 4.0),
                               11000 / 2048.0,
                               (12000 + 13000) / 4096.0};
    for (int u = 0; u < UNITS; u++) {
        is_near(cycles[u], expected[u], 1e-9 * expected[u], "the cycles of a unit");
        is_text(unit_key((Unit)u), keys[u], "its key");
        is_text(unit_name((Unit)u), names[u], "and name");
    }
    is_int(WHOLE_GPU, UNIT_POWER, "the last three are of the whole GPU");
    m.half_in_fma = 1;
    unit_cycles(&m, work, cycles);
    is_near(cycles[UNIT_HALF], 0, 0, "fp16 in the FMA pipe has none of its own");
    is_near(cycles[UNIT_FMA], 32 * (6000 / 128.0 + 3000 / 256.0), 1e-9, "but a part of that");
    work[WORK_IMAD] = 8000, work[WORK_FP32] = 0;
    m.half_in_fma = 0;
    unit_cycles(&m, work, cycles);
    is_near(cycles[UNIT_FMA], 32 * 8000 / 96.0, 1e-9, "many integer products take it all");
    m.mma_tflops = m.wgmma_tflops = 1;
    unit_cycles(&m, work, cycles);
    is_near(cycles[UNIT_POWER], 2e-3 * (7000 + 8000), 1e-9, "a rate of one is known");
    m.mma = m.wgmma = m.mma_tflops = m.wgmma_tflops = 0;
    unit_cycles(&m, work, cycles);
    ok(cycles[UNIT_TENSOR] == 0 && cycles[UNIT_POWER] == 0, "what is not known takes no time");
}

int main(void) {
    test_pipes();
    test_memory();
    test_tensor();
    test_units();
    return done_testing();
}
