/* Records, with an allocator that refuses: each allocation of a record's life in turn. Catches:
 * memory that is used though there was none; a record that goes on without what it had to keep. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/scheduler.h"
#include "report/annotate.h"
#include "report/cut.h"
#include "report/record.h"
#include "report/recorder.h"
#include "report/test/sample_counts.h"
#include "test/allocator.h"
#include "test/run_ptx.h"
#include "test/tap.h"

#if !ALLOCATOR_COUNTS

int main(void) {
    printf("1..0 # SKIP the sanitizer is the allocator\n");
    return 0;
}

#else

static const char text[] = PTX_HEAD
    ".visible .entry k()\n{\n.reg .b32 i, v; .reg .pred g;\n.shared .align 8 .b8 room[64];\n"
    "mov.u32 i, 0; st.shared.u32 [room], i;\nLOOP: ld.shared.u32 v, [room];\n"
    "add.u32 i, i, 1; setp.lt.u32 g, i, 9;\n@g bra LOOP;\nbar.sync 0;\nret;\n}\n";
static const uint32_t shape[] = {1, 1, 1}, threads[] = {64, 1, 1};
static const Settings settings = {.budget = 1000, .threads = 1, .multiprocessors = 1};
static Module *module;
static Kernel *kernel;
static Block *block;

/* A record of its own, from its beginning to its end. */
static void record(void) {
    const WgmmaTile tile = {{2048, 128, 256, 0, 0}, 0, 8, false};
    Record *one = record_new(kernel, 0, shape, threads);
    record_begin(one, block);
    block->record = one;
    block_run(block, 0);
    block->record = NULL;
    record_end(one, block);
    record_operand(one, &tile);
    record_cut(one, 1);
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere) {
        record_json(one, nowhere);
        fclose(nowhere);
    }
    record_free(one);
}

/* The record of a kernel that goes. */
static void forget(void) {
    Record *one = recorder_begin(kernel, shape, threads, 1);
    recorder_run(one, block, 0);
    recorder_end(one);
    recorder_forget(kernel);
}

static void annotate(void) {
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere) return;
    annotate_text(&sample, nowhere);
    annotate_html(&sample, "", nowhere);
    annotate_json(&sample, "", nowhere);
    fclose(nowhere);
}

/* How that ends if allocation `which` is refused: with 0, or a signal. */
static int end_without(long which, void (*what)(void)) {
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
        refuse(which);
        what();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

/* At least so many of the allocations cannot be done without: then it ends with an abort. */
static void try_all(void (*what)(void), int needed, const char *name) {
    what();
    refuse(-1);
    what();
    const long allocations = atomic_load(&asked);
    int aborts = 0, others = 0;
    for (long i = 0; i < allocations; i++) {
        const int end = end_without(i, what);
        aborts += end == SIGABRT;
        others += end != SIGABRT && end != 0;
        if (end != SIGABRT && end != 0) printf("# number %ld: %d\n", i, end);
    }
    if (!ok(aborts >= needed && !others, "%s: %ld allocations, each refused", name, allocations))
        printf("# %d aborts, %d others\n", aborts, others);
}

int main(void) {
    char error[400] = "", path[] = "/tmp/test_refused.XXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || write(file, "one\ntwo\nthree\n", 14) != 14) return 1;
    close(file);
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("SIM_RECORD", "/dev/null", 1);
    sample_files[0] = path;
    module = module_load(text, strlen(text), error, sizeof error);
    kernel = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    if (!kernel) printf("Bail out! %s\n", error), exit(1);
    block = block_new(kernel, &settings, shape, threads, 0);
    /* the record and its warps, counters, variables; of each warp runs, requests and what is cut;
     * of the barrier arrivals and waits; footprints, a layout, loops, what is cut, spans */
    try_all(record, 1 + 3 + 3 * 2 + 3 + 2 + 2 + 3, "a record");
    try_all(forget, 1 + 3 + 2 * 2 + 3 + 2 + 2, "one that outlives its kernel, as a text");
    try_all(annotate, 0, "the annotated source");
    block_free(block);
    module_free(module);
    unlink(path);
    printf("1..%d\n", tap_done);
    return tap_failed != 0;
}

#endif
