/* PTX as lines with the source lines that they come from. Catches: an opcode that is not found
 * behind a label, a brace or a guard, one that is taken for another's beginning, a line whose
 * .loc is that of another file, an inlined call that is not followed to its caller. */
#include "analysis/ptx_lines.h"
#include "list.h"
#include "test/tap.h"

static Ptx read_text(const char *text, const char *path) {
    char *copy = list_zeroed(strlen(text) + 1, 1);
    strcpy(copy, text);
    return ptx_read(copy, path);
}

static void test_opcodes(void) {
    static const struct {
        const char *line, *opcode;
        bool found;
    } cases[] = {
        {"mma.sync.aligned r1;", "mma", true},
        {"\tmma.sync.aligned r1;", "mma.sync", true},
        {"mma.sync.aligned r1;", "mma.sy", false},
        {"wgmma.fence;", "mma", false},
        {"ret;", "ret", true},
        {"ret;", "", true},
        {"bar\tr1;", "bar", true},
        {"$L__BB0_2:\tbra.uni L;", "bra", true},
        {"{ L1: @%p1 bra L2;", "bra", true},
        {"@!%p1 bra L2;", "bra", true},
        {"{ add.s32 a, b, c; }", "add", true},
        {"add.s32 a, b, c;", "a", false},
        {"{add.s32 a, b, c;", "add", true},
        {"@%p1 \t bra L2;", "bra", true},
        {"L1: \t add.s32 a;", "add", true},
        {"cp.async.bulk.shared::cluster.global [a], [b];", "cp.async", true},
        {"mma.sync.aligned r1;", "add", false},
        {"ret", "ret", true},
        {"@%p1", "", false},
        {"$L__BB0_2:", "", false},
        {".reg .b32 r;", "", false},
        {"", "", false},
        {"\t// mma", "mma", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Ptx ptx = read_text(cases[i].line, NULL);
        ok(ptx_is_opcode(&ptx, 1, cases[i].opcode) == cases[i].found, "%s: %s'%s'", cases[i].line,
           cases[i].found ? "" : "no ", cases[i].opcode);
        ptx_free(&ptx);
    }
}

/* Line 30 calls a function whose body is line 10, which calls one of another file, line 40. */
static const char inlined[] = "add.s32 a;\n"                                       /* 1 */
                              ".file 1 \"/a/kernel.cu\"\n"                         /* 2 */
                              ".file 2 \"/a/other.cuh\", 1, 2\n"                   /* 3 */
                              ".loc 1 30 5\n"                                      /* 4 */
                              "add.s32 b;\n"                                       /* 5 */
                              ".loc 1 10 7, function_name $L, inlined_at 1 30 5\n" /* 6 */
                              "add.s32 c;\n"                                       /* 7 */
                              ".loc 2 40 9, function_name $L, inlined_at 1 10 7\n" /* 8 */
                              "add.s32 d;\n"                                       /* 9 */
                              ".loc 1 31 5\n"                                      /* 10 */
                              "add.s32 e;\n"                                       /* 11 */
                              ".loc 2 50 9, function_name $L, inlined_at 1 99 1\n" /* 12 */
                              "add.s32 f;\n"                                       /* 13 */
                              ".loc 1 32\n"  /* 14: no column */
                              "add.s32 g;\n" /* 15 */
                              ".loc 1 20 8, function_name $L, inlined_at 1 60 5\n" /* 16 */
                              "add.s32 h;\n"                                       /* 17 */
                              ".loc 1 21 8, function_name $L, inlined_at 1 70 5\n" /* 18 */
                              "add.s32 i;\n"                                       /* 19 */
                              ".loc 2 50 9, function_name $L, inlined_at 1 20 8\n" /* 20 */
                              "add.s32 j;\n";                                      /* 21 */

typedef struct Case {
    int number;
    const char *from; /* the lines of the kernel's own file */
} Case;

static void are_from(const Ptx *ptx, const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char from[80] = "";
        for (int line = 1; line < 100; line++)
            if (ptx_is_from(ptx, cases[i].number, line))
                snprintf(from + strlen(from), sizeof from - strlen(from), " %d", line);
        is_text(from, cases[i].from, "what the instruction comes from");
    }
}

static void test_places(void) {
    static const Case cases[] = {{1, ""},       {4, " 30"},     {12, " 99"},    {5, " 30"},
                                 {7, " 10 30"}, {9, " 10 30"},  {11, " 31"},    {13, " 99"},
                                 {15, ""},      {17, " 20 60"}, {19, " 21 70"}, {21, " 20 60"}};
    Ptx ptx = read_text(inlined, "/a/kernel.cu");
    is_int(ptx.file, 1, "the number of the kernel's file");
    are_from(&ptx, cases, sizeof cases / sizeof *cases);
    ptx_free(&ptx);
    ok(!ptx.loc && !ptx.loc_of && !ptx.source.text, "nothing is left");
    ptx = read_text(inlined, "/a/other.cuh");
    is_int(ptx.file, 2, "another file's number");
    ok(ptx_is_from(&ptx, 9, 40) && !ptx_is_from(&ptx, 9, 10), "and its line");
    ptx_free(&ptx);
    ptx = read_text(inlined, "/a/kernel.cuh");
    is_int(ptx.file, 0, "a file that is not named has none");
    ptx_free(&ptx);
    ptx = ptx_read(NULL, "/a/kernel.cu");
    is_int(ptx.source.lines, 0, "no PTX at all");
    ptx_free(&ptx);
}

/* Lines that name a file, and a caller among places that are like it. */
static void test_likeness(void) {
    static const char text[] = ".file 1 \"/a/kernel.cu\"\n"
                               ".file 2 \"/a/kernel.cubin\"\n"
                               ".file 3 \"/b/a/kernel.cu\"\n"
                               ".file 4\n"
                               "// of 5 \"/a/kernel.cu\"\n"
                               ".loc 1 60 5, function_name $L, inlined_at 1 80 1\n"
                               ".loc 2 60 5, function_name $L, inlined_at 1 81 1\n"
                               ".loc 1 60 6, function_name $L, inlined_at 1 82 1\n"
                               ".loc 1 61 5, function_name $L, inlined_at 1 83 1\n"
                               ".loc 2 9 9, function_name $L, inlined_at 1 60 5\n"
                               "add.s32 a;\n" /* 11 */
                               ".loc 1 50 5, function_name $L, inlined_at 1 50 5\n"
                               "add.s32 b;\n" /* 13 */
                               ".loc 1 55 5, function_name $L, inlined_at 1 70 1\n"
                               "add.s32 c;\n" /* 15 */
                               ".loc 1 70 1, function_name $L, inlined_at 1 90 1\n"
                               ".loc 1 32, function_name $L, inlined_at 1 99 1\n"
                               ".loc 1 40 1\n"
                               "add.s32 d;\n"; /* 19 */
    static const Case cases[] = {
        {11, " 60 80"}, {13, " 50"}, {15, " 55 70"}, {17, " 99"}, {19, " 40"}};
    Ptx ptx = read_text(text, "/a/kernel.cu");
    is_int(ptx.file, 1, "the file is the one of that name");
    are_from(&ptx, cases, sizeof cases / sizeof *cases);
    ptx_free(&ptx);
    ptx = read_text(text, NULL);
    is_int(ptx.file, 0, "no file is asked for");
    ptx_free(&ptx);
    ptx = read_text(".file 2 \"/j\\303\\274rgen/%s.cu\"\n", "/j\303\274rgen/%s.cu");
    is_int(ptx.file, 2, "a file whose name is not ASCII");
    ptx_free(&ptx);
}

int main(void) {
    test_opcodes();
    test_places();
    test_likeness();
    return done_testing();
}
