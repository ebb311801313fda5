/* Records made by hand that are cut: runs of instructions, and what refers to their steps. Catches:
 * a round too many or too few where a loop is entered, left or in another one, a step beside a cut
 * that keeps its old number, a flight that is cut at its other end, a gap in time that stays. */
#include <stdlib.h>
#include <string.h>

#include "report/cut.h"
#include "test/tap.h"

static uint64_t time_of_next;

static void add_run(WarpRecord *warp, int first, unsigned steps) {
    *LIST_ADD(warp->run) = (Run){first, steps, 1, time_of_next};
    warp->steps += steps;
    time_of_next += steps;
}

/* A record of runs as "FIRST+STEPS", warps being apart by a bar; "~N" leaves out N of the time. */
static Record *made_of(const char *runs) {
    Record *record = calloc(1, sizeof *record);
    record->warp = calloc(4, sizeof *record->warp);
    record->warps = 1;
    time_of_next = 0;
    for (const char *at = runs; *at; at += strspn(at, " ")) {
        int first = 0, steps = 0, used = 1;
        if (*at == '|')
            record->warps++, time_of_next = 0;
        else if (sscanf(at, "~%d%n", &steps, &used) == 1)
            time_of_next += (unsigned)steps;
        else if (sscanf(at, "%d+%d%n", &first, &steps, &used) == 2)
            add_run(&record->warp[record->warps - 1], first, (unsigned)steps);
        at += used;
    }
    return record;
}

/* Lists have no room behind their ends: the sanitizer sees who reads there. */
#define FIT(list)                                                                     \
    do {                                                                              \
        if ((list).count)                                                             \
            (list).at = realloc((list).at, (size_t)(list).count * sizeof *(list).at); \
    } while (0)

/* Cuts it, without any room in its lists. */
static void cut_to(Record *record, uint64_t most) {
    for (int w = 0; w < record->warps; w++) {
        FIT(record->warp[w].run);
        FIT(record->warp[w].request);
        FIT(record->warp[w].divergent);
    }
    record->warp = realloc(record->warp, (size_t)record->warps * sizeof *record->warp);
    for (int i = 0; i < record->phase.count; i++) {
        FIT(record->phase.at[i].arrival);
        FIT(record->phase.at[i].wait);
    }
    FIT(record->flight);
    FIT(record->transfer);
    FIT(record->product);
    FIT(record->phase);
    FIT(record->barrier);
    record_cut(record, most);
}

static void release(Record *record) {
    for (int w = 0; w < record->warps; w++) {
        free(record->warp[w].run.at);
        free(record->warp[w].request.at);
        free(record->warp[w].divergent.at);
    }
    for (int i = 0; i < record->phase.count; i++) {
        free(record->phase.at[i].arrival.at);
        free(record->phase.at[i].wait.at);
        free(record->barrier.at[i].arrival.at);
        free(record->barrier.at[i].wait.at);
    }
    free(record->warp);
    free(record->flight.at);
    free(record->transfer.at);
    free(record->product.at);
    free(record->phase.at);
    free(record->barrier.at);
    free(record);
}

/* The runs of a record in the same way. */
static const char *runs_of(const Record *record) {
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (int w = 0; w < record->warps; w++) {
        uint64_t end = 0;
        if (w) used += (size_t)snprintf(text + used, sizeof text - used, " |");
        for (int i = 0; i < record->warp[w].run.count; i++) {
            const Run *run = &record->warp[w].run.at[i];
            if (run->time != end)
                used += (size_t)snprintf(text + used, sizeof text - used, " ~%d",
                                         (int)(run->time - end));
            used +=
                (size_t)snprintf(text + used, sizeof text - used, " %d+%u", run->first, run->steps);
            end = run->time + run->steps;
        }
    }
    return text + (*text == ' ');
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

typedef struct Case {
    const char *name, *runs;
    uint64_t most;
    const char *left;
    uint64_t cut;
} Case;

static const Case cases[] = {
    {"as many steps as are allowed", "0+4 2+2 2+2 2+2 2+2 4+1", 13, "0+4 2+2 2+2 2+2 2+2 4+1", 0},
    {"then no time goes, either", "0+4 ~5 4+1", 5, "0+4 ~5 4+1", 0},
    {"one more", "0+4 2+2 2+2 2+2 2+2 4+1", 12, "0+4 2+2 2+2 4+1", 4},
    {"four rounds lose one", "0+4 2+2 2+2 2+2 4+1", 1, "0+4 2+2 2+2 4+1", 2},
    {"of three rounds all stay", "0+4 2+2 2+2 4+1", 1, "0+4 2+2 2+2 4+1", 0},
    {"no loop", "0+4 5+4", 1, "0+4 5+4", 0},
    {"to come to a loop is no round", "0+2 2+2 2+2 2+2 2+2 4+1", 1, "0+2 2+2 2+2 2+2 4+1", 2},
    {"a loop to the end", "0+4 2+2 2+2 2+2 2+2", 1, "0+4 2+2 2+2", 4},
    {"a loop of one instruction", "0+1 0+1 0+1 0+1 0+1", 1, "0+1 0+1 0+1", 2},
    {"rounds of several runs", "0+4 5+1 2+2 5+1 2+2 5+1 2+2 5+1 2+2 6+1", 1,
     "0+4 5+1 2+2 5+1 2+2 6+1", 6},
    {"a loop that is left and comes back", "0+4 2+2 2+2 2+2 2+2 8+1 1+3 2+2 2+2 2+2 9+1", 1,
     "0+4 2+2 2+2 8+1 1+3 2+2 2+2 9+1", 6},
    {"the outer loop is enough",
     "0+4 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2", 34,
     "0+4 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2", 11},
    {"then the inner one",
     "0+4 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2", 33,
     "0+4 2+2 2+2 4+2 1+3 2+2 2+2 4+2 1+3 2+2 2+2 4+2", 17},
    {"an inner loop alone", "0+4 2+2 2+2 2+2 4+2 1+3 2+2 2+2 2+2 4+2", 1,
     "0+4 2+2 2+2 4+2 1+3 2+2 2+2 4+2", 4},
    {"loops that end in several places are one", "0+4 2+3 2+2 2+3 2+2 2+2 5+1", 1,
     "0+4 2+3 2+2 5+1", 7},
    {"also if the longest comes first", "0+5 2+2 2+2 2+3 2+2 5+1", 1, "0+5 2+2 2+2 5+1", 5},
    {"a loop whose first round is longer", "0+5 2+2 2+2 2+2 4+1", 1, "0+5 2+2 2+2 4+1", 2},
    {"rounds whose last run is the loop's last instruction", "0+5 2+2 4+1 2+2 4+1 2+2 4+1 5+1", 1,
     "0+5 2+2 4+1 2+2 4+1 5+1", 3},
    {"the outer loop first, which is found first",
     "50+10 50+6 54+2 54+2 54+2 56+4 50+6 54+2 54+2 54+2 56+4 50+6 54+2 54+2 54+2 56+4 60+1", 43,
     "50+10 50+6 54+2 54+2 54+2 56+4 50+6 54+2 54+2 54+2 56+4 60+1", 16},
    {"or last",
     "50+6 54+2 54+2 54+2 56+4 50+6 54+2 54+2 54+2 56+4 50+6 54+2 54+2 54+2 56+4 50+10 60+1", 43,
     "50+6 54+2 54+2 54+2 56+4 50+6 54+2 54+2 54+2 56+4 50+10 60+1", 16},
    {"each warp has its rounds", "0+4 2+2 2+2 2+2 2+2 4+1 | 0+4 2+2 2+2 2+2 4+1 | 0+4 4+1", 1,
     "0+4 2+2 ~2 2+2 4+1 | 0+4 2+2 2+2 4+1 | 0+4 4+1", 6},
    {"a warp shows a loop for all", "0+4 2+2 2+2 2+2 | 0+4 2+2 2+2 2+2", 1,
     "0+4 2+2 2+2 | 0+4 2+2 2+2", 4},
    {"time that nobody uses any more goes", "0+4 2+2 2+2 2+2 2+2 4+1 | ~20 0+1", 1,
     "0+4 2+2 2+2 4+1 | ~9 0+1", 4},
    {"time in which another warp runs stays", "0+4 2+2 2+2 2+2 2+2 4+1 | ~4 6+9", 1,
     "0+4 2+2 ~4 2+2 4+1 | ~4 6+9", 4},
    {"time is counted in any order", "~9 7+4 7+4 7+4 7+4 | ~2 1+3", 1, "~3 7+4 7+4 7+4 | 1+3", 4},
    {"and a short run in a long one", "1+9 | ~2 3+1 ~1 4+1 | 5+1 5+1 5+1 5+1 5+1 ~5 6+1", 1,
     "1+9 | ~2 3+1 ~1 4+1 | 5+1 5+1 ~2 5+1 ~4 6+1", 2},
};

static void test_rounds(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Record *record = made_of(c->runs);
        cut_to(record, c->most);
        is_text(runs_of(record), c->left, c->name);
        is_int((long long)record->cut, (long long)c->cut, "and says how much");
        uint32_t steps = 0;
        for (int k = 0; k < record->warp[0].run.count; k++)
            steps += record->warp[0].run.at[k].steps;
        is_int(record->warp[0].steps, steps, "steps are what the runs have");
        release(record);
    }
}

/* ---- What refers to steps -------------------------------------------------------------------- */

/* Of warp 0 steps 6 to 9 are cut, and 18 to 21; of warp 1 steps 6 and 7. */
static Record *made(void) {
    return made_of("0+4 2+2 2+2 2+2 2+2 8+1 1+3 2+2 2+2 2+2 2+2 9+1 | 0+4 2+2 2+2 2+2 9+1");
}

enum { NONE = -1, STEPS = 25 };
/* What becomes of each step of warp 0. */
static const int becomes[STEPS] = {0, 1,  2,  3,  4,  5,    NONE, NONE, NONE, NONE, 6,  7, 8,
                                   9, 10, 11, 12, 13, NONE, NONE, NONE, NONE, 14,   15, 16};

static int number(uint32_t step) { return step == NO_STEP ? NONE : (int)step; }

static void test_steps(void) {
    Record *record = made();
    WarpRecord *warp = &record->warp[0];
    Phase *phase = LIST_ADD(record->phase), *barrier = LIST_ADD(record->barrier);
    int left = 0, requests = 0, divergent = 0, arrivals = 0, waits = 0, transfers = 0, products = 0;
    for (uint32_t s = 0; s < STEPS; s++) {
        LIST_ADD(warp->request)->step = s;
        *LIST_ADD(warp->divergent) = s;
        *LIST_ADD(phase->arrival) = (Arrival){0, s, s};
        *LIST_ADD(phase->wait) = (Arrival){0, s, 0};
        LIST_ADD(record->transfer)->step = STEPS - 1 - s;
        LIST_ADD(record->product)->step = STEPS - 1 - s;
    }
    *LIST_ADD(phase->arrival) = (Arrival){1, 6, 1};
    *LIST_ADD(phase->arrival) = (Arrival){1, 8, 1};
    *LIST_ADD(barrier->arrival) = (Arrival){0, 24, 32};
    *LIST_ADD(barrier->wait) = (Arrival){0, 10, 0};
    LIST_ADD(record->transfer)->step = NO_STEP;
    phase->time = 11, barrier->time = 24;
    cut_to(record, 1);
    warp = &record->warp[0], phase = record->phase.at, barrier = record->barrier.at;
    is_text(runs_of(record), "0+4 2+2 ~2 2+2 8+1 1+3 2+2 2+2 9+1 | 0+4 2+2 2+2 9+1", "two cuts");
    for (uint32_t s = 0; s < STEPS; s++) {
        const int to = becomes[s];
        transfers += number(record->transfer.at[STEPS - 1 - s].step) == to;
        products += number(record->product.at[STEPS - 1 - s].step) == to;
        if (to == NONE) continue;
        requests += number(warp->request.at[left].step) == to;
        divergent += number(warp->divergent.at[left]) == to;
        arrivals +=
            number(phase->arrival.at[left].step) == to && phase->arrival.at[left].count == s;
        waits += number(phase->wait.at[left].step) == to;
        left++;
    }
    is_int(left, 17, "steps that stay");
    ok(warp->request.count == left && requests == left, "requests");
    ok(warp->divergent.count == left && divergent == left, "branches");
    ok(phase->arrival.count == left + 1 && arrivals == left, "arrivals");
    ok(phase->wait.count == left && waits == left, "waits");
    ok(phase->arrival.at[left].step == 6 && phase->arrival.at[left].warp == 1,
       "another warp has its own cuts");
    ok(barrier->arrival.at[0].step == 16 && barrier->wait.at[0].step == 6, "a barrier's, too");
    ok(transfers == STEPS && products == STEPS, "copies and products stay in their lists");
    ok(record->transfer.at[STEPS].step == NO_STEP, "what has no step gets none");
    ok(phase->time == 9 && barrier->time == 18, "times");
    release(record);
}

static void test_flights(void) {
    static const struct {
        const char *name;
        FlightKind kind;
        int warp, before[4], after[4]; /* first, last, commit, wait */
    } flights[] = {
        {"behind the cut", FLIGHT_COPY, 0, {10, 11, 12, 13}, {6, 7, 8, 9}},
        {"before it", FLIGHT_COPY, 0, {4, 5, 5, 5}, {4, 5, 5, 5}},
        {"within it", FLIGHT_COPY, 0, {6, 7, 8, 9}, {NONE, NONE, NONE, NONE}},
        {"into it", FLIGHT_WGMMA, 0, {5, 6, 7, 9}, {5, 6, 6, 6}},
        {"out of it", FLIGHT_STORE, 0, {6, 7, 9, 10}, {6, 6, 6, 6}},
        {"a load out of it", FLIGHT_LOAD, 0, {6, 6, NONE, 10}, {NONE, NONE, NONE, NONE}},
        {"a load into it", FLIGHT_LOAD, 0, {5, 5, NONE, 8}, {5, 5, NONE, 6}},
        {"within it, and never waited for",
         FLIGHT_COPY,
         0,
         {6, 7, 8, NONE},
         {NONE, NONE, NONE, NONE}},
        {"before it, and never waited for", FLIGHT_COPY, 0, {5, 5, 5, NONE}, {5, 5, 5, NONE}},
        {"from one cut to the other", FLIGHT_COPY, 0, {9, 9, 10, 19}, {NONE, NONE, NONE, NONE}},
        {"into the second one", FLIGHT_COPY, 0, {10, 16, 18, 21}, {6, 12, 14, 14}},
        {"out of that", FLIGHT_COPY, 0, {19, 22, 23, 24}, {14, 14, 15, 16}},
        {"that is nowhere any more",
         FLIGHT_COPY,
         0,
         {NONE, NONE, NONE, NONE},
         {NONE, NONE, NONE, NONE}},
        {"of another warp", FLIGHT_COPY, 1, {5, 6, 7, 9}, {5, 6, 6, 7}},
    };
    enum { FLIGHTS = sizeof flights / sizeof *flights };
    Record *record = made();
    for (int i = 0; i < FLIGHTS; i++) {
        const int *at = flights[i].before;
        *LIST_ADD(record->flight) = (Flight){.kind = flights[i].kind,
                                             .warp = flights[i].warp,
                                             .first = (uint32_t)at[0],
                                             .last = (uint32_t)at[1],
                                             .commit = (uint32_t)at[2],
                                             .wait = (uint32_t)at[3]};
    }
    cut_to(record, 1);
    for (int i = 0; i < FLIGHTS; i++) {
        const Flight *f = &record->flight.at[i];
        const int got[] = {number(f->first), number(f->last), number(f->commit), number(f->wait)};
        if (!ok(memcmp(got, flights[i].after, sizeof got) == 0, "a flight %s", flights[i].name))
            printf("# %d %d %d %d\n", got[0], got[1], got[2], got[3]);
    }
    release(record);
}

/* The step of a fault is never lost, those of a race may be. */
static void fault_at(int warp, uint32_t step, uint32_t earlier, uint32_t later, bool race,
                     const int expected[3], const char *name) {
    Record *record = made();
    record->fault = (RecordedFault){.happened = true,
                                    .warp = warp,
                                    .step = step,
                                    .race = race,
                                    .earlier_step = earlier,
                                    .later_step = later};
    record->fault.sides.earlier.warp = 1;
    cut_to(record, 1);
    const RecordedFault *f = &record->fault;
    if (!ok((int)f->step == expected[0] && number(f->earlier_step) == expected[1] &&
                number(f->later_step) == expected[2],
            "%s", name))
        printf("# %u %d %d\n", f->step, number(f->earlier_step), number(f->later_step));
    release(record);
}

int main(void) {
    test_rounds();
    test_steps();
    test_flights();
    fault_at(0, 24, 1, 1, false, (int[]){16, 1, 1}, "a fault behind the cuts");
    fault_at(0, 9, 9, 9, false, (int[]){6, 9, 9}, "one within");
    fault_at(1, 9, 9, 9, false, (int[]){7, 9, 9}, "one of another warp");
    fault_at(-1, 9, 9, 9, false, (int[]){9, 9, 9}, "one of no warp");
    fault_at(0, 10, 8, 10, true, (int[]){6, 6, 6}, "a race");
    fault_at(0, 10, 6, 9, true, (int[]){6, NONE, NONE}, "one whose sides are cut");
    return done_testing();
}
