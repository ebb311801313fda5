/* Divergence. A warp has a stack of frames; the lanes of the top frame run until they come to the
 * place where they reconverge, then the frame below goes on with those lanes and its own. */
#include "machine/simt.h"

#include "machine/lanes.h"
#include "machine/observe.h"

static void load_top(Warp *warp) {
    warp->pc = warp->stack[warp->depth].pc;
    warp->active = warp->stack[warp->depth].mask;
}

void simt_reconverge(Warp *warp) {
    while (warp->stack[warp->depth].reconverge == warp->pc) { /* -1 in the lowest frame */
        warp->depth--;
        load_top(warp);
    }
}

static void push_frame(Warp *warp, int pc, int reconverge, uint32_t mask) {
    warp->stack[++warp->depth] = (Frame){pc, reconverge, mask};
}

static void count_divergence(Warp *warp, const Op *op) {
    counter(warp, op)->divergent++;
    if (warp->block->record) observe_divergence(warp->block->record, warp);
}

/* The lanes of the top frame are about to part. It becomes what goes on after they have met. */
static void await_reconvergence(Warp *warp, int reconverge) {
    warp->stack[warp->depth].pc = reconverge;
}

void run_branch(Warp *warp, const Op *op) {
    const uint32_t taken = warp->mask, rest = warp->active & ~taken;
    const int next = warp->pc;
    if (!rest) {
        warp->pc = op->target;
        return;
    }
    count_divergence(warp, op);
    await_reconvergence(warp, op->reconverge);
    push_frame(warp, next, op->reconverge, rest);
    push_frame(warp, op->target, op->reconverge, taken);
    load_top(warp);
}

/* brx.idx: operand 0 chooses the target of each lane. */
void run_indexed_branch(Warp *warp, const Op *op) {
    const u32 *index = REG(u32, 0);
    const uint32_t rest = warp->active & ~warp->mask;
    const int next = warp->pc;
    uint32_t left = warp->mask;
    int ways = rest != 0;
    await_reconvergence(warp, op->reconverge);
    if (rest) push_frame(warp, next, op->reconverge, rest);
    for (; left; ways++) {
        const unsigned first = first_lane(left);
        uint32_t same = 0;
        if (index[first] >= (uint32_t)op->table->targets)
            fault(warp, (int)first, "indexed branch beyond its %d targets", op->table->targets);
        EACH_ACTIVE(same |= (uint32_t)(index[l] == index[first]) << l);
        push_frame(warp, op->table->target[index[first]], op->reconverge, same);
        left &= ~same;
    }
    if (ways > 1) count_divergence(warp, op);
    load_top(warp);
}

/* Lanes end; the warp goes on with whatever frame still has lanes. */
void run_exit(Warp *warp, const Op *op) {
    const uint32_t ended = warp->mask;
    (void)op;
    warp->live &= ~ended;
    warp->active &= ~ended;
    if (warp->block->race) race_live(warp->block->race, (unsigned)warp->index, warp->live);
    for (int i = 0; i <= warp->depth; i++) warp->stack[i].mask &= ~ended;
    if (!warp->live) {
        warp->state = WARP_DONE;
        return;
    }
    if (warp->active) return;
    while (!warp->stack[warp->depth].mask) warp->depth--;
    load_top(warp);
}

/* The lanes on another way from the same branch become the top frame; false if there are none that
 * do not wait already. */
static bool yield(Warp *warp) {
    Frame *top = &warp->stack[warp->depth], here = *top;
    if (warp->mask != warp->active) return false;
    for (Frame *other = top - 1; other >= warp->stack; other--) {
        if (other->reconverge != here.reconverge) return false;
        if (!other->mask || other->mask & (warp->waiting | warp->mask)) continue;
        here.pc = warp->op->index;
        *top = *other;
        *other = here;
        load_top(warp);
        return true;
    }
    return false;
}

/* The current operation is to come again: as if it had not begun. */
static void take_back(Warp *warp) {
    InstructionCount *count = counter(warp, warp->op);
    count->executions--;
    count->lanes -= (uint32_t)__builtin_popcount(warp->mask);
    warp->executed--;
    if (warp->block->record) observe_taken_back(warp->block->record, warp);
}

bool simt_lets_others_go(Warp *warp, uint32_t missing) {
    warp->waiting &= ~warp->mask;
    warp->met &= ~warp->mask;
    if (!(missing & ~warp->waiting) || !yield(warp)) return false;
    warp->waiting |= warp->mask;
    take_back(warp);
    return true;
}

static bool ends_at(const Warp *warp, int pc) {
    const Op *op = pc < 0 ? NULL : &warp->block->kernel->op[pc];
    return op && op->run == run_exit && op->guard < 0;
}

uint32_t simt_elsewhere(const Warp *warp) {
    uint32_t above = warp->active, elsewhere = warp->active & ~warp->mask;
    for (int i = warp->depth - 1; i >= 0; i--) {
        const Frame *frame = &warp->stack[i];
        if (!ends_at(warp, frame->pc)) elsewhere |= frame->mask & ~above;
        above |= frame->mask;
    }
    return elsewhere;
}
