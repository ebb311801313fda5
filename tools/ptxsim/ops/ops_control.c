/* Branches, the end of a thread, and instructions that change nothing a functional simulator
 * knows. */
#include "decode/decode.h"
#include "machine/lanes.h"

/* A multiprocessor has four quarters, each with its own registers: 512 per lane, of 32 bits. A
 * thread gets them in eights. */
enum { QUARTERS = 4, QUARTER_WARPS = 16, QUARTER_REGISTERS = 512, EIGHT = 8 };

void run_nothing(Warp *warp, const Op *op) {
    (void)warp;
    (void)op;
}

static void run_trap(Warp *warp, const Op *op) {
    (void)op;
    fault(warp, (int)first_lane(warp->mask), "the kernel stopped itself (trap)");
}

/* nanosleep: others first. */
static void run_yield(Warp *warp, const Op *op) {
    (void)op;
    warp->state = WARP_POLLING;
}

static void run_proxy_fence(Warp *warp, const Op *op) {
    (void)op;
    if (warp->block->race) race_proxy_fence(warp->block->race, (unsigned)warp->index, warp->mask);
}

static void run_mbarrier_init_fence(Warp *warp, const Op *op) {
    (void)op;
    if (warp->block->race)
        race_mbarrier_init_fence(warp->block->race, (unsigned)warp->index, warp->mask);
}

/* Orders what other blocks do, and nothing within this one: a fence of tensor maps. */
static void run_grid_fence(Warp *warp, const Op *op) {
    if (warp->block->uses && !op->of_block)
        race_blocks_fence(warp->block->race, (unsigned)warp->index, op->order);
}

static void run_fence(Warp *warp, const Op *op) {
    run_grid_fence(warp, op);
    if (warp->block->race)
        race_fence(warp->block->race, (unsigned)warp->index, warp->mask, op->order);
}

/* Registers per thread at launch: as many as let the blocks that the kernel promises fit a
 * multiprocessor. 0: not known, as after a promise of more warps than there may be; then ptxas
 * ignores setmaxnreg. */
static uint32_t registers_at_launch(const PtxFunction *f) {
    const uint32_t warps = ((uint32_t)f->max_threads + LANES - 1) / LANES * (uint32_t)f->min_blocks;
    const uint32_t in_quarter = (warps + QUARTERS - 1) / QUARTERS;
    const bool promised = in_quarter > 0 && in_quarter <= QUARTER_WARPS;
    const uint32_t most = promised ? QUARTER_REGISTERS / in_quarter / EIGHT * EIGHT : 0;
    const uint32_t given = ((uint32_t)f->max_registers + EIGHT - 1) / EIGHT * EIGHT;
    return !given || (most && most < given) ? most : given;
}

/* setmaxnreg (PTX ISA 9.7.19.5). A block keeps the registers that it was launched with, and those
 * of all who asked must be there at the same time. */
static void run_setmaxnreg(Warp *warp, const Op *op) {
    const uint32_t each = registers_at_launch(warp->block->kernel->function);
    const uint32_t all = each * (uint32_t)warp->block->warps * LANES;
    uint32_t sum = 0;
    if (warp->mask != ALL_LANES)
        fault(warp, -1, "setmaxnreg needs all lanes of the warpgroup; lanes 0x%08x execute it",
              warp->mask);
    warp->granted = (uint32_t)op->number;
    warp->grant = op;
    warp->block->launched = each;
    for (int i = 0; i < warp->block->warps; i++) sum += warp->block->warp[i].granted * LANES;
    if (each && sum > all)
        fault(warp, -1,
              "setmaxnreg: the warps of this block ask for %u registers, and it is launched with "
              "%u, %u per thread: on a GPU this waits for ever",
              sum, all, each);
}

/* createpolicy: a cache hint, which is not looked at */
static void run_policy(Warp *warp, const Op *op) { EACH(u64, 0); }

static void take_all(Decoder *d) { d->taken = (1u << d->in->parts) - 1; }

static bool decode_branch(Decoder *d) {
    take(d, "uni");
    if (opcode_is(d, "bra")) {
        d->op->target = d->in->target;
        d->next = d->in->operands; /* the label, if it is no return */
        return done(d, run_branch, CLASS_BRANCH);
    }
    if (opcode_is(d, "brx") && take(d, "idx")) {
        use(d, 4);
        d->op->table = &d->kernel->function->table[d->in->table];
        d->next = 2;
        return done(d, run_indexed_branch, CLASS_BRANCH);
    }
    if (opcode_is(d, "ret") || opcode_is(d, "exit")) return done(d, run_exit, CLASS_BRANCH);
    return false;
}

/* fence and membar; whatever the scope, it has the threads of the block. */
static bool decode_fence(Decoder *d) {
    const bool old = opcode_is(d, "membar");
    if (!old && !opcode_is(d, "fence")) return false;
    const bool of_init = take(d, "mbarrier_init"), of_proxy = take(d, "proxy");
    const bool of_shared = of_proxy && take(d, "async") && !take(d, "global");
    const bool of_map = of_proxy && take(d, "tensormap::generic");
    const bool both = old || take(d, "sc") || take(d, "acq_rel");
    if (both || take(d, "acquire")) d->op->order |= RACE_ACQUIRES;
    if (both || take(d, "release")) d->op->order |= RACE_RELEASES;
    d->op->of_block = take(d, "cta") || take(d, "cluster");
    take_all(d);
    if (of_proxy) d->next = d->in->operands; /* a fence of tensor maps names one */
    return done(d,
                of_init     ? run_mbarrier_init_fence
                : of_shared ? run_proxy_fence
                : of_map    ? run_grid_fence
                : of_proxy  ? run_nothing
                            : run_fence,
                CLASS_OTHER);
}

static void run_griddepcontrol_wait(Warp *warp, const Op *op) {
    (void)op;
    warp->early = false;
}

static bool decode_griddepcontrol(Decoder *d) {
    if (!opcode_is(d, "griddepcontrol")) return false;
    if (take(d, "wait")) return done(d, run_griddepcontrol_wait, CLASS_OTHER);
    return take(d, "launch_dependents") && done(d, run_nothing, CLASS_OTHER);
}

/* Hints and settings of the hardware: their operands do not matter. */
static bool decode_ignored(Decoder *d) {
    static const char *const names[] = {"prefetch", "prefetchu",     "pmevent",
                                        "discard",  "applypriority", NULL};
    for (int i = 0; names[i]; i++) {
        if (!opcode_is(d, names[i])) continue;
        take_all(d);
        d->next = d->in->operands;
        return done(d, run_nothing, CLASS_OTHER);
    }
    return false;
}

bool decode_control(Decoder *d) {
    if (decode_branch(d) || decode_fence(d) || decode_griddepcontrol(d) || decode_ignored(d))
        return true;
    if (opcode_is(d, "setmaxnreg")) {
        take_all(d);
        const int64_t registers = immediate(d);
        if (registers < 24 || registers > 256 || registers % 8)
            return refuse(d, "the registers must be a multiple of 8 from 24 to 256");
        d->op->number = (int32_t)registers;
        return done(d, run_setmaxnreg, CLASS_OTHER);
    }
    if (opcode_is(d, "trap") || opcode_is(d, "brkpt")) return done(d, run_trap, CLASS_OTHER);
    if (opcode_is(d, "nanosleep")) {
        take_all(d);
        d->next = d->in->operands;
        return done(d, run_yield, CLASS_OTHER);
    }
    if (opcode_is(d, "createpolicy")) {
        take_all(d);
        define(d, 8);
        d->next = d->in->operands;
        return done(d, run_policy, CLASS_OTHER);
    }
    return false;
}
