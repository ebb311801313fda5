/* Counters beside the CUDA runtime: none. */
#include "device/counters.h"

bool counters_simulated(void) { return false; }

void counters_reset(void) {}

bool counters_read(Counters *counters) {
    (void)counters;
    return false;
}

void counters_report(FILE *out) { (void)out; }

void counters_annotate(FILE *out, bool html) {
    (void)out;
    (void)html;
}
