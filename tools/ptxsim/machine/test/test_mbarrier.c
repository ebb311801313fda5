/* The mbarrier object. Catches: a phase that ends early or never, a parity mixed up, misuse that
 * goes unreported, fields that overflow into each other. */
#include "machine/mbarrier.h"
#include "test/tap.h"

static bool done_parity(uint64_t word, uint32_t parity) {
    bool done = false;
    mbarrier_test_parity(word, parity, &done);
    return done;
}

static void test_phases(void) {
    uint64_t word = ~0ull, before;
    bool completed = true, done;
    Mbarrier fields;
    is_int(mbarrier_init(&word, 3), MBARRIER_OK, "init");
    ok(!done_parity(word, 0) && done_parity(word, 1),
       "phase 0 pending; the one before counts as over");
    mbarrier_arrive(&word, 1, &completed);
    ok(!completed, "one of three arrivals");
    before = word;
    mbarrier_arrive(&word, 2, &completed);
    ok(completed && done_parity(word, 0) && !done_parity(word, 1), "three: phase 0 is over");
    is_int(mbarrier_test_state(word, before, &done), MBARRIER_OK, "test by state");
    ok(done, "which says the same");
    mbarrier_test_state(word, word, &done);
    ok(!done, "and not for the phase in progress");
    mbarrier_arrive(&word, 3, &completed);
    ok(completed && !done_parity(word, 0) && done_parity(word, 1), "phase 1 needs three again");
    ok(mbarrier_read(word, &fields) && fields.expected == 3 && fields.pending == 3 && !fields.odd,
       "phase 2 begins");
    mbarrier_arrive_drop(&word, 1, &completed);
    mbarrier_arrive(&word, 2, &completed);
    ok(completed && mbarrier_read(word, &fields) && fields.pending == 2,
       "arrive_drop: two from now on");
    mbarrier_await_copy(&word);
    mbarrier_arrive(&word, 2, &completed);
    ok(!completed, "a copy's arrival is one more");
    mbarrier_arrive(&word, 1, &completed);
    ok(completed && mbarrier_read(word, &fields) && fields.pending == 2, "in that phase alone");
}

static void test_bytes(void) {
    uint64_t word;
    bool completed = true;
    mbarrier_init(&word, 1);
    mbarrier_expect_tx(&word, 4096, &completed);
    mbarrier_arrive(&word, 1, &completed);
    ok(!completed, "an arrival does not end a phase that expects bytes");
    mbarrier_complete_tx(&word, 4000, &completed);
    ok(!completed, "nor do some of the bytes");
    mbarrier_complete_tx(&word, 96, &completed);
    ok(completed && done_parity(word, 0), "all of them do");

    mbarrier_complete_tx(&word, 128, &completed);
    ok(!completed, "bytes may come before they are expected");
    mbarrier_arrive(&word, 1, &completed);
    ok(!completed, "the phase then waits for the expectation");
    mbarrier_expect_tx(&word, 128, &completed);
    ok(completed && done_parity(word, 1), "which ends it");
}

static void test_misuse(void) {
    uint64_t word = 0, ones = ~0ull;
    bool flag;
    is_int(mbarrier_await_copy(&word), MBARRIER_NOT_INITIALISED, "a copy at zeroed memory");
    mbarrier_init(&word, MBARRIER_MAX_COUNT);
    is_int(mbarrier_await_copy(&word), MBARRIER_BAD_COUNT, "a copy beyond the greatest count");
    word = 0;
    is_int(mbarrier_init(&word, 0), MBARRIER_BAD_COUNT, "init with 0");
    is_int(mbarrier_init(&word, 1 << 20), MBARRIER_BAD_COUNT, "init with 2^20");
    is_int(mbarrier_init(&word, (1 << 20) - 1), MBARRIER_OK, "init with 2^20 - 1");
    is_int(mbarrier_init(&word, 1), MBARRIER_OK, "init with 1");
    word = 0;
    is_int(mbarrier_arrive(&word, 1, &flag), MBARRIER_NOT_INITIALISED, "zeros are no mbarrier");
    is_int(mbarrier_arrive(&ones, 1, &flag), MBARRIER_NOT_INITIALISED, "ones are no mbarrier");
    is_int(mbarrier_test_parity(0, 0, &flag), MBARRIER_NOT_INITIALISED, "test");
    is_int(mbarrier_test_state(0, 0, &flag), MBARRIER_NOT_INITIALISED, "test by state");
    is_int(mbarrier_expect_tx(&word, 1, &flag), MBARRIER_NOT_INITIALISED, "expect_tx");
    word = MBARRIER_INVALID;
    is_int(mbarrier_arrive(&word, 1, &flag), MBARRIER_INVALIDATED, "an arrival at what was one");
    is_int(mbarrier_await_copy(&word), MBARRIER_INVALIDATED, "a copy");
    is_int(mbarrier_expect_tx(&word, 1, &flag), MBARRIER_INVALIDATED, "expect_tx");
    is_int(mbarrier_test_parity(word, 0, &flag), MBARRIER_INVALIDATED, "a test");
    is_int(mbarrier_test_state(word, word, &flag), MBARRIER_INVALIDATED, "a test by state");
    mbarrier_init(&word, 2);
    is_int(mbarrier_arrive(&word, 3, &flag), MBARRIER_TOO_MANY, "three arrivals of two");
    is_int(mbarrier_arrive(&word, 0, &flag), MBARRIER_BAD_COUNT, "an arrival of nobody");
    is_int(mbarrier_expect_tx(&word, MBARRIER_MAX_COUNT, &flag), MBARRIER_OK, "2^20 - 1 bytes");
    is_int(mbarrier_expect_tx(&word, 1, &flag), MBARRIER_TX_OUT_OF_RANGE, "and one more");
    mbarrier_complete_tx(&word, MBARRIER_MAX_COUNT, &flag);
    is_int(mbarrier_complete_tx(&word, MBARRIER_MAX_COUNT, &flag), MBARRIER_OK,
           "as many too early");
    is_int(mbarrier_complete_tx(&word, 1, &flag), MBARRIER_TX_OUT_OF_RANGE, "and one more");
    Mbarrier fields;
    ok(mbarrier_read(word, &fields) && fields.tx == -MBARRIER_MAX_COUNT && fields.pending == 2 &&
           fields.expected == 2 && !fields.odd,
       "extreme counts leave the other fields alone");
}

int main(void) {
    test_phases();
    test_bytes();
    test_misuse();
    return done_testing();
}
