/* Programs that are run, and files that are read. Catches: a long output that is cut or mixed up, a
 * failure that is taken for success or told without its reason, a program that is not there. */
#include "analysis/program.h"
#include "test/tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the shell's command gives; the error's text if it fails. */
static char *shell(const char *folder, char *command, bool *good, Status *status) {
    char *output, *argv[] = {"sh", "-c", command, NULL};
    Error error;
    *good = run_program(folder, argv, &output, &error);
    if (*good) return output;
    *status = error.status;
    ok(!output, "no output of a failure");
    return strdup(error.text);
}

static void succeeds(const char *folder, char *command, const char *expected) {
    Status status;
    bool good;
    char *said = shell(folder, command, &good, &status);
    is_text(said, expected, command);
    ok(good, "and succeeds");
    free(said);
}

static void fails(const char *folder, char *command, Status expected, const char *text) {
    Status status = STATUS_PASS;
    bool good;
    char *said = shell(folder, command, &good, &status);
    ok(!good && status == expected, "%s: fails", command);
    ok(strstr(said, text), "and says '%s': %s", text, said);
    free(said);
}

/* 300000 bytes come in several pieces, and the room for them grows. */
static void test_long(const char *text, size_t length) {
    size_t wrong = 0;
    for (size_t i = 0; i < length; i += 10) {
        char line[24];
        snprintf(line, sizeof line, "%09zu\n", i / 10 + 1);
        wrong += strncmp(text + i, line, 10) != 0;
    }
    ok(length == 300000 && text[length] == '\0' && !wrong, "%zu bytes, %zu lines are wrong", length,
       wrong);
}

static void test_files(void) {
    char path[] = "/tmp/sass_test.XXXXXX", command[100], *text;
    const int file = mkstemp(path);
    size_t length = 0;
    bool good;
    Error error = {0};
    Status status;
    snprintf(command, sizeof command, "seq -f %%09.0f 30000 | tee %s", path);
    char *said = shell(NULL, command, &good, &status);
    test_long(said, strlen(said));
    free(said);
    ok(read_file(path, &text, &length, &error), "a file");
    test_long(text, length);
    free(text);
    close(file);
    unlink(path);
    ok(!read_file(path, &text, NULL, &error) && error.status == STATUS_USAGE && !text &&
           strstr(error.text, path) && strstr(error.text, "No such file"),
       "one that is not there: %s", error.text);
}

int main(void) {
    char *output, *argv[] = {"/nowhere/cuobjdump", NULL};
    Error error;
    succeeds(NULL, "echo one; echo two >&2", "one\n");
    succeeds("/usr", "pwd", "/usr\n");
    succeeds(NULL, ":", "");
    fails(NULL, "echo out; echo first >&2; echo last >&2; echo >&2; exit 3", STATUS_FAIL,
          "sh failed: last");
    fails(NULL, "echo first; echo last; exit 1", STATUS_FAIL, "sh failed: last");
    fails(NULL, "echo only; exit 1", STATUS_FAIL, "sh failed: only");
    fails(NULL, "kill -9 $$", STATUS_FAIL, "sh failed: ");
    fails("/nowhere", ":", STATUS_SKIP, "sh cannot be run");
    ok(!run_program(NULL, argv, &output, &error) && error.status == STATUS_SKIP &&
           strstr(error.text, "/nowhere/cuobjdump cannot be run: put the disassembler"),
       "a program that is not there is one to be fetched");
    test_files();
    signal(SIGCHLD, SIG_IGN); /* so that no exit code can be had */
    fails(NULL, "echo lost", STATUS_FAIL, "sh: No child processes");
    return done_testing();
}
