/* On the fake runtime, whose clock knows what ran when. Catches: a median, minimum or spread that
 * is computed wrongly; a time that is called stable while it still wanders, or never; a sustained
 * run that never gets longer, or is far too long; a time of the host that is another's or has the
 * wait in it; a flush that is timed, too small or left out, an
 * event at another place, stages that do not take turns, launches that nobody checks, an error that
 * is not told. */
#include "device/timer.h"
#include "test/fake_runtime.h"
#include "test/tap.h"

#include <stdlib.h>
#include <time.h>

static void statistics(void) {
    float odd[] = {5, 1, 3}, even[] = {4, 1, 2, 3}, one[] = {7}, none[] = {0, 0};
    Times times = times_summary(odd, 3);
    ok(times.count == 3 && times.median == 3 && times.min == 1, "median and minimum of three");
    is_near(times.spread, 3.2 / 3, 1e-6, "their spread: (4.6 - 1.4) / 3");
    is_near(times_summary(even, 4).median, 2.5, 1e-6, "median of four");
    times = times_summary(one, 1);
    ok(times.median == 7 && times.min == 7 && times.spread == 0, "one sample");
    is_near(times_summary(none, 2).spread, 0, 0, "no time at all has no spread");

    float quiet[100], wild[100];
    for (int i = 0; i < 100; i++) {
        quiet[i] = 1 + 0.001f * (float)(i % 7);
        wild[i] = 1 + 0.1f * (float)(i % 7);
    }
    ok(!times_stable(quiet, 14), "fourteen samples are too few");
    ok(times_stable(quiet, 15), "fifteen with a noise of 0.6%% are enough");
    ok(!times_stable(wild, 100), "a hundred with a noise of 60%% are not");
    /* Of twenty sorted samples, numbers 5 to 14 are the interval of the median. */
    for (int just = 0; just < 2; just++) {
        float steps[20];
        for (int i = 0; i < 20; i++) steps[i] = i < 6 ? 100 : i < 14 ? 100.5f : 101 + (float)just;
        ok(times_stable(steps, 20) == !just, "an interval of %d%%", 1 + just);
        for (int i = 0; i < 20; i++) steps[i] = i < 5 ? 1 : i < 15 ? 100 : 200;
        ok(times_stable(steps, 20), "what is outside of it does not matter");
    }

    ok(sustained_count(1, 1, 1000) == 10, "after one launch ten");
    ok(sustained_count(1000, 500, 1000) == 2100, "with half of the time twice as many and 5%%");
    ok(sustained_count(1, 999, 1000) == 2 && sustained_count(100, 999.9f, 1000) > 100,
       "always more than before");
    ok(sustained_count(5, 0, 1000) == 50, "a time of 0 is no division by it");
}

/* ---- What is asked of the device ------------------------------------------------------------- */

enum { STAGES = 2 };

static double takes[STAGES], grows[STAGES]; /* milliseconds of a launch; how much more the next */
static long host_needs[STAGES];             /* nanoseconds until a launch returns */
static int launches[STAGES], fails_at, bad_verdict_at, prepared, verified;

static cudaError_t launch(int which) {
    launches[which]++;
    fake_note((char)('A' + which));
    fake_launch_takes(takes[which] += grows[which]);
    nanosleep(&(struct timespec){.tv_nsec = host_needs[which]}, NULL);
    fake_launch();
    return launches[which] == fails_at ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t launch_a(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                            cudaStream_t stream) {
    (void)p, (void)t, (void)workspace, (void)stream;
    return launch(0);
}

static cudaError_t launch_b(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                            cudaStream_t stream) {
    (void)p, (void)t, (void)workspace, (void)stream;
    return launch(1);
}

static bool prepare(void *context, Error *error) {
    (void)context, (void)error;
    fake_note('p');
    prepared++;
    return true;
}

static bool verify(void *context, int which, Error *error) {
    (void)context;
    fake_note((char)('a' + which));
    return ++verified != bad_verdict_at || error_set(error, STATUS_FAIL, "it is wrong");
}

static Times times[STAGES];
static int failed;
static Error error;

/* Times `count` stages, whose launches take a and b milliseconds. */
static bool run(int count, double a, double b, Timing timing, size_t l2) {
    static const Stage stage_a = {.launch = launch_a}, stage_b = {.launch = launch_b};
    static const Stage *const stages[STAGES] = {&stage_a, &stage_b};
    static const Problem problem;
    static const AttentionTensors tensors;
    const TimerCheck check = {prepare, verify, NULL};
    Device device;
    device_open(0, &device, &error);
    device.limit = 1;
    device.l2_bytes = l2;
    takes[0] = a, takes[1] = b;
    launches[0] = launches[1] = prepared = verified = 0;
    failed = -2;
    fake_forget();
    return timer_run(&problem, &tensors, NULL, stages, count, timing, &device, &check, times,
                     &failed, &error);
}

static void one_at_a_time(void) {
    ok(run(2, 60, 70, (Timing){.reps = 3}, 1 << 20), "two stages, three times each");
    is_text(fake_history(),
            "meAle"
            "meBle"
            "pmeAlea"
            "meBle"
            "pmeAlea"
            "pmeBleb"
            "meAle"
            "meBle",
            "a flush, an event, a launch, an event, in turn; the second is checked, others too");
    ok(times[0].count == 3 && times[0].median == 60 && times[0].min == 60, "60 ms are 60 ms");
    ok(times[1].count == 3 && times[1].median == 70 && times[1].min == 70, "and 70 are 70");
    ok(fake_least_set() == (size_t)256 << 20, "256 MiB are flushed, if L2 is small");
    ok(times[0].host > 0 && times[0].host < 5, "the host is done with a launch at once");
    host_needs[1] = 20000000;
    run(2, 60, 70, (Timing){.reps = 3}, 1 << 20);
    host_needs[1] = 0;
    ok(times[1].host >= 20 && times[1].host < 60 && times[1].median == 70 && times[0].host < 5,
       "or needs 20 ms for it, which are not the device's");
    fake_answer_takes(20000000);
    run(1, 60, 0, (Timing){.reps = 3}, 1 << 20);
    fake_answer_takes(0);
    ok(times[0].host < 5, "the wait for the device is not in it");
    run(1, 60, 60, (Timing){.reps = 1}, (size_t)150 << 20);
    ok(fake_least_set() == (size_t)300 << 20, "twice L2, if it is large");
    is_text(fake_history(), "meAlepmeAlea", "one launch to warm up if it takes 50 ms");
    run(1, 60, 60, (Timing){.reps = 1}, (size_t)100 << 20);
    ok(fake_least_set() == (size_t)256 << 20, "256 MiB are more than twice 100");
    run(1, 10, 0, (Timing){.reps = 1}, 0);
    is_int(launches[0], 6, "five if it takes 10");
    run(1, 49.5, 0, (Timing){.reps = 1}, 0);
    is_int(launches[0], 3, "two if it takes a little less than 50");
    run(1, 1, 0, (Timing){.reps = 1}, 0);
    is_int(launches[0], 21, "never more than twenty");
    run(1, 60, 0, (Timing){.reps = 5000}, 0);
    is_int(times[0].count, 1000, "never more than a thousand samples");
    ok(prepared == 6 && verified == 6, "six of a thousand are checked");
    int checks = 0;
    for (const char *at = fake_history(); (at = strstr(at, "pmeAlea")); at += 7) checks++;
    ok(checks == 6 && !strstr(fake_history(), "pmeAleapmeAleapmeAlea"), "here and there");
}

static void until_it_is_stable(void) {
    ok(run(2, 20, 30, (Timing){0}, 0), "without a number of repetitions");
    ok(times[0].count == 15 && times[1].count == 15, "fifteen that are all the same");
    grows[1] = 5;
    run(2, 20, 30, (Timing){0}, 0);
    grows[1] = 0;
    is_int(times[0].count, 15, "what is stable drops out");
    ok(times[1].count == 22, "what grows goes on for two seconds of its own: %d", times[1].count);
    run(1, 900, 0, (Timing){0}, 0);
    is_int(times[0].count, 3, "three of 900 ms");
    run(1, 500, 0, (Timing){0}, 0);
    is_int(times[0].count, 4, "four of 500: two seconds are enough");
    run(1, 666.5, 0, (Timing){0}, 0);
    is_int(times[0].count, 4, "four of 666.5: three take half a millisecond less");
    run(1, 5000, 0, (Timing){0}, 0);
    is_int(times[0].count, 3, "never less than three");
}

static void sustained(void) {
    ok(run(2, 60, 3000, (Timing){.sustained = 1}, 0), "sustained for a second");
    ok(times[0].count == 18 && times[0].median == 60 && times[0].min == 60,
       "rounds of 1, 10 and 18 launches, of which the last counts");
    is_int(launches[0], 29, "and no other");
    ok(times[1].count == 1 && times[1].median == 3000, "one that takes longer runs once");
    is_text(fake_history(),
            "peAlepeAlAlAlAlAlAlAlAlAlAlepeAlAlAlAlAlAlAlAlAlAlAlAlAlAlAlAlAlAlea"
            "peBleb",
            "nothing between the launches; outputs filled before each round, the last checked");
    ok(strlen(times[0].began.text) == 23 && times[0].began.text[19] == '.' &&
           strcmp(times[0].began.text, times[0].ended.text) <= 0,
       "from %s to %s", times[0].began.text, times[0].ended.text);
    const int milliseconds = atoi(times[0].began.text + 20);
    ok(milliseconds >= 0 && milliseconds < 1000, "with three digits of the second");
    ok(times[0].spread == 0 && run(1, 60, 0, (Timing){.reps = 1}, 0) && !times[0].began.text[0],
       "one at a time has no such times");
    ok(times[0].host > 0 && run(1, 60, 0, (Timing){.sustained = 1}, 0) && times[0].host == 0,
       "and back to back none of the host's");
}

static void failures(void) {
    fails_at = 3;
    ok(!run(2, 60, 60, (Timing){.reps = 3}, 0) && failed == 0 &&
           strstr(error.text, "attention_launch: cudaErrorInvalidValue"),
       "a launch that fails ends it: %s", error.text);
    fails_at = 1;
    ok(!run(2, 60, 60, (Timing){.reps = 3}, 0) && failed == 0 && launches[1] == 0,
       "also the first one to warm up");
    ok(!run(2, 60, 60, (Timing){.sustained = 1}, 0) && failed == 0, "and one of a sustained run");
    fails_at = 0;
    bad_verdict_at = 3;
    ok(!run(2, 60, 60, (Timing){.reps = 3}, 0) && failed == 1 &&
           strcmp(error.text, "it is wrong") == 0,
       "a wrong result ends it, and names the stage");
    bad_verdict_at = 2;
    ok(!run(2, 60, 60, (Timing){.sustained = 1}, 0) && failed == 1, "in a sustained run, too");
    bad_verdict_at = 0;
    setenv("FAKE_ALLOCATIONS", "0", 1);
    ok(!run(2, 60, 60, (Timing){.reps = 3}, 0) && failed == -1 && error.status == STATUS_SKIP &&
           strstr(error.text, "for the L2 flush buffer, 268435456 bytes"),
       "no memory to flush with: %s", error.text);
    ok(run(2, 60, 60, (Timing){.sustained = 1}, 0), "which a sustained run does not need");
    unsetenv("FAKE_ALLOCATIONS");
}

int main(void) {
    statistics();
    one_at_a_time();
    until_it_is_stable();
    sustained();
    failures();
    return done_testing();
}
