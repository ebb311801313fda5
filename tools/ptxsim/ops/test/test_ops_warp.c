/* Instructions in which the lanes of a warp, or the warps of a block, work together; branches,
 * special registers, and what only a GPU notices. Catches: a value taken from the wrong lane, a
 * vote that counts absent lanes, a barrier that lets a warp through, an index in the wrong order.
 */
#include "test/threads.h"

/* ---- vote, match, redux, elect, activemask: by all lanes, and by some ------------------------ */

#define SOME 0x0ff0f00fu
#define ONLY_SOME "shr.b32 w, 0x0ff0f00f, t; and.b32 w, w, 1; setp.eq.u32 h, w, 0; @h bra END; "

/* What each lane that takes part gives, and what they get. */
typedef struct Collective {
    const char *text; /* '%' is the mask */
    bool small;
    uint32_t (*result)(uint32_t members, uint32_t lane);
} Collective;

static uint32_t value(uint32_t lane) { return lane / 5; }

static uint32_t where(uint32_t members, uint32_t wanted) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < 32; i++) found |= (uint32_t)(value(i) == wanted) << i;
    return found & members;
}

#define COLLECTIVE(name, expression)                        \
    static uint32_t name(uint32_t members, uint32_t lane) { \
        (void)members, (void)lane;                          \
        return (expression);                                \
    }
COLLECTIVE(threes, where(members, 3))
COLLECTIVE(any_three, where(members, 3) != 0)
COLLECTIVE(any_nine, where(members, 9) != 0)
COLLECTIVE(all_small, 1)
COLLECTIVE(all_three, where(members, 3) == members)
COLLECTIVE(alike_three, where(members, 3) == members || !where(members, 3))
COLLECTIVE(not_threes, members & ~where(members, 3))
COLLECTIVE(alike, where(members, value(lane)))
COLLECTIVE(none_alike, 0)
COLLECTIVE(everybody, members)
COLLECTIVE(leader, (uint32_t)__builtin_ctz(members))
COLLECTIVE(is_leader, lane == (uint32_t)__builtin_ctz(members))

static const Collective collectives[] = {
    {"setp.eq.u32 g, a, 3; vote.sync.ballot.b32 d, g, %", true, threes},
    {"setp.eq.u32 g, a, 3; vote.sync.ballot.b32 d, !g, %", true, not_threes},
    {"setp.eq.u32 g, a, 3; vote.sync.any.pred g, g, %; selp.b32 d, 1, 0, g", true, any_three},
    {"setp.eq.u32 g, a, 9; vote.sync.any.pred g, g, %; selp.b32 d, 1, 0, g", true, any_nine},
    {"setp.lt.u32 g, a, 7; vote.sync.all.pred g, g, %; selp.b32 d, 1, 0, g", true, all_small},
    {"setp.eq.u32 g, a, 3; vote.sync.all.pred g, g, %; selp.b32 d, 1, 0, g", true, all_three},
    {"setp.eq.u32 g, a, 3; vote.sync.uni.pred g, g, %; selp.b32 d, 1, 0, g", true, alike_three},
    {"setp.eq.u32 g, a, 9; vote.sync.uni.pred g, g, %; selp.b32 d, 1, 0, g", true, all_small},
    {"match.any.sync.b32 d, a, %", true, alike},
    {"cvt.u64.u32 x, a; shl.b64 x, x, 32; match.any.sync.b64 d, x, %", true, alike},
    {"match.all.sync.b32 d, a, %", true, none_alike},
    {"match.all.sync.b32 d|g, 5, %; selp.b32 d, d, 0, g", true, everybody},
    {"mov.b64 x, 5; match.all.sync.b64 d|g, x, %; selp.b32 d, d, 0, g", true, everybody},
    {"elect.sync d|g, %", true, leader},
    {"elect.sync d|g, %; selp.b32 d, 1, 0, g", true, is_leader},
    {"elect.sync _|g, %; selp.b32 d, 1, 0, g", true, is_leader},
    {"activemask.b32 d", true, everybody},
    {"bar.warp.sync %; activemask.b32 d", true, everybody},
};

static uint32_t collective(const void *what, uint32_t lane) {
    const Collective *c = what;
    return c->result(UINT32_MAX, lane);
}

static uint32_t collective_of_some(const void *what, uint32_t lane) {
    const Collective *c = what;
    return SOME >> lane & 1 ? c->result(SOME, lane) : 0;
}

static void with_mask(const char *prefix, const char *text, const char *mask, const char *suffix,
                      char *out, size_t size) {
    size_t used = (size_t)snprintf(out, size, "%s", prefix);
    for (; *text; text++)
        used += *text == '%' ? (size_t)snprintf(out + used, size - used, "%s", mask)
                             : (size_t)snprintf(out + used, size - used, "%c", *text);
    snprintf(out + used, size - used, "%s", suffix);
}

static void test_collectives(void) {
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        char text[400];
        with_mask("", collectives[i].text, "-1", "", text, sizeof text);
        check(text, LANES_A_WARP, true, collective, &collectives[i]);
        with_mask(ONLY_SOME, collectives[i].text, "0x0ff0f00f", "; END: mov.b32 w, 0", text,
                  sizeof text);
        check(text, LANES_A_WARP, true, collective_of_some, &collectives[i]);
    }
}

/* redux: every operation of both signs, on values of both signs */
typedef struct Fold {
    const char *name;
    uint32_t (*both)(uint32_t a, uint32_t b);
} Fold;

/* Some bits are the same in all lanes, and the first lane has others, too. */
static uint32_t fold_value(uint32_t lane) {
    const uint32_t value = ((lane + 1) * 2654435761u) ^ (lane & 1 ? 0x80000000 : 0);
    return (value & 0xffffff00) | 0x5a;
}

#define FOLD_VALUE                                                   \
    "add.u32 a, t, 1; mul.lo.u32 a, a, 2654435761; and.b32 z, t, 1;" \
    "shl.b32 z, z, 31; xor.b32 a, a, z; and.b32 a, a, 0xffffff00; or.b32 a, a, 0x5a; "

#define FOLD(name, expression) \
    static uint32_t name(uint32_t a, uint32_t b) { return (expression); }
FOLD(fold_add, a + b)
FOLD(fold_min, a < b ? a : b)
FOLD(fold_max, a > b ? a : b)
FOLD(fold_min_signed, (int32_t)a < (int32_t)b ? a : b)
FOLD(fold_max_signed, (int32_t)a > (int32_t)b ? a : b)
FOLD(fold_and, a &b)
FOLD(fold_or, a | b)
FOLD(fold_xor, a ^ b)

static uint32_t fold(const Fold *f, uint32_t members) {
    const uint32_t first = (uint32_t)__builtin_ctz(members);
    uint32_t result = fold_value(first);
    for (uint32_t i = first + 1; i < 32; i++)
        if (members >> i & 1) result = f->both(result, fold_value(i));
    return result;
}

static uint32_t fold_all(const void *what, uint32_t lane) {
    (void)lane;
    return fold(what, UINT32_MAX);
}

static uint32_t fold_some(const void *what, uint32_t lane) {
    return SOME >> lane & 1 ? fold(what, SOME) : 0;
}

static void test_folds(void) {
    static const Fold folds[] = {
        {"add.u32", fold_add}, {"add.s32", fold_add},        {"min.u32", fold_min},
        {"max.u32", fold_max}, {"min.s32", fold_min_signed}, {"max.s32", fold_max_signed},
        {"and.b32", fold_and}, {"or.b32", fold_or},          {"xor.b32", fold_xor},
    };
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
        char text[500], redux[300];
        snprintf(redux, sizeof redux, FOLD_VALUE "redux.sync.%s d, a, %%", folds[i].name);
        with_mask("", redux, "-1", "", text, sizeof text);
        check(text, LANES_A_WARP, true, fold_all, &folds[i]);
        with_mask(ONLY_SOME, redux, "0x0ff0f00f", "; END: mov.b32 w, 0", text, sizeof text);
        check(text, LANES_A_WARP, true, fold_some, &folds[i]);
    }
}

/* ---- Groups of lanes that come together, each with its own member mask ----------------------- */

/* Lanes in a row, and every second one: w is the mask of the lane's own group. */
static const char *const groupings[] = {
    "and.b32 w, t, 24; shl.b32 w, 0xff, w; ",
    "and.b32 w, t, 1; shl.b32 w, 0x55555555, w; ",
};

static uint32_t group_of(int grouping, uint32_t lane) {
    return grouping ? 0x55555555u << (lane & 1) : 0xffu << (lane & 24);
}

typedef struct Grouped {
    const Collective *collective; /* or */
    const Fold *fold;
    int grouping;
} Grouped;

static uint32_t by_group(const void *what, uint32_t lane) {
    const Grouped *g = what;
    const uint32_t members = group_of(g->grouping, lane);
    return g->fold ? fold(g->fold, members) : g->collective->result(members, lane);
}

static uint32_t neighbour(const void *what, uint32_t lane) {
    return input(lane ^ *(const uint32_t *)what);
}

static void test_groups(void) {
    static const Fold sum = {"add", fold_add};
    for (int grouping = 0; grouping < 2; grouping++) {
        char text[500];
        for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
            const Grouped grouped = {&collectives[i], NULL, grouping};
            if (strstr(collectives[i].text, "activemask")) continue;
            with_mask(groupings[grouping], collectives[i].text, "w", "", text, sizeof text);
            check(text, LANES_A_WARP, true, by_group, &grouped);
        }
        const Grouped grouped = {NULL, &sum, grouping};
        with_mask(groupings[grouping], FOLD_VALUE "redux.sync.add.u32 d, a, %", "w", "", text,
                  sizeof text);
        check(text, LANES_A_WARP, true, by_group, &grouped);
        for (uint32_t distance = 2; distance <= 6; distance += 2) {
            snprintf(text, sizeof text, "%sshfl.sync.bfly.b32 d, a, %u, 31, w", groupings[grouping],
                     distance);
            check(text, LANES_A_WARP, false, neighbour, &distance);
        }
    }
}

/* ---- Barriers -------------------------------------------------------------------------------- */

/* Each thread reads what the one 32 further wrote: the other warp of its pair. */
static uint32_t partner(const void *what, uint32_t i) {
    (void)what;
    return input(i ^ 32);
}

/* Threads whose input, i / 5, is below 3: 15 of them. */
static uint32_t count_below(const void *what, uint32_t i) {
    const uint32_t threads = *(const uint32_t *)what;
    uint32_t count = 0;
    for (uint32_t k = i / threads * threads, end = k + threads; k < end; k++) count += k / 5 < 3;
    return count;
}

static uint32_t holds(const void *what, uint32_t i) {
    (void)i;
    return what != NULL;
}

#define ROOM                                                                    \
    ".shared .align 4 .b8 room[1024]; mov.u32 z, room; mad.lo.u32 z, t, 4, z; " \
    "st.shared.u32 [z], a; xor.b32 w, t, 32; mov.u32 z, room; mad.lo.u32 z, w, 4, z; "
#define PAIR "shr.u32 w, t, 6; add.u32 w, w, 1; " /* a barrier for each two warps */

static void test_barriers(void) {
    static const uint32_t all = 128, pair = 64;
    check(ROOM "bar.sync 0; ld.shared.u32 d, [z]", 128, false, partner, NULL);
    check(ROOM "barrier.sync 3; ld.shared.u32 d, [z]", 128, false, partner, NULL);
    check(ROOM "barrier.cta.sync.aligned 3, 128; ld.shared.u32 d, [z]", 128, false, partner, NULL);
    check(ROOM "bar.cta.sync 2; ld.shared.u32 d, [z]", 128, false, partner, NULL);
    check(ROOM PAIR "barrier.sync w, 64; ld.shared.u32 d, [z]", 128, false, partner, NULL);
    /* the odd warps hand over, the even ones wait; then the other way round */
    check(ROOM "and.b32 w, t, 32; setp.ne.u32 g, w, 0; @g bra ODD; "
               "bar.sync 1, 128; bar.arrive 2, 128; bra BOTH; "
               "ODD: bar.arrive 1, 128; bar.sync 2, 128; BOTH: ld.shared.u32 d, [z]",
          128, false, partner, NULL);
    /* who arrives does not wait: the other warp is at the second barrier first */
    check(ROOM "and.b32 w, t, 32; setp.ne.u32 g, w, 0; @g bra ODD; bar.sync 2, 64; bar.sync 1, 64; "
               "ld.shared.u32 d, [z]; bar.sync 3; bra BOTH; ODD: bar.arrive 1, 64; "
               "bar.arrive 2, 64; bar.sync 3; ld.shared.u32 d, [z]; BOTH: mov.u32 z, w",
          64, false, partner, NULL);
    check("setp.lt.u32 g, a, 3; bar.red.popc.u32 d, 0, g", 128, true, count_below, &all);
    check("setp.ge.u32 g, a, 3; bar.red.popc.u32 d, 0, 128, !g", 128, true, count_below, &all);
    check(PAIR "setp.lt.u32 g, a, 3; barrier.cta.red.popc.aligned.u32 d, w, 64, g", 128, true,
          count_below, &pair);
    check("setp.eq.u32 g, a, 3; bar.red.or.pred g, 0, g; selp.b32 d, 1, 0, g", 128, true, holds,
          &all);
    check("setp.eq.u32 g, a, 99; bar.red.or.pred g, 0, g; selp.b32 d, 1, 0, g", 128, true, holds,
          NULL);
    check("setp.lt.u32 g, a, 99; bar.red.and.pred g, 0, 128, g; selp.b32 d, 1, 0, g", 128, true,
          holds, &all);
    check("setp.ne.u32 g, a, 3; bar.red.and.pred g, 0, g; selp.b32 d, 1, 0, g", 128, true, holds,
          NULL);
}

/* ---- Special registers ----------------------------------------------------------------------- */

/* The sum of tid.x + 10 tid.y + 100 tid.z and its like, that every thread works out by itself. */
static void test_indices(void) {
    static const char text[] = PTX_HEAD
        ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 r<40>;\n"
        "ld.param.u64 p, [data];\n"
        "mov.u32 r0, %tid.x; mov.u32 r1, %tid.y; mov.u32 r2, %tid.z;\n"
        "mov.u32 r3, %ctaid.x; mov.u32 r4, %ctaid.y; mov.u32 r5, %ctaid.z;\n"
        "mov.u32 r6, %ntid.x; mov.u32 r7, %ntid.y; mov.u32 r8, %ntid.z;\n"
        "mov.u32 r9, %nctaid.x; mov.u32 r10, %nctaid.y; mov.u32 r11, %nctaid.z;\n"
        "mov.u32 r12, %clusterid.x; mov.u32 r13, %clusterid.y; mov.u32 r14, %clusterid.z;\n"
        "mov.u32 r15, %nclusterid.x; mov.u32 r16, %nclusterid.y; "
        "mov.u32 r17, %nclusterid.z;\n"
        "mad.lo.u32 r20, r5, r10, r4; mad.lo.u32 r20, r20, r9, r3;\n" /* the block */
        "mad.lo.u32 r21, r2, r7, r1; mad.lo.u32 r21, r21, r6, r0;\n"  /* the thread */
        "mul.lo.u32 r22, r6, r7; mul.lo.u32 r22, r22, r8;\n"
        "mad.lo.u32 r20, r20, r22, r21; mad.wide.u32 q, r20, 72, p;\n"
        "st.global.v2.u32 [q], {r0, r1}; st.global.v2.u32 [q+8], {r2, r3};\n"
        "st.global.v2.u32 [q+16], {r4, r5}; st.global.v2.u32 [q+24], {r6, r7};\n"
        "st.global.v2.u32 [q+32], {r8, r9}; st.global.v2.u32 [q+40], {r10, r11};\n"
        "st.global.v2.u32 [q+48], {r12, r13}; st.global.v2.u32 [q+56], {r14, r15};\n"
        "st.global.v2.u32 [q+64], {r16, r17}; ret;\n}\n";
    enum { X = 5, Y = 3, Z = 2, GX = 2, GY = 3, GZ = 2, VALUES = 18 };
    static uint32_t data[X * Y * Z * GX * GY * GZ][VALUES];
    const LaunchShape shape = {{GX, GY, GZ}, {X, Y, Z}, 0, false};
    void *memory = memory_allocate(sizeof data);
    const PtxRun result = run_ptx_shape(text, &shape, memory);
    int wrong = 0;
    memcpy(data, memory, sizeof data);
    memory_release(memory);
    for (uint32_t i = 0; i < X * Y * Z * GX * GY * GZ; i++) {
        const uint32_t t = i % (X * Y * Z), b = i / (X * Y * Z);
        const uint32_t expected[VALUES] = {
            t % X, t / X % Y, t / X / Y, b % GX, b / GX % GY, b / GX / GY, X,  Y,  Z,
            GX,    GY,        GZ,        b % GX, b / GX % GY, b / GX / GY, GX, GY, GZ};
        wrong += memcmp(data[i], expected, sizeof expected) != 0;
    }
    ok(result.status == LAUNCH_OK && !wrong, "threads and blocks in three dimensions (%d wrong) %s",
       wrong, result.error);
}

typedef struct Special {
    const char *name;
    uint32_t (*of_lane)(uint32_t lane);
} Special;

static uint32_t lane_itself(uint32_t l) { return l; }
static uint32_t mask_eq(uint32_t l) { return 1u << l; }
static uint32_t mask_lt(uint32_t l) { return (1u << l) - 1; }
static uint32_t mask_le(uint32_t l) { return mask_lt(l) | mask_eq(l); }
static uint32_t mask_gt(uint32_t l) { return ~mask_le(l); }
static uint32_t mask_ge(uint32_t l) { return ~mask_lt(l); }
static uint32_t zero(uint32_t l) { return 0 * l; }
static uint32_t one(uint32_t l) { return 0 * l + 1; }
static uint32_t per_multiprocessor(uint32_t l) { return 0 * l + 64; }
static uint32_t shared_bytes(uint32_t l) { return 0 * l + 128; } /* for 24 */

static uint32_t special_of(const void *what, uint32_t i) {
    const Special *s = what;
    return s->of_lane(i % 32);
}

static uint32_t warp_of(const void *what, uint32_t i) {
    (void)what;
    return i / 32;
}

static void test_specials(void) {
    static const Special specials[] = {
        {"%laneid", lane_itself},           {"%lanemask_eq", mask_eq},
        {"%lanemask_lt", mask_lt},          {"%lanemask_le", mask_le},
        {"%lanemask_gt", mask_gt},          {"%lanemask_ge", mask_ge},
        {"%nwarpid", per_multiprocessor},   {"%cluster_ctarank", zero},
        {"%cluster_nctarank", one},         {"%cluster_ctaid.x", zero},
        {"%cluster_ctaid.y", zero},         {"%cluster_ctaid.z", zero},
        {"%cluster_nctaid.x", one},         {"%cluster_nctaid.y", one},
        {"%cluster_nctaid.z", one},         {"%dynamic_smem_size", zero},
        {"%total_smem_size", shared_bytes},
    };
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        char text[200];
        snprintf(text, sizeof text, ".shared .align 8 .b8 room[24]; mov.u32 w, room; mov.u32 d, %s",
                 specials[i].name);
        check(text, 64, true, special_of, &specials[i]);
    }
    check("mov.u32 w, %nsmid; setp.ge.u32 g, w, 1; selp.b32 d, 1, 0, g", 32, true, holds, "some");
    check("mov.u64 x, %gridid; cvt.u32.u64 d, x; cvt.u64.u32 x, %tid.x; mov.b32 d, 1", 32, true,
          holds, "any");
}

/* What a GPU numbers in another way. */
static void test_places(void) {
    check("mov.u32 d, %smid", 64, true, holds, NULL);
    check("mov.u32 d, %warpid", 96, true, warp_of, NULL);
}

/* Clocks count the warp's instructions: later is more. */
static void test_clocks(void) {
    static const char *const names[] = {"%clock", "%clock64", "%globaltimer", "%globaltimer_lo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const bool wide = strstr(names[i], "64") || strcmp(names[i], "%globaltimer") == 0;
        char text[300];
        snprintf(text, sizeof text,
                 wide ? ".reg .b64 y; mov.u64 x, %s; add.u32 w, t, 1; mov.u64 y, %s; "
                        "setp.gt.u64 g, y, x; selp.b32 d, 1, 0, g"
                      : "mov.u32 w, %s; add.u32 z, t, 1; mov.u32 z, %s; "
                        "setp.gt.u32 g, z, w; selp.b32 d, 1, 0, g",
                 names[i], names[i]);
        check(text, 32, true, holds, "later");
    }
    check("mov.u32 d, %clock_hi; mov.u32 d, %globaltimer_hi; add.u32 d, d, 1", 32, true, holds,
          "zero");
}

/* ---- What changes nothing here --------------------------------------------------------------- */

static uint32_t own(const void *what, uint32_t i) {
    (void)what;
    return input(i);
}

static void test_hints(void) {
    static const char *const hints[] = {
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "fence.acq_rel.gpu",
        "fence.sc.cta",
        "fence.proxy.async",
        "fence.proxy.async.shared::cta",
        "fence.proxy.async.global",
        "fence.proxy.alias",
        "fence.mbarrier_init.release.cluster",
        "fence.proxy.tensormap::generic.acquire.gpu [p], 128",
        "nanosleep.u32 20",
        "nanosleep.u32 a",
        "prefetch.global.L2 [p]",
        "prefetchu.L1 [p]",
        "discard.global.L2 [p], 128",
        "applypriority.global.L2::evict_normal [p], 128",
        "pmevent 1",
        "griddepcontrol.wait",
        "griddepcontrol.launch_dependents",
        "createpolicy.fractional.L2::evict_last.b64 x, 0f3F800000",
        "setmaxnreg.inc.sync.aligned.u32 40",
        "setmaxnreg.dec.sync.aligned.u32 24",
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s; mov.b32 d, a", hints[i]);
        check(text, 128, false, own, NULL);
    }
    check("setmaxnreg.inc.sync.aligned.u32 256; mov.b32 d, a", 256, false, own, NULL);
    check("setmaxnreg.dec.sync.aligned.u32 24; setmaxnreg.inc.sync.aligned.u32 240; mov.b32 d, a",
          256, false, own, NULL);
    check("bra.uni ON; mov.b32 a, 0; ON: mov.b32 d, a", 32, false, own, NULL);
    check("{ .reg .b32 t; mov.b32 t, a; mov.b32 d, t; } st.global.u32 [q+4], d; exit", 32, false,
          own, NULL);
}

/* ---- Launches ------------------------------------------------------------------------------- */

/* Two blocks of twelve warps, of which four give registers away. All share what the block was
 * launched with, and that follows from what the kernel promises: numbers of ptxas -v. */
static void test_registers(void) {
    static const struct {
        const char *promise;
        int kept, taken;
        bool right;
    } shares[] = {
        {".maxntid 384, 1, 1 .minnctapersm 1", 24, 240, true}, /* 168 per thread, 64,512 */
        {".maxntid 384, 1, 1 .minnctapersm 1", 32, 240, false},
        {".maxntid 384, 1, 1 .minnctapersm 1", 24, 248, false},
        {".reqntid 384 .minnctapersm 1", 32, 240, false},
        {".maxntid 512 .minnctapersm 1", 24, 176, true}, /* 128, 49,152 */
        {".maxntid 512 .minnctapersm 1", 24, 184, false},
        {".maxntid 390 .minnctapersm 1", 24, 176, true}, /* the same: 13 warps, 4 in a quarter */
        {".maxntid 390 .minnctapersm 1", 24, 184, false},
        {".maxntid 384 .minnctapersm 2", 24, 104, true}, /* 80, 30,720 */
        {".maxntid 384 .minnctapersm 2", 24, 112, false},
        {".minnctapersm 2 .maxntid 384", 24, 112, false},
        {".maxntid 384 .minnctapersm 5", 24, 32, true}, /* 32, 12,288 */
        {".maxntid 384 .minnctapersm 5", 24, 40, false},
        {".maxnreg 80", 24, 104, true}, /* 80, 30,720 */
        {".maxnreg 80", 24, 112, false},
        {".maxnreg 81", 24, 120, true}, /* 88, 33,792 */
        {".maxnreg 81", 24, 128, false},
        {".maxntid 384 .minnctapersm 1 .maxnreg 80", 24, 104, true},
        {".maxntid 384 .minnctapersm 1 .maxnreg 80", 24, 112, false},
        {".maxntid 384 .minnctapersm 2 .maxnreg 200", 24, 104, true},
        {".maxntid 384 .minnctapersm 2 .maxnreg 200", 24, 112, false},
        /* not known */
        {"", 40, 240, true},
        {".maxntid 384", 40, 240, true},
        {".minnctapersm 2", 40, 240, true},
        {".maxntid 384 .minnctapersm 6", 40, 240, true}, /* 72 warps */
    };
    const LaunchShape shape = {{2, 1, 1}, {384, 1, 1}, 0, false};
    void *memory = memory_allocate(256);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 PTX_HEAD ".visible .entry k(.param .u64 data)\n%s\n{\n.reg .b32 t; .reg .pred "
                          "g;\nmov.u32 t, %%tid.x; setp.ge.u32 g, t, 256; @g bra DOWN;\n"
                          "setmaxnreg.inc.sync.aligned.u32 %d; ret;\n"
                          "DOWN: setmaxnreg.dec.sync.aligned.u32 %d; ret;\n}\n",
                 shares[i].promise, shares[i].taken, shares[i].kept);
        ok((run_ptx_shape(text, &shape, memory).status == LAUNCH_OK) == shares[i].right,
           "256 times %d and 128 times %d registers %s %s", shares[i].taken, shares[i].kept,
           shares[i].right ? "are there" : "are more than there are", shares[i].promise);
    }
    const char *some = PTX_HEAD
        ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t; .reg .pred g;\nmov.u32 t, %tid.x; "
        "setp.ge.u32 g, t, 256; @g bra END;\nsetmaxnreg.inc.sync.aligned.u32 240;\nEND: ret;\n}\n";
    ok(run_ptx_shape(some, &shape, memory).status == LAUNCH_OK,
       "not all ask, and how many there are is not known");
    memory_release(memory);
}

/* A launch that may begin before the one before it has ended, and what it does first. */
static void test_early_launch(void) {
    static const struct {
        const char *first, *what;
        bool right;
    } programs[] = {
        {"ld.global.u32 d, [p];", "a load", false},
        {"st.global.u32 [p], a;", "a store", false},
        {"atom.global.add.u32 d, [p], a;", "an atomic", false},
        {"mov.b32 d, a;", "nothing in memory but its parameters", true},
        {"griddepcontrol.wait; ld.global.u32 d, [p];", "a load after the wait", true},
        {"griddepcontrol.launch_dependents; ld.global.u32 d, [p];", "a load after its own", false},
        {"@g griddepcontrol.wait; ld.global.u32 d, [p];", "a load after a wait of nobody", false},
        {"@h bra LOAD; griddepcontrol.wait; LOAD: ld.global.u32 d, [q];",
         "a load for which only the other warp has waited", false},
    };
    const LaunchShape plain = {{2, 1, 1}, {64, 1, 1}, 0, false},
                      early = {{2, 1, 1}, {64, 1, 1}, 0, true};
    void *memory = memory_allocate(256);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 PTX_HEAD
                 ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 a, d, t; "
                 ".reg .pred g, h;\nmov.u32 t, %%tid.x; setp.ge.u32 g, t, 64; "
                 "setp.ge.u32 h, t, 32;\n"
                 "ld.param.u64 p, [data]; mov.b32 a, 1; mad.wide.u32 q, t, 4, p;\n%s\n"
                 "griddepcontrol.wait; st.global.u32 [p], a; ret;\n}\n",
                 programs[i].first);
        ok((run_ptx_shape(text, &early, memory).status == LAUNCH_OK) == programs[i].right,
           "an early launch may%s begin with %s", programs[i].right ? "" : " not",
           programs[i].what);
        ok(run_ptx_shape(text, &plain, memory).status == LAUNCH_OK, "any other may");
    }
    memory_release(memory);
}

int main(void) {
    test_early_launch();
    test_collectives();
    test_folds();
    test_groups();
    test_barriers();
    test_indices();
    test_specials();
    if (!is_on_gpu()) {
        test_places();
        test_clocks();
    }
    test_hints();
    test_registers();
    return done_testing();
}
