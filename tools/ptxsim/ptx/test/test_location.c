/* The line of an instruction whose .loc has line 0. Catches: the line before it where the next one
 * is known, the line of another basic block, a barrier's line for what is no barrier, the function
 * that the next instruction calls in place of the line of the call, a line where there is none. */
#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"
#include "test/tap.h"

/* The lines of the instructions of a kernel, such as "7 7 ?". */
static void lines_are(const char *code, const char *expected, const char *what) {
    char text[1000], error[300] = "", lines[200] = "";
    snprintf(text, sizeof text, ".file 1 \"a.cu\"\n.file 2 \"b.h\"\n.entry k() {\n%s}\n", code);
    PtxModule *module = ptx_parse(text, strlen(text), error, sizeof error);
    const PtxFunction *f = module ? ptx_function(module, (Text){"k", 1}) : NULL;
    for (int i = 0, at = 0; f && i < f->instructions; i++) {
        const Location *l = ptx_location(module, &f->code[i]);
        at += l ? snprintf(lines + at, sizeof lines - (size_t)at, " %d", l->line)
                : snprintf(lines + at, sizeof lines - (size_t)at, " ?");
    }
    ok(f != NULL, "parsed %s", error);
    is_text(lines, expected, what);
    ptx_free(module);
}

#define UNKNOWN ".loc 1 0 5\n"
#define LINE(n) ".loc 1 " #n " 3\n"
#define CALL(n) LINE(n) ".loc 2 70 1, function_name f, inlined_at 1 " #n " 3\n"

int main(void) {
    lines_are(LINE(3) "add;\n" UNKNOWN "shl;\nld;\n" LINE(4) "mul;\n", " 3 4 4 4",
              "that of the next instruction");
    lines_are(LINE(3) "add;\n" UNKNOWN "shl;\n", " 3 3", "of the last one at the end");
    lines_are(UNKNOWN "shl;\nL: shl;\n", " ? ?", "of none where there is none");
    lines_are("add;\n" UNKNOWN "shl;\n" LINE(4) "mul;\n", " ? 4 4",
              "not for an instruction without a .loc");
    lines_are("add;\n" LINE(3) UNKNOWN "shl;\n", " ? ?", "of no .loc without an instruction");

    lines_are(LINE(3) "add;\n" UNKNOWN "mov;\nL: shl;\n" LINE(4) "mul;\n", " 3 3 4 4",
              "of a basic block, which ends at a label");
    lines_are(LINE(3) "add;\n" UNKNOWN "mov;\n" LINE(4) "L: mul;\n", " 3 3 4",
              "also behind the .loc");
    lines_are(LINE(3) "add;\nL: bra L;\n" UNKNOWN "mov;\nbra L;\n" LINE(4) "mul;\n", " 3 3 3 3 4",
              "and at a branch");
    lines_are(LINE(3) "add;\n" UNKNOWN
                      "mov;\nret;\nmov;\nexit;\nmov;\ntrap;\nmov;\n" LINE(4) "mul;\n",
              " 3 3 3 3 3 3 3 4 4", "and where a thread ends");
    lines_are(LINE(3) "add;\n" UNKNOWN "shl;\n" CALL(4) "sub;\n", " 3 4 4",
              "of the call that is next");

    lines_are(LINE(3) "add;\n" UNKNOWN "st;\n" LINE(4) "bar.sync 0;\n", " 3 3 4",
              "not of the barrier that is next");
    lines_are(LINE(3) "bar.warp.sync 1;\nL:\n" UNKNOWN "ld;\nM:\n" LINE(4) "mul;\n", " 3 4 4",
              "nor of the last one, across a label");
    lines_are(LINE(3) "barrier.sync 1;\n" UNKNOWN "ld;\n" LINE(4) "barrier.sync 0;\n", " 3 4 4",
              "but of one if there are only barriers");
    lines_are(LINE(3) "bar.sync 0;\n" UNKNOWN "ld;\n", " 3 3", "or of the only neighbour");
    lines_are(UNKNOWN "ld;\nL:\n" LINE(4) "bar.sync 0;\n", " 4 4", "though a label is between");
    return done_testing();
}
