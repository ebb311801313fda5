/* Inputs such as models make: scores with a structure of a chosen strength (see inputs.h). */
#ifndef MODEL_INPUTS_H
#define MODEL_INPUTS_H

#include "truth/init.h"
#include "truth/problem.h"

/* The inputs of `bench INIT=all`, in their order; the first is `normal`, by whose time the others
 * are divided. Sets *count. */
const InputChoice *model_bench_inputs(int *count);

/* The element of an init that takes a strength, before it is rounded; `normal` is its N(0, 1). */
float model_value(const Problem *problem, Init init, double strength, Tensor tensor, size_t index,
                  float normal);

#endif
