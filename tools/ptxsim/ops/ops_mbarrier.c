/* mbarrier instructions. PTX ISA, "Parallel Synchronization and Communication: mbarrier". */
#include "decode/decode.h"
#include "machine/access.h"
#include "machine/lanes.h"
#include "machine/mbarrier_word.h"
#include "machine/observe.h"

/* ---- init, arrive, expect_tx ----------------------------------------------------------------- */

typedef enum Action { ACTION_INIT, ACTION_INVAL, ACTION_ARRIVE, ACTION_DROP, ACTION_EXPECT } Action;

static void init(Warp *warp, int lane, uint32_t address, uint32_t count) {
    uint64_t word = mbarrier_get(warp, lane, address);
    mbarrier_require(warp, lane, address, mbarrier_init(&word, count));
    mbarrier_put(warp->block, address, word);
    *mbarrier_phases(warp->block, address) = 0;
    if (warp->block->race)
        race_mbarrier_init(warp->block->race, address, (unsigned)warp->index, (unsigned)lane);
    Record *record = warp->block->record;
    if (record) observe_mbarrier_init(record, warp, address, count);
}

/* For the race detector an mbarrier is written when it is initialised and read whenever it is used.
 */
static void note_access(Warp *warp, const Op *op, int lane, uint32_t address, RaceAccess access) {
    uint32_t addresses[LANES] = {0};
    RaceReport report;
    mbarrier_bytes(warp, lane, address); /* the detector takes it for checked */
    if (!warp->block->race) return;
    addresses[lane] = address;
    if (race_access(warp->block->race, (unsigned)warp->index, access, 1u << lane, addresses,
                    sizeof(uint64_t), (uint32_t)op->index, &report))
        fault_race(warp, &report);
}

static void release(Warp *warp, const Op *op, int lane, uint32_t address) {
    Race *race = warp->block->race;
    if (!race) return;
    race_mbarrier_arrive(race, address, (unsigned)warp->index, (unsigned)lane, op->order, false);
    mbarrier_require_sure(warp, lane, address);
}

/* op->number says that the count is of bytes to expect before arriving once */
static void arrive(Warp *warp, const Op *op, int lane, uint32_t address, uint32_t count) {
    uint64_t word = mbarrier_get(warp, lane, address);
    bool completed = false;
    release(warp, op, lane, address);
    if (op->number) {
        mbarrier_require(warp, lane, address, mbarrier_expect_tx(&word, count, &completed));
        count = 1;
    }
    Record *record = warp->block->record;
    if (record) observe_mbarrier_arrive(record, warp, address, count);
    mbarrier_require(warp, lane, address,
                     op->mode == ACTION_DROP ? mbarrier_arrive_drop(&word, count, &completed)
                                             : mbarrier_arrive(&word, count, &completed));
    mbarrier_put(warp->block, address, word);
    if (completed) mbarrier_phase_ended(warp, lane, address);
}

static void expect(Warp *warp, int lane, uint32_t address, uint32_t bytes) {
    uint64_t word = mbarrier_get(warp, lane, address);
    bool completed = false;
    mbarrier_require(warp, lane, address, mbarrier_expect_tx(&word, bytes, &completed));
    mbarrier_put(warp->block, address, word);
    if (completed) mbarrier_phase_ended(warp, lane, address);
}

/* operands: state or -1, address, count or -1 */
static void run_action(Warp *warp, const Op *op) {
    EACH_ACTIVE({
        const uint32_t address = shared_address(warp, op, 1, l, op->offset);
        const uint32_t count = op->r[2] >= 0 ? REG(u32, 2)[l] : 1;
        const bool writes = op->mode == ACTION_INIT || op->mode == ACTION_INVAL;
        note_access(warp, op, (int)l, address, writes ? RACE_WRITE : RACE_TEST);
        if (op->r[0] >= 0) REG(u64, 0)[l] = mbarrier_get(warp, (int)l, address);
        switch ((Action)op->mode) {
        case ACTION_INIT:
            init(warp, (int)l, address, count);
            break;
        case ACTION_INVAL:
            mbarrier_put(warp->block, address, MBARRIER_INVALID);
            break;
        case ACTION_EXPECT:
            expect(warp, (int)l, address, count);
            break;
        default:
            arrive(warp, op, (int)l, address, count);
            break;
        }
    });
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Has the phase that lane l asks for completed? operands: p, address, parity or state */
static bool test(Warp *warp, const Op *op, unsigned l, uint32_t address) {
    const uint64_t word = mbarrier_get(warp, (int)l, address);
    bool completed = false;
    mbarrier_require(warp, (int)l, address,
                     op->width == 4 ? mbarrier_test_parity(word, REG(u32, 2)[l], &completed)
                                    : mbarrier_test_state(word, REG(u64, 2)[l], &completed));
    return completed;
}

/* Lanes that have waited for the same mbarrier acquire together. */
static void acquire(Warp *warp, const Op *op, uint32_t lanes) {
    while (lanes) {
        const uint32_t address = shared_address(warp, op, 1, first_lane(lanes), op->offset);
        uint32_t same = 0;
        for (uint32_t left = lanes; left; left &= left - 1)
            if (shared_address(warp, op, 1, first_lane(left), op->offset) == address)
                same |= 1u << first_lane(left);
        if (op->width == 4 &&
            !race_mbarrier_knows(warp->block->race, address, (unsigned)warp->index))
            fault(warp, (int)first_lane(same),
                  "mbarrier at 0x%x: this wait may end two phases early: nothing orders it after "
                  "the end of the phase before, and until then an older one has this parity",
                  address);
        race_mbarrier_acquire(warp->block->race, address, (unsigned)warp->index, same, op->order);
        mbarrier_require_sure(warp, (int)first_lane(same), address);
        lanes &= ~same;
    }
}

/* A try_wait that finds nothing suspends its warp, as the hardware does for a while: the block's
 * scheduler calls this again. With SIM_ORDER that while is over at once, the first time: who does
 * not look at the result goes on too early. A test_wait, or one that holds for some lanes, goes
 * on. */
static void run_wait(Warp *warp, const Op *op) {
    uint32_t completed = 0;
    Record *record = warp->block->record;
    EACH_ACTIVE({
        const uint32_t address = shared_address(warp, op, 1, l, op->offset);
        warp->wait_address = address;
        note_access(warp, op, (int)l, address, RACE_TEST);
        Mbarrier then;
        warp->wait_parity =
            op->width == 4 ? REG(u32, 2)[l] & 1 : mbarrier_read(REG(u64, 2)[l], &then) && then.odd;
        if (!test(warp, op, l, address)) continue;
        completed |= 1u << l;
        if (record) observe_mbarrier_acquire(record, warp, address);
    });
    if (warp->block->race) acquire(warp, op, completed);
    const bool nothing = op->mode && !completed;
    const bool suspends = nothing && (warp->expired || !warp->block->settings->order);
    const bool goes_on = completed == warp->mask || (nothing && !suspends);
    warp->expired = nothing;
    warp->state = suspends ? WARP_AT_MBARRIER : goes_on ? WARP_READY : WARP_POLLING;
    set_predicate(warp, op->r[0], completed);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static void take_qualifiers(Decoder *d) {
    static const char *const names[] = {"shared",  "shared::cta", "shared::cluster",
                                        "acquire", "release",     "cta",
                                        "cluster", "b64",         NULL};
    while (take_one(d, names) >= 0) continue;
    d->op->order = take(d, "relaxed") ? RACE_STRONG : RACE_STRONG | RACE_ACQUIRES | RACE_RELEASES;
}

static bool decode_wait(Decoder *d) {
    d->op->mode = take(d, "try_wait");
    if (!d->op->mode && !take(d, "test_wait")) return false;
    d->op->width = take(d, "parity") ? 4 : 8;
    define(d, PREDICATE_BYTES);
    use_address(d, &d->op->offset);
    use(d, d->op->width);
    if (peek_operand(d)) use(d, 4); /* how long to wait at most */
    return done(d, run_wait, CLASS_MBARRIER);
}

bool decode_mbarrier(Decoder *d) {
    static const char *const actions[] = {"init",        "inval",     "arrive",
                                          "arrive_drop", "expect_tx", NULL};
    if (!opcode_is(d, "mbarrier")) return false;
    take_qualifiers(d);
    if (decode_wait(d)) return true;
    const int action = take_one(d, actions);
    if (action < 0) return false;
    const bool arrives = action == ACTION_ARRIVE || action == ACTION_DROP;
    d->op->mode = (uint8_t)action;
    d->op->number = arrives && take(d, "expect_tx");
    const Operand *first = peek_operand(d);
    const bool gives_state = arrives && first && !first->memory && first->kind != OPERAND_SINK;
    if (gives_state)
        define(d, 8);
    else
        absent(d, true);
    if (first && first->kind == OPERAND_SINK) d->next++;
    use_address(d, &d->op->offset);
    if (peek_operand(d))
        use(d, 4);
    else
        absent(d, false);
    return done(d, run_action, CLASS_MBARRIER);
}
