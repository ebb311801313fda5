#include "cli/setup.h"

TrialSetup setup_of(const Options *options, const Problem *problem, double work) {
    return (TrialSetup){.problem = *problem,
                        .init = options_init(options),
                        .strength = options->strength,
                        .seed = options->seed,
                        .lse = options->lse != 0,
                        .work = work,
                        .timing = {.reps = options->reps, .sustained = options->sustained}};
}
