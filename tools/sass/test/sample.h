/* A module from the text of a disassembly, for tests that need no disassembler. */
#ifndef SASS_SAMPLE_H
#define SASS_SAMPLE_H

#include "analysis/cubin.h"
#include "list.h"

#include <ctype.h>

/* The head of a kernel's section, as nvdisasm writes it. */
#define KERNEL(name)                                \
    "\t.section\t.text." name ",\"ax\",@progbits\n" \
    "        .type           " name ",@function\n"  \
    "        .other          " name ",@\"STO_CUDA_ENTRY STV_DEFAULT\"\n" name ":\n"

/* A module of what nvdisasm might have written. */
static inline Module sample_module(const char *text) {
    Module module = {.variant = "d128_fp16_full", .stage = "sample"};
    module.text = list_zeroed(strlen(text) + 1, 1);
    strcpy(module.text, text);
    module.listing = listing_parse(module.text);
    snprintf(module.arch, sizeof module.arch, "%s", module.listing.target);
    for (int f = 0; f < module.listing.functions; f++) {
        if (!module.listing.function[f].kernel) continue;
        Kernel *kernel = LIST_ADD(module.kernel, module.kernels);
        kernel->function = &module.listing.function[f];
        kernel->flow = flow_analyse(kernel->function);
        kernel->registers = 32;
        kernel->static_shared = 1000;
        kernel->dynamic_shared = 24;
        snprintf(kernel->name, sizeof kernel->name, "%s", kernel->function->name);
    }
    return module;
}

/* A module for sm_80 of instructions, one per line; other lines (labels, directives, KERNEL) stand
 * as they are. */
static inline Module sample_code(const char *code) {
    char *text = list_zeroed(16 * strlen(code) + 1024, 1), *out = text;
    out += sprintf(out, "\t.target\tsm_80\n");
    while (*code) {
        const int length = (int)strcspn(code, "\n");
        const bool instruction = isupper((unsigned char)*code) || *code == '@';
        out += sprintf(out, instruction ? "  /*0010*/  %.*s ;\n" : "%.*s\n", length, code);
        code += length + (code[length] == '\n');
    }
    Module module = sample_module(text);
    free(text);
    return module;
}

#endif
