/* The Test Anything Protocol for the C tests: each prints a line a check and a plan at the end. */
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_done, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool pass, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("%sok %d - ", pass ? "" : "not ", ++tap_done);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    tap_failed += !pass;
    return pass;
}

__attribute__((unused)) static void is_int(long long got, long long expected, const char *name) {
    if (!ok(got == expected, "%s", name)) printf("# got %lld, expected %lld\n", got, expected);
}

__attribute__((unused)) static void is_text(const char *got, const char *expected,
                                            const char *name) {
    if (!ok(strcmp(got, expected) == 0, "%s", name))
        printf("# got \"%s\"\n# expected \"%s\"\n", got, expected);
}

__attribute__((unused)) static void is_near(double got, double expected, double tolerance,
                                            const char *name) {
    const bool same = got == expected || (isnan(got) && isnan(expected));
    if (!ok(same || fabs(got - expected) <= tolerance, "%s", name))
        printf("# got %.17g, expected %.17g\n", got, expected);
}

__attribute__((unused)) static void skip_test(const char *reason) {
    printf("ok %d # SKIP %s\n", ++tap_done, reason);
}

/* Prints the plan and returns main's exit code. */
__attribute__((unused)) static int done_testing(void) {
    printf("1..%d\n", tap_done);
    return tap_failed != 0;
}

#endif
