/* Programs of a few instructions for the tests of the replay, with times worked out by hand. */
#ifndef SASS_MADE_CODE_H
#define SASS_MADE_CODE_H

#include "replay/replay.h"
#include "test/tap.h"

enum { MOST = 80 }; /* instructions */

static const Machine machine = {.barrier_latency = 14,
                                .barrier_warp = 2,
                                .lsu_cycles = 4,
                                .lsu_queue = 2,
                                .l2_port = 64,
                                .code_kib = 32};

/* An instruction that stalls the warp so long and uses no pipe. */
static inline Timing plain(unsigned stall) {
    return (Timing){.control = {.stall = stall, .written = NO_BARRIER, .read = NO_BARRIER},
                    .operands = {{NO_REGISTER, NO_REGISTER, NO_REGISTER}, {false}}};
}

static inline Timing in_pipe(Pipe pipe, double busy) {
    Timing timing = plain(1);
    timing.pipe = pipe;
    timing.busy = busy;
    timing.fixed = true;
    return timing;
}

static inline Timing reads(int a, int b, int c) {
    Timing timing = in_pipe(PIPE_FMA, 2);
    timing.operands = (Operands){{a, b, c}, {false}};
    return timing;
}

static inline Timing load(double shared, double latency, unsigned barrier) {
    Timing timing = in_pipe(PIPE_LSU, 4);
    timing.fixed = false;
    timing.shared = shared;
    timing.latency = latency;
    timing.control.written = barrier;
    return timing;
}

static inline Timing waiting(unsigned barriers) {
    Timing timing = plain(1);
    timing.control.waits = barriers;
    return timing;
}

/* Replays blocks of `warps` warps, each of which executes `timing` from the first to the last. */
static inline Replay replay_on(const Machine *m, const Timing *timing, int count, int warps,
                               int resident) {
    int step[MOST];
    for (int i = 0; i < count; i++) step[i] = i;
    const Path path = {.step = step, .steps = count, .expected = count};
    const ReplayInput in = {m, timing, &path, 1, warps, resident};
    return replay_run(&in);
}

static inline Replay replay(const Timing *timing, int count, int warps, int resident) {
    return replay_on(&machine, timing, count, warps, resident);
}

#endif
