/* What the commands take and give back: memory of the host and of the device, events, libraries;
 * and what becomes of them if one allocation is refused. The stage is in this program, stamps
 * included (fake_stamped.c), and INIT=zeros makes its work easy: O is 0, and LSE counts the keys.
 * Catches: memory or a library that a command does not give back; an allocation that is used before
 * it was asked whether there was memory for it; a command that passes without it. */
#include "test/allocator.h"
#include "test/fake_stamped.c"
#include "test/tap.h"

#if !ALLOCATOR_COUNTS

int main(void) {
    printf("1..0 # SKIP the sanitizer is the allocator\n");
    return 0;
}

#else

#include "cli/cases.h"
#include "cli/fuzz.h"
#include "cli/library.h"
#include "cli/repeat.h"
#include "cli/run.h"
#include "cli/timeline.h"
#include "truth/explain.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The stage ------------------------------------------------------------------------------- */

static char folder[] = "/tmp/memory.XXXXXX", stage_a[64], stage_b[64];
static void *program; /* the handle of this one */
static int libraries; /* that are open */
static int d;
static bool causal, wrong;

/* In the place of the system's: each variant of each stage is this program. */
void *dlopen(const char *path, int flags) {
    (void)flags;
    libraries++;
    d = strstr(path, "d64") ? 64 : 128;
    causal = strstr(path, "causal") != NULL;
    timeline_buffers(&(TimelineBuffers){0});
    return program;
}

int dlclose(void *library) {
    libraries -= library == program;
    return 0;
}

const AttentionKernel attention_kernels[] = {{"fake", &libraries, 64, 0}, {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    (void)p, (void)compute_capability;
    return NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *p) {
    (void)p;
    return 100;
}

cudaError_t plain_launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                         cudaStream_t stream) {
    const int rows = p->batch * p->heads * p->seq_q;
    (void)workspace, (void)stream;
    fake_launch();
    memset(t->O, wrong, 2 * (size_t)rows * (size_t)d);
    for (int r = 0; t->LSE && r < rows; r++) {
        const int visible = causal ? r % p->seq_q + 1 + p->seq_kv - p->seq_q : p->seq_kv;
        t->LSE[r] = visible > 0 ? logf((float)visible) : -INFINITY;
    }
    return cudaSuccess;
}

static void create_folder(char path[64], const char *name) {
    snprintf(path, 64, "%s/%s", folder, name);
    mkdir(path, 0700);
    for (int i = 0; i < VARIANTS; i++) {
        char variant[128];
        snprintf(variant, sizeof variant, "%s/d%d_%s_%s.so", path, i & 1 ? 128 : 64,
                 i & 2 ? "bf16" : "fp16", i & 4 ? "causal" : "full");
        fclose(fopen(variant, "w"));
    }
}

/* ---- One run of something -------------------------------------------------------------------- */

typedef int (*Command)(const Options *options, const Device *device);

static Device device;
static Options options;
static FILE *file;
static char said[1 << 16]; /* on stdout and stderr */

static int run(Command command) {
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    fflush(NULL);
    rewind(file);
    if (ftruncate(fileno(file), 0) != 0) abort();
    dup2(fileno(file), STDOUT_FILENO), dup2(fileno(file), STDERR_FILENO);
    const int code = command(&options, &device);
    fflush(NULL);
    dup2(out, STDOUT_FILENO), dup2(err, STDERR_FILENO);
    close(out), close(err);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    return code;
}

static void parse(int count, char *const arguments[]) {
    Error error;
    if (!options_parse(count, arguments, &options, &error)) exit(error_exit(&error));
}
#define OPTIONS(...)                                                                      \
    parse(sizeof(char *[]){stage_a, stage_b, "INIT=zeros", __VA_ARGS__} / sizeof(char *), \
          (char *[]){stage_a, stage_b, "INIT=zeros", __VA_ARGS__})

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
    file = tmpfile();
    program = ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(NULL, RTLD_LAZY);
    if (!file || !program || !mkdtemp(folder) || !device_open(0, &device, &error)) return 1;
    device.limit = 1;
    create_folder(stage_a, "01_a");
    create_folder(stage_b, "02_b");
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
    return done_testing();
}

#endif
