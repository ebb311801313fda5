#include "report/cut.h"

#include <stdlib.h>
#include <string.h>

/* A loop, as its jumps back show it: from instruction `last` or before to `first`. */
typedef struct Loop {
    int first, last;
} Loop;

/* Steps first .. end - 1 of a warp. */
typedef struct Range {
    uint32_t first, end;
} Range;

typedef LIST(Range) Ranges;
typedef LIST(Loop) Loops;

static uint64_t all_steps(const Record *record) {
    uint64_t steps = 0;
    for (int w = 0; w < record->warps; w++) steps += record->warp[w].steps;
    return steps;
}

/* ---- Loops ----------------------------------------------------------------------------------- */

static int last_of(const Run *run) { return run->first + (int)run->steps - 1; }

static void add_loop(Loops *loops, int first, int last) {
    for (int i = 0; i < loops->count; i++) {
        Loop *known = &loops->at[i];
        if (known->first != first) continue;
        if (known->last < last) known->last = last;
        return;
    }
    *LIST_ADD(*loops) = (Loop){first, last};
}

static int widest_first(const void *a, const void *b) {
    const Loop *left = a, *right = b;
    return (right->last - right->first) - (left->last - left->first);
}

static Loops find_loops(const Record *record) {
    Loops loops = {0};
    for (int w = 0; w < record->warps; w++)
        for (int i = 1; i < record->warp[w].run.count; i++) {
            const Run *run = &record->warp[w].run.at[i];
            if (run->first <= last_of(run - 1)) add_loop(&loops, run->first, last_of(run - 1));
        }
    if (loops.count) qsort(loops.at, (size_t)loops.count, sizeof *loops.at, widest_first);
    return loops;
}

/* Where a warp is in a loop: how often it has come back, and the steps of the second and the last
 * time. */
typedef struct Rounds {
    int returns;
    uint32_t second, last;
} Rounds;

/* The loop is left: its rounds between the second and the last are to be cut. */
static void leave(Rounds *rounds, Ranges *cut) {
    if (rounds->returns >= 3) *LIST_ADD(*cut) = (Range){rounds->second, rounds->last};
    rounds->returns = 0;
}

static Ranges find_rounds(const WarpRecord *warp, const Loop *loop) {
    Ranges cut = {0};
    Rounds rounds = {0};
    uint32_t step = 0;
    for (int i = 0; i < warp->run.count; i++) {
        const Run *run = &warp->run.at[i];
        const bool inside = run->first >= loop->first && run->first <= loop->last;
        if (!inside) leave(&rounds, &cut);
        if (i && run->first == loop->first && last_of(run - 1) >= loop->first) {
            rounds.returns++;
            if (rounds.returns == 2) rounds.second = step;
            rounds.last = step;
        }
        step += run->steps;
    }
    leave(&rounds, &cut);
    return cut;
}

/* ---- Taking steps out ------------------------------------------------------------------------ */

/* The new number of a step; of one that is cut, that of the first step after it. */
static uint32_t moved(const Ranges *cut, uint32_t step) {
    uint32_t gone = 0;
    for (int i = 0; i < cut->count && cut->at[i].first <= step; i++) {
        const Range *range = &cut->at[i];
        if (step < range->end) return range->first - gone;
        gone += range->end - range->first;
    }
    return step - gone;
}

static bool is_cut(const Ranges *cut, uint32_t step) {
    for (int i = 0; i < cut->count; i++)
        if (step >= cut->at[i].first && step < cut->at[i].end) return true;
    return false;
}

static uint32_t kept(const Ranges *cut, uint32_t step) {
    return step == NO_STEP || is_cut(cut, step) ? (uint32_t)NO_STEP : moved(cut, step);
}

/* A range begins and ends where runs do. */
static void cut_warp(WarpRecord *warp, const Ranges *cut) {
    int runs = 0, requests = 0, divergent = 0;
    uint32_t step = 0, steps = 0;
    for (int i = 0; i < warp->run.count; i++) {
        const Run run = warp->run.at[i];
        if (!is_cut(cut, step)) {
            warp->run.at[runs++] = run;
            steps += run.steps;
        }
        step += run.steps;
    }
    for (int i = 0; i < warp->request.count; i++) {
        Request request = warp->request.at[i];
        request.step = kept(cut, request.step);
        if (request.step != NO_STEP) warp->request.at[requests++] = request;
    }
    for (int i = 0; i < warp->divergent.count; i++) {
        const uint32_t at = kept(cut, warp->divergent.at[i]);
        if (at != NO_STEP) warp->divergent.at[divergent++] = at;
    }
    warp->run.count = runs;
    warp->request.count = requests;
    warp->divergent.count = divergent;
    warp->steps = steps;
}

/* A flight that is cut at one end begins or ends at the cut. */
static void cut_flight(Flight *flight, const Ranges *cut) {
    const bool ends = flight->wait == NO_STEP || is_cut(cut, flight->wait);
    if (flight->first == NO_STEP) return;
    if (is_cut(cut, flight->first) && (ends || flight->kind == FLIGHT_LOAD)) {
        flight->first = flight->last = flight->commit = flight->wait = NO_STEP;
        return;
    }
    flight->first = moved(cut, flight->first);
    flight->last = moved(cut, flight->last);
    if (flight->commit != NO_STEP) flight->commit = moved(cut, flight->commit);
    if (flight->wait != NO_STEP) flight->wait = moved(cut, flight->wait);
}

static int cut_arrivals(Arrival *at, int count, const Ranges cut[]) {
    int left = 0;
    for (int i = 0; i < count; i++) {
        const uint32_t step = kept(&cut[at[i].warp], at[i].step);
        if (step == NO_STEP) continue;
        at[left] = at[i];
        at[left++].step = step;
    }
    return left;
}

static void cut_phases(Phase *phase, int count, const Ranges cut[]) {
    for (int i = 0; i < count; i++) {
        phase[i].arrival.count = cut_arrivals(phase[i].arrival.at, phase[i].arrival.count, cut);
        phase[i].wait.count = cut_arrivals(phase[i].wait.at, phase[i].wait.count, cut);
    }
}

static void cut_fault(RecordedFault *fault, const Ranges cut[]) {
    if (fault->warp >= 0) fault->step = moved(&cut[fault->warp], fault->step);
    if (!fault->race) return;
    fault->earlier_step = kept(&cut[fault->sides.earlier.warp], fault->earlier_step);
    fault->later_step = kept(&cut[fault->sides.later.warp], fault->later_step);
}

static void cut_everything(Record *record, const Ranges cut[]) {
    for (int w = 0; w < record->warps; w++) cut_warp(&record->warp[w], &cut[w]);
    for (int i = 0; i < record->flight.count; i++)
        cut_flight(&record->flight.at[i], &cut[record->flight.at[i].warp]);
    for (int i = 0; i < record->transfer.count; i++) {
        Transfer *t = &record->transfer.at[i];
        t->step = kept(&cut[t->warp], t->step);
    }
    for (int i = 0; i < record->product.count; i++) {
        Product *p = &record->product.at[i];
        p->step = kept(&cut[p->warp], p->step);
    }
    cut_phases(record->phase.at, record->phase.count, cut);
    cut_phases(record->barrier.at, record->barrier.count, cut);
    cut_fault(&record->fault, cut);
}

static void cut_loop(Record *record, const Loop *loop) {
    Ranges *cut = calloc((size_t)record->warps, sizeof *cut);
    if (!cut) abort();
    for (int w = 0; w < record->warps; w++) cut[w] = find_rounds(&record->warp[w], loop);
    cut_everything(record, cut);
    for (int w = 0; w < record->warps; w++) free(cut[w].at);
    free(cut);
}

/* ---- Time ------------------------------------------------------------------------------------ */

typedef struct Span {
    uint64_t from, to;
} Span;

static int by_beginning(const void *a, const void *b) {
    const Span *left = a, *right = b;
    return (left->from > right->from) - (left->from < right->from);
}

/* The times in which any warp has a step, as spans that do not touch. */
static Span *busy_spans(const Record *record, int *count) {
    int runs = 0, left = 0;
    for (int w = 0; w < record->warps; w++) runs += record->warp[w].run.count;
    Span *span = malloc((size_t)runs * sizeof *span);
    if (!span) abort();
    for (int w = 0, i = 0; w < record->warps; w++)
        for (int r = 0; r < record->warp[w].run.count; r++) {
            const Run *run = &record->warp[w].run.at[r];
            span[i++] = (Span){run->time, run->time + run->steps};
        }
    qsort(span, (size_t)runs, sizeof *span, by_beginning);
    for (int i = 0; i < runs; i++)
        if (left && span[i].from <= span[left - 1].to)
            span[left - 1].to = span[i].to > span[left - 1].to ? span[i].to : span[left - 1].to;
        else
            span[left++] = span[i];
    *count = left;
    return span;
}

/* A time without those before it in which nothing is left. */
static uint64_t closed_up(const Span *span, int count, uint64_t time) {
    uint64_t busy = 0;
    for (int i = 0; i < count && span[i].from <= time; i++)
        busy += (time < span[i].to ? time : span[i].to) - span[i].from;
    return busy;
}

static void close_up(Record *record) {
    int count;
    Span *span = busy_spans(record, &count);
    for (int w = 0; w < record->warps; w++)
        for (int r = 0; r < record->warp[w].run.count; r++) {
            Run *run = &record->warp[w].run.at[r];
            run->time = closed_up(span, count, run->time);
        }
    for (int i = 0; i < record->phase.count; i++)
        record->phase.at[i].time = closed_up(span, count, record->phase.at[i].time);
    for (int i = 0; i < record->barrier.count; i++)
        record->barrier.at[i].time = closed_up(span, count, record->barrier.at[i].time);
    free(span);
}

/* ---- All of it ------------------------------------------------------------------------------- */

void record_cut(Record *record, uint64_t most) {
    const uint64_t before = all_steps(record);
    if (before <= most) return;
    Loops loops = find_loops(record);
    for (int i = 0; i < loops.count && all_steps(record) > most; i++)
        cut_loop(record, &loops.at[i]);
    free(loops.at);
    close_up(record);
    record->cut = before - all_steps(record);
}
