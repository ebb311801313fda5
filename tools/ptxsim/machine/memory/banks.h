/* What one memory request of a warp costs: wavefronts in shared memory, sectors in global memory.
 *
 * Shared memory has 32 banks of 4 bytes; address a lies in bank (a / 4) mod 32. One wavefront reads
 * or writes one word of every bank. A request of up to 4 bytes per lane is one group of 32 lanes,
 * of 8 bytes two groups of 16, of 16 bytes four groups of 8. A group needs as many wavefronts as
 * the most distinct words it wants from one bank; lanes that want the same word share it. If the
 * lanes of all pairs (l, l^1), or of all pairs (l, l^2), want the same address, two groups of an 8-
 * or 16-byte request go out together. Global memory moves 32-byte sectors: a request costs the
 * distinct sectors its lanes touch. Both rules give the numbers of Nsight Compute on an H200.
 *
 * Lanes of an atomic share nothing: a group needs as many wavefronts as the most of its lanes want
 * one bank, compare-and-swap twice as many. That, too, is what an H200 counts, for 4 bytes; ptxas
 * makes a loop of an addition of floats, and one lane's atomic of an addition to an address that
 * it knows to be the same for all lanes (notes/results/h200.md, *Atomics in shared memory*).
 */
#ifndef PTXSIM_BANKS_H
#define PTXSIM_BANKS_H

#include <stdint.h>

enum { BANK_COUNT = 32, BANK_BYTES = 4, SECTOR_BYTES = 32 };

/* The cost of one request, and the least that requests for the same bytes could cost. */
typedef struct Units {
    uint32_t actual;
    uint32_t ideal; /* 1 <= ideal <= actual, or both 0 if no lane takes part */
} Units;

/* Wavefronts of a load or store of `bytes` (1, 2, 4, 8 or 16) a lane at shared-memory addresses
 * address[0..31]; bit l of `mask` says whether lane l takes part. Addresses are multiples of
 * `bytes`; those of lanes that do not take part are ignored. */
Units shared_wavefronts(const uint32_t address[32], uint32_t mask, unsigned bytes);

/* Wavefronts of an atomic, of `bytes` 4 or 8. A lane takes `alone` wavefronts of its bank: 1, or 2
 * for compare-and-swap. The ideal is that of lanes that meet in no bank. */
Units atomic_wavefronts(const uint32_t address[32], uint32_t mask, unsigned bytes, unsigned alone);

/* Wavefronts of ldmatrix or stmatrix: row[8 * j + r] is the address of row r, 16 bytes, of matrix
 * j; `matrices` is 1, 2 or 4. Each matrix is one phase, ideally one wavefront. */
Units matrix_wavefronts(const uint32_t row[], unsigned matrices);

/* The wavefront, counted from 0, that serves each lane of such a request (`matrices` 0; `alone` 0
 * for loads and stores) or each row of ldmatrix or stmatrix; of two that serve a lane, the first.
 * The first wavefront of a group takes the first word of every bank in the order of the lanes, the
 * second one the next, and so on: as many as the functions above say. Which of a bank's words the
 * hardware takes first is not documented. */
void shared_placement(const uint32_t address[32], uint32_t mask, unsigned bytes, unsigned matrices,
                      unsigned alone, uint8_t wavefront[32]);

/* Sectors of a load or store of `bytes` (1, 2, 4, 8 or 16) a lane at global addresses
 * address[0..31], multiples of `bytes`; the ideal is the distinct bytes packed together. */
Units global_sectors(const uint64_t address[32], uint32_t mask, unsigned bytes);

#endif
