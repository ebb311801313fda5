/* What a network can do: all interleavings of its warps' steps and of what is in flight, tried one
 * after the other. Nothing of the simulator is in here: it is what the simulator is judged by. */
#ifndef INTERLEAVINGS_H
#define INTERLEAVINGS_H

#include "test/network.h"

enum { FLIGHTS = 8, NOTHING = 255, MOST_STATES = 1 << 14, TABLE = 2 * MOST_STATES };

typedef enum Verdict {
    RIGHT,     /* every interleaving reads what it should, and ends */
    WRONG,     /* some interleaving does not */
    UNDEFINED, /* more arrives in a phase than it expects */
    UNKNOWN    /* too many interleavings */
} Verdict;

/* Bytes alone, so that two states are equal if their bytes are. */
typedef struct State {
    uint8_t done[WARPS]; /* steps */
    uint8_t phase[MBARRIERS], pending[MBARRIERS];
    int8_t transactions[MBARRIERS];         /* tiles that are expected and have not come */
    uint8_t arrived[NAMED], waiting[NAMED]; /* warps: how many, a mask of those that wait */
    uint8_t holds[SLOTS];                   /* a tile, or NOTHING */
    uint8_t flights;
    struct Flight {
        uint8_t slot, tile, at;
        uint8_t copies, after; /* of cp.async: 1, and the warp's steps until then */
        uint8_t warp;
    } flight[FLIGHTS];
} State;

/* The states that have been seen, in the order in which they were found. A place of the table is
 * taken if its stamp is of this exploration. */
static struct {
    State state[MOST_STATES];
    uint32_t place[TABLE], stamp[TABLE], exploration;
    int states;
} seen;

static void remember(const State *state) {
    const uint8_t *byte = (const uint8_t *)state;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < sizeof *state; i++) hash = (hash ^ byte[i]) * 1099511628211u;
    uint32_t at = (uint32_t)(hash >> 40) % TABLE;
    for (; seen.stamp[at] == seen.exploration; at = (at + 1) % TABLE)
        if (memcmp(&seen.state[seen.place[at]], state, sizeof *state) == 0) return;
    seen.stamp[at] = seen.exploration;
    seen.place[at] = (uint32_t)seen.states;
    seen.state[seen.states++] = *state;
}

/* A phase is over when nothing is pending and all bytes have come. */
static void settle(const Network *network, State *state, int at) {
    if (state->pending[at] || state->transactions[at]) return;
    state->phase[at]++;
    state->pending[at] = (uint8_t)network->expected[at];
}

/* Arrivals one by one: those that end a phase may be followed by some of the next one. False if a
 * phase whose bytes have not come gets too many. */
static bool arrive(const Network *network, State *state, int at, int arrivals) {
    for (; arrivals; arrivals--) {
        if (!state->pending[at]) return false;
        state->pending[at]--;
        settle(network, state, at);
    }
    return true;
}

/* The load or the copies of a step take off. */
static bool take_off(State *state, const Step *step, int warp) {
    if (state->flights == FLIGHTS) return false;
    const bool copies = step->act == CP_ASYNC;
    const struct Flight flight = {(uint8_t)step->slot,
                                  (uint8_t)step->tile,
                                  (uint8_t)step->at,
                                  copies,
                                  copies ? state->done[warp] : 0,
                                  copies ? (uint8_t)warp : 0};
    int i = state->flights++;
    /* Sorted, so that the order in which they took off does not count. */
    for (; i && memcmp(&state->flight[i - 1], &flight, sizeof flight) > 0; i--)
        state->flight[i] = state->flight[i - 1];
    state->flight[i] = flight;
    return true;
}

/* The arrivals of a warp's copies come after all of its copies before. */
static bool may_land(const State *state, int which) {
    const struct Flight *flight = &state->flight[which];
    for (int i = 0; i < state->flights && flight->copies; i++) {
        const struct Flight *other = &state->flight[i];
        if (other->copies && other->warp == flight->warp && other->after < flight->after)
            return false;
    }
    return true;
}

static bool land(const Network *network, State *state, int which) {
    const struct Flight flight = state->flight[which];
    state->holds[flight.slot] = flight.tile;
    state->flights--;
    for (int i = which; i < state->flights; i++) state->flight[i] = state->flight[i + 1];
    memset(&state->flight[state->flights], 0, sizeof flight);
    if (flight.copies) return arrive(network, state, flight.at, WARP_LANES);
    state->transactions[flight.at]--;
    settle(network, state, flight.at);
    return true;
}

typedef enum Outcome { MOVED, BLOCKED, MISREAD, TOO_MANY, TOO_MUCH } Outcome;

static Outcome meet(State *state, const Step *step, int warp) {
    const int at = step->at;
    state->arrived[at]++;
    if (step->act == SYNC)
        state->waiting[at] |= (uint8_t)(1 << warp);
    else
        state->done[warp]++;
    if (state->arrived[at] * WARP_LANES < step->value) return MOVED;
    for (int w = 0; w < WARPS; w++)
        if (state->waiting[at] >> w & 1) state->done[w]++;
    state->arrived[at] = state->waiting[at] = 0;
    return MOVED;
}

/* The next step of a warp, which has one. */
static Outcome go_on(const Network *network, State *state, int warp) {
    const Step *step = &network->step[warp][state->done[warp]];
    const int at = step->at;
    for (int i = 0; i < NAMED; i++)
        if (state->waiting[i] >> warp & 1) return BLOCKED;
    if (step->act == SYNC || step->act == SIGNAL) return meet(state, step, warp);
    if ((step->act == WAIT || step->act == WAIT_ONE) &&
        (state->phase[at] & 1) == step->value) /* the phase before has the other parity */
        return BLOCKED;
    if (step->act == READ && state->holds[step->slot] != step->tile) return MISREAD;
    if (step->act == WRITE) state->holds[step->slot] = (uint8_t)step->tile;
    if (step->act == CP_ASYNC && !take_off(state, step, warp)) return TOO_MUCH;
    if (step->act == LOAD || step->act == EXPECT) state->transactions[at]++;
    if ((step->act == LOAD || step->act == BULK) && !take_off(state, step, warp)) return TOO_MUCH;
    if ((step->act == LOAD || step->act == EXPECT || step->act == ARRIVE) &&
        !arrive(network, state, at, 1))
        return TOO_MANY;
    if (step->act == ARRIVE_ALL && !arrive(network, state, at, WARP_LANES)) return TOO_MANY;
    state->done[warp]++;
    return MOVED;
}

/* Tries all interleavings; *why says what is wrong. */
static Verdict explore(const Network *network, const char **why) {
    State state = {.flights = 0};
    memset(state.holds, NOTHING, sizeof state.holds);
    for (int i = 0; i < network->mbarriers; i++) state.pending[i] = (uint8_t)network->expected[i];
    seen.exploration++;
    seen.states = 0;
    remember(&state);
    Verdict verdict = RIGHT;
    for (int i = 0; i < seen.states; i++) {
        const State *from = &seen.state[i];
        int live = 0, moves = 0;
        if (seen.states + WARPS + FLIGHTS > MOST_STATES) return UNKNOWN;
        for (int w = 0; w < network->warps; w++) {
            if (from->done[w] == network->steps[w]) continue;
            State to = *from;
            live++;
            switch (go_on(network, &to, w)) {
            case MOVED:
                moves++, remember(&to);
                break;
            case BLOCKED:
                break;
            case MISREAD:
                *why = "another tile is read";
                return WRONG;
            case TOO_MANY:
                *why = "too many arrivals";
                verdict = UNDEFINED;
                break;
            case TOO_MUCH:
                return UNKNOWN;
            }
        }
        for (int f = 0; f < from->flights; f++) {
            State to = *from;
            if (!may_land(from, f)) continue;
            moves++;
            if (land(network, &to, f))
                remember(&to);
            else
                verdict = UNDEFINED;
        }
        *why = live ? "a deadlock" : "the block ends before a load";
        if (live ? !moves : from->flights) return WRONG;
    }
    return verdict;
}

#endif
