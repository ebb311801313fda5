/* Calls of what the host has, printf and assert, and what else ends a kernel. Catches: a value of
 * printf that is read at another place or width, a conversion that is passed on in another form, a
 * text that goes on beyond its memory, an assertion without its place. */
#include "test/capture.h"
#include "test/tap.h"

#define HEAD                                                                            \
    PTX_HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"   \
             ".extern .func __assertfail(.param .b64 e, .param .b64 f, .param .b32 l, " \
             ".param .b64 n, .param .b64 s);\n"                                         \
             ".global .align 1 .b8 word[4] = {97, 98, 99};\n"                           \
             ".shared .align 4 .b8 shared_word[4];\n"

/* ---- printf ---------------------------------------------------------------------------------- */

enum { ROOM = 72, SAID = 10000 };

/* `threads` print by `format`; `values` are statements that put the values into room, whose address
 * is in s. q, which is s, is where printf looks for them; t is the thread, p device memory whose
 * last byte is 0, w a text, "abc". room is the last of the thread's memory. */
static LaunchStatus print(uint32_t threads, const char *format, const char *values, int fd,
                          char said[SAID]) {
    static char text[4000];
    char data[32], *at = text;
    memset(data, 'x', sizeof data);
    data[sizeof data - 1] = 0;
    at += sprintf(at, HEAD ".global .align 1 .b8 format[%zu] = {", strlen(format) + 1);
    for (const char *c = format; *c; c++) at += sprintf(at, "%d, ", *c);
    sprintf(at,
            "0};\n.visible .entry k(.param .u64 data)\n{\n.reg .b64 f, p, q, s, w; .reg .b32 t; "
            ".reg .f64 d; .local .align 8 .b8 room[%d]; .param .b64 a; .param .b64 b; "
            ".param .b32 r; bra.uni BEGIN;\n"
            "PRINT: st.param.b64 [a], f; st.param.b64 [b], q; call.uni (r), vprintf, (a, b); ret;\n"
            "BEGIN: mov.u32 t, %%tid.x; mov.u64 f, format; cvta.global.u64 f, f; "
            "mov.u64 w, word; cvta.global.u64 w, w; ld.param.u64 p, [data]; mov.u64 s, room; "
            "cvta.local.u64 q, s;\n%s;\nbra.uni PRINT;\n}\n",
            ROOM, values);
    return capture_run(fd, text, threads, data, sizeof data, said, SAID);
}

typedef struct Printed {
    const char *format, *values, *said;
} Printed;

#define WORDS "st.local.u32 [s], 255; st.local.s32 [s+4], -255; st.local.u32 [s+8], 8"
#define WIDE                                                       \
    "mov.u64 f, 0x123456789; st.local.u64 [s], f; mov.s64 f, -1; " \
    "st.local.u64 [s+8], f; mov.u64 f, format; cvta.global.u64 f, f"
#define DOUBLES                                                       \
    "mov.f64 d, 0d3FF8000000000000; st.local.f64 [s], d; mov.f64 d, " \
    "0dC059000000000000; st.local.f64 [s+8], d; st.local.f64 [s+16], d"

static const Printed lines[] = {
    {"nothing", "", "nothing"},
    {"", "", ""},
    {"100%% %%%%.", "", "100% %%."},
    {"%d %d %d.", WORDS, "255 -255 8."},
    {"%i %i %i.", WORDS, "255 -255 8."},
    {"%u %u %o.", WORDS, "255 4294967041 10."},
    {"%x %X %o.", WORDS, "ff FFFFFF01 10."},
    {"%5d|%-6d|%03d.", WORDS, "  255|-255  |008."},
    {"%+d|% d|%#x.", WORDS, "+255|-255|0x8."},
    {"%.4d|%8.5d|%#o.", WORDS, "0255|  -00255|010."},
    {"%hd %hhd %hu.", WORDS, "255 1 8."},
    {"%lld %lld.", WIDE, "4886718345 -1."},
    {"%ld %li.", WIDE, "4886718345 -1."},
    {"%llu %lu.", WIDE, "4886718345 18446744073709551615."},
    {"%llx %lX.", WIDE, "123456789 FFFFFFFFFFFFFFFF."},
    {"%zu %zd.", WIDE, "4886718345 -1."},
    {"%jd %ju.", WIDE, "4886718345 18446744073709551615."},
    {"%td %tx.", WIDE, "4886718345 ffffffffffffffff."},
    {"%12llo|%-4lld|.", WIDE, " 44321263611|-1  |."},
    {"%d %d %d %d.", WIDE, "591751049 1 -1 -1."},
    {"%f %e %g.", DOUBLES, "1.500000 -1.000000e+02 -100."},
    {"%F %E %G.", DOUBLES, "1.500000 -1.000000E+02 -100."},
    {"%a %A.", DOUBLES, "0x1.8p+0 -0X1.9P+6."},
    {"%8.2f|%-9.1e|%.3g.", DOUBLES, "    1.50|-1.0e+02 |-100."},
    {"%hhx %hhd %hx %hd %hhu.",
     "st.local.u32 [s], 0x1ff; st.local.u32 [s+4], 255; st.local.s32 [s+8], -2; "
     "st.local.u32 [s+12], 0x18000; st.local.s32 [s+16], -1",
     "ff -1 fffe -32768 255."},
    {"%*d|%-*d|%d.",
     "st.local.u32 [s], 6; st.local.u32 [s+4], 42; st.local.u32 [s+8], 3; st.local.u32 [s+12], 7; "
     "st.local.u32 [s+16], 8",
     "    42|7  |8."},
    {"%*.*f|%d.",
     "st.local.s32 [s], -6; st.local.u32 [s+4], 2; mov.f64 d, 0d3FF8000000000000; "
     "st.local.f64 [s+8], d; st.local.u32 [s+16], 8",
     "1.50  |8."},
    {"%*d.", "add.u64 q, q, 72", "."},
    {"%*d.", "st.local.u32 [s+64], 6; add.u64 q, q, 64", "."},
    {"%Lf %La.", DOUBLES, "1.500000 -0x1.9p+6."},
    {"%lf %lg.", DOUBLES, "1.500000 -100."},
    {"%c%c%c", "st.local.u32 [s], 65; st.local.u32 [s+4], 66; st.local.u32 [s+8], 10", "AB\n"},
    {"%s|%5s|%.2s|%-4s.",
     "st.local.u64 [s], w; st.local.u64 [s+8], w; st.local.u64 [s+16], w; st.local.u64 [s+24], w",
     "abc|  abc|ab|abc ."},
    {"%p %p.", "st.local.u64 [s], 16; mov.u64 w, 0x123456789ab; st.local.u64 [s+8], w",
     "0x10 0x123456789ab."},
    /* each value is at its own alignment */
    {"%d %f %d %lld %c%s.",
     "st.local.u32 [s], 1; mov.f64 d, 0d4000000000000000; st.local.f64 [s+8], d; "
     "st.local.u32 [s+16], 3; st.local.u64 [s+24], 4; st.local.u32 [s+32], 53; "
     "st.local.u64 [s+40], w",
     "1 2.000000 3 4 5abc."},
    {"%d %d %lld.", "st.local.u32 [s], 1; st.local.u32 [s+4], 2; st.local.u64 [s+8], 3", "1 2 3."},
    /* texts that are none, and one that ends where its memory does */
    {"%s.", "st.local.u64 [s], 1", "?."},
    {"%s.", "st.local.u32 [s+8], 0x636261; add.u64 w, q, 8; st.local.u64 [s], w", "abc."},
    {"%s.",
     "st.shared.u32 [shared_word], 0x636261; mov.u64 w, shared_word; "
     "cvta.shared.u64 w, w; st.local.u64 [s], w",
     "abc."},
    {"%s.",
     "st.shared.u32 [shared_word], 0x636261; mov.u64 w, shared_word; "
     "cvta.shared.u64 w, w; add.u64 w, w, 5000; st.local.u64 [s], w",
     "?."},
    {"%s.", "add.u64 w, q, 5000; st.local.u64 [s], w", "?."},
    {"%s.", "st.local.u64 [s], p", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx."},
    {"%s.", "add.u64 p, p, 31; st.local.u64 [s], p", "."},
    {"%s.", "mov.u32 t, 0x78787878; st.global.u8 [p+31], t; st.local.u64 [s], p", "?."},
    /* values at the end of the thread's memory, beyond it, and elsewhere */
    {"%d.", "st.local.u32 [s+64], 7; add.u64 q, q, 64", "7."},
    {"%lld.", "st.local.u64 [s+64], 7; add.u64 q, q, 64", "7."},
    {"%lld.", "add.u64 q, q, 72", "."},
    {"%d%d.", "st.local.u32 [s+64], 7; add.u64 q, q, 64", "7."},
    {"%d.", "mov.u64 q, s", "."},
    {"%d.", "mov.u64 q, p", "."},
    {"%d.", "cvta.shared.u64 q, s", "."},
    /* as many flags as there may be, and a field as wide */
    {"%00000000000000000000000000000000005d.", WORDS, "00255."},
};

static void test_printf(void) {
    static char said[SAID];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const Printed *l = &lines[i];
        ok(print(1, l->format, l->values, STDOUT_FILENO, said) == LAUNCH_OK, "printf: %s",
           l->format);
        is_text(said, l->said, "prints its values");
    }
    print(3, "%d,%lld;",
          "add.u32 t, t, 5; st.local.u32 [s], t; cvt.u64.u32 f, t; "
          "st.local.u64 [s+8], f; mov.u64 f, format; cvta.global.u64 f, f",
          STDOUT_FILENO, said);
    is_text(said, "5,5;6,6;7,7;", "printf prints each lane's values, in the order of the lanes");
    print(1, "%4096d", WORDS, STDOUT_FILENO, said);
    ok(strlen(said) == 4096 && strcmp(said + 4092, " 255") == 0, "a field of 4096 characters");
    print(1, "%.4096f", DOUBLES, STDOUT_FILENO, said);
    ok(strlen(said) == 4098 && strncmp(said, "1.50", 4) == 0, "and 4096 places");
}

/* What printf refuses. */
static void test_refused(void) {
#define TOO_WIDE "printf of a value that is more than 4096 characters wide\n"
#define UNKNOWN "printf with an unknown conversion: "
    static const char *const formats[][2] = {
        {"%4097d", TOO_WIDE},
        {"%.4097f", TOO_WIDE},
        {"%5.4097f", TOO_WIDE},
        {"%4097.5f", TOO_WIDE},
        {"%-99999d", TOO_WIDE},
        {"%000000000000000000000000000000000005d", TOO_WIDE},
        {"%n.", UNKNOWN "%n\n"},
        {"%5.3ln.", UNKNOWN "%5.3ln\n"},
        {"%9*d.", TOO_WIDE},
        {"%b", UNKNOWN "%b\n"},
        {"%5.3ll", UNKNOWN "%5.3ll\n"},
        {"%", UNKNOWN "%\n"},
    };
    static char said[SAID];
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char expected[200];
        snprintf(expected, sizeof expected,
                 "ptxsim: %s  in kernel k, block (0, 0, 0), warp 0, lane 0: ", formats[i][1]);
        const LaunchStatus status = print(1, formats[i][0], WORDS, STDERR_FILENO, said);
        if (!ok(status == LAUNCH_FAULT && strncmp(said, expected, strlen(expected)) == 0,
                "refused: printf of %s", formats[i][0]))
            printf("# %s\n", said);
    }
}

/* What it returns: the number of values. */
static void test_result(void) {
    static const struct {
        const char *format;
        uint32_t count;
    } cases[] = {{"", 0}, {"100%% of %%", 0}, {"%d", 1}, {"%d%%%5.2d", 2}, {"%*d", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4000], said[SAID];
        uint64_t data[4] = {0};
        char *at = text + sprintf(text, HEAD ".global .align 1 .b8 format[20] = {");
        for (const char *c = cases[i].format; *c; c++) at += sprintf(at, "%d, ", *c);
        sprintf(at, "0};\n.visible .entry k(.param .u64 data)\n{\n.reg .b64 f, p, s; .reg .b32 t; "
                    ".local .align 8 .b8 room[64]; .param .b64 a; .param .b64 b; .param .b32 r; "
                    "ld.param.u64 p, [data]; mov.u64 f, format; cvta.global.u64 f, f; "
                    "mov.u64 s, room; cvta.local.u64 s, s; st.param.b64 [a], f; "
                    "st.param.b64 [b], s; call.uni (r), vprintf, (a, b); ld.param.b32 t, [r]; "
                    "st.global.u32 [p], t; ret;\n}\n");
        capture_run(STDOUT_FILENO, text, 1, data, sizeof data, said, sizeof said);
        ok((uint32_t)data[0] == cases[i].count, "printf(\"%s\") returns %u: %u", cases[i].format,
           cases[i].count, (uint32_t)data[0]);
    }
}

/* ---- assert ---------------------------------------------------------------------------------- */

#define ASSERT                                                                              \
    "{ .param .b64 e; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s; "         \
    "st.param.b64 [e], w; st.param.b64 [f], x; st.param.b32 [l], 77; st.param.b64 [n], y; " \
    "st.param.b64 [s], 1; call.uni __assertfail, (e, f, l, n, s); }"

static void test_assert(void) {
    char text[2000], said[4000];
    uint64_t data[4] = {0};
    snprintf(text, sizeof text,
             HEAD ".global .align 1 .b8 file[4] = {102, 105, 108};\n"
                  ".visible .entry k(.param .u64 data)\n{\n.reg .b64 w, x, y; .reg .b32 t; "
                  ".reg .pred g; .local .align 8 .b8 room[24]; mov.u32 t, %%tid.x; "
                  "st.local.u32 [room], t; mov.u64 w, word; cvta.global.u64 w, w; "
                  "mov.u64 x, file; cvta.global.u64 x, x; add.u64 y, w, 1; "
                  "setp.lt.u32 g, t, 38; @g bra END; " ASSERT " END: ret;\n}\n");
    const LaunchStatus status =
        capture_run(STDERR_FILENO, text, 64, data, sizeof data, said, sizeof said);
    ok(status == LAUNCH_FAULT, "assert stops the kernel");
    if (!ok(strstr(said, "assertion failed: abc, fil:77, bc\n") && strstr(said, "warp 1, lane 6:"),
            "assert names the expression, the file, the line, the function and the thread"))
        printf("# %s\n", said);
}

/* ---- Other calls ----------------------------------------------------------------------------- */

/* Functions that nobody has, or not with so many arguments. */
static void test_unknown(void) {
    static const char *const calls[][2] = {
        {".extern .func putchar(.param .b64 a);\n", "putchar, (a)"},
        {".extern .func vprintf(.param .b64 a);\n", "vprintf, (a)"},
        {".extern .func vprintf(.param .b64 a, .param .b64 b, .param .b64 c);\n",
         "vprintf, (a, b, c)"},
        {".extern .func __assertfail(.param .b64 a, .param .b64 b);\n", "__assertfail, (a, b)"},
        {".extern .func vprintf();\n", "vprintf"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char text[1000];
        uint64_t data[4] = {0};
        snprintf(text, sizeof text,
                 PTX_HEAD "%s.visible .entry k(.param .u64 data)\n{\n.param .b64 a; "
                          ".param .b64 b; .param .b64 c; call.uni %s;\nret;\n}\n",
                 calls[i][0], calls[i][1]);
        const PtxRun run = run_ptx(text, 1, data, sizeof data);
        ok(strstr(run.error, "unsupported instruction"), "refused: call %s %s", calls[i][1],
           run.error);
    }
}

static void test_traps(void) {
    for (int i = 0; i < 2; i++) {
        char text[2000], said[4000];
        uint64_t data[4] = {0};
        snprintf(text, sizeof text,
                 PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n%s; ret;\n}\n",
                 i ? "brkpt" : "trap");
        const LaunchStatus status =
            capture_run(STDERR_FILENO, text, 2, data, sizeof data, said, sizeof said);
        ok(status == LAUNCH_FAULT && strstr(said, "stopped itself"), "%s stops the kernel",
           i ? "brkpt" : "trap");
    }
}

int main(void) {
    test_printf();
    test_result();
    test_refused();
    test_assert();
    test_unknown();
    test_traps();
    return done_testing();
}
