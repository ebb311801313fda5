/* The language of signatures. Catches: an assertion that holds although it should not or the other
 * way round, a scope that is passed over, a mistake in a line that nobody mentions. */
#include "analysis/expect.h"
#include "test/sample.h"
#include "test/tap.h"

static const char two_kernels[] = KERNEL("first") "LDG.E R1, [R2.64]\n"
                                                  ".L_x_0:\n"
                                                  "LDS.U.128 R4, [R2]\n"
                                                  "HMMA.16816.F32 R1\n"
                                                  "MUFU.EX2 R1, R2\n"
                                                  "@P0 MUFU.EX2 R1, R2\n"
                                                  "HMMA.16816.F32 R1\n"
                                                  "HMMA.16816.F32 R1\n"
                                                  "MUFU.EX2 R1, R2\n"
                                                  "BAR.SYNC 0x0\n"
                                                  "HMMA.16816.F32 R1\n"
                                                  "@P0 BRA `(.L_x_0)\n"
                                                  "@!PT LDS RZ, [RZ]\n"
                                                  "STL [R1], R2\n"
                                                  "EXIT\n"
                                                  ".L_x_1:\n"
                                                  "BRA `(.L_x_1)\n"
                                                  "NOP\n" KERNEL("second") "MUFU.EX2 R1, R2\n"
                                                                           "EXIT\n";

static const char *code = two_kernels, *variant = "d128_fp16_full";

/* What the simulator counted. */
static const char *counters = "{\"stage\":7,\"counters\":{\"barriers\":12,\"shared_load_units\":55,"
                              "\"shared_load_ideal_units\":50,\"shared_store_units\":null}}";

/* Evaluates a signature: how many of its assertions hold, -1 if it is refused. */
static int holding(const char *lines, int *assertions, Error *error) {
    char *text = strdup(lines); /* no byte more than there are */
    Signature signature;
    Module module = sample_code(code);
    snprintf(module.variant, sizeof module.variant, "%s", variant);
    if (module.kernels > 0) module.kernel[0].stack = 8;
    if (module.kernels > 1) {
        module.kernel[1].registers = 40;
        module.kernel[1].dynamic_shared = 0;
        module.kernel[1].stack = -1;
    }
    module.counters = counters ? strdup(counters) : NULL;
    const bool read = signature_read(text, "expect.sass", &module, &signature, error);
    const int result = read ? signature.holding : -1;
    *assertions = read ? signature.assertions : 0;
    if (read) signature_free(&signature);
    free(text);
    module_close(&module);
    return result;
}

static void holds(const char *lines) {
    Error error;
    int assertions;
    const int count = holding(lines, &assertions, &error);
    if (!ok(count == 1 && assertions == 1, "holds: %s", lines) && count < 0)
        printf("# %s\n", error.text);
}

static void fails(const char *lines) {
    Error error;
    int assertions;
    const int count = holding(lines, &assertions, &error);
    ok(count == 0 && assertions == 1, "does not hold: %s", lines);
}

static void refused(const char *lines, const char *message) {
    Error error = {0};
    int assertions;
    const bool rejected = holding(lines, &assertions, &error) < 0;
    ok(rejected && error.status == STATUS_USAGE, "is refused: %s", lines);
    is_text(error.text, message, "with a reason");
}

static void test_operands(void) {
    holds("MUFU.EX2 == 4");
    fails("MUFU.EX2 == 3");
    holds("loop MUFU.EX2 == 3");
    holds("loop mufu == 3");
    holds("prologue LDG == 1");
    holds("epilogue all == 3");
    holds("LDS == 1");
    holds("LDS.128 == 1");
    holds("kernels == 2");
    holds("registers == 40");
    holds("first: registers == 32");
    holds("second: registers == 40");
    holds("shared_bytes == 1024");
    holds("second: shared_bytes == 1000");
    holds("stack == 8");
    holds("second: stack == 0 - 1");
    holds("spills == 1");
    holds("loop spills == 0");
    holds("d == 128");
    variant = "d64_bf16_causal";
    holds("d == 64");
    variant = "x64";
    holds("d == 0");
    variant = "";
    holds("d == 0");
    variant = "d128_fp16_full";
    holds("called all == 0");
    holds("elsewhere all == 2");
    code = "";
    holds("registers == 0 - 1");
    holds("stack == 0 - 1");
    holds("shared_bytes == 0 - 1");
    holds("kernels == 0");
    code = two_kernels;
    holds("BMSK == 0");
    holds("NOP == 0"); /* padding */
}

static void test_relations(void) {
    static const struct {
        const char *relation;
        bool less, equal, more; /* whether it holds of 1 and 2, 2 and 2, 3 and 2 */
    } relations[] = {{"==", false, true, false}, {"!=", true, false, true},
                     {"<=", true, true, false},  {">=", false, true, true},
                     {"<", true, false, false},  {">", false, false, true}};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        const bool expected[] = {relations[i].less, relations[i].equal, relations[i].more};
        for (int left = 1; left <= 3; left++) {
            char line[40];
            snprintf(line, sizeof line, "%d %s kernels", left, relations[i].relation);
            (expected[left - 1] ? holds : fails)(line);
        }
    }
    fails("1 / STS > 0 - 1 / 0 * 0"); /* infinity and NaN */
    fails("1 / STS >= 4");            /* infinity: it would hold whatever there is */
    fails("0 - 1 / STS != 4");
    fails("0 / STS == 0 / STS");
    fails("0 / STS != 1");
    fails("0 / STS <= 1");
}

/* c1 = 1, c2 = 2 and so on, and what the first and the last are. */
static void many_constants(int count, char text[static 800]) {
    *text = '\0';
    for (int i = 1; i <= count; i++) sprintf(text + strlen(text), "c%d = %d\n", i, i);
    sprintf(text + strlen(text), "c1 + c%d == %d", count, count + 1);
}

static void test_arithmetic(void) {
    char text[800];
    holds("2 + 3 * 4 == 14");
    holds("(2 + 3) * 4 - 1 == 19");
    holds("8 / 2 / 2 == 2");
    holds("loop HMMA >= 4 * loop LDS");
    holds("scores = 1 + 2\nloop MUFU.EX2 == scores");
    holds("n = 1\nn = 2\nkernels == n");
    holds("n = 2\nd64: n = 9\nkernels == n");
    holds("\tn=\t2 # and more\r\n\n \t# nothing\r\nkernels==n\r\n");
    holds("n_1.x = 2\nkernels == n_1.x");
    holds("((((((((2)))))))) == kernels");
    holds("2 - 1 - 1 + 2 == kernels");
    holds("LDS + LDS + LDS + LDS + LDS + LDS + LDS + LDS + LDS == 9");
    many_constants(32, text);
    holds(text);
    many_constants(33, text);
    refused(text, "expect.sass:33: there are too many constants at ''");
}

static void test_scopes(void) {
    Error error;
    int assertions;
    holds("first: MUFU.EX2 == 3");
    holds("second: kernels == 2");
    holds("sm_80 d128 fp16 full: MUFU.EX2 == 4");
    fails("sm_80: MUFU.EX2 == 3");
    is_int(holding("kernels == 2\nsm_90a: HGMMA > 0\ncausal: kernels == 7", &assertions, &error), 1,
           "what is about other variants is passed over");
    is_int(assertions, 1, "and not counted");
    static const char *const others[] = {"sm_90a sm_80", "sm_80 sm_90a", "d64 full",
                                         "full d64",     "causal sm_80", "first bf16"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char lines[80];
        snprintf(lines, sizeof lines, "%s: kernels == 7\nkernels == 2", others[i]);
        holds(lines);
    }
    holds("d64: n = 9\nn = 1\nfirst second: n + MUFU == 2");
    variant = "d64_bf16_causal";
    holds("d64 bf16 causal: kernels == 2");
    holds("full: kernels == 7\nkernels == 2");
    holds("d128: kernels == 7\nkernels == 2");
    holds("fp16: kernels == 7\nkernels == 2");
    variant = "d640_bfp16_fully";
    holds("d64: kernels == 7\nfp16: kernels == 7\nfull: kernels == 7\nkernels == 2");
    variant = "d128_fp16_full";
    code = KERNEL("sm") "EXIT\n" KERNEL("smx") "FADD R1, R1, R2\nEXIT\n";
    holds("sm: all == 1"); /* no architecture */
    holds("smx: all == 2");
    code = two_kernels;
}

static void test_order(void) {
    holds("loop MUFU.EX2 before first BAR == 3");
    holds("loop MUFU.EX2 before last HMMA == 3");
    holds("loop MUFU.EX2 after first HMMA == 3");
    holds("loop MUFU.EX2 before first HMMA == 0");
    holds("first: HMMA after last MUFU.EX2 == 1");
    holds("loop MUFU.EX2 before last BMSK == 0");
    holds("loop MUFU.EX2 after first BMSK == 0");
    holds("loop HMMA split by MUFU.EX2 == 2");
    holds("loop HMMA split by BAR == 1");
    holds("loop HMMA split by LDG == 0");
    holds("loop HMMA split by LDS == 0");
    holds("loop MUFU.EX2 before last MUFU.EX2 == 2");
    holds("loop MUFU.EX2 after first MUFU.EX2 == 2");
}

/* A kernel's first instruction is one as the others. */
static void test_first(void) {
    code = KERNEL("k") "MUFU.EX2 R1, R2\nFADD R1, R1, R2\nMUFU.EX2 R1, R2\nEXIT\n";
    holds("MUFU split by FADD == 1");
    holds("FADD after first MUFU == 1");
    holds("MUFU before first FADD == 1");
    holds("MUFU == 2");
    code = two_kernels;
}

static void test_counters(void) {
    holds("shared_load_units <= 1.1 * shared_load_ideal_units");
    fails("shared_load_units == shared_load_ideal_units");
    holds("barriers == 12");
    refused("shared_store_units == 1",
            "expect.sass:1: the simulator has not counted 'shared_store_units'");
    counters = NULL;
    refused("barriers == 12", "expect.sass:1: nothing is asserted by ''");
    holds("LDS > 0\nbarriers == 13");
    holds("LDS > 0\nd64: barriers == 12");
}

static void test_mistakes(void) {
    refused("", "expect.sass:1: nothing is asserted by ''");
    refused("sm_90a: LDS > 0", "expect.sass:1: nothing is asserted by ''");
    refused("LDS", "expect.sass:1: one of == != <= >= < > is missing at ''");
    refused("kernels == 2\nLDS >", "expect.sass:2: an opcode or a class is missing at ''");
    refused("lds > 0", "expect.sass:1: an opcode or a class is missing at 'lds'");
    refused("LSD == 0", "expect.sass:1: there is no opcode 'LSD'");
    refused("LDS > 0\nLDS before first Mufu == 0", "expect.sass:2: there is no opcode 'Mufu'");
    refused("LDS > 0 0", "expect.sass:1: the line should end before '0'");
    refused("LDS > 1x", "expect.sass:1: this is not a number: '1x'");
    refused("(LDS > 1", "expect.sass:1: ')' is missing at '>'");
    refused("(lds > 1", "expect.sass:1: an opcode or a class is missing at 'lds'");
    refused("((((((((( > 1", "expect.sass:1: too many parentheses at '>'");
    refused("(((((((((1))))))))) == 1", "expect.sass:1: too many parentheses at '1'");
    refused("kernels -= 2", "expect.sass:1: an opcode or a class is missing at '='");
    refused("2 => kernels", "expect.sass:1: one of == != <= >= < > is missing at '='");
    refused("kernels = = 2", "expect.sass:1: an opcode or a class is missing at '='");
    refused("LDS = 2", "expect.sass:1: one of == != <= >= < > is missing at '='");
    refused("n = 2 3\nkernels == 2", "expect.sass:1: the line should end before '3'");
    refused("padding NOP > 0", "expect.sass:1: an opcode or a class is missing at 'padding'");
    refused("kernels == 2\n\nLDS\nkernels == 2",
            "expect.sass:3: one of == != <= >= < > is missing at ''");
    refused("sm_80 = 2: kernels == 2",
            "expect.sass:1: a scope is sm_80 and the like, d64, d128, "
            "fp16, bf16, full, causal or a kernel of the stage; not '='");
    refused(": kernels == 2", "expect.sass:1: an opcode or a class is missing at ':'");
    refused("LDS split HMMA > 1", "expect.sass:1: 'by' is missing at 'HMMA'");
    refused("LDS before HMMA > 1", "expect.sass:1: 'first' or 'last' is missing at 'HMMA'");
    refused("((((((((((1)))))))))) == 1", "expect.sass:1: too many parentheses at '('");
    refused(
        "third: LDS > 0",
        "expect.sass:1: a scope is sm_80 and the like, d64, d128, fp16, bf16, full, causal or a "
        "kernel of the stage; not 'third'");
}

static bool is_read(char *text, const Module *module, Signature *signature) {
    Error error;
    const bool read = signature_read(text, "expect.sass", module, signature, &error);
    if (!ok(read, "is read")) printf("# %s\n", error.text);
    return read;
}

/* What is known of an assertion beside whether it holds. */
static void test_parts(void) {
    char text[] = "# first\n\n \tfirst: loop LDS + MUFU.EX2 after last BAR >= 2 * 1.5# more\n"
                  "LDS + LDS + LDS + LDS + LDS + LDS + LDS + LDS + STL < 3\n";
    Signature signature;
    Module module = sample_code(code);
    if (!is_read(text, &module, &signature)) return;
    is_int(signature.assertions, 2, "two assertions");
    is_int(signature.holding, 0, "neither holds");
    const Assertion *at = &signature.assertion[0];
    is_int(at->line, 3, "its line");
    is_text(at->text, "first: loop LDS + MUFU.EX2 after last BAR >= 2 * 1.5", "its text");
    is_text(at->relation, ">=", "its relation");
    ok(at->found == 1 && at->expected == 3 && !at->holds, "both sides: %g, %g", at->found,
       at->expected);
    is_int(at->selections, 2, "what it counts");
    const Selection *loads = &at->selection[0], *later = &at->selection[1];
    ok(strcmp(loads->pattern, "LDS") == 0 && loads->region == REGION_LOOP && loads->kernel == 0 &&
           loads->order == ORDER_ANY && loads->count == 1,
       "loads in the loop of a kernel");
    ok(strcmp(later->pattern, "MUFU.EX2") == 0 && later->region == -1 && later->kernel == 0 &&
           later->order == ORDER_AFTER && later->last && strcmp(later->other, "BAR") == 0 &&
           later->count == 0,
       "what is behind another instruction, anywhere");
    is_int(at[1].selections, MAX_SELECTIONS, "not more than there is room for");
    ok(at[1].selection[0].kernel == -1 && at[1].found == 9, "in all kernels");
    signature_free(&signature);
    ok(!signature.assertion && !signature.assertions && !signature.holding, "nothing is left");
    module_close(&module);
}

/* Whose a comment is: that of an assertion's own line, else all directly above it. */
static void test_comments(void) {
    char text[] = "# the head\n\n#above \r\n\t # it\nLDS > 0\n"
                  "LDS > 1\n"
                  "# not these\nn = 2 # nor this\nLDS > 2\n"
                  "# of the next line\nLDS > 3 \t# its own: # 1 \n"
                  "# last\nLDS > 4 #\n";
    static const char *const own[][2] = {{"above", "it"}, {NULL}, {NULL}, {"its own: # 1"}, {""}};
    Signature signature;
    Module module = sample_code(code);
    if (!is_read(text, &module, &signature)) return;
    is_int(signature.assertions, 5, "five assertions");
    for (int a = 0; a < signature.assertions; a++) {
        const Assertion *at = &signature.assertion[a];
        is_int(at->comments, !!own[a][0] + !!own[a][1], "how many comments");
        for (int c = 0; c < at->comments && c < 2 && own[a][c]; c++)
            is_text(signature.comment[at->comment + c], own[a][c], "a comment");
    }
    is_text(signature.assertion[3].text, "LDS > 3", "no blank is left before one");
    signature_free(&signature);
    ok(!signature.comment && !signature.comments, "no comment is left");
    module_close(&module);
}

int main(void) {
    test_parts();
    test_comments();
    test_operands();
    test_relations();
    test_arithmetic();
    test_scopes();
    test_order();
    test_first();
    test_counters();
    test_mistakes();
    return done_testing();
}
