/* What the commands take and give back: memory of the host and of the device, events, libraries;
 * and what becomes of them if one allocation is refused. The stage is in this program (inside.h).
 * Catches: memory or a library that a command does not give back; an allocation that is used before
 * it was asked whether there was memory for it; a command that passes without it. */
#include "test/allocator.h"
#include "test/tap.h"

#if !ALLOCATOR_COUNTS

int main(void) {
    printf("1..0 # SKIP the sanitizer is the allocator\n");
    return 0;
}

#else

#include "cli/fuzz.h"
#include "cli/library.h"
#include "cli/repeat.h"
#include "cli/run.h"
#include "cli/timeline.h"
#include "test/inside.h"
#include "truth/explain.h"

#include <unistd.h>

/* On every machine as many threads, and more than whose stacks the C library keeps. */
long __sysconf(int name);
long sysconf(int name) { return name == _SC_NPROCESSORS_ONLN ? 8 : __sysconf(name); }

/* What a second run takes it gives back. Returns how many allocations that is. */
static long gives_back(const char *name, Command command, int expected) {
    run(command); /* what the first keeps for all others */
    const long before = held;
    const int open = libraries;
    refuse(-1);
    const int code = run(command);
    const long allocations = asked;
    ok(code == expected && allocations > 0, "%s: exit %d, %ld allocations", name, code,
       allocations);
    if (code != expected) printf("# %s\n", said);
    is_int(held - before, 0, "all of them are given back");
    is_int(libraries - open, 0, "and the libraries are closed");
    return allocations;
}

/* The same with each of its allocations refused in turn, if there are more than `least`. */
static void without(const char *name, Command command, int expected, long least) {
    const long allocations = gives_back(name, command, expected), before = held;
    long bad = -1;
    int code = expected, missed = 0;
    for (long i = 0; i < allocations && bad < 0; i++) {
        refuse(i);
        code = run(command);
        const bool told = code != expected && strcasestr(said, "memory");
        refuse(-1);
        missed += told;
        if ((!told && code != expected) || held != before) bad = i;
    }
    if (!ok(bad < 0, "without one of them it says so, or goes on"))
        printf("# number %ld: exit %d, %ld kept: %s\n", bad, code, held - before, said);
    ok(missed >= least, "%d of them are missed, at least %ld", missed, least);
}

/* ---- What is run ----------------------------------------------------------------------------- */

/* Inputs, rows, truth, a check and an explanation, of which some rows are compared. */
static int truth_command(const Options *of, const Device *on) {
    enum { N = 34 };
    const Problem p = {{1, 1, 1, N, N, 0.125f}, 64, TYPE_FP16, true};
    static uint16_t O[N * 64];
    static float LSE[N];
    const Outputs outputs = {O, LSE};
    Inputs inputs = {0};
    Rows rows = {0};
    Truth truth = {0};
    Error error;
    (void)of, (void)on;
    const bool created = inputs_create(&p, INIT_NORMAL, 0, 1, 1, &inputs, &error) &&
                         rows_choose(&p, 1, 1, &rows, &error) &&
                         oracle_create(&p, 0.125, &inputs, &rows, &truth, &error);
    if (created && check_outputs(&p, &rows, &truth, &outputs).pass) return STATUS_PASS;
    if (created) explain_failure(stdout, &p, &rows, &truth, &outputs);
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
    return created ? STATUS_FAIL : error_exit(&error);
}

static int library_command(const Options *of, const Device *on) {
    const AttentionProblem shape = {1, 2, 1, 9, 7, 0.125f};
    const LibraryInput input = {INIT_NORMAL, 0, "normal"};
    char reason[LIBRARY_REASON] = "";
    void *library = library_open(&shape, 64, false, false, &input, 1, reason);
    (void)of, (void)on;
    printf("%s\n", reason);
    if (!library) return STATUS_SKIP;
    library_close(library);
    return STATUS_PASS;
}

/* One that another one stands behind: nothing is left of a run that failed. */
static void failing(void) {
    wrong = true;
    OPTIONS("B=1", "H=2", "HKV=1", "N=20", "REPS=3", "FORMAT=json");
    gives_back("run of what is wrong", run_command, STATUS_FAIL);
    device.simulated = true;
    OPTIONS("D=64", "DTYPE=fp16", "CAUSAL=0", "SECONDS=1000");
    gives_back("fuzz", fuzz_command, STATUS_FAIL);
    device.simulated = wrong = false;
}

int main(void) {
    static char buffer[BUFSIZ];
    Error error;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    create_stages();
    if (!device_open(0, &device, &error)) return 1;
    device.limit = 1;
    without("the truth", truth_command, STATUS_FAIL, 12);
    without("a library", library_command, STATUS_PASS, 12);
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "REPS=1", "RUNS=2");
    without("run", run_command, STATUS_PASS, 20);
    device.simulated = true;
    OPTIONS("D=64", "DTYPE=fp16", "CAUSAL=0");
    gives_back("repeat", repeat_command, STATUS_PASS);
    device.simulated = false;
    failing();
    OPTIONS("B=1", "H=2", "HKV=1", "N=20", "REPS=3");
    gives_back("timeline", timeline_command, STATUS_PASS);
    remove_stages();
    return done_testing();
}

#endif
