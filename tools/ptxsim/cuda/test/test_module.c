/* Modules: names of kernels, variables, and why one cannot be loaded. Catches: a mangled name that
 * is read wrongly, a kernel that is decoded twice, one that is broken and forgotten, variables at
 * the limit, an address in an initial value, counters that stay. */
#include "cuda/module.h"

#include <stdlib.h>

#include "test/run_ptx.h"
#include "test/tap.h"

static char error[512];

static Module *load(const char *text) {
    char whole[2000];
    snprintf(whole, sizeof whole, PTX_HEAD "%s", text);
    error[0] = '\0';
    return module_load(whole, strlen(whole), error, sizeof error);
}

static void called(const char *mangled, const char *expected) {
    char text[300];
    snprintf(text, sizeof text, ".visible .entry %s() { ret; }", mangled);
    Module *module = load(text);
    const Kernel *kernel = module ? module_kernel(module, mangled, error, sizeof error) : NULL;
    is_text(kernel ? kernel->name : error, expected, mangled);
    if (kernel) is_text(kernel->totals.name, expected, "and so in its counters");
    module_free(module);
}

static void test_names(void) {
    called("plain", "plain");
    called("_Z9flash_fwdPK6__half", "flash_fwd");
    called("_ZL5localv", "local");
    called("_ZN12_GLOBAL__N_19flash_fwdE", "flash_fwd");
    called("_ZNL3one3twoEv", "two");
    called("_Z3tooIfEvv", "too");
    called("_Z99short", "_Z99short");
    called("_Z0x", "_Z0x");
    called("_ZN", "_ZN");
    called("_Z", "_Z");
    called("_Zx", "_Zx");
    called("_Y3abc", "_Y3abc");
    called("x_Z3abc", "x_Z3abc");
    called("_Z4four", "four");
    called("_Z5four", "_Z5four");
}

static void test_kernels(void) {
    Module *module = load(".entry a() { ret; }\n.func f() { ret; }\n.entry b() { frob.u32 1; }\n"
                          ".entry c();\n.entry d() { ret; }\n");
    is_int(module->kernels, 3, "three kernels that have a body");
    Kernel *a = module_kernel(module, "a", error, sizeof error);
    ok(a && a == module_kernel(module, "a", error, sizeof error) && a->ops == 2, "a kernel, once");
    ok(a && a->info[0].file == -1 && a->info[0].line == 0 && a->info[0].class == CLASS_BRANCH &&
           strcmp(a->info[0].text, "ret") == 0 && a->totals.instructions == 2,
       "of which no line is known");
    ok(module_kernel(module, "d", error, sizeof error) == &module->kernel[2], "the third");
    for (int i = 0; i < 2; i++) {
        strcpy(error, "");
        ok(!module_kernel(module, "b", error, sizeof error), "a broken one");
        is_text(error, "unsupported instruction in kernel b (PTX line 6): frob.u32 1", "says why");
    }
    ok(!module_kernel(module, "c", error, sizeof error), "one without a body");
    is_text(error, "the PTX has no kernel c", "is none");
    ok(!module_kernel(module, "f", error, sizeof error), "nor is a function");
    Module *clusters = load(".entry a() .explicitcluster .reqnctapercluster 1, 1, 1 { ret; }\n"
                            ".entry b() .explicitcluster .reqnctapercluster 1, 2 { ret; }\n");
    ok(module_kernel(clusters, "a", error, sizeof error), "a cluster of one block");
    ok(!module_kernel(clusters, "b", error, sizeof error), "not one of two");
    is_text(error, "kernel b: clusters of more than one block are not supported", "says why");
    module_free(clusters);
    ok(!load(".frob"), "what is no PTX");
    is_text(error, "PTX line 4: unknown directive .frob, near ''", "says why");
    a->count[0].executions = a->totals.launches = a->totals.blocks = 5;
    a->totals.distinct_load_sectors = a->totals.distinct_store_sectors = 6;
    module_reset_counters(module);
    ok(!a->count[0].executions && !a->totals.launches && !a->totals.blocks &&
           !a->totals.distinct_load_sectors && !a->totals.distinct_store_sectors,
       "counters are reset");
    module_free(module);
}

static void test_variables(void) {
    const size_t before = memory_free_bytes();
    void *address, *other;
    size_t bytes = 0;
    Module *module = load(".global .align 4 .u32 numbers[3] = {7, 8};\n.const .u8 one = 9;\n"
                          ".shared .b32 shared;\n"
                          ".global .u64 places[3] = {numbers, generic(numbers)+4, 0};\n");
    ok(module_variable(module, "numbers", &address, &bytes) && bytes == 12, "a variable");
    const uint32_t *number = address;
    ok(number[0] == 7 && number[1] == 8 && number[2] == 0, "its values, and zeros");
    ok(module_variable(module, "one", &other, &bytes) && bytes == 1 && *(uint8_t *)other == 9,
       "a constant");
    ok(!module_variable(module, "shared", &other, &bytes), "not what each block has");
    ok(!module_variable(module, "number", &other, &bytes), "nor what is none");
    ok(module_variable(module, "places", &other, &bytes), "addresses");
    const uint64_t *place = other;
    ok(place[0] == (uintptr_t)number && place[1] == (uintptr_t)number + 4 && place[2] == 0,
       "are those of the variable");
    ok(before - memory_free_bytes() == 12 + 1 + 24, "they take memory");
    module_free(module);
    ok(memory_free_bytes() == before, "and give it back");
    module = load(".global .b8 a[268435455]; .global .b8 b; .shared .b8 c[99];");
    ok(module != NULL, "as many bytes as may be");
    module_free(module);
    ok(!load(".global .b8 a[268435455]; .global .b16 b;"), "one more");
    is_text(error, "the module has more than 268435456 bytes of global variables", "says so");
    ok(!load(".global .b8 a[268435456]; .const .b8 b[4000000000];"), "many more");
    ok(memory_free_bytes() == before, "nothing stays");
    module_free(NULL);
}

int main(void) {
    test_names();
    test_kernels();
    test_variables();
    return done_testing();
}
