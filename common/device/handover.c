#include "device/handover.h"

#include "base/error.h"

#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes the path of the simulator's program and says why it is asked. If it is not there, says
 * that instead and returns false. */
static bool announce(char path[PATH_MAX], const char *why, Error *error) {
    char *program = realpath("/proc/self/exe", NULL);
    snprintf(path, PATH_MAX, "%s-sim", program ? program : "");
    free(program);
    if (access(path, X_OK) != 0)
        return error_set(error, STATUS_SKIP, "%s, and the simulator (%s) is not built", why, path);
    fprintf(stderr, "attention: %s: running on the simulator\n", why);
    return true;
}

int become_simulator(char *const arguments[], const char *why) {
    char path[PATH_MAX];
    Error error;
    if (announce(path, why, &error)) {
        execv(path, arguments);
        error_set(&error, STATUS_SKIP, "%s, and %s cannot be started", why, path);
    }
    return error_exit(&error);
}

int ask_simulator(char *const arguments[], const char *why) {
    extern char **environ;
    char path[PATH_MAX];
    pid_t child;
    int status;
    Error error;
    if (!announce(path, why, &error)) return error_exit(&error);
    if (posix_spawn(&child, path, NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child) {
        error_set(&error, STATUS_SKIP, "%s, and %s cannot be started", why, path);
        return error_exit(&error);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAIL;
}
