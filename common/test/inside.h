/* Whole commands inside a test, on the fake runtime, with a stage that is in the program itself,
 * stamps included (fake_stamped.c). INIT=zeros makes its work easy: O is 0, and LSE counts the
 * keys. */
#ifndef INSIDE_H
#define INSIDE_H

#include "cli/cases.h"
#include "test/fake_stamped.c" /* NOLINT(bugprone-suspicious-include): it is here to be one */

#include <dlfcn.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The stage ------------------------------------------------------------------------------- */

static char folder[] = "/tmp/inside.XXXXXX", stage_a[64], stage_b[64];
static void *program;     /* the handle of this one */
static int libraries;     /* that are open */
static int d, capability; /* 0: it runs on any device */
static bool causal, wrong;
static int plain_launches;
static unsigned most_warps;     /* that a launch had room to stamp */
static uint64_t wrong_launches; /* a bit for each that alone is wrong; the first one has bit 1 */

/* In the place of the system's: each variant of each stage is this program. */
void *dlopen(const char *path, int flags) {
    if (flags != (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) exit(1); /* as it is with the runtime */
    libraries++;
    d = strstr(path, "d64") ? 64 : 128;
    causal = strstr(path, "causal") != NULL;
    timeline_buffers(&(TimelineBuffers){0});
    return program;
}

int dlclose(void *library) {
    if (library != program) exit(1); /* that is not open */
    libraries--;
    return 0;
}

const AttentionKernel attention_kernels[] = {{"fake", &libraries, 64, 0}, {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if ((double)p->batch * p->heads > INT_MAX) return "needs more than 2^31 - 1 blocks";
    return capability && compute_capability != capability ? "needs another device" : NULL;
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
    if (to.count > most_warps) most_warps = to.count;
    const bool now = ++plain_launches < 64 && wrong_launches >> plain_launches & 1;
    memset(t->O, wrong || now, 2 * (size_t)rows * (size_t)d);
    for (int r = 0; t->LSE && r < rows; r++) {
        const int visible = causal ? r % p->seq_q + 1 + p->seq_kv - p->seq_q : p->seq_kv;
        t->LSE[r] = visible > 0 ? logf((float)visible) : -INFINITY;
    }
    return cudaSuccess;
}

/* A stage with all variants, or none. */
static void create_folder(char path[64], const char *name, bool built) {
    snprintf(path, 64, "%s/%s", folder, name);
    mkdir(path, 0700);
    for (int i = 0; built && i < VARIANTS; i++) {
        char variant[128];
        snprintf(variant, sizeof variant, "%s/d%d_%s_%s.so", path, i & 1 ? 128 : 64,
                 i & 2 ? "bf16" : "fp16", i & 4 ? "causal" : "full");
        fclose(fopen(variant, "w"));
    }
}

/* Sets all of it up. */
static void create_stages(void) {
    program = ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(NULL, RTLD_LAZY);
    if (!program || !mkdtemp(folder)) exit(1);
    create_folder(stage_a, "01_a", true);
    create_folder(stage_b, "02_longer_name", true);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static void remove_stages(void) {
    if (nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0) exit(1);
}

/* ---- One run of something -------------------------------------------------------------------- */

typedef int (*Command)(const Options *options, const Device *device);

static Device device;
static Options options;
static char said[1 << 17]; /* on stdout and stderr, with "/tmp" for the folder */

static int run(Command command) {
    static FILE *file;
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    fflush(NULL);
    if (!file) file = tmpfile();
    if (!file || ftruncate(fileno(file), 0) != 0) exit(1);
    rewind(file);
    plain_launches = 0;
    dup2(fileno(file), STDOUT_FILENO), dup2(fileno(file), STDERR_FILENO);
    const int code = command(&options, &device);
    fflush(NULL);
    dup2(out, STDOUT_FILENO), dup2(err, STDERR_FILENO);
    close(out), close(err);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    const size_t length = strlen(folder);
    for (char *at = said; (at = strstr(at, folder)); at += 4) {
        memmove(at + 4, at + length, strlen(at + length) + 1);
        memcpy(at, "/tmp", 4);
    }
    return code;
}

static void parse(int count, char *const arguments[]) {
    Error error;
    if (!options_parse(count, arguments, &options, &error)) exit(error_exit(&error));
}
#define OPTIONS(...)                                                                      \
    parse(sizeof(char *[]){stage_a, stage_b, "INIT=zeros", __VA_ARGS__} / sizeof(char *), \
          (char *[]){stage_a, stage_b, "INIT=zeros", __VA_ARGS__})

#endif
