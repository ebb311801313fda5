/* The counters of the simulator, for signatures that ask for them. */
#ifndef SASS_SIMULATED_H
#define SASS_SIMULATED_H

#include "base/error.h"

/* True if a line of a signature's text that is about the variant (d128_fp16_full) names a counter
 * outside its comment. */
bool asks_for_counters(const char *text, const char *variant);

/* True if `word` names a counter, one of the keys of `attention run FORMAT=json`. */
bool is_counter(const char *word);

/* The value of a counter in what simulate() gave; false if it is not there. */
bool counter_value(const char *counters, const char *name, double *value);

/* Runs the variant in `file` (build/sm_80/07_swizzle/d128_fp16_full.so) on the simulator, one small
 * problem with ragged tiles, and checks its result. The program is that of the environment variable
 * SIMULATOR, else build/attention-sim. *counters is text for counter_value, to be freed. A program
 * that is not there: STATUS_SKIP; a stage that fails: STATUS_FAIL. */
bool simulate(const char *file, const char *variant, char **counters, Error *error);

#endif
