#include "base/progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { INTERVAL = 10, TEXT = 200 }; /* seconds between two lines; characters of one */

/* What is being done. The one piece of state here, because there is one stderr. */
static struct {
    pthread_mutex_t lock;
    bool watched; /* a thread repeats the text while nothing changes */
    bool active;
    char text[TEXT];
    time_t since, said;
} doing = {.lock = PTHREAD_MUTEX_INITIALIZER};

static time_t seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* With the lock held. A terminal has one line for it. */
static void say(const char *more, long value) {
    const bool terminal = isatty(STDERR_FILENO);
    fprintf(stderr, "%s%s", terminal ? "\r\033[K" : "", doing.text);
    if (more) fprintf(stderr, more, value);
    if (!terminal) fputc('\n', stderr);
    doing.said = seconds();
}

/* Says how long it has taken whenever nothing was said for an interval. */
static void *watch(void *unused) {
    (void)unused;
    for (;;) {
        sleep(1);
        pthread_mutex_lock(&doing.lock);
        if (doing.active && seconds() >= doing.said + INTERVAL)
            say(", for %ld s so far", (long)(seconds() - doing.since));
        pthread_mutex_unlock(&doing.lock);
    }
    return NULL;
}

static void begin_watch(void) {
    pthread_t thread;
    doing.watched = true;
    doing.said = seconds();
    if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
}

void progress(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&doing.lock);
    if (!doing.watched) begin_watch();
    vsnprintf(doing.text, sizeof doing.text, format, arguments);
    doing.since = seconds();
    doing.active = true;
    if (isatty(STDERR_FILENO) || seconds() >= doing.said + INTERVAL) say(NULL, 0);
    pthread_mutex_unlock(&doing.lock);
    va_end(arguments);
}

void progress_end(void) {
    pthread_mutex_lock(&doing.lock);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    doing.active = false;
    pthread_mutex_unlock(&doing.lock);
}
