/* Which registers an arithmetic instruction reads. */
#ifndef SASS_READS_H
#define SASS_READS_H

#include "analysis/listing.h"

enum { BANKS = 2, SLOTS = 3, NO_REGISTER = -1 };

/* The vector registers among the sources of an instruction. */
typedef struct Operands {
    int source[SLOTS]; /* the register in each place, or NO_REGISTER: RZ, a constant, none */
    bool kept[SLOTS];  /* marked .reuse: it stays in the cache of its place */
} Operands;

/* Reads the operands behind the first, the result; of an instruction with a predicate as its result
 * all registers are sources. Of 64-bit operands the first half counts. */
Operands operands_of(const Instruction *instruction);

/* How many registers an instruction moves through the ports that mma.sync reads by: a load those
 * that it writes, any other those that it reads. Of 64-bit operands the first half counts. */
int ports_of(const Instruction *instruction);

#endif
