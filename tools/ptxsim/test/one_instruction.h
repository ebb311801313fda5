/* Asks the decoder of one instruction. For the tests of what is refused. */
#ifndef ONE_INSTRUCTION_H
#define ONE_INSTRUCTION_H

#include "test/run_ptx.h"

/* Whether a kernel of that instruction is decoded; *error, of `size` bytes, says why not. It sees
 * addresses in p, q and w, numbers in a to f, h and i, predicates in g and l, and shared memory in
 * `room`. */
static bool decodes(const char *instruction, char *error, size_t size) {
    char text[2500];
    snprintf(text, sizeof text,
             PTX_HEAD
             ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
             ".visible .entry k(.param .u64 data, .param .align 16 .b8 block[16])\n{\n"
             ".reg .b64 p, q, w; .reg .b32 a, b, c, d, e, f, z<4>; .reg .b16 h, i; "
             ".reg .pred g, l; .reg .b128 x; .shared .align 16 .b8 room[4096];\n"
             "ld.param.u64 p, [data]; mov.u64 q, p; mov.u64 w, p; mov.u32 a, 0; mov.u32 b, 0;\n"
             "mov.u32 c, 0; mov.u32 e, 0; mov.u32 f, 0; mov.u32 d, 0; mov.u16 h, 0; mov.u16 i, 0;\n"
             "setp.eq.u32 g, a, b; setp.eq.u32 l, a, b;\n%s;\nret;\n}\n",
             instruction);
    error[0] = '\0';
    Module *module = module_load(text, strlen(text), error, size);
    const bool is = module && module_kernel(module, "k", error, size);
    module_free(module);
    return is;
}

#endif
