/* What a record keeps of barriers, mbarriers and faults. Catches: a use or a phase that is taken
 * for another one, a warp that waits for what is over or goes on too early, what is beyond a list.
 */
#include <string.h>

#include "report/test/observed.h"
#include "test/tap.h"

/* ---- Barriers -------------------------------------------------------------------------------- */

static bool is_arrival(const Arrival *at, int warp, uint32_t step_number, uint32_t count) {
    return at->warp == warp && at->step == step_number && at->count == count;
}

static void test_barriers(void) {
    Record *record = begin();
    for (int i = 0; i < 5; i++) step(record, 0, i, CLASS_OTHER);
    step(record, 1, 0, CLASS_OTHER), step(record, 2, 0, CLASS_OTHER);
    observe_barrier_release(record, 3, 1);
    is_int(record->barrier.count, 0, "a barrier at which nobody is");
    observe_barrier_arrive(record, &warps[0], 3);
    observe_barrier_arrive(record, &warps[1], 4);
    observe_barrier_arrive(record, &warps[2], 3);
    observe_barrier_release(record, 3, 5);
    const Phase *use = record->barrier.at;
    ok(record->barrier.count == 2 && use[0].where == 3 && use[1].where == 4, "two barriers");
    ok(use[0].arrival.count == 2 && is_arrival(&use[0].arrival.at[0], 0, 4, 32) &&
           is_arrival(&use[0].arrival.at[1], 2, 0, 32),
       "who arrived at one");
    ok(use[0].wait.count == 2 && is_arrival(&use[0].wait.at[0], 0, 4, 0) &&
           is_arrival(&use[0].wait.at[1], 2, 0, 0),
       "and waited");
    ok(use[0].complete && !use[1].complete && use[0].time == 5 && use[1].time == 1,
       "it is over with the last arrival");
    ok(record->warp[2].time == 5 && record->warp[1].time == 1, "then those who waited go on");
    observe_barrier_release(record, 3, 7);
    is_int(record->barrier.at[0].wait.count, 2, "once");
    observe_barrier_arrive(record, &warps[1], 3);
    observe_barrier_arrive(record, &warps[0], 4);
    use = record->barrier.at;
    ok(record->barrier.count == 3 && use[2].where == 3 && use[2].number == 1 && use[0].number == 0,
       "its second use is a new one");
    ok(use[1].number == 0 && use[1].arrival.count == 2, "the first of the other one goes on");
    is_int((long long)use[2].time, 1, "which begins with who arrives there");
    observe_barrier_release(record, 3, 2);
    step(record, 1, 1, CLASS_OTHER);
    observe_barrier_arrive(record, &warps[1], 4);
    use = record->barrier.at;
    ok(record->barrier.count == 3 && use[1].arrival.count == 3 && !use[1].complete &&
           is_arrival(&use[1].arrival.at[2], 1, 1, 32),
       "one that is open stays so behind another one that is over");
    observe_barrier_release(record, 4, 2);
    ok(record->barrier.at[1].complete && record->barrier.at[1].wait.count == 1 &&
           record->barrier.at[2].wait.count == 1,
       "each ends for itself");
    record_free(record);
}

static void test_mbarriers(void) {
    Record *record = begin();
    for (int i = 0; i < 4; i++) step(record, 0, i, CLASS_OTHER);
    step(record, 1, 0, CLASS_OTHER);
    observe_mbarrier_arrive(record, &warps[0], 1024, 1);
    observe_mbarrier_complete(record, 1024);
    observe_mbarrier_acquire(record, &warps[0], 1024);
    is_int(record->phase.count, 0, "an mbarrier that is not known");
    observe_mbarrier_init(record, &warps[0], 1024, 6);
    observe_mbarrier_init(record, &warps[0], 1032, 7);
    observe_mbarrier_acquire(record, &warps[1], 1024);
    is_int(record->phase.at[0].wait.count, 0, "before its first phase there is none");
    observe_mbarrier_arrive(record, &warps[0], 1024, 2);
    observe_mbarrier_arrive(record, &warps[0], 1024, 3);
    observe_mbarrier_arrive(record, &warps[1], 1024, 1);
    const Phase *phase = record->phase.at;
    ok(phase[0].arrival.count == 2 && is_arrival(&phase[0].arrival.at[0], 0, 3, 5) &&
           is_arrival(&phase[0].arrival.at[1], 1, 0, 1),
       "lanes of a warp arrive together");
    ok(phase[0].time == 4 && phase[0].expected == 6 && phase[1].arrival.count == 0, "at this one");
    observe_mbarrier_complete(record, 1024);
    phase = record->phase.at;
    ok(record->phase.count == 3 && phase[0].complete && !phase[1].complete && !phase[2].complete,
       "one phase is over");
    ok(phase[2].where == 1024 && phase[2].number == 1 && phase[2].expected == 6, "the next begins");
    observe_mbarrier_acquire(record, &warps[1], 1024);
    observe_mbarrier_acquire(record, &warps[1], 1024);
    phase = record->phase.at;
    ok(phase[0].wait.count == 1 && is_arrival(&phase[0].wait.at[0], 1, 0, 0) &&
           phase[2].wait.count == 0,
       "who waited for it, once a step");
    is_int((long long)record->warp[1].time, 4, "goes on when it was over");
    step(record, 1, 1, CLASS_OTHER);
    observe_mbarrier_acquire(record, &warps[1], 1024);
    observe_mbarrier_acquire(record, &warps[0], 1024);
    ok(record->phase.at[0].wait.count == 3 && record->warp[0].time == 4, "others do later");
    observe_mbarrier_arrive(record, &warps[1], 1024, 1);
    ok(record->phase.at[2].arrival.count == 1 && record->phase.at[0].arrival.count == 2,
       "arrivals are of the phase in progress");
    observe_mbarrier_complete(record, 1024);
    observe_mbarrier_acquire(record, &warps[1], 1024);
    ok(record->phase.at[2].wait.count == 1 && record->phase.at[0].wait.count == 3,
       "waits of the one before");
    record_free(record);
}

/* An mbarrier that is initialised once more, where another one is. */
static void test_second_life(void) {
    Record *record = begin();
    step(record, 0, 0, CLASS_OTHER);
    for (int life = 0; life < 2; life++) {
        observe_mbarrier_init(record, &warps[0], 1024, 1);
        observe_mbarrier_acquire(record, &warps[0], 1024);
        for (int i = 0; i < 2; i++) {
            observe_mbarrier_init(record, &warps[0], 1032, 1);
            observe_mbarrier_complete(record, 1024);
        }
    }
    const Phase *phase = record->phase.at;
    int waits = 0;
    for (int i = 0; i < record->phase.count; i++) waits += phase[i].wait.count;
    is_int(waits, 0, "its first phase waits for none of its first life");
    observe_mbarrier_acquire(record, &warps[0], 1024);
    ok(record->phase.count == 10 && phase[7].where == 1024 && phase[7].number == 1 &&
           phase[7].wait.count == 1 && phase[2].wait.count == 0,
       "a phase is the last of its number");
    step(record, 0, 1, CLASS_OTHER);
    observe_mbarrier_arrive(record, &warps[0], 1024, 1);
    step(record, 0, 2, CLASS_OTHER);
    observe_mbarrier_arrive(record, &warps[0], 1024, 1);
    ok(phase[9].arrival.count == 2 && is_arrival(&phase[9].arrival.at[0], 0, 1, 1) &&
           is_arrival(&phase[9].arrival.at[1], 0, 2, 1),
       "a warp that arrives in two steps does so twice");
    record_free(record);
}

/* Of 32 warps the first and the last wait, both in their first step. */
static void test_many(void) {
    const Block all = {.kernel = &kernel, .settings = &settings, .warps = 32, .count = block.count};
    Warp last = {.mask = UINT32_MAX, .index = 31};
    static const Op op;
    Record *record = begin();
    record_begin(record, &all);
    step(record, 0, 0, CLASS_OTHER);
    observe_step(record, &last, &op);
    observe_barrier_arrive(record, &warps[0], 2);
    observe_barrier_arrive(record, &last, 2);
    observe_barrier_release(record, 2, 1u << 31 | 1);
    const Phase *use = record->barrier.at;
    ok(use->arrival.count == 2 && is_arrival(&use->arrival.at[0], 0, 0, 32) &&
           is_arrival(&use->arrival.at[1], 31, 0, 32),
       "two warps arrive in the same step");
    ok(use->wait.count == 2 && is_arrival(&use->wait.at[0], 0, 0, 0) &&
           is_arrival(&use->wait.at[1], 31, 0, 0),
       "and wait");
    record_free(record);
}

/* After it has waited, the next instruction of a warp is later, and begins a run. */
static void test_times(void) {
    Record *record = begin();
    for (int i = 0; i < 5; i++) step(record, 0, i, CLASS_OTHER);
    step(record, 1, 0, CLASS_OTHER);
    observe_barrier_arrive(record, &warps[1], 0);
    observe_barrier_arrive(record, &warps[0], 0);
    observe_barrier_release(record, 0, 3);
    for (int w = 0; w < 2; w++) step(record, w, w ? 1 : 5, CLASS_OTHER);
    const WarpRecord *first = &record->warp[0], *second = &record->warp[1];
    ok(first->run.count == 1 && first->run.at[0].steps == 6 && first->time == 6, "no time is lost");
    ok(second->run.count == 2 && second->run.at[1].first == 1 && second->run.at[1].time == 5 &&
           second->time == 6,
       "or some");
    observe_barrier_arrive(record, &warps[0], 1);
    observe_barrier_release(record, 1, 1);
    for (int i = 0; i < 3; i++) step(record, 0, 6 + i, CLASS_OTHER);
    observe_mbarrier_init(record, &warps[1], 1024, 1);
    observe_mbarrier_arrive(record, &warps[1], 1024, 1);
    observe_mbarrier_complete(record, 1024);
    observe_mbarrier_acquire(record, &warps[0], 1024);
    ok(record->warp[0].time == 9 && record->phase.at[0].time == 6, "time does not go back");
    record_free(record);
}

/* What is beyond the end of a list is nothing, whatever it looks like. */
static void test_ends(void) {
    Record *record = begin();
    step(record, 0, 0, CLASS_OTHER);
    for (int i = 0; i < 3; i++) {
        LIST_ADD(record->phase)->where = i ? 1024 : 1032;
        LIST_ADD(record->barrier)->where = i ? 5 : 6;
    }
    record->phase.count = record->barrier.count = 1;
    observe_mbarrier_arrive(record, &warps[0], 1024, 1);
    ok(record->phase.at[1].arrival.count == 0 && record->phase.at[2].arrival.count == 0,
       "no phase");
    observe_barrier_release(record, 5, 1);
    ok(!record->barrier.at[1].complete && !record->barrier.at[2].complete, "no use of a barrier");
    observe_barrier_arrive(record, &warps[0], 5);
    ok(record->barrier.count == 2 && record->barrier.at[1].number == 0, "that counts");
    Phase *use = &record->barrier.at[1], *phase = &record->phase.at[0];
    for (int i = 0; i < 3; i++) {
        *LIST_ADD(phase->arrival) = *LIST_ADD(phase->wait) = (Arrival){0, i ? 0 : 7, 1};
        *LIST_ADD(use->arrival) = *LIST_ADD(use->wait) = (Arrival){0, i ? 0 : 7, 1};
    }
    phase->arrival.count = phase->wait.count = use->arrival.count = use->wait.count = 1;
    use->arrival.at[0].step = 7, use->arrival.at[1].step = 0;
    observe_mbarrier_arrive(record, &warps[0], 1032, 1);
    observe_barrier_arrive(record, &warps[0], 5);
    observe_barrier_release(record, 5, 1);
    ok(record->phase.at[0].arrival.count == 2 && record->barrier.at[1].arrival.count == 2,
       "no arrival");
    is_int(record->barrier.at[1].wait.count, 2, "nor anybody who waits");
    for (int i = 0; i < 2; i++) *LIST_ADD(record->warp[0].run) = (Run){9, 1, UINT32_MAX, 0};
    record->warp[0].run.count = 1;
    const RaceReport race = {.earlier = {.source = 9}, .later = {.source = 0}};
    observe_fault(record, &warps[0], 0, &race);
    ok(record->fault.earlier_step == NO_STEP && record->fault.later_step == 0, "nor any run");
    record_free(record);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void test_faults(void) {
    Record *record = begin();
    for (int round = 0; round < 2; round++)
        for (int i = 3; i < 6; i++) step(record, 1, i, CLASS_OTHER);
    step(record, 2, 5, CLASS_OTHER);
    RaceReport race = {.earlier = {.warp = 1, .source = 4}, .later = {.warp = 2, .source = 5}};
    observe_fault(record, &warps[1], 7, &race);
    const RecordedFault *fault = &record->fault;
    ok(fault->happened && fault->race && fault->warp == 1 && fault->lane == 7 && fault->step == 5,
       "a race is of a warp and its step");
    ok(fault->earlier_step == 4 && fault->later_step == 0, "its sides of the last at their place");
    static const uint32_t sources[] = {2, 3, 5, 6};
    static const uint32_t steps[] = {NO_STEP, 3, 5, NO_STEP};
    for (int i = 0; i < 4; i++) {
        race.earlier.source = sources[i];
        observe_fault(record, &warps[1], 7, &race);
        is_int(fault->earlier_step, steps[i], "where an instruction was last executed");
    }
    observe_fault(record, NULL, -1, NULL);
    ok(fault->happened && !fault->race && fault->warp == -1 && fault->lane == -1 && !fault->step,
       "a deadlock is of no warp");
    record_free(record);
}

int main(void) {
    test_barriers();
    test_mbarriers();
    test_second_life();
    test_many();
    test_times();
    test_ends();
    test_faults();
    return done_testing();
}
