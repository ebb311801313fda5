/* cp.async and its groups. PTX ISA, "Data Movement ...: cp.async". */
#include "decode/decode.h"
#include "machine/access.h"
#include "machine/landing.h"
#include "machine/lanes.h"
#include "machine/mbarrier_word.h"
#include "machine/observe.h"

/* ---- Handlers -------------------------------------------------------------------------------- */

/* Bytes that lanes read: operand 2 is the source's size, which PTX does not define beyond that of
 * the copy, operand 3 a predicate to ignore it. */
static void find_sizes(Warp *warp, const Op *op, uint8_t read[LANES]) {
    const u32 *bytes = op->r[2] >= 0 ? REG(u32, 2) : NULL;
    uint32_t readers = warp->mask;
    if (op->r[3] >= 0) readers &= predicate(warp, op->r[3]) ^ (op->negated ? 0 : ALL_LANES);
    for (unsigned l = 0; l < LANES; l++) {
        const bool reads = readers >> l & 1;
        if (reads && bytes && bytes[l] > op->bytes)
            fault(warp, (int)l, "cp.async of %u bytes from a source of %u: it cannot be larger",
                  op->bytes, bytes[l]);
        read[l] = (uint8_t)(!reads ? 0 : bytes ? bytes[l] : op->bytes);
    }
}

/* No two lanes may copy different things to one place. */
static void require_own_places(Warp *warp, const Copy *copy) {
    for (unsigned i = 1; i < LANES; i++)
        for (unsigned l = 0; l < i; l++)
            if (warp->mask >> i & warp->mask >> l & 1 && copy->to[i] == copy->to[l] &&
                (copy->read[i] != copy->read[l] ||
                 (copy->read[l] && copy->from[i] != copy->from[l])))
                fault_lost(warp, l);
}

/* Checks and counts both sides. */
static void check_copy(Warp *warp, const Op *op, const Copy *copy) {
    uint32_t readers = 0;
    RaceReport report;
    InstructionCount *count = counter(warp, op);
    for (unsigned l = 0; l < LANES; l++) readers |= (uint32_t)(copy->read[l] != 0) << l;
    if (readers) global_request(warp, op, copy->from, readers, op->bytes, copy->read, ACCESS_LOAD);
    const Units units = shared_request(warp, op, copy->to, warp->mask, op->bytes, 0);
    count->second_units += units.actual;
    count->second_ideal_units += units.ideal;
    if (warp->block->race) require_own_places(warp, copy);
    if (warp->block->race && race_copy(warp->block->race, (unsigned)warp->index, warp->mask,
                                       copy->to, op->bytes, (uint32_t)op->index, &report))
        fault_race(warp, &report);
}

static Copy *new_copy(Warp *warp) {
    CopyQueue *queue = warp->copies;
    queue->copy =
        flight_room(warp, queue->copy, queue->count, &queue->capacity, sizeof *queue->copy);
    Copy *copy = &queue->copy[queue->count++];
    *copy = (Copy){.pending = warp->mask}; /* lanes that do not copy have the address 0 */
    memcpy(copy->group, queue->groups, sizeof copy->group);
    return copy;
}

static void finish_if_early(Warp *warp, Copy *copy) {
    if (warp->block->settings->late) return;
    copy_land(warp, copy, warp->mask);
    warp->copies->count--;
}

/* operands: shared address, global address, source size or -1, ignore or -1 */
static void run_copy(Warp *warp, const Op *op) {
    Copy *copy = new_copy(warp);
    const u64 *from = REG(u64, 1);
    copy->bytes = op->bytes;
    shared_addresses(warp, op, 0, warp->mask, copy->to);
    for (unsigned l = 0; l < LANES; l++)
        if (warp->mask >> l & 1) copy->from[l] = from[l] + (uint64_t)(int64_t)op->second_offset;
    find_sizes(warp, op, copy->read);
    check_copy(warp, op, copy);
    finish_if_early(warp, copy);
}

static void run_commit(Warp *warp, const Op *op) {
    (void)op;
    EACH_ACTIVE(warp->copies->groups[l]++);
    if (warp->block->race)
        race_commit(warp->block->race, (unsigned)warp->index, RACE_COPY, warp->mask);
    if (warp->block->record) observe_commit(warp->block->record, warp, RACE_COPY);
}

/* wait_group op->number; -1: everything, committed or not */
static void run_wait(Warp *warp, const Op *op) {
    CopyQueue *queue = warp->copies;
    const uint32_t left = (uint32_t)op->number;
    for (int i = 0; i < queue->count; i++) {
        Copy *copy = &queue->copy[i];
        uint32_t lanes = 0;
        if (!copy->bytes) continue; /* an arrival comes when it is waited for at its mbarrier */
        for (unsigned l = 0; l < LANES; l++)
            lanes |= (uint32_t)(copy->group[l] + left < queue->groups[l]) << l;
        copy_land(warp, copy, op->number < 0 ? warp->mask : warp->mask & lanes);
    }
    copy_drop_landed(queue);
    if (warp->block->race)
        race_wait(warp->block->race, (unsigned)warp->index, RACE_COPY, op->number, warp->mask);
    if (warp->block->record) observe_wait(warp->block->record, warp, RACE_COPY, op->number);
}

/* cp.async.mbarrier.arrive: arrives when the lane's copies so far have landed. op->number: that is
 * one arrival more than the mbarrier was initialised for (no .noinc). */
static void run_arrive(Warp *warp, const Op *op) {
    Copy *copy = new_copy(warp); /* of 0 bytes */
    shared_addresses(warp, op, 0, warp->mask, copy->to);
    shared_request(warp, op, copy->to, warp->mask, sizeof(uint64_t), 0);
    if (op->number) EACH_ACTIVE(mbarrier_await_copy_at(warp, (int)l, copy->to[l]));
    if (warp->block->race)
        EACH_ACTIVE({
            race_mbarrier_arrive(warp->block->race, copy->to[l], (unsigned)warp->index, l,
                                 RACE_RELEASES, true);
            mbarrier_require_sure(warp, (int)l, copy->to[l]);
        });
    finish_if_early(warp, copy);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static void take_hints(Decoder *d) {
    for (int i = 1; i < d->in->parts; i++) { /* .L2::128B, .L2::cache_hint */
        const Text part = d->in->part[i];
        if (part.length > 4 && part.at[0] == 'L' && part.at[2] == ':') d->taken |= 1u << i;
    }
}

/* [shared], [global], bytes {, source bytes | ignore} {, cache policy} */
static bool decode_transfer(Decoder *d) {
    Op *op = d->op;
    const bool hinted = take(d, "L2::cache_hint");
    take_hints(d);
    if (!take(d, "ca") && !take(d, "cg")) return false;
    if ((!take(d, "shared") && !take(d, "shared::cta")) || !take(d, "global")) return false;
    use_address(d, &op->second_offset); /* the other one's width must not be lost */
    const uint8_t width = op->address_width;
    op->offset = op->second_offset;
    use_address(d, &op->second_offset);
    d->bad |= op->address_width != 8;
    op->address_width = width;
    const int64_t bytes = immediate(d);
    op->bytes = (uint8_t)bytes;
    d->bad |= bytes != 4 && bytes != 8 && bytes != 16;
    const Operand *next = d->next < d->in->operands - hinted ? peek_operand(d) : NULL;
    const bool ignores = next && next->kind == OPERAND_REGISTER &&
                         d->kernel->value[next->reg].bytes == PREDICATE_BYTES;
    if (next && !ignores)
        use(d, 4);
    else
        absent(d, false);
    if (ignores)
        use_predicate(d, &op->negated);
    else
        absent(d, false);
    if (hinted) use(d, 8);
    if (op->bytes < d->kernel->race_granule) d->kernel->race_granule = op->bytes;
    return done(d, run_copy, CLASS_CP_ASYNC);
}

bool decode_copy(Decoder *d) {
    if (!opcode_is(d, "cp") || !take(d, "async")) return false;
    if (take(d, "commit_group")) return done(d, run_commit, CLASS_OTHER);
    if (take(d, "wait_all")) {
        d->op->number = RACE_WAIT_ALL;
        return done(d, run_wait, CLASS_OTHER);
    }
    if (take(d, "wait_group")) {
        d->op->number = (int32_t)immediate(d);
        return done(d, run_wait, CLASS_OTHER);
    }
    if (take(d, "mbarrier") && take(d, "arrive") && take(d, "b64")) {
        d->op->number = !take(d, "noinc");
        if (!take(d, "shared")) take(d, "shared::cta");
        use_address(d, &d->op->offset);
        return done(d, run_arrive, CLASS_MBARRIER);
    }
    return decode_transfer(d);
}
