#include "machine/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "machine/async.h"
#include "machine/barrier.h"
#include "machine/fill.h"
#include "machine/landing.h"
#include "machine/lanes.h"
#include "machine/observe.h"
#include "machine/simt.h"

enum {
    TURN = 1 << 16, /* operations in one turn, so that a warp that spins lets others go on */
    MAX_IDLE_ROUNDS = 1000, /* rounds of mere polling before it counts as a deadlock */
    MAX_LANE_TURNS = 64,    /* turns of other lanes of its warps, before it does */
    MAX_ENDED_WAITS = 16,   /* try_waits in a row that come back without a phase, before it does */
    DATA_ALIGNMENT = 1024,  /* of shared memory and of register files, in host memory */
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static void *aligned_memory(size_t bytes) {
    return aligned_alloc(DATA_ALIGNMENT, (bytes / DATA_ALIGNMENT + 1) * DATA_ALIGNMENT);
}

static void *aligned_zeros(size_t bytes) {
    void *memory = aligned_memory(bytes);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

/* Of a warp. */
static size_t local_bytes(const Kernel *kernel) { return (size_t)LANES * kernel->local_bytes; }

static bool new_warp(Block *block, int index) {
    Warp *warp = &block->warp[index];
    warp->block = block;
    warp->index = index;
    warp->registers = aligned_zeros(block->kernel->register_bytes);
    warp->local = aligned_memory(local_bytes(block->kernel));
    if (!async_new(warp) || !warp->registers || !warp->local) return false;
    fill_for_launch(warp);
    return true;
}

Block *block_new(const Kernel *kernel, const Settings *settings, const uint32_t grid[3],
                 const uint32_t threads[3], uint32_t dynamic_shared) {
    Block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    block->kernel = kernel;
    block->settings = settings;
    memcpy(block->grid, grid, sizeof block->grid);
    memcpy(block->threads, threads, sizeof block->threads);
    block->thread_count = threads[0] * threads[1] * threads[2];
    block->warps = (int)((block->thread_count + LANES - 1) / LANES);
    block->parameters.start = (uint64_t)(uintptr_t)kernel->parameter;
    block->parameters.end = block->parameters.start + kernel->parameter_bytes;
    block->shared_bytes = kernel->dynamic_offset + dynamic_shared;
    block->shared = aligned_memory(block->shared_bytes);
    block->written = aligned_memory(block->shared_bytes);
    block->phases = calloc(block->shared_bytes / sizeof(uint64_t) + 1, sizeof *block->phases);
    block->warp = calloc((size_t)block->warps, sizeof *block->warp);
    block->loads = calloc(1, sizeof *block->loads);
    block->count = calloc((size_t)kernel->ops, sizeof *block->count);
    block->straight = calloc((size_t)kernel->ops, sizeof *block->straight);
    block->requests = calloc((size_t)kernel->ops, sizeof *block->requests);
    block->patterns = aligned_zeros(sizeof *block->patterns);
    block->readable = aligned_zeros(sizeof *block->readable);
    block->marked = aligned_zeros(sizeof *block->marked);
    bool complete = block->shared && block->written && block->phases && block->warp &&
                    block->loads && block->count && block->straight && block->requests &&
                    block->patterns && block->readable && block->marked;
    for (int i = 0; complete && i < block->warps; i++) complete = new_warp(block, i);
    if (complete && settings->race) {
        block->race = race_new(SHARED_BASE, block->shared_bytes, (unsigned)block->warps,
                               kernel->race_granule);
        complete = block->race != NULL;
    }
    if (complete) return block;
    block_free(block);
    return NULL;
}

void block_free(Block *block) {
    if (!block) return;
    for (int i = 0; block->warp && i < block->warps; i++) {
        free(block->warp[i].registers);
        free(block->warp[i].local);
        async_free(&block->warp[i]);
    }
    if (block->loads) free(block->loads->bulk);
    race_free(block->race);
    free(block->loads);
    free(block->warp);
    free(block->shared);
    free(block->written);
    free(block->phases);
    free(block->count);
    free(block->straight);
    free(block->requests);
    free(block->patterns);
    free(block->readable);
    free(block->marked);
    free(block);
}

/* ---- The beginning --------------------------------------------------------------------------- */

static void begin_warp(Warp *warp) {
    const uint32_t rest = warp->block->thread_count - (uint32_t)(warp->index * LANES);
    const uint32_t lanes = rest >= LANES ? ALL_LANES : (1u << rest) - 1;
    warp->active = warp->live = lanes;
    warp->carry = warp->waiting = warp->come = warp->met = 0;
    warp->pc = warp->depth = 0;
    warp->state = WARP_READY;
    warp->op = NULL;
    warp->executed = 0;
    warp->granted = 0;
    warp->expired = false;
    warp->early = warp->block->early;
    warp->stack[0] = (Frame){0, -1, lanes};
    fill_for_block(warp);
    memset(warp->local, 0xff, local_bytes(warp->block->kernel)); /* as global memory: NaN */
}

static void begin_block(Block *block, uint64_t index) {
    block->index[0] = (uint32_t)(index % block->grid[0]);
    block->index[1] = (uint32_t)(index / block->grid[0] % block->grid[1]);
    block->index[2] = (uint32_t)(index / block->grid[0] / block->grid[1]);
    block->progress = 0;
    memset(block->barrier, 0, sizeof block->barrier);
    memset(block->written, 0, block->shared_bytes);
    memset(block->readable, 0, sizeof *block->readable);
    for (int i = 0; i < block->warps; i++) begin_warp(&block->warp[i]);
    async_begin(block);
    if (!block->race) return;
    race_begin_block(block->race);
    for (int i = 0; i < block->warps; i++) race_live(block->race, (unsigned)i, block->warp[i].live);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static void execute(Warp *warp, const Op *op) {
    InstructionCount *count = counter(warp, op);
    uint32_t mask = warp->active;
    if (op->guard >= 0) {
        const uint32_t guard = predicate(warp, op->guard);
        mask &= op->guard_negated ? ~guard : guard;
    }
    warp->mask = mask;
    warp->block->piece++;
    warp->op = op;
    warp->pc++;
    warp->executed++;
    count->executions++;
    count->lanes += mask == ALL_LANES ? LANES : (uint32_t)__builtin_popcount(mask);
    if (warp->block->record) observe_step(warp->block->record, warp, op);
    if (!mask) return;
    if (warp->wgmma->count) wgmma_check(warp, op);
    op->run(warp, op);
}

/* The same for all of op->straight. */
static void execute_straight(Warp *warp, const Op *op) {
    const Op *end = op + op->straight;
    StraightCount *count = &warp->block->straight[op->index];
    warp->block->piece++;
    warp->mask = warp->active;
    warp->pc += op->straight;
    warp->executed += (uint64_t)op->straight;
    count->executions++;
    count->lanes += (uint32_t)__builtin_popcount(warp->active);
    for (; op < end; op++) {
        warp->op = op;
        op->run(warp, op);
    }
}

void block_count_straight(Block *block) {
    const Kernel *kernel = block->kernel;
    for (int head = 0; head < kernel->ops; head++) {
        const StraightCount *run = &block->straight[head];
        for (int i = head; run->executions && i < head + kernel->op[head].straight; i++) {
            block->count[i].executions += run->executions;
            block->count[i].lanes += run->lanes;
        }
    }
}

/* One operation more than the budget has left, at most. */
static int turn(const Warp *warp) {
    const uint64_t rest = warp->block->settings->budget - warp->executed;
    return rest < TURN ? (int)rest + 1 : TURN;
}

static void run_turn(Warp *warp) {
    const Op *ops = warp->block->kernel->op;
    for (int left = turn(warp); left > 0 && warp->state == WARP_READY;) {
        if (ops[warp->pc].joins) simt_reconverge(warp);
        const Op *op = &ops[warp->pc];
        const bool watched = warp->block->record || warp->wgmma->count;
        const bool apart = warp->active != warp->live; /* may let others go first */
        if (op->straight && op->straight <= left && !watched && !apart) {
            left -= op->straight;
            execute_straight(warp, op);
        } else {
            left--;
            execute(warp, op);
        }
    }
    if (warp->executed > warp->block->settings->budget) fault_endless(warp);
    if (warp->state == WARP_READY) simt_takes_turns(warp);
}

/* Gives the warp a turn if it can use one; true if it got further than to poll again. */
static bool take_turn(Warp *warp) {
    const uint64_t progress = warp->block->progress;
    switch (warp->state) {
    case WARP_DONE:
    case WARP_AT_BARRIER:
        return false;
    case WARP_AT_MBARRIER: /* the wait once more */
        warp->op->run(warp, warp->op);
        if (warp->state == WARP_AT_MBARRIER) return false;
        break;
    default:
        break;
    }
    if (warp->state == WARP_POLLING) warp->state = WARP_READY;
    run_turn(warp);
    if (warp->state == WARP_DONE)
        for (uint32_t b = 0; b < NAMED_BARRIERS; b++) barrier_check(warp->block, b);
    return warp->state != WARP_POLLING || warp->block->progress != progress;
}

static bool all_done(const Block *block) {
    for (int i = 0; i < block->warps; i++)
        if (block->warp[i].state != WARP_DONE) return false;
    return true;
}

static bool somebody_polls(const Block *block) {
    for (int i = 0; i < block->warps; i++)
        if (block->warp[i].state == WARP_POLLING) return true;
    return false;
}

/* The warp whose turn is number `turn` of a round: by SIM_ORDER downwards or upwards, from another
 * one each. */
static Warp *warp_at(Block *block, int turn) {
    const uint64_t order = block->settings->order;
    const int warps = block->warps, first = (int)(order / 2 % (uint64_t)warps);
    return &block->warp[(order % 2 ? 2 * warps - 1 - turn - first : turn + first) % warps];
}

/* Nobody can go on, but what they wait for may be for other lanes of their warps to do. False if
 * there are none. */
static bool give_lanes_turns(Block *block) {
    bool given = false;
    for (int i = 0; i < block->warps; i++) {
        const WarpState state = block->warp[i].state;
        if (state == WARP_AT_MBARRIER || state == WARP_POLLING)
            given |= simt_takes_turns(&block->warp[i]);
    }
    return given;
}

/* Nobody can go on, but a try_wait may come back before its phase is over, and what follows may not
 * depend on it. False if there is none. */
static bool end_waits(Block *block) {
    bool ended = false;
    for (int i = 0; i < block->warps; i++) {
        Warp *warp = &block->warp[i];
        if (warp->state != WARP_AT_MBARRIER) continue;
        warp->state = WARP_READY;
        ended = true;
    }
    return ended;
}

static void run_warps(Block *block) {
    uint64_t progress = 0;
    for (int idle = 0, turns = 0, ended = 0; !all_done(block);) {
        bool moved = false;
        for (int i = 0; i < block->warps; i++) moved |= take_turn(warp_at(block, i));
        if (block->progress != progress) turns = ended = 0;
        progress = block->progress;
        if (moved || async_advance(block)) {
            idle = 0;
        } else if (!somebody_polls(block) || ++idle == MAX_IDLE_ROUNDS) {
            const bool turned = turns++ < MAX_LANE_TURNS && give_lanes_turns(block);
            if (!turned && (ended++ == MAX_ENDED_WAITS || !end_waits(block))) fault_deadlock(block);
            idle = 0;
        }
    }
}

bool block_run(Block *block, uint64_t index) {
    begin_block(block, index);
    if (setjmp(block->escape)) return false;
    run_warps(block);
    async_end(block);
    return true;
}
