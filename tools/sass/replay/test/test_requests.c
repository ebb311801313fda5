/* Loads, stores and copies on their way to the unit that all partitions share. Catches: a request
 * that is handed over or served too early, a queue that holds more or fewer than it can, sources
 * that are never read, a port of L2 that holds up what does not pass it, a group of copies that is
 * not waited for or whose place another one takes, a request of a warp that has ended. */
#include "replay/test/made_code.h"

static Timing in_group(Kind kind, int groups) {
    Timing timing = plain(1);
    timing.kind = kind;
    timing.groups = groups;
    return timing;
}

/* A copy of so many bytes, which lands 100 cycles after its four wavefronts. */
static Timing copy_of(double bytes) {
    Timing timing = load(4, 100, NO_BARRIER);
    timing.kind = KIND_COPY;
    timing.global = true;
    timing.filled = bytes;
    return timing;
}

static void test_handover(void) {
    const Timing two[] = {load(1, 18, 0), load(1, 18, 1), waiting(1 << 1)};
    is_near(replay(two, 3, 1, 1).cycles, 4 + 4 + 1 + 18 + 1, 1e-9,
            "a partition hands over one in four cycles");
    Timing store = load(8, 100, NO_BARRIER);
    store.control.read = 3;
    const Timing read[] = {store, waiting(1 << 3)};
    is_near(replay(read, 2, 1, 1).cycles, 4 + 9 + 1, 1e-9,
            "nine cycles later its sources are read");
    ok(replay(read, 2, 1, 1).waits[WAIT_SHARED] > 0.9, "which is a wait for shared memory");
    store.global = true;
    const Timing global[] = {store, waiting(1 << 3)};
    is_near(replay(global, 2, 1, 1).waits[WAIT_GLOBAL], 1, 1e-9, "or for global memory");
    Timing mufu[] = {in_pipe(PIPE_MUFU, 8), waiting(1)};
    mufu[0].latency = 9;
    mufu[0].control.read = 0;
    is_near(replay(mufu, 2, 1, 1).cycles, 8 + 1, 1e-9,
            "without a queue sources are read when the pipe is free");
}

/* The next block waits for its own barrier, not for what the one before has asked for. */
static void test_ended(void) {
    const Timing code[] = {plain(30), waiting(1), load(20, 1, 0)};
    is_near(replay(code, 3, 1, 1).cycles, 32, 1e-9, "a load that nobody waits for");
}

static void test_queue(void) {
    Timing code[MOST];
    for (int i = 0; i < MOST; i++) code[i] = load(20, 1, 0);
    Replay one = replay(code, 6, 1, 1);
    is_near(one.cycles, 6 * 20, 1e-9, "the queue holds two: the warp goes on as they are served");
    ok(one.waits[WAIT_LSU] > 0.9, "and waits for room in it");
    for (int i = 3; i < 6; i++) code[i] = plain(i == 3 ? 100 : 1);
    is_near(replay(code, 5, 1, 1).cycles, 4 + 1 + 100 + 1, 1e-9,
            "there is room when the first was handed over");
    code[3] = code[0], code[4] = plain(100);
    is_near(replay(code, 6, 1, 1).cycles, 24 + 1 + 100 + 1, 1e-9,
            "and again when the unit has done with it");
}

/* Beside a block that issues in each of 126 cycles, one with four loads: in cycle 0, 1, 4, when the
 * first has been handed over, and 24, when the unit has done with it. */
static void test_beside(void) {
    const Timing code[] = {load(20, 1, 0), load(20, 1, 0), load(20, 1, 0),
                           load(20, 1, 0), plain(100),     plain(1)};
    int loads[] = {0, 1, 2, 3, 4, 5}, busy[126];
    for (int i = 0; i < 126; i++) busy[i] = 5;
    const Path path[] = {{.step = loads, .steps = 6, .expected = 1e5},
                         {.step = busy, .steps = 126, .expected = 1e5}};
    const ReplayInput in = {&machine, code, path, 2, 1, 2};
    is_near(replay_run(&in).issued, (6 + 126) / 126.0 / 4, 1e-9, "no cycle earlier");
}

/* One that takes long, and a queue of 64 behind it; the first of them is waited for. */
static void test_long_queue(void) {
    Timing code[MOST];
    Machine large = machine;
    large.lsu_queue = 64;
    code[0] = load(1000, 1, NO_BARRIER);
    for (int i = 1; i < 65; i++) code[i] = load(1, 18, i == 1 ? 1 : NO_BARRIER);
    code[65] = waiting(1 << 1);
    code[66] = plain(200);
    code[67] = plain(1);
    is_near(replay_on(&large, code, 68, 1, 1).cycles, 4 + 1000 + 1 + 18 + 1 + 200 + 1, 1e-9,
            "64 requests wait");
}

/* Five that take a tenth of a cycle each have piled up behind one of 20. */
static void test_short_requests(void) {
    Timing code[7];
    Machine large = machine;
    large.lsu_queue = 8;
    for (int i = 0; i < 6; i++) {
        code[i] = load(i ? 0.1 : 20, 0, i ? 0 : NO_BARRIER);
        code[i].busy = 0;
    }
    code[6] = waiting(1);
    is_near(replay_on(&large, code, 7, 1, 1).cycles, 22, 1e-9, "all are served in one cycle");
}

static void test_port(void) {
    const Timing commit = in_group(KIND_COMMIT, 0), all = in_group(KIND_AWAIT, 0);
    const Timing filled[] = {copy_of(640), commit, all};
    is_near(replay(filled, 3, 1, 1).cycles, 4 + 4 + 10 + 100 + 1, 1e-9,
            "640 bytes come through a port of 64");
    const Timing beside[] = {copy_of(6400), load(1, 18, 0), waiting(1)};
    is_near(replay(beside, 3, 1, 1).cycles, 4 + 4 + 1 + 18 + 1, 1e-9,
            "which a load of shared memory does not pass");
    Machine slow = machine;
    slow.l2_port = 0.125;
    const Timing one[] = {copy_of(1), commit, all};
    is_near(replay_on(&slow, one, 3, 1, 1).cycles, 4 + 4 + 8 + 100 + 1, 1e-9, "one byte");
}

static void test_copies(void) {
    const Timing copy = copy_of(0), commit = in_group(KIND_COMMIT, 0),
                 all = in_group(KIND_AWAIT, 0), but_one = in_group(KIND_AWAIT, 1);
    const Timing code[] = {copy, commit, all};
    Replay one = replay(code, 3, 1, 1);
    is_near(one.cycles, 4 + 4 + 100 + 1, 1e-9, "a group of copies lands");
    ok(one.waits[WAIT_GLOBAL] > 0.9, "it waits for global memory");
    const Timing later[] = {copy, commit, but_one, plain(4), plain(1)};
    is_near(replay(later, 5, 1, 1).cycles, 8, 1e-9, "unless one may be left");
    const Timing two[] = {copy, commit, copy, commit, but_one};
    is_near(replay(two, 5, 1, 1).cycles, 4 + 4 + 100 + 1, 1e-9, "then the first is waited for");
    const Timing loads[] = {load(4, 100, NO_BARRIER), commit, all, plain(9), plain(1)};
    is_near(replay(loads, 5, 1, 1).cycles, 13, 1e-9, "a load is in no group");
    Timing scored[] = {commit, waiting(1)};
    scored[0].control.written = 0;
    scored[0].latency = 50;
    is_near(replay(scored, 2, 1, 1).cycles, 2, 1e-9, "the end of a group is no result");
}

/* A copy, more groups that are empty, and a wait for all of them. */
static double wait_behind(int groups) {
    Timing code[MOST];
    code[0] = copy_of(0);
    for (int i = 0; i < groups; i++) code[1 + i] = in_group(KIND_COMMIT, 0);
    code[1 + groups] = in_group(KIND_AWAIT, 0);
    return replay(code, groups + 2, 1, 1).cycles;
}

static void test_many_groups(void) {
    is_near(wait_behind(15), 4 + 4 + 100 + 1, 1e-9, "fifteen groups are in flight");
    is_near(wait_behind(16), 18, 1e-9, "one more takes the place of the first");
    Timing code[MOST];
    for (int i = 0; i < MOST; i++) code[i] = in_group(KIND_COMMIT, 0);
    code[16] = copy_of(0);
    code[18] = in_group(KIND_AWAIT, 0);
    is_near(replay(code, 19, 1, 1).cycles, 16 + 4 + 4 + 100 + 1, 1e-9,
            "a copy behind many groups is waited for");
    code[17] = in_group(KIND_AWAIT, 1);
    is_near(replay(code, 18, 1, 1).cycles, 18, 1e-9, "but not while its group has not ended");
}

int main(void) {
    test_handover();
    test_ended();
    test_queue();
    test_beside();
    test_long_queue();
    test_short_requests();
    test_port();
    test_copies();
    test_many_groups();
    return done_testing();
}
