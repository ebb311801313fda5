/* What changed between the machine code of two stages. */
#ifndef SASS_DELTA_H
#define SASS_DELTA_H

#include "analysis/expect.h"
#include "analysis/tally.h"

/* An opcode or a class in both. */
typedef struct Delta {
    const char *name;
    OpcodeClass kind;
    Count from, to;
} Delta;

typedef struct Deltas {
    Counts from, to;
    Delta *opcode; /* those that changed first, by how much the main loop and then all changed */
    int opcodes, changed;
    Delta kind[CLASSES];
} Deltas;

Deltas deltas_of(const Module *from, const Module *to);
void deltas_free(Deltas *deltas);

/* An assertion of the later stage's signature, evaluated for both. */
typedef struct Prediction {
    int line; /* of the signature */
    char text[256];
    bool known[2]; /* [from, to]: it makes sense there */
    bool holds[2];
    double found[2];
} Prediction;

/* The assertions of the signature in stages/<to>/expect.sass; *count 0 if there is none. To be
 * freed. */
Prediction *predictions_of(const char *stages, const Module *from, const Module *to, int *count);

#endif
