/* The time of a stage by replaying its kernels, for problems of any size. */
#ifndef SASS_FORECAST_H
#define SASS_FORECAST_H

#include "limits/model.h"
#include "replay/replay.h"

/* One kernel, replayed for a short and for a long problem. */
typedef struct Foretold {
    Growth cycles; /* of a multiprocessor, per head */
    Replay replay; /* of the long problem */
    bool tensor;   /* whether it has instructions of the tensor cores */
    double alone;  /* the speed of a block without others, over that of as many as fit */
} Foretold;

typedef struct Forecast {
    Foretold kernel[MAX_LAUNCHED];
    int kernels;              /* 0: none is offered */
    char reason[REASON_SIZE]; /* then why not, one sentence's end */
} Forecast;

/* Replays the kernels that `model` was built of, from what was counted of them in `folder`.
 * `causal`: of the problem. */
Forecast forecast_build(const Model *model, const char *folder, bool causal);

/* A problem of one size. */
typedef struct Outlook {
    double ms;
    double issued; /* share of the issue slots that are used, over all kernels by their time */
    double waits[WAITS]; /* shares of the waits of warps, likewise */
} Outlook;

/* Of each kernel the time is the replay's and that of a launch, or that of its bound if that is
 * longer. The clock is tensor_mhz where tensor cores are used at all, else the highest. `bound`: of
 * the same problem. */
Outlook forecast_at(const Forecast *forecast, const Model *model, const Bound *bound,
                    const Shape *shape);

#endif
