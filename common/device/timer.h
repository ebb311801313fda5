/* Times stages on one problem with CUDA events.
 *
 * Before every repetition a buffer of at least twice the L2 cache is written, outside the events,
 * so that no stage finds its inputs in the cache; while the device does that, the host has time to
 * enqueue the launch. Stages take turns (A B C A B C), so that a drift of clock or temperature hits
 * all alike. A stage drops out when its median is stable: when the 95% confidence interval of the
 * median (from order statistics) is narrower than 1% of it; or when its time budget is spent; or
 * after exactly `reps` repetitions if that is not 0.
 *
 * Sustained is the other way: a stage is launched back to back for some seconds, then the next one.
 * Nothing is flushed, the clock falls to what the power limit allows, and if the host needs longer
 * for a launch than the device, its time is the time.
 *
 * A few launches of each stage are checked, of which a stage cannot know which: the second, and
 * others at random. Of a sustained run it is what
 * the last round left.
 */
#ifndef TIMER_H
#define TIMER_H

#include "device/buffer.h"
#include "device/device.h"
#include "device/stage.h"

enum { TIMER_MOST_REPS = 1000 }; /* repetitions of a stage */

/* How long to time. */
typedef struct Timing {
    int reps;      /* at most TIMER_MOST_REPS; 0: until the median is stable */
    int sustained; /* seconds back to back; 0: one repetition at a time */
} Timing;

/* A time of day as nvidia-smi prints it, "2026/01/31 12:34:56.789". */
typedef struct Moment {
    char text[32];
} Moment;

typedef struct Times {
    int count;           /* repetitions */
    double median, min;  /* milliseconds; sustained: both are the mean */
    double spread;       /* (90th - 10th percentile) / median */
    double host;         /* median milliseconds until attention_launch returned; sustained: 0 */
    Moment began, ended; /* sustained; "": not */
} Times;

/* The statistics of `count` >= 1 samples, which it sorts. */
Times times_summary(float *samples, int count);

/* True if the median of the samples is known to 1%. Sorts the samples. */
bool times_stable(float *samples, int count);

/* How many launches the next round of a sustained run has, if `count` took `ms` and `wanted_ms` are
 * asked for: somewhat more than that, but at most ten times as many. */
int sustained_count(int count, double ms, double wanted_ms);

/* What is done around some of the launches: `prepare` before it, outside the events, `verify` after
 * it, for the stage in position `which`. False ends the timing with *error. */
typedef struct TimerCheck {
    bool (*prepare)(void *context, Error *error);
    bool (*verify)(void *context, int which, Error *error);
    void *context;
} TimerCheck;

/* Times `count` stages, writes times[0 .. count - 1]. On an error returns false and stores in
 * *failed the position of the stage that was running, or -1. */
bool timer_run(const Problem *problem, const AttentionTensors *tensors, void *workspace,
               const Stage *const stages[], int count, Timing timing, const Device *device,
               const TimerCheck *check, Times times[], int *failed, Error *error);

#endif
