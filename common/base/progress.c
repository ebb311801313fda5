#include "base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* True for the first call after every ten seconds. Its clock is the one piece of state here: there
 * is one stderr. */
static int ten_seconds_passed(void) {
    static time_t last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (last == 0) last = now.tv_sec;
    if (now.tv_sec < last + 10) return 0;
    last = now.tv_sec;
    return 1;
}

void progress(const char *format, ...) {
    const int terminal = isatty(STDERR_FILENO);
    va_list arguments;
    if (!terminal && !ten_seconds_passed()) return;
    va_start(arguments, format);
    if (terminal) fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    if (!terminal) fputc('\n', stderr);
    va_end(arguments);
}

void progress_end(void) {
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}
