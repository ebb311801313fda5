/* The parser, on texts as nvdisasm writes them. Catches: a guard or an operand lost, a source line
 * that sticks to the wrong instructions, a called function counted as the kernel's own. */
#include "test/sample.h"
#include "test/tap.h"

static const char text[] =
    "\t.target\tsm_80\n"
    "\n"
    "\t.elftype\t@\"ET_EXEC\"\n"
    "//--------------------- .text.first --------------------------\n" KERNEL(
        "first") "\t//## File \"/a/kernel.cu\", line 36 inlined at \"/a/kernel.cu\", line 114\n"
                 "\t//## File \"/a/kernel.cu\", line 114\n"
                 "\t//## File \".nv_debug_ptx_txt\", line 24\n"
                 "        /*0000*/                   MOV R1, c[0x0][0x28] ;\n"
                 "        /*0010*/              @!P0 LDS.U.128 R4, [R2+0x10] ;\n"
                 "\t//## File \".nv_debug_ptx_txt\", line 25\n"
                 "        /*0020*/              @UP1 UNKNOWN.X R1 ;  /* 0x00000a00ff017b82 */\n"
                 "                                         /* 0x000e2200000a0a00 */\n"
                 ".L_x_0:\n"
                 "\t//## File \"/a/kernel.cu\", line 115\n"
                 "        /*0030*/                   CALL.REL.NOINC `($slow) ;\n"
                 "        /*0040*/                   EXIT ;\n"
                 "        .weak           $slow\n"
                 "        .type           $slow,@function\n"
                 "$slow:\n"
                 "        /*0050*/                   RET.REL.NODEC R4 `(first) ;\n"
                 ".L_x_1:\n"
                 "        /*0060*/                   BRA `(.L_x_1);\n"
                 "        /*0070*/                   NOP;\n" KERNEL(
                     "second") "        /*ffff0*/                   EXIT ;\n"
                               "\t.section\t.text.helper,\"ax\",@progbits\n"
                               "        .type           helper,@function\n"
                               "helper:\n"
                               "        /*0000*/                   RET ;\n"
                               "//--------------------- SYMBOLS --------------------------\n"
                               "\t.type\t\t.nv.reservedSmem.offset0,@object";

static void test_functions(const Listing *listing) {
    is_text(listing->target, "sm_80", "the target");
    is_int(listing->functions, 3, "three functions");
    is_text(listing->function[0].name, "first", "the first by name");
    ok(listing->function[0].kernel && listing->function[1].kernel, "two of them are kernels");
    ok(!listing->function[2].kernel, "one is called from other sections");
    is_int(listing->function[0].instructions, 8, "all instructions of the first");
    is_int(listing->function[0].body, 5, "those before the function it calls");
    is_int(listing->function[1].instructions, 1, "the second starts afresh");
    is_int((long long)listing->function[1].instruction[0].address, 0xffff0, "a long address");
    is_int(listing_find_label(&listing->function[0], ".L_x_1)", 6), 6, "a label of the first");
    is_int(listing_find_label(&listing->function[0], ".L_x", 4), -1, "a part of it is no label");
    is_int(listing_find_label(&listing->function[1], ".L_x_0", 6), -1, "nor is another's");
}

static void test_instructions(const Instruction *at) {
    is_text(at[0].guard, "", "no guard");
    is_text(at[1].guard, "@!P0", "a guard");
    is_text(at[1].opcode, "LDS.U.128", "an opcode with its modifiers");
    is_text(at[1].operands, "R4, [R2+0x10]", "its operands");
    is_text(at[2].guard, "@UP1", "a uniform guard");
    is_text(at[2].opcode, "UNKNOWN.X", "an opcode that nobody knows, beside an encoding");
    is_text(at[2].operands, "R1", "and its operand");
    is_text(at[7].opcode, "NOP", "an opcode without a space before the semicolon");
    is_text(at[4].operands, "", "no operands");
}

static void test_lines(const Function *function) {
    const Instruction *at = function->instruction;
    is_int(at[0].frames, 2, "a line that is inlined has two places");
    is_int(function->frame[at[0].frame].line, 36, "the line itself first");
    is_int(function->frame[at[0].frame + 1].line, 114, "then the call");
    is_text(function->frame[at[0].frame].file, "/a/kernel.cu", "with the file");
    is_int(at[1].frame, at[0].frame, "a place holds until the next one");
    is_int(at[0].ptx_line, 24, "a line of PTX");
    is_int(at[2].ptx_line, 25, "the next");
    is_int(at[2].frames, 2, "which leaves the source as it was");
    is_int(at[3].frames, 1, "a line that is not inlined");
    is_int(function->frame[at[3].frame].line, 115, "is that line");
    is_int(function->frames, 3, "PTX lines are no frames");
}

static void test_broken(void) {
    Module module = sample_module("  /*0010*/  MOV R1, R2 ;\n" KERNEL(
        "k") "/*zz*/ MOV\n"
             "  /*0020*/ @P0\n  /*0030*/ ;\n:\n\t.section\n"
             "\t//## File \"/a\n\t//## File \"/a\", line 99999999999 ");
    is_int(module.listing.functions, 1, "broken lines: one function");
    is_int(module.listing.function[0].instructions, 0, "without instructions");
    is_int(module.kernel[0].flow.loops, 0, "which has no loops");
    module_close(&module);
    module = sample_module("");
    is_int(module.listing.functions, 0, "an empty text has no functions");
    module_close(&module);
}

/* What holds until the next function, and what an instruction ends. */
static void test_chains(void) {
    static const char places[] =
        "\t//## File \"lost.cu\", line 1\n"
        "/* 0x0000000000000001 */\n" KERNEL(
            "first") "/* 0x0000000000000002 */\n"
                     "\t//## File \"a.cu\", line 1 inlined at \"b.cu\"\n"
                     "  /*0000*/  EXIT ;\n"
                     "\t//## File \"b.cu\", line 2\n"
                     "  /*0010*/  EXIT ;\n"
                     "\t//## File \".nv_debug_ptx_txt\", line 5\n"
                     "\t//## File \"c.cu\", line 3 inlined at \"d.cu\"\n" KERNEL(
                         "second") "  /*0000*/  EXIT ;\n"
                                   "\t//## File \"e.cu\", line 4 inlined at \"f.cu\"\n"
                                   "\t//## File \".nv_debug_ptx_txt\", line 6\n"
                                   "\t//## File \"f.cu\", line 5 inlined at \"g.cu\"\n"
                                   "\t//## File \"g.cu\", line 6\n"
                                   "\t//## File \"h.cu\", line 7\n"
                                   "  /*0010*/  EXIT ;\n";
    static const struct {
        int function, instruction, frame, frames, ptx_line;
    } cases[] = {{0, 0, 0, 1, 0}, {0, 1, 1, 1, 0}, {1, 0, 0, 0, 0}, {1, 1, 3, 1, 6}};
    Module module = sample_module(places);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Function *function = &module.listing.function[cases[i].function];
        const Instruction *at = &function->instruction[cases[i].instruction];
        is_int(at->frames, cases[i].frames, "how many places");
        is_int(at->frame, cases[i].frame, "which is the first");
        is_int(at->ptx_line, cases[i].ptx_line, "and the line of PTX");
    }
    is_text(module.listing.function[1].frame[3].file, "h.cu", "a new place without a call");
    module_close(&module);
}

/* What is not ASCII is written as octal digits. */
static void test_paths(void) {
    static const char *const paths[][2] = {{"/j\\303\\274rgen/k.cu", "/j\303\274rgen/k.cu"},
                                           {"/a\\30/\\381/\\318/\\", "/a\\30/\\381/\\318/\\"},
                                           {"0303", "0303"},
                                           {"\\803\\x03", "\\803\\x03"},
                                           {"\\3031", "\3031"}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char code[400];
        snprintf(code, sizeof code, KERNEL("k") "\t//## File \"%s\", line 1\n  /*0000*/ EXIT ;\n",
                 paths[i][0]);
        Module module = sample_module(code);
        is_text(module.listing.function[0].frame[0].file, paths[i][1], paths[i][0]);
        module_close(&module);
    }
}

static void test_numbers(void) {
    static const struct {
        const char *number;
        int line;
    } cases[] = {
        {"1", 1},  {"2147483646", 2147483646}, {"2147483647", 0}, {"2147483648", 0}, {"0", 0},
        {"-1", 0}, {"99999999999", 0},         {"x", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char code[400];
        snprintf(code, sizeof code,
                 KERNEL("k") "\t//## File \"k.cu\", line %s\n  /*0000*/ EXIT ;\n", cases[i].number);
        Module module = sample_module(code);
        is_int(module.listing.function[0].frame[0].line, cases[i].line, cases[i].number);
        module_close(&module);
    }
    Module module = sample_module(KERNEL("k") "\t//## File \"k.cu\"\n");
    is_int(module.listing.function[0].frame[0].line, 0, "a place without a line");
    module_close(&module);
    module = sample_module(KERNEL("k") "\t//## File \"\", line 7\n");
    is_int(module.listing.function[0].frame[0].line, 7, "a place without a file");
    module_close(&module);
    module = sample_module("\t.section\t.text.k\n"
                           "        .type           other,@function\n"
                           "  /*0000*/ RET ;\n");
    is_int(module.listing.function[0].body, 0, "a section that has nothing of its own");
    module_close(&module);
}

static void test_encodings(void) {
    Module module = sample_module(KERNEL("k") "  /*0000*/  MOV R1, R2 ;  /* 0x0000000200017202 */\n"
                                              "               /* 0x000e2200000a0a00 */\n"
                                              "               /* 0x0000000000000001 */\n"
                                              "  /*0010*/  EXIT ;\n"
                                              "  /*0020  EXIT ;\n"
                                              "  /*0020 */  EXIT ;\n"
                                              "  /**/  EXIT ;\n"
                                              "  /*0020*/  { EXIT ;\n"
                                              "  /*0030*/@P0\tEXIT;\n"
                                              "  /*4*/  @P1  MOV   R1, R2 ;\n"
                                              "  /*0050*/  NOP;  /* 0x0000000000007918 */\n"
                                              "  /*0060*/  @P0\n"
                                              "label:\n");
    const Function *function = &module.listing.function[0];
    is_int(function->instructions, 5, "five instructions");
    is_int(function->labels, 2, "a guard alone is none");
    is_int((long long)function->instruction[0].upper, 0x000e2200000a0a00, "the upper half");
    ok(function->instruction[0].encoded && !function->instruction[1].encoded, "of the first only");
    is_text(function->instruction[2].guard, "@P0", "a guard without a space before it");
    is_text(function->instruction[2].opcode, "EXIT", "and a tab behind it");
    is_int((long long)function->instruction[3].address, 4, "a short address");
    is_text(function->instruction[3].opcode, "MOV", "an opcode behind more than one space");
    is_text(function->instruction[3].operands, "R1, R2", "and its operands");
    is_text(function->instruction[4].operands, "", "an encoding is no operand");
    module_close(&module);
}

/* What a section says of itself and of the functions in it. */
static void test_sections(void) {
    Module module = sample_module("\t.other lost, @\"STO_CUDA_ENTRY\"\n"
                                  "        .type           lost,@function\n"
                                  "lost:\n"
                                  "\t.target \t sm_90a \t\n"
                                  "\t.target\n"
                                  "\t.section\t.text.first\n"
                                  "\t.other\t first, @\"STV_DEFAULT\"\n"
                                  "  /*0000*/  MOV R1, R2 ;\n"
                                  "        .type           table,@object\n"
                                  "  /*0010*/  EXIT ;\n"
                                  "        .type           one,@function\n"
                                  "one:\n"
                                  "  /*0020*/  RET ;\n"
                                  "        .type           two,@function\n"
                                  "two:  \n"
                                  "  three:\n"
                                  "  /*0030*/  RET ;\n"
                                  "\t.section\t.nv.info,\"\",@\"SHT_CUDA_INFO\"\n"
                                  "\t.section\t.textual,\"\",@progbits\n"
                                  "none\n"
                                  "no: label\n"
                                  "one:two:\n");
    const Function *function = module.listing.function;
    is_text(module.listing.target, "", "the last target that is named");
    is_int(module.listing.functions, 1, "other sections are no functions");
    is_text(function->name, "first", "its name without a comma");
    ok(!function->kernel, "no kernel");
    is_int(function->instructions, 4, "all instructions");
    is_int(function->body, 2, "an object is no function, and the first one ends the body");
    is_int(function->labels, 3, "its labels");
    is_int(listing_find_label(function, "one:two", 7), 4, "one behind the last instruction");
    is_int(listing_find_label(function, "two", 3), 3, "one with blanks behind it");
    is_int(listing_find_label(function, "one", 3), 2, "another one");
    is_int(listing_find_label(function, "three", 5), -1, "what is set in is none");
    module_close(&module);
}

int main(void) {
    test_chains();
    test_paths();
    test_numbers();
    test_encodings();
    test_sections();
    Module module = sample_module(text);
    test_functions(&module.listing);
    test_instructions(module.listing.function[0].instruction);
    test_lines(&module.listing.function[0]);
    module_close(&module);
    test_broken();
    return done_testing();
}
