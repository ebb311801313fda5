/* Instructions counted by opcode and class. Catches: rows in another order than by class and
 * number, an instruction under a guard that is not told, one of padding that counts, a kernel that
 * is taken for all. */
#include "analysis/tally.h"
#include "test/sample.h"
#include "test/tap.h"

static const char code[] = KERNEL("first") "FADD R1, R2, R3\n"
                                           ".L_x_0:\n"
                                           "FFMA R1, R2, R3, R4\n"
                                           "FMUL R1, R2, R3\n"
                                           "@P1 FMUL R1, R2, R3\n"
                                           "FMUL R1, R2, R3\n"
                                           "LDS R1, [R2]\n"
                                           "LDS R1, [R2]\n"
                                           "STS [R2], R1\n"
                                           "@P0 BRA `(.L_x_0)\n"
                                           "EXIT\n"
                                           ".L_x_1:\n"
                                           "BRA `(.L_x_1)\n"
                                           "NOP\n" KERNEL("second") "FFMA R1, R2, R3, R4\n"
                                                                    "HMMA.16816.F32 R1\n"
                                                                    "EXIT\n";

/* "NAME TOTAL PREDICATED LOOP, ..." of the rows. */
static void is_rows(const Module *module, int kernel, const char *expected, const char *name) {
    char rows[500] = "";
    Counts counts = counts_of(module, kernel);
    for (int i = 0; i < counts.opcodes; i++) {
        const Count *row = &counts.opcode[i];
        const size_t used = strlen(rows);
        snprintf(rows + used, sizeof rows - used, "%s%s %d %d %d", used ? ", " : "", row->name,
                 row->total, row->predicated, row->region[REGION_LOOP]);
    }
    is_text(rows, expected, name);
    counts_free(&counts);
}

int main(void) {
    Module module = sample_code(code);
    const char *unit = NULL;
    is_rows(&module, 0,
            "FMUL 3 1 3, FADD 1 0 0, FFMA 1 0 1, LDS 2 0 2, STS 1 0 1, BRA 1 1 1, EXIT 1 0 0",
            "a kernel: by class, then number, then name");
    is_rows(&module, 1, "HMMA.16816.F32 1 0 0, FFMA 1 0 0, EXIT 1 0 0", "the other");
    is_rows(&module, -1,
            "HMMA.16816.F32 1 0 0, FMUL 3 1 3, FFMA 2 0 1, FADD 1 0 0, LDS 2 0 2, STS 1 0 1, "
            "EXIT 2 0 0, BRA 1 1 1",
            "both");
    Counts counts = counts_of(&module, 0);
    is_int(counts.all.total, 10, "all but the padding");
    is_int(counts.kind[CLASS_FMA].total, 5, "of a class");
    is_int(counts_unit(&counts, &unit), 1, "without tensor instructions the FFMAs of the loop");
    counts_free(&counts);
    module_close(&module);
    return done_testing();
}
