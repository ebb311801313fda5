/* Divergence. A warp has a stack of frames; the lanes of the top frame run until they come to the
 * place where they reconverge, then the frame below goes on with those lanes and its own. If they
 * wait for other lanes of the warp, those become the top frame. */
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

/* The lanes of the top frame are about to part. It becomes what goes on after they have met, unless
 * they then meet others at once. */
static void await_reconvergence(Warp *warp, int reconverge) {
    if (warp->stack[warp->depth].reconverge == reconverge)
        warp->depth--;
    else
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

static void remove_frame(Warp *warp, int at) {
    Frame *frame = &warp->stack[at];
    memmove(frame, frame + 1, (size_t)(warp->depth-- - at) * sizeof *frame);
}

/* Where the lanes of one way alone are to meet they need no frame: they go on to where it leads. So
 * each frame is a way, or has lanes that wait there, or several ways lead to it: those are
 * MAX_DIVERGENCE at most. */
static void remove_useless(Warp *warp, int at) {
    int only = at + 1;
    while (only <= warp->depth && warp->stack[only].mask != warp->stack[at].mask) only++;
    if (only > warp->depth) return;
    warp->stack[only].reconverge = warp->stack[at].reconverge;
    remove_frame(warp, at);
}

/* The frame of lanes that may go on in place of those that execute, -1: none. They are on a way of
 * their own, the one that has rested longest; else, if they may go `beyond`, they wait where they
 * are to meet those that execute. */
static int find_others(const Warp *warp, bool beyond) {
    int way = -1, place = -1;
    for (int i = warp->depth - 1; i >= 0; i--) {
        const uint32_t lanes = simt_lanes_at(warp, i);
        if (!(lanes & ~warp->waiting)) continue;
        if (lanes == warp->stack[i].mask)
            way = i;
        else if (place < 0)
            place = i;
    }
    return way < 0 && beyond ? place : way;
}

/* The lanes at a frame become the top frame. */
static void raise_lanes(Warp *warp, int at) {
    Frame *frame = &warp->stack[at], raised = *frame;
    raised.mask = simt_lanes_at(warp, at);
    frame->mask &= ~raised.mask;
    if (frame->mask)
        remove_useless(warp, at);
    else
        remove_frame(warp, at);
    warp->stack[++warp->depth] = raised;
    load_top(warp);
}

/* Other lanes go on in place of those that execute, which are to go on at `pc`; false: none. */
static bool yield(Warp *warp, int pc, bool beyond) {
    const int others = find_others(warp, beyond);
    if (others < 0) return false;
    warp->stack[warp->depth].pc = pc;
    raise_lanes(warp, others);
    return true;
}

/* Of the lanes of the top frame those that `stay` come to the current operation again, later; the
 * others go on at `pc`. */
static void part(Warp *warp, uint32_t stay, int pc) {
    Frame *top = &warp->stack[warp->depth];
    top->pc = warp->op->index;
    top->mask = stay;
    push_frame(warp, pc, top->reconverge, warp->active & ~stay);
    load_top(warp);
}

/* The frame whose lanes those of frame `at` belong to; -1: none, they meet no others. */
static int parent(const Warp *warp, int at) {
    int i = at - 1;
    while (i >= 0 && warp->stack[at].mask & ~warp->stack[i].mask) i--;
    return i;
}

/* Named lanes that wait at the current operation, on another way to the same place, become one way
 * with those that execute; false: none. */
static bool join_ways(Warp *warp, uint32_t named) {
    const uint32_t before = warp->active;
    if (warp->mask != before) return false;
    for (int i = warp->depth - 1; i >= 0; i--) {
        const Frame way = warp->stack[i];
        if (way.pc != warp->op->index || !(way.mask & named) || way.mask & ~warp->waiting) continue;
        if (simt_lanes_at(warp, i) != way.mask || parent(warp, i) != parent(warp, warp->depth))
            continue;
        remove_frame(warp, i);
        warp->stack[warp->depth].mask |= way.mask;
        warp->stack[warp->depth].pc = way.pc;
        warp->waiting &= ~way.mask;
        load_top(warp);
    }
    if (warp->active == before) return false;
    const int place = parent(warp, warp->depth);
    if (place >= 0) remove_useless(warp, place);
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
    if (!missing || warp->mask != warp->active) return false;
    if (!join_ways(warp, missing)) {
        if (!yield(warp, warp->op->index, false)) return false;
        warp->waiting |= warp->mask;
    }
    take_back(warp);
    return true;
}

bool simt_waits_for_others(Warp *warp, uint32_t stay, uint32_t named) {
    const int here = warp->op->index;
    warp->waiting &= ~warp->mask;
    if (!join_ways(warp, named)) {
        if (!stay) return false;
        if (stay != warp->mask)
            part(warp, stay, here);
        else if (stay != warp->active)
            part(warp, stay, warp->pc);
        else if (!yield(warp, here, true))
            return false;
        warp->waiting |= stay;
    }
    take_back(warp);
    return true;
}

bool simt_takes_turns(Warp *warp) {
    const bool again = warp->state == WARP_AT_MBARRIER;
    if (again && warp->mask != warp->active) return false;
    if (!yield(warp, again ? warp->op->index : warp->pc, false)) return false;
    if (again) take_back(warp);
    warp->state = WARP_READY;
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
