/* Memory, with an allocator of its own that counts and can refuse: the programs of corpus/run/ok_*.
 * Catches: memory that a run or its module does not give back; an allocation that is used before it
 * was asked whether there was memory for it. */
#include <fcntl.h>
#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/allocator.h"
#include "test/run_ptx.h"
#include "test/tap.h"

#if !ALLOCATOR_COUNTS

int main(void) {
    printf("1..0 # SKIP the sanitizer is the allocator\n");
    return 0;
}

#else

/* ---- Runs ------------------------------------------------------------------------------------ */

enum { KEPT = 7 };
static char text[1 << 16];

static void read_program(const char *path) {
    FILE *file = fopen(path, "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file) fclose(file);
}

static PtxRun run_program(void *memory) {
    const LaunchShape shape = {{1, 1, 1}, {160, 1, 1}, 64, false};
    return run_ptx_shape(text, &shape, memory);
}

/* How a run ends for which allocation `which` is refused: 0, unless it used memory that it has not,
 * or went on and kept some. An abort is an end, too, and so is an exit with 1. */
static int end_without(long which, void *memory) {
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
        const long before = atomic_load(&held);
        refuse(which);
        run_program(memory);
        refuse(-1);
        _exit(atomic_load(&held) == before ? 0 : KEPT);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGABRT ? 0 : -WTERMSIG(status);
    return WEXITSTATUS(status) > 1 ? WEXITSTATUS(status) : 0;
}

static void try_program(const char *path, void *memory) {
    const char *name = strrchr(path, '/') + 1;
    read_program(path);
    run_program(memory); /* what the first run keeps for all others */
    const long before = atomic_load(&held);
    refuse(-1);
    const PtxRun run = run_program(memory);
    const long allocations = atomic_load(&asked), kept = atomic_load(&held) - before;
    ok(run.status == LAUNCH_OK && allocations > 10, "%s: a run with %ld allocations", name,
       allocations);
    is_int(kept, 0, "all of them given back");
    long bad = -1;
    int end = 0;
    for (long i = 0; i < allocations && !end; i++)
        if ((end = end_without(i, memory))) bad = i;
    if (!ok(bad < 0, "each of them refused: no more than an error or an abort"))
        printf("# number %ld: %s %d\n", bad, end < 0 ? "signal" : "exit", end < 0 ? -end : end);
}

int main(void) {
    glob_t programs;
    void *memory = memory_allocate(4096);
    memset(memory, 0, 4096);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int races = 0; races < 2; races++) {
        if (races) setenv("SIM_RACE", "1", 1);
        glob("tools/ptxsim/test/corpus/run/ok_*.ptx", 0, NULL, &programs);
        for (size_t i = 0; i < programs.gl_pathc; i++) try_program(programs.gl_pathv[i], memory);
        globfree(&programs);
    }
    memory_release(memory);
    printf("1..%d\n", tap_done);
    return tap_failed != 0;
}

#endif
