/* What orders accesses to shared memory in the search for races, instruction by instruction: each
 * program passes with it, and without it, or with what is almost the same, it is a race. Catches: a
 * barrier, wait, fence or commit that the search is not told of, or that it is told of too much.
 * The search itself is machine/test/test_race.c's, mbarriers are test_ops_mbarrier.c's. */
#include "test/capture.h"
#include "test/tap.h"

/* first is thread 0, third thread 1, second thread 32, upper are those from there on; room is
 * written and known to all. */
#define HEAD                                                                                     \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t, s, z, d<4>; .reg .b64 p, x; " \
             ".reg .pred first, second, third, upper, g; .shared .align 128 .b8 room[1024]; "    \
             ".shared .align 8 .b64 bar;\nld.param.u64 p, [data]; mov.u32 t, %tid.x; "           \
             "mov.u32 z, 0; mov.u32 d0, 0; mov.u32 s, room; mad.lo.u32 s, t, 16, s; "            \
             "setp.lt.u32 g, t, 64; @g st.shared.v4.u32 [s], {z, z, z, z}; "                     \
             "fence.proxy.async; bar.sync 7;\n"                                                  \
             "setp.eq.u32 first, t, 0; setp.eq.u32 second, t, 32; setp.eq.u32 third, t, 1; "     \
             "setp.ge.u32 upper, t, 32;\n"

typedef struct Program {
    const char *code;
    bool right;
} Program;

#define WRITE "@first st.shared.u32 [room], z; "
#define READ "@second ld.shared.u32 d0, [room]; "

/* Each writes, and the later one of the two reads what both wrote. */
#define THE_LATER(first_adds, second_adds)                                           \
    "mov.u32 d1, 0; " WRITE "@second st.shared.u32 [room+16], z; @first " first_adds \
    ", 1; @second " second_adds ", 1; setp.eq.u32 g, d1, 1; "                        \
    "@g ld.shared.u32 d0, [room]; @g ld.shared.u32 d0, [room+16]; "
#define LATER(adds) THE_LATER("atom" adds, "atom" adds)

/* The lanes of a mask meet. */
#define MEET(lanes)                                                                       \
    "mov.u32 d1, %laneid; mov.u32 d2, 1; shl.b32 d1, d2, d1; and.b32 d1, d1, " lanes "; " \
    "setp.ne.u32 g, d1, 0; @g bar.warp.sync " lanes "; "

static const Program barriers[] = {
    {WRITE READ, false},
    {WRITE "bar.sync 0; " READ, true},
    {WRITE "barrier.sync 3, 64; " READ, true},
    {WRITE "bar.red.popc.u32 d1, 0, first; " READ, true},
    {WRITE "@upper bar.sync 1, 64; @!upper bar.arrive 1, 64; " READ, true},
    {WRITE "@upper bar.sync 1, 64; @!upper bar.arrive 1, 64; @third ld.shared.u32 d0, [room]; ",
     false},
    {WRITE "@upper bar.arrive 1, 64; @!upper bar.sync 1, 64; @third ld.shared.u32 d0, [room]; ",
     true},
    {WRITE "@!upper bar.sync 1, 64; @upper bar.arrive 1, 64; " READ, false},
    {WRITE "bar.warp.sync -1; " READ, false},
    /* lanes of one warp */
    {WRITE "@third ld.shared.u32 d0, [room]; ", false},
    {WRITE "bar.warp.sync -1; @third ld.shared.u32 d0, [room]; ", true},
    {WRITE "bar.sync 0; @third ld.shared.u32 d0, [room]; ", true},
    /* some of the lanes meet: 0 and 1, 0 and 2, 1 and 2 */
    {WRITE MEET("3") "@third ld.shared.u32 d0, [room]; ", true},
    {WRITE MEET("0xfffffffd") "@third ld.shared.u32 d0, [room]; ", false},
    {WRITE MEET("5") MEET("6") "@third ld.shared.u32 d0, [room]; ", true},
    {WRITE MEET("6") MEET("5") "@third ld.shared.u32 d0, [room]; ", false},
    {WRITE MEET("5") "bar.warp.sync -1; @third ld.shared.u32 d0, [room]; ", true},
    {WRITE "vote.sync.ballot.b32 d1, first, -1; @third ld.shared.u32 d0, [room]; ", false},
    /* what one lane's address stands for in a matrix is of several lanes */
    {"@upper bra END; @first st.shared.v4.u32 [room], {z, z, z, z}; "
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {d0}, [s]; END:",
     false},
    {"@upper bra END; st.shared.v4.u32 [s], {z, z, z, z}; "
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {d0, d1, d2, d3}, [s]; END:",
     false},
    {"@upper bra END; st.shared.v4.u32 [s], {z, z, z, z}; bar.warp.sync -1; "
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {d0, d1, d2, d3}, [s]; END:",
     true},
    {"@upper bra END; stmatrix.sync.aligned.m8n8.x4.shared.b16 [s], {z, z, z, z}; "
     "ld.shared.u32 d0, [s]; END:",
     false},
    {"@upper bra END; stmatrix.sync.aligned.m8n8.x4.shared.b16 [s], {z, z, z, z}; "
     "bar.warp.sync -1; ld.shared.u32 d0, [s]; END:",
     true},
    {"@upper bra END; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {d0, d1, d2, d3}, [s]; "
     "st.shared.u32 [s], z; END:",
     false},
    /* lanes of one store: the same value, different ones */
    {"@!upper st.shared.u32 [room], z; ", true},
    {"@!upper st.shared.u32 [room], t; ", false},
    {"@!upper st.shared.v2.u32 [room], {z, t}; ", false},
    {"@!upper st.volatile.shared.u32 [room], t; ", true},
    {"@!upper st.global.u32 [p], z; ", true},
    {"@!upper st.global.u32 [p], t; ", false},
    {"@upper bra END; mov.u32 s, room; stmatrix.sync.aligned.m8n8.x2.shared.b16 [s], {z, z}; END:",
     true},
    {"@upper bra END; mov.u32 s, room; stmatrix.sync.aligned.m8n8.x2.shared.b16 [s], {z, t}; END:",
     false},
    /* what a lane publishes does not order the others of its warp */
    {WRITE "membar.cta; @third ld.shared.u32 d0, [room]; ", false},
    {WRITE "fence.proxy.async; @third ld.shared.u32 d0, [room]; ", false},
    {"@first ld.shared.u32 d0, [room]; membar.cta; @third ld.shared.u32 d0, [room]; "
     "@third st.shared.u32 [room], z; ",
     false},
    {"@third ld.shared.u32 d0, [room]; membar.cta; @third ld.shared.u32 d0, [room]; "
     "@third st.shared.u32 [room], z; ",
     true},
    {WRITE "@first st.release.cta.shared.u32 [room+4], z; "
           "@third ld.acquire.cta.shared.u32 d1, [room+4]; @third ld.shared.u32 d0, [room]; ",
     true},
    {WRITE "@first st.relaxed.cta.shared.u32 [room+4], z; membar.cta; "
           "@third ld.acquire.cta.shared.u32 d1, [room+4]; @third ld.shared.u32 d0, [room]; ",
     false},
    /* who reads first; both read; both add */
    {"@second ld.shared.u32 d0, [room+4]; " WRITE "@first st.shared.u32 [room+4], z; ", false},
    {WRITE "bar.sync 0; @first ld.shared.u32 d0, [room]; " READ, true},
    {WRITE "bar.sync 0; @first red.shared.add.u32 [room], 1; "
           "@second atom.shared.add.u32 d0, [room], 1; ",
     true},
    {WRITE "bar.sync 0; @first red.shared.add.u32 [room], 1; " READ, false},
    {WRITE "bar.sync 0; " READ "@first atom.shared.exch.b32 d0, [room], 1; ", false},
    /* atomics that order memory, and some that do not */
    {LATER(".acq_rel.cta.shared.add.u32 d1, [room+4]"), true},
    {LATER(".acquire.cta.shared.add.u32 d1, [room+4]"), false},
    {LATER(".release.gpu.shared.add.u32 d1, [room+4]"), false},
    {"mov.u32 s, room; cvt.u64.u32 x, s; cvta.shared.u64 x, x; " LATER(
         ".acq_rel.cta.add.u32 d1, [x+4]"),
     true},
    {LATER(".relaxed.cta.shared.add.u32 d1, [room+4]"), false},
    {LATER(".shared.add.u32 d1, [room+4]"), false},
    {"@first atom.acq_rel.gpu.add.u32 d1, [p], 1; ", true},
    {THE_LATER("atom.acq_rel.cta.shared.add.u32 d1, [room+4]",
               "atom.relaxed.cta.shared.add.u32 d1, [room+4]"),
     false},
};

/* Thread 32, which comes first, writes and sets a flag; thread 0, which sees it set, reads. */
#define WROTE "@second st.shared.u32 [room], z; "
#define READS "@first ld.shared.u32 d0, [room]; "
#define FLAG(set, get, then)                                                      \
    "mov.u32 d1, 0; mov.u32 d2, 1; " WROTE set " @first " get ", [room+4]; " then \
    " setp.eq.u32 g, d1, 1; @g ld.shared.u32 d0, [room]; "
#define STORE_FLAG(how) "@second st." how ".u32 [room+4], d2;"
#define LOAD_FLAG(how) "ld." how ".u32 d1"
#define RELEASED STORE_FLAG("release.cta.shared")
#define RELAXED STORE_FLAG("relaxed.cta.shared")
#define GLOBAL(set, get) \
    WROTE set " @first " get "; setp.eq.u32 g, d1, 1; @g ld.shared.u32 d0, [room]; "

static const Program strong[] = {
    /* a release and an acquire; one of them is missing; one is no strong access */
    {FLAG(RELEASED, LOAD_FLAG("acquire.cta.shared"), ""), true},
    {FLAG(RELEASED, LOAD_FLAG("acquire.gpu.shared"), ""), true},
    {FLAG(RELEASED, LOAD_FLAG("relaxed.cta.shared"), ""), false},
    {FLAG(RELAXED, LOAD_FLAG("acquire.cta.shared"), ""), false},
    {FLAG(RELEASED, LOAD_FLAG("shared"), ""), false},
    {FLAG(STORE_FLAG("shared"), LOAD_FLAG("acquire.cta.shared"), ""), false},
    {FLAG("@second red.release.cta.shared.add.u32 [room+4], 1;", LOAD_FLAG("acquire.cta.shared"),
          ""),
     true},
    {WROTE "mov.u32 d2, 1; " RELEASED
           "@first atom.acquire.cta.shared.or.b32 d1, [room+4], 0; " READS,
     true},
    /* a fence before the write; one behind the read */
    {FLAG("fence.acq_rel.cta; " RELAXED, LOAD_FLAG("relaxed.cta.shared"), "fence.acq_rel.cta;"),
     true},
    {FLAG("membar.cta; " STORE_FLAG("volatile.shared"), LOAD_FLAG("volatile.shared"), "membar.gl;"),
     true},
    {FLAG("fence.sc.cta; " RELAXED, LOAD_FLAG("acquire.cta.shared"), ""), true},
    {FLAG("fence.acq_rel.cta; " RELAXED, LOAD_FLAG("relaxed.cta.shared"), ""), false},
    {FLAG(RELAXED, LOAD_FLAG("relaxed.cta.shared"), "fence.acq_rel.cta;"), false},
    {FLAG(RELAXED "fence.acq_rel.cta; ", LOAD_FLAG("acquire.cta.shared"), ""), false},
    {FLAG("fence.proxy.async; " RELAXED, LOAD_FLAG("acquire.cta.shared"), ""), false},
    {FLAG("fence.acquire.cta; " RELAXED, LOAD_FLAG("acquire.cta.shared"), ""), false},
    {FLAG("fence.release.cta; " RELAXED, LOAD_FLAG("relaxed.cta.shared"), "fence.acquire.cta;"),
     true},
    {FLAG("fence.release.cta; " RELAXED, LOAD_FLAG("relaxed.cta.shared"), "fence.release.cta;"),
     false},
    /* what is written after the fence is not released */
    {FLAG("fence.acq_rel.cta; @second st.shared.u32 [room], z; " RELAXED,
          LOAD_FLAG("acquire.cta.shared"), ""),
     false},
    /* one lane acquires: the others know when they have met it */
    {"mov.u32 d2, 1; " WROTE RELEASED "@first ld.acquire.cta.shared.u32 d1, [room+4]; "
     "@third ld.shared.u32 d0, [room]; ",
     false},
    {"mov.u32 d2, 1; " WROTE RELEASED "@first ld.acquire.cta.shared.u32 d1, [room+4]; "
     "bar.warp.sync -1; @third ld.shared.u32 d0, [room]; ",
     true},
    {"mov.u32 d2, 1; " WROTE RELEASED "ld.acquire.cta.shared.u32 d1, [room+4]; "
     "@third ld.shared.u32 d0, [room]; ",
     true},
    /* a flag in global memory orders shared memory, too */
    {"mov.u32 d1, 0; mov.u32 d2, 1; " GLOBAL("@second st.release.gpu.global.u32 [p], d2;",
                                             "ld.acquire.gpu.global.u32 d1, [p]"),
     true},
    {"mov.u32 d1, 0; mov.u32 d2, 1; " GLOBAL("@second st.release.gpu.u32 [p], d2;",
                                             "ld.acquire.gpu.u32 d1, [p]"),
     true},
    {"mov.u32 d1, 0; mov.u32 d2, 1; " GLOBAL("@second st.relaxed.gpu.global.u32 [p], d2;",
                                             "ld.acquire.gpu.global.u32 d1, [p]"),
     false},
    {"mov.u32 d1, 0; mov.u32 d2, 1; " GLOBAL("@second st.release.gpu.global.u32 [p], d2;",
                                             "ld.acquire.gpu.global.u32 d1, [p+8]"),
     true}, /* it is not set there */
    {"mov.u32 d1, 0; " GLOBAL("membar.gl; @second red.global.add.u32 [p], 1;",
                              "ld.volatile.global.u32 d1, [p]; membar.gl"),
     true},
    /* a compare-and-swap that does not find its value releases nothing */
    {WROTE "@second atom.release.cta.shared.cas.b32 d1, [room+4], 5, 1; "
           "@first ld.acquire.cta.shared.u32 d1, [room+4]; " READS,
     false},
    {WROTE "@second atom.release.cta.shared.cas.b32 d1, [room+4], 0, 1; "
           "@first ld.acquire.cta.shared.u32 d1, [room+4]; " READS,
     true},
    /* atomics, volatile and relaxed accesses race with weak ones, and not with each other */
    {"@first st.volatile.shared.u32 [room], z; @second ld.volatile.shared.u32 d0, [room]; ", true},
    {"@first st.volatile.shared.u32 [room], z; @second st.relaxed.cta.shared.u32 [room], z; ",
     true},
    {"@first red.shared.add.u32 [room], 1; @second ld.relaxed.cta.shared.u32 d0, [room]; ", true},
    {"@first ld.relaxed.cta.shared.u32 d0, [room]; @second red.shared.add.u32 [room], 1; ", true},
    {"@first st.release.cta.shared.u32 [room], z; @second atom.shared.exch.b32 d0, [room], 1; ",
     true},
    {"@first st.volatile.shared.u32 [room], z; @third ld.volatile.shared.u32 d0, [room]; ", true},
    {"@first st.volatile.shared.u32 [room], z; " READ, false},
    {WRITE "@second ld.volatile.shared.u32 d0, [room]; ", false},
    {"@first st.shared.u32 [room], z; @second red.shared.add.u32 [room], 1; ", false},
    {"@first ld.shared.u32 d0, [room]; @second red.shared.add.u32 [room], 1; ", false},
    {"@first ld.relaxed.cta.shared.u32 d0, [room]; @second st.shared.u32 [room], z; ", false},
    {"@first ld.relaxed.cta.shared.u32 d0, [room]; " READ, true},
    /* a plain load of what a compare-and-swap compares with, but no other one */
    {"ld.shared.u32 d0, [room]; AGAIN: mov.u32 d2, d0; add.u32 d1, d0, 1; "
     "atom.shared.cas.b32 d0, [room], d2, d1; setp.ne.u32 g, d0, d2; @g bra AGAIN; ",
     true},
    {"ld.shared.u32 d1, [room]; atom.shared.cas.b32 d0, [room], z, d1; ", false},
    {"ld.shared.u32 d0, [room]; @second st.shared.u32 [room], z; "
     "@first atom.shared.cas.b32 d0, [room], d0, z; ",
     false},
    /* an earlier weak access is not forgotten for a strong one */
    {"@first ld.shared.u32 d0, [room]; membar.cta; @first ld.relaxed.cta.shared.u32 d0, [room]; "
     "@second red.shared.add.u32 [room], 1; ",
     false},
    {WRITE "membar.cta; @first red.shared.add.u32 [room], 1; "
           "@second red.shared.add.u32 [room], 1; ",
     false},
    /* they are of the same bytes */
    {"@first st.relaxed.cta.shared.u32 [room], z; @second ld.relaxed.cta.shared.u8 d0, [room]; ",
     false},
    {"@first st.relaxed.cta.shared.u32 [room], z; @second ld.relaxed.cta.shared.u64 x, [room]; ",
     false},
    {"@first ld.relaxed.cta.shared.u64 x, [room]; @second ld.relaxed.cta.shared.u32 d0, [room]; ",
     true},
    {"@first st.volatile.shared.v2.u32 [room], {z, z}; "
     "@second ld.volatile.shared.u32 d0, [room+4]; ",
     true},
    {"@first st.volatile.shared.v2.u32 [room], {z, z}; @second ld.volatile.shared.u64 x, [room]; ",
     false},
    {"@first atom.add.noftz.shared.f16x2 d0, [room], z; "
     "@second atom.add.noftz.shared.f16x2 d0, [room], z; ",
     true},
    {"@first atom.add.noftz.shared.f16x2 d0, [room], z; "
     "@second ld.volatile.shared.u32 d0, [room]; ",
     false},
};

#define COPY "@first cp.async.ca.shared.global [room], [p], 4; "
#define COMMIT "cp.async.commit_group; "
#define OWN "@first ld.shared.u32 d0, [room]; "
#define INIT "@first mbarrier.init.shared.b64 [bar], 32; bar.sync 0; "
#define WAIT "WAIT: mbarrier.try_wait.parity.shared.b64 g, [bar], 0; @!g bra WAIT; "

#define ARRIVE(how, before) \
    before "@!upper mbarrier.arrive" how ".shared::cta.b64 x, [bar]; @!upper bra END; "
#define TEST(how, behind) \
    "TEST: mbarrier.test_wait.parity" how ".shared::cta.b64 g, [bar], 0; @!g bra TEST; " behind
#define ONE_WAITS                                                    \
    "@!upper mbarrier.arrive.shared.b64 x, [bar]; @!upper bra END; " \
    "setp.ne.u32 g, t, 32; @g bra OTHERS; " WAIT "OTHERS: "
#define NEXT_READS "setp.eq.u32 g, t, 33; @g ld.shared.u32 d0, [room]; "
#define INIT_FOR_ONE "@first mbarrier.init.shared.b64 [bar], 1; bar.sync 0; "
#define ONE_ARRIVES "@third mbarrier.arrive.shared.b64 x, [bar]; @!upper bra END; " WAIT

#define COPY_OF_EACH(bytes) \
    "mad.wide.u32 x, t, 4, p; @!upper cp.async.ca.shared.global [room], [x], 4, " #bytes "; "

static const Program copies[] = {
    /* lanes of one copy: the same source, different ones, none */
    {"@!upper cp.async.ca.shared.global [room], [p], 4; ", true},
    {COPY_OF_EACH(4), false},
    {COPY_OF_EACH(0), true},
    {COPY COMMIT OWN, false},
    {COPY COMMIT "cp.async.wait_group 0; " OWN, true},
    {COPY COMMIT "cp.async.wait_group 1; " OWN, false},
    {COPY COMMIT COMMIT "cp.async.wait_group 1; " OWN, true},
    {COPY "cp.async.wait_all; " OWN, true},
    {COPY "cp.async.wait_group 0; " OWN, false},
    /* a lane waits for its own copies alone */
    {COPY COMMIT "cp.async.wait_group 0; @third ld.shared.u32 d0, [room]; ", false},
    {COPY COMMIT "cp.async.wait_group 0; bar.warp.sync -1; @third ld.shared.u32 d0, [room]; ",
     true},
    {COPY COMMIT "bar.warp.sync -1; cp.async.wait_group 0; @third ld.shared.u32 d0, [room]; ",
     false},
    {COPY COMMIT "cp.async.wait_group 0; @third st.shared.u32 [room], z; ", false},
    {COPY COMMIT "cp.async.wait_group 0; " READ, false},
    {COPY COMMIT "cp.async.wait_group 0; bar.sync 0; " READ, true},
    {COPY COMMIT "bar.sync 0; cp.async.wait_group 0; " READ, false},
    {WRITE COPY COMMIT "cp.async.wait_group 0; ", true},
    {"@second st.shared.u32 [room], z; " COPY COMMIT "cp.async.wait_group 0; ", false},
    {"@second st.shared.u32 [room], z; bar.sync 0; " COPY COMMIT "cp.async.wait_group 0; ", true},
    {"@second st.shared.u32 [room+4], z; " COPY COMMIT "cp.async.wait_group 0; ", true},
    {INIT COPY
     "@!upper cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; @!upper bra END; " WAIT READ "END:",
     true},
    {INIT COPY "@upper bra END; cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; " WAIT
               "@third ld.shared.u32 d0, [room]; END:",
     true},
    {INIT COPY "@!upper mbarrier.arrive.shared.b64 x, [bar]; @!upper bra END; " WAIT READ "END:",
     false},
    {INIT WRITE "@!upper mbarrier.arrive.shared.b64 x, [bar]; @!upper bra END; " WAIT READ "END:",
     true},
    {INIT WRITE "@!upper mbarrier.arrive.shared.b64 x, [bar]; @third ld.shared.u32 d0, [room]; ",
     false},
    {INIT "@upper bra END; mbarrier.arrive.shared.b64 x, [bar]; " WAIT
          "@third mbarrier.inval.shared.b64 [bar]; END:",
     false},
    {INIT "@upper bra END; mbarrier.arrive.shared.b64 x, [bar]; " WAIT
          "vote.sync.ballot.b32 d1, first, -1; @third mbarrier.inval.shared.b64 [bar]; END:",
     true},
    {INIT WRITE "@upper bra END; mbarrier.arrive.shared.b64 x, [bar]; " WAIT
                "@third ld.shared.u32 d0, [room]; END:",
     true},
    /* an arrival or a test that is relaxed leaves the order to a fence */
    {INIT WRITE ARRIVE(".relaxed.cta", "") TEST(".acquire.cta", "") READ "END:", false},
    {INIT WRITE ARRIVE(".release.cta", "") TEST(".acquire.cta", "") READ "END:", true},
    {INIT WRITE ARRIVE(".release.cta", "") TEST(".relaxed.cta", "") READ "END:", false},
    {INIT WRITE ARRIVE(".relaxed.cta", "fence.acq_rel.cta; ")
         TEST(".relaxed.cta", "fence.acq_rel.cta; ") READ "END:",
     true},
    /* one lane waits: the others know when they have met it */
    {INIT WRITE ONE_WAITS READ "END:", true},
    {INIT WRITE ONE_WAITS NEXT_READS "END:", false},
    {INIT WRITE ONE_WAITS "vote.sync.ballot.b32 d1, first, -1; " NEXT_READS "END:", false},
    {INIT WRITE ONE_WAITS "bar.warp.sync -1; " NEXT_READS "END:", true},
    {INIT WRITE ONE_WAITS MEET("3") NEXT_READS "END:", true},
    {INIT WRITE ONE_WAITS MEET("6") NEXT_READS "END:", false},
    {INIT_FOR_ONE WRITE MEET("3") ONE_ARRIVES READ "END:", true},
    {INIT_FOR_ONE WRITE MEET("6") ONE_ARRIVES READ "END:", false},
    {INIT WRITE "@!upper mbarrier.arrive_drop.shared.b64 x, [bar]; @!upper bra END; " WAIT READ
                "END:",
     true},
    {INIT WRITE "@!upper mbarrier.arrive.shared.b64 x, [bar]; @!upper bra END; "
                "TEST: mbarrier.test_wait.parity.shared.b64 g, [bar], 0; @!g bra TEST; " READ
                "END:",
     true},
};

#define FILL "@first st.shared.v4.u32 [room], {z, z, z, z}; "
#define FENCE "fence.proxy.async; "
#define STORE "@first cp.async.bulk.global.shared::cta.bulk_group [p], [room], 16; "
#define STORED "@first cp.async.bulk.commit_group; @first cp.async.bulk.wait_group.read 0; "
#define BEGIN "@first mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; "
#define LOAD                                                                            \
    "@first mbarrier.arrive.expect_tx.shared.b64 x, [bar], 16; "                        \
    "@first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], " \
    "[p], 16, [bar]; "

#define FENCE_AND_STORE_OF_THIRD FENCE STORE_OF_THIRD
#define STORE_MORE "@first cp.async.bulk.global.shared::cta.bulk_group [p], [room], 64; " STORED
#define STORE_OF_THIRD                                                     \
    "@third cp.async.bulk.global.shared::cta.bulk_group [p], [room], 16; " \
    "@third cp.async.bulk.commit_group; @third cp.async.bulk.wait_group.read 0; "
#define LOAD_OF_SECOND                                                                   \
    "@second mbarrier.arrive.expect_tx.shared.b64 x, [bar], 16; "                        \
    "@second cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], " \
    "[p], 16, [bar]; "
#define LOAD_OF_THIRD                                                                   \
    "@third mbarrier.arrive.expect_tx.shared.b64 x, [bar], 16; "                        \
    "@third cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], " \
    "[p], 16, [bar]; @upper bra END; " WAIT "END: "

static const Program bulk_copies[] = {
    {FILL FENCE STORE STORED, true},
    {FILL STORE STORED, false},
    {"@first red.shared.add.u32 [room], 1; " STORE STORED, false},
    {"@first red.shared.add.u32 [room], 1; " FENCE STORE STORED, true},
    {FILL "fence.proxy.async.shared::cta; " STORE STORED, true},
    {FILL "fence.proxy.async.global; " STORE STORED, false},
    {FILL "fence.proxy.alias; " STORE STORED, false},
    {FILL "fence.acq_rel.cta; " STORE STORED, false},
    {FILL "membar.cta; " STORE STORED, false},
    {FILL "fence.mbarrier_init.release.cluster; " STORE STORED, false},
    {FILL FENCE STORE WRITE STORED, false},
    {FILL FENCE STORE STORED WRITE, true},
    /* the lane that stores commits and waits, and then the others meet it */
    {FILL FENCE STORE "@third cp.async.bulk.commit_group; @first cp.async.bulk.wait_group.read 0; "
                      "bar.warp.sync -1; " WRITE "@first cp.async.bulk.commit_group; "
                      "@first cp.async.bulk.wait_group 0; ",
     false},
    {FILL FENCE STORE "@first cp.async.bulk.commit_group; @third cp.async.bulk.wait_group.read 0; "
                      "bar.warp.sync -1; " WRITE "@first cp.async.bulk.wait_group 0; ",
     false},
    {FILL FENCE STORE STORED "@third st.shared.u32 [room], z; ", false},
    {FILL FENCE STORE STORED "bar.warp.sync -1; @third st.shared.u32 [room], z; ", true},
    {FILL FENCE STORE "@first cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; "
                      "@third st.shared.u32 [room], z; ",
     false},
    {FILL FENCE STORE "@first cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; "
                      "bar.warp.sync -1; @third st.shared.u32 [room], z; ",
     true},
    {FILL FENCE STORE
     "@first cp.async.bulk.commit_group; @first cp.async.bulk.wait_group.read 1; " WRITE
     "@first cp.async.bulk.wait_group 0; ",
     false},
    {FILL FENCE STORE "@first cp.async.bulk.commit_group; @first cp.async.bulk.commit_group; "
                      "@first cp.async.bulk.wait_group.read 1; " WRITE,
     true},
    {FILL FENCE STORE OWN STORED, true},
    /* a lane's fence is for what it knows */
    {FILL "@first " FENCE STORE STORED, true},
    {FILL "@third " FENCE STORE STORED, false},
    {FILL "@third " FENCE "bar.warp.sync -1; " STORE STORED, false},
    {FILL "bar.warp.sync -1; @third " FENCE "bar.warp.sync -1; " STORE STORED, true},
    {FILL MEET("3") "@third " FENCE "bar.warp.sync -1; " STORE STORED, true},
    {"@!upper st.shared.u32 [s], z; @first " FENCE "bar.warp.sync -1; " STORE_MORE, false},
    {"@!upper st.shared.u32 [s], z; " FENCE "bar.warp.sync -1; " STORE_MORE, true},
    {FILL "bar.warp.sync -1; @third " FENCE_AND_STORE_OF_THIRD, true},
    {"@second st.shared.v4.u32 [room], {z, z, z, z}; @second " FENCE "bar.sync 0; " STORE STORED,
     true},
    {"@!first bra OTHERS; OTHERS: @second st.shared.v4.u32 [room], {z, z, z, z}; @first " FENCE
     "bar.sync 0; " STORE STORED,
     false},
    {FILL FENCE STORE_OF_THIRD, false},
    {FILL FENCE "bar.warp.sync -1; " STORE_OF_THIRD, true},
    {BEGIN LOAD_OF_THIRD, false},
    {BEGIN "bar.warp.sync -1; " LOAD_OF_THIRD, true},
    {"@second st.shared.v4.u32 [room], {z, z, z, z}; " FENCE STORE STORED, false},
    {"@second st.shared.v4.u32 [room], {z, z, z, z}; " FENCE "bar.sync 0; " STORE STORED, true},
    {"@second st.shared.v4.u32 [room], {z, z, z, z}; bar.sync 0; " FENCE STORE STORED, true},
    {"@second st.shared.v4.u32 [room], {z, z, z, z}; bar.sync 0; " STORE STORED, false},
    {BEGIN "bar.sync 0; " LOAD WAIT READ, true},
    /* fence.mbarrier_init is for what the same thread has initialised before, and no more */
    {INIT_FOR_ONE LOAD WAIT READ, false},
    {INIT_FOR_ONE "@first fence.mbarrier_init.release.cluster; " LOAD WAIT READ, true},
    {INIT_FOR_ONE "@third fence.mbarrier_init.release.cluster; bar.sync 0; " LOAD WAIT READ, false},
    {"@first fence.mbarrier_init.release.cluster; " INIT_FOR_ONE LOAD WAIT READ, false},
    {INIT_FOR_ONE "@third fence.proxy.async; bar.sync 0; " LOAD WAIT READ, true},
    {INIT_FOR_ONE "@first fence.mbarrier_init.release.cluster; " LOAD_OF_SECOND WAIT READ, false},
    {BEGIN "bar.sync 0; " LOAD_OF_SECOND WAIT READ, true},
    {BEGIN "bar.sync 0; " LOAD READ WAIT, false},
    {BEGIN "bar.sync 0; " LOAD "@first ld.shared.u32 d0, [room+16]; " WAIT, true},
    {BEGIN "bar.sync 0; " LOAD "@first ld.shared.u32 d0, [room+12]; " WAIT, false},
    {BEGIN "bar.sync 0; @second st.shared.u32 [room], z; " LOAD WAIT, false},
    {BEGIN "bar.sync 0; @second st.shared.u32 [room], z; " FENCE "bar.sync 0; " LOAD WAIT, true},
};

/* The sums and A are zeros, B is at room, its k 8 and up at room + 128. */
#define PRODUCT                                                                                 \
    ".reg .f32 f<4>; mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0; "  \
    "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, " \
    "f3}, {z, z, z, z}, 0x0000001000080040, 1, 1, 1, 0; "
#define COMMITTED "wgmma.commit_group.sync.aligned; "
#define ENDED(keep) "wgmma.wait_group.sync.aligned " #keep "; bar.sync 0; "

static const Program products[] = {
    {PRODUCT COMMITTED ENDED(0) WRITE, true},
    {PRODUCT COMMITTED WRITE ENDED(0), false},
    {PRODUCT COMMITTED "bar.sync 0; " WRITE ENDED(0), false},
    {PRODUCT COMMITTED ENDED(1) WRITE ENDED(0), false},
    {PRODUCT COMMITTED COMMITTED ENDED(1) WRITE, true},
    {PRODUCT ENDED(0) WRITE COMMITTED ENDED(0), false},
    {PRODUCT COMMITTED OWN ENDED(0), true},
    {"@first st.shared.u32 [room+252], z; " PRODUCT COMMITTED ENDED(0), false},
    {"@first st.shared.u32 [room+256], z; " PRODUCT COMMITTED ENDED(0), true},
};

static void check(const Program *program, uint32_t threads) {
    static uint64_t data[64];
    char text[3000], said[4000];
    snprintf(text, sizeof text, "%s%s;\nret;\n}\n", HEAD, program->code);
    const LaunchStatus status =
        capture_run(STDERR_FILENO, text, threads, data, sizeof data, said, sizeof said);
    if (!ok(program->right ? status == LAUNCH_OK
                           : status == LAUNCH_FAULT &&
                                 (strstr(said, "race") || strstr(said, "a fence.proxy.async")),
            "%s: %s", program->right ? "passes" : "a race", program->code))
        printf("# %s\n", said);
}

#define CHECK(table, threads) \
    for (size_t i = 0; i < sizeof(table) / sizeof *(table); i++) check(&(table)[i], threads)

int main(void) {
    setenv("SIM_RACE", "1", 1);
    for (int late = 0; late < 2; late++) {
        setenv("SIM_ASYNC", late ? "late" : "early", 1);
        CHECK(barriers, 64);
        CHECK(strong, 64);
        CHECK(copies, 64);
        CHECK(bulk_copies, 64);
        CHECK(products, 128);
    }
    return done_testing();
}
