#include "analysis/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Everything that can still be read from `in`, as a string. */
static char *read_all(FILE *in, size_t *length) {
    char piece[BUFSIZ], *text = NULL;
    size_t size = 0, got;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    while ((got = fread(piece, 1, sizeof piece, in)) > 0) fwrite(piece, 1, got, out);
    fclose(out);
    if (length) *length = size;
    return text;
}

/* The same, and closes it; NULL if there is no file. */
static char *read_whole(FILE *in, size_t *length) {
    if (!in) return NULL;
    char *text = read_all(in, length);
    fclose(in);
    return text;
}

bool read_file(const char *path, char **text, size_t *length, Error *error) {
    *text = read_whole(fopen(path, "rb"), length);
    return *text || error_set(error, STATUS_USAGE, "%s cannot be read: %s", path, strerror(errno));
}

static _Noreturn void become(const char *folder, char *const argv[], int out, int errors) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    if (!folder || chdir(folder) == 0) execvp(argv[0], argv);
    _exit(127);
}

/* The last line that is not empty of a text, which is cut into lines. One that is indented explains
 * the line above it, and counts where all are. */
static const char *last_line(char *text) {
    const char *last = "";
    for (const char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (*line != ' ' || *last == ' ' || *last == '\0') last = line;
    return last;
}

static bool check_exit(int status, const char *program, FILE *errors, char *output, Error *error) {
    if (status == 0) return true;
    if (WEXITSTATUS(status) == 127)
        return error_set(error, STATUS_SKIP,
                         "%s cannot be run: put the disassembler (cuobjdump and nvdisasm, in the "
                         "CUDA Toolkit 13.0 or newer) on PATH, or run "
                         "`tools/toolchain/toolchain.sh --disassembler "
                         "build/disassembler.mk`, which fetches it",
                         program);
    rewind(errors);
    char *said = read_all(errors, NULL);
    const char *reason = said ? last_line(said) : "";
    if (!*reason) reason = last_line(output);
    error_set(error, STATUS_FAIL, "%s failed: %s", program, reason);
    free(said);
    return false;
}

bool run_program(const char *folder, char *const argv[], char **output, Error *error) {
    int ends[2], status;
    FILE *errors = tmpfile();
    *output = NULL;
    if (!errors || pipe2(ends, O_CLOEXEC) != 0) {
        error_set(error, STATUS_FAIL, "no pipe or file: %s", strerror(errno));
        if (errors) fclose(errors);
        return false;
    }
    const pid_t child = fork();
    if (child == 0) become(folder, argv, ends[1], fileno(errors));
    close(ends[1]);
    *output = read_whole(fdopen(ends[0], "r"), NULL);
    if (child < 0 || waitpid(child, &status, 0) != child || !*output)
        error_set(error, STATUS_FAIL, "%s: %s", argv[0], strerror(errno));
    else if (check_exit(status, argv[0], errors, *output, error)) {
        fclose(errors);
        return true;
    }
    fclose(errors);
    free(*output);
    *output = NULL;
    return false;
}
