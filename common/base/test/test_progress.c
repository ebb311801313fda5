/* What a long command says on stderr, by a clock that the test moves on and on a terminal that it
 * plays. Catches: a step that takes minutes in silence, a line too early, too late or with another
 * time, a line after the step has ended, a line for every case of a quick command. */
#include "base/progress.h"
#include "test/tap.h"

#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long now = 1000; /* seconds */
static int terminal;
static sem_t tick, idle; /* a second has passed; who sleeps has seen it */
static FILE *file;

/* These take the place of the system's own. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    *time = (struct timespec){.tv_sec = now};
    return 0;
}

int isatty(int descriptor) { return descriptor == STDERR_FILENO && terminal; }

/* The thread that watches sleeps for a second at a time. */
unsigned sleep(unsigned seconds) {
    sem_post(&idle);
    if (seconds != 1) abort();
    sem_wait(&tick);
    return 0;
}

static void pass(int seconds) {
    for (int i = 0; i < seconds; i++) {
        now++;
        sem_post(&tick);
        sem_wait(&idle);
    }
}

/* What was said on stderr since the last time. */
static void says(const char *expected, const char *name) {
    static char said[4096];
    static long before;
    fflush(stderr);
    fseek(file, before, SEEK_SET);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    before = ftell(file);
    is_text(said, expected, name);
}

static void lines(void) {
    for (int i = 0; i < 1000; i++) progress("case %d of 1000", i);
    sem_wait(&idle); /* the thread is there */
    says("", "quick steps are not worth a line");
    now++;
    progress("preparing inputs");
    now--;
    pass(9);
    says("", "nor is what takes nine seconds");
    pass(1);
    says("preparing inputs, for 9 s so far\n", "a long step says what it is");
    pass(9);
    says("", "not more often");
    pass(1);
    says("preparing inputs, for 19 s so far\n", "than every ten seconds");
    now += 9;
    progress("case %d", 2);
    says("", "a step nine seconds after it says nothing");
    now++;
    progress("case %d", 3);
    says("case 3\n", "one ten seconds after it does");
    progress("case %d", 4);
    pass(10);
    says("case 4, for 10 s so far\n", "and it is the last one that takes long");
    progress_end();
    says("", "nothing is said at the end");
    pass(50);
    says("", "nor once it has ended");
    progress("again");
    says("again\n", "until the next begins");
    progress_end();
}

static void on_a_terminal(void) {
    terminal = 1;
    progress("case %d", 1);
    says("\r\033[Kcase 1", "a terminal has one line for it, at once");
    progress("case %d", 2);
    says("\r\033[Kcase 2", "in the place of the last");
    pass(10);
    says("\r\033[Kcase 2, for 10 s so far", "which says how long it takes");
    progress_end();
    says("\r\033[K", "and goes at the end");
    progress("%0300d", 7);
    char expected[300];
    snprintf(expected, sizeof expected, "\r\033[K%0199d", 0);
    says(expected, "a long text is cut");
    progress_end();
}

int main(void) {
    file = tmpfile();
    if (!file || dup2(fileno(file), STDERR_FILENO) < 0) return 1;
    sem_init(&tick, 0, 0);
    sem_init(&idle, 0, 0);
    lines();
    on_a_terminal();
    return done_testing();
}
