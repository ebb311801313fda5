/* What faults say, whole: of warps in states that are set by hand. Catches: a place, a side of a
 * race or a number of an mbarrier that stands for another one, warps that are said together though
 * they do not do the same, a line of the source that is another one. */
#include <stdlib.h>
#include <unistd.h>

#include "cuda/module.h"
#include "machine/mbarrier.h"
#include "machine/scheduler.h"
#include "test/run_ptx.h"
#include "test/tap.h"

enum { WARPS = 5, LONG = 300, MOST_LINE = 199, MOST_PTX = 160, MOST_PLACE = 255 };

static char source_path[] = "/tmp/test_said.XXXXXX", text[4096], long_name[LONG + 1];
static Module *module;
static Kernel *kernel;
static Block *block;

/* Operations of the kernel, by their numbers. */
enum {
    BARE,
    FIRST,
    SECOND,
    LAST,
    BEYOND,
    CALLED,
    NO_FILE,
    FAR,
    LONG_LINE,
    WIDE,
    WIDER,
    NOWHERE,
    NAMELESS
};

static void load(void) {
    static const uint32_t grid[] = {4, 5, 6}, threads[] = {5, 8, 4};
    static const Settings settings = {.late = true, .budget = 1000, .threads = 1};
    char error[400] = "", wide[MOST_PTX + 1 - sizeof "mov.b32 , 0" + 1];
    memset(long_name, 'n', LONG);
    memset(wide, 'r', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    snprintf(text, sizeof text,
             PTX_HEAD ".file 1 \"%s\"\n.file 2 \"/nowhere/other.h\"\n.file 3 \"%s\"\n"
                      ".visible .entry k()\n{\n.reg .b32 a, b, %s;\nmov.b32 a, 0;\n"
                      ".loc 1 1 1\nmov.b32 a, 1;\n.loc 1 2 1\nmov.b32 a, 2;\n"
                      ".loc 1 5 1\nmov.b32 a, 3;\n.loc 1 6 1\nmov.b32 a, 4;\n"
                      ".loc 2 7 1, function_name $L0, inlined_at 1 2 1\nmov.b32 a, 5;\n"
                      ".loc 4 1 1\nmov.b32 a, 6;\n.loc 3 8 1\nmov.b32 a, 7;\n"
                      ".loc 1 4 1\nmov.b32 a, 8;\nmov.b32 %s, 0;\nmov.b32 %s, 10;\n"
                      ".loc 0 1 1\nmov.b32 a, 11;\n"
                      ".loc 4 7 1, function_name $L1, inlined_at 1 2 1\nmov.b32 a, 12;\nret;\n}\n",
             source_path, long_name, wide, wide, wide);
    module = module_load(text, strlen(text), error, sizeof error);
    kernel = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    if (!kernel) printf("Bail out! %s\n", error), exit(1);
    block = block_new(kernel, &settings, grid, threads, 64);
    memcpy(block->index, (uint32_t[]){1, 2, 3}, sizeof block->index);
}

/* Warps that have not begun, with all their lanes. */
static void begin(void) {
    for (int w = 0; w < WARPS; w++) {
        block->warp[w].op = NULL;
        block->warp[w].state = WARP_READY;
        block->warp[w].active = UINT32_MAX;
    }
}

static const char *at(int op, const char *expected) {
    static char said[4096];
    Warp *warp = &block->warp[3];
    begin();
    if (op >= 0) warp->op = &kernel->op[op];
    if (!setjmp(block->escape)) fault(warp, 7, "%s %d", "so", 5);
    snprintf(said, sizeof said,
             "ptxsim: so 5\n  in kernel k, block (1, 2, 3), warp 3, lane 7: thread (3, 4, 2)\n%s",
             expected);
    return said;
}

static void test_places(void) {
    char expected[1000];
    is_text(block->report, at(-1, ""), "before the first operation there is no place");
    is_text(block->report, at(BARE, "  at an unknown line\n  PTX mov.b32 a, 0\n"),
            "a place without a line");
    PtxModule *ptx = kernel->ptx;
    const int locations = ptx->locations;
    ptx->locations = 0;
    is_text(block->report,
            at(BARE, "  at an unknown line (build with nvcc -lineinfo)\n  PTX mov.b32 a, 0\n"),
            "a module without lines");
    ptx->locations = locations;
    snprintf(expected, sizeof expected, "  at %s:1\n      one\n  PTX mov.b32 a, 1\n", source_path);
    is_text(block->report, at(FIRST, expected), "the first line");
    snprintf(expected, sizeof expected, "  at %s:2\n      two  2 \n  PTX mov.b32 a, 2\n",
             source_path);
    is_text(block->report, at(SECOND, expected), "the blanks before a line are left out");
    snprintf(expected, sizeof expected, "  at %s:5\n      five\n  PTX mov.b32 a, 3\n", source_path);
    is_text(block->report, at(LAST, expected), "the last line, which has no end");
    snprintf(expected, sizeof expected, "  at %s:6\n  PTX mov.b32 a, 4\n", source_path);
    is_text(block->report, at(BEYOND, expected), "a line that the file does not have");
    snprintf(expected, sizeof expected,
             "  at %s:2, which calls other.h:7\n      two  2 \n  PTX mov.b32 a, 5\n", source_path);
    is_text(block->report, at(CALLED, expected), "a function of another file");
    is_text(block->report, at(NO_FILE, "  at an unknown line\n  PTX mov.b32 a, 6\n"),
            "a file that has no name");
    is_text(block->report, at(NOWHERE, "  at an unknown line\n  PTX mov.b32 a, 11\n"),
            "a line of no file");
    snprintf(expected, sizeof expected, "  at %s:2\n      two  2 \n  PTX mov.b32 a, 12\n",
             source_path);
    is_text(block->report, at(NAMELESS, expected), "a function of a file that has no name");
    snprintf(expected, sizeof expected, "  at %s:8\n  PTX mov.b32 a, 7\n", long_name);
    is_text(block->report, at(FAR, expected), "a file that is not there");
    at(LONG_LINE, "");
    const char *line = strstr(block->report, ":4\n      ");
    ok(line && strspn(line + 9, "x") == MOST_LINE && line[9 + MOST_LINE] == '\n',
       "a long line is cut");
    at(WIDE, "");
    const char *wide = strstr(block->report, "PTX ");
    ok(wide && strlen(wide) == strlen("PTX \n") + MOST_PTX && strstr(wide, ", 0\n"),
       "PTX of 160 characters is whole");
    at(WIDER, "");
    wide = strstr(block->report, "PTX ");
    ok(wide && strlen(wide) == strlen("PTX \n") + MOST_PTX && strstr(wide, ", 1\n"), "more is cut");
}

static void test_threads(void) {
    begin();
    if (!setjmp(block->escape)) fault(&block->warp[4], -1, "so");
    is_text(block->report, "ptxsim: so\n  in kernel k, block (1, 2, 3), warp 4\n", "a whole warp");
    if (!setjmp(block->escape)) fault(&block->warp[0], 0, "so");
    is_text(block->report,
            "ptxsim: so\n  in kernel k, block (1, 2, 3), warp 0, lane 0: thread (0, 0, 0)\n",
            "the first thread");
    if (!setjmp(block->escape)) fault(&block->warp[0], 1, "so");
    is_text(block->report,
            "ptxsim: so\n  in kernel k, block (1, 2, 3), warp 0, lane 1: thread (1, 0, 0)\n",
            "the second");
    if (!setjmp(block->escape)) fault(&block->warp[4], 31, "so");
    is_text(block->report,
            "ptxsim: so\n  in kernel k, block (1, 2, 3), warp 4, lane 31: thread (4, 7, 3)\n",
            "and the last");
}

static void test_races(void) {
    const RaceReport race = {
        RACE_UNORDERED,
        0x420,
        {RACE_ACTOR_COPY, 2, 0, 0, RACE_WRITE, BARE},
        {RACE_ACTOR_WARP, 3, 4, 0, RACE_READ, (uint32_t)kernel->ops},
    };
    char expected[1000];
    snprintf(expected, sizeof expected,
             "ptxsim: %s (shared address 0x420)\n  in kernel k, block (1, 2, 3)\n"
             "  earlier: write by cp.async of warp 2\n"
             "    at an unknown line\n    PTX mov.b32 a, 0\n"
             "  later: read by warp 3, lane 4\n",
             race_message(RACE_UNORDERED));
    if (!setjmp(block->escape)) fault_race(&block->warp[3], &race);
    is_text(block->report, expected, "a race, one of whose instructions is not known");
    RaceReport mixed = race;
    mixed.earlier.access = RACE_ATOMIC;
    if (!setjmp(block->escape)) fault_race(&block->warp[3], &mixed);
    ok(strstr(block->report,
              "one access is atomic, the other is not: let a barrier order them (volatile "
              "alone ends the race, but orders nothing)\n"),
       "what cures a race of an atomic access with an ordinary one");
}

/* ---- Deadlocks ------------------------------------------------------------------------------- */

static void is_deadlock(const char *warps, const char *name) {
    char expected[4096];
    snprintf(expected, sizeof expected,
             "ptxsim: deadlock: no warp of the block can go on\n  in kernel k, block (1, 2, 3)\n%s",
             warps);
    if (!setjmp(block->escape)) fault_deadlock(block);
    is_text(block->report, expected, name);
}

static void test_deadlocks(void) {
    char expected[1000];
    begin();
    is_deadlock("  warps 0 to 4, each lanes 0xffffffff, tests again and again, its first "
                "instruction\n",
                "warps that do the same");
    for (int w = 0; w < 2; w++) block->warp[w].state = WARP_AT_BARRIER, block->warp[w].barrier = 3;
    block->warp[2].op = &kernel->op[FIRST];
    block->warp[4].state = WARP_DONE;
    block->barrier[3].arrived = 64;
    snprintf(expected, sizeof expected,
             "  warps 0 to 1, each lanes 0xffffffff, waits at barrier 3 (64 of 128 threads have "
             "arrived), its first instruction\n"
             "  warp 2, lanes 0xffffffff, tests again and again, %s:1\n"
             "  warp 3, lanes 0xffffffff, tests again and again, its first instruction\n"
             "  warp 4, has ended\n",
             strrchr(source_path, '/') + 1);
    is_deadlock(expected, "and warps that do not");
    begin();
    block->warp[0].op = &kernel->op[FAR];
    for (int w = 1; w < WARPS; w++) block->warp[w].state = WARP_DONE;
    snprintf(expected, sizeof expected,
             "  warp 0, lanes 0xffffffff, tests again and again, %.*s\n"
             "  warps 1 to 4, each has ended\n",
             MOST_PLACE, long_name);
    is_deadlock(expected, "a place that is too long");
}

/* Warp 0 waits for the mbarrier at 0x408, the others have ended. */
static void waits_for(uint64_t word, uint32_t parity, const char *missing, const char *name) {
    char expected[1000];
    begin();
    for (int w = 1; w < WARPS; w++) block->warp[w].state = WARP_DONE;
    block->warp[0].state = WARP_AT_MBARRIER;
    block->warp[0].active = 1;
    block->warp[0].wait_address = 0x408;
    block->warp[0].wait_parity = parity;
    memcpy(shared_zero(block) + 0x408, &word, sizeof word);
    block->phases[1] = 6 + (word & 1);
    snprintf(expected, sizeof expected,
             "  warp 0, lanes 0x00000001, waits for the mbarrier at 0x408, %s, its first "
             "instruction\n  warps 1 to 4, each has ended\n",
             missing);
    is_deadlock(expected, name);
}

static void test_mbarriers(void) {
    uint64_t word;
    bool completed;
    waits_for(0, 0, "which holds no mbarrier any more", "what is no mbarrier");
    mbarrier_init(&word, 3);
    mbarrier_arrive(&word, 1, &completed);
    waits_for(word, 0,
              "parity 0; in its phase 6, of parity 0, 2 of 3 arrivals and 0 bytes are missing",
              "arrivals that are missing");
    waits_for(word, 1,
              "parity 1; in its phase 6, of parity 0, 2 of 3 arrivals and 0 bytes are missing",
              "a parity that is not the phase's");
    mbarrier_expect_tx(&word, 64, &completed);
    mbarrier_arrive(&word, 2, &completed);
    waits_for(word, 0,
              "parity 0; in its phase 6, of parity 0, 0 of 3 arrivals and 64 bytes are missing",
              "bytes that are");
    mbarrier_complete_tx(&word, 64, &completed);
    mbarrier_complete_tx(&word, 16, &completed);
    waits_for(word, 1,
              "parity 1; in its phase 7, of parity 1, 3 of 3 arrivals are missing, and 16 bytes "
              "came that nobody expects",
              "bytes that came too early");
}

int main(void) {
    const int file = mkstemp(source_path);
    if (file < 0) return 1;
    FILE *source = fdopen(file, "w");
    fprintf(source, "one\n \t two  2 \r\n\n");
    for (int i = 0; i < LONG; i++) fputc('x', source);
    fputs("\nfive", source);
    fclose(source);
    load();
    test_places();
    test_threads();
    test_races();
    test_deadlocks();
    test_mbarriers();
    unlink(source_path);
    block_free(block);
    module_free(module);
    return done_testing();
}
