/* Lines of PTX and the operations that were counted of them. Catches: a directive, a label or a
 * line of source taken for an instruction, an instruction of several lines on one of them, lines
 * counted from elsewhere, PTX that goes on or ends early and passes, a kernel whose name begins
 * like another one's. */
#include "limits/matching.h"
#include "test/sample.h"
#include "test/tap.h"

/* The lines of the kernel k, matched with operations of these opcodes: "2:0 5:1", or "none". */
static void matches(const char *ptx, const char *opcodes, const char *expected, const char *what) {
    char text[20][80], got[200] = "";
    Operation *operation = list_zeroed(20, sizeof *operation);
    Counted launch = {.operation = operation + 20}; /* the last ones: nothing is behind them */
    Matching matching;
    for (const char *at = opcodes; *at; at++) launch.operation -= at == opcodes || *at == ' ';
    for (const char *at = opcodes; *at; at += strspn(at, " ")) {
        const int length = (int)strcspn(at, " ");
        sprintf(text[launch.operations], "\"%.*s %%r1, %%r2\"", length, at);
        launch.operation[launch.operations].text = text[launch.operations];
        launch.operations++;
        at += length;
    }
    if (matching_find(ptx, "k", &launch, &matching)) {
        for (int line = 0; line <= matching.lines; line++)
            if (matching.operation[line] >= 0)
                sprintf(got + strlen(got), "%s%d:%d", *got ? " " : "", line,
                        matching.operation[line]);
        matching_free(&matching);
    } else {
        ok(!matching.operation && matching.lines == 0, "nothing is left behind");
        strcpy(got, "none");
    }
    is_text(got, expected, what);
    free(operation);
}

static void test_statements(void) {
    matches(".entry k()\n{\nadd %r1;\nret;\n}\n", "add ret", "3:0 4:1", "a line each");
    matches(".entry k()\n{\nadd\t%r1;\nret\n;\n}", "add ret", "3:0 4:1 5:1",
            "a word ends anywhere");
    matches(".entry k()\n{\n\nadd\n%r1,\n%r2;\nret;}\n", "add ret", "4:0 5:0 6:0 7:1",
            "an instruction of three lines");
    matches(".entry k()\n{ add %r1; sub %r1; mul\n%r1; ret; }\n", "add sub mul ret", "2:0 3:2",
            "of those on a line the first");
    matches(".entry k()\n{\n@%p1 bra L;\n@!%p2\nadd %r1;\n@%p1 ret;\n}\n", "bra add ret",
            "3:0 4:1 5:1 6:2", "behind a guard");
    matches(".entry k()\n{\n.reg .b32 %r<3>;\n.loc 1 2 3\n.loc 1 4 5, inlined_at; add\nret;\n}\n",
            "ret", "6:0", "directives and lines of source are none");
    matches(".entry k()\n{\n.shared .b8 a[4] = {1, 2};\n// add;\nret; // add;\n}\n", "ret", "5:0",
            "nor are comments");
    matches(".entry k()\n{\n$L: add;\nM:\n{ sub; }\n{\n{ mul;\n} ret;\n}\n}\n", "add sub mul ret",
            "3:0 5:1 7:2 8:3", "labels and braces stand beside them");
    matches(".entry k()\n{\ntex {%f1, %f2}, [%r1];\nret;\n}\n", "tex ret", "3:0 4:1",
            "braces in an instruction");
    matches(".entry k()\n{\n;\nret;;\n}\n", "ret", "4:0", "an empty one");
    matches("a\nb\n.entry k()\nc\n\n{ret;\n}\nadd;\n", "ret", "6:0",
            "lines from the first to the end of the body");
}

static void test_ends(void) {
    matches(".entry k()\n{\nadd;\nret;\n}\n", "add ret exit", "3:0 4:1",
            "the simulator's own exit");
    matches(".entry k()\n{\nadd;\nexit;\n}\n", "add exit", "3:0 4:1", "or one of the kernel");
    matches(".entry k()\n{\nadd;\nret;\n}\n", "add ret ret", "none", "nothing else comes last");
    matches(".entry k()\n{\nadd;\nret;\n}\n", "add ret exit exit", "none", "nor two of them");
    matches(".entry k()\n{\nadd;\nret;\n}\n", "add ret exit ret", "none", "nor anything behind it");
    matches(".entry k()\n{\nadd;\nret;\n}\n", "add", "none", "an instruction that was not counted");
    matches(".entry k()\n{\nadd;\nret;\n}\n", "add.u32 ret", "none", "another one that was");
    matches(".entry k()\n{\nadd;\nret;\n}\n", "add exit", "none", "the last of which is an exit");
    matches(".entry k()\n{\n}\n", "exit", "", "no instruction at all");
    matches(".entry k()\n{\nadd;\nret;\n", "add ret", "none", "a body without an end");
    matches(".entry k()\n{\nadd;\nret", "add ret", "none", "or an instruction without one");
    matches(".entry k()\n{\n{add;\nret;\n}\n", "add ret", "none", "a brace too few");
    matches(".entry k()\n{\nret; // end\0\n}\n", "ret", "none", "or a comment without one");
    matches(".entry k();\n", "exit", "none", "a kernel without a body");
    matches("", "exit", "none", "no PTX");
    matches(".entry k()\n{\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nret;\n}\n", "ret", "23:0",
            "more lines than letters");
    matches(".func k()\n{\nret;\n}\n", "ret", "none", "a function is no kernel");
}

/* Of an opcode 127 letters count, also behind a guard. */
static void test_long(void) {
    enum { LONG = 127 };
    for (int differs = LONG - 2; differs <= LONG; differs++) {
        char opcode[2][LONG + 2], ptx[2 * LONG], text[2 * LONG];
        for (int i = 0; i < 2; i++) {
            memset(opcode[i], 'x', LONG + 1);
            opcode[i][LONG + 1] = '\0';
        }
        opcode[1][differs] = 'y';
        snprintf(ptx, sizeof ptx, ".entry k()\n{\n@%%p1 %s %%r1;\n}\n", opcode[0]);
        snprintf(text, sizeof text, "\"@%%p1 %s %%r1\"", opcode[1]);
        Operation operation = {.text = text};
        const Counted launch = {.operation = &operation, .operations = 1};
        Matching matching;
        const bool same = matching_find(ptx, "k", &launch, &matching);
        ok(same == (differs == LONG), "opcodes that differ in letter %d", differs + 1);
        if (same) matching_free(&matching);
    }
}

static void test_names(void) {
    static const char *const behind[] = {"(", " (", "\t(", "\n(", "\r\n("};
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        char ptx[200];
        snprintf(ptx, sizeof ptx, ".entry k2()\n{add;}\n.entry k%s)\n{ret;}\n", behind[i]);
        matches(ptx, "ret", strchr(behind[i], '\n') ? "5:0" : "4:0", "the name, whole");
        snprintf(ptx, sizeof ptx, ".entry k%s)\n{ret;}\n.entry k2()\n{add;}\n", behind[i]);
        matches(ptx, "ret", strchr(behind[i], '\n') ? "3:0" : "2:0", "whatever comes next");
    }
    matches(".entry kk()\n{add;}\n.entry ak()\n{add;}\n", "add", "none",
            "a part of a name is none");
}

/* Kernels of one instruction each, of which the record has "mul". */
static void test_kernels(void) {
    char ptx[] = ".entry sum_k\n()\n{\nadd;\n}\n.entry k_a()\n{\nmul;\n}\n.entry k_b()\n{mul;}\n";
    Module module = sample_code(KERNEL("sum_k") "FADD R1, R2, R3\n" KERNEL(
        "k_a") "FMUL R1, R2, R3\n" KERNEL("k_b") "FMUL R1, R2, R3\n");
    Operation operation = {.text = "\"mul\""};
    Counted launch = {.kernel = "k", .operation = &operation, .operations = 1};
    Matching lines;
    module.ptx = ptx;
    is_int(module.kernels, 3, "three kernels");
    const Kernel *kernel = matching_kernel(&module, &launch, &lines);
    is_text(kernel ? kernel->name : "", "k_a", "the first that is what was counted");
    is_int(kernel ? lines.operation[8] : -1, 0, "with its lines");
    if (kernel) matching_free(&lines);
    strcpy(launch.kernel, "k_b");
    kernel = matching_kernel(&module, &launch, &lines);
    is_text(kernel ? kernel->name : "", "k_b", "or the one of that name");
    if (kernel) matching_free(&lines);
    strcpy(launch.kernel, "sum");
    ok(!matching_kernel(&module, &launch, &lines), "a name alone is not enough");
    strcpy(launch.kernel, "other");
    ok(!matching_kernel(&module, &launch, &lines), "nor are instructions alone");
    module.ptx = NULL;
    module_close(&module);
}

int main(void) {
    test_statements();
    test_ends();
    test_long();
    test_names();
    test_kernels();
    return done_testing();
}
