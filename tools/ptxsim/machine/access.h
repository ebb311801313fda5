/* One memory request of a warp: addresses checked and counted, and turned into host pointers. */
#ifndef PTXSIM_ACCESS_H
#define PTXSIM_ACCESS_H

#include "machine/block.h"

typedef enum AccessKind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC } AccessKind;

/* Where the lanes' bytes are. If a load has the pattern of its operation's last one, this is the
 * pattern, and of at[] there is only lane 0. */
typedef struct Access {
    uint8_t *at[LANES]; /* lanes that do not execute point to some lane's bytes that do */
    const Pattern *pattern;
} Access;

/* The request of `bytes` a lane at the addresses in operand `r` plus op->offset, in op->space.
 * Faults if a lane's address is outside, misaligned, or in shared memory that was never written. */
void access_lanes(Warp *warp, const Op *op, int r, unsigned bytes, AccessKind kind, Access *access);

/* The parts of it, for instructions that address memory in their own way. `mask` is of lanes. */

/* Faults if the lanes' shared memory is outside or misaligned; returns the wavefronts. `matrices`
 * is the number of 8x8 matrices that ldmatrix or stmatrix move, 0 for other instructions. */
Units shared_request(Warp *warp, const Op *op, const uint32_t address[LANES], uint32_t mask,
                     unsigned bytes, int matrices);

/* Faults if shared memory address .. address + bytes is outside; returns its host bytes. */
uint8_t *shared_range(Warp *warp, int lane, uint32_t address, uint32_t bytes, const char *what);

/* Whether all of the addresses are inside and their bytes (as many as an access has) written. */
bool shared_readable(const Block *block, const uint32_t address[], unsigned count, unsigned bytes);

/* Faults if shared memory was never written. */
void shared_require_written(Warp *warp, int lane, uint32_t address, uint32_t bytes);

/* Faults if the lanes' global memory is outside or misaligned; counts the request and its sectors,
 * and marks them as loaded or stored. Of the `bytes` lane l reads the first read[l] alone, which
 * must be inside; NULL: all. */
void global_request(Warp *warp, const Op *op, const uint64_t address[LANES], uint32_t mask,
                    unsigned bytes, const uint8_t *read, AccessKind kind);

/* A lane's value does not stay, for another lane of the same store leaves a different one there:
 * which of them does is undefined (CUDA C++ Programming Guide, "SIMT Architecture"). */
_Noreturn void fault_lost(Warp *warp, unsigned lane);

/* Faults if global memory address .. address + bytes is outside every allocation; marks it. */
void global_range(Warp *warp, int lane, uint64_t address, uint64_t bytes, AccessKind kind);

/* The warp uses global memory, for grid_race, and what that orders. An atomic says both itself, and
 * whether it writes; other requests and ranges do not leave it to others. Only while block->uses
 * are wanted. */
void global_use(const Warp *warp, const Op *op, uint64_t address, uint64_t bytes, AccessKind kind);
void global_order(const Warp *warp, const Op *op, AccessKind kind);

/* Where lane l's bytes are for the race detector: a shared address, or a global one. */
uint64_t access_place(const Warp *warp, const Op *op, int r, unsigned lane);

/* The shared address that a 4- or 8-byte address operand means in a lane: a shared address, or a
 * generic one in the shared window. Faults if it is neither. */
uint32_t shared_address(Warp *warp, const Op *op, int r, unsigned lane, int32_t offset);

/* Those of the lanes of `mask`, with op->offset; the others are left alone. */
void shared_addresses(Warp *warp, const Op *op, int r, uint32_t mask, uint32_t address[LANES]);

/* Whether a variable in constant memory is at the address. */
bool in_constant(const Block *block, uint64_t address);

#endif
