/* Which warp is issued, how many blocks are replayed and which of them count. Catches: a warp that
 * gives way to another one, blocks too many or too few, a first generation that counts, waits that
 * are added up wrongly. */
#include "replay/test/made_code.h"

/* Six instructions, the last of which stalls, and one more. Two warps of a partition: the first is
 * issued six times and waits once, in cycle 11, because the second goes on; that one waits from 0
 * to 5. Each stalls five cycles behind its sixth. */
static void test_goes_on(void) {
    Timing code[7];
    for (int i = 0; i < 7; i++) code[i] = plain(i == 5 ? 6 : 1);
    const Replay two = replay(code, 7, 8, 1);
    is_near(two.cycles, 18, 1e-9, "the warp that was last goes on");
    is_near(two.waits[WAIT_TURN], 7 / 17.0, 1e-9, "the other one waits for its turn");
    is_near(two.waits[WAIT_STALL], 10 / 17.0, 1e-9, "or for its stall count");
    Timing kept[20];
    for (int i = 0; i < 20; i++) {
        kept[i] = reads(2, 4, 7);
        kept[i].operands.kept[0] = true;
    }
    is_near(replay(kept, 20, 8, 1).cycles, 2 * 20 + 1, 1e-9,
            "and so keeps its registers: of two warps one has to read them all, once");
}

/* Ten instructions in ten cycles (A), or in 46 (B). */
enum { SHORT = 10, LONG = 10 };

/* A replay of blocks of which the last of each `paths` is long. */
static Replay replay_of_lengths(int paths, double expected, int warps, int resident) {
    Timing code[SHORT + LONG];
    int step[SHORT + LONG];
    Path path[20];
    for (int i = 0; i < SHORT + LONG; i++) {
        code[i] = plain(i < SHORT ? 1 : 5);
        step[i] = i;
    }
    for (int p = 0; p < paths; p++)
        path[p] = (Path){.step = p < paths - 1 ? step : &step[SHORT],
                         .steps = p < paths - 1 ? SHORT : LONG,
                         .expected = expected};
    const ReplayInput in = {&machine, code, path, paths, warps, resident};
    return replay_run(&in);
}

static void issues(Replay got, double instructions, double cycles, const char *what) {
    is_near(got.issued, instructions / cycles / 4, 1e-9, what);
}

/* Of all that are replayed neither the first nor the last one counts. */
static void test_alone(void) {
    issues(replay_of_lengths(2, 1e9, 1, 1), 20, 46 + 10, "ABAB, if paths are long: BA");
    issues(replay_of_lengths(2, 200000, 1, 1), 30, 46 + 10 + 46, "a million instructions: five");
    issues(replay_of_lengths(2, 200000.1, 1, 1), 20, 46 + 10, "less than five");
    issues(replay_of_lengths(2, 100000, 2, 1), 60, 46 + 10 + 46, "five of two warps");
    issues(replay_of_lengths(2, 1, 1, 1), 100, 5 * (46 + 10), "twelve at most: ten");
    is_near(replay_of_lengths(2, 28, 1, 1).cycles, 28 * 2.8, 1e-9,
            "each takes what is expected of it");
}

/* Blocks 0, 2 and 3 are on one place, from cycle 0, 10 and 20; 1, 4 and 5 on the other, from 0, 46
 * and 56. Two have ended in cycle 19, with four instructions of block 1, and five in cycle 65, with
 * two of block 5. */
static void test_together(void) {
    issues(replay_of_lengths(2, 1e9, 1, 2), 52 - 24, 66 - 20, "seven blocks on two places");
    /* Of 41 the 20th is long, from cycle 90 to 135, and the 40th. Two have ended in cycle 9, and 39
     * in cycle 215, with two instructions of the 40th. */
    issues(replay_of_lengths(20, 1, 1, 2), 392 - 20, 216 - 10, "eight more for each place");
}

static void test_waits(void) {
    Timing code[16];
    Machine lines = machine;
    double sum = 0;
    for (int i = 0; i < 16; i++) code[i] = plain(1);
    const Replay none = replay(code, 16, 1, 1);
    for (int w = 0; w < WAITS; w++) sum += none.waits[w];
    is_near(sum, 0, 0, "a warp that never waits");
    lines.code_line = 9; /* the second line comes a cycle late, once */
    is_near(replay_on(&lines, code, 16, 1, 1).waits[WAIT_CODE], 1, 1e-9, "a single wait is all");
    Timing meet[] = {plain(1), plain(10), plain(1)};
    meet[0].kind = KIND_BARRIER;
    const Replay met = replay(meet, 3, 1, 1);
    is_near(met.waits[WAIT_BARRIER], 13 / 22.0, 1e-9, "what follows a barrier");
    is_near(met.waits[WAIT_STALL], 9 / 22.0, 1e-9, "has stall counts of its own");
}

int main(void) {
    test_goes_on();
    test_alone();
    test_together();
    test_waits();
    return done_testing();
}
