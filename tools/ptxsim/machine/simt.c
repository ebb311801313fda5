/* Divergence. A warp has a stack of frames; the lanes of the top frame run until they come to the
 * place where they reconverge, then the frame below goes on with those lanes and its own. */
#include "machine/simt.h"

#include "machine/lanes.h"
#include "machine/observe.h"

static void load_top(Warp *warp) {
    warp->pc = warp->stack[warp->depth].pc;
    warp->active = warp->stack[warp->depth].mask;
}

/* The lanes of the top frame have come to where they meet others, or have ended. */
static void pop_frame(Warp *warp) {
    do {
        warp->depth--;
    } while (!warp->stack[warp->depth].mask);
    load_top(warp);
}

void simt_reconverge(Warp *warp) {
    while (warp->stack[warp->depth].reconverge == warp->pc) /* -1: never */
        pop_frame(warp);
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
    warp->waiting = 0; /* maybe for them */
    if (!warp->active) pop_frame(warp);
}

/* Lanes on a way of their own become the top frame; false if there are none that do not wait
 * already. `pc` is where those that execute go on. */
static bool yield(Warp *warp, int pc) {
    Frame *stack = warp->stack;
    int next = warp->depth;
    for (int i = warp->depth - 1; i >= 0; i--)
        if (stack[i].mask && !(stack[i].mask & warp->waiting) &&
            simt_lanes_at(warp, i) == stack[i].mask)
            next = i;
    if (next == warp->depth) return false;
    const Frame chosen = stack[next];
    stack[warp->depth].pc = pc;
    memmove(&stack[next], &stack[next + 1], (size_t)(warp->depth - next) * sizeof *stack);
    stack[warp->depth] = chosen;
    load_top(warp);
    return true;
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
    if (!missing || warp->mask != warp->active || !yield(warp, warp->op->index)) return false;
    warp->waiting |= warp->mask;
    take_back(warp);
    return true;
}

uint32_t simt_lanes_at(const Warp *warp, int frame) {
    uint32_t lanes = warp->stack[frame].mask;
    for (int i = frame + 1; i <= warp->depth; i++) lanes &= ~warp->stack[i].mask;
    return lanes;
}

static bool ends_at(const Warp *warp, int pc) {
    const Op *op = pc < 0 ? NULL : &warp->block->kernel->op[pc];
    return op && op->run == run_exit && op->guard < 0;
}

uint32_t simt_elsewhere(const Warp *warp) {
    uint32_t elsewhere = warp->active & ~warp->mask;
    for (int i = 0; i < warp->depth; i++)
        if (!ends_at(warp, warp->stack[i].pc)) elsewhere |= simt_lanes_at(warp, i);
    return elsewhere;
}
