/* Loaded before build/sass: says in the file HELD how many allocations it has at its end, without
 * those of libraries that stay open. */
#include "test/allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

static long libraries;

void *dlopen(const char *path, int mode) {
    const long before = atomic_load(&held);
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    void *library = next(path, mode);
    libraries += atomic_load(&held) - before;
    return library;
}

__attribute__((destructor)) static void say(void) {
    const long at_end = atomic_load(&held) - libraries;
    FILE *out = strcmp(program_invocation_short_name, "sass") ? NULL : fopen(getenv("HELD"), "w");
    refuse(-1);
    if (out) fprintf(out, "%ld\n", at_end), fclose(out);
}
