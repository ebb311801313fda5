/* The time of a problem from the cycles of a replay. Catches: the clock of other kernels, a launch
 * that takes no time, a bound that is passed below, a block alone that is as fast as several,
 * shares that are not weighed by the kernels' times. */
#include "replay/forecast.h"
#include "test/tap.h"

static const Machine machine = {
    .sms = 4, .clock_mhz = 2000, .tensor_mhz = 1000, .launch_us = 3, .blocks = 32};

/* Kernels whose cycles per head are 1,000 for each row, in blocks of 64 rows. */
static Forecast forecast_of(int kernels) {
    Forecast forecast = {.kernels = kernels};
    for (int l = 0; l < kernels; l++)
        forecast.kernel[l] = (Foretold){.cycles = {0, 1000, 0}, .alone = 1};
    return forecast;
}

static Outlook outlook(const Forecast *forecast, double bound_ms, int length) {
    Model model = {.machine = &machine, .demands = forecast->kernels};
    const Shape shape = {.batch = 1, .heads = 1, .length = length, .d = 64};
    Bound bound = {0};
    for (int l = 0; l < forecast->kernels; l++) {
        model.demand[l] = (Demand){.rows = 64, .resident = 2};
        bound.kernel_ms[l] = bound_ms;
    }
    return forecast_at(forecast, &model, &bound, &shape);
}

int main(void) {
    Forecast one = forecast_of(1);
    /* Four blocks of 64,000 cycles, one on each multiprocessor, at 2 GHz; and 3 us. */
    is_near(outlook(&one, 0, 256).ms, 0.032 + 0.003, 1e-9, "cycles at the clock, and a launch");
    is_near(outlook(&one, 0.1, 256).ms, 0.1, 1e-9, "no less than the bound");
    one.kernel[0].tensor = true;
    is_near(outlook(&one, 0, 256).ms, 0.064 + 0.003, 1e-9, "tensor cores have another clock");
    one.kernel[0].tensor = false;
    one.kernel[0].alone = 0.5;
    is_near(outlook(&one, 0, 256).ms, 0.064 + 0.003, 1e-9, "a block alone reaches half the speed");
    is_near(outlook(&one, 0, 512).ms, 0.064 + 0.003, 1e-9, "two together have all of it");

    Forecast two = forecast_of(2);
    two.kernel[0].replay.issued = 0.2;
    two.kernel[1].replay.issued = 0.8;
    two.kernel[0].replay.waits[WAIT_FMA] = 1;
    two.kernel[1].replay.waits[WAIT_LSU] = 1;
    two.kernel[1].cycles.linear = 3000;
    const Outlook both = outlook(&two, 0, 256);
    const double first = 0.032 + 0.003, second = 0.096 + 0.003;
    is_near(both.ms, first + second, 1e-9, "one kernel after the other");
    is_near(both.issued, (0.2 * first + 0.8 * second) / (first + second), 1e-9,
            "issue slots weighed by their times");
    is_near(both.waits[WAIT_FMA], first / (first + second), 1e-9, "and so are waits");
    const Forecast none = {0};
    const Outlook nothing = outlook(&none, 0, 256);
    is_near(nothing.ms, 0, 0, "without a replay there is no time");
    is_near(nothing.issued + nothing.waits[WAIT_FMA], 0, 0, "and no share of it");
    return done_testing();
}
