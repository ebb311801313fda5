/* What the harness asks of the simulator's settings (common/device/simulator.h), and how many
 * multiprocessors it has. Catches: runs that are compared and all in one order, a line that repeats
 * a failure without the setting it needs, a device of none. */
#include "cuda/launch.h"
#include "device/simulator.h"
#include "test/tap.h"

#include <cuda_runtime_api.h>
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

/* Whether the device has `expected` multiprocessors if SIM_MULTIPROCESSORS is `set`. */
static bool has(const char *set, int expected) {
    struct cudaDeviceProp properties;
    int attribute = 0;
    if (set)
        setenv("SIM_MULTIPROCESSORS", set, 1);
    else
        unsetenv("SIM_MULTIPROCESSORS");
    cudaGetDeviceProperties(&properties, 0);
    cudaDeviceGetAttribute(&attribute, cudaDevAttrMultiProcessorCount, 0);
    return properties.multiProcessorCount == expected && attribute == expected &&
           launch_multiprocessors() == (uint32_t)expected;
}

/* Whether a value of a variable is taken; what is said if not. */
static void takes(const char *name, const char *value, const char *expected) {
    char said[200] = "";
    setenv(name, value, 1);
    const bool taken = simulator_settings(said, sizeof said);
    ok(taken == !*expected && strcmp(said, expected) == 0, "%s=%s is %s", name, value,
       *expected ? "refused" : "taken");
    if (strcmp(said, expected) != 0) printf("# said: %s\n", said);
    unsetenv(name);
}

static void test_refusals(void) {
    takes("SIM_RACE", "1", "");
    takes("SIM_RACE", "0", "");
    takes("SIM_RACE", "", "");
    takes("SIM_RACE", "yes", "SIM_RACE=yes: allowed are 0 and 1");
    takes("SIM_ASYNC", "early", "");
    takes("SIM_ASYNC", "Early", "SIM_ASYNC=Early: allowed are late and early");
    takes("SIM_FMA", "fuse", "SIM_FMA=fuse: allowed are separate and fused");
#define NUMBERS(most) ": allowed are whole numbers from 0 to " most
    takes("SIM_MULTIPROCESSORS", "1024", "");
    takes("SIM_MULTIPROCESSORS", "1025", "SIM_MULTIPROCESSORS=1025" NUMBERS("1024"));
    takes("SIM_MULTIPROCESSORS", "99999999999999999999",
          "SIM_MULTIPROCESSORS=99999999999999999999" NUMBERS("1024"));
    takes("SIM_THREADS", "abc", "SIM_THREADS=abc" NUMBERS("1024"));
    takes("SIM_INDEX", "4294967295", "");
    takes("SIM_INDEX", "4294967296", "SIM_INDEX=4294967296" NUMBERS("4294967295"));
    takes("SIM_ORDER", "-1", "SIM_ORDER=-1" NUMBERS("9223372036854775807"));
    takes("SIM_ORDER", "+1", "SIM_ORDER=+1" NUMBERS("9223372036854775807"));
    takes("SIM_BUDGET", "9223372036854775807", "");
    takes("SIM_BUDGET", "9223372036854775808",
          "SIM_BUDGET=9223372036854775808" NUMBERS("9223372036854775807"));
    takes("SIM_BUDGET", "1e9", "SIM_BUDGET=1e9" NUMBERS("9223372036854775807"));
}

int main(void) {
    test_refusals();
    ok(has("132", 132), "as many multiprocessors as are asked for");
    ok(has("1025", 1024) && has("18446744073709551615", 1024), "at most 1024");
    ok(has("0", 4) && has("many", 4) && has(NULL, 4), "four where the number says nothing");
    unsetenv("SIM_ASYNC");
    unsetenv("SIM_FMA");
    unsetenv("SIM_ORDER");
    ok(shows(1, ""), "no settings, none shown");
    setenv("SIM_FMA", "fused", 1);
    setenv("SIM_ASYNC", "early", 1);
    setenv("SIM_RACE", "1", 1);
    setenv("SIM_MULTIPROCESSORS", "16", 1);
    ok(shows(1, "SIM_MULTIPROCESSORS=16 SIM_FMA=fused SIM_ASYNC=early "),
       "one run: those that matter for results");
    simulator_vary(0);
    ok(shows(1, "SIM_MULTIPROCESSORS=16 SIM_FMA=fused SIM_ASYNC=late SIM_ORDER=0 "),
       "the first of several runs: as usual");
    simulator_vary(1);
    ok(shows(1, "SIM_MULTIPROCESSORS=16 SIM_FMA=fused SIM_ASYNC=early SIM_ORDER=1 "),
       "the second: another order");
    simulator_vary(2);
    ok(shows(1, "SIM_MULTIPROCESSORS=16 SIM_FMA=fused SIM_ASYNC=late SIM_ORDER=2 "),
       "the third: late again");
    ok(shows(2, "SIM_MULTIPROCESSORS=16 SIM_FMA=fused "),
       "several runs: not what changes between them");
    return done_testing();
}
