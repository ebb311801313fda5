/* SIM_RACE=1 beside all interleavings (interleavings.h), on random networks of warps. Catches: a
 * right one that is complained of, in any of the schedules; one that can go wrong in some
 * interleaving and passes, with right results, in the schedule that was run. Of those there are
 * few: an arrival may be counted in the phase before, for which nobody waits, and so end it too
 * early. NETWORKS=1000 SEED=3 tries others, and as many. */
#include "test/capture.h"
#include "test/interleavings.h"
#include "test/tap.h"

enum { MUTANTS = 6, TILE = WARP_LANES * 4, FIRST_TILE = 128, TILES = 64, SHOWN = 3 };

typedef struct Device {
    uint32_t misread;
    uint8_t to_first_tile[FIRST_TILE - 4];
    uint32_t tile[TILES][WARP_LANES];
} Device;

/* ---- A network as PTX ------------------------------------------------------------------------ */

static char text[1 << 17];
static int length;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
}

#define ONE "bar.warp.sync -1; @one "
#define EXPECT_TX "mbarrier.arrive.expect_tx.shared.b64 _, [bar+%d], %d;\n"
#define BULK_LOAD                                                                           \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [slot+%d], [p+%d], " \
    "%d, [bar+%d];\n"
#define SPIN "mbarrier.try_wait.parity.shared.b64 g, [bar+%d], %d; @!g bra "

static void put_step(const Step *step, int number) {
    const int bar = 8 * step->at, slot = TILE * step->slot, from = FIRST_TILE + TILE * step->tile;
    switch (step->act) {
    case WRITE:
        put("add.u32 v, lane, %d; st.shared.u32 [own+%d], v;\n", WARP_LANES * step->tile, slot);
        break;
    case READ: /* what another lane has written */
        put("ld.shared.u32 v, [mirror+%d]; sub.u32 v, v, %d; add.u32 v, v, lane; "
            "setp.ne.u32 g, v, 31; @g red.global.add.u32 [p], 1;\n",
            slot, WARP_LANES * step->tile);
        break;
    case LOAD:
        put(ONE EXPECT_TX "@one " BULK_LOAD, bar, TILE, slot, from, TILE, bar);
        break;
    case EXPECT:
        put(ONE EXPECT_TX, bar, TILE);
        break;
    case BULK:
        put(ONE BULK_LOAD, slot, from, TILE, bar);
        break;
    case CP_ASYNC:
        put("cp.async.ca.shared.global [own+%d], [q+%d], 4; "
            "cp.async.mbarrier.arrive.noinc.shared.b64 [bar+%d];\n",
            slot, from, bar);
        break;
    case ARRIVE:
        put(ONE "mbarrier.arrive.shared.b64 _, [bar+%d];\n", bar);
        break;
    case ARRIVE_ALL:
        put("mbarrier.arrive.shared.b64 _, [bar+%d];\n", bar);
        break;
    case WAIT:
        put("W%d: " SPIN "W%d;\n", number, bar, step->value, number);
        break;
    case WAIT_ONE:
        put("@!one bra M%d; W%d: " SPIN "W%d; M%d: bar.warp.sync -1;\n", number, number, bar,
            step->value, number, number);
        break;
    case SYNC:
        put("bar.sync %d, %d;\n", step->at, step->value);
        break;
    case SIGNAL:
        put("bar.arrive %d, %d;\n", step->at, step->value);
        break;
    }
}

static void write_ptx(const Network *network) {
    length = 0;
    put(PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t, lane, w, v, own, mirror; "
                 ".reg .b64 p, q; .reg .pred g, one, first;\n"
                 ".shared .align 8 .b64 bar[%d]; .shared .align 128 .b8 slot[%d];\n"
                 "ld.param.u64 p, [data]; mov.u32 t, %%tid.x; and.b32 lane, t, 31; "
                 "shr.u32 w, t, 5; setp.eq.u32 one, lane, 0; setp.eq.u32 first, t, 0;\n"
                 "mad.wide.u32 q, lane, 4, p; mov.u32 v, slot; mad.lo.u32 own, lane, 4, v; "
                 "add.u32 v, v, 124; mad.lo.s32 mirror, lane, -4, v;\n@!first bra MEET;\n",
        MBARRIERS, TILE * SLOTS);
    for (int i = 0; i < network->mbarriers; i++)
        put("mbarrier.init.shared.b64 [bar+%d], %d;\n", 8 * i, network->expected[i]);
    put("fence.mbarrier_init.release.cluster;\nMEET: bar.sync 0;\n");
    for (int w = 0; w < network->warps; w++) {
        put("setp.ne.u32 g, w, %d; @g bra END%d;\n", w, w);
        for (int i = 0; i < network->steps[w]; i++) put_step(&network->step[w][i], w * STEPS + i);
        put("ret;\nEND%d:\n", w);
    }
    put("ret;\n}\n");
}

/* ---- What the simulator makes of it ---------------------------------------------------------- */

static const struct {
    const char *async, *order;
} schedules[] = {{"late", "0"}, {"early", "0"}, {"late", "1"}, {"early", "3"}};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

static char said[8192];

/* Whether it runs without a word and reads what it should. */
static bool passes(const Network *network, int schedule) {
    static Device device;
    memset(&device, 0, sizeof device);
    for (uint32_t i = 0; i < TILES * WARP_LANES; i++)
        device.tile[i / WARP_LANES][i % WARP_LANES] = i;
    setenv("SIM_ASYNC", schedules[schedule].async, 1);
    setenv("SIM_ORDER", schedules[schedule].order, 1);
    const LaunchStatus status =
        capture_run(STDERR_FILENO, text, WARP_LANES * (uint32_t)network->warps, &device,
                    sizeof device, said, sizeof said);
    return status == LAUNCH_OK && device.misread == 0;
}

static void show(const Network *network, const char *what, int schedule) {
    static const char *const names[] = {"write", "read",     "load",   "expect",
                                        "bulk",  "cp.async", "arrive", "arrive_all",
                                        "wait",  "wait_one", "sync",   "signal"};
    printf("# %s, SIM_ASYNC=%s SIM_ORDER=%s; arrivals expected:", what, schedules[schedule].async,
           schedules[schedule].order);
    for (int i = 0; i < network->mbarriers; i++) printf(" %d", network->expected[i]);
    for (int w = 0; w < network->warps; w++) {
        printf("\n#   warp %d:", w);
        for (int i = 0; i < network->steps[w]; i++) {
            const Step *step = &network->step[w][i];
            printf(" %s", names[step->act]);
            if (step->act != WRITE && step->act != READ) printf(" b%d", step->at);
            if (step->act <= CP_ASYNC && step->act != EXPECT)
                printf(" s%d=%d", step->slot, step->tile);
            if (step->act >= WAIT) printf(" %d", step->value);
            printf(";");
        }
    }
    printf("\n# %.500s\n", said);
}

static struct { int right, wrong, undefined, unknown, complaints, missed, mistaken; } total;

/* The verdict on a network and what the simulator says of it. */
static void judge(const Network *network, bool drawn) {
    const char *why = "";
    const Verdict verdict = explore(network, &why);
    if (verdict == UNKNOWN || verdict == UNDEFINED) {
        total.unknown += verdict == UNKNOWN;
        total.undefined += verdict == UNDEFINED;
        return;
    }
    total.right += drawn && verdict == RIGHT;
    total.wrong += verdict == WRONG;
    if (drawn && verdict == WRONG && total.mistaken++ < SHOWN) printf("# drawn wrong: %s\n", why);
    /* A mutant that is right in every interleaving may yet be a race by the rules of PTX. */
    if (verdict == RIGHT && !drawn) return;
    write_ptx(network);
    for (int i = 0; i < SCHEDULES; i++) {
        const bool passed = passes(network, i);
        if (drawn && !passed && total.complaints++ < SHOWN) show(network, "right", i);
        if (!drawn && passed && total.missed++ < SHOWN) show(network, why, i);
    }
}

static int setting(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

int main(void) {
    const int networks = setting("NETWORKS", 60);
    network_state = (uint64_t)setting("SEED", 2);
    setenv("SIM_RACE", "1", 1);
    setenv("SIM_THREADS", "1", 1);
    for (int i = 0; i < networks; i++) {
        Network network;
        draw_network(&network);
        judge(&network, true);
        for (int m = 0; m < MUTANTS;) {
            Network mutant = network;
            if (!mutate(&mutant)) continue;
            m++;
            judge(&mutant, false);
        }
    }
    ok(total.mistaken == 0 && total.right > networks / 2, "what is drawn is right: %d networks",
       total.right);
    ok(total.complaints == 0, "nobody complains of them, in %d schedules", SCHEDULES);
    ok(total.missed * 1000 <= total.wrong && total.wrong > networks,
       "of %d wrong ones at most one in a thousand passes", total.wrong);
    printf("# %d missed; %d undefined and %d too large\n", total.missed, total.undefined,
           total.unknown);
    return done_testing();
}
