/* Programs that are run, and files that are read. Catches: a long output that is cut or mixed up, a
 * failure that is taken for success or told without its reason, a program that is not there. */
#include "analysis/program.h"
#include "test/tap.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
    char path[100] = "/tmp/sass_test.XXXXXX", command[200], *text;
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
    ok(!read_file(path, &text, NULL, &error) && error.status == STATUS_USAGE && !text,
       "one that is not there");
    strcat(path, " cannot be read: No such file or directory");
    is_text(error.text, path, "and that is said");
}

/* How many files are open, the folder that says it among them. */
static int open_files(void) {
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory)) count++;
    if (directory) closedir(directory);
    return count;
}

/* Zero bytes and all others, in a file and, up to the first of them, from a program. */
static void test_bytes(void) {
    static char bytes[3 * BUFSIZ + 1], path[] = "/tmp/sass_bytes.XXXXXX";
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 7);
    const int file = mkstemp(path);
    if (write(file, bytes, sizeof bytes) != (ssize_t)sizeof bytes) exit(1);
    close(file);
    char *text;
    size_t length;
    Error error;
    ok(read_file(path, &text, &length, &error) && length == sizeof bytes &&
           memcmp(text, bytes, length) == 0 && text[length] == '\0',
       "a file of all bytes");
    free(text);
    if (truncate(path, 0) != 0) exit(1);
    ok(read_file(path, &text, &length, &error) && length == 0 && !*text, "an empty file");
    free(text);
    unlink(path);
}

/* With room for so many open files there is none for what a program writes. */
static void test_no_room(void) {
    struct rlimit limit;
    const int next = dup(STDIN_FILENO);
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    for (int room = 0; room < 4; room++) {
        char unset, *output = &unset, *argv[] = {"true", NULL};
        Error error = {0};
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next + (rlim_t)room, limit.rlim_max});
        const bool ran = run_program(NULL, argv, &output, &error);
        setrlimit(RLIMIT_NOFILE, &limit);
        ok(ran == (room == 3), "room for %d files", room);
        if (ran) {
            free(output);
            continue;
        }
        ok(!output && error.status == STATUS_FAIL, "no output without them");
        is_text(error.text, "no pipe or file: Too many open files", "and the reason");
    }
}

static bool no_child;

/* As the system's, but for a time when there is no room for another process. */
pid_t fork(void) {
    pid_t (*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, "fork");
    if (!no_child) return next();
    errno = EAGAIN;
    return -1;
}

static void test_no_child(void) {
    char unset, *output = &unset, *argv[] = {"true", NULL};
    Error error = {0};
    no_child = true;
    ok(!run_program(NULL, argv, &output, &error) && !output && error.status == STATUS_FAIL,
       "no process can be had");
    is_text(error.text, "true: Resource temporarily unavailable", "and the reason");
    no_child = false;
}

int main(void) {
    /* What whoever started the test has left open would take some of the room for files. */
    for (int inherited = STDERR_FILENO + 1; inherited < 1024; inherited++) close(inherited);
    char *output, *argv[] = {"/nowhere/cuobjdump", NULL};
    Error error;
    const int open_before = open_files();
    fails(NULL, "echo only; exit 1", STATUS_FAIL, "sh failed: only");
    succeeds(NULL, "echo one; echo two >&2", "one\n");
    succeeds("/usr", "pwd", "/usr\n");
    succeeds(NULL, ":", "");
    fails(NULL, "echo out; echo first >&2; echo last >&2; echo >&2; exit 3", STATUS_FAIL,
          "sh failed: last");
    fails(NULL, "echo first; echo last; exit 1", STATUS_FAIL, "sh failed: last");
    fails(NULL, "echo first; echo it is wrong; echo '  here'; exit 1", STATUS_FAIL,
          "sh failed: it is wrong");
    fails(NULL, "echo ' all'; echo ' indented'; exit 1", STATUS_FAIL, "sh failed:  indented");
    fails(NULL, "echo; echo; exit 1", STATUS_FAIL, "sh failed: ");
    fails(NULL, "echo out; echo >&2; exit 126", STATUS_FAIL, "sh failed: out");
    fails(NULL, "exit 127", STATUS_SKIP, "sh cannot be run");
    fails(NULL, "kill -9 $$", STATUS_FAIL, "sh failed: ");
    fails("/nowhere", ":", STATUS_SKIP, "sh cannot be run");
    ok(!run_program(NULL, argv, &output, &error) && error.status == STATUS_SKIP &&
           strstr(error.text, "/nowhere/cuobjdump cannot be run: put the disassembler"),
       "a program that is not there is one to be fetched");
    test_files();
    test_bytes();
    test_no_room();
    test_no_child();
    is_int(open_files(), open_before, "no file stays open");
    signal(SIGCHLD, SIG_IGN); /* so that no exit code can be had */
    fails(NULL, "echo lost", STATUS_FAIL, "sh: No child processes");
    return done_testing();
}
