/* How often machine code runs and what it asks of the units, on a kernel small enough to count by
 * hand. Catches: PTX matched with other lines, a loop that ptxas unrolled counted once a copy, a
 * remainder loop that gets a part, an instruction that was hoisted and decides, a disagreement that
 * is not told, an instruction given to the wrong pipe. */
#include "limits/work.h"
#include "test/sample.h"
#include "test/tap.h"

#include <unistd.h>

/* The loop over ten keys; the lines are numbered from 1. */
static const char ptx[] = ".version 9.0\n"                                      /* 1 */
                          ".visible .entry k(\n"                                /* 2 */
                          ".param .u64 p\n"                                     /* 3 */
                          ")\n"                                                 /* 4 */
                          "{\n"                                                 /* 5 */
                          ".reg .b32 %r<9>;\n"                                  /* 6 */
                          ".loc 1 7 3 // a comment; and more\n"                 /* 7 */
                          "mov.u32 %r1, %tid.x;\n"                              /* 8 */
                          "$L1: // { no brace\n"                                /* 9 */
                          "ld.shared.u16\t%r2, [%r1];\n"                        /* 10 */
                          "{ fma.rn.f32 %f1, %f2, %f3, %f1; }\n"                /* 11 */
                          "@%p1 bra $L1;\n"                                     /* 12 */
                          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n" /* 13 */
                          "{%f1, %f2}, {%r1}, {%r2}, {%f1, %f2};\n"             /* 14 */
                          "st.global.f32 [%r3], %f1;\n"                         /* 15 */
                          "ret;\n"                                              /* 16 */
                          "}\n";

/* Two blocks of two warps: 40 rounds in all. */
static const char record[] =
    "{\"format\":1,\"launches\":[{\"kernel\":\"k\",\"grid\":[2,1,1],\"threads\":[64,1,1],"
    "\"classes\":[\"move, select\",\"shared load\",\"fp32 arithmetic\",\"branch, exit\",\"mma\","
    "\"global store\"],"
    "\"ops\":[[\"mov.u32 %r1, %tid.x\",0,1,[1]],[\"ld.shared.u16\\u0009%r2, [%r1]\",1,1,[1]],"
    "[\"fma.rn.f32 %f1, %f2, %f3, %f1\",2,1,[1]],[\"@%p1 bra $L1\",3,1,[1]],"
    "[\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2}\",4,1,[1]],"
    "[\"st.global.f32 [%r3], %f1\",5,1,[1]],[\"ret\",3,1,[1]],[\"exit\",3,0,[]]],"
    "\"counters\":[[2],[20],[20],[20],[2],[2],[2],[0]],"
    "\"run_counters\":[[4,128,0,0,0,0,0,0],[40,1280,0,40,120,40,0,0],[40,1280,0,0,0,0,0,0],"
    "[40,1280,0,0,0,0,0,0],[4,128,0,0,0,0,0,0],[4,128,0,4,64,16,0,0],[4,128,0,0,0,0,0,0],"
    "[0,0,0,0,0,0,0,0]],"
    "\"footprints\":[{\"space\":\"global\",\"units\":16,\"sectors\":[0,8,16,24,32,40,48,56,64,"
    "72,80,88,96,104,112,120]},{\"space\":\"global\",\"units\":16,\"sectors\":[0,8,16,24,32,40,48,"
    "56,64,72,80,88,96,104,112,120]},{\"space\":\"shared\",\"units\":16,\"sectors\":[0]}]}]}";
static const char report[] = "01\nheading\n\nk\n  2 blocks\n"
                             "  global memory, read   1.00 KiB requested, 512 B distinct: each 2\n"
                             "  global memory, written  9 B requested, 2.50 MiB distinct: each\n"
                             "  4 mma instructions, 0 barrier arrivals\n";

static CountedRun run;
static Matching lines;

static bool read_run(const char *text) {
    char paths[2][32] = {"/tmp/record.XXXXXX", "/tmp/report.XXXXXX"};
    const char *const texts[2] = {text, report};
    Error error;
    for (int i = 0; i < 2; i++) {
        const int file = mkstemp(paths[i]);
        if (file < 0 || write(file, texts[i], strlen(texts[i])) < 0) return false;
        close(file);
    }
    const bool read = counted_read(paths[0], paths[1], &run, &error);
    for (int i = 0; i < 2; i++) unlink(paths[i]);
    return read;
}

static void test_record(void) {
    const Counted *launch = &run.launch[0];
    is_int(launch->operations, 8, "eight operations");
    is_near(launch->blocks, 2, 0, "two blocks");
    is_int(launch->threads, 64, "of 64 threads");
    is_near(launch->operation[1].executions, 40, 0, "executions of a load");
    is_near(launch->operation[1].units, 120, 0, "its wavefronts");
    is_near(launch->operation[1].in_first_block, 20, 0, "its executions in the recorded block");
    is_near(launch->lines_of[16], 16, 0, "16 sectors that are in 16 lines");
    is_near(launch->read_bytes, 512, 0, "distinct bytes that are read");
    is_near(launch->written_bytes, 2.5 * (1 << 20), 0, "and written");
    counted_free(&run);
    ok(!read_run("{\"format\":1}"), "no record of the simulator");
    ok(read_run(record), "the record again");
}

static void test_matching(void) {
    Matching other;
    is_int(lines.operation[8], 0, "the first line with an instruction");
    is_int(lines.operation[10], 1, "behind a label with a comment");
    is_int(lines.operation[11], 2, "in braces");
    is_int(lines.operation[13], 4, "an instruction of two lines");
    is_int(lines.operation[14], 4, "on both of them");
    is_int(lines.operation[7], -1, "a line without an instruction");
    is_int(lines.operation[lines.lines], -1, "the last line");
    ok(!matching_find(ptx, "kernel", &run.launch[0], &other), "a kernel that is not in the PTX");
    run.launch[0].operations -= 2;
    ok(!matching_find(ptx, "k", &run.launch[0], &other), "a record with fewer operations");
    run.launch[0].operations += 2;
}

static Module module;
static Executions executions;

/* A kernel of these lines: "10 LDS.U16 R2, [R1]" is an instruction that was made from line 10 of
 * the PTX; labels stand alone. */
static void run_counted(const char *code, const Counted *launch, const Matching *matching) {
    char text[4096];
    int used = snprintf(text, sizeof text, KERNEL("k"));
    for (; *code; code += strcspn(code, "\n") + 1) {
        int ptx_line, skip = 0;
        if (sscanf(code, "%d %n", &ptx_line, &skip) == 1)
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "\t//## File \".nv_debug_ptx_txt\", line %d\n", ptx_line);
        used += snprintf(text + used, sizeof text - (size_t)used, "%.*s\n",
                         (int)strcspn(code + skip, "\n"), code + skip);
    }
    module = sample_code(text);
    executions = executions_of(&module.kernel[0], launch, matching);
}

static void run_code(const char *code) { run_counted(code, &run.launch[0], &lines); }

static void free_code(void) {
    executions_free(&executions);
    module_close(&module);
}

static void test_unrolled(void) {
    /* Four rounds at once, and a loop for what is left; the IMAD was hoisted out of the loop. */
    run_code("8 S2R R1, SR_TID.X\n"
             "10 IMAD R7, R1, R2, RZ\n"
             ".L_x_0:\n"
             "10 LDS.U16 R2, [R1]\n"
             "10 LDS.U16 R2, [R1]\n"
             "10 LDS.U16 R2, [R1]\n"
             "10 LDS.U16 R2, [R1]\n"
             "11 FFMA R4, R5, R6, R4\n"
             "11 FFMA R4, R5, R6, R4\n"
             "11 FFMA R4, R5, R6, R4\n"
             "11 FFMA R4, R5, R6, R4\n"
             "12 @P0 BRA `(.L_x_0)\n"
             ".L_x_1:\n"
             "10 LDS.U16 R2, [R1]\n"
             "11 FFMA R4, R5, R6, R4\n"
             "12 @P1 BRA `(.L_x_1)\n"
             "13 HMMA.16816.F32 R4, R2, R3, R4\n"
             "15 STG.E [R8], R4\n"
             "16 EXIT\n");
    is_near(executions.of[1], 4, 0, "what stands before the loop runs once per warp");
    is_near(executions.of[2], 10, 0, "an unrolled loop, its rounds over its copies");
    is_near(executions.of[10], 10, 0, "to its branch");
    is_near(executions.of[11], 0, 0, "the loop for the rest gets none");
    is_near(executions.of[14], 4, 0, "what follows runs once per warp");
    is_int(executions.unmatched, -1, "all of it agrees");
    free_code();
}

/* What ptxas moves says 4, a load 40: the load decides, although it is one of three. */
static void test_decides(void) {
    run_code(".L_x_0:\n"
             "8 S2R R1, SR_TID.X\n"
             "8 MOV R1, R2\n"
             "10 LDS.U16 R2, [R1]\n"
             "12 @P0 BRA `(.L_x_0)\n"
             "16 EXIT\n");
    is_near(executions.of[0], 40, 0, "what decides is asked alone");
    is_near(executions.of[4], 4, 0, "where nothing does, all are");
    is_int(executions.unmatched, -1, "nothing disagrees that decides");
    free_code();
}

/* Of two counts that as many instructions have the larger one is taken, but not before the one that
 * most have. */
static void test_vote(void) {
    run_code("10 LDS.U16 R2, [R1]\n"
             "11 FFMA R4, R5, R6, R4\n"
             "13 HMMA.16816.F32 R4, R2, R3, R4\n"
             "15 STG.E [R8], R4\n"
             "16 EXIT\n");
    is_near(executions.of[0], 40, 0, "two say 40, two say 4");
    free_code();
    run_code("10 LDS.U16 R2, [R1]\n"
             "13 HMMA.16816.F32 R4, R2, R3, R4\n"
             "15 STG.E [R8], R4\n"
             "15 STS [R8], R4\n"
             "16 EXIT\n");
    is_near(executions.of[0], 4, 0, "one says 40, three say 4");
    free_code();
}

static void test_work(void) {
    double work[WORKS];
    run_code("8 S2R R1, SR_TID.X\n"
             ".L_x_0:\n"
             "10 LDS.U16 R2, [R1]\n"
             "11 FFMA R4, R5, R6, R4\n"
             "11 HADD2.F32 R5, -RZ, R2.H0_H0\n"
             "11 IADD3 R1, R1, 0x2, RZ\n"
             "11 UIADD3 UR4, UR4, 1, URZ\n"
             "11 MOV R9, R8\n"
             "11 IMAD.MOV.U32 R9, RZ, RZ, R8\n"
             "11 MUFU.EX2 R9, R9\n"
             "10 @!PT LDS RZ, [RZ]\n"
             "12 @P0 BRA `(.L_x_0)\n"
             "13 HMMA.16816.F32 R4, R2, R3, R4\n"
             "15 STG.E [R8], R4\n"
             "15 BAR.SYNC 0x0\n"
             "15 SHFL.BFLY PT, R2, R4\n"
             "16 EXIT\n");
    work_of(&module.kernel[0], &executions, &run.launch[0], &lines, &run.launch[0], work);
    is_near(work[WORK_ISSUE], 4 + 40 * 10 + 4 * 5, 0, "issue slots: every instruction");
    is_near(work[WORK_FP32], 40, 0, "FMA");
    is_near(work[WORK_HALF], 40, 0, "a conversion that is an addition of halves");
    is_near(work[WORK_ALU], 40, 0, "ALU, without moves and uniform instructions");
    is_near(work[WORK_IMAD], 40, 0, "a move that takes the pipe of products");
    is_near(work[WORK_MUFU], 40, 0, "MUFU");
    is_near(work[WORK_MMA], 4 * 16 * 8 * 16, 0, "multiply-adds of the tensor cores");
    is_near(work[WORK_SHARED], 40 * 3 + 4 * 16, 0, "wavefronts, and lines of the store");
    is_near(work[WORK_SHUFFLE], 4, 0, "a shuffle");
    is_near(work[WORK_BARRIER], 4, 0, "arrivals at a barrier");
    is_near(work[WORK_L2], 64 * 32, 0, "bytes that are stored pass through L2");
    is_near(work[WORK_READ], 512, 0, "bytes of memory");
    free_code();
}

static void test_wgmma(void) {
    double work[WORKS];
    run_code("13 HGMMA.64x128x16.F32 R24, gdesc[UR4], R24\n"
             "13 HGMMA.64x64x16.F32 R24, R4, gdesc[UR4].tnspB, R24\n"
             "16 EXIT\n");
    work_of(&module.kernel[0], &executions, &run.launch[0], &lines, &run.launch[0], work);
    /* Two copies of one line run twice each: (128 + 64) rows and 64 rows of 32 bytes, a quarter. */
    is_near(work[WORK_SHARED], 2 * (192 + 64) * 32 / 4 / 128.0, 1e-9,
            "shared memory that wgmma reads, with and without A");
    free_code();
}

static void test_unmatched(void) {
    /* A loop in which loads and sums say 40, products a third of 4, and stores 2 and 4. */
    run_code("8 S2R R1, SR_TID.X\n"
             ".L_x_0:\n"
             "10 LDS.U16 R2, [R1]\n"
             "11 FFMA R1, R1, R1, R1\n"
             "11 FMUL R1, R1, R1\n"
             "13 HMMA.16816.F32 R4, R2, R3, R4\n"
             "13 HMMA.16816.F32 R4, R2, R3, R4\n"
             "13 HMMA.16816.F32 R4, R2, R3, R4\n"
             "15 STG.E [R8], R4\n"
             "15 STG.E [R8], R4\n"
             "15 STS [R8], R4\n"
             "12 @P0 BRA `(.L_x_0)\n"
             "16 EXIT\n");
    is_int(executions.unmatched, 0, "a loop whose instructions disagree is named");
    free_code();
}

/* ---- The same without PTX: line L has the count of `counts` number L - 1, if that is not 0 */

enum { COUNTS = 40 };

static void run_counts(const char *code, const double *counts, int count) {
    Operation operation[COUNTS + 1] = {{.executions = 1e6}};
    int of_line[COUNTS + 1] = {-1};
    const Counted launch = {.operation = &operation[1], .operations = count};
    const Matching matching = {.lines = count, .operation = of_line};
    for (int i = 0; i < count; i++) {
        operation[1 + i].executions = counts[i];
        of_line[1 + i] = counts[i] > 0 ? i : -1;
    }
    run_counted(code, &launch, &matching);
}

/* Of each instruction: how often it runs, and how many of its block say so. */
static void elects(const char *code, const double *counts, int count, const char *expected,
                   const char *what) {
    char got[300] = "";
    run_counts(code, counts, count);
    for (int i = 0; i < module.kernel[0].function->instructions; i++)
        sprintf(got + strlen(got), "%s%g:%d", i ? " " : "", executions.of[i], executions.sure[i]);
    is_text(got, expected, what);
    free_code();
    ok(!executions.of && !executions.sure && executions.unmatched == -1, "nothing is left");
}

#define COUNTED(...) (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)
#define OUT "9 @P0 BRA `(.L_x_1)\n"
#define END ".L_x_1:\n9 EXIT\n"

static void test_copies(void) {
    elects("1 LDS R2, [R1]\n" OUT "1 LDS R2, [R1]\n1 LDS R2, [R1]\n" OUT
           "1 LDS R2, [R1]\n1 LDS R2, [R1]\n" OUT "1 LDS R2, [R1]\n2 STS [R1], R2\n" END,
           COUNTED(12, 5), "0:1 0:1 3:2 3:2 3:2 3:2 3:2 3:2 5:1 5:1 0:0",
           "the two blocks with most copies share the count");
    elects("1 LDS R2, [R1]\n1 LDS R2, [R1]\n" OUT "1 LDS R2, [R1]\n" OUT
           "1 LDS R2, [R1]\n1 LDS R2, [R1]\n1 LDS R2, [R1]\n" END,
           COUNTED(12), "0:2 0:2 0:2 0:1 0:1 4:3 4:3 4:3 0:0", "or the one that has most");
    elects("1 LDS.U16 R2, [R1]\n1 LDS.128 R2, [R1]\n1 LDSM R2, [R1]\n1 LDSM R2, [R1]\n" END,
           COUNTED(12), "6:4 6:4 6:4 6:4 0:0", "copies have one opcode before its first point");
    elects("1 LDS R2, [R1]\n1 STS [R1], R2\n1 LDS R2, [R1]\n2 LDS R2, [R1]\n" END, COUNTED(12, 6),
           "6:3 6:3 6:3 6:3 0:0", "and one line");
    elects("1 LDSM R2, [R1]\n1 LDS R2, [R1]\n1 STS [R1], R2\n1 FFMA R1, R2, R3, R4\n"
           "1 LDGSTS.E [R1], [R2.64]\n1 SHFL.BFLY PT, R2, R4\n1 LDSM R2, [R1]\n"
           "1 FFMA R1, R2, R3, R4\n1 SHFL.BFLY PT, R2, R4\n1 STS [R1], R2\n1 LDS R2, [R1]\n"
           "1 LDGSTS.E [R1], [R2.64]\n" END,
           COUNTED(12), "6:12 6:12 6:12 6:12 6:12 6:12 6:12 6:12 6:12 6:12 6:12 6:12 0:0",
           "two each of six opcodes");
    elects("5 LDS R2, [R1]\n2 LDS R2, [R1]\n4 LDS R2, [R1]\n1 LDS R2, [R1]\n3 LDS R2, [R1]\n"
           "1 LDS R2, [R1]\n4 LDS R2, [R1]\n5 LDS R2, [R1]\n3 LDS R2, [R1]\n2 LDS R2, [R1]\n" END,
           COUNTED(12, 12, 12, 12, 12), "6:10 6:10 6:10 6:10 6:10 6:10 6:10 6:10 6:10 6:10 0:0",
           "two each on five lines");
    elects("2 STS [R1], R2\n1 LDS R2, [R1]\n3 FADD R1, R2, R3\n" OUT
           "3 FADD R1, R2, R3\n1 LDS R2, [R1]\n2 STS [R1], R2\n1 LDS R2, [R1]\n" OUT
           "2 STS [R1], R2\n1 LDS R2, [R1]\n3 FADD R1, R2, R3\n" END,
           COUNTED(8, 9, 9), "3:2 3:2 3:2 3:2 4:2 4:2 4:2 4:2 4:2 3:2 3:2 3:2 0:0",
           "blocks whose instructions come in another order");
    elects("9 MOV R1, R2\n" OUT "1 LDS R2, [R1]\n4 LDS R2, [R1]\n" OUT
           "2 LDS R2, [R1]\n3 LDS R2, [R1]\n" END,
           COUNTED(6, 6, 6, 6), "0:0 0:0 6:2 6:2 6:2 6:2 6:2 0:0", "or take turns");
}

static void test_votes(void) {
    elects("1 LDS R2, [R1]\n2 LDS R2, [R1]\n3 LDS R2, [R1]\n4 LDS R2, [R1]\n" END,
           COUNTED(100.09, 700, 100, 500), "100.09:2 100.09:2 100.09:2 100.09:2 0:0",
           "a thousandth more is the same");
    elects("1 LDS R2, [R1]\n2 LDS R2, [R1]\n3 LDS R2, [R1]\n" END, COUNTED(100.2, 700, 100),
           "700:1 700:1 700:1 0:0", "two thousandths are not");
    elects("1 MOV R1, R2\n2 MOV R1, R2\n" END, COUNTED(7, 3), "3:0 3:0 0:0",
           "of moves the smaller count, and nothing is sure");
    elects("1 MOV R1, R2\n2 MOV R1, R2\n3 MOV R1, R2\n" END, COUNTED(7, 3, 7), "7:0 7:0 7:0 0:0",
           "but the one that most have");
    elects("1 MOV R1, R2\n2 MOV R1, R2\n3 LDS R2, [R1]\n2 S2R R1, SR_TID.X\n" END, COUNTED(7, 3, 5),
           "5:1 5:1 5:1 5:1 0:0", "a single load decides");
    static const char *const deciding[] = {"HMMA.16816.F32 R4, R2, R3, R4",
                                           "FFMA R1, R2, R3, R4",
                                           "SHFL.BFLY PT, R2, R4",
                                           "LDS R2, [R1]",
                                           "LDG.E R2, [R4.64]",
                                           "BAR.SYNC 0x0",
                                           "LDGSTS.E [R1], [R2.64]"};
    for (size_t i = 0; i < sizeof deciding / sizeof *deciding; i++) {
        char code[100];
        snprintf(code, sizeof code, "1 MOV R1, R2\n2 %s\n" END, deciding[i]);
        elects(code, COUNTED(3, 7), "7:1 7:1 0:0", deciding[i]);
    }
    elects("1 LDS R2, [R1]\n2 LDS R2, [R1]\n5 LDS R2, [R1]\n1 @!PT LDS RZ, [RZ]\n"
           "4 LDS R2, [R1]\n9 LDS R2, [R1]\n" END,
           COUNTED(6, 0, 0, 3, 3), "3:2 3:2 3:2 3:2 3:2 3:2 0:0",
           "the last line has a count, and others have none");
    elects("1 LDS R2, [R1]\n1 EXIT\n.L_x_1:\n1 BRA `(.L_x_1)\n1 NOP\n", COUNTED(6),
           "6:1 6:1 0:0 0:0", "what fills up the last line never runs");
    elects("9 MOV R1, R2\n" END, COUNTED(6), "0:0 0:0", "nothing was counted");
}

/* ---- Loops of so many loads, of which so many have the same count */

typedef struct Loads {
    int all, same;
} Loads;

static void names_loop(Loads first, Loads second, int expected, const char *what) {
    const Loads loops[] = {first, second};
    double counts[COUNTS];
    int line = 0;
    char code[2000] = "";
    for (int l = 0; l < 2; l++) {
        sprintf(code + strlen(code), ".L_x_%d:\n", l + 5);
        for (int i = 0; i < loops[l].all; i++) {
            counts[line++] = i < loops[l].same ? 50 : 100 * (i + 1);
            sprintf(code + strlen(code), "%d LDS R2, [R1]\n", line);
        }
        sprintf(code + strlen(code), "99 @P0 BRA `(.L_x_%d)\n", l + 5);
    }
    strcat(code, "99 EXIT\n");
    run_counts(code, counts, line);
    is_int(executions.unmatched, expected, what);
    free_code();
}

static void test_loops(void) {
    names_loop((Loads){8, 4}, (Loads){1, 1}, -1, "half of a loop agrees");
    names_loop((Loads){8, 3}, (Loads){1, 1}, 0, "less than half");
    names_loop((Loads){9, 4}, (Loads){1, 1}, 0, "nearly half");
    names_loop((Loads){7, 1}, (Loads){1, 1}, -1, "too few to tell");
    names_loop((Loads){1, 1}, (Loads){8, 1}, 1, "the second loop");
    names_loop((Loads){8, 3}, (Loads){9, 3}, 1, "the one of which less agrees");
    names_loop((Loads){9, 3}, (Loads){8, 3}, 0, "whichever comes first");
    names_loop((Loads){8, 3}, (Loads){16, 5}, 1, "as a part of all");
    names_loop((Loads){16, 5}, (Loads){8, 3}, 0, "of either loop");
    names_loop((Loads){8, 3}, (Loads){16, 6}, 0, "of two that agree as much the first");
    static const double counts[] = {1, 2, 3, 4, 5, 6, 7, 8};
    run_counts("1 LDS R2, [R1]\n2 LDS R2, [R1]\n3 LDS R2, [R1]\n4 LDS R2, [R1]\n"
               "5 LDS R2, [R1]\n6 LDS R2, [R1]\n7 LDS R2, [R1]\n8 LDS R2, [R1]\n9 EXIT\n",
               counts, 8);
    is_int(executions.unmatched, -1, "what is in no loop");
    free_code();
    run_counts(".L_x_0:\n1 MOV R1, R2\n2 MOV R1, R2\n3 MOV R1, R2\n4 MOV R1, R2\n"
               "5 MOV R1, R2\n6 MOV R1, R2\n7 MOV R1, R2\n8 MOV R1, R2\n"
               "9 @P0 BRA `(.L_x_0)\n9 EXIT\n",
               counts, 8);
    is_int(executions.unmatched, -1, "or does not decide");
    free_code();
    run_counts(".L_x_0:\n1 LDS R2, [R1]\n2 LDS R2, [R1]\n3 LDS R2, [R1]\n4 LDS R2, [R1]\n"
               "9 @P1 BRA `(.L_x_1)\n5 LDS R2, [R1]\n6 LDS R2, [R1]\n7 LDS R2, [R1]\n"
               "8 LDS R2, [R1]\n.L_x_1:\n9 @P0 BRA `(.L_x_0)\n9 EXIT\n",
               counts, 8);
    is_int(executions.unmatched, 0, "a loop of several blocks");
    free_code();
}

int main(void) {
    if (!ok(read_run(record), "the record is read")) return done_testing();
    if (!ok(matching_find(ptx, "k", &run.launch[0], &lines), "and matched with its PTX"))
        return done_testing();
    test_record();
    test_matching();
    test_unrolled();
    test_decides();
    test_vote();
    test_work();
    test_wgmma();
    test_unmatched();
    test_copies();
    test_votes();
    test_loops();
    matching_free(&lines);
    counted_free(&run);
    return done_testing();
}
