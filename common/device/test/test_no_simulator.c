/* What the harness is told of the simulator where it runs beside the CUDA runtime. Catches: a GPU
 * that is said to have counters, a launch that is not executed, an output that nobody asked for. */
#include "device/counters.h"
#include "device/simulator.h"
#include "test/tap.h"

#include <stdlib.h>

int main(void) {
    Counters counters = {.barriers = 7};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return 1;
    counters_reset();
    ok(!counters_simulated(), "nothing is simulated");
    ok(!counters_read(&counters) && counters.barriers == 7, "there are no counters");
    simulator_vary(1);
    simulator_watch(NULL);
    ok(!simulator_unwatch(), "no function of the runtime has been seen");
    ok(!simulator_strayed(), "and no stream");
    ok(!simulator_unlisted(&(AttentionKernel){NULL, NULL, 0, 0}), "no kernel has been seen");
    ok(!simulator_rehearse(0) && simulator_rehearsed() == 0, "nothing is launched for show");
    ok(simulator_settings(NULL, 0), "no setting is wrong");
    ok(!simulator_too_long(1e30), "nothing is too large to simulate");
    counters_report(out);
    counters_annotate(out, "a page");
    simulator_print_settings(out, 2);
    fclose(out);
    ok(size == 0, "and nothing is said");
    free(text);
    return done_testing();
}
