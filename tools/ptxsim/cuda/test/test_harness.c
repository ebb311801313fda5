/* What the harness reads of the counters (common/device/counters.h), where there are several
 * modules, kernels that were not launched, or little memory. Catches: counters of nothing, or of a
 * kernel that waits; a line that is counted in another module's file; counts that stay after a
 * reset; memory that is used without being there, or kept; a kernel that the stage does not list.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "cuda/registry.h"
#include "device/counters.h"
#include "device/simulator.h"
#include "test/allocator.h"
#include "test/stub.h"

/* Two files, a kernel that is launched and one that is not. */
#define MODULE(file, other, line)                                                               \
    ".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"" file "\"\n.file 3 \"" other    \
    "\"\n.visible .global .align 4 .u32 number = 5;\n.visible .entry k()\n{\n.reg .b32 a;\n"    \
    ".loc 1 " line " 1\nmov.u32 a, 1;\n.loc 3 " line " 1\nadd.u32 a, a, a;\nadd.u32 a, a, a;\n" \
    "ret;\n}\n.visible .entry idle()\n{\nret;\n}\n"                                             \
    ".visible .entry broken()\n{\nfrob;\n}\n.visible .entry bad()\n{\ntrap;\n}\n"
static const char one_ptx[] = MODULE("one.cu", "shared.cu", "4");
static const char two_ptx[] = MODULE("two.cu", "another.cu", "7");
static const char one, two, idle_one, idle_two, broken, bad;
static char number;
static Fatbin fatbin_one, fatbin_two;

static cudaError_t start(const char *host, unsigned blocks) {
    return cudaLaunchKernel(host, (dim3){blocks, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
}

static char *report(void (*write)(FILE *)) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    write(out);
    fclose(out);
    return text;
}

static void write_text(FILE *out) { counters_annotate(out, NULL); }
static void write_page(FILE *out) { counters_annotate(out, "a < b"); }
static void write_lines(FILE *out) { counters_lines(out, "07"); }

static void says(void (*write)(FILE *), const char *part, bool expected) {
    char *text = report(write);
    if (!ok((strstr(text, part) != NULL) == expected, "%s '%s'", expected ? "says" : "is without",
            part))
        printf("# %s\n", text);
    free(text);
}

static void *register_all(void) {
    void **first = register_ptx(&fatbin_one, one_ptx),
         **second = register_ptx(&fatbin_two, two_ptx);
    register_kernel(first, &one, "k");
    register_kernel(first, &idle_one, "idle");
    register_kernel(first, &broken, "broken");
    register_kernel(first, &bad, "bad");
    register_kernel(second, &two, "k");
    register_kernel(second, &idle_two, "idle");
    __cudaRegisterVar(first, &number, NULL, "number", 0, 4, 0, 0);
    return first;
}

static void is_nothing(const char *name) {
    Counters counters;
    char *text = report(counters_report), *page = report(write_page);
    ok(!counters_read(&counters) && !*text && !*page, "%s: no counters", name);
    free(text);
    free(page);
}

static void test_counts(void) {
    Counters counters;
    ok(counters_simulated(), "the simulator counts");
    start(&one, 1);
    ok(counters_read(&counters) && counters.warp_instructions == 4, "one kernel");
    start(&two, 3);
    start(&two, 1);
    ok(counters_read(&counters) && counters.warp_instructions == 4 + 4 * 4, "two kernels");
    struct cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, &idle_one); /* decodes it */
    ok(counters_read(&counters) && counters.warp_instructions == 20, "but not one that waits");
    says(counters_report, "idle", false);
    says(write_text, "one.cu", true);
    says(write_text, "two.cu", true);
    says(write_text, "shared.cu", true);
    says(write_text, "another.cu", true);
    says(write_page, "<html", true);
    says(write_text, "<html", false);
    says(write_lines, "{\"name\":\"07\",\"file\":", true);
    counters_reset();
    is_nothing("after a reset");
    start(&one, 2);
    ok(counters_read(&counters) && counters.warp_instructions == 8, "and they begin anew");
    says(write_text, "one.cu", true);
    says(write_text, "another.cu", false);
}

static void test_unlisted(void) {
    const AttentionKernel kernels[] = {{"1", &one, 32, 0}, {"2", &two, 32, 0}, {NULL, NULL, 0, 0}};
    counters_reset();
    ok(!simulator_unlisted(kernels), "nothing was launched, so nothing is missing");
    start(&one, 1);
    start(&two, 1);
    ok(!simulator_unlisted(kernels), "two kernels are in the list");
    is_text(simulator_unlisted(kernels + 1), "k", "one is not");
    start(&idle_two, 1);
    is_text(simulator_unlisted(kernels), "idle", "another one is not");
    counters_reset();
    ok(!simulator_unlisted(kernels), "which is forgotten with the counters");
    AttentionKernel fits[] = {{"1", &one, 64, 16}, {NULL, NULL, 0, 0}};
    is_int(cudaLaunchKernel(&one, (dim3){1, 1, 1}, (dim3){16, 2, 2}, NULL, 16, NULL), 0,
           "64 threads, 16 bytes");
    start(&one, 1);
    ok(!simulator_unlisted(fits), "no block is larger than its entry says");
    fits->threads--;
    is_text(simulator_unlisted(fits), "k", "one has a thread more");
    fits->threads++, fits->dynamic_shared--;
    is_text(simulator_unlisted(fits), "k", "one has a byte more");
    counters_reset();
}

#if ALLOCATOR_COUNTS

/* All that a program does with the simulator. */
static void use_all(void) {
    void *address;
    void **handle = register_all();
    start(&one, 2);
    start(&two, 1);
    for (int i = 0; i < 2; i++) start(&broken, 1);
    setenv("SIM_RECORD", "/dev/null", 1);
    start(&bad, 3);
    unsetenv("SIM_RECORD");
    cudaGetLastError();
    cudaDeviceReset();
    cudaGetSymbolAddress(&address, &number);
    Counters counters;
    counters_read(&counters);
    __cudaUnregisterFatBinary(handle);
}

/* How that ends if allocation `which` is refused: 0, or an abort, or an exit with 1 are in order.
 */
static bool ends_well(long which) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
        refuse(which);
        use_all();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : WEXITSTATUS(status) <= 1;
}

static void test_little_memory(void) {
    long which = -1;
    refuse(-1);
    use_all();
    const long allocations = atomic_load(&asked);
    for (long i = 0; i < allocations && which < 0; i++)
        if (!ends_well(i)) which = i;
    ok(allocations > 20 && which < 0, "each of %ld allocations refused: an error or an abort (%ld)",
       allocations, which);
}

/* The counters cannot be read, and nothing is kept of the attempt. */
static void test_no_snapshot(void) {
    Counters counters;
    start(&one, 1);
    start(&two, 1);
    const long before = atomic_load(&held);
    refuse(-1);
    bool good = counters_read(&counters);
    const long allocations = atomic_load(&asked);
    for (long i = 0; i < allocations; i++) {
        refuse(i);
        good &= !counters_read(&counters);
    }
    refuse(-1);
    ok(good && allocations == 5, "counters need %ld allocations, all of them", allocations);
    is_int(atomic_load(&held) - before, 0, "which are given back");
}

#else
static void test_little_memory(void) {}
static void test_no_snapshot(void) {}
#endif

int main(void) {
    test_little_memory();
    counters_reset();
    is_nothing("before any launch");
    register_all();
    is_nothing("with kernels that nobody launched");
    test_counts();
    test_unlisted();
    test_no_snapshot();
    return done_testing();
}
