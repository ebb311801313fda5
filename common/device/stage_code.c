#include "device/stage_code.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

static const char *running; /* the stage whose code runs; NULL: none */
static char crashed[320];   /* what is said if it crashes */

/* In the place of the C library's, to which a stage binds as well: exit says at its end, and _exit
 * at once, that the program has no verdict. */
void _exit(int code) {
    if (running)
        dprintf(STDERR_FILENO, "%s ended the program: does its host code call exit?\n", running);
    syscall(SYS_exit_group, running ? STATUS_FAIL : code);
    for (;;) pause();
}

void _Exit(int code) { _exit(code); }

static void at_exit(void) {
    if (running) _exit(STATUS_FAIL);
}

/* Says so, and lets the signal end the program. */
static void on_crash(int number) {
    running = NULL;
    if (write(STDERR_FILENO, crashed, strlen(crashed)) < 0) _exit(128 + number);
    signal(number, SIG_DFL);
    raise(number);
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction others[SIGNALS];
static stack_t other_stack;

void stage_code_enter(const char *stage, const char *function) {
    static bool armed;
    static char room[1 << 16]; /* for the handler, where there is none left on the stack */
    const stack_t own_stack = {.ss_sp = room, .ss_size = sizeof room};
    const struct sigaction own = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    armed = armed || (atexit(at_exit) == 0 && at_quick_exit(at_exit) == 0);
    snprintf(
        crashed, sizeof crashed,
        "attention: %s of %s crashed on the host: does it dereference a device pointer, recurse "
        "without end, or abort?\n",
        function, stage);
    sigaltstack(&own_stack, &other_stack);
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &own, &others[i]);
    running = stage;
}

void stage_code_leave(void) {
    running = NULL;
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &others[i], NULL);
    sigaltstack(&other_stack, NULL);
}
