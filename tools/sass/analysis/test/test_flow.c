/* Loops and regions, on small kernels with known answers. Catches: a loop missed or nested wrongly,
 * the wrong main loop, an instruction in the wrong region or in none. */
#include "test/sample.h"
#include "test/tap.h"

static Module module;
static const Flow *flow;

static void read_kernel(const char *code) {
    char text[2048];
    snprintf(text, sizeof text, KERNEL("k") "%s", code);
    module = sample_code(text);
    flow = &module.kernel[0].flow;
}

/* The regions of all instructions, a letter each: prologue, loop, epilogue, other, called, "." for
 * padding. */
static void is_regions(const char *expected, const char *name) {
    char regions[64] = "";
    for (int i = 0; i < module.kernel[0].function->instructions && i < 63; i++)
        regions[i] = "pleoc."[flow->region[i]];
    is_text(regions, expected, name);
    module_close(&module);
}

static void test_no_loop(void) {
    read_kernel("MOV R1, R2\n"
                "@P0 EXIT\n"
                "FFMA R1, R2, R3, R4\n"
                "EXIT\n"
                ".L_x_0:\n"
                "BRA `(.L_x_0)\n"
                "NOP\n");
    is_int(flow->loops, 0, "no loop");
    is_int(flow->main_loop, -1, "and so no main loop");
    is_regions("oooo..", "all of it is elsewhere, but the padding");
}

static void test_single_loop(void) {
    /* A branch past the loop, the loop, what follows both. */
    read_kernel("ISETP P0, R1\n"
                "@P0 BRA `(.L_x_1)\n"
                ".L_x_0:\n"
                "FFMA R1, R2, R3, R4\n"
                "@P1 BRA `(.L_x_0)\n"
                ".L_x_1:\n"
                "STG [R1], R2\n"
                "EXIT\n");
    is_int(flow->loops, 1, "one loop");
    is_int(flow->loop[0].header, 2, "starts at its label");
    is_int(flow->loop[0].back, 3, "and goes back from its end");
    is_int(flow->loop[0].instructions, 2, "holds what its branch goes back over");
    is_text(flow->loop[0].name, "1", "is called 1");
    is_regions("ppllee", "before, in and after it");
}

static void test_two_ways_back(void) {
    read_kernel("MOV R1, R2\n"
                ".L_x_0:\n"
                "FFMA R1, R2, R3, R4\n"
                "@P0 BRA `(.L_x_0)\n"
                "FADD R1, R2, R3\n"
                "@P1 BRA `(.L_x_0)\n"
                "EXIT\n");
    is_int(flow->loops, 1, "one loop, which is repeated from two places");
    is_int(flow->loop[0].back, 4, "the last of them");
    is_regions("plllle", "all in between is in it");
}

static void test_nested(void) {
    read_kernel(".L_x_0:\n"
                "MOV R1, R2\n"
                ".L_x_1:\n"
                "FFMA R1, R2, R3, R4\n"
                "@P0 BRA `(.L_x_1)\n"
                ".L_x_2:\n"
                "FADD R1, R2, R3\n"
                "@P1 BRA `(.L_x_2)\n"
                "@P2 BRA `(.L_x_0)\n"
                "EXIT\n");
    is_int(flow->loops, 3, "two loops in a loop");
    is_text(flow->loop[0].name, "1", "the outer one");
    is_text(flow->loop[1].name, "1.1", "its first");
    is_text(flow->loop[2].name, "1.2", "its second");
    is_int(flow->loop[1].parent, 0, "a parent");
    is_int(flow->loop[2].depth, 2, "a depth");
    is_int(flow->loop[0].instructions, 6, "the outer loop holds all but EXIT");
    is_int(flow->loop_of[0], 0, "the innermost loop of its own instruction");
    is_int(flow->loop_of[4], 2, "and of one inside");
    ok(flow_in_loop(flow, 0, 4) && !flow_in_loop(flow, 1, 4), "which is in both that hold it");
    is_regions("plleeee", "without exponentials the busiest product is the main loop");
}

/* In the code the middle one of three loops comes first, and then the outer one. */
static void test_order(void) {
    read_kernel("BRA `(.L_x_1)\n"
                ".L_x_0:\n"
                "MOV R1, R2\n"
                "BRA `(.L_x_2)\n"
                ".L_x_1:\n"
                "MOV R1, R2\n"
                "BRA `(.L_x_0)\n"
                ".L_x_2:\n"
                "FADD R1, R2, R3\n"
                "@P0 BRA `(.L_x_2)\n"
                "@P1 BRA `(.L_x_0)\n"
                "@P2 BRA `(.L_x_1)\n"
                "EXIT\n");
    is_int(flow->loops, 3, "three loops");
    is_text(flow->loop[0].name, "1.1", "the first is in another");
    is_text(flow->loop[1].name, "1", "which is the second");
    is_text(flow->loop[2].name, "1.1.1", "the third is in the first");
    is_int(flow->loop[2].depth, 3, "three deep");
    module_close(&module);
}

static void test_main_loop(void) {
    read_kernel(".L_x_0:\n"
                "MOV R1, R2\n"
                ".L_x_1:\n"
                "FFMA R1, R2, R3, R4\n"
                "@P0 BRA `(.L_x_1)\n"
                "MUFU.EX2 R1, R2\n"
                ".L_x_2:\n"
                "FFMA R1, R2, R3, R4\n"
                "@P1 BRA `(.L_x_2)\n"
                "@P2 BRA `(.L_x_0)\n"
                "EXIT\n");
    is_text(flow->loop[flow->main_loop].name, "1",
            "products in inner loops, exponentials between them: the loop around both");
    is_regions("llllllle", "with the inner loops in it");

    read_kernel(".L_x_0:\n"
                "MOV R1, R2\n"
                ".L_x_1:\n"
                "HMMA.16816.F32 R1\n"
                "MUFU.EX2 R1, R2\n"
                "FSEL R1, R2, R3\n"
                "@P0 BRA `(.L_x_1)\n"
                ".L_x_2:\n"
                "HMMA.16816.F32 R1\n"
                "MUFU.EX2 R1, R2\n"
                "@P1 BRA `(.L_x_2)\n"
                "STG [R1], R2\n"
                "@P2 BRA `(.L_x_0)\n"
                "EXIT\n");
    is_text(flow->loop[flow->main_loop].name, "1.2",
            "masked tiles, full tiles, in a loop over work: the loop without the mask");
    is_regions("pppppllleee", "a loop around it makes no prologue of the epilogue");

    read_kernel("@P0 BRA `(.L_x_1)\n"
                ".L_x_0:\n"
                "UTMALDG.5D [R1]\n"
                "@P1 BRA `(.L_x_0)\n"
                "EXIT\n"
                ".L_x_1:\n"
                "HGMMA.64x128x16.F32 R1\n"
                "@P2 BRA `(.L_x_1)\n"
                "EXIT\n");
    is_text(flow->loop[flow->main_loop].name, "2", "a producer and a consumer: the consumer's");
    is_regions("pooolle", "the producer is elsewhere");
}

/* A third of the work is enough, less is not, and of two that are as large the first counts. */
static void test_shares(void) {
    static const struct {
        const char *loops[3]; /* what stands in each, one loop behind the other */
        int main_loop;
        const char *name;
    } cases[] = {
        {{"HMMA\nMUFU.EX2\n", "HMMA\nMUFU.EX2\n", "HMMA\nMUFU.EX2\n"}, 0, "a third each"},
        {{"HMMA\nNOP\n", "HMMA\nNOP\n", "HMMA\n"}, 2, "a third each, the last is the smallest"},
        {{"HMMA\n", "HMMA\nHMMA\nHMMA\n", "NOP\n"}, 1, "a quarter of the products"},
        {{"FFMA\n", "FFMA\nFADD\nFMUL\n", "NOP\n"}, 1, "or of the additions"},
        {{"HMMA\nMUFU.EX2\n", "HMMA\nMUFU.EX2\nMUFU.EX2\nMUFU.EX2\n", "HMMA\n"},
         1,
         "a quarter of the exponentials"},
        {{"HMMA\nFFMA\nFFMA\n", "FFMA\n", "MUFU.RCP\n"}, 0, "products count, where there are some"},
        {{"NOP\n", "MUFU.EX2\n", "IADD3\n"}, -1, "no products at all"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char code[500];
        const char *const *loop = cases[i].loops;
        snprintf(code, sizeof code,
                 "MUFU.EX2\nFADD\nMUFU.EX2\n"
                 ".L_x_0:\n%s@P0 BRA `(.L_x_0)\n"
                 ".L_x_1:\n%s@P0 BRA `(.L_x_1)\n"
                 ".L_x_2:\n%s@P0 BRA `(.L_x_2)\nEXIT\n",
                 loop[0], loop[1], loop[2]);
        read_kernel(code);
        is_int(flow->loops, 3, "three loops");
        is_int(flow->main_loop, cases[i].main_loop, cases[i].name);
        module_close(&module);
    }

    /* What stands in a loop of a loop counts once. */
    read_kernel(".L_x_0:\n"
                "MOV R1, R2\n"
                ".L_x_1:\n"
                "HMMA\n"
                "HMMA\n"
                "MUFU.EX2\n"
                "MUFU.EX2\n"
                "@P0 BRA `(.L_x_1)\n"
                "@P1 BRA `(.L_x_0)\n"
                ".L_x_2:\n"
                "HMMA\n"
                "MUFU.EX2\n"
                "@P2 BRA `(.L_x_2)\n"
                "EXIT\n");
    is_text(flow->loop[flow->main_loop].name, "2", "a third of the work is in the second loop");
    is_int(flow->loop[0].tensor, 2, "products of the first");
    is_int(flow->loop[0].ex2, 2, "and exponentials");
    is_int(flow->loop[0].fma, 0, "and additions");
    is_int(flow->loop[2].depth, 1, "the second is in none");
    is_int(flow->loop[2].parent, -1, "and has no parent");
    module_close(&module);
}

static void test_unreached(void) {
    read_kernel("BRA `(.L_x_1)\n"
                "MOV R1, R2\n"
                ".L_x_1:\n"
                "FFMA R1, R2, R3, R4\n"
                "@P0 BRA `(.L_x_1)\n"
                "EXIT\n"
                "MOV R1, R2\n"
                "NOP\n"
                "BRA `(.L_x_1)\n");
    is_int(flow->loops, 1, "one loop");
    is_regions("polleo..", "what leads nowhere and is not reached is elsewhere or padding");
}

static void test_names(void) {
    static const char *const names[] = {"prologue",  "loop",   "epilogue",
                                        "elsewhere", "called", "padding"};
    for (int r = 0; r < REGIONS; r++) is_text(region_name((Region)r), names[r], "a region's name");
    read_kernel(".L_x_0:\nFFMA R1\n@P0 BRA `(.L_x_0)\nEXIT\n");
    Flow other = flow_analyse(module.kernel[0].function);
    flow_free(&other);
    ok(!other.loop && !other.loops && other.main_loop == -1 && !other.region && !other.loop_of,
       "nothing is left");
    module_close(&module);
}

static void test_odd_jumps(void) {
    read_kernel(".L_x_0:\n"
                "FFMA R1, R2, R3, R4\n"
                "@P0 BRA `(.L_x_3)\n"
                ".L_x_2:\n"
                "@P1 CALL.REL.NOINC `(.L_x_1)\n"
                "BRA `(.L_x_0)\n"
                ".L_x_1:\n"
                "EXIT\n"
                ".L_x_3:\n"
                "MUFU.EX2 R1, R2\n"
                "BRA `(.L_x_2)\n");
    is_int(flow->loops, 1, "a loop that is left by CALL");
    is_regions("llllell", "and has a part behind EXIT");

    read_kernel("BRA.DIV UR4, `(.L_x_1)\n"
                "BRX R4 -0x10 (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)\n"
                "MOV R1, R2\n"
                ".L_x_1:\n"
                "CALL.REL `($slow)\n"
                "EXIT\n"
                ".L_x_2:\n"
                "EXIT\n"
                "        .type           $slow,@function\n"
                "$slow:\n"
                "FMUL R1, R2, R3\n"
                "RET.REL.NODEC R4 `(k)\n");
    is_regions("oooooocc", "conditions among operands, a branch table, a call");

    read_kernel("CALL.REL `($work)\n"
                "EXIT\n"
                "        .type           $work,@function\n"
                "$work:\n"
                "MOV R1, R2\n"
                ".L_x_0:\n"
                "FFMA R1, R2, R3, R4\n"
                "@P0 BRA `(.L_x_0)\n"
                "RET.REL.NODEC R4 `(k)\n");
    is_int(flow->main_loop, 0, "the main loop may be in a function that is called");
    is_regions("oocllc", "and then it is no less the main loop");

    read_kernel("BRA.DIV UR4, `(.L_x_1)\n"
                ".L_x_0:\n"
                "FFMA R1, R2, R3, R4\n"
                "BRA P0, `(.L_x_0)\n"
                ".L_x_1:\n"
                "EXIT\n");
    is_regions("plle", "what follows a branch with a condition among its operands is reached");

    /* Where two ways of one loop meet again, whichever of them comes first. */
    for (int swapped = 0; swapped < 2; swapped++) {
        read_kernel(swapped ? ".L_x_0:\n"
                              "@P0 BRA `(.L_x_2)\n"
                              "FADD R1, R2, R3\n"
                              ".L_x_1:\n"
                              "FFMA R1, R2, R3, R4\n"
                              "@P1 BRA `(.L_x_0)\n"
                              "EXIT\n"
                              ".L_x_2:\n"
                              "FMUL R1, R2, R3\n"
                              "BRA `(.L_x_1)\n"
                            : ".L_x_0:\n"
                              "@P0 BRA `(.L_x_1)\n"
                              "FADD R1, R2, R3\n"
                              "BRA `(.L_x_2)\n"
                              ".L_x_1:\n"
                              "FMUL R1, R2, R3\n"
                              ".L_x_2:\n"
                              "FFMA R1, R2, R3, R4\n"
                              "@P1 BRA `(.L_x_0)\n"
                              "EXIT\n");
        is_int(flow->loops, 1, "one loop with two ways through it");
        is_regions(swapped ? "llllell" : "lllllle", "all of which are in it");
    }

    /* Two ways into a cycle: it has no header, and so it is no natural loop. */
    read_kernel("@P0 BRA `(.L_x_1)\n"
                ".L_x_0:\n"
                "FFMA R1, R2, R3, R4\n"
                ".L_x_1:\n"
                "FADD R1, R2, R3\n"
                "@P1 BRA `(.L_x_0)\n"
                "EXIT\n");
    is_int(flow->loops, 0, "a cycle with two entries is passed over");
    is_regions("ooooo", "and nothing is lost");
}

int main(void) {
    test_no_loop();
    test_single_loop();
    test_two_ways_back();
    test_nested();
    test_order();
    test_main_loop();
    test_shares();
    test_unreached();
    test_names();
    test_odd_jumps();
    return done_testing();
}
