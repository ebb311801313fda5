#include "machine/mbarrier.h"

/* The word: tag:2 | tx + TX_BIAS:21 | pending:20 | expected:20 | odd:1, highest bits first. The tag
 * is 01, so neither zeroed memory nor memory filled with ones passes for an mbarrier. */
enum { TX_BIAS = 1 << 20, EXPECTED_SHIFT = 1, PENDING_SHIFT = 21, TX_SHIFT = 41, TAG_SHIFT = 62 };
static const uint64_t TAG = 1;

static uint64_t pack(const Mbarrier *barrier) {
    return TAG << TAG_SHIFT | (uint64_t)(barrier->tx + TX_BIAS) << TX_SHIFT |
           (uint64_t)barrier->pending << PENDING_SHIFT |
           (uint64_t)barrier->expected << EXPECTED_SHIFT | (uint64_t)barrier->odd;
}

bool mbarrier_read(uint64_t word, Mbarrier *barrier) {
    if (word >> TAG_SHIFT != TAG) return false;
    barrier->odd = word & 1;
    barrier->expected = word >> EXPECTED_SHIFT & MBARRIER_MAX_COUNT;
    barrier->pending = word >> PENDING_SHIFT & MBARRIER_MAX_COUNT;
    barrier->tx = (int32_t)(word >> TX_SHIFT & (2 * TX_BIAS - 1)) - TX_BIAS;
    return true;
}

MbarrierStatus mbarrier_init(uint64_t *word, uint32_t count) {
    if (count < 1 || count > MBARRIER_MAX_COUNT) return MBARRIER_BAD_COUNT;
    *word = pack(&(Mbarrier){false, count, count, 0});
    return MBARRIER_OK;
}

/* Why a word holds no mbarrier. */
static MbarrierStatus no_mbarrier(uint64_t word) {
    return word == MBARRIER_INVALID ? MBARRIER_INVALIDATED : MBARRIER_NOT_INITIALISED;
}

/* Begins the next phase if this one is complete; writes the object back. */
static bool finish(uint64_t *word, Mbarrier *barrier) {
    bool completed = barrier->pending == 0 && barrier->tx == 0;
    if (completed) {
        barrier->odd = !barrier->odd;
        barrier->pending = barrier->expected;
    }
    *word = pack(barrier);
    return completed;
}

static MbarrierStatus arrive(uint64_t *word, uint32_t count, uint32_t dropped, bool *completed) {
    Mbarrier barrier;
    if (!mbarrier_read(*word, &barrier)) return no_mbarrier(*word);
    if (count == 0) return MBARRIER_BAD_COUNT;
    if (count > barrier.pending) return MBARRIER_TOO_MANY;
    barrier.pending -= count;
    barrier.expected -= dropped;
    *completed = finish(word, &barrier);
    return MBARRIER_OK;
}

MbarrierStatus mbarrier_arrive(uint64_t *word, uint32_t count, bool *completed) {
    return arrive(word, count, 0, completed);
}

MbarrierStatus mbarrier_arrive_drop(uint64_t *word, uint32_t count, bool *completed) {
    return arrive(word, count, count, completed);
}

MbarrierStatus mbarrier_await_copy(uint64_t *word) {
    Mbarrier barrier;
    if (!mbarrier_read(*word, &barrier)) return no_mbarrier(*word);
    if (barrier.pending == MBARRIER_MAX_COUNT) return MBARRIER_BAD_COUNT;
    barrier.pending++;
    *word = pack(&barrier);
    return MBARRIER_OK;
}

static MbarrierStatus add_tx(uint64_t *word, int64_t bytes, bool *completed) {
    Mbarrier barrier;
    if (!mbarrier_read(*word, &barrier)) return no_mbarrier(*word);
    int64_t tx = barrier.tx + bytes;
    if (tx > MBARRIER_MAX_COUNT || tx < -MBARRIER_MAX_COUNT) return MBARRIER_TX_OUT_OF_RANGE;
    barrier.tx = (int32_t)tx;
    *completed = finish(word, &barrier);
    return MBARRIER_OK;
}

MbarrierStatus mbarrier_expect_tx(uint64_t *word, uint32_t bytes, bool *completed) {
    return add_tx(word, bytes, completed);
}

MbarrierStatus mbarrier_complete_tx(uint64_t *word, uint32_t bytes, bool *completed) {
    return add_tx(word, -(int64_t)bytes, completed);
}

MbarrierStatus mbarrier_test_parity(uint64_t word, uint32_t parity, bool *done) {
    Mbarrier barrier;
    if (!mbarrier_read(word, &barrier)) return no_mbarrier(word);
    *done = barrier.odd != (bool)(parity & 1);
    return MBARRIER_OK;
}

MbarrierStatus mbarrier_test_state(uint64_t word, uint64_t state, bool *done) {
    Mbarrier barrier, then;
    if (!mbarrier_read(word, &barrier)) return no_mbarrier(word);
    if (!mbarrier_read(state, &then)) return no_mbarrier(state);
    *done = barrier.odd != then.odd;
    return MBARRIER_OK;
}

const char *mbarrier_message(MbarrierStatus status) {
    switch (status) {
    case MBARRIER_OK:
        return "the mbarrier operation is valid";
    case MBARRIER_NOT_INITIALISED:
        return "this mbarrier was never initialised (mbarrier.init)";
    case MBARRIER_INVALIDATED:
        return "this mbarrier was invalidated (mbarrier.inval)";
    case MBARRIER_BAD_COUNT:
        return "an mbarrier count must be from 1 to 1048575";
    case MBARRIER_TOO_MANY:
        return "more arrivals than this phase of the mbarrier expects";
    case MBARRIER_TX_OUT_OF_RANGE:
        return "the mbarrier's tx-count leaves -1048575 .. 1048575: "
               "do expect_tx and the copies agree?";
    }
    return "unknown mbarrier status";
}
