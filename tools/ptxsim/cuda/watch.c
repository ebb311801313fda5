#include "cuda/watch.h"

#include <stddef.h>

#include "device/simulator.h"

static bool watching, rehearsing, strayed;
static const char *first;
static cudaStream_t given;
static int refused, asked;

void watch_call(const char *function) {
    if (watching && !first) first = function;
}

void watch_stream(cudaStream_t stream) { strayed |= watching && stream != given; }

bool watching_launch(void) { return watching || rehearsing; }

void simulator_watch(cudaStream_t stream) {
    watching = true;
    strayed = false;
    first = NULL;
    given = stream;
}

const char *simulator_unwatch(void) {
    watching = false;
    return first;
}

bool simulator_strayed(void) { return strayed; }

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
