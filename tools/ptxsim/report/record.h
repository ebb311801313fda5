/* One block as it ran: every step of every warp, its memory requests, what was in flight and who
 * waited for whom. README.md in this folder says what each key of its JSON means.
 *
 * A step is one instruction of one warp, numbered from 0 in each warp. Time is no nanoseconds: an
 * instruction takes 1, and a warp that waits goes on no earlier than what it waited for has
 * happened. So two steps that nothing orders may have any times.
 */
#ifndef PTXSIM_RECORD_H
#define PTXSIM_RECORD_H

#include <stdio.h>

#include "decode/counts.h"
#include "machine/observe.h"
#include "ops/mma.h"
#include "report/footprint.h"

enum { NO_STEP = UINT32_MAX };

/* A list that grows: items, how many, room for how many. */
#define LIST(type) \
    struct {       \
        type *at;  \
        int count; \
        int room;  \
    }
#define LIST_ADD(list)                                                                 \
    ((list).at = queue_room((list).at, (list).count, &(list).room, sizeof *(list).at), \
     memset(&(list).at[(list).count], 0, sizeof *(list).at), &(list).at[(list).count++])

/* Neighbouring instructions, executed one after another by the same lanes. */
typedef struct Run {
    int first; /* index into Kernel.op */
    uint32_t steps, mask;
    uint64_t time; /* of the first step */
} Run;

/* A footprint at a place: the address of its first lane (global: in the tensor). */
typedef struct Request {
    uint32_t step;
    int footprint;
    int64_t base;
} Request;

enum { QUEUES = 3 }; /* RaceQueue */

typedef struct WarpRecord {
    LIST(Run) run;
    LIST(Request) request;
    LIST(uint32_t) divergent; /* steps */
    uint32_t steps;
    uint64_t time;           /* of the next step */
    uint32_t groups[QUEUES]; /* closed so far */
    int open[QUEUES];        /* the flight that the next operation joins, -1: a new one */
} WarpRecord;

typedef enum FlightKind { FLIGHT_COPY, FLIGHT_STORE, FLIGHT_WGMMA, FLIGHT_LOAD } FlightKind;

/* What runs beside the warps, from its issue to the wait that ends it: a group of cp.async, of bulk
 * stores or of wgmma, or one bulk load. Steps are of the warp that issued it. */
typedef struct Flight {
    FlightKind kind;
    int warp;
    uint32_t group;
    uint32_t first, last; /* steps that issued it */
    uint32_t commit, wait;
    uint32_t operations;
    uint64_t bytes;
    int phase; /* of a load: the mbarrier's phase that it completes; -1 */
} Flight;

/* One bulk copy. */
typedef struct Transfer {
    int flight, warp;
    uint32_t step;
    bool stores;
    uint32_t shared, bytes;
    int tensor;   /* -1: of no parameter */
    int64_t base; /* of the first byte, in the tensor */
    int layout;   /* of the box in shared memory, -1: byte after byte */
    uint32_t rank;
    int32_t start[TENSORMAP_MAX_RANK];
    Units units;
} Transfer;

/* One wgmma of one warp. */
typedef struct Product {
    int flight, warp;
    uint32_t step;
    uint64_t a_descriptor, b_descriptor; /* a_descriptor 0: A comes from registers */
    int a, b;                            /* layouts of the operands; a -1 */
    uint32_t n;
    bool accumulate, a_transposed, b_transposed;
} Product;

/* Where the 16-byte chunks of a tile are, from `base` on: of a wgmma's operand, in the order of
 * wgmma_chunks; of a tensor map's box, by the shared address, the place in global memory from the
 * box's first byte on, or NO_CHUNK outside the tensor. */
#define NO_CHUNK INT64_MIN
enum { LAYOUT_KEY = 3 + TENSORMAP_MAX_RANK };
typedef struct Layout {
    uint64_t key[LAYOUT_KEY]; /* what tells one from another */
    unsigned chunks;
    int64_t *offset; /* [chunks] */
} Layout;

typedef struct Arrival {
    int warp;
    uint32_t step, count;
} Arrival;

/* A phase of an mbarrier, or one use of a barrier (then `where` is its number). */
typedef struct Phase {
    uint32_t where, number;
    uint32_t expected; /* arrivals; of a barrier 0 */
    bool complete;
    uint64_t time; /* of the last arrival so far */
    LIST(Arrival) arrival;
    LIST(Arrival) wait;
} Phase;

/* What one of the kernel's parameters points to, itself or as a tensor map. */
typedef struct Tensor {
    int parameter;
    uint64_t pointer;    /* offsets are from here */
    uint64_t start, end; /* of the allocation around it */
} Tensor;

typedef struct RecordedFault {
    bool happened;
    char *text;
    int warp, lane; /* -1: none in particular */
    uint32_t step;
    bool race;
    RaceReport sides;
    uint32_t earlier_step, later_step;
} RecordedFault;

struct Record {
    const Kernel *kernel;
    uint64_t index; /* of the block in the grid */
    uint32_t grid[3], threads[3], block[3];
    uint32_t shared_bytes;
    uint64_t cut; /* steps that were left out: cut.h */
    bool late;
    int warps;
    WarpRecord *warp;
    Footprints footprints;
    LIST(Flight) flight;
    LIST(Transfer) transfer;
    LIST(Product) product;
    LIST(Layout) layout;
    LIST(Phase) phase;   /* of mbarriers */
    LIST(Phase) barrier; /* uses of barriers */
    LIST(Tensor) tensor;
    LIST(const Variable *) variable; /* in shared memory */
    InstructionCount *count;         /* [kernel->ops], of this block */
    RecordedFault fault;
};

/* An empty record of one block of a kernel. */
Record *record_new(const Kernel *kernel, uint64_t index, const uint32_t grid[3],
                   const uint32_t threads[3]);
void record_free(Record *record);

/* Forgets everything, and begins with this block; then it is over: takes its counters. */
void record_begin(Record *record, const Block *block);
void record_end(Record *record, const Block *block);

/* The tensor that holds an address, -1: none; *offset is into it. */
int record_tensor(const Record *record, uint64_t address, int64_t *offset);

/* The step that the warp is in, or did last. */
static inline uint32_t record_now(const Record *record, int warp) {
    return record->warp[warp].steps ? record->warp[warp].steps - 1 : 0;
}

/* The kernel's parameters that are pointers or tensor maps, and its variables in shared memory. */
void record_find_tensors(Record *record);
void record_find_variables(Record *record);

/* Layouts of a wgmma operand and of a tensor map's box, as indices; of a copy without a tensor map
 * -1. */
int record_operand(Record *record, const WgmmaTile *tile);
int record_box(Record *record, const Bulk *bulk, uint64_t first);

/* The record as a JSON object. */
void record_json(const Record *record, FILE *out);

#endif
