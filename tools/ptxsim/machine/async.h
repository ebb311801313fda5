/* Operations that end some time after their instruction, in queues: cp.async, bulk copies, wgmma.
 *
 * SIM_ASYNC=early lets each take effect at once, =late as late as the program allows: when somebody
 * waits for it. A program that is right gives the same result either way; a missing wait shows in
 * the late order, a missing barrier before memory is overwritten in the early one.
 */
#ifndef PTXSIM_ASYNC_H
#define PTXSIM_ASYNC_H

#include "machine/block.h"
#include "machine/tensormap.h"

/* One cp.async of a warp, or (bytes 0) one cp.async.mbarrier.arrive. */
typedef struct Copy {
    uint32_t pending; /* lanes whose copy has not landed */
    unsigned bytes;   /* written a lane; 0: arrive at the mbarriers in `to` */
    uint32_t to[LANES];
    uint64_t from[LANES];
    uint8_t read[LANES];   /* bytes read; the rest is zeros */
    uint32_t group[LANES]; /* the number of the lane's group that it belongs to */
} Copy;

typedef struct CopyQueue {
    Copy *copy; /* the oldest first */
    int count, capacity;
    uint32_t groups[LANES]; /* committed so far */
} CopyQueue;

/* A bulk copy, of a tensor map's box or (map.rank 0) of plain bytes. */
typedef struct Bulk {
    const Op *op;
    Warp *warp;
    unsigned lane;
    TensorMap map;
    int32_t start[TENSORMAP_MAX_RANK];
    uint64_t global; /* of a plain copy */
    uint32_t shared, bytes;
    uint32_t mbarrier; /* of a load */
    uint32_t group;    /* of a store */
    uint8_t *source;   /* of a store that has read its bytes and not yet written them: these */
} Bulk;

typedef struct BulkLoads {
    Bulk *bulk; /* the oldest first */
    int count, capacity;
} BulkLoads;

typedef struct BulkQueue {
    Bulk *bulk;
    int count, capacity;
    uint32_t groups[LANES];
} BulkQueue;

enum { WARPS_A_GROUP = 4, DESCRIPTORS_KEPT = 32, A_REGISTERS = 4 };

/* One wgmma of a warp whose result has not been waited for. */
typedef struct Wgmma {
    const Op *op;
    uint64_t a_descriptor, b_descriptor;
    uint32_t a[A_REGISTERS][LANES]; /* if A comes from registers */
    bool accumulate;
    uint32_t group;
} Wgmma;

typedef struct WgmmaQueue {
    Wgmma *wgmma;
    int count, capacity;
    uint32_t groups;
    uint32_t issued;                          /* in this block */
    const Op *last;                           /* of those */
    uint64_t descriptor[DESCRIPTORS_KEPT][2]; /* of the last ones, of A and B */
    bool fenced;                              /* there was a wgmma.fence */
    uint8_t *in_flight;                       /* flags for each 64 bytes of the register file */
} WgmmaQueue;

/* Makes room for one more element of `bytes` at the end of an array. */
void *queue_room(void *array, int count, int *capacity, size_t bytes);

/* The same for a queue. Faults if it has as many as a program may have in flight. */
void *flight_room(Warp *warp, void *array, int count, int *capacity, size_t bytes);

/* Memory of a warp's queues, for the launch. False: the host is short of memory. */
bool async_new(Warp *warp);
void async_free(Warp *warp);

/* A new block begins: nothing is in flight. The numbers of groups go on. */
void async_begin(Block *block);

/* The block has ended: faults if a wgmma or a setmaxnreg, which are a whole warpgroup's, was
 * executed by some of its warps alone, or if there are not the registers that setmaxnreg asked
 * for, because the other warps keep theirs. */
void warpgroups_end(Block *block);

/* Notes whether a wgmma is in flight, with its sums and its `a_registers`, 4 or none; and faults if
 * the operation touches a sum or writes A of one that was not waited for. */
void wgmma_mark(Warp *warp, const Op *op, int a_registers, bool in_flight);
void wgmma_check(Warp *warp, const Op *op);

#endif
