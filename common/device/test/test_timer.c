/* Catches: a median, minimum or spread that is computed wrongly; a time that is called stable while
 * it still wanders, or never; a sustained run that never gets longer, or is far too long. */
#include "device/timer.h"
#include "test/tap.h"

int main(void) {
    float odd[] = {5, 1, 3}, even[] = {4, 1, 2, 3}, one[] = {7};
    Times times = times_summary(odd, 3);
    ok(times.count == 3 && times.median == 3 && times.min == 1, "median and minimum of three");
    is_near(times.spread, 3.2 / 3, 1e-6, "their spread: (4.6 - 1.4) / 3");
    is_near(times_summary(even, 4).median, 2.5, 1e-6, "median of four");
    times = times_summary(one, 1);
    ok(times.median == 7 && times.spread == 0, "one sample");

    float quiet[100], wild[100];
    for (int i = 0; i < 100; i++) {
        quiet[i] = 1 + 0.001f * (float)(i % 7);
        wild[i] = 1 + 0.1f * (float)(i % 7);
    }
    ok(!times_stable(quiet, 5), "five samples are too few");
    ok(times_stable(quiet, 20), "twenty with a noise of 0.6%% are enough");
    ok(!times_stable(wild, 100), "a hundred with a noise of 60%% are not");

    ok(sustained_count(1, 1, 1000) == 10, "after one launch ten");
    ok(sustained_count(1000, 500, 1000) == 2100, "with half of the time twice as many and 5%%");
    ok(sustained_count(1, 999, 1000) == 2 && sustained_count(100, 999.9f, 1000) > 100,
       "always more than before");
    ok(sustained_count(5, 0, 1000) == 50, "a time of 0 is no division by it");
    return done_testing();
}
