/* What the harness asks of the simulator's settings (common/device/simulator.h). Catches: runs that
 * are compared and all in one order, a line that repeats a failure without the setting it needs. */
#include "device/simulator.h"
#include "test/tap.h"

#include <stdlib.h>

/* Whether the settings that are shown, for so many runs, are `expected`. */
static bool shows(int runs, const char *expected) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    simulator_print_settings(out, runs);
    fclose(out);
    const bool same = strcmp(text, expected) == 0;
    if (!same) printf("# shown: '%s'\n", text);
    free(text);
    return same;
}

int main(void) {
    unsetenv("SIM_ASYNC");
    unsetenv("SIM_FMA");
    unsetenv("SIM_ORDER");
    ok(shows(1, ""), "no settings, none shown");
    setenv("SIM_FMA", "fused", 1);
    setenv("SIM_ASYNC", "early", 1);
    setenv("SIM_RACE", "1", 1);
    ok(shows(1, "SIM_FMA=fused SIM_ASYNC=early "), "one run: those that matter for results");
    simulator_vary(0);
    ok(shows(1, "SIM_FMA=fused SIM_ASYNC=late SIM_ORDER=0 "),
       "the first of several runs: as usual");
    simulator_vary(1);
    ok(shows(1, "SIM_FMA=fused SIM_ASYNC=early SIM_ORDER=1 "), "the second: another order");
    ok(shows(2, "SIM_FMA=fused "), "several runs: not what changes between them");
    return done_testing();
}
