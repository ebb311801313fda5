/* The problems that the command `bench` goes through: REGIME=..., a short list for each way in
 * which attention is used.
 *
 *   square   as the FlashAttention papers measure: d 128 and 64, full and causal, lengths 512 to
 *            16384 (or SEQS; 4096 and 16384 if INIT=all), 16,384 tokens in all, so the batch is
 *            16384 / seq, and a hidden size of 2048, so there are 2048 / d heads
 *   gqa      long sequences whose query heads share KV heads, as in Llama 3
 *   ragged   lengths that are no multiple of a tile, and lengths that differ
 *   prefill  one prompt, causal: few heads, or a number of them that the SMs cannot share evenly
 *   small    one short sequence and 8 heads: less work than the GPU has room for
 *   chunk    some dozens or hundreds of queries that continue a long sequence
 *   decode   one query for each sequence, or four: K and V are read once, so HBM is the limit
 *   random   shapes drawn with SEED, of all these kinds
 *   all      all of them but random
 */
#ifndef REGIMES_H
#define REGIMES_H

#include "cli/options.h"

typedef enum Regime {
    REGIME_SQUARE,
    REGIME_GQA,
    REGIME_RAGGED,
    REGIME_PREFILL,
    REGIME_SMALL,
    REGIME_CHUNK,
    REGIME_DECODE,
    REGIME_RANDOM
} Regime;
enum { REGIMES = REGIME_RANDOM + 1, REGIME_ALL = REGIMES, MAX_CELLS = 512 };

typedef struct Cell {
    Regime regime;
    Problem problem;
} Cell;

/* "square", "gqa", ... */
const char *regime_name(Regime regime);

/* The cells that REGIME, D, CAUSAL, DTYPE, SEQS and SEED ask for: their number, or 0 with
 * STATUS_USAGE and a sentence. */
int regimes_cells(const Options *options, Cell cells[MAX_CELLS], Error *error);

#endif
