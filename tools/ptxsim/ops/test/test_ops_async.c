/* Copies that end later, and what waits for them: cp.async, cp.async.bulk, mbarrier. Each runs in
 * both orders in which copies may land, with and without the search for races. Catches: bytes
 * beyond the source that are not zeroed, a group that is waited for too early, a phase or a count
 * of an mbarrier that is off by one. Copies of tensors are test_ops_tensors.c's, the arithmetic of
 * mbarriers test_mbarrier.c's. */
#include "test/each_order.h"
#include "test/run_ptx.h"
#include "test/tap.h"

enum { WARP = 32 };

#define HEAD                                                                                     \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q, x, y; .reg .b32 t, s, w, " \
             "v<4>, d; .reg .pred g, h; .shared .align 128 .b8 room[2048]; "                     \
             ".shared .align 8 .b64 bar;\nld.param.u64 p, [data]; mov.u32 t, %tid.x; "           \
             "mov.u32 s, room; mov.u32 d, 0;\n"

/* ---- cp.async -------------------------------------------------------------------------------- */

/* One lane's 16 bytes of input and of output. */
typedef struct Chunk {
    uint8_t in[16], out[16];
} Chunk;

/* The copy of lane t: `bytes` of which `read` come from memory; the rest of the chunk stays. */
typedef struct CopyCase {
    const char *text; /* of the instruction, between the addresses and the semicolon */
    int bytes;
    int (*read)(int lane);
} CopyCase;

static int whole(int lane) { return 16 + 0 * lane; }
static int by_lane(int lane) { return lane / 2; }
static int odd_lanes(int lane) { return lane % 2 ? 16 : 0; }

static const CopyCase copies[] = {
    {"cp.async.ca.shared.global [s], [q], 4", 4, whole},
    {"cp.async.ca.shared.global [s], [q], 8", 8, whole},
    {"cp.async.ca.shared::cta.global [s], [q], 16", 16, whole},
    {"cp.async.cg.shared.global [s], [q], 16", 16, whole},
    {"cp.async.cg.shared.global.L2::128B [s], [q], 16", 16, whole},
    {"cp.async.cg.shared.global.L2::cache_hint [s], [q], 16, x", 16, whole},
    {"cp.async.ca.shared.global [s], [q], 4, w", 4, by_lane},
    {"cp.async.ca.shared.global [s], [q], 8, w", 8, by_lane},
    {"cp.async.cg.shared.global [s], [q], 16, w", 16, by_lane},
    {"cp.async.cg.shared.global.L2::cache_hint [s], [q], 16, w, x", 16, by_lane},
    {"cp.async.cg.shared.global [s], [q], 16, g", 16, odd_lanes},
};

static int wrong_bytes(const CopyCase *c, const Chunk chunk[]) {
    int wrong = 0;
    for (int l = 0; l < WARP; l++)
        for (int i = 0; i < 16; i++) {
            const int expected = i >= c->bytes ? 0xee : i < c->read(l) ? chunk[l].in[i] : 0;
            wrong += chunk[l].out[i] != expected;
        }
    return wrong;
}

static void test_copies(const char *order) {
    static const char *const waits[] = {"cp.async.commit_group; cp.async.wait_group 0",
                                        "cp.async.wait_all"};
    for (size_t i = 0; i < 2 * sizeof copies / sizeof *copies; i++) {
        const CopyCase *c = &copies[i / 2];
        Chunk chunk[WARP];
        char text[3000];
        for (int l = 0; l < WARP; l++)
            for (int b = 0; b < 16; b++) chunk[l].in[b] = (uint8_t)(16 * l + b + 1);
        snprintf(text, sizeof text,
                 "%smad.lo.u32 s, t, 16, s; mad.wide.u32 q, t, 32, p; shr.u32 w, t, 1; "
                 "min.u32 w, w, %d; and.b32 d, t, 1; setp.eq.u32 g, d, 0; mov.b64 x, 0; "
                 "mov.b32 v0, 0xeeeeeeee; "
                 "st.shared.v4.u32 [s], {v0, v0, v0, v0}; %s; %s; "
                 "ld.shared.v4.u32 {v0, v1, v2, v3}, [s]; st.global.v4.u32 [q+16], "
                 "{v0, v1, v2, v3}; ret;\n}\n",
                 HEAD, c->bytes, c->text, waits[i % 2]);
        const PtxRun run = run_ptx(text, WARP, chunk, sizeof chunk);
        const int wrong = wrong_bytes(c, chunk);
        ok(run.status == LAUNCH_OK && !wrong, "%s: %s (%d bytes wrong) %s", order, c->text, wrong,
           run.error);
    }
}

/* The end of memory: each lane reads its 16 bytes, and the last one the 4 that are left of them. */
static void test_copies_at_the_end(const char *order) {
    static const char body[] =
        "mad.lo.u32 s, t, 16, s; mad.wide.u32 q, t, 16, p; mov.u32 w, 16; "
        "setp.eq.u32 g, t, 31; @g mov.u32 w, 4; cp.async.cg.shared.global [s], [q], 16, w; "
        "cp.async.wait_all; ld.shared.v4.u32 {v0, v1, v2, v3}, [s]; add.u32 v0, v0, v1; "
        "add.u32 v0, v0, v2; add.u32 v0, v0, v3; mad.wide.u32 q, t, 4, p; st.global.u32 [q], v0; "
        "ret;\n}\n";
    uint32_t data[4 * WARP - 3];
    char text[3000];
    int wrong = 0;
    for (uint32_t i = 0; i < sizeof data / sizeof *data; i++) data[i] = i;
    snprintf(text, sizeof text, "%s%s", HEAD, body);
    const PtxRun run = run_ptx(text, WARP, data, sizeof data);
    for (uint32_t l = 0; l < WARP; l++) wrong += data[l] != (l < WARP - 1 ? 16 * l + 6 : 4 * l);
    ok(run.status == LAUNCH_OK && !wrong, "%s: cp.async at the end of memory (%d wrong) %s", order,
       wrong, run.error);
}

/* Three groups: each wait lets as many be in flight as it says, so what it waited for can be read.
 * That a younger one cannot is bugs/missing_cp_async_wait.cu's. */
static void test_groups(const char *order) {
    static const char body[] =
        "mad.lo.u32 s, t, 16, s; mad.wide.u32 q, t, 16, p;\n"
        "cp.async.cg.shared.global [s], [q], 16; cp.async.commit_group;\n"
        "cp.async.cg.shared.global [s+512], [q+512], 16; cp.async.commit_group;\n"
        "cp.async.cg.shared.global [s+1024], [q+1024], 16; cp.async.commit_group;\n"
        "cp.async.wait_group 2; ld.shared.u32 v0, [s];\n"
        "cp.async.wait_group 1; ld.shared.u32 v1, [s+512];\n"
        "cp.async.wait_group 0; ld.shared.u32 v2, [s+1024];\n"
        "add.u32 v0, v0, v1; add.u32 v0, v0, v2; st.global.u32 [q+1536], v0; ret;\n}\n";
    static uint32_t data[4][WARP][4];
    char text[3000];
    int wrong = 0;
    for (uint32_t i = 0; i < 3 * WARP; i++) data[i / WARP][i % WARP][0] = 3 * i + 1;
    snprintf(text, sizeof text, "%s%s", HEAD, body);
    const PtxRun run = run_ptx(text, WARP, data, sizeof data);
    for (int l = 0; l < WARP; l++)
        wrong += data[3][l][0] != data[0][l][0] + data[1][l][0] + data[2][l][0];
    ok(run.status == LAUNCH_OK && !wrong, "%s: groups of cp.async (%d wrong) %s", order, wrong,
       run.error);
}

/* The lanes' copies arrive at an mbarrier, and another warp waits there. Without .noinc that is not
 * the arrival that the mbarrier was initialised for: each lane arrives by itself, too. */
static void test_copy_arrival(const char *order) {
    static const char *const arrivals[] = {".noinc.shared.b64 [bar]",
                                           ".noinc.shared::cta.b64 [bar]", ".noinc.b64 [bar]",
                                           ".shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar]",
                                           ".b64 [bar]; mbarrier.arrive.shared.b64 _, [bar]"};
    for (size_t i = 0; i < sizeof arrivals / sizeof *arrivals; i++) {
        static uint32_t data[2][WARP][4];
        char text[3000];
        for (uint32_t k = 0; k < 4 * WARP; k++) data[0][k / 4][k % 4] = 5 * k + 2;
        memset(data[1], 0, sizeof data[1]);
        snprintf(text, sizeof text,
                 "%ssetp.ne.u32 g, t, 0; @g bra READY; mbarrier.init.shared.b64 [bar], 32;\n"
                 "READY: bar.sync 0; mad.lo.u32 s, t, 16, s; mad.wide.u32 q, t, 16, p;\n"
                 "setp.lt.u32 g, t, 32; @!g bra WAIT; cp.async.cg.shared.global [s], [q], 16;\n"
                 "cp.async.mbarrier.arrive%s; bra END;\n"
                 "WAIT: mbarrier.try_wait.parity.shared.b64 h, [bar], 0; @!h bra WAIT;\n"
                 "ld.shared.v4.u32 {v0, v1, v2, v3}, [s+-512]; "
                 "st.global.v4.u32 [q], {v0, v1, v2, v3};\nEND: ret;\n}\n",
                 HEAD, arrivals[i]);
        const PtxRun run = run_ptx(text, 2 * WARP, data, sizeof data);
        ok(run.status == LAUNCH_OK && memcmp(data[0], data[1], sizeof data[0]) == 0,
           "%s: cp.async.mbarrier.arrive%s %s", order, arrivals[i], run.error);
    }
}

/* In the early order they have arrived at once, in the late one when somebody waits for the
 * mbarrier, not for the copies. */
static void test_copy_arrived(const char *order) {
    static const char body[] =
        "setp.ne.u32 g, t, 0; @g bra READY; mbarrier.init.shared.b64 [bar], 32;\n"
        "READY: bar.sync 0; mad.lo.u32 s, t, 16, s; mad.wide.u32 q, t, 16, p; "
        "cp.async.cg.shared.global [s], [q], 16; "
        "cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; cp.async.wait_all;\n"
        "mbarrier.test_wait.parity.shared.b64 h, [bar], 0; selp.b32 d, 1, 0, h;\n"
        "WAIT: mbarrier.try_wait.parity.shared.b64 h, [bar], 0; @!h bra WAIT; "
        "st.global.u32 [q], d; ret;\n}\n";
    uint32_t data[WARP][4] = {{0}};
    char text[3000];
    snprintf(text, sizeof text, "%s%s", HEAD, body);
    const PtxRun run = run_ptx(text, WARP, data, sizeof data);
    ok(run.status == LAUNCH_OK && data[5][0] == (strncmp(order, "early", 5) == 0),
       "%s: whether copies have arrived before anybody waits %s", order, run.error);
}

/* ---- mbarrier -------------------------------------------------------------------------------- */

/* One thread goes through two phases and a half. '?' after a test adds its answer to d as a bit. */
typedef struct Phases {
    const char *text;
    uint32_t answers;
} Phases;

#define INIT "mbarrier.init.shared.b64 [bar], "
#define ARRIVE "mbarrier.arrive.shared.b64 x, [bar]"
#define PARITY "mbarrier.test_wait.parity.shared::cta.b64 g, [bar], "
#define TRY "mbarrier.try_wait.parity.shared.b64 g, [bar], "
#define LOAD              \
    "fence.proxy.async; " \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [p], "

static const Phases phases[] = {
    /* before anybody arrives the phase before counts as complete, this one does not */
    {"mbarrier.init.shared::cta.b64 [bar], 2; " PARITY "1? " PARITY "0? ", 2},
    {"mbarrier.init.b64 [bar], 2; mbarrier.arrive.b64 x, [bar]; " PARITY "0? "
     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [bar]; " PARITY "0? " PARITY "1? ",
     2},
    {INIT "2; mbarrier.arrive.shared.b64 x, [bar], 1; mbarrier.test_wait.shared.b64 g, [bar], x? "
          "mbarrier.arrive.shared.b64 y, [bar]; mbarrier.test_wait.b64 g, [bar], x? "
          "mbarrier.try_wait.shared::cta.b64 g, [bar], y? ",
     3},
    /* two at once; the next phase; and the one after it */
    {INIT "2; " ARRIVE ", 2; " PARITY "0? " PARITY "1? " ARRIVE ", 2; " PARITY "0? " PARITY "1? ",
     9},
    /* who drops out is not awaited again */
    {INIT "2; mbarrier.arrive_drop.shared.b64 x, [bar]; " ARRIVE "; " PARITY "0? "
          "mbarrier.arrive.release.cta.shared::cta.b64 x, [bar]; " PARITY "1? " PARITY "0? ",
     6},
    /* bytes are expected, too */
    {INIT
     "1; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16; " ARRIVE "; " PARITY "0? " LOAD
     "16, [bar]; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 g, [bar], 0, 1000000? " PARITY
     "1? ",
     2},
    {INIT "1; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 x, [bar], 32; " PARITY
          "0? " LOAD "32, [bar]; " TRY "0? ",
     1},
    {INIT "1; mbarrier.arrive_drop.expect_tx.shared.b64 x, [bar], 16; " LOAD "16, [bar]; " TRY
          "0? ",
     1},
    {INIT "1; " ARRIVE "; mbarrier.inval.shared.b64 [bar]; " INIT "3; " PARITY "0? " PARITY "1? ",
     1},
};

static void test_phases(const char *order) {
    static const char ask[] = "; selp.b32 w, 1, 0, g; shl.b32 d, d, 1; or.b32 d, d, w;\n";
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        char text[3000];
        uint32_t data[8] = {0};
        size_t used = (size_t)snprintf(text, sizeof text, "%s", HEAD);
        for (const char *c = phases[i].text; *c; c++)
            used += *c == '?' ? (size_t)snprintf(text + used, sizeof text - used, "%s", ask)
                              : (size_t)snprintf(text + used, sizeof text - used, "%c", *c);
        snprintf(text + used, sizeof text - used, "st.global.u32 [p], d; ret;\n}\n");
        const PtxRun run = run_ptx(text, 1, data, sizeof data);
        ok(run.status == LAUNCH_OK && data[0] == phases[i].answers,
           "%s: mbarrier case %zu answers %x, not %x %s", order, i, phases[i].answers, data[0],
           run.error);
    }
}

/* Two warps hand a word to and fro: each waits for the other's phase. */
static void test_hand_over(const char *order) {
    static const char body[] =
        ".shared .align 8 .b64 full, empty; .reg .b32 i, m;\n"
        "setp.ne.u32 g, t, 0; @g bra READY; mbarrier.init.shared.b64 [full], 32; "
        "mbarrier.init.shared.b64 [empty], 32;\n"
        "READY: bar.sync 0; mov.u32 i, 0; and.b32 v0, t, 31; mad.lo.u32 s, v0, 4, s; "
        "setp.ge.u32 g, t, 32; @g bra TAKE;\n"
        "GIVE: and.b32 m, i, 1; xor.b32 m, m, 1;\n"
        "EMPTY: mbarrier.try_wait.parity.shared.b64 h, [empty], m; @!h bra EMPTY;\n"
        "mad.lo.u32 v1, i, 100, v0; st.shared.u32 [s], v1; mbarrier.arrive.shared.b64 x, [full]; "
        "add.u32 i, i, 1; setp.lt.u32 g, i, 5; @g bra GIVE; ret;\n"
        "TAKE: and.b32 m, i, 1;\n"
        "FULL: mbarrier.try_wait.parity.shared.b64 h, [full], m; @!h bra FULL;\n"
        "ld.shared.u32 v1, [s]; add.u32 d, d, v1; mbarrier.arrive.shared.b64 x, [empty]; "
        "add.u32 i, i, 1; setp.lt.u32 g, i, 5; @g bra TAKE;\n"
        "mad.wide.u32 q, v0, 4, p; st.global.u32 [q], d; ret;\n}\n";
    uint32_t data[WARP], wrong = 0;
    char text[3000];
    snprintf(text, sizeof text, "%s%s", HEAD, body);
    const PtxRun run = run_ptx(text, 2 * WARP, data, sizeof data);
    for (uint32_t l = 0; l < WARP; l++) wrong += data[l] != 1000 + 5 * l;
    ok(run.status == LAUNCH_OK && !wrong, "%s: two warps hand over by mbarriers (%u wrong) %s",
       order, wrong, run.error);
}

/* ---- cp.async.bulk --------------------------------------------------------------------------- */

#define WAIT "WAIT: mbarrier.try_wait.parity.shared.b64 h, [bar], 0; @!h bra WAIT;\n"
#define TEST "WAIT: mbarrier.test_wait.parity.shared.b64 h, [bar], 0; @!h bra WAIT;\n"
#define BEGIN                                                                \
    "setp.ne.u32 g, t, 0; @g bra BEGUN; mbarrier.init.shared.b64 [bar], 1; " \
    "fence.mbarrier_init.release.cluster; BEGUN: bar.sync 0; "               \
    "@g bra WAIT;\n"

/* A load of 512 bytes that every thread waits for, and the store of them. */
static void test_bulk(const char *order) {
    static const char *const loads[] = {
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [p], 512, [bar]",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [s], "
        "[p], 512, [bar], y",
        "cp.async.bulk.prefetch.L2.global [p], 512; "
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [p], 512, [bar]",
    };
    static const char *const stores[] = {
        "cp.async.bulk.global.shared::cta.bulk_group [q], [s], 512; cp.async.bulk.commit_group; "
        "cp.async.bulk.wait_group 0",
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [q], [s], 512, y; "
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0",
        "cp.async.bulk.global.shared::cta.bulk_group [q], [s], 256; cp.async.bulk.commit_group; "
        "cp.async.bulk.global.shared::cta.bulk_group [q+256], [s+256], 256; "
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 1; cp.async.bulk.wait_group 0",
    };
    for (int i = 0; i < 6; i++) { /* who tests gets it as who waits does */
        uint32_t data[256] = {0};
        char text[4000];
        for (uint32_t k = 0; k < 128; k++) data[k] = 7 * k + 1;
        snprintf(text, sizeof text,
                 "%s" BEGIN "mov.b64 y, 0; mbarrier.arrive.expect_tx.shared.b64 x, [bar], 512; "
                 "%s;\n%smad.lo.u32 w, t, 4, s; ld.shared.u32 v0, [w]; "
                 "add.u32 v0, v0, 1; bar.sync 0; st.shared.u32 [w], v0; fence.proxy.async; "
                 "bar.sync 0; @g bra END; mov.b64 y, 0; add.u64 q, p, 512; %s;\nEND: ret;\n}\n",
                 HEAD, loads[i % 3], i < 3 ? WAIT : TEST, stores[i % 3]);
        const PtxRun run = run_ptx(text, 128, data, sizeof data);
        int wrong = 0;
        for (uint32_t k = 0; k < 128; k++) wrong += data[128 + k] != 7 * k + 2;
        ok(run.status == LAUNCH_OK && !wrong, "%s: a bulk load and store, %d (%d wrong) %s", order,
           i, wrong, run.error);
    }
}

/* After wait_group.read a store has read its bytes, which may change then. What it writes is there
 * after wait_group, another wait_group.read or the end of the block, or already if copies are
 * early.
 */
static void test_bulk_read(const char *order) {
    static const struct {
        const char *wait;
        uint32_t late; /* what the block then sees in memory, if copies are late */
    } rows[] = {{"cp.async.bulk.wait_group 0", 5},
                {"cp.async.bulk.wait_group.read 0", 1},
                {"cp.async.bulk.wait_group.read 1; cp.async.bulk.wait_group.read 0", 1},
                {"cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group.read 0", 5},
                {"cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0", 5},
                {"cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 1", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t data[8] = {1, 1, 1, 1};
        char text[2000];
        snprintf(text, sizeof text,
                 "%smov.u32 v0, 5; st.shared.v4.u32 [s], {v0, v0, v0, v0}; fence.proxy.async; "
                 "cp.async.bulk.global.shared::cta.bulk_group [p], [s], 16; "
                 "cp.async.bulk.commit_group; %s; mov.u32 v0, 9; st.shared.u32 [s], v0; "
                 "ld.global.u32 d, [p]; st.global.u32 [p+16], d; ret;\n}\n",
                 HEAD, rows[i].wait);
        const PtxRun run = run_ptx(text, 1, data, sizeof data);
        const uint32_t seen = strstr(order, "late") ? rows[i].late : 5;
        ok(run.status == LAUNCH_OK && data[0] == 5 && data[4] == seen,
           "%s: %s: %u is there, %u is seen %s", order, rows[i].wait, data[0], data[4], run.error);
    }
}

/* Three loads with an mbarrier each, which are waited for in this order: the second, the first, the
 * third. Each brings its own bytes. */
static void test_three_loads(const char *order) {
    static const char body[] =
        ".shared .align 8 .b8 bars[24]; .reg .b32 b, i;\n"
        "setp.ne.u32 g, t, 0; @g bra END; mov.u32 i, 0; mov.u32 b, bars;\n"
        "INIT: mad.lo.u32 w, i, 8, b; mbarrier.init.shared.b64 [w], 1; add.u32 i, i, 1; "
        "setp.lt.u32 g, i, 3; @g bra INIT; fence.mbarrier_init.release.cluster; mov.u32 i, 0;\n"
        "LOAD: mad.lo.u32 w, i, 8, b; mad.lo.u32 v0, i, 64, s; mad.wide.u32 q, i, 64, p; "
        "mbarrier.arrive.expect_tx.shared.b64 x, [w], 64; "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [v0], [q], 64, [w]; "
        "add.u32 i, i, 1; setp.lt.u32 g, i, 3; @g bra LOAD; mov.u32 w, b;\n"
        "SECOND: mbarrier.try_wait.parity.shared.b64 h, [w+8], 0; @!h bra SECOND; "
        "ld.shared.u32 v1, [s+64]; st.global.u32 [p+196], v1;\n"
        "FIRST: mbarrier.try_wait.parity.shared.b64 h, [w], 0; @!h bra FIRST; "
        "ld.shared.u32 v0, [s]; st.global.u32 [p+192], v0;\n"
        "THIRD: mbarrier.try_wait.parity.shared.b64 h, [w+16], 0; @!h bra THIRD; "
        "ld.shared.u32 v2, [s+128]; st.global.u32 [p+200], v2;\nEND: ret;\n}\n";
    uint32_t data[52] = {0};
    char text[4000];
    for (uint32_t i = 0; i < 48; i++) data[i] = 9 * i + 4;
    snprintf(text, sizeof text, "%s%s", HEAD, body);
    const PtxRun run = run_ptx(text, 32, data, sizeof data);
    ok(run.status == LAUNCH_OK && data[48] == data[0] && data[49] == data[16] &&
           data[50] == data[32],
       "%s: three bulk loads, each awaited by itself %s", order, run.error);
}

int main(void) {
    each_order(test_copies);
    each_order(test_copies_at_the_end);
    each_order(test_groups);
    each_order(test_copy_arrival);
    if (!is_on_gpu()) each_order(test_copy_arrived); /* a GPU may be sooner or later */
    each_order(test_phases);
    each_order(test_hand_over);
    each_order(test_bulk);
    if (!is_on_gpu()) each_order(test_bulk_read);
    each_order(test_three_loads);
    return done_testing();
}
