#include "analysis/host_code.h"

#include "attention.h"

#include <dlfcn.h>
#include <string.h>

/* A stage leaves the CUDA runtime undefined; these stand in for the part of it that runs when the
 * library is opened. They only listen: which host function is which kernel. */
void **__cudaRegisterFatBinary(const void *fatbin);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, void *a, void *b, void *c, void *d, int *e);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global);

/* A library has more kernels than it launches: each instance of a template is one. */
enum { MAX_REGISTERED = 4096 };

/* The runtime's calls carry no context of ours, so what they say is kept here. */
static struct {
    const void *function[MAX_REGISTERED];
    const char *symbol[MAX_REGISTERED];
    int count;
} registered;

void **__cudaRegisterFatBinary(const void *fatbin) {
    static void *handle;
    (void)fatbin;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, void *a, void *b, void *c, void *d, int *e) {
    (void)handle, (void)name, (void)threads, (void)a, (void)b, (void)c, (void)d, (void)e;
    if (registered.count == MAX_REGISTERED) return;
    registered.function[registered.count] = host;
    registered.symbol[registered.count++] = device;
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global) {
    (void)handle, (void)host, (void)device, (void)name;
    (void)external, (void)size, (void)constant, (void)global;
}

static const char *symbol_of(const void *function) {
    for (int i = 0; i < registered.count; i++)
        if (registered.function[i] == function) return registered.symbol[i];
    return NULL;
}

int launches_read(const char *path, Launch launches[MAX_LAUNCHES]) {
    registered.count = 0;
    /* Lazily: nothing that would need the rest of the runtime is called. Never closed, as the names
     * are the library's. */
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    const AttentionKernel *kernel = library ? dlsym(library, "attention_kernels") : NULL;
    int count = 0;
    for (; kernel && kernel->name && count < MAX_LAUNCHES; kernel++) {
        const char *symbol = symbol_of(kernel->function);
        if (symbol) launches[count++] = (Launch){kernel->name, symbol, kernel->dynamic_shared};
    }
    return count;
}
