#include "device/timer.h"

#include "base/clock.h"
#include "base/generator.h"
#include "device/stage_launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LEAST_SAMPLES = 3, STABLE_SAMPLES = 15 };
static const double BUDGET_MS = 2000; /* of a stage's own time */
static const double WARM_UP_MS = 50;  /* a stage's launches before the first sample */
static const size_t LEAST_FLUSH = (size_t)256 << 20; /* bytes: some 60 us or more of writing */

enum { CHECKED = 6, ONE_IN = 8 }; /* launches of a stage that are checked, and how often one is */

typedef struct Track {
    float samples[TIMER_MOST_REPS], host[TIMER_MOST_REPS]; /* ms of the device, of the host */
    int count, checked;
    double total_ms;
} Track;

static int compare_float(const void *left, const void *right) {
    const float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/* Of sorted samples, interpolated between neighbours; fraction 0 .. 1. */
static double quantile(const float *sorted, int count, double fraction) {
    const double place = fraction * (count - 1);
    const int below = (int)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * ((double)sorted[above] - sorted[below]);
}

Times times_summary(float *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, compare_float);
    const double median = quantile(samples, count, 0.5);
    const double range = quantile(samples, count, 0.9) - quantile(samples, count, 0.1);
    return (Times){.count = count,
                   .median = median,
                   .min = samples[0],
                   .spread = median > 0 ? range / median : 0};
}

bool times_stable(float *samples, int count) {
    if (count < STABLE_SAMPLES) return false;
    qsort(samples, (size_t)count, sizeof *samples, compare_float);
    /* The number of samples below the true median is binomial(count, 1/2). */
    const double half_width = 1.96 * sqrt(count) / 2;
    const int low = (int)floor((count - 1) / 2.0 - half_width);
    const int high = (int)ceil((count - 1) / 2.0 + half_width);
    return samples[high] - samples[low] <= 0.01 * quantile(samples, count, 0.5);
}

static bool finished(Track *track, int reps) {
    if (reps) return track->count >= reps || track->count == TIMER_MOST_REPS;
    if (track->count < LEAST_SAMPLES) return false;
    return track->total_ms >= BUDGET_MS || track->count == TIMER_MOST_REPS ||
           times_stable(track->samples, track->count);
}

typedef struct Timer {
    const Device *device;
    const Problem *problem;
    const AttentionTensors *tensors;
    void *workspace;
    cudaEvent_t start, stop;
    const TimerCheck *check;
    Buffer flush;
} Timer;

/* A launch, and the milliseconds of the host until it returned. */
static bool begin(const Timer *t, const Stage *stage, float *host, Error *error) {
    const double began = clock_seconds();
    if (!launch_begin(stage, t->problem, t->tensors, t->workspace, t->device, error)) return false;
    *host = (float)(1e3 * (clock_seconds() - began));
    return true;
}

/* The milliseconds of the device, and of the host while the device was busy with the flush. */
static bool time_launch(const Timer *t, const Stage *stage, float *ms, float *host, Error *error) {
    const cudaStream_t stream = device_stream();
    return CUDA_OK(cudaMemsetAsync(t->flush.data, 0, t->flush.bytes, stream), error) &&
           CUDA_OK(cudaEventRecord(t->start, stream), error) && begin(t, stage, host, error) &&
           CUDA_OK(cudaEventRecord(t->stop, stream), error) && launch_end(t->device, error) &&
           CUDA_OK(cudaEventElapsedTime(ms, t->start, t->stop), error);
}

/* Whether the launch with this number is one of those that are checked. */
static bool is_checked(const Track *track, int which) {
    const uint64_t number = (uint64_t)which << 32 | (uint64_t)track->count;
    return track->checked < CHECKED && (track->count == 1 || mix64(number) % ONE_IN == 0);
}

/* One launch that counts, checked or not. */
static bool take_sample(const Timer *t, const Stage *stage, int which, Track *track, Error *error) {
    const TimerCheck *check = is_checked(track, which) ? t->check : NULL;
    float *ms = &track->samples[track->count], *host = &track->host[track->count];
    if (check && !check->prepare(check->context, error)) return false;
    if (!time_launch(t, stage, ms, host, error)) return false;
    if (check && !check->verify(check->context, which, error)) return false;
    track->checked += check != NULL;
    track->count++;
    track->total_ms += *ms;
    return true;
}

static bool warm_up(const Timer *timer, const Stage *stage, Error *error) {
    double total_ms = 0;
    for (int i = 0; i < 20 && total_ms < WARM_UP_MS; i++) {
        float ms, host;
        if (!time_launch(timer, stage, &ms, &host, error)) return false;
        total_ms += ms;
    }
    return true;
}

/* One round of turns after another until every stage is finished. */
static bool take_turns(const Timer *timer, const Stage *const stages[], int count, int reps,
                       Track tracks[], int *failed, Error *error) {
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < count; i++) {
            if (finished(&tracks[i], reps)) continue;
            *failed = i;
            if (!take_sample(timer, stages[i], i, &tracks[i], error)) return false;
            more = true;
        }
    }
    return true;
}

static bool time_all(const Timer *timer, const Stage *const stages[], int count, int reps,
                     Track tracks[], int *failed, Error *error) {
    for (int i = 0; i < count; i++) {
        *failed = i;
        if (!warm_up(timer, stages[i], error)) return false;
    }
    return take_turns(timer, stages, count, reps, tracks, failed, error);
}

/* ---- Sustained ------------------------------------------------------------------------------- */

static Moment moment(void) {
    Moment now;
    struct timespec time;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &time);
    localtime_r(&time.tv_sec, &local);
    const size_t length = strftime(now.text, sizeof now.text, "%Y/%m/%d %H:%M:%S", &local);
    snprintf(now.text + length, sizeof now.text - length, ".%03d", (int)(time.tv_nsec / 1000000));
    return now;
}

/* Launches `count` times and writes the milliseconds of all together. */
static bool back_to_back(const Timer *t, const Stage *stage, int count, float *ms, Error *error) {
    const cudaStream_t stream = device_stream();
    if (!CUDA_OK(cudaEventRecord(t->start, stream), error)) return false;
    for (int i = 0; i < count; i++)
        if (!launch_begin(stage, t->problem, t->tensors, t->workspace, t->device, error))
            return false;
    return CUDA_OK(cudaEventRecord(t->stop, stream), error) && launch_end(t->device, error) &&
           CUDA_OK(cudaEventElapsedTime(ms, t->start, t->stop), error);
}

int sustained_count(int count, double ms, double wanted_ms) {
    const double more = 1.05 * wanted_ms / fmax(ms, 1e-3);
    return (int)ceil(count * fmin(more, 10));
}

/* Rounds of more and more launches; the first that takes long enough counts, and what it left is
 * checked. */
static bool sustain(const Timer *timer, const Stage *stage, int which, int seconds, Times *times,
                    Error *error) {
    const TimerCheck *check = timer->check;
    const double wanted_ms = 1000.0 * seconds;
    float ms = 0;
    for (int count = 1; ms < wanted_ms; count = sustained_count(count, ms, wanted_ms)) {
        if (!check->prepare(check->context, error)) return false;
        *times = (Times){.count = count, .began = moment()};
        if (!back_to_back(timer, stage, count, &ms, error)) return false;
        times->ended = moment();
        times->median = times->min = (double)ms / count;
    }
    return check->verify(check->context, which, error);
}

static bool sustain_all(const Timer *timer, const Stage *const stages[], int count, int seconds,
                        Times times[], int *failed, Error *error) {
    for (int i = 0; i < count; i++) {
        *failed = i;
        if (!sustain(timer, stages[i], i, seconds, &times[i], error)) return false;
    }
    return true;
}

/* ---- Either ---------------------------------------------------------------------------------- */

static bool one_at_a_time(Timer *timer, const Stage *const stages[], int count, int reps,
                          Times times[], int *failed, Error *error) {
    const size_t l2 = timer->device->l2_bytes, flush = 2 * l2 > LEAST_FLUSH ? 2 * l2 : LEAST_FLUSH;
    Track *tracks = calloc((size_t)count, sizeof *tracks);
    if (!tracks) return error_set(error, STATUS_SKIP, "not enough host memory for the times");
    const bool timed = buffer_create("the L2 flush buffer", flush, &timer->flush, error) &&
                       time_all(timer, stages, count, reps, tracks, failed, error);
    for (int i = 0; timed && i < count; i++) {
        times[i] = times_summary(tracks[i].samples, tracks[i].count);
        times[i].host = times_summary(tracks[i].host, tracks[i].count).median;
    }
    buffer_free(&timer->flush);
    free(tracks);
    return timed;
}

bool timer_run(const Problem *problem, const AttentionTensors *tensors, void *workspace,
               const Stage *const stages[], int count, Timing timing, const Device *device,
               const TimerCheck *check, Times times[], int *failed, Error *error) {
    Timer timer = {.device = device,
                   .problem = problem,
                   .tensors = tensors,
                   .workspace = workspace,
                   .check = check};
    *failed = -1;
    const bool timed =
        CUDA_OK(cudaEventCreate(&timer.start), error) &&
        CUDA_OK(cudaEventCreate(&timer.stop), error) &&
        (timing.sustained
             ? sustain_all(&timer, stages, count, timing.sustained, times, failed, error)
             : one_at_a_time(&timer, stages, count, timing.reps, times, failed, error));
    if (timer.start) cudaEventDestroy(timer.start);
    if (timer.stop) cudaEventDestroy(timer.stop);
    return timed;
}
