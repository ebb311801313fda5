#include "analysis/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Everything that can still be read from `in`, as a string. */
static char *read_all(FILE *in, size_t *length) {
    size_t size = 0, used = 0, got = 1;
    char *text = NULL;
    while (got > 0) {
        if (size - used < 2) {
            size = size ? 2 * size : 1 << 16;
            char *larger = realloc(text, size);
            if (!larger) break;
            text = larger;
        }
        got = fread(text + used, 1, size - used - 1, in);
        used += got;
    }
    if (text) text[used] = '\0';
    if (length) *length = used;
    return text;
}

bool read_file(const char *path, char **text, size_t *length, Error *error) {
    FILE *in = fopen(path, "rb");
    *text = in ? read_all(in, length) : NULL;
    if (in) fclose(in);
    return *text || error_set(error, STATUS_USAGE, "%s cannot be read: %s", path, strerror(errno));
}

static _Noreturn void become(const char *folder, char *const argv[], int out, int errors) {
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    if (!folder || chdir(folder) == 0) execvp(argv[0], argv);
    _exit(127);
}

/* Cuts the text down to its last line that is not empty. */
static char *last_line(char *text) {
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
    char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

static bool check_exit(int status, const char *program, FILE *errors, char *output, Error *error) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return error_set(error, STATUS_SKIP,
                         "%s cannot be run: put the disassembler (cuobjdump and nvdisasm, in the "
                         "CUDA Toolkit 13.0 or newer) on PATH, or run "
                         "`tools/toolchain/toolchain.sh --disassembler "
                         "build/disassembler.mk`, which fetches it",
                         program);
    rewind(errors);
    char *said = read_all(errors, NULL);
    const char *reason = said && *said ? last_line(said) : output ? last_line(output) : "";
    error_set(error, STATUS_FAIL, "%s failed: %s", program, reason);
    free(said);
    return false;
}

bool run_program(const char *folder, char *const argv[], char **output, Error *error) {
    int ends[2], status = 0;
    FILE *errors = tmpfile();
    *output = NULL;
    if (!errors || pipe2(ends, O_CLOEXEC) != 0)
        return error_set(error, STATUS_FAIL, "no pipe or file: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0) become(folder, argv, ends[1], fileno(errors));
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    *output = in ? read_all(in, NULL) : NULL;
    if (in) fclose(in);
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
