/* How asynchronous copies take effect: bytes that arrive, and the mbarriers that learn of it. */
#ifndef PTXSIM_LANDING_H
#define PTXSIM_LANDING_H

#include "machine/async.h"

/* The copies of these lanes, as far as they are pending, land; those that have landed in all lanes
 * leave the queue. */
void copy_land(Warp *warp, Copy *copy, uint32_t lanes);
void copy_drop_landed(CopyQueue *queue);

/* cp.async.mbarrier.arrive records: lands the first one in flight and all copies before it. False
 * if there is none. */
bool copy_advance(Warp *warp);

/* Moves the bytes of a bulk copy: to shared memory, or from it. */
void bulk_move(const Bulk *bulk, bool loads);

/* A bulk store reads its bytes, and writes them later: shared memory may change then. */
void bulk_read(Bulk *store);

/* A bulk store that has not written its bytes does so, and is over. */
void bulk_write(const Bulk *store);

/* Lands the bulk load at index i of the block's. */
void bulk_land(Block *block, int i);

/* No warp can go on: lands one thing that a warp waits for. False if there is nothing. */
bool async_advance(Block *block);

/* The block has ended: faults if a bulk copy is still in flight, or a warpgroup was not whole. */
void async_end(Block *block);

#endif
