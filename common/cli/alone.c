#include "cli/alone.h"

#include "cli/report.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_WORDS = 32 };

/* The words of the first line of a text, which is cut up, and the second line as one word. */
static void cut(char *text, char *words[MOST_WORDS]) {
    char *rest, *second = strchr(text, '\n');
    int count = 0;
    *second++ = '\0';
    for (char *word = strtok_r(text, " ", &rest); word && count < MOST_WORDS - 2;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count++] = second;
    words[count] = NULL;
}

/* Its exit code, STATUS_SKIP if it cannot be started. */
static int run_silently(const char *program, char *const arguments[]) {
    extern char **environ;
    posix_spawn_file_actions_t silent;
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&silent) != 0) return STATUS_SKIP;
    const bool ended =
        posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&silent, 2, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn(&child, program, &silent, NULL, arguments, environ) == 0 &&
        waitpid(child, &status, 0) == child;
    posix_spawn_file_actions_destroy(&silent);
    return ended && WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_SKIP;
}

bool passes_alone(const Options *options, const Device *device, const TrialSetup *setup,
                  const char *folder) {
    char *text = NULL, *words[MOST_WORDS];
    size_t size;
    if (!options->program) return false;
    FILE *out = open_memstream(&text, &size);
    if (!out) return false;
    fprintf(out, "attention run DEVICE=%s GPU=%d REPS=1 ", device->simulated ? "sim" : "gpu",
            options->gpu);
    if (!device->simulated) fprintf(out, "LIMIT=%d ", options_limit(options));
    report_arguments(out, setup);
    fprintf(out, "\n%s", folder);
    fclose(out);
    cut(text, words);
    const bool passed = run_silently(options->program, words) == STATUS_PASS;
    free(text);
    return passed;
}
