#include "cuda/registry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fatbin.h"

enum { ERROR_BYTES = 1024 };

/* One fatbin: a program part, such as a stage's shared object. */
typedef struct Program {
    FatbinPtx ptx;
    FatbinStatus status;
    Module *module; /* NULL until a kernel or variable is asked for */
    bool failed;    /* it could not be loaded, and that was said */
} Program;

typedef struct HostVariable {
    const void *host;
    char *name;
    Program *program;
    struct HostVariable *next;
} HostVariable;

/* The process has one device, and so one list of what is on it. */
static struct {
    Function *functions;
    HostVariable *variables;
    Module *modules;
} registry;

static void *new_entry(size_t bytes) {
    void *entry = calloc(1, bytes);
    if (!entry) abort();
    return entry;
}

static char *copy_name(const char *name) {
    char *copy = strdup(name);
    if (!copy) abort();
    return copy;
}

/* ---- Modules --------------------------------------------------------------------------------- */

static Module *load(Program *program) {
    char error[ERROR_BYTES];
    const char *why = error;
    if (program->module || program->failed) return program->module;
    if (program->status == FATBIN_OK)
        program->module = module_load(program->ptx.text, program->ptx.length, error, sizeof error);
    else
        why = fatbin_message(program->status);
    if (!program->module) {
        fprintf(stderr, "ptxsim: %s\n", why);
        program->failed = true;
        return NULL;
    }
    program->module->next = registry.modules;
    registry.modules = program->module;
    return program->module;
}

Module *registry_modules(void) { return registry.modules; }

void registry_reset_counters(void) {
    for (Function *f = registry.functions; f; f = f->next) f->threads = 0, f->dynamic = 0;
    for (Module **link = &registry.modules; *link;) {
        Module *module = *link;
        if (module->retired) {
            *link = module->next;
            module_free(module);
            continue;
        }
        module_reset_counters(module);
        link = &module->next;
    }
}

/* ---- Lookups --------------------------------------------------------------------------------- */

Function *registry_functions(void) { return registry.functions; }

Function *registry_function(const void *host) {
    Function *function = registry.functions;
    while (function && function->host != host) function = function->next;
    return function;
}

/* The kernel, decoded when it is first asked for: by one thread of the host at a time. */
static Kernel *decoded(const Function *function, char error[ERROR_BYTES]) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&turn);
    Module *module = load(function->program);
    Kernel *kernel = module ? module_kernel(module, function->name, error, ERROR_BYTES) : NULL;
    pthread_mutex_unlock(&turn);
    return kernel;
}

Kernel *registry_kernel(Function *function) {
    char error[ERROR_BYTES] = "";
    Kernel *kernel = decoded(function, error);
    if (!kernel && !*error) return NULL;
    if (!kernel && !function->failed) fprintf(stderr, "ptxsim: %s\n", error);
    function->failed = !kernel;
    return kernel;
}

int registry_ptx_version(const Function *function) { return function->program->ptx.architecture; }

bool registry_variable(const void *host, void **address, size_t *bytes) {
    for (const HostVariable *v = registry.variables; v; v = v->next) {
        if (v->host != host) continue;
        const Module *module = load(v->program);
        return module && module_variable(module, v->name, address, bytes);
    }
    return false;
}

bool registry_in_variable(const void *address) {
    const Module *module = registry.modules;
    while (module && !module_in_variable(module, address)) module = module->next;
    return module != NULL;
}

/* ---- What nvcc's stubs call ------------------------------------------------------------------ */

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, void *thread, void *block, void *block_size,
                            void *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                       size_t bytes, int constant, int global);

void **__cudaRegisterFatBinary(void *wrapper) {
    Program *program = new_entry(sizeof *program);
    const void *data;
    size_t size;
    program->status = fatbin_unwrap(wrapper, &data, &size);
    if (program->status == FATBIN_OK)
        program->status = fatbin_find_ptx(data, size, CAPABILITY, &program->ptx);
    return (void **)program;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

char __cudaInitModule(void **handle) {
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, void *thread, void *block, void *block_size,
                            void *grid_size, int *warp_size) {
    Function *function = new_entry(sizeof *function);
    (void)device, (void)thread_limit, (void)thread, (void)block;
    (void)block_size, (void)grid_size, (void)warp_size;
    *function = (Function){.host = host, .program = (Program *)handle, .next = registry.functions};
    function->name = copy_name(name);
    function->dynamic_limit = NOT_ASKED;
    registry.functions = function;
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                       size_t bytes, int constant, int global) {
    HostVariable *variable = new_entry(sizeof *variable);
    (void)device, (void)ext, (void)bytes, (void)constant, (void)global;
    *variable = (HostVariable){host, copy_name(name), (Program *)handle, registry.variables};
    registry.variables = variable;
}

static void forget_functions(const Program *program) {
    for (Function **link = &registry.functions; *link;) {
        Function *function = *link;
        if (function->program != program) {
            link = &function->next;
            continue;
        }
        *link = function->next;
        free(function->name);
        free(function);
    }
}

static void forget_variables(const Program *program) {
    for (HostVariable **link = &registry.variables; *link;) {
        HostVariable *variable = *link;
        if (variable->program != program) {
            link = &variable->next;
            continue;
        }
        *link = variable->next;
        free(variable->name);
        free(variable);
    }
}

/* The counters outlive the program part: its module is only retired. */
void __cudaUnregisterFatBinary(void **handle) {
    Program *program = (Program *)handle;
    forget_functions(program);
    forget_variables(program);
    if (program->module) program->module->retired = true;
    free(program);
}
