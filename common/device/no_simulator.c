/* Beside the CUDA runtime: no counters, and nothing to set. */
#include "device/counters.h"
#include "device/simulator.h"

bool counters_simulated(void) { return false; }

void counters_reset(void) {}

bool counters_read(Counters *counters) {
    (void)counters;
    return false;
}

void counters_report(FILE *out) { (void)out; }

void counters_annotate(FILE *out, const char *title) {
    (void)out;
    (void)title;
}

void counters_lines(FILE *out, const char *name) {
    (void)out;
    (void)name;
}

void simulator_vary(int run) { (void)run; }

void simulator_watch(cudaStream_t stream) { (void)stream; }

const char *simulator_unwatch(void) { return NULL; }

bool simulator_strayed(void) { return false; }

const char *simulator_unlisted(const AttentionKernel kernels[]) {
    (void)kernels;
    return NULL;
}

bool simulator_rehearse(int which) {
    (void)which;
    return false;
}

int simulator_rehearsed(void) { return 0; }

bool simulator_settings(char *problem, size_t size) {
    (void)problem;
    (void)size;
    return true;
}

bool simulator_too_long(double operations) {
    (void)operations;
    return false;
}

void simulator_print_settings(FILE *out, int runs) {
    (void)out;
    (void)runs;
}
