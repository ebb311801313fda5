/* Random programs whose lanes part, loop and wait for each other at bar.warp.sync, beside each lane
 * alone. Catches: a barrier that lets lanes through before the others have come, or keeps them
 * though all have; a lane that does something too often or not at all; lanes that are left behind
 * for good; frames that run out. PROGRAMS=10000 SEED=3 tries others, and as many. A GPU runs those
 * that end. */
#include "test/capture.h"
#include "test/drawn.h"
#include "test/tap.h"

enum { LANES_A_WARP = 32, NODES = 64, DEPTH = 6, EVENTS = 1 << 12 };

/* A program as a list: a node is followed by the nodes inside it, up to `end`. Those of EITHER up
 * to `middle` are for the lanes whose bit is set. A lane executes those of REPEAT as often as it
 * has bits, up to twice. */
typedef enum Kind { ADD, MEET_ALL, MEET_PAIR, EITHER, REPEAT } Kind;
typedef struct Node {
    Kind kind;
    uint32_t value, bits[2];
    int middle, end;
} Node;

static Node node[NODES];
static int nodes;
static uint64_t state;

static void draw_nodes(int depth, bool pairs) {
    for (int left = 1 + drawn(&state, 3); left > 0 && nodes < NODES; left--) {
        Node *n = &node[nodes++];
        n->kind = (Kind)drawn(&state, depth < DEPTH ? REPEAT + 1 : EITHER);
        if (n->kind == MEET_PAIR && !pairs) n->kind = MEET_ALL;
        n->value = (uint32_t)drawn(&state, 1000);
        for (int i = 0; i < 2; i++) n->bits[i] = (uint32_t)mix64(++state);
        if (drawn(&state, 2)) n->bits[0] = 1u << drawn(&state, LANES_A_WARP); /* one lane */
        if (n->kind >= EITHER) draw_nodes(depth + 1, pairs);
        n->middle = nodes;
        if (n->kind == EITHER && drawn(&state, 2)) draw_nodes(depth + 1, pairs);
        n->end = nodes;
    }
}

/* ---- Each lane alone ------------------------------------------------------------------------- */

/* The member masks of the barriers that a lane comes to, in order. */
typedef struct Lane {
    uint32_t sum, met[2];
    int events;
    uint32_t event[EVENTS];
} Lane;

static Lane lane[LANES_A_WARP];

static uint32_t pair_of(unsigned l) { return 3u << (l & ~1u); }

static void come(unsigned l, bool all) {
    Lane *mine = &lane[l];
    mine->event[mine->events++ % EVENTS] = all ? UINT32_MAX : pair_of(l);
    mine->met[all]++;
}

static void go(unsigned l, int first, int end) {
    for (int i = first; i < end; i = node[i].end) {
        const Node *n = &node[i];
        const uint32_t bit = n->bits[0] >> l & 1, times = bit + (n->bits[1] >> l & 1);
        if (n->kind == ADD) lane[l].sum = 3 * lane[l].sum + n->value;
        if (n->kind == MEET_ALL || n->kind == MEET_PAIR) come(l, n->kind == MEET_ALL);
        if (n->kind == EITHER) go(l, bit ? i + 1 : n->middle, bit ? n->middle : n->end);
        for (uint32_t t = 0; n->kind == REPEAT && t < times; t++) go(l, i + 1, n->end);
    }
}

/* In the end all lanes come to as many barriers: those[1] of all, those[0] of their pair. */
static void go_all(uint32_t most[2]) {
    memset(lane, 0, sizeof lane);
    most[0] = most[1] = 0;
    for (unsigned l = 0; l < LANES_A_WARP; l++) {
        go(l, 0, nodes);
        for (int all = 0; all < 2; all++)
            if (lane[l].met[all] > most[all]) most[all] = lane[l].met[all];
    }
    for (unsigned l = 0; l < LANES_A_WARP; l++)
        for (int all = 0; all < 2; all++)
            while (lane[l].met[all] < most[all]) come(l, all);
}

/* Whether all get to the end: a barrier is over when those that its mask names are at one with the
 * same mask. */
static bool ends(void) {
    int at[LANES_A_WARP] = {0};
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned l = 0; l < LANES_A_WARP; l++) {
            if (at[l] == lane[l].events) continue;
            const uint32_t members = lane[l].event[at[l]];
            bool over = true;
            for (unsigned o = 0; o < LANES_A_WARP; o++)
                if (members >> o & 1)
                    over &= at[o] < lane[o].events && lane[o].event[at[o]] == members;
            for (unsigned o = 0; over && o < LANES_A_WARP; o++) at[o] += (int)(members >> o & 1);
            moved |= over;
        }
    }
    for (unsigned l = 0; l < LANES_A_WARP; l++)
        if (at[l] < lane[l].events) return false;
    return true;
}

/* ---- The warp -------------------------------------------------------------------------------- */

static char text[1 << 16];
static int length, labels;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
}

/* Each lane writes the number of the barrier before it and behind it reads what another one wrote;
 * every second barrier has a place of its own. */
static void put_barrier(bool all) {
    put("and.b32 v, met%d, 1; mad.lo.u32 w, v, 256, own; st.shared.u32 [w+%d], met%d;\n"
        "bar.warp.sync %s;\nmad.lo.u32 w, v, 256, %s; ld.shared.u32 w, [w+%d];\n"
        "setp.ne.u32 p, w, met%d; @p add.u32 wrong, wrong, 1; add.u32 met%d, met%d, 1;\n",
        all, 128 * all, all, all ? "-1" : "pair", all ? "other" : "partner", 128 * all, all, all,
        all);
}

static void put_bit(uint32_t bits, const char *into) {
    put("shr.b32 %s, 0x%x, lane; and.b32 %s, %s, 1;\n", into, bits, into, into);
}

static void put_nodes(int first, int end, int depth) {
    for (int i = first; i < end; i = node[i].end) {
        const Node *n = &node[i];
        const int label = labels++;
        switch (n->kind) {
        case ADD:
            put("mad.lo.u32 sum, sum, 3, %u;\n", n->value);
            break;
        case EITHER:
            put_bit(n->bits[0], "v");
            put("setp.eq.u32 p, v, 0; @p bra ELSE%d;\n", label);
            put_nodes(i + 1, n->middle, depth);
            put("bra END%d; ELSE%d:\n", label, label);
            put_nodes(n->middle, n->end, depth);
            put("END%d:\n", label);
            break;
        case REPEAT:
            put_bit(n->bits[0], "v");
            put_bit(n->bits[1], "w");
            put("add.u32 c%d, v, w;\nAGAIN%d: setp.eq.u32 p, c%d, 0; @p bra END%d;\n", depth, label,
                depth, label);
            put_nodes(i + 1, n->end, depth + 1);
            put("sub.u32 c%d, c%d, 1; bra AGAIN%d; END%d:\n", depth, depth, label, label);
            break;
        default:
            put_barrier(n->kind == MEET_ALL);
            break;
        }
    }
}

static void write_ptx(const uint32_t most[2]) {
    length = labels = 0;
    put(PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p0; .reg .pred p;\n"
                 ".reg .b32 lane, v, w, own, other, partner, pair, met0, met1, sum, wrong, c<%d>;\n"
                 ".shared .align 4 .b8 room[512]; ld.param.u64 p0, [data]; mov.u32 lane, %%tid.x;\n"
                 "mad.wide.u32 p0, lane, 8, p0; mov.u32 w, room; mad.lo.u32 own, lane, 4, w;\n"
                 "xor.b32 v, lane, 1; mad.lo.u32 partner, v, 4, w;\n"
                 "xor.b32 v, lane, %d; mad.lo.u32 other, v, 4, w;\n"
                 "and.b32 v, lane, 30; shl.b32 pair, 3, v;\n"
                 "mov.u32 met0, 0; mov.u32 met1, 0; mov.u32 sum, 0; mov.u32 wrong, 0;\n",
        DEPTH + 1, 1 + drawn(&state, LANES_A_WARP - 1));
    put_nodes(0, nodes, 0);
    for (int all = 0; all < 2; all++) {
        put("REST%d: setp.eq.u32 p, met%d, %u; @p bra DONE%d;\n", all, all, most[all], all);
        put_barrier(all);
        put("bra REST%d; DONE%d:\n", all, all);
    }
    put("st.global.v2.u32 [p0], {sum, wrong}; ret;\n}\n");
}

static struct { int right, stuck, wrong; } total;
static char said[8192];

/* Whether the warp does what its lanes do alone, or says that they are stuck. */
static bool agrees(bool right) {
    static uint32_t result[LANES_A_WARP][2];
    const LaunchStatus status =
        capture_run(STDERR_FILENO, text, LANES_A_WARP, result, sizeof result, said, sizeof said);
    if (!right) return status == LAUNCH_FAULT && strstr(said, "bar.warp.sync waits for lanes");
    bool same = status == LAUNCH_OK;
    for (unsigned l = 0; l < LANES_A_WARP; l++)
        same &= result[l][0] == lane[l].sum && result[l][1] == 0;
    return same;
}

static void test_program(void) {
    uint32_t most[2];
    nodes = 0;
    draw_nodes(0, drawn(&state, 2));
    go_all(most);
    for (unsigned l = 0; l < LANES_A_WARP; l++)
        if (lane[l].events > EVENTS) return;
    write_ptx(most);
    const bool right = ends();
    *(right ? &total.right : &total.stuck) += 1;
    if (is_on_gpu() && !right) return; /* it would hang there */
    for (int race = 0; race < (is_on_gpu() ? 1 : 2); race++) {
        setenv("SIM_RACE", race ? "1" : "0", 1);
        if (agrees(right)) continue;
        if (!total.wrong++) printf("# %s\n%s\n%s\n", right ? "right" : "stuck", said, text);
    }
}

static int setting(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

int main(void) {
    const int programs = setting("PROGRAMS", 300);
    state = mix64((uint64_t)setting("SEED", 1));
    for (int i = 0; i < programs; i++) test_program();
    ok(total.wrong == 0, "a warp does what its lanes do alone: %d wrong", total.wrong);
    ok(total.right * 3 > programs && total.stuck * 20 > programs, "%d programs end, %d are stuck",
       total.right, total.stuck);
    return done_testing();
}
