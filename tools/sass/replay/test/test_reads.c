/* Which registers an instruction reads, and how many it moves. Catches: a result that is taken for
 * a source, a register behind a sign, RZ, a predicate or a constant, a mark that is another
 * operand's, a load of another width. */
#include "replay/reads.h"
#include "test/sample.h"
#include "test/tap.h"

enum { NO = NO_REGISTER };

static Module module_of(const char *instruction) {
    char code[300];
    snprintf(code, sizeof code, "%s%s\n", KERNEL("k"), instruction);
    return sample_code(code);
}

static void test_sources(void) {
    static const struct {
        const char *instruction;
        int source[SLOTS];
    } expected[] = {
        {"FFMA R1, R2, R3, R4", {2, 3, 4}},
        {"FADD R1, -R2, |R30|", {2, 30, NO}},
        {"FADD R1, -|R2|, R3", {2, 3, NO}},
        {"LOP3.LUT R1, ~R2, R3, R123, 0x78, !PT", {2, 3, 123}},
        {"FFMA R1, R2.reuse, UR3, RZ", {2, NO, NO}},
        {"IMAD R1, R2, 0x10, c[0x0][0x20]", {2, NO, NO}},
        {"IADD3 R1, R2, R3, -R4, R5", {2, 3, 4}},
        {"HADD2.F32 R1, -RZ, R12.H0_H0", {NO, 12, NO}},
        {"ISETP.GE.AND P1, PT, R72, R5, PT", {72, 5, NO}},
        {"IADD3 R1, P0, R2, R3, R4", {2, 3, 4}},
        {"FSEL R1, R2, R3, !P0", {2, 3, NO}},
        {"R2UR UR4, R2", {2, NO, NO}},
        {"STS [R1], R2", {NO, 2, NO}},
        {"MOV R1", {NO, NO, NO}},
        {"EXIT", {NO, NO, NO}},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        Module module = module_of(expected[i].instruction);
        const Operands got = operands_of(&module.kernel[0].function->instruction[0]);
        for (int s = 0; s < SLOTS; s++)
            is_int(got.source[s], expected[i].source[s], expected[i].instruction);
        module_close(&module);
    }
}

static void test_kept(void) {
    static const struct {
        const char *instruction;
        bool kept[SLOTS];
    } expected[] = {
        {"FFMA R1, R2.reuse, R3, R4", {true, false, false}},
        {"FFMA R1, R2, R3.reuse, R4", {false, true, false}},
        {"FFMA R1, R2, -|R3|, R4.reuse", {false, false, true}},
        {"FFMA R1, R2.H0_H0.reuse, R3.reuse, R4.H1", {true, true, false}},
        {"FADD R1.reuse, R2, R3.reus", {false, false, false}},
        {"ISETP.GE.AND P1, PT, R72.reuse, R5, PT", {true, false, false}},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        Module module = module_of(expected[i].instruction);
        const Operands got = operands_of(&module.kernel[0].function->instruction[0]);
        for (int s = 0; s < SLOTS; s++)
            ok(got.kept[s] == expected[i].kept[s], "%s", expected[i].instruction);
        module_close(&module);
    }
}

/* All that an instruction reads, but of a load what it writes. */
static void test_ports(void) {
    static const struct {
        const char *instruction;
        int registers;
    } expected[] = {
        {"FFMA R1, R2.reuse, -R3, R4", 3},
        {"FADD R1, R2, 1.5", 1},
        {"MOV R1, RZ", 0},
        {"ISETP.GE.AND P1, PT, R72, R5, PT", 2},
        {"IADD3 R1, P0, R2, UR3, R4", 2},
        {"R2UR UR4, R2", 1},
        {"S2R R0, SR_TID.X", 0},
        {"EXIT", 0},
        {"LDS R1, [R2]", 1},
        {"LDS.U16 R1, [R2]", 1},
        {"LDS.64 R2, [R2]", 2},
        {"LDS.128 R4, [R2+UR4]", 4},
        {"LDSM.16.M88 R4, [R2]", 1},
        {"LDSM.16.M88.2 R4, [R2]", 2},
        {"LDSM.16.MT88.4 R4, [R2]", 4},
        {"LDG.E R1, [R2.64]", 1},
        {"LDG.E.64 R4, [R2.64]", 2},
        {"LDG.E.128 R4, [R2.64]", 4},
        {"SHFL.BFLY PT, R1, R2, R3, R4", 1},
        {"STS [R1+0x10], R2", 2},
        {"STS.128 [R1+R3], R4", 3},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        Module module = module_of(expected[i].instruction);
        is_int(ports_of(&module.kernel[0].function->instruction[0]), expected[i].registers,
               expected[i].instruction);
        module_close(&module);
    }
}

int main(void) {
    test_sources();
    test_kept();
    test_ports();
    return done_testing();
}
