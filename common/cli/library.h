/* The harness's inputs and truth as a library, build/libtruth.so, for reference/peers.py: so
 * PyTorch is timed on the very Q, K and V of `attention bench`, and measured against the same fp64
 * oracle on the same rows. The functions take and return plain C types; `reason` gets one sentence.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "attention.h"

#include <stdbool.h>
#include <stdint.h>

enum { LIBRARY_REASON = 1024 }; /* bytes of a reason */

/* One input of a bench. */
typedef struct LibraryInput {
    int init;
    double strength;  /* 0: it takes none */
    const char *name; /* of the init */
} LibraryInput;

/* One cell of a bench. */
typedef struct LibraryCell {
    AttentionProblem shape;
    int d;
    bool causal;
    const char *regime;
    double flops, bytes; /* as report.h counts them */
} LibraryCell;

/* The cells that the arguments "REGIME=...", "D=...", ... ask a bench for, at most `most`: their
 * number, or 0 and the reason. */
int library_cells(int count, char *const arguments[], int most, LibraryCell cells[],
                  char reason[LIBRARY_REASON]);

/* The inputs that the arguments "INIT=...", "STRENGTH=..." ask a bench for, at most `most`: their
 * number, or 0 and the reason. */
int library_inputs(int count, char *const arguments[], int most, LibraryInput inputs[],
                   char reason[LIBRARY_REASON]);

/* Inputs, rows and truth of a problem, to be given to library_close; NULL and the reason if there
 * is no memory for them. */
void *library_open(const AttentionProblem *shape, int d, bool bf16, bool causal,
                   const LibraryInput *input, uint64_t seed, char reason[LIBRARY_REASON]);

/* Copies Q, K and V out, shapes and types as in attention.h. */
void library_copy(const void *library, uint16_t *Q, uint16_t *K, uint16_t *V);

/* How many rows are compared with the truth. */
size_t library_rows(const void *library);

/* The RMS error of O [batch, heads, seq_q, d] over these rows, as in check.h. */
double library_rms_error(const void *library, const uint16_t *O);

void library_close(void *library);

#endif
