/* The kernels that a library's table names. Catches: one under another one's name, one of the
 * library before, more of them than there is room for, a library without a table. The libraries
 * here are the test itself: what is opened registers its kernels and has this table. */
#include "analysis/host_code.h"
#include "test/tap.h"
#include "attention.h"

#include <dlfcn.h>
#include <string.h>

void **__cudaRegisterFatBinary(const void *fatbin);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, void *a, void *b, void *c, void *d, int *e);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global);

enum { MANY = MAX_LAUNCHES + 4 };

static char function[MANY], symbol[2][MANY][8];
static int registers, library, opened_with;

/* By another name here, because theirs is constant. */
AttentionKernel table[MANY + 1] __asm__("attention_kernels");

/* As the loader: runs what stands in the library for its start, and gives a handle of it. */
void *dlopen(const char *path, int mode) {
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    opened_with = mode;
    if (strcmp(path, "none.so") == 0) return NULL;
    void **handle = __cudaRegisterFatBinary(NULL);
    for (int i = 0; i < registers; i++)
        __cudaRegisterFunction(handle, &function[i], symbol[library][i], "name", -1, NULL, NULL,
                               NULL, NULL, NULL);
    __cudaRegisterVar(handle, NULL, NULL, "variable", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    __cudaUnregisterFatBinary(handle);
    return next(strcmp(path, "other.so") == 0 ? "libm.so.6" : NULL, mode);
}

/* "NAME SYMBOL BYTES, ..." of what is launched. */
static void is_launched(const char *path, const char *expected, const char *what) {
    char text[500] = "";
    Launch launches[MAX_LAUNCHES + 2];
    memset(launches, 0, sizeof launches);
    const int count = launches_read(path, launches);
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %s %d", used ? ", " : "", launches[i].name,
                 launches[i].symbol, launches[i].dynamic_shared);
    }
    is_text(text, expected, what);
    ok(!launches[MAX_LAUNCHES].name, "no more than there is room for");
}

static void launch(int at, const char *name, const void *kernel, int bytes) {
    table[at] = (AttentionKernel){name, kernel, 32, bytes};
}

static void test_tables(void) {
    registers = 3;
    launch(0, "last", &function[2], 64);
    launch(1, "unknown", &function[3], 7);
    launch(2, "first", &function[0], 0);
    is_launched("a.so", "last a2 64, first a0 0", "the table's order; only what is registered");
    ok(opened_with & RTLD_LAZY && !(opened_with & RTLD_GLOBAL),
       "what the library lacks is not looked for, and others do not see it");
    library = 1;
    registers = 1;
    launch(1, "another", &function[1], 7);
    is_launched("b.so", "first b0 0", "nothing of the library before");
    launch(0, NULL, &function[0], 0);
    is_launched("b.so", "", "an empty table");
    is_launched("none.so", "", "no library");
    is_launched("other.so", "", "one without a table");
}

static void test_many(void) {
    char expected[500] = "";
    registers = MANY;
    for (int i = 0; i < MANY; i++) launch(i, "k", &function[MANY - 1 - i], i);
    for (int i = 0; i < MAX_LAUNCHES; i++)
        sprintf(expected + strlen(expected), "%sk b%d %d", *expected ? ", " : "", MANY - 1 - i, i);
    is_launched("b.so", expected, "kernels that are registered behind many others");
    strcpy(expected, "k b0 0");
    for (int i = 0; i < MANY; i++) launch(i, "k", &function[0], i);
    for (int i = 1; i < MAX_LAUNCHES; i++) sprintf(expected + strlen(expected), ", k b0 %d", i);
    is_launched("b.so", expected, "the first that are launched");
}

int main(void) {
    for (int i = 0; i < MANY; i++) {
        sprintf(symbol[0][i], "a%d", i);
        sprintf(symbol[1][i], "b%d", i);
    }
    test_tables();
    test_many();
    return done_testing();
}
