/* Warps that hand each other tiles through rings of slots, as those of the upper stages do:
 * programs of a few steps per warp, drawn at random, and mutants of them. */
#ifndef NETWORK_H
#define NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WARPS = 4, STEPS = 96, MBARRIERS = 24, SLOTS = 12, NAMED = 16, WARP_LANES = 32 };

typedef enum Act {
    WRITE,      /* all lanes store a tile in a slot */
    READ,       /* all lanes look whether it is there */
    LOAD,       /* one lane: expect_tx and a bulk load */
    EXPECT,     /* one lane: expect_tx alone */
    BULK,       /* one lane: the bulk load alone */
    CP_ASYNC,   /* all lanes: cp.async, and the mbarrier arrivals of it */
    ARRIVE,     /* one lane */
    ARRIVE_ALL, /* all lanes */
    WAIT,       /* all lanes, for the phase of a parity */
    WAIT_ONE,   /* one lane, and then __syncwarp */
    SYNC,       /* bar.sync */
    SIGNAL      /* bar.arrive */
} Act;

typedef struct Step {
    Act act;
    int at;         /* the mbarrier or the named barrier */
    int slot, tile; /* of what is written, read or loaded */
    int value;      /* of a wait its parity, of a named barrier its threads */
} Step;

typedef struct Network {
    int warps, mbarriers, slots, tiles, named;
    int expected[MBARRIERS]; /* arrivals per phase */
    int steps[WARPS];
    Step step[WARPS][STEPS];
} Network;

static uint64_t network_state = 1;

static int draw(int below) {
    network_state = network_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((network_state >> 33) % (unsigned)below);
}

static void add(Network *network, int warp, Act act, int at, int slot, int tile, int value) {
    network->step[warp][network->steps[warp]++] = (Step){act, at, slot, tile, value};
}

/* How a ring's tiles come: by stores, bulk loads, bulk loads whose bytes another warp expects,
 * cp.async, or by stores and with named barriers. */
typedef enum Kind { STORED, LOADED, EXPECTED_ELSEWHERE, COPIED, BY_NAME, KINDS } Kind;

/* A ring: one warp fills the slots in turn, others, which come after it, read them. */
typedef struct Ring {
    Kind kind;
    int producer, readers; /* a warp, a mask of warps */
    int expecter;          /* of EXPECTED_ELSEWHERE: the warp that expects the bytes */
    int slots, slot;       /* how many, and the first */
    int full, empty;       /* the first mbarrier or named barrier of each */
    Act arrive, release, wait;
    bool starts_empty; /* the first waits for an empty slot are left out */
} Ring;

static int count_of(int mask) { return __builtin_popcount((unsigned)mask); }

/* A ring of at most three slots, which takes its slots and barriers; false if they are not there.
 */
static bool draw_ring(Network *network, Ring *ring) {
    ring->producer = draw(network->warps - 1);
    const int later = network->warps - 1 - ring->producer;
    ring->readers = (1 + draw((1 << later) - 1)) << (ring->producer + 1);
    ring->kind = (Kind)draw(KINDS);
    ring->slots = 1 + draw(3);
    ring->arrive = draw(2) ? ARRIVE : ARRIVE_ALL;
    ring->release = draw(2) ? ARRIVE : ARRIVE_ALL;
    ring->wait = draw(3) ? WAIT : WAIT_ONE;
    ring->starts_empty = draw(2);
    ring->expecter = draw(network->warps);
    if (ring->kind == EXPECTED_ELSEWHERE &&
        (ring->expecter == ring->producer || ring->readers >> ring->expecter & 1))
        ring->kind = LOADED;
    int *barriers = ring->kind == BY_NAME ? &network->named : &network->mbarriers;
    if (network->slots + ring->slots > SLOTS ||
        *barriers + 2 * ring->slots > (ring->kind == BY_NAME ? NAMED : MBARRIERS))
        return false;
    ring->slot = network->slots;
    ring->full = *barriers;
    ring->empty = *barriers + ring->slots;
    network->slots += ring->slots;
    *barriers += 2 * ring->slots;
    if (ring->kind == BY_NAME) return true;
    const bool all = ring->kind == COPIED || (ring->kind == STORED && ring->arrive == ARRIVE_ALL);
    for (int s = 0; s < ring->slots; s++) {
        network->expected[ring->full + s] = all ? WARP_LANES : 1;
        network->expected[ring->empty + s] =
            count_of(ring->readers) * (ring->release == ARRIVE_ALL ? WARP_LANES : 1);
    }
    return true;
}

/* Turn `turn` of `turns` of a ring whose barriers are named. */
static void turn_by_name(Network *network, const Ring *ring, int turn, int turns, int tile) {
    const int s = turn % ring->slots, slot = ring->slot + s, full = ring->full + s;
    const int threads = WARP_LANES * (1 + count_of(ring->readers)), from = ring->producer;
    if (turn >= ring->slots) add(network, from, SYNC, ring->empty + s, 0, 0, threads);
    add(network, from, WRITE, 0, slot, tile, 0);
    add(network, from, SIGNAL, full, 0, 0, threads);
    for (int w = 0; w < network->warps; w++) {
        if (!(ring->readers >> w & 1)) continue;
        add(network, w, SYNC, full, 0, 0, threads);
        add(network, w, READ, 0, slot, tile, 0);
        if (turn + ring->slots < turns) add(network, w, SIGNAL, ring->empty + s, 0, 0, threads);
    }
}

/* The same of one with mbarriers. */
static void turn_of_ring(Network *network, const Ring *ring, int turn, int tile) {
    const int s = turn % ring->slots, slot = ring->slot + s, use = turn / ring->slots;
    const int full = ring->full + s, empty = ring->empty + s, from = ring->producer;
    if (ring->kind == EXPECTED_ELSEWHERE) {
        if (use > 0) add(network, ring->expecter, ring->wait, full, 0, 0, (use - 1) & 1);
        add(network, ring->expecter, EXPECT, full, 0, 0, 0);
    }
    if (use > 0 || !ring->starts_empty) add(network, from, ring->wait, empty, 0, 0, ~use & 1);
    switch (ring->kind) {
    case STORED:
        add(network, from, WRITE, 0, slot, tile, 0);
        break;
    case LOADED:
        add(network, from, LOAD, full, slot, tile, 0);
        break;
    case EXPECTED_ELSEWHERE:
        add(network, from, BULK, full, slot, tile, 0);
        break;
    default:
        add(network, from, CP_ASYNC, full, slot, tile, 0);
        break;
    }
    if (ring->kind == STORED) add(network, from, ring->arrive, full, 0, 0, 0);
    for (int w = 0; w < network->warps; w++) {
        if (!(ring->readers >> w & 1)) continue;
        add(network, w, ring->wait, full, 0, 0, use & 1);
        add(network, w, READ, 0, slot, tile, 0);
        add(network, w, ring->release, empty, 0, 0, 0);
    }
}

/* A network that is right: in every warp the turns and rings come in the same order. In some all
 * warps meet at a block barrier or at an mbarrier after each turn, or each second one. */
static void draw_network(Network *network) {
    Ring ring[3];
    const int most = 1 + draw(3), turns = 3 + draw(3), period = 1 + draw(2), meeting = draw(8);
    int rings = 0;
    memset(network, 0, sizeof *network);
    network->warps = 2 + draw(3);
    network->named = 1;
    for (int i = 0; i < most; i++) rings += draw_ring(network, &ring[rings]);
    const int bar = network->mbarriers;
    const bool by_mbarrier = meeting == 1 && bar < MBARRIERS;
    if (by_mbarrier) network->expected[network->mbarriers++] = network->warps;
    for (int turn = 0, meetings = 0; turn < turns; turn++) {
        for (int r = 0; r < rings; r++) {
            const int tile = network->tiles++;
            if (ring[r].kind == BY_NAME)
                turn_by_name(network, &ring[r], turn, turns, tile);
            else
                turn_of_ring(network, &ring[r], turn, tile);
        }
        if (meeting > 1 || turn % period) continue;
        for (int w = 0; w < network->warps; w++) {
            if (!by_mbarrier) {
                add(network, w, SYNC, 0, 0, 0, WARP_LANES * network->warps);
                continue;
            }
            add(network, w, ARRIVE, bar, 0, 0, 0);
            add(network, w, WAIT, bar, 0, 0, meetings & 1);
        }
        meetings++;
    }
}

/* One mistake; false if there is no place for the kind that was drawn. */
static bool mutate(Network *network) {
    const int warp = draw(network->warps), steps = network->steps[warp];
    if (!steps) return false;
    const int at = draw(steps);
    Step *step = &network->step[warp][at];
    const bool waits = step->act == WAIT || step->act == WAIT_ONE;
    const bool arrives = step->act == ARRIVE || step->act == ARRIVE_ALL;
    switch (draw(6)) {
    case 0: /* a step is missing */
        memmove(step, step + 1, (size_t)(steps - at - 1) * sizeof *step);
        network->steps[warp]--;
        return true;
    case 1: /* or is there twice */
        if ((!waits && !arrives && step->act != SYNC && step->act != SIGNAL) || steps == STEPS)
            return false;
        memmove(step + 1, step, (size_t)(steps - at) * sizeof *step);
        network->steps[warp]++;
        return true;
    case 2: /* another parity */
        step->value ^= waits;
        return waits;
    case 3: /* two steps in the wrong order */
        if (at + 1 == steps) return false;
        {
            const Step first = *step;
            *step = step[1];
            step[1] = first;
        }
        return true;
    case 4: /* another mbarrier */
        if ((!waits && !arrives) || network->mbarriers < 2) return false;
        step->at = (step->at + 1 + draw(network->mbarriers - 1)) % network->mbarriers;
        return true;
    default: { /* another number of arrivals */
        if (!network->mbarriers) return false;
        int *expected = &network->expected[draw(network->mbarriers)];
        const int unit = *expected % WARP_LANES ? 1 : WARP_LANES;
        *expected += draw(2) || *expected == unit ? unit : -unit;
        return true;
    }
    }
}

#endif
