/* Divergence, loops, calls, barriers and memory spaces, on kernels small enough to work out by
 * hand. Catches: lanes that do not meet again, a loop that lanes leave at the wrong time, a
 * register place that two live values share, a return that ends a thread, warps that pass a barrier
 * too early. */
#include "test/run_ptx.h"
#include "test/tap.h"

enum { THREADS = 64 };

/* The kernels see: tid in r0, the address of data[tid] in rd1, data[tid] in r1. */
#define HEAD                                                         \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n"              \
             ".reg .pred p, q;\n.reg .b32 r<9>;\n.reg .b64 rd<9>;\n" \
             "mov.u32 r0, %tid.x;\nld.param.u64 rd0, [data];\n"      \
             "mad.wide.u32 rd1, r0, 4, rd0;\nld.global.u32 r1, [rd1];\n"

static uint32_t data[THREADS];

static PtxRun run(const char *text) {
    for (uint32_t i = 0; i < THREADS; i++) data[i] = 7 * i + 3;
    return run_ptx(text, THREADS, data, sizeof data);
}

typedef uint32_t (*Expected)(uint32_t tid, uint32_t value);

static void check(const char *name, const char *text, Expected expected) {
    const PtxRun result = run(text);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < THREADS; i++) wrong += data[i] != expected(i, 7 * i + 3);
    if (!ok(result.status == LAUNCH_OK && wrong == 0, "%s", name))
        printf("# %u threads are wrong %s\n", wrong, result.error);
}

/* ---- Branches -------------------------------------------------------------------------------- */

static uint32_t nested(uint32_t tid, uint32_t value) {
    if (tid & 1)
        value = tid & 2 ? value * 3 : value * 5;
    else
        value += 100;
    return value + 1;
}

static const char nested_text[] =
    HEAD "and.b32 r2, r0, 1;\nsetp.eq.u32 p, r2, 0;\n@p bra EVEN;\n"
         "and.b32 r2, r0, 2;\nsetp.eq.u32 q, r2, 0;\n@q bra FIVE;\n"
         "mul.lo.u32 r1, r1, 3;\nbra MEET;\n"
         "FIVE: mul.lo.u32 r1, r1, 5;\nbra MEET;\n"
         "EVEN: add.u32 r1, r1, 100;\n"
         "MEET: add.u32 r1, r1, 1;\nst.global.u32 [rd1], r1;\nret;\n}\n";

static uint32_t collatz(uint32_t tid, uint32_t value) {
    uint32_t steps = 0;
    (void)tid;
    for (; value != 1; steps++) value = value & 1 ? 3 * value + 1 : value / 2;
    return steps;
}

static const char collatz_text[] =
    HEAD "mov.u32 r2, 0;\n"
         "HEAD: setp.eq.u32 p, r1, 1;\n@p bra DONE;\n"
         "add.u32 r2, r2, 1;\nand.b32 r3, r1, 1;\nsetp.eq.u32 q, r3, 0;\n@q bra HALF;\n"
         "mad.lo.u32 r1, r1, 3, 1;\nbra HEAD;\n"
         "HALF: shr.u32 r1, r1, 1;\nbra HEAD;\n"
         "DONE: st.global.u32 [rd1], r2;\nret;\n}\n";

static uint32_t early(uint32_t tid, uint32_t value) { return tid % 3 == 0 ? value : value + tid; }

static const char early_text[] = HEAD "rem.u32 r2, r0, 3;\nsetp.eq.u32 p, r2, 0;\n@p ret;\n"
                                      "add.u32 r1, r1, r0;\nst.global.u32 [rd1], r1;\nexit;\n}\n";

static uint32_t switched(uint32_t tid, uint32_t value) {
    static const uint32_t add[] = {10, 20, 30, 20};
    return value + add[tid & 3] + 1;
}

static const char switch_text[] =
    HEAD "and.b32 r2, r0, 3;\n"
         "TABLE: .branchtargets TEN, TWENTY, THIRTY, TWENTY;\n"
         "brx.idx r2, TABLE;\n"
         "TEN: add.u32 r1, r1, 10;\nbra MEET;\n"
         "TWENTY: add.u32 r1, r1, 20;\nbra MEET;\n"
         "THIRTY: add.u32 r1, r1, 30;\n"
         "MEET: add.u32 r1, r1, 1;\nst.global.u32 [rd1], r1;\nret;\n}\n";

/* Lanes from 8 on go on behind the branch, the others to where their numbers say. */
static uint32_t guarded_switch(uint32_t tid, uint32_t value) {
    static const uint32_t add[] = {10, 20, 30, 20};
    return value + (tid < 8 ? add[tid & 3] : 7) + 1;
}

static const char guarded_switch_text[] =
    HEAD "and.b32 r2, r0, 3;\nsetp.lt.u32 p, r0, 8;\n"
         "TABLE: .branchtargets TEN, TWENTY, THIRTY, TWENTY;\n"
         "@p brx.idx r2, TABLE;\nadd.u32 r1, r1, 7;\nbra MEET;\n"
         "TEN: add.u32 r1, r1, 10;\nbra MEET;\n"
         "TWENTY: add.u32 r1, r1, 20;\nbra MEET;\n"
         "THIRTY: add.u32 r1, r1, 30;\n"
         "MEET: bar.sync 0;\nadd.u32 r1, r1, 1;\nst.global.u32 [rd1], r1;\nret;\n}\n";

/* All lanes of a warp go the same way, the two warps different ones. */
static uint32_t same_way(uint32_t tid, uint32_t value) { return value + (tid < 32 ? 10 : 20); }

static const char same_way_text[] =
    HEAD "shr.u32 r2, r0, 5;\nTABLE: .branchtargets TEN, TWENTY;\nbrx.idx r2, TABLE;\n"
         "TEN: add.u32 r1, r1, 10;\nbra MEET;\nTWENTY: add.u32 r1, r1, 20;\n"
         "MEET: st.global.u32 [rd1], r1;\nret;\n}\n";

/* Odd lanes write only some of their registers under a guard; the others keep their values. */
static uint32_t guarded(uint32_t tid, uint32_t value) { return tid & 1 ? value + 2 * tid : value; }

static const char guarded_text[] =
    HEAD "and.b32 r2, r0, 1;\nsetp.ne.u32 p, r2, 0;\nmov.u32 r3, 0;\n"
         "@p add.u32 r3, r0, r0;\nadd.u32 r1, r1, r3;\n"
         "@!p bra KEEP;\nst.global.u32 [rd1], r1;\nKEEP: ret;\n}\n";

/* Lanes that part and never meet: those of each side end on their own. */
static uint32_t apart(uint32_t tid, uint32_t value) { return tid % 4 < 2 ? value + 5 : value + 9; }

static const char apart_text[] =
    HEAD "and.b32 r2, r0, 2;\nsetp.ne.u32 p, r2, 0;\nand.b32 r3, r0, 1;\n"
         "setp.ne.u32 q, r3, 0;\n@p bra NINE;\n@q bra FIVE;\n"
         "atom.global.add.u32 r4, [rd1], 5;\nexit;\n"
         "FIVE: atom.global.add.u32 r4, [rd1], 5;\nexit;\n"
         "NINE: atom.global.add.u32 r4, [rd1], 9;\nexit;\n}\n";

/* Threads that return early: barriers and votes of the others do not wait for them. */
static uint32_t returned(uint32_t tid, uint32_t value) {
    return tid >= 40 ? value : value + 100 + (tid < 32 ? 32 : 8);
}

static const char returned_text[] =
    HEAD "setp.ge.u32 p, r0, 40;\nmov.pred q, 1;\n@p bra END;\nbar.sync 0;\n"
         "bar.red.and.pred q, 1, q;\n@q add.u32 r1, r1, 100;\n"
         "vote.sync.ballot.b32 r2, 1, -1;\npopc.b32 r2, r2;\nadd.u32 r1, r1, r2;\n"
         "st.global.u32 [rd1], r1;\nEND: ret;\n}\n";

/* One lane after the other parts from the rest and waits, from 31 down to 1; then they meet one by
 * one, the last first. */
static uint32_t ladder(uint32_t tid, uint32_t value) { return value + 32 - tid % 32; }

/* `name` is in its labels; `inside` is for lane 0, when all others have parted. */
static size_t put_ladder(char *text, size_t size, char name, const char *inside) {
    size_t n = 0;
    for (int i = 0; i < 31; i++)
        n += (size_t)snprintf(text + n, size - n,
                              "setp.eq.u32 p, r2, %d;\n@!p bra MORE%c%d;\nadd.u32 r1, r1, 1;\n"
                              "bra MEET%c%d;\nMORE%c%d:\n",
                              31 - i, name, i, name, i, name, i);
    n += (size_t)snprintf(text + n, size - n, "add.u32 r1, r1, 1;\n%s", inside);
    for (int i = 30; i >= 0; i--)
        n += (size_t)snprintf(text + n, size - n, "add.u32 r1, r1, 1;\nMEET%c%d:\n", name, i);
    return n;
}

static void write_ladder(char *text, size_t size) {
    size_t n = (size_t)snprintf(text, size, "%sand.b32 r2, r0, 31;\n", HEAD);
    n += put_ladder(text + n, size - n, 'A', "");
    snprintf(text + n, size - n, "bar.sync 0;\nst.global.u32 [rd1], r1;\nret;\n}\n");
}

/* Of a whole warp that parts in two and meets, every operation but those of one side is executed
 * once, and a barrier behind it finds all lanes. */
static void test_meeting(void) {
    static const char either[] = HEAD "and.b32 r2, r0, 1;\nsetp.eq.u32 p, r2, 0;\n@p bra MEET;\n"
                                      "add.u32 r1, r1, 1;\nMEET: bar.sync 0;\nret;\n}\n";
    static const char both[] = HEAD "and.b32 r2, r0, 1;\nsetp.eq.u32 p, r2, 0;\n@p bra ELSE;\n"
                                    "add.u32 r1, r1, 1;\nbra MEET;\nELSE: add.u32 r1, r1, 2;\n"
                                    "MEET: bar.sync 0;\nret;\n}\n";
    static const char loop[] = HEAD "mov.u32 r2, r0;\nAGAIN: add.u32 r1, r1, 1;\n"
                                    "sub.u32 r2, r2, 1;\nsetp.lt.s32 p, r2, 0;\n@!p bra AGAIN;\n"
                                    "bar.sync 0;\nret;\n}\n";
    PtxRun result = run(either);
    ok(result.status == LAUNCH_OK && result.executions == 2 * 10, "one side: %d operations",
       (int)result.executions);
    result = run(both);
    ok(result.status == LAUNCH_OK && result.executions == 2 * 12, "two sides: %d operations",
       (int)result.executions);
    result = run(loop);
    ok(result.status == LAUNCH_OK && result.executions == 2 * 7 + 4 * (32 + 64),
       "a loop that is left lane by lane: %d operations", (int)result.executions);
    ok(result.divergent == 31 + 31, "each time but the last they part");
}

/* Three ways, each with a barrier of its own, and what each lane reads is of another way. */
static uint32_t exchanged(uint32_t tid, uint32_t value) {
    (void)value;
    return 7 * (tid ^ 13) + 3 + 100 * (tid % 32 < 8 ? 1u : tid % 32 < 16 ? 2u : 3u);
}

#define WAY(name, own)                                                             \
    name ": st.shared.u32 [r3], r1;\nbar.warp.sync -1;\nld.shared.u32 r5, [r4];\n" \
         "add.u32 r5, r5, " own ";\nbra MEET;\n"
#define SHARED_WORDS                                                                  \
    ".shared .align 4 .b8 room[256];\nmov.u32 r2, room;\nmad.lo.u32 r3, r0, 4, r2;\n" \
    "xor.b32 r4, r0, 13;\nmad.lo.u32 r4, r4, 4, r2;\nand.b32 r6, r0, 31;\n"

static const char exchange_text[] =
    HEAD SHARED_WORDS "setp.lt.u32 p, r6, 8;\n@p bra FIRST;\nsetp.lt.u32 q, r6, 16;\n"
                      "@q bra SECOND;\n" WAY("THIRD", "300") WAY("SECOND", "200")
                          WAY("FIRST", "100") "MEET: st.global.u32 [rd1], r5;\nret;\n}\n";

/* Two ways with three barriers each: the upper half reads what the lower half wrote before the
 * first and between the second and the third. */
#define SYNC "bar.warp.sync -1;\n"
static uint32_t in_rounds(uint32_t tid, uint32_t value) {
    return tid % 32 < 16 ? value + 1000 : 2 * (7 * (tid ^ 16) + 3) + 1000;
}

static const char rounds_text[] = HEAD SHARED_WORDS
    "xor.b32 r4, r0, 16;\nmad.lo.u32 r4, r4, 4, r2;\n"
    "setp.lt.u32 p, r6, 16;\n@p bra LOWER;\n" SYNC "ld.shared.u32 r5, [r4];\n" SYNC SYNC
    "ld.shared.u32 r7, [r4];\nadd.u32 r5, r5, r7;\nbra MEET;\n"
    "LOWER: st.shared.u32 [r3], r1;\n" SYNC SYNC
    "add.u32 r5, r1, 1000;\nst.shared.u32 [r3], r5;\n" SYNC
    "MEET: st.global.u32 [rd1], r5;\nret;\n}\n";

/* On a way inside another lane 0 hands its value to lane 1, at a barrier of the two; then both
 * change places with lane 31, which is outside, as all others there read what lane 0 wrote. */
static uint32_t handed_on(uint32_t tid, uint32_t value) {
    const uint32_t first = 7 * (tid & 32) + 3, last = 7 * (tid | 31) + 3;
    return value + (tid % 32 == 1 ? first : 0) + (tid % 32 < 2 ? last : first);
}

static const char nested_barriers_text[] = HEAD SHARED_WORDS
    "or.b32 r4, r0, 31;\nmad.lo.u32 r4, r4, 4, r2;\n"
    "setp.lt.u32 p, r6, 2;\n@p bra PAIR;\nst.shared.u32 [r3], r1;\n" SYNC
    "ld.shared.u32 r7, [r4+-124];\nbra MEET;\n"
    "PAIR: setp.eq.u32 q, r6, 0;\n@q bra ZERO;\nbar.warp.sync 3;\n"
    "ld.shared.u32 r7, [r4+-124];\nadd.u32 r1, r1, r7;\n" SYNC "bra BOTH;\n"
    "ZERO: st.shared.u32 [r3], r1;\nbar.warp.sync 3;\n" SYNC "BOTH: ld.shared.u32 r7, [r4];\n"
    "MEET: add.u32 r1, r1, r7;\nst.global.u32 [rd1], r1;\nret;\n}\n";

/* One way has a barrier, the other none: then it is that of the next one of the others. */
static uint32_t alone(uint32_t tid, uint32_t value) { return value + (tid & 1 ? 10 : 20); }

static const char alone_text[] =
    HEAD "and.b32 r2, r0, 1;\nsetp.eq.u32 p, r2, 0;\n@p bra EVEN;\n" SYNC "add.u32 r1, r1, 10;\n"
         "bra MEET;\nEVEN: add.u32 r1, r1, 20;\nMEET: " SYNC "st.global.u32 [rd1], r1;\nret;\n}\n";

/* The same with a guard in place of the branch. */
static uint32_t unchanged(uint32_t tid, uint32_t value) {
    (void)tid;
    return value;
}

static const char guarded_barrier_text[] =
    HEAD "and.b32 r2, r0, 1;\nsetp.eq.u32 p, r2, 0;\n@p " SYNC SYNC "ret;\n}\n";

/* Each lane has three barriers, the number of its lane's last bits in the first loop, the rest in
 * the second. */
static uint32_t in_loops(uint32_t tid, uint32_t value) {
    (void)value;
    return (tid ^ 1) % 4 == 3 ? 2 : 7;
}

static const char loops_text[] =
    HEAD SHARED_WORDS "xor.b32 r4, r0, 1;\nmad.lo.u32 r4, r4, 4, r2;\nand.b32 r7, r0, 3;\n"
                      "mov.u32 r8, 0;\nmov.u32 r5, 7;\n"
                      "ONE: setp.ge.u32 p, r8, r7;\n@p bra TWO;\nst.shared.u32 [r3], r8;\n" SYNC
                      "add.u32 r8, r8, 1;\nbra ONE;\n"
                      "TWO: setp.ge.u32 p, r8, 3;\n@p bra END;\nst.shared.u32 [r3], r5;\n" SYNC
                      "add.u32 r8, r8, 1;\nbra TWO;\n"
                      "END: ld.shared.u32 r5, [r4];\nst.global.u32 [rd1], r5;\nret;\n}\n";

/* Lane 0 has both of its barriers on one way, the others have one behind it. Then all lanes are one
 * way again, for a barrier of the block and a shuffle of all. */
static uint32_t together(uint32_t tid, uint32_t value) {
    const uint32_t first = 7 * (tid & 32) + 3, last = 7 * (tid | 31) + 3;
    return value + (tid % 32 ? first : last) + 32;
}

static const char together_text[] = HEAD SHARED_WORDS
    "setp.eq.u32 p, r6, 0;\nor.b32 r4, r0, 31;\n@!p and.b32 r4, r0, 32;\n"
    "mad.lo.u32 r4, r4, 4, r2;\nst.shared.u32 [r3], r1;\n@p bra FIRST;\n" SYNC
    "bra BEHIND;\nFIRST: " SYNC SYNC "BEHIND: ld.shared.u32 r5, [r4];\n"
    "@p bra MEET;\n" SYNC "MEET: bar.sync 0;\nactivemask.b32 r7;\n"
    "shfl.sync.bfly.b32 r7, r7, 1, 31, -1;\npopc.b32 r7, r7;\n"
    "add.u32 r5, r5, r7;\nadd.u32 r1, r1, r5;\nst.global.u32 [rd1], r1;\nret;\n}\n";

/* In the first of three rounds lane 0 has a barrier more, so it is one behind, until the others
 * come to the barrier of a round together with it. */
static uint32_t behind(uint32_t tid, uint32_t value) { return value + 3 + (tid % 32 == 0); }

static const char behind_text[] =
    HEAD "and.b32 r6, r0, 31;\nmov.u32 r8, 0;\n"
         "ROUND: add.u32 r1, r1, 1;\nor.b32 r7, r6, r8;\nsetp.ne.u32 p, r7, 0;\n@p bra MEET;\n" SYNC
         "add.u32 r1, r1, 1;\nMEET: " SYNC "add.u32 r8, r8, 1;\nsetp.lt.u32 q, r8, 3;\n"
         "@q bra ROUND;\nst.global.u32 [rd1], r1;\nret;\n}\n";

/* Lane 0 waits inside a ladder for the others, which go through the rest of it and of a second one:
 * that takes all frames of the warp. */
static uint32_t ladders(uint32_t tid, uint32_t value) { return ladder(tid, ladder(tid, value)); }

static void test_ladders(void) {
    static char text[16000];
    size_t n = (size_t)snprintf(text, sizeof text, "%sand.b32 r2, r0, 31;\n", HEAD);
    n += put_ladder(text + n, sizeof text - n, 'A', SYNC);
    n += (size_t)snprintf(text + n, sizeof text - n, SYNC);
    n += put_ladder(text + n, sizeof text - n, 'B', "");
    snprintf(text + n, sizeof text - n, SYNC "st.global.u32 [rd1], r1;\nret;\n}\n");
    check("lanes leave one behind in a ladder", text, ladders);
}

static void test_warp_barriers(void) {
    for (int race = 0; race < 2; race++) {
        setenv("SIM_RACE", race ? "1" : "0", 1);
        check("ways of a warp exchange words over their barriers", exchange_text, exchanged);
        check("over several, one after another", rounds_text, in_rounds);
        check("on ways inside others, of a pair and of all", nested_barriers_text, handed_on);
        check("as many on each way, at different places", loops_text, in_loops);
        check("of lanes that are one way again behind them", together_text, together);
        check("a barrier on one way alone", alone_text, alone);
        check("a barrier of some lanes by its guard", guarded_barrier_text, unchanged);
        check("a barrier more of one lane", behind_text, behind);
    }
    unsetenv("SIM_RACE");
    is_int((long long)run(alone_text).executions, 2 * (7 + 3 + 1 + 2 * 3), "each is executed once");
    is_int((long long)run(behind_text).executions, 2 * 44, "they are one way again");
    test_ladders();
}

/* The lanes of a warp, each on a way of its own, pass a sum on from one to another at mbarriers, in
 * the order 3, 10, 17 and so on. Lane 0 is the first to wait. */
static uint32_t passed_on(uint32_t tid, uint32_t value) {
    uint32_t sum = 0;
    for (uint32_t lane = 3; lane != tid % 32; lane = (lane + 7) % 32)
        sum += 7 * ((tid & 32) + lane) + 3;
    return sum + value;
}

/* r3 is a lane's own mbarrier, r4 that of the lane before it, r6 where the warp's sum is. */
static const char chain_text[] =
    HEAD ".shared .align 8 .b64 bar[64];\n.shared .align 4 .b32 sum[2];\n"
         "mov.u32 r3, bar;\nmad.lo.u32 r3, r0, 8, r3;\nmbarrier.init.shared.b64 [r3], 1;\n"
         "and.b32 r2, r0, 31;\nadd.u32 r4, r2, 25;\nand.b32 r4, r4, 31;\nsub.u32 r4, r4, r2;\n"
         "mad.lo.s32 r4, r4, 8, r3;\nshr.u32 r5, r0, 5;\nmov.u32 r6, sum;\n"
         "mad.lo.u32 r6, r5, 4, r6;\nmov.u32 r7, 0;\nbar.sync 0;\n";

static void test_chain(void) {
    static char text[16000];
    size_t n = (size_t)snprintf(text, sizeof text, "%sTABLE: .branchtargets L0", chain_text);
    for (int i = 1; i < 32; i++) n += (size_t)snprintf(text + n, sizeof text - n, ", L%d", i);
    n += (size_t)snprintf(text + n, sizeof text - n, ";\nbrx.idx r2, TABLE;\n");
    for (int i = 0; i < 32; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "L%d:\n", i);
        if (i != 3)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "mbarrier.%s.parity.shared.b64 p, [r4], 0;\n@!p bra L%d;\n"
                                  "ld.shared.u32 r7, [r6];\n",
                                  i % 2 ? "try_wait" : "test_wait", i);
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "add.u32 r1, r1, r7;\nst.shared.u32 [r6], r1;\n"
                              "mbarrier.arrive.shared.b64 rd2, [r3];\nbra MEET;\n");
    }
    snprintf(text + n, sizeof text - n, "MEET: bar.sync 0;\nst.global.u32 [rd1], r1;\nret;\n}\n");
    check("one after another, each on a way of its own", text, passed_on);
}

/* Lanes 0 and 1 hand a word to and fro a hundred times. */
static uint32_t to_and_fro(uint32_t tid, uint32_t value) {
    return value + (tid % 32 < 2 ? 200 - 1 + tid % 32 : 0);
}

static const char to_and_fro_text[] = HEAD
    ".shared .align 8 .b64 bar[4];\n.shared .align 4 .b32 word[2];\n"
    "and.b32 r2, r0, 31;\nshr.u32 r3, r0, 5;\nmov.u32 r4, bar;\nmad.lo.u32 r4, r3, 16, r4;\n"
    "mov.u32 r5, word;\nmad.lo.u32 r5, r3, 4, r5;\nmov.u32 r6, 0;\nmov.u32 r7, 0;\n"
    "setp.ge.u32 p, r2, 2;\n@p bra MEET;\nmad.lo.u32 r3, r2, 8, r4;\n"
    "mbarrier.init.shared.b64 [r3], 1;\nbar.warp.sync 3;\nsetp.eq.u32 p, r2, 1;\n@p bra ONE;\n"
    "st.shared.u32 [r5], r7;\n"
    "ZERO: mbarrier.arrive.shared.b64 rd2, [r4];\n"
    "BACK: mbarrier.try_wait.parity.shared.b64 p, [r4+8], r6;\n@!p bra BACK;\n"
    "ld.shared.u32 r7, [r5];\nadd.u32 r7, r7, 1;\nst.shared.u32 [r5], r7;\n"
    "xor.b32 r6, r6, 1;\nsetp.lt.u32 p, r7, 200;\n@p bra ZERO;\nsub.u32 r7, r7, 1;\nbra MEET;\n"
    "ONE: mbarrier.try_wait.parity.shared.b64 p, [r4], r6;\n@!p bra ONE;\n"
    "ld.shared.u32 r7, [r5];\nadd.u32 r7, r7, 1;\nst.shared.u32 [r5], r7;\n"
    "xor.b32 r6, r6, 1;\nmbarrier.arrive.shared.b64 rd2, [r4+8];\n"
    "setp.lt.u32 p, r7, 199;\n@p bra ONE;\nadd.u32 r7, r7, 1;\n"
    "MEET: bar.sync 0;\nadd.u32 r1, r1, r7;\nst.global.u32 [rd1], r1;\nret;\n}\n";

/* Lane 0 looks at a word that lane 1 writes. */
static uint32_t seen(uint32_t tid, uint32_t value) { return value + (tid % 32 == 0 ? 5 : 0); }

#define LOOK(sleep)                                                                  \
    HEAD SHARED_WORDS                                                                \
        "mov.u32 r7, 0;\nst.volatile.shared.u32 [r3], r7;\nbar.sync 0;\n"            \
        "setp.eq.u32 p, r6, 0;\n@p bra ZERO;\nsetp.ne.u32 q, r6, 1;\n@q bra MEET;\n" \
        "mov.u32 r8, 5;\nst.volatile.shared.u32 [r3+-4], r8;\nbra MEET;\n"           \
        "ZERO: " sleep "ld.volatile.shared.u32 r7, [r3];\n"                          \
        "setp.eq.u32 p, r7, 0;\n@p bra ZERO;\n"                                      \
        "MEET: bar.sync 0;\nadd.u32 r1, r1, r7;\nst.global.u32 [rd1], r1;\nret;\n}\n"

static void test_handing_over(void) {
    for (int race = 0; race < 2; race++) {
        setenv("SIM_RACE", race ? "1" : "0", 1);
        check("two lanes hand over to and fro at mbarriers", to_and_fro_text, to_and_fro);
        check("by a flag that one looks at", LOOK("nanosleep.u32 20;\n"), seen);
        check("by a flag for which one spins", LOOK(""), seen);
        test_chain();
    }
    unsetenv("SIM_RACE");
    is_int((long long)run(to_and_fro_text).executions, 2 * (20 + 100 * 9 + 2 + 100 * 9 + 1 + 4),
           "each waits once per turn");
}

/* Threads from 40 on write something and return while the others have barriers, shuffles and votes
 * with all lanes' masks before them, whichever way the simulator takes first. */
static uint32_t worked(uint32_t tid, uint32_t value) {
    return tid >= 40 ? value + 7 : 7 * (tid ^ 1) + 3 + (tid < 32 ? 32 : 8);
}

#define WORK "add.u32 r1, r1, 7;\nst.global.u32 [rd1], r1;\nret;\n"
#define TOGETHER(barrier)                                                              \
    barrier "shfl.sync.bfly.b32 r1, r1, 1, 31, -1;\nmov.pred q, 1;\n"                  \
            "vote.sync.ballot.b32 r2, q, -1;\npopc.b32 r2, r2;\nadd.u32 r1, r1, r2;\n" \
            "st.global.u32 [rd1], r1;\nret;\n"
static const char worked_text[] =
    HEAD "setp.ge.u32 p, r0, 40;\n@p bra END;\n" TOGETHER("bar.sync 0;\n") "END: " WORK "}\n";
static const char others_first_text[] =
    HEAD "setp.lt.u32 p, r0, 40;\n@p bra GO;\n" WORK "GO: " TOGETHER("bar.sync 0;\n") "}\n";
static const char shuffle_first_text[] =
    HEAD "setp.lt.u32 p, r0, 40;\n@p bra GO;\n" WORK "GO: " TOGETHER("") "}\n";

/* One more lane of each warp works and returns in each of eight rounds; the rest meet. */
static uint32_t one_by_one(uint32_t tid, uint32_t value) {
    return value + (tid % 32 < 24 ? 8 : 32 - tid % 32);
}

#define ONE_BY_ONE(meet)                                                     \
    HEAD "and.b32 r2, r0, 31;\nmov.u32 r3, 31;\n"                            \
         "ROUND: add.u32 r1, r1, 1;\nsetp.lt.u32 p, r2, r3;\n@p bra MORE;\n" \
         "st.global.u32 [rd1], r1;\nret;\nMORE: " meet                       \
         "sub.u32 r3, r3, 1;\nsetp.ge.u32 q, r3, 24;\n@q bra ROUND;\n"       \
         "st.global.u32 [rd1], r1;\nret;\n}\n"
static const char barrier_rounds_text[] = ONE_BY_ONE("bar.sync 0;\n");
static const char shuffle_rounds_text[] = ONE_BY_ONE("shfl.sync.bfly.b32 r4, r1, 1, 31, -1;\n");

static void test_ends(void) {
    check("lanes that work and then return, behind a barrier", worked_text, worked);
    check("before it", others_first_text, worked);
    is_int((long long)run(others_first_text).executions, 2 * 14 + 3,
           "which is executed once by each warp");
    check("before a shuffle", shuffle_first_text, worked);
    check("lanes that return one after another", barrier_rounds_text, one_by_one);
    check("between shuffles", shuffle_rounds_text, one_by_one);
}

static void test_branches(void) {
    static char ladder_text[8000];
    write_ladder(ladder_text, sizeof ladder_text);
    check("one lane after another parts from the rest", ladder_text, ladder);
    is_int((long long)run(ladder_text).divergent, 2 * 31, "each time");
    check("nested branches meet again", nested_text, nested);
    check("lanes leave a loop one after another", collatz_text, collatz);
    check("lanes that return early are out, the others go on", early_text, early);
    check("lanes that return before a barrier", returned_text, returned);
    check("lanes that part for good", apart_text, apart);
    check("an indexed branch", switch_text, switched);
    check("an indexed branch of some lanes", guarded_switch_text, guarded_switch);
    is_int((long long)run(guarded_switch_text).divergent, 1, "diverges in the warp that has both");
    check("an indexed branch of whole warps", same_way_text, same_way);
    is_int((long long)run(same_way_text).divergent, 0, "does not diverge");
    check("a guard keeps the registers of the other lanes", guarded_text, guarded);
    is_int((long long)run(nested_text).divergent, 4, "two divergent branches in each of two warps");
    is_int((long long)run(switch_text).divergent, 2,
           "an indexed branch diverges once in each warp");
    const PtxRun whole = run(early_text);
    is_int((long long)whole.executions, 2 * 10, "every instruction is executed once by a warp");
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static uint32_t called(uint32_t tid, uint32_t value) { return (tid < 40 ? value : 2 * value) + 1; }

static const char call_text[] =
    PTX_HEAD ".func (.param .b32 result) twice_from(.param .b32 x, .param .b32 y)\n{\n"
             ".reg .pred p;\n.reg .b32 r<3>;\n.local .align 4 .b8 room[8];\n"
             "ld.param.b32 r0, [x];\nld.param::func.b32 r1, [y];\nst.local.b32 [room+4], r0;\n"
             "setp.lt.u32 p, r1, 40;\n@p bra SAME;\n"
             "ld.local.b32 r2, [room+4];\nadd.u32 r0, r2, r2;\nst.param.b32 [result], r0;\nret;\n"
             "SAME: st.param.b32 [result], r0;\nret;\n}\n"
             ".visible .entry k(.param .u64 data)\n{\n"
             ".reg .b32 r<9>;\n.reg .b64 rd<9>;\nmov.u32 r0, %tid.x;\nld.param.u64 rd0, [data];\n"
             "mad.wide.u32 rd1, r0, 4, rd0;\nld.global.u32 r1, [rd1];\n"
             "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 c;\n"
             "st.param.b32 [a], r1;\nst.param.b32 [b], r0;\n"
             "call.uni (c), twice_from, (a, b);\nld.param.b32 r2, [c];\n}\n"
             "add.u32 r2, r2, 1;\nst.global.u32 [rd1], r2;\nret;\n}\n";

/* Three tables: the kernel's, and two of a function that is called twice. */
static uint32_t by_tables(uint32_t tid, uint32_t value) {
    static const uint32_t outer[] = {1, 2}, first[] = {10, 20}, second[] = {300, 200, 100};
    value += outer[tid & 1];
    for (int i = 0; i < 2; i++) value += first[tid >> 1 & 1] + second[tid % 3];
    return value;
}

static const char tables_text[] =
    PTX_HEAD ".func (.param .b32 result) add(.param .b32 x, .param .b32 y)\n{\n"
             ".reg .b32 r<4>;\n.reg .b64 w;\nld.param.b32 r0, [x];\nld.param.b32 r1, [y];\n"
             "shr.u32 r2, r1, 1;\nand.b32 r2, r2, 1;\nFIRST: .branchtargets TEN, TWENTY;\n"
             "brx.idx r2, FIRST;\nTEN: add.u32 r0, r0, 10;\nbra MORE;\n"
             "TWENTY: add.u32 r0, r0, 20;\n"
             "MORE: rem.u32 r2, r1, 3;\nSECOND: .branchtargets A, B, C;\nbrx.idx r2, SECOND;\n"
             "A: add.u32 r0, r0, 100;\nB: add.u32 r0, r0, 100;\nC: add.u32 r0, r0, 100;\n"
             "mov.b64 w, {r0, r1};\nmov.b64 {r3, r2}, w;\nst.param.b32 [result], r3;\nret;\n}\n"
             ".visible .entry k(.param .u64 data)\n{\n"
             ".reg .b32 r<9>;\n.reg .b64 rd<9>;\nmov.u32 r0, %tid.x;\nld.param.u64 rd0, [data];\n"
             "mad.wide.u32 rd1, r0, 4, rd0;\nld.global.u32 r1, [rd1];\nand.b32 r2, r0, 1;\n"
             "OUTER: .branchtargets ONE, TWO;\nbrx.idx r2, OUTER;\n"
             "TWO: add.u32 r1, r1, 1;\nONE: add.u32 r1, r1, 1;\n"
             "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 c;\n"
             "st.param.b32 [a], r1;\nst.param.b32 [b], r0;\n"
             "call.uni (c), add, (a, b);\nld.param.b32 r1, [c];\n}\n"
             "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 c;\n"
             "st.param.b32 [a], r1;\nst.param.b32 [b], r0;\n"
             "call.uni (c), add, (a, b);\nld.param.b32 r1, [c];\n}\n"
             "st.global.u32 [rd1], r1;\nret;\n}\n";

static void test_calls(void) {
    check("a call whose lanes return from different places", call_text, called);
    check("indexed branches of a kernel and of what it calls", tables_text, by_tables);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint32_t mirrored(uint32_t tid, uint32_t value) {
    (void)value;
    return 7 * (THREADS - 1 - tid) + 3;
}

static const char mirror_text[] =
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n"
             ".reg .b32 r<9>;\n.reg .b64 rd<9>;\n.shared .align 4 .b8 tile[256];\n"
             "mov.u32 r0, %tid.x;\nld.param.u64 rd0, [data];\nmad.wide.u32 rd1, r0, 4, rd0;\n"
             "ld.global.u32 r1, [rd1];\nmov.u32 r2, tile;\nmad.lo.u32 r3, r0, 4, r2;\n"
             "st.shared.u32 [r3], r1;\nbar.sync 0;\n"
             "cvt.u64.u32 rd2, r2;\ncvta.shared.u64 rd2, rd2;\nsub.u32 r4, 63, r0;\n"
             "mad.wide.u32 rd3, r4, 4, rd2;\nld.u32 r5, [rd3];\n" /* a generic address */
             "st.global.u32 [rd1], r5;\nret;\n}\n";

static uint32_t vectors(uint32_t tid, uint32_t value) {
    (void)value;
    return 7 * (tid ^ 1) + 3;
}

static const char vector_text[] =
    HEAD "and.b32 r2, r0, 1;\nsetp.ne.u32 p, r2, 0;\n@p ret;\n"
         "ld.global.v2.u32 {r3, r4}, [rd1];\nst.global.v2.u32 [rd1], {r4, r3};\nret;\n}\n";

static void test_memory(void) {
    const PtxRun result = run(mirror_text);
    check("shared memory by its own and by generic addresses", mirror_text, mirrored);
    check("vector loads and stores of some lanes", vector_text, vectors);
    is_int(result.status, LAUNCH_OK, "a kernel that is right is not complained of");
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refused(const char *name, const char *body, const char *expected) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, body);
    const PtxRun result = run(text);
    if (!ok(strstr(result.error, expected) != NULL, "%s is refused by name", name))
        printf("# \"%s\" lacks \"%s\"\n", result.error, expected);
}

static void test_refusals(void) {
    refused("an unknown opcode", "frobnicate.b32 r1, r1;", "frobnicate.b32 r1, r1");
    refused("an unknown modifier", "add.loudly.s32 r1, r1, r1;", "add.loudly.s32");
    refused("an operand of the wrong size", "add.s32 r1, r1, rd1;", "add.s32 r1, r1, rd1");
    refused("too many operands", "add.s32 r1, r1, r1, r1;", "add.s32 r1, r1, r1, r1");
    refused("an unknown label", "bra NOWHERE;", "unknown label NOWHERE");
    refused("an unknown register", "add.s32 r1, r1, r99;", "r99");
    refused("a missing bracket", "ld.global.u32 r1, [rd1;", "expected ']'");
}

int main(void) {
    test_meeting();
    test_branches();
    test_ends();
    test_warp_barriers();
    test_handing_over();
    test_calls();
    test_memory();
    test_refusals();
    return done_testing();
}
