/* Classes, names and patterns of opcodes. Catches: a move in disguise
 * counted as arithmetic, an unknown opcode dropped, a pattern that matches too much. */
#include "analysis/tally.h"
#include "test/sample.h"
#include "test/tap.h"

static Instruction instruction(const char *guard, const char *opcode, const char *operands) {
    return (Instruction){.guard = guard, .opcode = opcode, .operands = operands};
}

static void is_class(const char *opcode, const char *operands, const char *expected) {
    const Instruction at = instruction("", opcode, operands);
    is_text(class_name(opcode_class(&at)), expected, opcode);
}

static void test_classes(void) {
    is_class("HMMA.16816.F32.BF16", "R4, R8, R2, R4", "tensor");
    is_class("HGMMA.64x128x16.F32", "R24, gdesc[UR4], R24", "tensor");
    is_class("FFMA", "R1, R2, R3, R4", "fma");
    is_class("HFMA2.MMA", "R1, R2, R3, R4", "fma");
    is_class("HFMA2.MMA", "R5, -RZ, RZ, 0, 0", "move");
    is_class("HADD2.F32", "R1, -RZ, R4.H0_H0", "move");
    is_class("HADD2.F32", "R1, R2.H0_H0, R4.H0_H0", "fma");
    is_class("HADD2", "R1, -RZ, R4", "fma");
    is_class("FFMA", "R1, RZ, RZ, R2", "fma");
    is_class("HADD2.F32", "R1", "fma");
    is_class("HADD2.F32", "", "fma");
    is_class("MUFU.EX2", "R1, R2", "mufu");
    is_class("IMAD.MOV.U32", "R1, RZ, RZ, R2", "move");
    is_class("IMAD.MOV.U32", "R1, RZ, RZ, -R2", "move");
    is_class("IMAD", "R1,RZ,-RZ,R2", "move");
    is_class("IMAD", "R1, RZ", "integer");
    is_class("IMAD", "R1, RZ, R", "integer");
    is_class("IMAD", "R1, RZX, RZ, R2", "integer");
    is_class("IMAD", "RZ, RZ, R1, R2", "integer");
    is_class("IMAD", "R1, R2, RZ, R4", "integer");
    is_class("IMAD", "R1, RZ, R2, R4", "integer");
    is_class("IMAD.WIDE.U32", "R2, R2, 0x4, R4", "integer");
    is_class("IMAD.X", "R3, RZ, RZ, R5, P0", "integer");
    is_class("FMNMX", "R1, R2, R3, !PT", "compare");
    is_class("SHFL.BFLY", "PT, R1, R2, 0x1, 0x1f", "lanes");
    is_class("LDSM.16.MT88.4", "R4, [R2]", "shared");
    is_class("LDG.E.128", "R4, [R2.64]", "global");
    is_class("LDGSTS.E.BYPASS.128", "[R3], [R4.64]", "async");
    is_class("UTMALDG.5D", "[UR4], [UR6]", "async");
    is_class("STL", "[R1], R2", "local");
    is_class("FHFMA.BF16", "R1, R2, R3, R4", "fma");
    is_class("FHADD", "R1, R2, R3", "fma");
    is_class("USHR", "UR1, UR2, 0x3", "integer");
    is_class("UI2IP.S8.S32.SAT", "UR1, UR2, UR3, URZ", "move");
    is_class("REDAS.ADD", "[UR1][UR2], R3", "shared");
    is_class("UMEMSETS.64", "[UR4], URZ", "shared");
    is_class("TLD4.R", "R0, R0, R2", "global");
    is_class("TXD.B", "R0, R2, R4", "global");
    is_class("SUATOM.D.BA.2D.ADD", "R0, [R2], R4", "global");
    is_class("USTGR.E.NA.MMIO.SYS", "[UR4], UR6", "global");
    is_class("UGETNEXTWORKID.SELFCAST", "[UR4], [UR5]", "async");
    is_class("UVIRTCOUNT.DEALLOC.SMPOOL", "0x1", "control");
    is_class("WARPGROUP.DEPBAR.LE", "gsb0, 0x0", "barrier");
    is_class("BRA", "`(.L_x_0)", "control");
    is_class("LDSX", "R1", "other");
    is_class("HADD2X.F32", "R1, RZ, R2", "other");
    is_class("LD", "R1", "global");
    is_class("ST.E", "R1", "global");
    is_class("FROBNICATE.E.128", "R1", "other");
    const Instruction never = instruction("@!PT", "LDS", "RZ, [RZ]");
    is_text(class_name(opcode_class(&never)), "control", "a load that never executes is no load");
    ok(!opcode_matches(&never, "LDS"), "and does not match as one");
}

static void is_name(const char *guard, const char *opcode, const char *expected) {
    char name[OPCODE_NAME_SIZE];
    const Instruction at = instruction(guard, opcode, "R1, R2");
    is_text(opcode_name(&at, name), expected, opcode);
}

static void test_names(void) {
    is_name("", "ISETP.GE.AND", "ISETP");
    is_name("@P0", "LDS.U.128", "LDS.U.128");
    is_name("", "FROBNICATE.E.128", "FROBNICATE.E.128");
    is_name("@!PT", "LDS", "@!PT LDS");
    is_name("@!UPT", "LDS.128", "@!PT LDS");
    is_name("@!P1", "LDS.128", "LDS.128");
}

static void matches(const char *opcode, const char *pattern, bool expected) {
    const Instruction at = instruction("", opcode, "R1, R2");
    ok(opcode_matches(&at, pattern) == expected, "%s %s %s", pattern,
       expected ? "matches" : "does not match", opcode);
}

static void test_patterns(void) {
    matches("LDS.U.128", "LDS", true);
    matches("LDS.U.128", "LDS.128", true);
    matches("LDS.U.128", "LDS.128.U", true);
    matches("LDS.U.128", "LDS.12", false);
    matches("LDSM.16.M88.4", "LDS", false);
    matches("LDS", "LDSM", false);
    matches("LDS", "LDS.128", false);
    matches("LDS.128", "shared", true);
    matches("LDG.E.128", "shared", false);
    matches("LDS.U.128", "LDS.U.64", false);
    matches("LDS.U.128", "LDS.64.U", false);
    matches("LDS.U.128", "LDS.1280", false);
    matches("LDS.128.U", "LDS.U", true);
    matches("LDS", "LD", false);
    matches("LDS", "LDX", false);
    matches("BRA", "control", true);
    matches("MYSTERY.X", "other", true);
    matches("MYSTERY.X", "mystery", false);
    const Instruction leaves_one = instruction("", "WARPGROUP.DEPBAR.LE", "gsb0, 0x1");
    ok(opcode_matches(&leaves_one, "WARPGROUP.DEPBAR.0x1"), "a number is the last operand");
    ok(!opcode_matches(&leaves_one, "WARPGROUP.DEPBAR.0x0"), "that one");
    ok(!opcode_matches(&leaves_one, "WARPGROUP.DEPBAR.0x"), "the whole of it");
    const Instruction alone = instruction("", "DEPBAR", "0x1");
    ok(opcode_matches(&alone, "DEPBAR.0x1"), "also of one operand");
}

static void test_bases(void) {
    static const struct {
        const char *opcode, *base;
        bool same;
    } cases[] = {{"BRA", "BRA", true},   {"BRA.DIV", "BRA", true}, {"BRA", "BRAX", false},
                 {"BRAX", "BRA", false}, {"BRX", "BRA", false},    {"BRA.DIV", "BRA.DIV", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Instruction at = instruction("", cases[i].opcode, "");
        ok(opcode_is(&at, cases[i].base) == cases[i].same, "%s is %s%s", cases[i].opcode,
           cases[i].same ? "" : "not ", cases[i].base);
    }
    for (int kind = 0; kind < CLASSES; kind++)
        is_int(class_named(class_name((OpcodeClass)kind)), kind, class_name((OpcodeClass)kind));
    is_int(class_named("fm"), CLASSES, "no class");
}

static void test_counts(void) {
    Module module = sample_code(KERNEL("a") "FFMA R1, R2, R3, R4\n"
                                            "@P0 FFMA R1, R2, R3, R4\n"
                                            "@!P1 MYSTERY.X R1\n"
                                            "MYSTERY.X R1\n"
                                            "IMAD.MOV.U32 R1, RZ, RZ, R2\n"
                                            "IMAD R1, R2, R3, R4\n"
                                            "EXIT\n" KERNEL("b") "FFMA R1, R2, R3, R4\n"
                                                                 "EXIT\n"
                                                                 ".L_x_0:\n"
                                                                 "BRA `(.L_x_0)\n"
                                                                 "NOP\n");
    Counts both = counts_of(&module, -1), first = counts_of(&module, 0);
    is_int(both.all.total, 9, "all instructions of both kernels, but for the padding");
    is_int(first.all.total, 7, "and of one");
    is_int(counts_find(&both, "FFMA", CLASS_FMA)->total, 3, "an opcode in both");
    is_int(counts_find(&both, "FFMA", CLASS_FMA)->predicated, 1, "once under a guard");
    is_int(counts_find(&both, "MYSTERY.X", CLASS_OTHER)->total, 2, "an unknown opcode is other");
    is_int(both.kind[CLASS_OTHER].predicated, 1, "with its guard");
    is_int(counts_find(&both, "IMAD", CLASS_MOVE)->total, 1, "IMAD as a move");
    is_int(counts_find(&both, "IMAD", CLASS_INTEGER)->total, 1, "and as itself");
    counts_free(&both);
    counts_free(&first);
    module_close(&module);
}

int main(void) {
    test_classes();
    test_names();
    test_patterns();
    test_bases();
    test_counts();
    return done_testing();
}
