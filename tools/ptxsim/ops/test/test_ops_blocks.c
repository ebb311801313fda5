/* What two blocks may do to the same bytes of global memory, instruction by instruction. Catches:
 * an access that the search for races is not told of, or with other bytes; a strong one that is
 * taken for a weak one, or the other way round; a scope that is not looked at; a fence that is
 * none, or is not seen; a request that is not noted because one like it was. The search itself is
 * machine/test/test_grid_race.c's. */
#include "test/run_ptx.h"
#include "test/stub.h"
#include "test/tap.h"

/* Block 0 is first, block 1 second; t is the thread, and x its own word. */
#define HEAD                                                                                      \
    PTX_HEAD                                                                                      \
    ".visible .entry k(.param .u64 data)\n{\n.reg .b16 h; .reg .b32 t, d<5>; .reg .b64 p, x, r; " \
    ".reg .pred first, second, none, all; .shared .align 16 .b8 room[16]; "                       \
    "ld.param.u64 p, [data]; mov.u32 t, %ctaid.x; setp.eq.u32 first, t, 0; "                      \
    "setp.eq.u32 second, t, 1; setp.gt.u32 none, t, 1; setp.lt.u32 all, t, 2; "                   \
    "mov.u32 t, %tid.x; mad.wide.u32 x, t, 4, p; mov.b32 d0, 0; mov.b32 d1, 0; "                  \
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
    {"membar.gl; " WRITE READ, false},
    {"@none membar.gl; " WRITE "@none membar.gl; " READ, false},
};

/* Block 0 does it four times, all of its lanes; then block 1 its own. The rounds are d3 = 0 .. 3,
 * and x goes on by `step` bytes after each. */
#define ROUNDS(body, step, own)                                                      \
    "@second bra SECOND; AGAIN: " body "add.u64 x, x, " step "; add.u32 d3, d3, 1; " \
    "setp.lt.u32 all, d3, 4; @all bra AGAIN; " SAY "bra END; SECOND: " own "END: "
#define WIDE "mad.wide.u32 x, t, 8, p; "
#define STORE "st.global.u32 [x], d0; "
#define ACQUIRED "membar.gl; ld.global.u32 d1, [p]; "
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
            "membar.gl; ld.global.u32 d1, [p+4]; "),
     false},
    {ROUNDS(STORE "st.release.gpu.global.u32 [x+256], d0; ", "0", ACQUIRED), true},
    /* strong ones */
    {ROUNDS("st.volatile.global.u32 [x], d0; ", "0", "ld.volatile.global.u32 d1, [p]; "), true},
    {ROUNDS("st.volatile.global.u32 [x], d0; ", "0", "ld.global.u32 d1, [p]; "), false},
};

static void check(const Program *program) {
    static uint64_t data[64];
    char text[3000];
    snprintf(text, sizeof text, "%sst.shared.u32 [room], d0; bar.sync 0; %s;\nret;\n}\n", HEAD,
             program->code);
    const Capture capture = begin_capture(STDERR_FILENO);
    const PtxRun run = run_ptx_grid(text, 2, 32, data, sizeof data);
    char *said = end_capture(&capture);
    const bool races = run.status == LAUNCH_FAULT && strstr(said, "data race between blocks");
    if (!ok(program->right ? run.status == LAUNCH_OK : races, "%s: %s",
            program->right ? "passes" : "a race", program->code))
        printf("# %s%s\n", run.error, said);
    free(said);
}

#define CHECK(list) \
    for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) check(&(list)[i])

int main(void) {
    setenv("SIM_RACE", "1", 1);
    CHECK(plain);
    CHECK(copies);
    CHECK(strong);
    CHECK(fences);
    CHECK(repeated);
    unsetenv("SIM_RACE");
    check(&(Program){WRITE READ, true}); /* nobody has asked */
    return done_testing();
}
