#include "replay/replay.h"

#include "list.h"
#include "replay/fetch.h"

#include <math.h>

static const double NEVER = 1e18;
enum {
    PARTITIONS = 4,
    WINDOW = 3,  /* cycles in which an instruction reads its registers */
    SOURCES = 9, /* cycles until a memory instruction has read its sources (Huerta et al.) */
    GROUPS = 16, /* of copies that a warp may have in flight */
    MOST_QUEUED = 64,
    BUDGET = 1000000 /* instructions of warps, beyond three blocks per place */
};

/* What a warp waits for: so many instructions that have not been served, then a time. */
typedef struct Event {
    int pending;
    double at;
    Wait kind;
} Event;

typedef struct Warp {
    int step, block, slot; /* in the path; of the multiprocessor; place among the resident blocks */
    double ready;          /* the stall count has passed */
    Event barrier[CONTROL_BARRIERS];
    Event group[GROUPS];          /* of copies */
    int committed;                /* groups */
    bool stands, released, ended; /* at a barrier of the block; from it; behind the last
                                     instruction */
    bool fetching;                /* the line was not in the cache */
    int line;                     /* of the code in which it is, */
    double entered;               /* since then */
    double wake;                  /* before that it cannot be issued, */
    Wait why;                     /* for this reason */
} Warp;

/* A load or store on its way to the unit that all partitions share. */
typedef struct Request {
    Warp *warp;
    int block; /* of the warp when it was issued: another may have its place when it is served */
    const Timing *timing;
    double handed; /* when the partition has handed it over */
    int group;
} Request;

typedef struct Partition {
    double free[PIPES];
    double bank[BANKS]; /* when its port is free */
    int cached[BANKS][SLOTS];
    const Warp *owner[BANKS][SLOTS];
    Request queue[MOST_QUEUED];
    int first, queued;
    Warp *last;
    CodeCache code;
} Partition;

typedef struct Place {
    int arrived, left; /* warps at the barrier, warps that have not ended */
} Place;

typedef struct Multiprocessor {
    const ReplayInput *in;
    Partition partition[PARTITIONS];
    Warp *warp; /* [resident * warps] */
    Place *place;
    int warps, turn;
    int started, ended;              /* blocks */
    double now, lsu, fill, arrivals; /* when these are free */
    double issued, waited[WAITS], cycle[WAITS];
} Multiprocessor;

static const Path *path_of(const Multiprocessor *sm, const Warp *warp) {
    return &sm->in->path[warp->block % sm->in->paths];
}

static const Timing *next_of(const Multiprocessor *sm, const Warp *warp) {
    return &sm->in->timing[path_of(sm, warp)->step[warp->step]];
}

static void start_block(Multiprocessor *sm, int slot) {
    const double begins = sm->now + sm->in->machine->block_start;
    for (int w = 0; w < sm->in->warps; w++)
        sm->warp[slot * sm->in->warps + w] =
            (Warp){.slot = slot, .block = sm->started, .ready = begins, .entered = begins};
    sm->place[slot] = (Place){.left = sm->in->warps};
    sm->started++;
}

/* ---- Instructions */

/* A warp comes to its next one. A line is asked for when the line before it is entered, or at a
 * jump. */
static void enter_line(Multiprocessor *sm, Partition *part, Warp *warp) {
    const int line = path_of(sm, warp)->step[warp->step] / LINE;
    if (line == warp->line) return;
    const double asked = line == warp->line + 1 ? warp->entered : sm->now;
    const double there = asked + sm->in->machine->code_line;
    if (!code_cached(&part->code, line) && there > warp->ready) {
        warp->ready = there;
        warp->fetching = true;
    }
    warp->line = line;
    warp->entered = warp->ready;
}

/* ---- Registers */

static bool in_cache(const Partition *part, const Warp *warp, int slot, int source) {
    const int bank = source % BANKS;
    return part->cached[bank][slot] == source && part->owner[bank][slot] == warp;
}

/* Reads that each bank must serve. */
static void count_reads(const Partition *part, const Warp *warp, const Operands *operands,
                        int reads[BANKS]) {
    for (int b = 0; b < BANKS; b++) reads[b] = 0;
    for (int s = 0; s < SLOTS; s++)
        if (operands->source[s] != NO_REGISTER && !in_cache(part, warp, s, operands->source[s]))
            reads[operands->source[s] % BANKS]++;
}

static bool can_read(const Partition *part, const Warp *warp, const Operands *operands,
                     double now) {
    int reads[BANKS];
    count_reads(part, warp, operands, reads);
    for (int b = 0; b < BANKS; b++)
        if (fmax(part->bank[b], now) + reads[b] > now + WINDOW) return false;
    return true;
}

static void read_registers(Partition *part, const Warp *warp, const Operands *operands,
                           double now) {
    int reads[BANKS];
    count_reads(part, warp, operands, reads);
    for (int b = 0; b < BANKS; b++) part->bank[b] = fmax(part->bank[b], now) + reads[b];
    for (int s = 0; s < SLOTS; s++) {
        if (operands->source[s] == NO_REGISTER) continue;
        const int bank = operands->source[s] % BANKS;
        part->cached[bank][s] = operands->kept[s] ? operands->source[s] : NO_REGISTER;
        part->owner[bank][s] = warp;
    }
}

/* ---- Why a warp waits */

static bool is_open(const Event *event, double now) {
    return event->pending == 0 && event->at <= now;
}

static Wait wait_of_pipe(Pipe pipe) {
    static const Wait waits[PIPES] = {
        [PIPE_FMA] = WAIT_FMA, [PIPE_FMA_HEAVY] = WAIT_FMA, [PIPE_FMA_LITE] = WAIT_FMA,
        [PIPE_ALU] = WAIT_ALU, [PIPE_MUFU] = WAIT_MUFU,     [PIPE_TENSOR] = WAIT_TENSOR,
        [PIPE_LSU] = WAIT_LSU};
    return waits[pipe];
}

/* The pipe that takes an instruction: of the two for floats the one that is free first, and of
 * those that are free the one that can do nothing else. */
static Pipe pipe_for(const Partition *part, const Timing *timing, double now) {
    if (timing->pipe != PIPE_FMA) return timing->pipe;
    const double heavy = fmax(part->free[PIPE_FMA_HEAVY], now),
                 lite = fmax(part->free[PIPE_FMA_LITE], now);
    return heavy < lite ? PIPE_FMA_HEAVY : PIPE_FMA_LITE;
}

static bool pipe_is_free(const Multiprocessor *sm, const Partition *part, const Timing *timing) {
    if (timing->pipe == PIPE_LSU) return part->queued < (int)sm->in->machine->lsu_queue;
    return part->free[pipe_for(part, timing, sm->now)] < sm->now + 1;
}

/* Until when an event keeps a warp; what is pending says so when it is served. */
static double end_of(const Event *event) { return event->pending ? NEVER : event->at; }

/* A warp that sleeps until now is asked again in the next cycle. */
static Wait sleep_until(Warp *warp, Wait why, double wake) {
    warp->why = why;
    warp->wake = wake;
    return why;
}

/* WAITS: it can be issued. */
static Wait why_not(const Multiprocessor *sm, const Partition *part, Warp *warp) {
    const double now = sm->now;
    if (warp->stands) return sleep_until(warp, WAIT_BARRIER, NEVER);
    if (warp->ready > now) {
        const Wait why = warp->released ? WAIT_BARRIER : WAIT_STALL;
        return sleep_until(warp, warp->fetching ? WAIT_CODE : why, warp->ready);
    }
    const Timing *timing = next_of(sm, warp);
    for (int b = 0; b < CONTROL_BARRIERS; b++) {
        const Event *event = &warp->barrier[b];
        if (timing->control.waits >> b & 1 && !is_open(event, now))
            return sleep_until(warp, event->kind, end_of(event));
    }
    if (timing->kind == KIND_AWAIT)
        for (int g = warp->committed - timing->groups - 1; g >= 0 && g > warp->committed - GROUPS;
             g--)
            if (!is_open(&warp->group[g % GROUPS], now))
                return sleep_until(warp, WAIT_GLOBAL, end_of(&warp->group[g % GROUPS]));
    if (!pipe_is_free(sm, part, timing))
        return sleep_until(warp, wait_of_pipe(timing->pipe),
                           timing->pipe == PIPE_LSU ? NEVER : now);
    if (timing->fixed && !can_read(part, warp, &timing->operands, now))
        return sleep_until(warp, WAIT_REGISTERS, now);
    return WAITS;
}

/* ---- Issue */

static Wait kind_of(const Timing *timing) {
    if (timing->global) return WAIT_GLOBAL;
    return timing->pipe == PIPE_LSU ? WAIT_SHARED : WAIT_OTHER;
}

static void promise(Warp *warp, unsigned barrier, Wait kind) {
    if (barrier == NO_BARRIER) return;
    warp->barrier[barrier].pending++;
    warp->barrier[barrier].kind = kind;
}

static void keep_promise(Event *event, double at) {
    event->pending--;
    event->at = fmax(event->at, at);
}

static void enqueue(Multiprocessor *sm, Partition *part, Warp *warp, const Timing *timing) {
    const double start = fmax(part->free[PIPE_LSU], sm->now);
    part->free[PIPE_LSU] = start + timing->busy;
    const int group = warp->committed % GROUPS;
    if (timing->kind == KIND_COPY) warp->group[group].pending++;
    promise(warp, timing->control.written, kind_of(timing));
    promise(warp, timing->control.read, kind_of(timing));
    part->queue[(part->first + part->queued++) % MOST_QUEUED] =
        (Request){warp, warp->block, timing, start + timing->busy, group};
}

/* A barrier that falls at a time that is known. */
static void set_barrier(Warp *warp, unsigned barrier, Wait kind, double at) {
    if (barrier == NO_BARRIER) return;
    promise(warp, barrier, kind);
    keep_promise(&warp->barrier[barrier], at);
}

/* A result that needs no queue. */
static void set_result(Multiprocessor *sm, Partition *part, Warp *warp, const Timing *timing) {
    const Pipe pipe = pipe_for(part, timing, sm->now);
    const double there = fmax(part->free[pipe], sm->now) + timing->busy;
    part->free[pipe] = there;
    if (timing->kind == KIND_COMMIT) return;
    set_barrier(warp, timing->control.written, kind_of(timing), there + timing->latency);
    set_barrier(warp, timing->control.read, kind_of(timing), there);
}

static void arrive(Multiprocessor *sm, Warp *warp) {
    const Machine *m = sm->in->machine;
    Place *place = &sm->place[warp->slot];
    sm->arrivals = fmax(sm->arrivals, sm->now) + m->barrier_warp;
    warp->stands = true;
    if (++place->arrived < place->left) return;
    place->arrived = 0;
    for (int w = 0; w < sm->in->warps; w++) {
        Warp *other = &sm->warp[warp->slot * sm->in->warps + w];
        other->stands = false;
        other->released = true;
        other->wake = 0;
        other->ready = fmax(other->ready, sm->arrivals + m->barrier_latency - m->barrier_warp);
    }
}

static void end_warp(Multiprocessor *sm, Warp *warp) {
    warp->ended = true;
    if (--sm->place[warp->slot].left > 0) return;
    sm->ended++;
    start_block(sm, warp->slot);
}

static void issue(Multiprocessor *sm, Partition *part, Warp *warp) {
    const Timing *timing = next_of(sm, warp);
    const double stall = timing->control.stall ? timing->control.stall : 1;
    if (timing->fixed) read_registers(part, warp, &timing->operands, sm->now);
    warp->ready = sm->now + stall;
    warp->released = warp->fetching = false;
    warp->step++;
    if (timing->pipe != PIPE_TENSOR && part->free[PIPE_TENSOR] > sm->now)
        part->free[PIPE_TENSOR] += timing->taken;
    if (timing->pipe == PIPE_LSU)
        enqueue(sm, part, warp, timing);
    else
        set_result(sm, part, warp, timing);
    if (timing->kind == KIND_COMMIT) {
        warp->committed++;
        warp->group[warp->committed % GROUPS] = (Event){.kind = WAIT_GLOBAL};
    }
    if (timing->kind == KIND_BARRIER) arrive(sm, warp);
    part->last = warp;
    sm->issued++;
    if (warp->step == path_of(sm, warp)->steps)
        end_warp(sm, warp);
    else
        enter_line(sm, part, warp);
}

/* ---- The shared pipe */

static void serve(Multiprocessor *sm, const Request *request) {
    const Timing *timing = request->timing;
    const double start = fmax(sm->lsu, request->handed);
    double there = sm->lsu = start + timing->shared;
    if (timing->filled > 0) {
        sm->fill = fmax(sm->fill, there) + timing->filled / sm->in->machine->l2_port;
        there = sm->fill;
    }
    there += timing->latency;
    if (request->warp->block != request->block) return;
    request->warp->wake = 0;
    if (timing->kind == KIND_COPY) keep_promise(&request->warp->group[request->group], there);
    if (timing->control.written != NO_BARRIER)
        keep_promise(&request->warp->barrier[timing->control.written], there);
    if (timing->control.read != NO_BARRIER)
        keep_promise(&request->warp->barrier[timing->control.read], start + SOURCES);
}

/* A queue has room again. */
static void wake_waiting(Multiprocessor *sm, int p) {
    for (int w = p; w < sm->warps; w += PARTITIONS)
        if (sm->warp[w].why == WAIT_LSU) sm->warp[w].wake = 0;
}

/* Partitions take turns. */
static void serve_requests(Multiprocessor *sm) {
    for (int tried = 0; tried < PARTITIONS && sm->lsu < sm->now + 1;) {
        const int p = sm->turn;
        Partition *part = &sm->partition[p];
        sm->turn = (sm->turn + 1) % PARTITIONS;
        if (part->queued == 0 || part->queue[part->first].handed > sm->now) {
            tried++;
            continue;
        }
        serve(sm, &part->queue[part->first]);
        part->first = (part->first + 1) % MOST_QUEUED;
        part->queued--;
        wake_waiting(sm, p);
        tried = 0;
    }
}

/* ---- Time */

/* Issues at most one instruction of a partition's warps: of the one that was last, else of the
 * youngest. False if it issued none. */
static bool step_partition(Multiprocessor *sm, int p) {
    Partition *part = &sm->partition[p];
    Warp *chosen = NULL;
    for (int w = p; w < sm->warps; w += PARTITIONS) {
        Warp *warp = &sm->warp[w];
        if (warp->ended) continue;
        const Wait why = warp->wake > sm->now ? warp->why : why_not(sm, part, warp);
        if (why != WAITS) {
            sm->cycle[why]++;
            continue;
        }
        if (chosen) sm->cycle[WAIT_TURN]++;
        if (!chosen || warp == part->last || (chosen != part->last && warp->block >= chosen->block))
            chosen = warp;
    }
    if (chosen) issue(sm, part, chosen);
    return chosen;
}

/* The next cycle in which something may change, if nothing was issued in this one. */
static double next_time(const Multiprocessor *sm) {
    double next = NEVER;
    for (int p = 0; p < PARTITIONS; p++) {
        const Partition *part = &sm->partition[p];
        if (part->queued) next = fmin(next, fmax(sm->lsu, part->queue[part->first].handed));
    }
    for (int w = 0; w < sm->warps; w++)
        if (!sm->warp[w].ended) next = fmin(next, sm->warp[w].wake);
    return fmax(sm->now + 1, floor(next));
}

/* Goes on to the next cycle in which something may change. False if there is none. */
static bool go_on(Multiprocessor *sm) {
    bool busy = false;
    serve_requests(sm);
    for (int w = 0; w < WAITS; w++) sm->cycle[w] = 0;
    for (int p = 0; p < PARTITIONS; p++) busy |= step_partition(sm, p);
    const double next = busy ? sm->now + 1 : next_time(sm);
    if (next >= NEVER) return false;
    for (int w = 0; w < WAITS; w++) sm->waited[w] += sm->cycle[w] * (next - sm->now);
    sm->now = next;
    return true;
}

/* Goes on until so many blocks have ended. False if no warp can ever go on. */
static bool run_until(Multiprocessor *sm, int blocks) {
    while (sm->ended < blocks)
        if (!go_on(sm)) return false;
    return true;
}

/* What counts is from the end of the first generation until the last blocks are alone: instructions
 * in a cycle; 0 if no warp can ever go on. */
static double run(Multiprocessor *sm, int blocks) {
    const int resident = sm->in->resident;
    for (int slot = 0; slot < resident; slot++) start_block(sm, slot);
    if (!run_until(sm, resident)) return 0;
    const double from = sm->now, issued = sm->issued;
    if (!run_until(sm, blocks - resident)) return 0;
    return (sm->issued - issued) / (sm->now - from);
}

/* Instructions of an average warp. */
static double expected(const ReplayInput *in) {
    double sum = 0;
    for (int p = 0; p < in->paths; p++) sum += in->path[p].expected;
    return sum / in->paths;
}

/* Three generations of blocks at least, and a block of each path in those that count. */
static int total_of(const ReplayInput *in) {
    const int least = 3 * in->resident + in->paths - 1;
    return (int)fmin(fmax(least, BUDGET / (expected(in) * in->warps)), 8 * in->resident + least);
}

Replay replay_run(const ReplayInput *in) {
    Multiprocessor sm = {.in = in, .warps = in->warps * in->resident};
    Replay replay = {0};
    double waited = 0;
    sm.warp = list_zeroed((size_t)sm.warps, sizeof *sm.warp);
    sm.place = list_zeroed((size_t)in->resident, sizeof *sm.place);
    for (int p = 0; p < PARTITIONS; p++) sm.partition[p].code = code_cache(in->machine->code_kib);
    const double rate = run(&sm, total_of(in));
    if (rate > 0) replay.cycles = expected(in) * in->warps / rate;
    replay.issued = rate / PARTITIONS;
    for (int w = 0; w < WAITS; w++) waited += sm.waited[w];
    for (int w = 0; w < WAITS; w++) replay.waits[w] = waited > 0 ? sm.waited[w] / waited : 0;
    free(sm.warp);
    free(sm.place);
    return replay;
}

static const struct {
    const char *key, *name;
} names[WAITS] = {
    [WAIT_STALL] = {"stall", "stall counts"},
    [WAIT_CODE] = {"code", "instructions"},
    [WAIT_GLOBAL] = {"global", "global memory"},
    [WAIT_SHARED] = {"shared", "shared memory, shuffles"},
    [WAIT_OTHER] = {"other", "MUFU, special registers"},
    [WAIT_BARRIER] = {"barrier", "barriers"},
    [WAIT_REGISTERS] = {"registers", "banks of registers"},
    [WAIT_FMA] = {"fma", "FMA pipe busy"},
    [WAIT_ALU] = {"alu", "ALU pipe busy"},
    [WAIT_MUFU] = {"mufu", "MUFU pipe busy"},
    [WAIT_TENSOR] = {"tensor", "tensor cores busy"},
    [WAIT_LSU] = {"lsu", "queue to shared memory and L1 full"},
    [WAIT_TURN] = {"turn", "another warp's turn"},
};

const char *wait_name(Wait wait) { return names[wait].name; }
const char *wait_key(Wait wait) { return names[wait].key; }
