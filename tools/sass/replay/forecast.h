/* The time of a stage by replaying its kernels, for problems of any size. */
#ifndef SASS_FORECAST_H
#define SASS_FORECAST_H

#include "limits/model.h"
#include "replay/replay.h"

/* One kernel, replayed at the least and the largest length that was counted. */
typedef struct Foretold {
    Growth cycles; /* of a multiprocessor, per head */
    Replay replay; /* at the largest length */
    double tensor; /* share of the cycles in which the tensor cores are busy */
} Foretold;

typedef struct Forecast {
    Foretold kernel[MAX_LAUNCHED];
    int kernels;              /* 0: none is offered */
    char reason[REASON_SIZE]; /* then why not, one sentence's end */
} Forecast;

/* Replays the kernels that `model` was built of, from what was counted of them in `folder`. */
Forecast forecast_build(const Model *model, const char *folder);

/* A problem of one size. */
typedef struct Outlook {
    double ms;
    double issued; /* share of the issue slots that are used, over all kernels by their time */
    double waits[WAITS]; /* shares of the waits of warps, likewise */
} Outlook;

/* Of each kernel the time is the replay's, or that of its bound if that is longer. The clock falls
 * from the highest, where the tensor cores stand still, linearly to that at which mma_tflops was
 * measured, where they never do. `bound`: of the same problem. */
Outlook forecast_at(const Forecast *forecast, const Model *model, const Bound *bound,
                    const Shape *shape);

#endif
