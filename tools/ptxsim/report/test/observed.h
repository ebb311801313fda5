/* A record of warps that do what a test says, for the tests of what it keeps. */
#ifndef OBSERVED_H
#define OBSERVED_H

#include "report/record.h"

enum { WARPS = 3 };

static Kernel kernel;
static PtxFunction function;
static Settings settings;
static Block block = {.kernel = &kernel, .settings = &settings, .warps = WARPS};
static Warp warps[WARPS];

static Record *begin(void) {
    static const uint32_t one[] = {1, 1, 1};
    static InstructionCount none;
    kernel.function = &function;
    block.count = &none;
    Record *record = record_new(&kernel, 0, one, one);
    record_begin(record, &block);
    for (int w = 0; w < WARPS; w++) warps[w] = (Warp){.mask = UINT32_MAX, .index = w};
    return record;
}

/* Warp `w` executes number `index`, an operation of that class. */
static void step(Record *record, int w, int index, InstructionClass class) {
    static Op op[100];
    op[index].index = index, op[index].class = (uint8_t) class;
    warps[w].op = &op[index];
    observe_step(record, &warps[w], &op[index]);
}

#endif
