/* Signatures: what the machine code of a stage must look like, in stages/NN_name/expect.sass.
 *
 *     # A comment. An assertion's is on its own line, or else directly above it.
 *     kernels == 1                      a quantity: kernels registers stack shared_bytes
 *     shared_load_units <= 1.05 * shared_load_ideal_units
 *                                       counters of the simulator on a small problem, named as in
 *                                       FORMAT=json: units are sectors or wavefronts. A line is
 *                                       left out where nobody has asked the simulator
 *     LDSM > 0                          instructions with this opcode, in all kernels together
 *     LDS.128 > 0                       and this modifier, among others
 *     DEPBAR.0x1 == 1                   and this number as the last operand
 *     loop LDS == 0                     in one region: prologue loop epilogue elsewhere called
 *     loop shared <= 4                  of a class: tensor fma mufu compare integer move lanes
 *                                       shared global async local barrier control other; or all;
 *                                       spills is another name of local
 *     loop FFMA >= 4 * loop LDS         + - * / and parentheses
 *     scores = 64                       a constant; d is one already, the head size
 *     d64 causal: scores = 32           only for these variants: d64 d128 fp16 bf16 full causal
 *     sm_90a: HGMMA > 0                 only for this architecture
 *     softmax: loop MUFU.EX2 > 0        only in the kernel of this name
 *     loop MUFU.EX2 before last WARPGROUP.DEPBAR >= 48
 *                                       in the order of addresses; also: after, first
 *     loop HMMA split by MUFU.EX2 >= 8  how often an EX2 stands between one HMMA and the next
 *
 * `loop` is the main loop (flow.h) of each kernel. Instructions under a guard count, except @!PT.
 */
#ifndef SASS_EXPECT_H
#define SASS_EXPECT_H

#include "analysis/cubin.h"

enum { PATTERN_SIZE = 128, MAX_SELECTIONS = 8, MAX_CONSTANTS = 32 };

typedef enum Order { ORDER_ANY, ORDER_BEFORE, ORDER_AFTER, ORDER_SPLIT } Order;

/* Something that an assertion counts. */
typedef struct Selection {
    char pattern[PATTERN_SIZE]; /* an opcode, a class, or "all" */
    int region;                 /* a Region, or -1: everywhere */
    int kernel;                 /* index, or -1: all */
    Order order;
    bool last;                /* of `other`: the last, not the first */
    char other[PATTERN_SIZE]; /* what `order` compares with */
    int count;
} Selection;

typedef struct Assertion {
    int line;
    const char *text;      /* as in the signature, but for the comment */
    int comment, comments; /* the first of its comments, and how many */
    bool holds;
    double found, expected; /* the two sides */
    char relation[3];
    Selection selection[MAX_SELECTIONS];
    int selections;
} Assertion;

/* A signature, evaluated for one module. */
typedef struct Signature {
    Assertion *assertion; /* those that are about this module */
    int assertions;
    int holding;          /* how many of them hold */
    const char **comment; /* of all lines, without the # */
    int comments;
} Signature;

/* Evaluates the text of a signature, which is changed and must outlive it; `path` names it in
 * messages. A line that makes no sense: false, with STATUS_USAGE and the place. */
bool signature_read(char *text, const char *path, const Module *module, Signature *signature,
                    Error *error);

/* Whether the selection counts instruction i of kernel k. */
bool selection_has(const Selection *selection, const Module *module, int k, int i);

void signature_free(Signature *signature);

#endif
