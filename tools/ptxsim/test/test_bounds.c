/* Programs that ask for too much or reach where they must not: test/corpus/run/, which is also what
 * the fuzzer begins with. Each is run with copies late and early, without and with a search for
 * races, and must end soon, either well or with the words of its first line, `// Expect: ...`.
 * Catches: a bound that is missing, or is checked only after the memory was used. */
#include <dirent.h>
#include <unistd.h>

#include "test/run_ptx.h"
#include "test/tap.h"

enum { DATA_BYTES = 4096, SECONDS = 30, NAME = 80, REPORT = 8192 };
static const char folder[] = "tools/ptxsim/test/corpus/run";

static char *read_all(FILE *file, char *text, size_t size) {
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    return text;
}

static char *program(const char *name) {
    static char text[1 << 16];
    char path[sizeof folder + NAME];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    return file ? read_all(file, text, sizeof text) : NULL;
}

/* What the first line expects, to expected[0..size); "" if the program is right. */
static void read_expectation(const char *text, char *expected, size_t size) {
    static const char key[] = "// Expect: ";
    const size_t skip = sizeof key - 1;
    expected[0] = '\0';
    if (strncmp(text, key, skip) == 0)
        snprintf(expected, size, "%.*s", (int)strcspn(text + skip, "\n"), text + skip);
}

/* Runs the program; what it says on stderr, or why it cannot run, to report[0..size). */
static PtxRun run_quietly(const char *text, char *report, size_t size) {
    static uint8_t data[DATA_BYTES];
    const LaunchShape shape = {{2, 1, 1}, {160, 1, 1}, 64, false};
    FILE *said = tmpfile();
    void *memory = memory_allocate(sizeof data);
    const int usual = dup(STDERR_FILENO), printed = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(said), STDERR_FILENO);
    dup2(fileno(said), STDOUT_FILENO);
    memcpy(memory, data, sizeof data);
    const PtxRun run = run_ptx_shape(text, &shape, memory);
    fflush(stdout);
    dup2(usual, STDERR_FILENO);
    dup2(printed, STDOUT_FILENO);
    close(usual), close(printed);
    memory_release(memory);
    rewind(said);
    read_all(said, report, size);
    if (run.error[0]) snprintf(report, size, "%s", run.error);
    return run;
}

static void check(const char *name) {
    static char report[REPORT];
    char expected[200];
    const char *text = program(name);
    bool good = text != NULL;
    if (text) read_expectation(text, expected, sizeof expected);
    for (int way = 0; good && way < 4; way++) {
        setenv("SIM_ASYNC", way & 1 ? "early" : "late", 1);
        setenv("SIM_RACE", way & 2 ? "1" : "0", 1);
        alarm(SECONDS); /* the program ends the test if it does not end itself */
        const PtxRun run = run_quietly(text, report, sizeof report);
        good = expected[0] ? run.status != LAUNCH_OK && strstr(report, expected)
                           : run.status == LAUNCH_OK;
    }
    alarm(0);
    if (!ok(good, "%.*s", (int)strcspn(name, "."), name))
        printf("# expected '%s', got: %s\n", text ? expected : "a file", report);
}

static int is_program(const struct dirent *entry) {
    return strlen(entry->d_name) < NAME && strstr(entry->d_name, ".ptx") != NULL;
}

int main(void) {
    struct dirent **entry;
    const int count = scandir(folder, &entry, is_program, alphasort);
    setenv("SIM_BUDGET", "20000", 1);
    ok(count > 30, "%s has programs", folder);
    for (int i = 0; i < count; i++) {
        check(entry[i]->d_name);
        free(entry[i]);
    }
    if (count >= 0) free(entry);
    return done_testing();
}
