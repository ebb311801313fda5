#include "report/record.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

/* ---- Beginning and end ----------------------------------------------------------------------- */

Record *record_new(const Kernel *kernel, uint64_t index, const uint32_t grid[3],
                   const uint32_t threads[3]) {
    Record *record = calloc(1, sizeof *record);
    if (!record) abort();
    record->kernel = kernel;
    record->index = index;
    memcpy(record->grid, grid, sizeof record->grid);
    memcpy(record->threads, threads, sizeof record->threads);
    return record;
}

static void free_phases(Phase *phase, int count) {
    for (int i = 0; i < count; i++) {
        free(phase[i].arrival.at);
        free(phase[i].wait.at);
    }
    free(phase);
}

/* All lists are empty again. */
static void clear(Record *record) {
    for (int i = 0; i < record->warps; i++) {
        free(record->warp[i].run.at);
        free(record->warp[i].request.at);
        free(record->warp[i].divergent.at);
    }
    for (int i = 0; i < record->layout.count; i++) free(record->layout.at[i].offset);
    free_phases(record->phase.at, record->phase.count);
    free_phases(record->barrier.at, record->barrier.count);
    free(record->warp);
    free(record->flight.at);
    free(record->transfer.at);
    free(record->product.at);
    free(record->layout.at);
    free(record->tensor.at);
    free(record->variable.at);
    free(record->count);
    free(record->fault.text);
    footprints_clear(&record->footprints);
}

void record_free(Record *record) {
    if (!record) return;
    clear(record);
    free(record);
}

void record_begin(Record *record, const Block *block) {
    Record fresh = {.kernel = record->kernel, .index = record->index};
    memcpy(fresh.grid, record->grid, sizeof fresh.grid);
    memcpy(fresh.threads, record->threads, sizeof fresh.threads);
    clear(record);
    *record = fresh;
    record->shared_bytes = block->shared_bytes;
    record->late = block->settings->late;
    record->warps = block->warps;
    record->warp = calloc((size_t)block->warps, sizeof *record->warp);
    record->count = calloc((size_t)record->kernel->ops, sizeof *record->count);
    if (!record->warp || !record->count) abort();
    for (int i = 0; i < record->warps; i++)
        for (int q = 0; q < QUEUES; q++) record->warp[i].open[q] = -1;
    memcpy(record->count, block->count, (size_t)record->kernel->ops * sizeof *record->count);
    record_find_tensors(record);
    record_find_variables(record);
}

/* The counters of the block's thread grow: what it had before is taken off. */
void record_end(Record *record, const Block *block) {
    memcpy(record->block, block->index, sizeof record->block);
    for (int i = 0; i < record->kernel->ops; i++) {
        InstructionCount *before = &record->count[i];
        const InstructionCount *after = &block->count[i];
        *before = (InstructionCount){
            .executions = after->executions - before->executions,
            .lanes = after->lanes - before->lanes,
            .divergent = after->divergent - before->divergent,
            .requests = after->requests - before->requests,
            .units = after->units - before->units,
            .ideal_units = after->ideal_units - before->ideal_units,
            .second_units = after->second_units - before->second_units,
            .second_ideal_units = after->second_ideal_units - before->second_ideal_units,
        };
    }
    record->fault.text = strdup(block->report);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

void observe_step(Record *record, const Warp *warp, const Op *op) {
    WarpRecord *mine = &record->warp[warp->index];
    Run *last = mine->run.count ? &mine->run.at[mine->run.count - 1] : NULL;
    const bool follows = last && last->mask == warp->mask &&
                         last->first + (int)last->steps == op->index &&
                         last->time + last->steps == mine->time;
    if (follows)
        last->steps++;
    else
        *LIST_ADD(mine->run) = (Run){op->index, 1, warp->mask, mine->time};
    mine->steps++;
    mine->time++;
}

void observe_taken_back(Record *record, const Warp *warp) {
    WarpRecord *mine = &record->warp[warp->index];
    if (--mine->run.at[mine->run.count - 1].steps == 0) mine->run.count--;
    mine->steps--;
    mine->time--;
}

uint64_t observe_clock(const Record *record, const Warp *warp) {
    return record->warp[warp->index].time;
}

void observe_divergence(Record *record, const Warp *warp) {
    *LIST_ADD(record->warp[warp->index].divergent) = record_now(record, warp->index);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void add_request(Record *record, const Warp *warp, FootprintKey *key,
                        const uint64_t address[LANES], int64_t base, Units units) {
    const unsigned first = (unsigned)__builtin_ctz(key->mask);
    for (unsigned l = 0; l < LANES; l++)
        if (key->mask >> l & 1) key->distance[l] = (int64_t)(address[l] - address[first]);
    *LIST_ADD(record->warp[warp->index].request) = (Request){
        record_now(record, warp->index), footprint_find(&record->footprints, key, units), base};
}

static FootprintKey new_key(FootprintSpace space, uint32_t mask, unsigned bytes) {
    FootprintKey key;
    memset(&key, 0, sizeof key); /* keys are compared byte by byte */
    key.space = space;
    key.mask = mask;
    key.bytes = bytes;
    return key;
}

/* The flight that the operation of the current step joins. */
static int join_flight(Record *record, const Warp *warp, FlightKind kind, RaceQueue queue,
                       uint64_t bytes) {
    WarpRecord *mine = &record->warp[warp->index];
    const uint32_t now = record_now(record, warp->index);
    if (mine->open[queue] < 0) {
        mine->open[queue] = record->flight.count;
        *LIST_ADD(record->flight) = (Flight){.kind = kind,
                                             .warp = warp->index,
                                             .group = mine->groups[queue],
                                             .first = now,
                                             .commit = NO_STEP,
                                             .wait = NO_STEP,
                                             .phase = -1};
    }
    Flight *flight = &record->flight.at[mine->open[queue]];
    flight->last = now;
    flight->operations++;
    flight->bytes += bytes;
    return mine->open[queue];
}

void observe_shared(Record *record, const Warp *warp, const uint32_t address[LANES], uint32_t mask,
                    unsigned bytes, int matrices, Units units) {
    uint64_t wide[LANES];
    if (warp->op->class == CLASS_MBARRIER) return; /* the arrival after cp.async costs nothing */
    FootprintKey key = new_key(FOOTPRINT_SHARED, mask, bytes);
    for (unsigned l = 0; l < LANES; l++) wide[l] = address[l];
    const uint32_t base = address[__builtin_ctz(mask)];
    key.matrices = (uint16_t)matrices;
    key.alone = warp->op->alone;
    key.residue = base % (BANK_COUNT * BANK_BYTES);
    add_request(record, warp, &key, wide, base, units);
    if (warp->op->class == CLASS_CP_ASYNC)
        join_flight(record, warp, FLIGHT_COPY, RACE_COPY,
                    (uint64_t)bytes * (uint64_t)__builtin_popcount(mask));
}

void observe_global(Record *record, const Warp *warp, const uint64_t address[LANES], uint32_t mask,
                    unsigned bytes, Units units) {
    FootprintKey key = new_key(FOOTPRINT_GLOBAL, mask, bytes);
    const uint64_t first = address[__builtin_ctz(mask)];
    int64_t base;
    key.tensor = record_tensor(record, first, &base);
    key.residue = (uint32_t)(first % SECTOR_BYTES);
    add_request(record, warp, &key, address, base, units);
}

void observe_local(Record *record, const Warp *warp, const uint64_t address[LANES], uint32_t mask,
                   unsigned bytes) {
    FootprintKey key = new_key(FOOTPRINT_LOCAL, mask, bytes);
    add_request(record, warp, &key, address, (int64_t)address[__builtin_ctz(mask)], (Units){0, 0});
}

void observe_shuffle(Record *record, const Warp *warp, const uint8_t from[LANES]) {
    FootprintKey key = new_key(FOOTPRINT_LANES, warp->mask, sizeof(uint32_t));
    for (unsigned l = 0; l < LANES; l++)
        if (warp->mask >> l & 1) key.distance[l] = from[l];
    *LIST_ADD(record->warp[warp->index].request) =
        (Request){record_now(record, warp->index),
                  footprint_find(&record->footprints, &key, (Units){0, 0}), 0};
}

/* ---- In flight ------------------------------------------------------------------------------- */

static Phase *current_phase(Record *record, uint32_t mbarrier) {
    for (int i = record->phase.count - 1; i >= 0; i--)
        if (record->phase.at[i].where == mbarrier) return &record->phase.at[i];
    return NULL;
}

static void raise_to(uint64_t *time, uint64_t least) {
    if (*time < least) *time = least;
}

static int issue_load(Record *record, const Bulk *bulk) {
    const int warp = bulk->warp->index;
    const uint32_t now = record_now(record, warp);
    Phase *phase = current_phase(record, bulk->mbarrier);
    *LIST_ADD(record->flight) = (Flight){.kind = FLIGHT_LOAD,
                                         .warp = warp,
                                         .first = now,
                                         .last = now,
                                         .commit = NO_STEP,
                                         .wait = NO_STEP,
                                         .operations = 1,
                                         .bytes = bulk->bytes,
                                         .phase = phase ? (int)(phase - record->phase.at) : -1};
    if (phase) raise_to(&phase->time, record->warp[warp].time);
    return record->flight.count - 1;
}

/* The first byte that a bulk copy touches in global memory, were it all inside the tensor. */
static uint64_t first_byte(const Bulk *bulk) {
    if (!bulk->map.rank) return bulk->global;
    uint64_t at = bulk->map.base;
    for (unsigned i = 0; i < bulk->map.rank; i++)
        at +=
            (uint64_t)(int64_t)bulk->start[i] * (i ? bulk->map.stride[i] : bulk->map.element_bytes);
    return at;
}

void observe_bulk(Record *record, const Bulk *bulk, Units units) {
    const bool stores = bulk->op->mode;
    const uint64_t first = first_byte(bulk);
    Transfer transfer = {
        .flight = stores ? join_flight(record, bulk->warp, FLIGHT_STORE, RACE_BULK, bulk->bytes)
                         : issue_load(record, bulk),
        .warp = bulk->warp->index,
        .step = record_now(record, bulk->warp->index),
        .stores = stores,
        .shared = bulk->shared,
        .bytes = bulk->bytes,
        .layout = record_box(record, bulk, first),
        .rank = bulk->map.rank,
        .units = units,
    };
    const uint64_t inside = bulk->map.rank ? bulk->map.base : bulk->global;
    transfer.tensor = record_tensor(record, inside, &transfer.base);
    transfer.base += (int64_t)(first - inside);
    memcpy(transfer.start, bulk->start, sizeof transfer.start);
    *LIST_ADD(record->transfer) = transfer;
}

void observe_wgmma(Record *record, const Warp *warp, const Wgmma *wgmma, const WgmmaTile *a,
                   const WgmmaTile *b) {
    const Product product = {
        .flight = join_flight(record, warp, FLIGHT_WGMMA, RACE_WGMMA, 0),
        .warp = warp->index,
        .step = record_now(record, warp->index),
        .a_descriptor = a ? wgmma->a_descriptor : 0,
        .b_descriptor = wgmma->b_descriptor,
        .a = a ? record_operand(record, a) : -1,
        .b = record_operand(record, b),
        .n = b->rows,
        .accumulate = wgmma->accumulate,
        .a_transposed = a && a->transposed,
        .b_transposed = b->transposed,
    };
    *LIST_ADD(record->product) = product;
}

void observe_commit(Record *record, const Warp *warp, RaceQueue queue) {
    WarpRecord *mine = &record->warp[warp->index];
    const int open = mine->open[queue];
    if (open >= 0) record->flight.at[open].commit = record_now(record, warp->index);
    mine->open[queue] = -1;
    mine->groups[queue]++;
}

void observe_wait(Record *record, const Warp *warp, RaceQueue queue, int keep) {
    static const FlightKind kind_of[] = {FLIGHT_COPY, FLIGHT_STORE, FLIGHT_WGMMA};
    WarpRecord *mine = &record->warp[warp->index];
    for (int i = record->flight.count - 1; i >= 0; i--) {
        Flight *flight = &record->flight.at[i];
        if (flight->warp != warp->index || flight->kind != kind_of[queue]) continue;
        if (flight->wait != NO_STEP) break; /* groups end in order */
        if (keep < 0) mine->open[queue] = -1;
        if (keep < 0 || flight->group + (uint32_t)keep < mine->groups[queue])
            flight->wait = record_now(record, warp->index);
    }
}

/* ---- Barriers -------------------------------------------------------------------------------- */

/* Whoever waits goes on after the last arrival. */
static void release(Record *record, Phase *phase, int warp) {
    const uint32_t now = record_now(record, warp);
    const Arrival *last = phase->wait.count ? &phase->wait.at[phase->wait.count - 1] : NULL;
    if (last && last->warp == warp && last->step == now) return; /* another lane */
    *LIST_ADD(phase->wait) = (Arrival){warp, now, 0};
    raise_to(&record->warp[warp].time, phase->time);
}

static void arrive(Record *record, Phase *phase, int warp, uint32_t count) {
    const uint32_t now = record_now(record, warp);
    Arrival *last = phase->arrival.count ? &phase->arrival.at[phase->arrival.count - 1] : NULL;
    if (last && last->warp == warp && last->step == now)
        last->count += count; /* another lane */
    else
        *LIST_ADD(phase->arrival) = (Arrival){warp, now, count};
    raise_to(&phase->time, record->warp[warp].time);
}

static Phase *open_barrier(Record *record, uint32_t id) {
    for (int i = record->barrier.count - 1; i >= 0; i--) {
        Phase *use = &record->barrier.at[i];
        if (use->where == id && !use->complete) return use;
    }
    return NULL;
}

void observe_barrier_arrive(Record *record, const Warp *warp, uint32_t id) {
    Phase *use = open_barrier(record, id);
    if (!use) {
        uint32_t number = 0;
        for (int i = 0; i < record->barrier.count; i++) number += record->barrier.at[i].where == id;
        use = LIST_ADD(record->barrier);
        use->where = id;
        use->number = number;
    }
    arrive(record, use, warp->index, LANES);
}

void observe_barrier_release(Record *record, uint32_t id, uint32_t waiting_warps) {
    Phase *use = open_barrier(record, id);
    if (!use) return;
    use->complete = true;
    for (int w = 0; w < record->warps; w++)
        if (waiting_warps >> w & 1) release(record, use, w);
}

static void next_phase(Record *record, uint32_t mbarrier, uint32_t expected, uint32_t number) {
    Phase *phase = LIST_ADD(record->phase);
    phase->where = mbarrier;
    phase->expected = expected;
    phase->number = number;
}

void observe_mbarrier_init(Record *record, const Warp *warp, uint32_t mbarrier, uint32_t count) {
    (void)warp;
    next_phase(record, mbarrier, count, 0);
}

void observe_mbarrier_arrive(Record *record, const Warp *warp, uint32_t mbarrier, uint32_t count) {
    Phase *phase = current_phase(record, mbarrier);
    if (phase) arrive(record, phase, warp->index, count);
}

void observe_mbarrier_complete(Record *record, uint32_t mbarrier) {
    Phase *phase = current_phase(record, mbarrier);
    if (!phase) return;
    const uint32_t expected = phase->expected, number = phase->number;
    phase->complete = true;
    next_phase(record, mbarrier, expected, number + 1);
}

/* The phase that was waited for is the one before the one in progress. */
void observe_mbarrier_acquire(Record *record, const Warp *warp, uint32_t mbarrier) {
    Phase *phase = current_phase(record, mbarrier);
    if (!phase || phase->number == 0) return;
    do phase--;
    while (phase->where != mbarrier);
    release(record, phase, warp->index);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* The last step of a warp at an instruction, NO_STEP: it never was there. */
static uint32_t last_step_at(const WarpRecord *warp, uint32_t op) {
    uint32_t after = warp->steps;
    for (int i = warp->run.count - 1; i >= 0; i--) {
        const Run *run = &warp->run.at[i];
        const uint32_t first = (uint32_t)run->first;
        after -= run->steps;
        if (op >= first && op < first + run->steps) return after + (op - first);
    }
    return NO_STEP;
}

void observe_fault(Record *record, const Warp *warp, int lane, const RaceReport *race) {
    RecordedFault *fault = &record->fault;
    *fault = (RecordedFault){.happened = true, .warp = -1, .lane = lane, .race = race != NULL};
    if (warp) {
        fault->warp = warp->index;
        fault->step = record_now(record, warp->index);
    }
    if (!race) return;
    fault->sides = *race;
    fault->earlier_step = last_step_at(&record->warp[race->earlier.warp], race->earlier.source);
    fault->later_step = last_step_at(&record->warp[race->later.warp], race->later.source);
}
