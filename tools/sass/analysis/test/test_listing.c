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

int main(void) {
    Module module = sample_module(text);
    test_functions(&module.listing);
    test_instructions(module.listing.function[0].instruction);
    test_lines(&module.listing.function[0]);
    module_close(&module);
    test_broken();
    return done_testing();
}
