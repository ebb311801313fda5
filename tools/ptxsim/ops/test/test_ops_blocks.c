/* What two blocks may do to the same bytes of global memory, instruction by instruction. Catches:
 * an access that the search for races is not told of, or with other bytes; a strong one that is
 * taken for a weak one, or the other way round; a scope that is not looked at; a fence that is
 * none, is not seen, or comes in the wrong place or warp; a request that is not noted because one
 * like it was. The search itself is machine/test/test_grid_race.c's. */
#include "test/run_ptx.h"
#include "test/stub.h"
#include "test/tap.h"

/* Block 0 is first, block 1 second; t is the thread, and x its own word. */
#define HEAD                                                                                      \
    PTX_HEAD                                                                                      \
    ".visible .entry k(.param .u64 data)\n{\n.reg .b16 h; .reg .b32 t, d<5>; .reg .b64 p, x, r; " \
    ".reg .pred first, second, none, all, lead; .shared .align 16 .b8 room[16]; "                 \
    "ld.param.u64 p, [data]; mov.u32 t, %ctaid.x; setp.eq.u32 first, t, 0; "                      \
    "setp.eq.u32 second, t, 1; setp.gt.u32 none, t, 1; setp.lt.u32 all, t, 2; "                   \
    "mov.u32 t, %tid.x; setp.eq.u32 lead, t, 0; mad.wide.u32 x, t, 4, p; "                        \
    "mov.b32 d0, 0; mov.b32 d1, 0; "                                                              \
    "mov.b32 d2, 0; mov.b32 d3, 0; mov.u64 r, room; cvta.shared.u64 r, r;\n"

typedef struct Program {
    const char *code;
    bool right;
} Program;

#define WRITE "@first st.global.u32 [p], d0; "
#define READ "@second ld.global.u32 d1, [p]; "
#define SAY "atom.global.add.u32 d2, [p+64], 1; "

static const Program plain[] = {
    {WRITE READ, false},
    {"@first ld.global.u32 d1, [p]; @second st.global.u32 [p], d0; ", false},
    {"st.global.u32 [p], d0; ", false},
    {"ld.global.u32 d1, [p]; ", true},
    {WRITE "ld.param.u64 x, [data]; ", true},
    {WRITE "@first ld.global.u32 d1, [p]; ", true},
    {WRITE "@none ld.global.u32 d1, [p]; ", true},
    {"@first st.u32 [p], d0; " READ, false},
    {WRITE "@second ld.u32 d1, [p]; ", false},
    {"st.u32 [r], d0; bar.sync 0; ld.u32 d1, [r]; ", true},
    /* which bytes */
    {WRITE "@second ld.global.u8 d1, [p+3]; ", false},
    {WRITE "@second ld.global.u8 d1, [p+4]; ", true},
    {"@first st.global.u16 [p+30], d0; @second st.global.u16 [p+28], d0; ", true},
    {"@first st.global.v4.u32 [p+16], {d0, d0, d0, d0}; @second ld.global.u32 d1, [p+28]; ", false},
    {"@first st.global.v4.u32 [p+16], {d0, d0, d0, d0}; @second ld.global.u32 d1, [p+32]; ", true},
    {"@first st.global.v4.u32 [p+16], {d0, d0, d0, d0}; @second ld.global.u32 d1, [p+12]; ", true},
    /* of all lanes */
    {"@first st.global.u32 [x], d0; @second ld.global.u32 d1, [p+124]; ", false},
    {"@first st.global.u32 [x], d0; @second ld.global.u32 d1, [p+128]; ", true},
    {"@first st.global.u32 [x+4], d0; @second ld.global.u32 d1, [p]; ", true},
    {"mad.wide.s32 x, t, -4, p; @first st.global.u32 [x+124], d0; "
     "@second ld.global.u32 d1, [p]; ",
     false},
    {"mad.wide.u32 x, t, 8, p; @first st.global.u32 [x], d0; @second ld.global.u32 d1, [p+4]; ",
     true},
    {"mad.wide.u32 x, t, 8, p; @first st.global.u32 [x], d0; @second ld.global.u32 d1, [p+248]; ",
     false},
    {"setp.eq.and.u32 first, t, 3, first; @first st.global.u32 [x], d0; "
     "@second ld.global.u32 d1, [p+12]; ",
     false},
    {"setp.eq.and.u32 first, t, 3, first; @first st.global.u32 [x], d0; "
     "@second ld.global.u32 d1, [p+8]; ",
     true},
};

static const Program copies[] = {
    {WRITE "@second cp.async.ca.shared.global [room], [p], 4; ", false},
    {WRITE "@second cp.async.ca.shared.global [room], [p+4], 4; ", true},
    {WRITE "@second cp.async.ca.shared.global [room], [p], 4, 0; ", true},
    {"@first st.global.u32 [p+8], d0; @second cp.async.cg.shared.global [room], [p], 16, 8; ",
     true},
    {"@first st.global.u32 [p+4], d0; @second cp.async.cg.shared.global [room], [p], 16, 8; ",
     false},
    {"st.shared.v4.u32 [room], {d0, d0, d0, d0}; fence.proxy.async; bar.sync 0; "
     "setp.eq.u32 first, t, 0; "
     "@first cp.async.bulk.global.shared::cta.bulk_group [p], [room], 16; "
     "@first cp.async.bulk.commit_group; @first cp.async.bulk.wait_group 0; ",
     false},
};

static const Program strong[] = {
    {"atom.global.add.u32 d1, [p], 1; ", true},
    {"red.global.add.u32 [p], 1; ", true},
    {"atom.add.u32 d1, [p], 1; ", true},
    {"atom.relaxed.sys.global.add.u32 d1, [p], 1; ", true},
    {"atom.relaxed.cta.global.add.u32 d1, [p], 1; ", false},
    {"red.relaxed.cluster.global.add.u32 [p], 1; ", false},
    {"@first atom.global.add.u32 d1, [p], 1; " READ, false},
    {"@first atom.global.add.u32 d1, [p], 1; @second st.global.u32 [p], d0; ", false},
    {"@first atom.global.add.u32 d1, [p], 1; @second ld.volatile.global.u32 d1, [p]; ", true},
    {"@first atom.global.add.u32 d1, [p], 1; @second ld.relaxed.gpu.global.u32 d1, [p]; ", true},
    {"@first atom.global.add.u32 d1, [p], 1; @second ld.relaxed.cta.global.u32 d1, [p]; ", false},
    {"@first atom.global.add.u32 d1, [p], 1; @second st.volatile.global.u32 [p], d0; ", true},
    {"st.volatile.global.u32 [p], d0; ", true},
    {"@first ld.volatile.global.u32 d1, [p]; @second ld.global.u32 d1, [p]; ", true},
    {"@first ld.volatile.global.u32 d1, [p]; @second st.global.u32 [p], d0; ", false},
    /* of the same size, element by element */
    {"@first atom.global.add.u64 x, [p], x; @second atom.global.add.u32 d1, [p], 1; ", false},
    {"@first st.volatile.global.v2.u32 [p], {d0, d0}; @second ld.volatile.global.u32 d1, [p+4]; ",
     true},
    {"@first st.volatile.global.v2.u32 [p], {d0, d0}; @second ld.volatile.global.u64 x, [p]; ",
     false},
    {"@first atom.global.add.noftz.f16x2 d1, [p], d0; @second ld.volatile.global.u16 h, [p]; ",
     true},
    {"@first atom.global.add.noftz.f16x2 d1, [p], d0; @second ld.volatile.global.u32 d1, [p]; ",
     false},
    /* who has read what an atomic left, strongly, comes after it */
    {"atom.global.add.u32 d1, [p], 1; @second st.global.u32 [p], d0; ", true},
    {"atom.global.add.u32 d1, [p], 1; " READ, true},
    {"@first atom.global.add.u32 d1, [p], 1; @second ld.volatile.global.u32 d1, [p]; " READ, true},
    {"@first atom.global.add.u32 d1, [p], 1; @second st.volatile.global.u32 [p], d0; " READ, false},
    {"@first ld.volatile.global.u32 d1, [p]; @second ld.volatile.global.u32 d1, [p]; "
     "@second st.global.u32 [p], d0; ",
     false},
    /* a compare-and-swap that does not swap reads */
    {"@first atom.global.cas.b32 d1, [p], 77, 5; " READ, true},
    {"@first atom.global.cas.b32 d1, [p], 0, 5; " READ, false},
};

/* The one who was there first releases after it, and the other acquires before. */
#define ORDERED(release, acquire) WRITE release acquire READ
static const Program fences[] = {
    {ORDERED(SAY, ""), false},
    {ORDERED("membar.gl; " SAY, "membar.gl; "), true},
    {ORDERED("membar.sys; " SAY, "membar.sys; "), true},
    {ORDERED("membar.cta; " SAY, "membar.cta; "), false},
    {ORDERED("fence.acq_rel.gpu; " SAY, "fence.acq_rel.gpu; "), true},
    {ORDERED("fence.sc.sys; " SAY, "fence.sc.sys; "), true},
    {ORDERED("fence.acq_rel.cta; " SAY, "fence.acq_rel.cta; "), false},
    {ORDERED("fence.sc.cluster; " SAY, "fence.sc.cluster; "), false},
    {ORDERED("fence.proxy.async; " SAY, ""), false},
    {ORDERED("fence.mbarrier_init.release.cluster; " SAY, ""), false},
    {ORDERED("atom.acq_rel.gpu.global.add.u32 d2, [p+64], 1; ", ""), true},
    {ORDERED("atom.acq_rel.cta.global.add.u32 d2, [p+4], 0; ", ""), false},
    {ORDERED("atom.acq_rel.gpu.shared.add.u32 d2, [room], 1; ", ""), false},
    {"@first st.global.u32 [p], d0; @first st.release.gpu.global.u32 [p+64], d0; "
     "@second ld.acquire.gpu.global.u32 d2, [p+64]; " READ,
     true},
    {"@first st.global.u32 [p], d0; @first st.release.gpu.global.u32 [p+64], d0; "
     "@second ld.relaxed.gpu.global.u32 d2, [p+64]; " READ,
     false},
    {ORDERED("fence.proxy.tensormap::generic.release.gpu; " SAY,
             "fence.proxy.tensormap::generic.acquire.gpu [p], 128; "),
     true},
    {ORDERED("fence.proxy.tensormap::generic.release.cta; " SAY,
             "fence.proxy.tensormap::generic.acquire.cta [p], 128; "),
     false},
    {ORDERED("@first membar.gl; " SAY, "@second membar.gl; "), true},
    {ORDERED("@first membar.gl; " SAY, ""), false},
    {ORDERED(SAY, "@second membar.gl; "), false},
    {ORDERED("fence.release.gpu; " SAY, "fence.acquire.gpu; "), true},
    {ORDERED("fence.acquire.gpu; " SAY, "fence.acquire.gpu; "), false},
    {ORDERED("fence.release.gpu; " SAY, "fence.release.gpu; "), false},
    {WRITE READ "membar.gl; ", false},
    {"atom.acq_rel.gpu.global.add.u32 d2, [p+64], 1; " WRITE READ, false},
    {"fence.proxy.tensormap::generic.release.gpu; " WRITE SAY
     "fence.proxy.tensormap::generic.acquire.gpu [p], 128; " READ,
     false},
    {WRITE "@first membar.gl; @first ld.volatile.global.u32 d2, [p+64]; @second " SAY
           "@second membar.gl; " READ,
     false},
    {"membar.gl; " WRITE READ, false},
    {"@none membar.gl; " WRITE "@none membar.gl; " READ, false},
};

/* Block 0 does it four times, all of its lanes; then block 1 its own. The rounds are d3 = 0 .. 3,
 * and x goes on by `step` bytes after each. */
#define ROUNDS(body, step, own)                                                      \
    "@second bra SECOND; AGAIN: " body "add.u64 x, x, " step "; add.u32 d3, d3, 1; " \
    "setp.lt.u32 all, d3, 4; @all bra AGAIN; " SAY_ELSEWHERE "bra END; SECOND: " own "END: "
#define WIDE "mad.wide.u32 x, t, 8, p; "
#define STORE "st.global.u32 [x], d0; "
#define SAY_ELSEWHERE "atom.global.add.u32 d2, [p+1020], 1; "
#define OVERWRITTEN SAY_ELSEWHERE "membar.gl; st.global.u32 [p], d0; "
#define ACQUIRED SAY_ELSEWHERE "membar.gl; ld.global.u32 d1, [p]; "
static const Program repeated[] = {
    {ROUNDS(STORE, "128", "ld.global.u32 d1, [p+508]; "), false},
    {ROUNDS(STORE, "128", "ld.global.u32 d1, [p+384]; "), false},
    {ROUNDS(STORE, "4", "ld.global.u32 d1, [p+136]; "), false},
    {ROUNDS(STORE, "4", "ld.global.u32 d1, [p+140]; "), true},
    {ROUNDS("ld.global.u32 d1, [x]; ", "0", "st.global.u32 [p], d0; "), false},
    {ROUNDS("ld.global.u32 d1, [x]; ", "0", "ld.global.u32 d1, [p]; "), true},
    {ROUNDS("ld.global.u32 d1, [x]; " STORE, "128", "ld.global.u32 d1, [p+508]; "), false},
    {"mov.u64 x, p; " ROUNDS(STORE, "4", "ld.global.u32 d1, [p+12]; "), false},
    {"mov.u64 x, p; " ROUNDS(STORE, "4", "ld.global.u32 d1, [p+16]; "), true},
    {WIDE ROUNDS(STORE, "16", "ld.global.u32 d1, [p+296]; "), false},
    {WIDE ROUNDS(STORE, "16", "ld.global.u32 d1, [p+292]; "), true},
    {WIDE ROUNDS(STORE, "16", "ld.global.u32 d1, [p+304]; "), true},
    /* what was noted before a fence is another use after it */
    {ROUNDS(STORE "membar.gl; ", "0", ACQUIRED), true},
    {ROUNDS(STORE "setp.lt.u32 none, d3, 3; @none membar.gl; ", "0", ACQUIRED), false},
    {WIDE ROUNDS(STORE "setp.lt.u32 none, d3, 3; @none membar.gl; ", "0", ACQUIRED), false},
    {ROUNDS("st.global.u32 [p], d0; " STORE "setp.lt.u32 none, d3, 3; @none membar.gl; ", "0",
            SAY_ELSEWHERE "membar.gl; ld.global.u32 d1, [p+4]; "),
     false},
    {ROUNDS(STORE "st.release.gpu.global.u32 [x+256], d0; ", "0", ACQUIRED), true},
    {ROUNDS("ld.global.u32 d1, [x]; membar.gl; ", "0", OVERWRITTEN), true},
    {ROUNDS("ld.global.u32 d1, [x]; setp.lt.u32 none, d3, 3; @none membar.gl; ", "0", OVERWRITTEN),
     false},
    /* strong ones */
    {ROUNDS("st.volatile.global.u32 [x], d0; ", "0", "ld.volatile.global.u32 d1, [p]; "), true},
    {ROUNDS("st.volatile.global.u32 [x], d0; ", "0", "ld.global.u32 d1, [p]; "), false},
};

/* Two warps in each block: f0, f1 are those of the first, s0, s1 those of the second. */
#define TWO                                                                             \
    ".reg .pred far, f0, f1, s0, s1; setp.gt.u32 far, t, 31; and.pred f1, first, far; " \
    "xor.pred f0, first, f1; and.pred s1, second, far; xor.pred s0, second, s1; "
#define COUNT(who) "@" who " atom.global.add.u32 d2, [p+64], 1; "
#define FENCE(who) "@" who " membar.gl; "
#define BAR "bar.sync 0; "
#define WRITE1 TWO "@f1 st.global.u32 [p], d0; "
#define READ1 "@s1 ld.global.u32 d1, [p]; "
#define ACQUIRE COUNT("s0") FENCE("s0") BAR READ1
#define RELEASE WRITE1 FENCE("f1") BAR COUNT("f0")
/* Lane 0 of warp a finds what warp b has released, so it knows more than the lanes beside it, and
 * does `code`; lane 1, `one`, arrives at an mbarrier at which warp b waits. */
#define AHEAD(a, b, code)                                                                          \
    ".reg .pred one; .shared .align 8 .b64 bar; and.pred lead, lead, " a "; "                      \
    "setp.eq.u32 one, t, 1; and.pred one, one, " a "; @lead mbarrier.init.shared.b64 [bar], 1; "   \
    "@lead st.shared.u32 [room+4], d0; bar.sync 0; setp.eq.and.u32 far, t, 32, " b "; "            \
    "@far st.release.cta.shared.u32 [room+4], 1; @!lead bra GONE; SPIN: "                          \
    "ld.acquire.cta.shared.u32 d4, [room+4]; setp.ne.u32 none, d4, 1; @none bra SPIN; GONE: " code \
    "@one mbarrier.arrive.shared.b64 x, [bar]; @!" b " bra OVER; TRY: "                            \
    "mbarrier.try_wait.parity.shared.b64 none, [bar], 0; @!none bra TRY; OVER: "
/* The second warp of the first block stores three times; the first has met it after two. */
#define STORES(again)                                                                 \
    TWO "@!f1 bra OTHERS; AGAIN: st.global.u32 [x+128], d0; add.u32 d3, d3, 1; "      \
        "setp.lt.u32 none, d3, 3; " again "bar.sync 1, 64; @none bra AGAIN; OTHERS: " \
        "@f0 bar.sync 1, 64; @f0 bar.sync 1, 64; "
static const Program two_warps[] = {
    {RELEASE ACQUIRE, true},
    {WRITE1 FENCE("f1") FENCE("f0") COUNT("f0") BAR ACQUIRE, false},
    {WRITE1 BAR FENCE("f0") COUNT("f0") ACQUIRE, true},
    {WRITE1 BAR COUNT("f0") ACQUIRE, false},
    {WRITE1 FENCE("f1") COUNT("f1") BAR ACQUIRE, true},
    {WRITE1 FENCE("f0") BAR COUNT("f0") ACQUIRE, false},
    {WRITE1 FENCE("f1") BAR FENCE("f0") BAR COUNT("f0") ACQUIRE, true},
    {WRITE1 FENCE("f1") BAR "@f1 st.global.u32 [p], d0; " FENCE("f1") COUNT("f0") BAR ACQUIRE,
     false},
    {WRITE1 FENCE("f1") BAR "@f1 st.global.u32 [p+4], d0; " FENCE("f1") COUNT("f0") BAR ACQUIRE,
     true},
    {WRITE1 "@f0 atom.acq_rel.gpu.global.add.u32 d2, [p+64], 1; " BAR ACQUIRE, false},
    {WRITE1 BAR "@f0 atom.acq_rel.gpu.global.add.u32 d2, [p+64], 1; " BAR ACQUIRE, true},
    {WRITE1 FENCE("f1") "@f1 bar.arrive 1, 64; @f0 bar.sync 1, 64; " COUNT("f0") BAR ACQUIRE, true},
    {WRITE1 FENCE("f1") "@f0 bar.arrive 1, 64; @f1 bar.sync 1, 64; " COUNT("f0") BAR ACQUIRE,
     false},
    /* a request that is repeated is noted again at a later clock */
    {STORES("@none ") FENCE("f0") COUNT("f0") ACQUIRE "@s1 ld.global.u32 d1, [p+256]; ", false},
    {STORES("") "@f0 bar.sync 1, 64; " FENCE("f0") COUNT("f0") ACQUIRE
     "@s1 ld.global.u32 d1, [p+256]; ",
     true},
    /* who acquires */
    {RELEASE FENCE("s0") COUNT("s0") BAR READ1, false},
    {RELEASE FENCE("s1") COUNT("s0") BAR READ1, false},
    {RELEASE COUNT("s0") FENCE("s0") READ1 BAR, false},
    {RELEASE COUNT("s0") BAR FENCE("s1") READ1, true},
    {RELEASE COUNT("s0") FENCE("s1") BAR READ1, false},
    {RELEASE COUNT("s0") BAR FENCE("s0") BAR READ1, true},
    {RELEASE COUNT("s1") FENCE("s1") READ1, true},
    {RELEASE "@s0 ld.acquire.gpu.global.u32 d2, [p+64]; " BAR READ1, true},
    {RELEASE "@s0 ld.acquire.gpu.global.u32 d2, [p+64]; " READ1 BAR, false},
    {RELEASE "@s0 ld.acquire.cta.global.u32 d2, [p+64]; " BAR READ1, false},
    /* what some lanes alone have acquired in the block is no matter */
    {RELEASE AHEAD("s0", "s1", "@lead " SAY "@lead membar.gl; ") READ1, true},
    {RELEASE AHEAD("s0", "s1", "@lead " SAY) READ1, false},
    {TWO "@f0 st.global.u32 [p], d0; " AHEAD("f0", "f1", "@f0 membar.gl; ") COUNT("f1") ACQUIRE,
     true},
    /* who has read what an atomic left */
    {TWO "@f1 atom.global.add.u32 d1, [p], 1; @s0 atom.global.add.u32 d1, [p], 1; " BAR
         "@s1 st.global.u32 [p], d0; ",
     true},
    {TWO "@f1 atom.global.add.u32 d1, [p], 1; @s0 atom.global.add.u32 d1, [p], 1; "
         "@s1 st.global.u32 [p], d0; " BAR,
     false},
    /* the earlier of two writes is another use */
    {WRITE1 "@f0 st.global.u32 [p], d0; " FENCE("f0") COUNT("f0") BAR ACQUIRE, false},
    {WRITE1 BAR "@f0 st.global.u32 [p], d0; " FENCE("f0") COUNT("f0") BAR ACQUIRE, true},
};

static void check(const Program *program, unsigned threads) {
    static uint64_t data[128];
    char text[4000];
    snprintf(text, sizeof text, "%s@lead st.shared.u32 [room], d0; bar.sync 0; %s;\nret;\n}\n",
             HEAD, program->code);
    const Capture capture = begin_capture(STDERR_FILENO);
    const PtxRun run = run_ptx_grid(text, 2, threads, data, sizeof data);
    char *said = end_capture(&capture);
    const bool races = run.status == LAUNCH_FAULT && strstr(said, "data race between blocks");
    if (!ok(program->right ? run.status == LAUNCH_OK : races, "%s: %s",
            program->right ? "passes" : "a race", program->code))
        printf("# %s%s\n", run.error, said);
    free(said);
}

#define CHECK(list, threads) \
    for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) check(&(list)[i], threads)

int main(void) {
    setenv("SIM_RACE", "1", 1);
    CHECK(plain, 32);
    CHECK(copies, 32);
    CHECK(strong, 32);
    CHECK(fences, 32);
    CHECK(repeated, 32);
    CHECK(two_warps, 64);
    unsetenv("SIM_RACE");
    check(&(Program){WRITE READ, true}, 32); /* nobody has asked */
    return done_testing();
}
