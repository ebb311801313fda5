#include "cuda/module.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "machine/memory/memory.h"
#include "ptx/bounds.h"
#include "report/recorder.h"

/* ---- Variables ------------------------------------------------------------------------------- */

static bool allocate_variable(Variable *v) {
    if (v->space == SPACE_SHARED || v->placed) return true;
    uint8_t *memory = memory_allocate((size_t)v->bytes);
    if (!memory) return false;
    memset(memory, 0, (size_t)v->bytes);
    if (v->initial) memcpy(memory, v->initial, (size_t)v->bytes);
    v->address = (uint64_t)(uintptr_t)memory;
    v->placed = true;
    return true;
}

/* A device address is also its generic address. */
static void relocate(const Variable *v) {
    for (int i = 0; i < v->relocations; i++) {
        const Relocation *r = &v->relocation[i];
        const uint64_t value = r->target->address + (uint64_t)r->addend;
        memcpy((uint8_t *)(uintptr_t)v->address + r->offset, &value, sizeof value);
    }
}

/* Of all variables but the shared ones; what is too much to count is MAX_MODULE_VARIABLES + 1. */
static uint64_t variable_bytes(const PtxModule *ptx) {
    uint64_t sum = 0;
    for (int i = 0; i < ptx->variables; i++) {
        const Variable *v = ptx->variable[i];
        if (v->space == SPACE_SHARED) continue;
        if (v->bytes > MAX_MODULE_VARIABLES - sum) return MAX_MODULE_VARIABLES + 1;
        sum += v->bytes;
    }
    return sum;
}

static bool allocate_variables(PtxModule *ptx) {
    for (int i = 0; i < ptx->variables; i++)
        if (!allocate_variable(ptx->variable[i])) return false;
    for (int i = 0; i < ptx->variables; i++) relocate(ptx->variable[i]);
    return true;
}

static void release_variables(const PtxModule *ptx) {
    for (int i = 0; i < ptx->variables; i++) {
        const Variable *v = ptx->variable[i];
        if (v->placed && v->space != SPACE_SHARED) memory_release((void *)(uintptr_t)v->address);
    }
}

bool module_variable(const Module *module, const char *name, void **address, size_t *bytes) {
    for (int i = 0; i < module->ptx->variables; i++) {
        const Variable *v = module->ptx->variable[i];
        if (v->space == SPACE_SHARED || !text_is(v->name, name)) continue;
        *address = (void *)(uintptr_t)v->address;
        *bytes = (size_t)v->bytes;
        return true;
    }
    return false;
}

bool module_in_variable(const Module *module, const void *address) {
    for (int i = 0; i < module->ptx->variables; i++) {
        const Variable *v = module->ptx->variable[i];
        const uint64_t offset = (uint64_t)(uintptr_t)address - v->address;
        if (v->space != SPACE_SHARED && v->placed && offset < (uint64_t)v->bytes) return true;
    }
    return false;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* The last source name of a mangled one: _Z9flash_fwdPK... is flash_fwd, and so is
 * _ZN12_GLOBAL__N_19flash_fwdE. Anything else stays as it is. */
static const char *readable_name(Arena *arena, Text mangled) {
    const char *at = mangled.at, *end = mangled.at + mangled.length;
    Text name = mangled;
    if (mangled.length > 2 && at[0] == '_' && at[1] == 'Z') {
        at += 2;
        const bool nested = at < end && *at == 'N';
        at += nested;
        if (at < end && *at == 'L') at++;
        while (at < end && isdigit((unsigned char)*at)) {
            char *after;
            const long length = strtol(at, &after, 10);
            if (length <= 0 || length > end - after) break;
            name = (Text){after, (int)length};
            at = after + length;
            if (!nested) break;
        }
    }
    char *copy = arena_alloc(arena, (size_t)name.length + 1);
    memcpy(copy, name.at, (size_t)name.length);
    return copy;
}

const char *module_stored(Kernel *kernel) {
    for (int i = 0; i < kernel->ptx->variables; i++) {
        const Variable *v = kernel->ptx->variable[i];
        if (v->space == SPACE_GLOBAL && v->placed && memory_stored(v->address))
            return readable_name(&kernel->arena, v->name);
    }
    return NULL;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static char *copy_text(Arena *arena, Text text) {
    char *copy = arena_alloc(arena, (size_t)text.length + 1);
    memcpy(copy, text.at, (size_t)text.length);
    return copy;
}

static void describe(Kernel *k) {
    const PtxModule *ptx = k->ptx;
    InstructionInfo *info = arena_alloc(&k->arena, (size_t)k->ops * sizeof *info);
    k->count = arena_alloc(&k->arena, (size_t)k->ops * sizeof *k->count);
    for (int i = 0; i < k->ops; i++) {
        const Location *l = ptx_location(ptx, k->op[i].source);
        info[i].class = (InstructionClass)k->op[i].class;
        info[i].file = l ? l->file : -1;
        info[i].line = l ? l->line : 0;
        info[i].text = copy_text(&k->arena, k->op[i].source->text);
    }
    k->info = info;
    k->totals.name = k->name;
    k->totals.instructions = (size_t)k->ops;
    k->totals.info = info;
    k->totals.count = k->count;
}

static bool build_kernel(Kernel *k, const PtxFunction *function, char *error, size_t size) {
    k->name = readable_name(&k->arena, function->name);
    if (function->clustered) {
        snprintf(error, size, "kernel %s: clusters of more than one block are not supported",
                 k->name);
        return false;
    }
    k->function = ptx_inline(k->ptx, function, error, size);
    if (!k->function || !decode_kernel(k, error, size)) return false;
    describe(k);
    return true;
}

static void free_kernel(Kernel *k) {
    recorder_forget(k);
    free(k->op);
    free(k->value);
    free(k->parameter);
    arena_free(&k->arena);
}

/* kernels of ptx, counted in order */
static const PtxFunction *nth_kernel(const PtxModule *ptx, int n) {
    for (int i = 0; i < ptx->functions; i++)
        if (ptx->function[i].is_kernel && ptx->function[i].has_body && n-- == 0)
            return &ptx->function[i];
    return NULL;
}

Kernel *module_kernel(Module *module, const char *name, char *error, size_t error_size) {
    for (int i = 0; i < module->kernels; i++) {
        const PtxFunction *function = nth_kernel(module->ptx, i);
        Kernel *k = &module->kernel[i];
        if (!text_is(function->name, name)) continue;
        if (k->ptx && !module->broken[i]) return k;
        if (!k->ptx) {
            k->ptx = module->ptx;
            if (build_kernel(k, function, error, error_size)) return k;
            module->broken[i] = strdup(error);
            if (!module->broken[i]) abort();
        }
        snprintf(error, error_size, "%s", module->broken[i]);
        return NULL;
    }
    snprintf(error, error_size, "the PTX has no kernel %s", name);
    return NULL;
}

/* ---- Modules --------------------------------------------------------------------------------- */

Module *module_load(const char *text, size_t length, char *error, size_t error_size) {
    Module *m = calloc(1, sizeof *m);
    if (!m) abort();
    m->ptx = ptx_parse(text, length, error, error_size);
    if (m->ptx && variable_bytes(m->ptx) > MAX_MODULE_VARIABLES) {
        snprintf(error, error_size, "the module has more than %d bytes of global variables",
                 MAX_MODULE_VARIABLES);
        module_free(m);
        return NULL;
    }
    if (m->ptx && !allocate_variables(m->ptx)) {
        snprintf(error, error_size, "not enough device memory for the module's variables");
        module_free(m);
        return NULL;
    }
    if (!m->ptx) {
        free(m);
        return NULL;
    }
    while (nth_kernel(m->ptx, m->kernels)) m->kernels++;
    m->kernel = calloc((size_t)m->kernels + 1, sizeof *m->kernel);
    m->broken = calloc((size_t)m->kernels + 1, sizeof *m->broken);
    if (!m->kernel || !m->broken) abort();
    return m;
}

void module_reset_counters(Module *module) {
    for (int i = 0; i < module->kernels; i++) {
        Kernel *k = &module->kernel[i];
        KernelCounts *totals = &k->totals;
        if (!totals->launches) continue; /* nothing is counted: most kernels of a grid wait */
        memset(k->count, 0, (size_t)k->ops * sizeof *k->count);
        totals->launches = totals->blocks = 0;
        totals->distinct_load_sectors = totals->distinct_store_sectors = 0;
    }
}

void module_free(Module *module) {
    if (!module) return;
    for (int i = 0; i < module->kernels; i++) {
        free_kernel(&module->kernel[i]);
        free(module->broken[i]);
    }
    release_variables(module->ptx);
    ptx_free(module->ptx);
    free(module->kernel);
    free(module->broken);
    free(module);
}
