#include "device/stage.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "device/stage_code.h"

void stage_name(const char *folder, Stage *stage) {
    size_t end = strlen(folder), start;
    while (end > 1 && folder[end - 1] == '/') end--;
    for (start = end; start > 0 && folder[start - 1] != '/';) start--;
    *stage = (Stage){0};
    snprintf(stage->folder, sizeof stage->folder, "%.*s", (int)end, folder);
    snprintf(stage->name, sizeof stage->name, "%.*s", (int)(end - start), folder + start);
    const size_t digits = strspn(stage->name, "0123456789");
    if (stage->name[digits] == '_') stage->number = atoi(stage->name);
}

const char *stage_supports(const Stage *stage, const AttentionProblem *problem,
                           int compute_capability) {
    stage_code_enter(stage->name, "attention_supports");
    const char *why = stage->supports(problem, compute_capability);
    stage_code_leave();
    return why;
}

size_t stage_workspace_bytes(const Stage *stage, const AttentionProblem *problem) {
    stage_code_enter(stage->name, "attention_workspace_bytes");
    const size_t bytes = stage->workspace_bytes(problem);
    stage_code_leave();
    return bytes;
}

/* Stores the address of a symbol in the pointer variable at `target`. */
static bool find(void *library, const char *path, const char *symbol, void *target, Error *error) {
    void *address = dlsym(library, symbol);
    if (!address) return error_set(error, STATUS_FAIL, "%s does not define %s", path, symbol);
    memcpy(target, &address, sizeof address);
    return true;
}

/* While the process BUILDING runs, the make that builds the stages, a file may still come. */
static void await(const char *path) {
    const struct timespec pause = {.tv_nsec = 20000000};
    const char *builder = getenv("BUILDING");
    const pid_t process = builder ? (pid_t)strtol(builder, NULL, 10) : 0;
    while (process > 0 && access(path, F_OK) != 0 && kill(process, 0) == 0) nanosleep(&pause, NULL);
}

/* Whether a target in the PTX of the file ends with a letter (PTX ISA 11.1.2, .target): what has
 * features of one architecture runs on no other. Compressed PTX says nothing. */
static bool for_one_device(const char *path) {
    static const char target[] = ".target sm_";
    struct stat info;
    bool one = false;
    const int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &info) != 0) return false;
    const size_t size = (size_t)info.st_size;
    char *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (text == MAP_FAILED) return false;
    const char *at = text, *end = text + size;
    while (!one && (at = memmem(at, (size_t)(end - at), target, sizeof target - 1))) {
        at += sizeof target - 1;
        while (at < end && isdigit((unsigned char)*at)) at++;
        one = at < end && isalpha((unsigned char)*at);
    }
    munmap(text, size);
    return one;
}

static bool not_built(const Stage *stage, const Problem *problem, const char *path, Error *error) {
    if (stage->number == 0)
        return error_set(error, STATUS_FAIL, "%s is missing: this variant is not built", path);
    return error_set(
        error, STATUS_FAIL, "%s is missing: make stage%02d D=%d DTYPE=%s CAUSAL=%d builds it", path,
        stage->number, problem->d, problem->type == TYPE_BF16 ? "bf16" : "fp16", problem->causal);
}

bool stage_open(const char *folder, const Problem *problem, Stage *stage, Error *error) {
    char variant[VARIANT_NAME], path[PATH_MAX];
    struct stat info;
    stage_name(folder, stage);
    problem_variant(problem, variant, sizeof variant);
    snprintf(path, sizeof path, "%s/%s.so", stage->folder, variant);
    await(path);
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return error_set(error, STATUS_USAGE,
                         "%s: no such stage; allowed are folders of built "
                         "stages such as build/sm_80/07_swizzle",
                         folder);
    if (stat(path, &info) != 0) return not_built(stage, problem, path, error);
    stage_code_enter(stage->name, "the library"); /* it may run code as it is loaded */
    stage->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    stage_code_leave();
    if (!stage->library) return error_set(error, STATUS_FAIL, "%s", dlerror());
    stage->one_device = for_one_device(path);
    if (find(stage->library, path, "attention_kernels", &stage->kernels, error) &&
        find(stage->library, path, "attention_supports", &stage->supports, error) &&
        find(stage->library, path, "attention_workspace_bytes", &stage->workspace_bytes, error) &&
        find(stage->library, path, "attention_launch", &stage->launch, error))
        return true;
    stage_close(stage);
    return false;
}

static int larger(int a, int b) { return a > b ? a : b; }

StageResources stage_resources(const Stage *stage, bool simulated) {
    StageResources most = {-1, -1, -1, -1, -1};
    for (const AttentionKernel *kernel = stage->kernels; kernel->name; kernel++) {
        struct cudaFuncAttributes attributes;
        most.threads = larger(most.threads, kernel->threads);
        if (cudaFuncGetAttributes(&attributes, kernel->function) != cudaSuccess) {
            cudaGetLastError();
            continue;
        }
        most.shared_bytes =
            larger(most.shared_bytes, (int)attributes.sharedSizeBytes + kernel->dynamic_shared);
        most.ptx_version = larger(most.ptx_version, attributes.ptxVersion);
        if (simulated) continue; /* PTX has no registers of the machine, and so no spills */
        most.registers = larger(most.registers, attributes.numRegs);
        most.spill_bytes = larger(most.spill_bytes, (int)attributes.localSizeBytes);
    }
    return most;
}

bool stage_kernels_known(const Stage *stage, Error *error) {
    for (const AttentionKernel *kernel = stage->kernels; kernel->name; kernel++) {
        struct cudaFuncAttributes attributes;
        const cudaError_t code = cudaFuncGetAttributes(&attributes, kernel->function);
        if (code != cudaSuccess) cudaGetLastError();
        if (code == cudaErrorInvalidDeviceFunction)
            return error_set(error, STATUS_FAIL,
                             "the function of \"%s\" in attention_kernels is not a __global__ "
                             "function that is compiled for this device",
                             kernel->name);
    }
    return stage->kernels->name ||
           error_set(error, STATUS_FAIL, "attention_kernels names no kernel");
}

void stage_close(Stage *stage) {
    if (stage->library) dlclose(stage->library);
    stage->library = NULL;
}
