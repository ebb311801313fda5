/* Loaded before build/sass: says in the file HELD how many allocations it has at its end, without
 * those of libraries that stay open. Each of them ends where a page ends that nobody may touch. */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, UNIT = 16 };

/* Right before what was allocated. */
typedef struct Tag {
    size_t bytes;
    uint64_t mark; /* tells it from what others have allocated */
} Tag;
_Static_assert(sizeof(Tag) == UNIT, "what follows is aligned");

/* As a number of 32 bits it is far below zero: so many of what stands before an array. */
static uint64_t mark_of(const void *memory) {
    return (uint64_t)(uintptr_t)memory << 32 | 0x80000001;
}

static long held, libraries;

void __libc_free(void *memory);

static size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

static void *allocate(size_t bytes, int fill) {
    const size_t data = rounded(bytes, UNIT), all = rounded(data + sizeof(Tag), PAGE);
    char *base = mmap(NULL, all + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + all, PAGE, PROT_NONE)) return NULL;
    char *memory = base + all - data;
    ((Tag *)(void *)memory)[-1] = (Tag){bytes, mark_of(memory)};
    if (fill) memset(memory, fill, data);
    held++;
    return memory;
}

static Tag *tag_of(void *memory) {
    Tag *tag = memory ? (Tag *)memory - 1 : NULL;
    return tag && tag->mark == mark_of(memory) ? tag : NULL;
}

void *malloc(size_t bytes) { return allocate(bytes, 0xff); }

void *calloc(size_t count, size_t bytes) { return allocate(count * bytes, 0); }

void free(void *memory) {
    const Tag *tag = tag_of(memory);
    if (!tag) {
        __libc_free(memory);
        return;
    }
    const size_t data = rounded(tag->bytes, UNIT), all = rounded(data + sizeof *tag, PAGE);
    munmap((char *)memory + data - all, all + PAGE);
    held--;
}

void *realloc(void *memory, size_t bytes) {
    const Tag *tag = tag_of(memory);
    void *larger = allocate(bytes, 0xff);
    if (larger && tag) memcpy(larger, memory, tag->bytes < bytes ? tag->bytes : bytes);
    if (larger) free(memory);
    return larger;
}

void *dlopen(const char *path, int mode) {
    const long before = held;
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    void *library = next(path, mode);
    libraries += held - before;
    return library;
}

__attribute__((destructor)) static void say(void) {
    const long at_end = held - libraries;
    FILE *out = strcmp(program_invocation_short_name, "sass") ? NULL : fopen(getenv("HELD"), "w");
    if (out) fprintf(out, "%ld\n", at_end), fclose(out);
}
