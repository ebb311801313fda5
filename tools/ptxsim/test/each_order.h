/* The orders in which asynchronous copies may land, with and without the search for races. */
#ifndef EACH_ORDER_H
#define EACH_ORDER_H

#include "test/run_ptx.h"

/* A GPU has its own order, and is asked once. */
static void each_order(void (*test)(const char *order)) {
    if (is_on_gpu()) {
        test("GPU");
        return;
    }
    for (int i = 0; i < 4; i++) {
        char order[40];
        setenv("SIM_ASYNC", i & 1 ? "early" : "late", 1);
        setenv("SIM_RACE", i & 2 ? "1" : "0", 1);
        snprintf(order, sizeof order, "%s%s", i & 1 ? "early" : "late", i & 2 ? ", races" : "");
        test(order);
    }
}

#endif
