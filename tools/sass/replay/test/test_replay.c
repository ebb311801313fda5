/* Programs of a few instructions on the model of a multiprocessor, with times worked out by hand.
 * Catches: a stall count, a scoreboard barrier, a barrier of the block or a group of copies that is
 * not waited for, a warp that hides no latency, a pipe or a bank of registers that serves more than
 * it can, a cache of registers that another warp hits, a line of code that nobody fetches, a tensor
 * core that loses nothing or too much, a block that begins at once, waits that are booked under
 * another name. */
#include "replay/test/made_code.h"

static void test_stalls(void) {
    Timing code[10];
    for (int i = 0; i < 10; i++) code[i] = plain(4);
    Replay one = replay(code, 10, 1, 1);
    is_near(one.cycles, 9 * 4 + 1, 1e-9, "ten instructions of one warp, four cycles apart");
    is_near(one.issued, 10 / (4 * 37.0), 1e-9, "of four issue slots a cycle");
    is_near(one.waits[WAIT_STALL], 1, 1e-9, "it waits for stall counts alone");
    is_near(replay(code, 10, 4, 1).cycles, 37, 1e-9, "four warps have a partition each");
    is_near(replay(code, 10, 16, 1).cycles, 40, 1e-9, "four in one take the slots by turns");
    for (int i = 0; i < 10; i++) code[i] = plain(1);
    Replay eight = replay(code, 10, 8, 1);
    is_near(eight.cycles, 20, 1e-9, "two warps that never wait take twice the time");
    is_near(eight.waits[WAIT_TURN], 1, 1e-9, "for they wait for each other");
}

static void test_scoreboard(void) {
    /* Handed over in 4 cycles, served in 1, there 18 later: at 23. */
    const Timing code[] = {load(1, 18, 2), waiting(1 << 2)};
    Replay one = replay(code, 2, 1, 1);
    is_near(one.cycles, 24, 1e-9, "a load and what needs it");
    ok(one.waits[WAIT_SHARED] > 0.9, "it waits for shared memory");
    is_near(replay(code, 2, 1, 2).cycles, 12, 1e-9, "a second block hides that");
    const Timing other[] = {load(1, 18, 2), waiting(1 << 3), plain(4), plain(1)};
    is_near(replay(other, 4, 1, 1).cycles, 7, 1e-9, "another barrier is not waited for");
    const Timing wide[] = {load(8, 18, 0), load(8, 18, 0), waiting(1)};
    is_near(replay(wide, 3, 1, 1).cycles, 4 + 16 + 18 + 1, 1e-9,
            "two of eight wavefronts, in turn");
    const Timing four[] = {load(8, 18, 0), waiting(1)};
    is_near(replay(four, 2, 4, 1).cycles, 4 + 4 * 8 + 18 + 1, 1e-9,
            "which the partitions have in common");
}

static void test_pipes(void) {
    Timing code[20];
    for (int i = 0; i < 20; i++) code[i] = in_pipe(PIPE_FMA, 2);
    is_near(replay(code, 20, 1, 1).cycles, 20, 1e-9, "two pipes for floats serve one a cycle");
    for (int i = 0; i < 20; i++) code[i] = in_pipe(PIPE_FMA_HEAVY, 2);
    Replay heavy = replay(code, 20, 1, 1);
    is_near(heavy.cycles, 40, 1e-9, "one of them every other");
    ok(heavy.waits[WAIT_FMA] > 0.9, "and is waited for");
    for (int i = 0; i < 20; i++) code[i] = in_pipe(i % 2 ? PIPE_FMA : PIPE_FMA_HEAVY, 2);
    is_near(replay(code, 20, 1, 1).cycles, 20, 1e-9, "beside it the other takes floats");
    for (int i = 0; i < 20; i++) code[i] = in_pipe(PIPE_TENSOR, 6);
    is_near(replay(code, 20, 8, 1).cycles, 240, 1e-9, "two warps share the tensor core");
    const Timing result[] = {in_pipe(PIPE_MUFU, 8), waiting(1)};
    Timing slow[] = {result[0], result[1]};
    slow[0].latency = 9;
    slow[0].control.written = 0;
    Replay mufu = replay(slow, 2, 1, 1);
    is_near(mufu.cycles, 18, 1e-9, "an exponential and what needs it");
    ok(mufu.waits[WAIT_OTHER] > 0.9, "which waits for neither memory nor pipe");
}

/* Each pipe is waited for under its own name. Ten instructions of eight cycles: the first of a
 * block waits for the last of the one before. */
static void test_names(void) {
    static const struct {
        Pipe pipe;
        Wait wait;
    } expected[] = {{PIPE_FMA_HEAVY, WAIT_FMA},
                    {PIPE_FMA_LITE, WAIT_FMA},
                    {PIPE_ALU, WAIT_ALU},
                    {PIPE_MUFU, WAIT_MUFU},
                    {PIPE_TENSOR, WAIT_TENSOR}};
    Timing code[10];
    for (size_t p = 0; p < sizeof expected / sizeof *expected; p++) {
        for (int i = 0; i < 10; i++) code[i] = in_pipe(expected[p].pipe, 8);
        const Replay one = replay(code, 10, 1, 1);
        is_near(one.cycles, 80, 1e-9, wait_name(expected[p].wait));
        is_near(one.waits[expected[p].wait], 1, 1e-9, wait_key(expected[p].wait));
    }
    for (int i = 0; i < 10; i++) code[i] = in_pipe(PIPE_FMA, 8);
    is_near(replay(code, 10, 1, 1).cycles, 40, 1e-9, "two at once where both pipes serve");
    for (int i = 0; i < 10; i++) code[i] = plain(0);
    is_near(replay(code, 10, 1, 1).cycles, 10, 1e-9, "no stall count is one cycle");
    const Timing mixed[] = {in_pipe(PIPE_FMA_LITE, 6), in_pipe(PIPE_FMA, 2), in_pipe(PIPE_FMA, 2),
                            plain(20), plain(1)};
    is_near(replay(mixed, 5, 1, 1).cycles, 1 + 2 + 1 + 20 + 1, 1e-9,
            "floats go to the pipe that is free first");
    const Timing heavy[] = {in_pipe(PIPE_FMA, 6), in_pipe(PIPE_FMA_HEAVY, 2),
                            in_pipe(PIPE_FMA_LITE, 2), plain(20), plain(1)};
    is_near(replay(heavy, 5, 1, 1).cycles, 6 + 1 + 20 + 1, 1e-9,
            "of two that are free to the one that can do nothing else");
}

/* What reads registers meanwhile takes the ports that mma.sync needs. */
static void test_taken(void) {
    Timing code[20];
    for (int i = 0; i < 20; i++) code[i] = in_pipe(i % 2 ? PIPE_ALU : PIPE_TENSOR, i % 2 ? 2 : 6);
    is_near(replay(code, 20, 1, 1).cycles, 10 * 6, 1e-9, "beside mma others cost nothing");
    for (int i = 1; i < 20; i += 2) code[i].taken = 1.5;
    is_near(replay(code, 20, 1, 1).cycles, 10 * 7.5, 1e-9, "but for the ports they take");
    for (int i = 0; i < 20; i += 2) code[i].control.stall = 6;
    is_near(replay(code, 20, 1, 1).cycles, 10 * 7, 1e-9, "an idle tensor core loses nothing");
}

/* Lines of eight instructions, of which a new one takes 20 cycles. */
static void test_code(void) {
    Machine small = machine;
    Timing code[MOST];
    for (int i = 0; i < MOST; i++) code[i] = plain(1);
    small.code_line = 20;
    is_near(replay_on(&small, code, 64, 1, 1).cycles, 64, 1e-9, "eight lines stay in the cache");
    small.code_kib = 0.5;
    Replay missed = replay_on(&small, code, 64, 1, 1);
    is_near(missed.cycles, 7 * 20 + 7, 1e-9, "of four, each is asked for when the last begins");
    ok(missed.waits[WAIT_CODE] > 0.99, "and waited for");
    is_near(replay_on(&small, code, 32, 1, 1).cycles, 32, 1e-9, "four stay");
    int step[48];
    for (int i = 0; i < 48; i++) step[i] = i / 8 * 16 + i % 8;
    Timing far[96];
    for (int i = 0; i < 96; i++) far[i] = plain(1);
    const Path path = {.step = step, .steps = 48, .expected = 48};
    const ReplayInput in = {&small, far, &path, 1, 1, 1};
    is_near(replay_run(&in).cycles, 6 * 8 + 5 * 19, 1e-9, "behind a jump nothing was asked for");
}

static void test_blocks(void) {
    Machine slow = machine;
    Timing code[30];
    for (int i = 0; i < 30; i++) code[i] = plain(1);
    slow.block_start = 50;
    is_near(replay_on(&slow, code, 10, 1, 1).cycles, 50 + 9, 1e-9, "a block has to begin");
    is_near(replay_on(&slow, code, 10, 1, 2).cycles, 59 / 2.0, 1e-9, "while another goes on");
    int step[20];
    for (int i = 0; i < 20; i++) step[i] = i;
    for (int i = 10; i < 20; i++) code[i] = plain(5);
    const Path path[] = {{.step = step, .steps = 10, .expected = 10},
                         {.step = &step[10], .steps = 10, .expected = 10}};
    const ReplayInput in = {&machine, code, path, 2, 1, 1};
    is_near(replay_run(&in).cycles, (10 + 46) / 2.0, 1e-9, "two kinds of blocks, by turns");
}

static void test_registers(void) {
    Timing code[20];
    for (int i = 0; i < 20; i++) code[i] = reads(2, 4, 7);
    is_near(replay(code, 20, 1, 1).cycles, 40, 1e-9, "two reads of one bank take two cycles");
    for (int i = 0; i < 20; i++) code[i] = reads(2, 4, 6);
    Replay one = replay(code, 20, 1, 1);
    is_near(one.cycles, 60, 1e-9, "three take three");
    ok(one.waits[WAIT_REGISTERS] > 0.9, "and are waited for");
    for (int i = 0; i < 20; i++) code[i] = reads(2, 5, NO_REGISTER);
    is_near(replay(code, 20, 1, 1).cycles, 20, 1e-9, "one read of each bank is free");
    for (int i = 0; i < 20; i++) {
        code[i] = reads(2, 4, 7);
        code[i].operands.kept[0] = true;
    }
    is_near(replay(code, 20, 1, 1).cycles, 20, 1e-9, "a register that is kept is read once");
    for (int i = 0; i < 20; i++) code[i].operands.source[0] = 2 + 2 * (i % 2);
    is_near(replay(code, 20, 1, 1).cycles, 40, 1e-9, "another one in its place is not it");
    for (int i = 0; i < 20; i++) {
        code[i] = reads(2, 4, 6);
        code[i].fixed = i % 2 == 0;
    }
    is_near(replay(code, 20, 1, 1).cycles, 30, 1e-9, "what is not fixed waits for no bank");
}

/* Three reads of one bank take it until the third cycle: two more instructions that need it cannot
 * begin before they can end within their window. */
static void test_window(void) {
    const Timing code[] = {reads(2, 4, 6), reads(2, 4, 6), plain(8), plain(1)};
    is_near(replay(code, 4, 1, 1).cycles, 3 + 1 + 8 + 1, 1e-9, "a window of three cycles");
    Timing kept[20];
    for (int i = 0; i < 20; i++) {
        kept[i] = reads(2, 4, 7);
        kept[i].operands.kept[0] = true;
        kept[i].control.stall = 2;
    }
    ok(replay(kept, 20, 8, 1).cycles > 50, "what is kept of one warp is no other's");
}

static void test_barrier(void) {
    Timing meet = plain(1);
    meet.kind = KIND_BARRIER;
    const Timing code[] = {meet, meet, meet, meet, meet, plain(1)};
    is_near(replay(code, 6, 1, 1).cycles, 5 * 14 + 1, 1e-9, "five barriers of one warp");
    /* Two warps of each partition arrive in two cycles, and the unit takes two for each of eight.
     */
    is_near(replay(code, 6, 8, 1).cycles, 5 * 28 + 2, 1e-9, "of eight");
    ok(replay(code, 6, 8, 1).waits[WAIT_BARRIER] > 0.9, "is what they wait for");
    is_near(replay(code, 6, 1, 2).cycles, 71 / 2.0, 1e-9, "blocks do not wait for each other");
    Timing late[] = {meet, plain(1)};
    late[0].control.stall = 40;
    is_near(replay(late, 2, 1, 1).cycles, 41, 1e-9, "a stall count that is longer stays");
    late[0].control.stall = 14;
    is_near(replay(late, 2, 1, 1).cycles, 15, 1e-9, "one that is as long, too");
    late[0].control.stall = 13;
    is_near(replay(late, 2, 1, 1).cycles, 15, 1e-9, "a shorter one does not");
}

static void test_deadlock(void) {
    Timing stuck = waiting(1);
    stuck.pipe = PIPE_LSU;
    stuck.control.written = 0; /* the queue has no room for any */
    Machine none = machine;
    none.lsu_queue = 0;
    int step[] = {0};
    const Path path = {.step = step, .steps = 1, .expected = 1};
    const ReplayInput in = {&none, &stuck, &path, 1, 1, 1};
    is_near(replay_run(&in).cycles, 0, 0, "warps that can never go on are told");
}

int main(void) {
    test_stalls();
    test_scoreboard();
    test_pipes();
    test_names();
    test_taken();
    test_code();
    test_blocks();
    test_registers();
    test_window();
    test_barrier();
    test_deadlock();
    return done_testing();
}
