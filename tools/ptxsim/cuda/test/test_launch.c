/* Launches: what would take too long, by a clock that the test moves, and how many threads work.
 * Catches: an estimate that is wrong or comes too early, a limit that is off by one, a setting that
 * is passed over, threads that have no block to run, a stage's state that its launches share. */
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "device/simulator.h"
#include "test/stub.h"
#include "test/run_ptx.h"

/* ---- The clock and the threads --------------------------------------------------------------- */

static long tick = 0, ticks; /* nanoseconds that pass whenever somebody asks, and have passed */
static int threads;          /* that were started */
static long processors = 2;

int clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    ticks += tick;
    *time = (struct timespec){.tv_sec = ticks / 1000000000, .tv_nsec = ticks % 1000000000};
    return 0;
}

/* They do their work before they are joined. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    (void)attributes;
    *thread = pthread_self();
    threads++;
    start(argument);
    return 0;
}

int pthread_join(pthread_t thread, void **result) {
    (void)thread, (void)result;
    return 0;
}

long sysconf(int name) {
    return name == _SC_NPROCESSORS_ONLN ? processors : name == _SC_PAGESIZE ? 4096 : 1 << 20;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

#define KERNEL(code)                                                              \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p; .reg .b32 v; " \
             ".local .align 4 .b8 own[4]; .local .align 4 .b8 more[400000];\n"    \
             "ld.param.u64 p, [data];\n" code "\nret;\n}\n"
static const char plain[] = KERNEL("mov.u32 v, 1;");
static const char in_order[] = KERNEL("ld.volatile.global.u32 v, [p];");
static const char large[] = KERNEL("st.local.u32 [more], v;");

static PtxRun run(const char *text, uint32_t blocks, uint32_t width, char *said, size_t size) {
    static uint64_t data[16];
    const Capture capture = begin_capture(STDERR_FILENO);
    const PtxRun result = run_ptx_grid(text, blocks, width, data, sizeof data);
    char *words = end_capture(&capture);
    snprintf(said, size, "%s", words);
    free(words);
    return result;
}

/* With so many nanoseconds between two looks at the clock: what is said. */
static void takes(long step, uint32_t blocks, const char *expected) {
    char said[1000];
    tick = step;
    ticks = 0;
    const PtxRun result = run(plain, blocks, 1, said, sizeof said);
    is_int(result.status, *expected ? LAUNCH_TOO_LONG : LAUNCH_OK, "a launch ends so");
    is_text(said, expected, "and says");
    tick = 0;
}

#define SECOND 1000000000l
#define TOO_LONG(about, blocks, first)                                            \
    "ptxsim: kernel k would take about " about " here (" blocks " blocks; " first \
    "): choose a smaller problem, or set FORCE=1\n"

static void test_estimate(void) {
    setenv("SIM_THREADS", "1", 1);
    takes(SECOND, 30, "");
    takes(SECOND, 31, TOO_LONG("62 seconds", "31", "2.0 s for the first 1"));
    takes(SECOND, 299, TOO_LONG("598 seconds", "299", "2.0 s for the first 1"));
    takes(SECOND, 300, TOO_LONG("10 minutes", "300", "2.0 s for the first 1"));
    takes(SECOND, 3000, TOO_LONG("100 minutes", "3000", "2.0 s for the first 1"));
    takes(3 * SECOND / 10, 1000, TOO_LONG("400 seconds", "1000", "1.2 s for the first 3"));
    takes(SECOND / 2, 1000, TOO_LONG("17 minutes", "1000", "1.0 s for the first 1"));
    takes(SECOND / 1000, 100, "");
    setenv("FORCE", "1", 1);
    takes(SECOND, 1000, "");
    setenv("FORCE", "2", 1);
    takes(SECOND, 31, TOO_LONG("62 seconds", "31", "2.0 s for the first 1"));
    unsetenv("FORCE");
}

/* What no kernel could do in a minute: 2.4e12 operations for each thread. */
static void test_too_long(void) {
    setenv("SIM_THREADS", "1", 1);
    ok(!simulator_too_long(2.4e12) && simulator_too_long(2.41e12), "a minute of one thread");
    setenv("SIM_THREADS", "3", 1);
    ok(!simulator_too_long(7.2e12) && simulator_too_long(7.21e12), "and of three");
    setenv("FORCE", "1", 1);
    ok(!simulator_too_long(1e30), "FORCE=1 takes as long as it takes");
    unsetenv("FORCE");
}

static void starts(const char *text, const char *setting, uint32_t blocks, uint32_t width,
                   int expected) {
    char said[1000];
    if (setting)
        setenv("SIM_THREADS", setting, 1);
    else
        unsetenv("SIM_THREADS");
    threads = 0;
    const PtxRun result = run(text, blocks, width, said, sizeof said);
    ok(result.status == LAUNCH_OK && threads == expected, "%d threads beside the first of %s: %d",
       expected, setting ? setting : "none", threads);
    if (*said) printf("# %s\n", said);
}

static void test_threads(void) {
    starts(plain, "4", 100, 32, 3);
    starts(plain, "4", 4, 32, 3);
    starts(plain, "4", 3, 32, 2);
    starts(plain, "4", 1, 32, 0);
    starts(plain, "100", 100, 32, 15);
    starts(plain, "16", 100, 32, 15);
    starts(plain, "0", 100, 32, 1);
    starts(plain, NULL, 100, 32, 1);
    processors = 3;
    starts(plain, NULL, 100, 32, 2);
    starts(in_order, "4", 100, 32, 0);
    starts(large, "16", 16, 256, 8); /* what is local fits a GiB nine times */
}

/* The same of a block in three dimensions. */
static void test_deep(void) {
    const LaunchShape shape = {{16, 1, 1}, {4, 8, 8}, 0, false};
    static uint64_t data[16];
    void *memory = memory_allocate(sizeof data);
    memset(memory, 0, sizeof data);
    setenv("SIM_THREADS", "16", 1);
    threads = 0;
    const PtxRun run = run_ptx_shape(large, &shape, memory);
    ok(run.status == LAUNCH_OK && threads == 8, "4 x 8 x 8 threads are as many as 256");
    memory_release(memory);
}

/* What is said of a kernel with variables, while attention_launch runs or not. */
static void shares(bool watched, const char *code, const char *expected) {
    char said[1000], text[2000];
    snprintf(text, sizeof text,
             PTX_HEAD ".global .align 4 .u32 first;\n.global .align 4 .u32 _ZL5taken;\n"
                      ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p; .reg .b32 v;\n"
                      "ld.param.u64 p, [data];\n%s\nret;\n}\n",
             code);
    if (watched) simulator_watch(NULL);
    const PtxRun result = run(text, 2, 32, said, sizeof said);
    if (watched) simulator_unwatch();
    is_int(result.status, *expected ? LAUNCH_FAULT : LAUNCH_OK, code);
    is_text(said, expected, "and what is said of it");
}

#define SHARED(name)                                                                             \
    "ptxsim: kernel k stores to " name ", a variable of the whole program: two launches at the " \
    "same time would share it\n"

static void test_state(void) {
    shares(true, "st.global.u32 [p], 1;", "");
    shares(true, "ld.global.u32 v, [first]; st.global.u32 [p], v;", "");
    shares(true, "st.global.u32 [first], 1;", SHARED("first"));
    shares(true, "atom.global.add.u32 v, [_ZL5taken], 1;", SHARED("taken"));
    shares(false, "atom.global.add.u32 v, [_ZL5taken], 1;", "");
}

/* A generic access counts as one of the memory where it went. */
static void test_classes(void) {
    static const char text[] =
        PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q, r; .reg .b32 t, v; "
                 ".reg .pred g; .shared .align 4 .b8 room[128]; .local .align 4 .b8 own[4];\n"
                 "ld.param.u64 p, [data]; mov.u64 q, room; cvta.shared.u64 q, q; mov.u64 r, own; "
                 "cvta.local.u64 r, r; mov.u32 t, %tid.x; setp.ne.u32 g, t, 0;\n"
                 "st.u32 [q], 0; atom.add.u32 v, [q], 1; ld.u32 v, [q]; st.u32 [p], v; "
                 "ld.u32 v, [p]; st.u32 [r], v; @g mov.u64 q, p; ld.u32 v, [q]; ret;\n}\n";
    static const InstructionClass expected[] = {
        CLASS_SHARED_STORE, CLASS_SHARED_ATOMIC, CLASS_SHARED_LOAD, CLASS_GLOBAL_STORE,
        CLASS_GLOBAL_LOAD,  CLASS_LOCAL,         CLASS_GLOBAL_LOAD};
    const LaunchShape shape = {{1, 1, 1}, {32, 1, 1}, 0, false};
    char error[512] = "";
    Module *module = module_load(text, strlen(text), error, sizeof error);
    Kernel *kernel = module_kernel(module, "k", error, sizeof error);
    void *memory = memory_allocate(128), *arguments[] = {&memory};
    is_int(launch_run(kernel, &shape, arguments), LAUNCH_OK, "generic accesses");
    int seen = 0;
    for (int i = 0; i < kernel->ops; i++) {
        if (!kernel->count[i].requests) continue;
        ok(kernel->info[i].class == expected[seen], "the class of %s", kernel->info[i].text);
        seen++;
    }
    is_int(seen, sizeof expected / sizeof *expected, "all of them");
    memory_release(memory);
    module_free(module);
}

int main(void) {
    test_classes();
    test_estimate();
    test_too_long();
    test_threads();
    test_deep();
    test_state();
    return done_testing();
}
