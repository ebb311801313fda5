/* The mbarrier object: PTX ISA, "Parallel Synchronization and Communication: mbarrier".
 *
 * A phase completes when its pending arrivals and its transaction bytes (tx-count) are both zero;
 * then the next phase begins with the full arrival count. The object is one 64-bit word of shared
 * memory, in a packing of our own (the hardware's is opaque), so a program may move it about as
 * bytes. A word that no mbarrier_init has written is told apart and reported.
 */
#ifndef PTXSIM_MBARRIER_H
#define PTXSIM_MBARRIER_H

#include <stdbool.h>
#include <stdint.h>

enum { MBARRIER_MAX_COUNT = (1 << 20) - 1 }; /* of arrivals, and of |tx-count| in bytes */

/* What mbarrier.inval leaves, where PTX leaves anything. */
static const uint64_t MBARRIER_INVALID = 0xbfffffffffffffff;

typedef enum MbarrierStatus {
    MBARRIER_OK,
    MBARRIER_NOT_INITIALISED,
    MBARRIER_INVALIDATED,
    MBARRIER_BAD_COUNT, /* an initial count outside 1 .. 2^20 - 1, or an arrival of 0 */
    MBARRIER_TOO_MANY,  /* more arrivals than the phase still expects */
    MBARRIER_TX_OUT_OF_RANGE,
} MbarrierStatus;

typedef struct Mbarrier {
    bool odd;          /* parity of the phase in progress: false for the first phase */
    uint32_t expected; /* arrivals a phase waits for */
    uint32_t pending;  /* arrivals still missing in this phase */
    int32_t tx;        /* bytes expected and not yet copied; below 0 if copies came first */
} Mbarrier;

/* mbarrier.init: begins phase 0, which waits for `count` arrivals. */
MbarrierStatus mbarrier_init(uint64_t *word, uint32_t count);

/* mbarrier.arrive with `count` arrivals; *completed says whether the phase completed by it. */
MbarrierStatus mbarrier_arrive(uint64_t *word, uint32_t count, bool *completed);

/* mbarrier.arrive_drop: arrives, and later phases wait for `count` arrivals less. */
MbarrierStatus mbarrier_arrive_drop(uint64_t *word, uint32_t count, bool *completed);

/* cp.async.mbarrier.arrive without .noinc: the phase waits for one arrival more, that of the copy.
 */
MbarrierStatus mbarrier_await_copy(uint64_t *word);

/* mbarrier.expect_tx: the phase waits for `bytes` more. (arrive.expect_tx is this, then arrive.) It
 * can complete a phase only if copies of the same bytes came before it. */
MbarrierStatus mbarrier_expect_tx(uint64_t *word, uint32_t bytes, bool *completed);

/* mbarrier.complete_tx, what an asynchronous copy does when its `bytes` have landed. */
MbarrierStatus mbarrier_complete_tx(uint64_t *word, uint32_t bytes, bool *completed);

/* mbarrier.test_wait.parity and try_wait.parity: true once the phase of that parity (its lowest
 * bit) has completed, that is, while the phase in progress has the other parity. */
MbarrierStatus mbarrier_test_parity(uint64_t word, uint32_t parity, bool *done);

/* mbarrier.test_wait and try_wait on `state`, the word as it was just before an arrival. */
MbarrierStatus mbarrier_test_state(uint64_t word, uint64_t state, bool *done);

/* The fields of a word, for reports; false if it was never initialised. */
bool mbarrier_read(uint64_t word, Mbarrier *barrier);

/* One sentence for a status. */
const char *mbarrier_message(MbarrierStatus status);

#endif
