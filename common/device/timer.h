/* Times stages on one problem with CUDA events.
 *
 * Before every repetition a buffer of at least twice the L2 cache is written, outside the events,
 * so that no stage finds its inputs in the cache; while the device does that, the host has time to
 * enqueue the launch. Stages take turns (A B C A B C), so that a drift of clock or temperature hits
 * all alike. A stage drops out when its median is stable: when the 95% confidence interval of the
 * median (from order statistics) is narrower than 1% of it; or when its time budget is spent; or
 * after exactly `reps` repetitions if that is not 0.
 */
#ifndef TIMER_H
#define TIMER_H

#include "device/buffer.h"
#include "device/device.h"
#include "device/stage.h"

typedef struct Times {
    int count;          /* repetitions */
    double median, min; /* milliseconds */
    double spread;      /* (90th - 10th percentile) / median */
} Times;

/* The statistics of `count` >= 1 samples, which it sorts. */
Times times_summary(float *samples, int count);

/* True if the median of the samples is known to 1%. Sorts the samples. */
bool times_stable(float *samples, int count);

/* Times `count` stages, writes times[0 .. count - 1]. On an error returns false and stores in
 * *failed the position of the stage that was running, or -1. */
bool timer_run(const Problem *problem, const AttentionTensors *tensors, void *workspace,
               const Stage *const stages[], int count, int reps, const Device *device,
               Times times[], int *failed, Error *error);

#endif
