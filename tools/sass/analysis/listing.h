/* A disassembly as data: functions, their instructions, labels and source lines. */
#ifndef SASS_LISTING_H
#define SASS_LISTING_H

#include <stdbool.h>
#include <stdint.h>

/* A place in the source. */
typedef struct Frame {
    const char *file;
    int line;
} Frame;

typedef struct Instruction {
    unsigned long address;
    const char *guard;    /* "@!P0"; "" if it always executes */
    const char *opcode;   /* with modifiers: "LDS.U.128" */
    const char *operands; /* "R4, [R2+0x10]"; "" if there are none */
    int frame, frames;    /* Function.frame[frame ...]: the line, then the calls it is inlined in */
    int ptx_line;         /* in the PTX that it was compiled from; 0 if not known */
    bool encoded;         /* the listing has the encoding */
    uint64_t upper;       /* the upper half of it: control.h */
} Instruction;

typedef struct Label {
    const char *name;
    int at; /* the index of the instruction that follows */
} Label;

typedef struct Function {
    const char *name;         /* mangled */
    bool kernel;              /* false: a function that kernels call */
    Instruction *instruction; /* in the order of addresses */
    int instructions;
    Label *label;
    int labels;
    Frame *frame;
    int frames;
    int body; /* instructions of its own; functions that it calls may stand after them */
} Function;

typedef struct Listing {
    const char *target; /* "sm_80"; "" if the text does not say */
    Function *function;
    int functions;
} Listing;

/* Reads what `nvdisasm -c`, with or without -gi, -gp and -hex, wrote. `text` is changed, and the
 * listing points into it. Lines that are not understood are passed over: an instruction has an
 * address in a comment and at least an opcode, whichever that is. */
Listing listing_parse(char *text);

void listing_free(Listing *listing);

/* The index of the instruction behind a label, or -1. `length` characters of `name` count. */
int listing_find_label(const Function *function, const char *name, int length);

#endif
