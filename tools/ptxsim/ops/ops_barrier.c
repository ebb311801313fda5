/* bar.sync, bar.arrive, bar.red and their barrier. forms. PTX ISA, "bar, barrier". */
#include "decode/decode.h"
#include "machine/barrier.h"
#include "machine/lanes.h"
#include "machine/observe.h"
#include "machine/simt.h"

/* The operands' values must make sense, and no lane be elsewhere. */
static void check_use(Warp *warp, uint32_t id, uint32_t threads, bool has_count,
                      uint32_t elsewhere) {
    const NamedBarrier *barrier = id < NAMED_BARRIERS ? &warp->block->barrier[id] : NULL;
    if (!barrier) fault(warp, -1, "barrier %u does not exist: there are %d", id, NAMED_BARRIERS);
    if (elsewhere)
        fault(warp, (int)first_lane(warp->mask),
              "barrier in divergent code: lanes 0x%08x are here, lanes 0x%08x elsewhere",
              warp->mask, elsewhere);
    if (has_count && (threads == 0 || threads % LANES))
        fault(warp, -1, "barrier %u of %u threads: not a multiple of %d", id, threads, LANES);
    if (threads > (uint32_t)warp->block->warps * LANES)
        fault(warp, -1, "barrier %u waits for %u threads, the block has %u", id, threads,
              warp->block->thread_count);
    const uint32_t mine = barrier_threads(warp->block, threads);
    const uint32_t others = barrier_threads(warp->block, barrier->expected);
    if (barrier->arrived && mine != others)
        fault(warp, -1, "barrier %u is used for %u threads while others use it for %u", id, mine,
              others);
    if (barrier->arrived && !threads != !barrier->expected) /* an H200: an illegal instruction */
        fault(warp, -1, "barrier %u is used both with and without a number of threads", id);
}

/* operands: d of bar.red or -1, barrier, threads or -1, predicate of bar.red or -1 */
static void run_barrier(Warp *warp, const Op *op) {
    const uint32_t elsewhere = warp->mask == warp->live ? 0 : simt_elsewhere(warp);
    if (simt_lets_others_go(warp, elsewhere)) return;
    const bool has_count = op->r[2] >= 0;
    const uint32_t id = uniform_u32(warp, op, 1);
    const uint32_t threads = has_count ? uniform_u32(warp, op, 2) : 0;
    if (!is_uniform_u32(warp, op, 1) || (has_count && !is_uniform_u32(warp, op, 2)))
        fault(warp, -1, "the lanes of a warp come to barriers of different numbers or threads");
    check_use(warp, id, threads, has_count, elsewhere);
    NamedBarrier *barrier = &warp->block->barrier[id];
    if (warp->block->race && !race_barrier_knows(warp->block->race, id, (unsigned)warp->index))
        fault(
            warp, -1,
            "barrier %u: this arrival may be counted in the barrier's use before, because nothing "
            "orders it after the end of that",
            id);
    barrier->arrived += LANES;
    barrier->expected = threads;
    if (op->r[3] >= 0) {
        const uint32_t values = predicate(warp, op->r[3]);
        /* lanes that have ended, or that the block never had, do not hinder bar.red.and */
        const uint32_t missing = op->mode == BAR_RED_AND ? ~warp->mask : 0;
        barrier->count +=
            (uint32_t)__builtin_popcount(((op->negated ? ~values : values) & warp->mask) | missing);
    }
    if (warp->block->race)
        race_barrier_arrive(warp->block->race, id, (unsigned)warp->index, op->mode != BAR_ARRIVE);
    if (warp->block->record) observe_barrier_arrive(warp->block->record, warp, id);
    if (op->mode != BAR_ARRIVE) {
        barrier->waiting |= 1u << warp->index;
        warp->barrier = id;
        warp->state = WARP_AT_BARRIER;
    }
    barrier_check(warp->block, id);
}

static bool decode_red(Decoder *d) {
    static const char *const modes[] = {"popc", "and", "or", NULL};
    const int mode = take_one(d, modes);
    if (mode < 0) return false;
    d->op->mode = (uint8_t)(BAR_RED_POPC + mode);
    if (!take(d, mode == 0 ? "u32" : "pred")) return false;
    define(d, mode == 0 ? 4 : PREDICATE_BYTES);
    use(d, 4);
    if (d->in->operands == 4)
        use(d, 4);
    else
        absent(d, false);
    use_predicate(d, &d->op->negated);
    return done(d, run_barrier, CLASS_BARRIER);
}

bool decode_barrier(Decoder *d) {
    if (!opcode_is(d, "bar") && !opcode_is(d, "barrier")) return false;
    take(d, "cta");
    take(d, "aligned");
    if (take(d, "red")) return decode_red(d);
    d->op->mode = take(d, "arrive") ? BAR_ARRIVE : BAR_SYNC;
    if (d->op->mode == BAR_SYNC && !take(d, "sync")) return false;
    absent(d, true);
    use(d, 4);
    if (d->in->operands == 2)
        use(d, 4);
    else
        absent(d, false);
    absent(d, false);
    return done(d, run_barrier, CLASS_BARRIER);
}
