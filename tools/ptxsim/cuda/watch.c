#include "cuda/watch.h"

#include <stddef.h>

#include "device/simulator.h"

static bool watching, rehearsing;
static const char *first;
static int refused, asked;

void watch_call(const char *function) {
    if (watching && !first) first = function;
}

bool watching_launch(void) { return watching || rehearsing; }

void simulator_watch(void) {
    watching = true;
    first = NULL;
}

const char *simulator_unwatch(void) {
    watching = false;
    return first;
}

bool only_rehearsed(cudaError_t *outcome) {
    if (!rehearsing) return false;
    *outcome = asked++ == refused ? (cudaError_t)SIMULATOR_REFUSAL : cudaSuccess;
    return true;
}

bool simulator_rehearse(int which) {
    rehearsing = true;
    refused = which;
    asked = 0;
    return true;
}

int simulator_rehearsed(void) {
    rehearsing = false;
    return asked;
}
