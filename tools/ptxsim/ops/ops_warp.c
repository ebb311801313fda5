/* Instructions in which the lanes of a warp work together: shfl, vote, match, redux, elect,
 * activemask, bar.warp.sync. PTX ISA, "Data Movement ...: shfl" and "Parallel Synchronization". */
#include "decode/decode.h"
#include "machine/lanes.h"
#include "machine/observe.h"
#include "machine/simt.h"
#include "ops/shuffle.h"

_Noreturn static void fault_missing(Warp *warp, uint32_t missing, const char *what) {
    fault(warp, (int)first_lane(warp->mask),
          "%s waits for lanes 0x%08x, which are elsewhere (lanes 0x%08x execute it)", what, missing,
          warp->mask);
}

/* The lanes that execute must be in their own member mask. */
static void require_own(Warp *warp, uint32_t members, const char *what) {
    const uint32_t strangers = warp->mask & ~members;
    if (strangers)
        fault(warp, (int)first_lane(strangers), "%s by a lane that its member mask 0x%08x lacks",
              what, members);
}

/* The lanes named in the member mask must all be here. */
static void require_members(Warp *warp, uint32_t members, const char *what) {
    if (warp->block->race) race_gather(warp->block->race, (unsigned)warp->index);
    uint32_t missing = members & warp->live & ~warp->mask;
    if (missing) missing &= simt_elsewhere(warp);
    if (missing) fault_missing(warp, missing, what);
    require_own(warp, members, what);
}

/* Groups of a warp's lanes may execute one instruction together, each with its own member mask, as
 * the tiles of cooperative groups do. Each takes its turn. */
static void run_by_groups(Warp *warp, const Op *op, int i, Handler run) {
    const u32 *members = REG(u32, i);
    const uint32_t all = warp->mask;
    for (uint32_t left = all; left; left &= ~warp->mask) {
        const uint32_t own = members[first_lane(left)];
        uint32_t group = 0;
        for (unsigned l = 0; l < LANES; l++) group |= (uint32_t)(members[l] == own) << l;
        warp->mask = group & left;
        run(warp, op);
    }
    warp->mask = all;
}

/* Lanes that a member mask of those here names and that are neither here nor at the end. */
static uint32_t missing_members(const Warp *warp, const Op *op, int i) {
    const u32 *members = REG(u32, i);
    uint32_t named = 0;
    EACH_ACTIVE(named |= members[l]);
    return named & simt_elsewhere(warp);
}

/* Operand i is the member mask. Most often it names all lanes that are here. */
static inline void run_members(Warp *warp, const Op *op, int i, Handler run) {
    if (warp->mask & ~uniform_u32(warp, op, i))
        run_by_groups(warp, op, i, run);
    else
        run(warp, op);
}

/* The same, once lanes that it names and that are about to come or to end have done so. */
static inline void run_collective(Warp *warp, const Op *op, int i, Handler run) {
    const bool all = warp->mask == warp->live && !warp->waiting;
    if (!all && simt_lets_others_go(warp, missing_members(warp, op, i))) return;
    run_members(warp, op, i, run);
}

/* ---- shfl ------------------------------------------------------------------------------------ */

typedef enum Shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX } Shuffle;

/* The lane that lane `l` reads; *inside tells whether it is in its segment, and if not it reads
 * itself. b and c are operands of the instruction: the distance or lane, and the segment's mask
 * and clamp. */
static inline uint32_t source_lane(Shuffle mode, uint32_t l, uint32_t b, uint32_t c,
                                   uint32_t *inside) {
    const uint32_t segment = c >> 8 & 31, low = l & segment;
    const uint32_t high = low | (c & 31 & ~segment);
    b &= 31;
    const uint32_t from = mode == SHUFFLE_UP     ? l - b
                          : mode == SHUFFLE_DOWN ? l + b
                          : mode == SHUFFLE_BFLY ? (l ^ b)
                                                 : (low | (b & ~segment));
    *inside = mode == SHUFFLE_UP ? (int32_t)from >= (int32_t)high : from <= high;
    return *inside ? from : l;
}

/* The sources of all lanes, and which of them are inside their segments. */
static uint32_t source_lanes(Shuffle mode, const u32 b[LANES], const u32 c[LANES],
                             uint8_t source[LANES]) {
    uint32_t inside[LANES], bits = 0;
    switch (mode) {
#define SOURCES(name)                                                          \
    case name:                                                                 \
        for (uint32_t l = 0; l < LANES; l++)                                   \
            source[l] = (uint8_t)source_lane(name, l, b[l], c[l], &inside[l]); \
        break;
        SOURCES(SHUFFLE_UP)
        SOURCES(SHUFFLE_DOWN)
        SOURCES(SHUFFLE_BFLY)
        SOURCES(SHUFFLE_IDX)
    }
    for (unsigned l = 0; l < LANES; l++) bits |= inside[l] << l;
    return bits;
}

/* The common shuffle: in one segment, all lanes read the lane whose number differs by the same
 * bits. Lanes that far apart change places, a bit after the other. False: it is another one. */
static bool butterfly(const u32 a[LANES], const u32 b[LANES], const u32 c[LANES],
                      u32 result[LANES]) {
    typedef uint32_t Half __attribute__((vector_size(LANES / 2 * sizeof(uint32_t))));
    Half half[2];
    uint32_t differs = 0;
    for (unsigned l = 0; l < LANES; l++) differs |= (b[l] ^ b[0]) | ((c[l] & 0x1f1f) ^ 0x1f);
    if (differs) return false;
    memcpy(half, a, sizeof half);
#define EXCHANGE(n)                                                                               \
    for (unsigned i = 0; b[0] & (n) && i < 2; i++)                                                \
    half[i] = SHUFFLE(half[i], half[i], 0 ^ (n), 1 ^ (n), 2 ^ (n), 3 ^ (n), 4 ^ (n), 5 ^ (n),     \
                      6 ^ (n), 7 ^ (n), 8 ^ (n), 9 ^ (n), 10 ^ (n), 11 ^ (n), 12 ^ (n), 13 ^ (n), \
                      14 ^ (n), 15 ^ (n))
    EXCHANGE(1);
    EXCHANGE(2);
    EXCHANGE(4);
    EXCHANGE(8);
    const bool crosses = b[0] & LANES / 2;
    memcpy(result, &half[crosses], sizeof *half);
    memcpy(result + LANES / 2, &half[!crosses], sizeof *half);
    return true;
}

/* What comes from a lane that takes no part. PTX and CUDA call it undefined, and programs read it
 * and use it no further: the upper half of 16 lanes that sum by shfl.down. This is NaN, as fp32 and
 * fp64 and as two of fp16 or bf16, so a result that uses it shows. */
enum { UNDEFINED = 0x7fff7fff };

/* operands: d, p or -1, a, b, c, member mask */
static void shuffle(Warp *warp, const Op *op) {
    const u32 *a = REG(u32, 2);
    uint32_t result[LANES], missing = 0;
    uint8_t source[LANES];
    require_members(warp, uniform_u32(warp, op, 5), "shfl.sync");
    if (op->mode == SHUFFLE_BFLY && warp->mask == ALL_LANES && !warp->block->record &&
        butterfly(a, REG(u32, 3), REG(u32, 4), REG(u32, 0))) {
        if (op->r[1] >= 0) set_predicate(warp, op->r[1], ALL_LANES);
        return;
    }
    const uint32_t inside = source_lanes((Shuffle)op->mode, REG(u32, 3), REG(u32, 4), source);
    if (warp->mask != ALL_LANES)
        EACH_ACTIVE(missing |= (uint32_t) !(warp->mask >> source[l] & 1) << l);
    UNROLL
    for (unsigned l = 0; l < LANES; l++) result[l] = a[source[l]];
    for (; missing; missing &= missing - 1) result[first_lane(missing)] = UNDEFINED;
    if (warp->block->record) observe_shuffle(warp->block->record, warp, source);
    EACH(u32, result[l]);
    if (op->r[1] >= 0) set_predicate(warp, op->r[1], inside);
}

static void run_shuffle(Warp *warp, const Op *op) { run_collective(warp, op, 5, shuffle); }

static bool decode_shuffle(Decoder *d) {
    static const char *const modes[] = {"up", "down", "bfly", "idx", NULL};
    if (!opcode_is(d, "shfl") || !take(d, "sync") || !take(d, "b32")) return false;
    const int mode = take_one(d, modes);
    if (mode < 0) return false;
    d->op->mode = (uint8_t)mode;
    define(d, 4);
    if (d->in->operand[1].second)
        define(d, PREDICATE_BYTES);
    else
        absent(d, true);
    for (int i = 0; i < 4; i++) use(d, 4);
    return done(d, run_shuffle, CLASS_SHUFFLE);
}

/* ---- vote ------------------------------------------------------------------------------------ */

typedef enum Vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT } Vote;

static void vote(Warp *warp, const Op *op) {
    require_members(warp, uniform_u32(warp, op, 2), "vote.sync");
    uint32_t votes = predicate(warp, op->r[1]);
    votes = (op->negated ? ~votes : votes) & warp->mask;
    const bool all = votes == warp->mask, none = votes == 0;
    switch ((Vote)op->mode) {
    case VOTE_ALL:
        set_predicate(warp, op->r[0], all ? ALL_LANES : 0);
        break;
    case VOTE_ANY:
        set_predicate(warp, op->r[0], none ? 0 : ALL_LANES);
        break;
    case VOTE_UNI:
        set_predicate(warp, op->r[0], all || none ? ALL_LANES : 0);
        break;
    case VOTE_BALLOT:
        EACH(u32, votes);
        break;
    }
}

static void run_vote(Warp *warp, const Op *op) { run_collective(warp, op, 2, vote); }

static bool decode_vote(Decoder *d) {
    static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
    if (!opcode_is(d, "vote") || !take(d, "sync")) return false;
    const int mode = take_one(d, modes);
    if (mode < 0 || !take(d, mode == VOTE_BALLOT ? "b32" : "pred")) return false;
    d->op->mode = (uint8_t)mode;
    define(d, mode == VOTE_BALLOT ? 4 : PREDICATE_BYTES);
    use_predicate(d, &d->op->negated);
    use(d, 4);
    return done(d, run_vote, CLASS_SHUFFLE);
}

/* ---- match ----------------------------------------------------------------------------------- */

static uint64_t match_value(const Warp *warp, const Op *op, unsigned lane) {
    return op->width == 8 ? REG(u64, 2)[lane] : REG(u32, 2)[lane];
}

/* operands: d, p or -1, a, member mask */
static void match(Warp *warp, const Op *op) {
    uint32_t same[LANES] = {0};
    require_members(warp, uniform_u32(warp, op, 3), "match.sync");
    for (unsigned i = 0; i < LANES; i++)
        EACH_ACTIVE(same[i] |= (uint32_t)(match_value(warp, op, i) == match_value(warp, op, l))
                               << l);
    if (op->mode) { /* match.all */
        const bool all = same[first_lane(warp->mask)] == warp->mask;
        EACH(u32, all ? warp->mask : 0);
        if (op->r[1] >= 0) set_predicate(warp, op->r[1], all ? ALL_LANES : 0);
    } else {
        EACH(u32, same[l]);
    }
}

static void run_match(Warp *warp, const Op *op) { run_collective(warp, op, 3, match); }

static bool decode_match(Decoder *d) {
    if (!opcode_is(d, "match") || !take(d, "sync")) return false;
    d->op->mode = take(d, "all");
    if (!d->op->mode && !take(d, "any")) return false;
    d->op->width = take(d, "b64") ? 8 : 4;
    if (d->op->width == 4 && !take(d, "b32")) return false;
    define(d, 4);
    if (d->in->operand[1].second)
        define(d, PREDICATE_BYTES);
    else
        absent(d, true);
    use(d, d->op->width);
    use(d, 4);
    return done(d, run_match, CLASS_SHUFFLE);
}

/* ---- redux ----------------------------------------------------------------------------------- */

typedef enum Reduction {
    REDUX_ADD,
    REDUX_MIN,
    REDUX_MAX,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR
} Reduction;

static uint32_t reduce(const Op *op, uint32_t x, uint32_t y) {
    const bool less = op->is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch ((Reduction)op->mode) {
    case REDUX_ADD:
        return x + y;
    case REDUX_MIN:
        return less ? x : y;
    case REDUX_MAX:
        return less ? y : x;
    case REDUX_AND:
        return x & y;
    case REDUX_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static void redux(Warp *warp, const Op *op) {
    const u32 *a = REG(u32, 1);
    const unsigned first = first_lane(warp->mask);
    uint32_t result = a[first];
    require_members(warp, uniform_u32(warp, op, 2), "redux.sync");
    EACH_ACTIVE(if (l != first) result = reduce(op, result, a[l]));
    EACH(u32, result);
}

static void run_redux(Warp *warp, const Op *op) { run_collective(warp, op, 2, redux); }

static bool decode_redux(Decoder *d) {
    static const char *const modes[] = {"add", "min", "max", "and", "or", "xor", NULL};
    Type type;
    if (!opcode_is(d, "redux") || !take(d, "sync") || !type_of(take_last(d), &type)) return false;
    const int mode = take_one(d, modes);
    if (mode < 0 || type.bytes != 4 || type.kind == 'f') return false;
    d->op->mode = (uint8_t)mode;
    d->op->is_signed = type.kind == 's';
    use_pattern(d, "4=44");
    return done(d, run_redux, CLASS_SHUFFLE);
}

/* ---- elect, activemask, bar.warp.sync -------------------------------------------------------- */

/* operands: d, p, member mask */
static void elect(Warp *warp, const Op *op) {
    const uint32_t leader = first_lane(warp->mask);
    require_members(warp, uniform_u32(warp, op, 2), "elect.sync");
    EACH(u32, leader);
    set_predicate(warp, op->r[1], 1u << leader);
}

static void run_elect(Warp *warp, const Op *op) { run_collective(warp, op, 2, elect); }

static void run_activemask(Warp *warp, const Op *op) {
    const uint32_t active = warp->mask;
    EACH(u32, active);
}

/* Lanes that have come to a bar.warp.sync with this member mask. */
static uint32_t come_to(const Warp *warp, uint32_t members) {
    uint32_t lanes = 0;
    for (unsigned l = 0; l < LANES; l++) lanes |= (uint32_t)(warp->members[l] == members) << l;
    return lanes & warp->come;
}

/* All have come: those that wait may go on, too. */
static void warp_barrier(Warp *warp, const Op *op) {
    const uint32_t members = uniform_u32(warp, op, 0);
    const uint32_t others = come_to(warp, members) & ~warp->mask;
    require_own(warp, members, "bar.warp.sync");
    warp->come &= ~(others | warp->mask);
    warp->waiting &= ~others;
    warp->met |= others;
    if (warp->block->race) race_warp_sync(warp->block->race, (unsigned)warp->index, members);
}

/* The lanes come to the barrier. Whether it is to come again, since some of them wait for lanes
 * that their masks name and that have not come to one with the same mask. */
static bool waits_at_barrier(Warp *warp, const Op *op) {
    const u32 *members = REG(u32, 0);
    const uint32_t met = warp->mask & warp->met, come = warp->mask & ~met;
    const uint32_t elsewhere = simt_elsewhere(warp) | met; /* at the barrier before */
    uint32_t stay = 0, named = 0, missing = 0;
    warp->come |= come;
    EACH_ACTIVE(warp->members[l] = members[l]);
    EACH_ACTIVE({
        const uint32_t lack = members[l] & elsewhere & ~come_to(warp, members[l]);
        named |= members[l];
        if (!lack || !(come >> l & 1)) continue;
        missing |= lack;
        stay |= 1u << l;
    });
    if (simt_waits_for_others(warp, stay, met ? 0 : named)) return true;
    if (missing) fault_missing(warp, missing, "bar.warp.sync");
    return false;
}

/* A lane waits until all lanes that its member mask names have come to a bar.warp.sync with the
 * same mask, wherever that is, or have ended. */
static void run_warp_barrier(Warp *warp, const Op *op) {
    const uint32_t all = warp->mask;
    if ((all != warp->live || warp->come | warp->met) && waits_at_barrier(warp, op)) return;
    warp->mask &= ~warp->met;
    if (warp->mask) run_members(warp, op, 0, warp_barrier);
    warp->mask = all;
    warp->met &= ~all;
}

bool decode_warp(Decoder *d) {
    if (decode_shuffle(d) || decode_vote(d) || decode_match(d) || decode_redux(d)) return true;
    if (opcode_is(d, "elect") && take(d, "sync")) {
        use_pattern(d, "4p=4");
        return done(d, run_elect, CLASS_SHUFFLE);
    }
    if (opcode_is(d, "activemask") && take(d, "b32")) {
        use_pattern(d, "4=");
        return done(d, run_activemask, CLASS_SHUFFLE);
    }
    if (opcode_is(d, "bar") && take(d, "warp") && take(d, "sync")) {
        use_pattern(d, "4");
        return done(d, run_warp_barrier, CLASS_SHUFFLE);
    }
    return false;
}
