/* A stage's names and resources, and one launch of it, on the fake runtime. Catches: a name or a
 * number that is taken from elsewhere in the path, resources that are not the largest of the
 * kernels, a launch that fails in silence, memory that it keeps. */
#include "device/stage.h"
#include "device/stage_launch.h"
#include "test/fake_runtime.h"
#include "test/tap.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void names(void) {
    static const struct {
        const char *folder, *name;
        int number;
    } of[] = {{"build/sm_80/07_swizzle", "07_swizzle", 7},
              {"07_swizzle///", "07_swizzle", 7},
              {"build/sm_80/07_swizzle//", "07_swizzle", 7},
              {"/16_persistent", "16_persistent", 16},
              {"a/mine", "mine", 0},
              {"a/_mine", "_mine", 0},
              {"a/12mine", "12mine", 0},
              {"a/7", "7", 0},
              {"/", "", 0},
              {"x", "x", 0},
              {"", "", 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        Stage stage;
        stage_name(of[i].folder, &stage);
        is_text(stage.name, of[i].name, of[i].folder);
        is_int(stage.number, of[i].number, "its number");
    }
    Stage stage;
    stage_name("a/07_b//", &stage);
    is_text(stage.folder, "a/07_b", "the folder, without what ends it");
    stage_name("/", &stage);
    is_text(stage.folder, "/", "but for the first of all");
    ok(!stage.library, "nothing is open");
}

static void opening(void) {
    const Problem p = {{1, 1, 1, 1, 1, 1}, 64, TYPE_BF16, true};
    Stage stage;
    Error error;
    ok(!stage_open("none/01_none", &p, &stage, &error) && error.status == STATUS_USAGE,
       "no such folder: %s", error.text);
    is_text(error.text,
            "none/01_none: no such stage; allowed are folders of built stages such as "
            "build/sm_80/07_swizzle",
            "which is said");
    ok(!stage_open("Makefile", &p, &stage, &error) && error.status == STATUS_USAGE,
       "a file is none");
    ok(!stage_open("common/", &p, &stage, &error) && error.status == STATUS_FAIL, "no variant");
    is_text(error.text, "common/d64_bf16_causal.so is missing: this variant is not built",
            "is said");
    is_text(stage.name, "common", "of a stage with a name");
    ok(!stage_open("stages/08_mma", &p, &stage, &error), "nor of a stage with a number");
    is_text(error.text,
            "stages/08_mma/d64_bf16_causal.so is missing: make stage08 D=64 DTYPE=bf16 CAUSAL=1 "
            "builds it",
            "which make builds");
}

static long rest;

/* In the place of the system's. */
int nanosleep(const struct timespec *time, struct timespec *left) {
    rest = time->tv_nsec;
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

/* While BUILDING runs, a variant that is not there may still come: here after 30 ms. */
static void building(const char *folder, const char *path, const char *library) {
    const Problem p = {{1, 1, 1, 1, 1, 1}, 64, TYPE_BF16, true};
    char number[32];
    Stage stage;
    Error error;
    fflush(NULL);
    const pid_t builder = fork();
    if (builder == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
        if (symlink(library, path) != 0) _exit(1);
        for (;;) pause();
    }
    snprintf(number, sizeof number, "%d", (int)builder);
    setenv("BUILDING", number, 1);
    ok(!stage_open(folder, &p, &stage, &error) && strstr(error.text, "does not define"),
       "one that comes is opened: %s", error.text);
    is_int(rest, 20000000, "it is looked for fifty times a second");
    unlink(path);
    kill(builder, SIGKILL);
    waitpid(builder, NULL, 0);
    ok(!stage_open(folder, &p, &stage, &error) && strstr(error.text, "is missing: "),
       "none comes once its builder is gone: %s", error.text);
    unsetenv("BUILDING");
}

/* The bytes of a file, and `ptx` after them, to another. */
static bool copy_and_add(const char *from, const char *to, const char *ptx) {
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    char bytes[4096];
    size_t read;
    if (!in || !out) return false;
    while ((read = fread(bytes, 1, sizeof bytes, in)) > 0) fwrite(bytes, 1, read, out);
    fputs(ptx, out);
    fclose(in);
    return fclose(out) == 0;
}

/* A library that ends with `ptx`, in the place of a variant. */
static bool one_device(const char *library, const char *path, const char *folder, const char *ptx) {
    const Problem p = {{1, 1, 1, 1, 1, 1}, 64, TYPE_BF16, true};
    Stage stage = {0};
    Error error;
    if (copy_and_add(library, path, ptx)) stage_open(folder, &p, &stage, &error);
    unlink(path);
    return stage.one_device;
}

static void targets(const char *library, const char *path, const char *folder) {
    ok(one_device(library, path, folder, ".target sm_90a"), "sm_90a is for one device");
    ok(one_device(library, path, folder, ".target sm_80 .target sm_100f "), "so is sm_100f");
    ok(!one_device(library, path, folder, ".target sm_90\na"), "sm_90 is for all newer ones");
    ok(!one_device(library, path, folder, ".target sm_90"), "also where the file ends");
    ok(!one_device(library, path, folder, "a"), "without PTX nobody knows");
}

/* A library that is none of a stage, in the place of a variant. */
static void foreign(void) {
    const Problem p = {{1, 1, 1, 1, 1, 1}, 64, TYPE_BF16, true};
    char folder[] = "/tmp/stage.XXXXXX", path[100], said[200];
    const struct link_map *map = NULL;
    Stage stage;
    Error error;
    void *library = dlopen("libm.so.6", RTLD_LAZY);
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !mkdtemp(folder)) return;
    snprintf(path, sizeof path, "%s/d64_bf16_causal.so", folder);
    snprintf(said, sizeof said, "%s does not define attention_", path);
    const bool linked = symlink(map->l_name, path) == 0;
    ok(linked && !stage_open(folder, &p, &stage, &error) && error.status == STATUS_FAIL &&
           strncmp(error.text, said, strlen(said)) == 0,
       "another library: %s", error.text);
    unlink(path);
    targets(map->l_name, path, folder);
    building(folder, path, map->l_name);
    rmdir(folder);
    dlclose(library);
}

static void resources(void) {
    static const int function;
    const AttentionKernel none[] = {{NULL, NULL, 0, 0}};
    const AttentionKernel kernels[] = {
        {"a", &function, 128, 500}, {"b", &function, 256, 100}, {NULL, NULL, 0, 0}};
    const AttentionKernel second[] = {
        {"a", &function, 128, 0}, {"b", NULL, 128, 0}, {NULL, NULL, 0, 0}};
    Stage stage = {.kernels = none};
    Error error;
    StageResources r = stage_resources(&stage, false);
    ok(r.registers == -1 && r.threads == -1 && r.shared_bytes == -1 && r.spill_bytes == -1 &&
           r.ptx_version == -1,
       "of no kernel nothing is known");
    ok(!stage_kernels_known(&stage, &error) && error.status == STATUS_FAIL, "%s", error.text);
    is_text(error.text, "attention_kernels names no kernel", "and a stage has one");
    stage.kernels = second;
    ok(!stage_kernels_known(&stage, &error) && error.status == STATUS_FAIL, "%s", error.text);
    is_text(error.text,
            "the function of \"b\" in attention_kernels is not a __global__ function that is "
            "compiled for this device",
            "a function that is none is named");
    is_int(cudaGetLastError(), cudaSuccess, "and leaves no error");
    stage.kernels = kernels;
    ok(stage_kernels_known(&stage, &error), "two that are known");
    r = stage_resources(&stage, false);
    ok(r.registers == 40 && r.threads == 256 && r.shared_bytes == 1524 && r.spill_bytes == 0,
       "the largest of each: %d %d %d %d", r.registers, r.threads, r.shared_bytes, r.spill_bytes);
    r = stage_resources(&stage, true);
    ok(r.registers == -1 && r.spill_bytes == -1 && r.threads == 256 && r.shared_bytes == 1524,
       "PTX has no registers, so no spills");
    setenv("FAKE_PTX", "80", 1);
    ok(stage_resources(&stage, true).ptx_version == 80 &&
           stage_resources(&stage, false).ptx_version == 80,
       "what it is compiled for is known on both");
    unsetenv("FAKE_PTX");
    fake_fault();
    r = stage_resources(&stage, false);
    ok(r.registers == -1 && r.threads == 256 && r.shared_bytes == -1, "none where nobody answers");
    ok(stage_kernels_known(&stage, &error), "which is no fault of the kernels");
    cudaDeviceReset();
}

/* ---- One launch ------------------------------------------------------------------------------ */

static const char *memory;
static cudaError_t result;
static bool leaves_error;
static cudaStream_t given;

static cudaError_t launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                          cudaStream_t stream) {
    (void)p, (void)t, (void)workspace;
    given = stream;
    if (memory) setenv("FAKE_MEMORY", memory, 1);
    if (leaves_error) fake_error();
    return result;
}

static const char *launched(bool simulated) {
    static Error error;
    static const Stage stage = {.launch = launch};
    static const Problem problem;
    static const AttentionTensors tensors;
    Device device;
    device_open(0, &device, &error);
    device.limit = 1;
    device.simulated = simulated;
    error = (Error){.status = STATUS_PASS};
    setenv("FAKE_MEMORY", "1000", 1);
    const bool done = launch_whole(&stage, &problem, &tensors, NULL, &device, &error);
    if (done != (error.status == STATUS_PASS)) return "a status that is not the result";
    return done ? "" : error.status == STATUS_SKIP ? "skipped" : error.text;
}

static void launches(void) {
    is_text(launched(false), "", "a launch");
    ok(given == device_stream() && given, "on the device's stream");
    leaves_error = true;
    is_text(
        launched(true),
        "attention_launch returned success, but cudaGetLastError reports: cudaErrorInvalidValue "
        "(a fake error)",
        "one that leaves an error");
    leaves_error = false;
    result = cudaErrorInvalidValue;
    is_text(launched(false), "attention_launch: cudaErrorInvalidValue (a fake error)",
            "one that fails");
    result = cudaErrorLaunchTimeout;
    is_text(launched(true), "skipped", "one that is too large to simulate");
    is_text(launched(false), "attention_launch: cudaErrorUnknown (a fake error)",
            "but not on a GPU");
    result = cudaSuccess;
    memory = "900";
    is_text(launched(true),
            "its launch changed the free memory of the device, from 1000 to 900 bytes",
            "one that keeps memory");
    is_text(launched(false), "", "which nobody can count on a GPU");
}

int main(void) {
    names();
    opening();
    foreign();
    resources();
    launches();
    return done_testing();
}
