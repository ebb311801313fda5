/* What a record keeps of what it is told, one call after another. Catches: a step, a flight or a
 * copy that belongs to another warp or another group, a lane that is off and counts, what is beyond
 * a list. */
#include <stdlib.h>
#include <string.h>

#include "machine/memory/memory.h"
#include "report/test/observed.h"
#include "test/tap.h"

/* What a block has counted before it begins is taken off; a second block begins with nothing but
 * the shapes. */
static void test_beginning(void) {
    static const uint32_t grid[] = {2, 3, 4}, shape[] = {5, 6, 7};
    InstructionCount count[] = {{9, 8, 7, 6, 5, 4, 3, 2}, {1, 1, 1, 1, 1, 1, 1, 1}};
    const InstructionCount more[] = {{19, 28, 37, 46, 55, 64, 73, 82}, {1, 2, 3, 4, 5, 6, 7, 8}},
                           grown[] = {{10, 20, 30, 40, 50, 60, 70, 80}, {0, 1, 2, 3, 4, 5, 6, 7}};
    kernel.function = &function;
    kernel.ops = 2;
    block.count = count;
    block.shared_bytes = 100;
    memcpy(block.index, (uint32_t[]){1, 2, 3}, sizeof block.index);
    settings.late = true;
    Record *record = record_new(&kernel, 12, grid, shape);
    for (int round = 0; round < 2; round++) {
        memcpy(count, (InstructionCount[]){{9, 8, 7, 6, 5, 4, 3, 2}, {1, 1, 1, 1, 1, 1, 1, 1}},
               sizeof count);
        record_begin(record, &block);
        ok(record->kernel == &kernel && record->index == 12 && record->late &&
               record->shared_bytes == 100 && record->warps == WARPS &&
               memcmp(record->grid, grid, sizeof grid) == 0 &&
               memcmp(record->threads, shape, sizeof shape) == 0,
           "a record knows its kernel, block and shapes");
        ok(!record->flight.count && !record->transfer.count && !record->product.count &&
               !record->layout.count && !record->phase.count && !record->barrier.count &&
               !record->tensor.count && !record->variable.count && !record->footprints.count &&
               !record->fault.happened && !record->cut && !record->warp[1].steps,
           "and nothing else");
        ok(record->warp[0].open[0] == -1 && record->warp[WARPS - 1].open[QUEUES - 1] == -1,
           "all groups are empty");
        LIST_ADD(record->flight)->warp = LIST_ADD(record->transfer)->warp = 1;
        LIST_ADD(record->product)->warp = LIST_ADD(record->tensor)->parameter = 1;
        LIST_ADD(record->phase)->where = LIST_ADD(record->barrier)->where = 1;
        *LIST_ADD(record->variable) = NULL;
        record->cut = record->warp[1].steps = 1;
        record->fault.happened = true;
        memcpy(count, more, sizeof more);
        strcpy(block.report, "so");
        record_end(record, &block);
        ok(memcmp(record->count, grown, sizeof grown) == 0, "counters are of this block");
        ok(memcmp(record->block, block.index, sizeof record->block) == 0, "and it has a place");
        is_text(record->fault.text, "so", "what a fault says is kept");
    }
    record_free(record);
    record_free(NULL);
    kernel.ops = 0;
}

static void test_steps(void) {
    Record *record = begin();
    const WarpRecord *mine = &record->warp[1];
    is_int(record_now(record, 1), 0, "before the first step it is step 0");
    step(record, 1, 4, CLASS_OTHER);
    step(record, 1, 5, CLASS_OTHER);
    warps[1].mask = 6;
    step(record, 1, 6, CLASS_OTHER);
    step(record, 1, 8, CLASS_OTHER);
    step(record, 1, 8, CLASS_OTHER);
    is_int(record_now(record, 1), 4, "the fifth is step 4");
    ok(mine->run.count == 4 && mine->steps == 5 && observe_clock(record, &warps[1]) == 5,
       "five steps in four runs");
    ok(mine->run.at[0].first == 4 && mine->run.at[0].steps == 2 && mine->run.at[0].time == 0,
       "neighbours are one");
    ok(mine->run.at[1].mask == 6 && mine->run.at[1].time == 2, "but for other lanes");
    ok(mine->run.at[3].first == 8 && mine->run.at[3].time == 4, "the same again is a new one");
    observe_divergence(record, &warps[1]);
    ok(mine->divergent.count == 1 && mine->divergent.at[0] == 4, "a branch is of the last step");
    ok(!record->warp[0].steps && !record->warp[2].steps, "other warps have none");
    observe_taken_back(record, &warps[1]);
    ok(mine->run.count == 3 && mine->steps == 4 && record_now(record, 1) == 3,
       "a step that is taken back has not been");
    step(record, 1, 9, CLASS_OTHER);
    observe_taken_back(record, &warps[1]);
    ok(mine->run.count == 3 && mine->run.at[2].steps == 1 && mine->steps == 4,
       "nor has a neighbour");
    record_free(record);
}

static const Footprint *last_footprint(const Record *record, int w) {
    const WarpRecord *mine = &record->warp[w];
    return &record->footprints.at[mine->request.at[mine->request.count - 1].footprint];
}

static const Request *last_request(const Record *record, int w) {
    return &record->warp[w].request.at[record->warp[w].request.count - 1];
}

/* Whether the distances of lanes are these, those of the others 0. */
static bool has_distances(const Footprint *f, uint32_t mask, int64_t each, int64_t start) {
    for (int l = 0; l < LANES; l++)
        if (f->key.distance[l] != (mask >> l & 1 ? each * l + start : 0)) return false;
    return f->key.mask == mask;
}

static void test_requests(void) {
    Record *record = begin();
    uint32_t address[LANES];
    uint64_t wide[LANES];
    uint8_t from[LANES];
    for (unsigned l = 0; l < LANES; l++)
        address[l] = 1024 + 200 + 4 * l, wide[l] = (1ull << 40) + 8 + 4 * l,
        from[l] = (uint8_t)(31 - l);
    const uint32_t mask = 0xfffffff4;
    step(record, 1, 0, CLASS_SHARED_LOAD);
    step(record, 1, 1, CLASS_SHARED_LOAD);
    observe_shared(record, &warps[1], address, mask, 4, 2, (Units){1, 1});
    const Footprint *f = last_footprint(record, 1);
    ok(has_distances(f, mask, 4, -8) && f->key.residue == 80 && f->key.bytes == 4 &&
           f->key.matrices == 2 && f->key.space == FOOTPRINT_SHARED,
       "lanes of a request in shared memory, from the first that is on");
    ok(last_request(record, 1)->base == 1024 + 208 && last_request(record, 1)->step == 1,
       "at its place and step");
    ok(record->flight.count == 0, "is no flight");
    observe_global(record, &warps[1], wide, mask, 4, (Units){5, 4});
    f = last_footprint(record, 1);
    ok(has_distances(f, mask, 4, -8) && f->key.residue == 16 && f->key.tensor == -1 &&
           f->key.space == FOOTPRINT_GLOBAL && f->units.actual == 5 && f->units.ideal == 4,
       "in global memory");
    ok(last_request(record, 1)->base == (1LL << 40) + 16, "where nothing is allocated");
    observe_local(record, &warps[1], wide, mask, 8);
    f = last_footprint(record, 1);
    ok(has_distances(f, mask, 4, -8) && f->key.bytes == 8 && f->key.space == FOOTPRINT_LOCAL &&
           f->units.actual == 0 && f->units.ideal == 0,
       "in local memory");
    ok(last_request(record, 1)->base == (1LL << 40) + 16, "at its place");
    warps[1].mask = mask;
    observe_shuffle(record, &warps[1], from);
    f = last_footprint(record, 1);
    ok(has_distances(f, mask, -1, 31) && f->key.bytes == 4 && f->key.space == FOOTPRINT_LANES &&
           f->units.actual == 0 && f->units.ideal == 0 && last_request(record, 1)->base == 0,
       "a shuffle: the lanes that are read");
    step(record, 1, 2, CLASS_MBARRIER);
    observe_shared(record, &warps[1], address, mask, 8, 0, (Units){1, 1});
    ok(record->warp[1].request.count == 4 && record->footprints.count == 4,
       "an arrival is no request");
    record_free(record);
}

/* Lanes that want one word: a load serves them together, compare-and-swap one after the other. */
static void test_atomic(void) {
    static Op op = {.class = CLASS_SHARED_ATOMIC};
    Record *record = begin();
    uint32_t address[LANES];
    for (unsigned l = 0; l < LANES; l++) address[l] = 1024;
    for (unsigned alone = 0; alone <= 2; alone += 2) {
        op.alone = (uint8_t)alone;
        warps[1].op = &op;
        observe_step(record, &warps[1], &op);
        observe_shared(record, &warps[1], address, UINT32_MAX, 4, 0, (Units){1, 1});
        const Footprint *f = last_footprint(record, 1);
        ok(f->unit[0] == 0 && f->unit[31] == 31 * alone, "%u each: the last lane in wavefront %u",
           alone, 31 * alone);
    }
    is_int(record->footprints.count, 2, "which are two footprints");
    record_free(record);
}

/* ---- In flight ------------------------------------------------------------------------------- */

static void copy(Record *record, int w) {
    static const uint32_t address[LANES];
    step(record, w, 7, CLASS_CP_ASYNC);
    observe_shared(record, &warps[w], address, 0xff0, 16, 0, (Units){1, 1});
}

static void commit(Record *record, int w) {
    step(record, w, 8, CLASS_OTHER);
    observe_commit(record, &warps[w], RACE_COPY);
}

static void wait(Record *record, int w, int keep) {
    step(record, w, 9, CLASS_OTHER);
    observe_wait(record, &warps[w], RACE_COPY, keep);
}

static bool is_flight(const Record *record, int i, const int64_t expected[6]) {
    const Flight *f = &record->flight.at[i];
    const int64_t got[] = {f->warp, f->group, f->first, f->last, f->commit, f->wait};
    if (memcmp(got, expected, sizeof got) == 0) return true;
    for (int k = 0; k < 6; k++) printf("# %lld\n", (long long)got[k]);
    return false;
}

static void test_groups(void) {
    Record *record = begin();
    copy(record, 0), copy(record, 0), copy(record, 1), commit(record, 0);
    ok(record->warp[0].open[RACE_COPY] == -1 && record->warp[1].open[RACE_COPY] == 1,
       "what is committed is not open");
    commit(record, 0); /* a group of nothing */
    copy(record, 0), commit(record, 0), copy(record, 0);
    is_int(record->flight.count, 4, "two groups of a warp, what it has begun, and one of another");
    ok(record->flight.at[0].operations == 2 && record->flight.at[0].bytes == 2 * 8 * 16 &&
           record->flight.at[1].operations == 1 && record->flight.at[1].bytes == 8 * 16,
       "copies, and the bytes of the lanes that are on");
    ok(record->flight.at[0].kind == FLIGHT_COPY && record->flight.at[0].phase == -1, "no load");
    wait(record, 0, 2);
    ok(is_flight(record, 0, (int64_t[]){0, 0, 0, 1, 2, 7}), "all but two groups are waited for");
    ok(is_flight(record, 2, (int64_t[]){0, 2, 4, 4, 5, NO_STEP}), "this one is not");
    ok(is_flight(record, 3, (int64_t[]){0, 3, 6, 6, NO_STEP, NO_STEP}), "nor what is open");
    ok(is_flight(record, 1, (int64_t[]){1, 0, 0, 0, NO_STEP, NO_STEP}), "nor that of another warp");
    wait(record, 0, 0);
    ok(is_flight(record, 0, (int64_t[]){0, 0, 0, 1, 2, 7}), "what has ended has ended");
    ok(is_flight(record, 2, (int64_t[]){0, 2, 4, 4, 5, 8}), "all groups that are closed");
    ok(is_flight(record, 3, (int64_t[]){0, 3, 6, 6, NO_STEP, NO_STEP}), "not what is open");
    wait(record, 0, -1);
    ok(is_flight(record, 3, (int64_t[]){0, 3, 6, 6, NO_STEP, 9}), "which all have to wait for");
    copy(record, 0);
    ok(record->flight.count == 5 && record->flight.at[4].group == 3, "then it is a new one");
    ok(is_flight(record, 1, (int64_t[]){1, 0, 0, 0, NO_STEP, NO_STEP}), "the other warp goes on");
    copy(record, 1);
    ok(is_flight(record, 1, (int64_t[]){1, 0, 0, 1, NO_STEP, NO_STEP}), "with its own flight");
    wait(record, 1, 0);
    copy(record, 1);
    ok(record->flight.count == 5 && is_flight(record, 1, (int64_t[]){1, 0, 0, 3, NO_STEP, NO_STEP}),
       "a wait for what is closed leaves it open");
    wait(record, 1, -1);
    ok(is_flight(record, 1, (int64_t[]){1, 0, 0, 3, NO_STEP, 4}), "all ends the first group, too");
    copy(record, 1), commit(record, 1);
    observe_wait(record, &warps[1], RACE_BULK, -1);
    ok(is_flight(record, 5, (int64_t[]){1, 0, 5, 5, 6, NO_STEP}), "each has its own kind");
    record_free(record);
}

/* What is beyond the end of a list is nothing, whatever it looks like. */
static void test_ends(void) {
    Record *record = begin();
    const Run run = {7, 1, UINT32_MAX, 0};
    *LIST_ADD(record->warp[0].run) = run, *LIST_ADD(record->warp[0].run) = run;
    record->warp[0].run.count = 0;
    step(record, 0, 8, CLASS_OTHER);
    *LIST_ADD(record->warp[0].run) = (Run){9, 1, UINT32_MAX, 0};
    *LIST_ADD(record->warp[0].run) = (Run){9, 1, UINT32_MAX, 0};
    record->warp[0].run.count = 1;
    step(record, 0, 10, CLASS_OTHER);
    ok(record->warp[0].run.count == 2 && record->warp[0].run.at[1].first == 10, "no run");
    copy(record, 0), commit(record, 0);
    for (int i = 0; i < 2; i++)
        *LIST_ADD(record->flight) = (Flight){.kind = FLIGHT_COPY, .wait = i ? NO_STEP : 1};
    record->flight.count = 1;
    wait(record, 0, 0);
    ok(record->flight.at[0].wait == 4 && record->flight.at[1].wait == 1 &&
           record->flight.at[2].wait == NO_STEP,
       "no flight");
    record_free(record);
}

/* A bulk copy of 64 bytes. */
static Bulk bulk_of(int w, uint64_t global, bool stores, uint32_t mbarrier) {
    static const Instruction source;
    static Op op[2] = {{.source = &source, .mode = 0}, {.source = &source, .mode = 1}};
    return (Bulk){.op = &op[stores],
                  .warp = &warps[w],
                  .shared = 2048,
                  .bytes = 64,
                  .global = global,
                  .mbarrier = mbarrier};
}

static void test_bulk(void) {
    Record *record = begin();
    char *memory = memory_allocate(256);
    const uint64_t start = (uint64_t)(uintptr_t)memory;
    *LIST_ADD(record->tensor) = (Tensor){0, start + 16, start, start + 256};
    step(record, 0, 0, CLASS_OTHER), step(record, 0, 1, CLASS_OTHER);
    observe_mbarrier_init(record, &warps[0], 1024, 3);
    observe_mbarrier_init(record, &warps[0], 1032, 1);
    Bulk bulk = bulk_of(0, start + 32, false, 1024);
    observe_bulk(record, &bulk, (Units){2, 2});
    const Flight *f = &record->flight.at[0];
    ok(f->kind == FLIGHT_LOAD && f->warp == 0 && f->first == 1 && f->last == 1 && f->phase == 0 &&
           f->commit == NO_STEP && f->wait == NO_STEP && f->operations == 1 && f->bytes == 64,
       "a load, which completes a phase");
    const Transfer *t = &record->transfer.at[0];
    ok(t->flight == 0 && t->warp == 0 && t->step == 1 && !t->stores && t->shared == 2048 &&
           t->bytes == 64 && t->tensor == 0 && t->base == 16 && t->layout == -1 && t->rank == 0,
       "of bytes of a tensor, without a box");
    is_int((long long)record->phase.at[0].time, 2, "the phase is not over before");
    is_int((long long)record->phase.at[1].time, 0, "another one may be");
    bulk = bulk_of(0, start + 256, false, 1040);
    observe_bulk(record, &bulk, (Units){2, 2});
    ok(record->flight.at[1].phase == -1 && record->transfer.at[1].tensor == -1 &&
           record->transfer.at[1].base == (int64_t)start + 256,
       "a load of no mbarrier that is known, from no tensor");
    bulk = bulk_of(1, start, true, 0);
    step(record, 1, 3, CLASS_OTHER);
    observe_bulk(record, &bulk, (Units){2, 2});
    observe_bulk(record, &bulk, (Units){2, 2});
    ok(record->flight.count == 3 && record->flight.at[2].kind == FLIGHT_STORE &&
           record->flight.at[2].warp == 1 && record->flight.at[2].operations == 2 &&
           record->flight.at[2].bytes == 128 && record->flight.at[2].phase == -1,
       "two stores of a group");
    ok(record->transfer.at[3].flight == 2 && record->transfer.at[3].stores &&
           record->transfer.at[3].base == -16,
       "to what is before the tensor's pointer");
    observe_commit(record, &warps[1], RACE_BULK);
    observe_wait(record, &warps[1], RACE_COPY, 0);
    is_int(record->flight.at[2].wait, NO_STEP, "no wait for copies ends them");
    observe_wait(record, &warps[1], RACE_BULK, 0);
    ok(record->flight.at[2].wait == 0 && record->flight.at[0].wait == NO_STEP,
       "one for stores does");
    memory_release(memory);
    record_free(record);
}

/* A box in three dimensions, part of which is before the tensor. */
static void test_box(void) {
    Record *record = begin();
    Bulk bulk = bulk_of(0, 0, false, 0);
    const TensorMap map = {.base = 1 << 20,
                           .stride = {2, 100, 1000},
                           .size = {49, 9, 9},
                           .box = {8, 2, 2},
                           .step = {1, 1, 1},
                           .rank = 3,
                           .element_bytes = 2};
    bulk.map = map;
    bulk.map.stride[3] = 10000; /* of a dimension that is not there */
    bulk.start[0] = 3, bulk.start[1] = -1, bulk.start[2] = 4, bulk.start[3] = 7;
    observe_bulk(record, &bulk, (Units){1, 1});
    const Transfer *t = &record->transfer.at[0];
    ok(t->base == (1 << 20) + 3 * 2 - 100 + 4 * 1000 && t->tensor == -1, "where a box begins");
    ok(t->layout == 0 && t->rank == 3 && t->start[0] == 3 && t->start[1] == -1 && t->start[2] == 4,
       "in three dimensions");
    record_free(record);
}

static void test_products(void) {
    Record *record = begin();
    const WgmmaTile a = {{2048, 128, 256, 0, 0}, 0, 64, true},
                    b = {{4096, 128, 256, 0, 0}, 0, 8, false};
    const Wgmma wgmma = {.a_descriptor = 11, .b_descriptor = 12, .accumulate = true};
    step(record, 2, 0, CLASS_OTHER), step(record, 2, 1, CLASS_WGMMA);
    observe_wgmma(record, &warps[2], &wgmma, &a, &b);
    observe_wgmma(record, &warps[2], &wgmma, NULL, &a);
    const Product *p = record->product.at;
    ok(p->flight == 0 && p->warp == 2 && p->step == 1 && p->n == 8 && p->accumulate, "a product");
    ok(p->a_descriptor == 11 && p->b_descriptor == 12 && p->a == 0 && p->b == 1 &&
           p->a_transposed && !p->b_transposed,
       "its operands");
    p++;
    ok(p->a_descriptor == 0 && p->a == -1 && !p->a_transposed && p->b == 0 && p->b_transposed &&
           p->n == 64,
       "one whose first operand is in registers");
    observe_wgmma(record, &warps[2], &wgmma, &b, &a);
    p = &record->product.at[2];
    ok(p->a == 1 && !p->a_transposed && p->b == 0 && p->b_transposed, "and the other way round");
    const Flight *f = record->flight.at;
    ok(record->flight.count == 1 && f->kind == FLIGHT_WGMMA && f->operations == 3 && !f->bytes,
       "all are one group");
    record_free(record);
}

int main(void) {
    test_beginning();
    test_steps();
    test_requests();
    test_atomic();
    test_groups();
    test_ends();
    test_bulk();
    test_box();
    test_products();
    return done_testing();
}
