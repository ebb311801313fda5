/* An allocator for tests. It counts and can refuse, and its memory is never clean by chance. It
 * takes the place of malloc and its like in the whole program, so only one file of a test may
 * include it. The sanitizer has an allocator of its own; with it ALLOCATOR_COUNTS is 0. */
#ifndef ALLOCATOR_H
#define ALLOCATOR_H

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#define ALLOCATOR_COUNTS 0
#else
#define ALLOCATOR_COUNTS 1

/* What glibc calls its own. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static atomic_long held;             /* allocations that were not given back */
static atomic_long refused_one = -1; /* which one from now on is refused; negative: none */
static atomic_long asked;

/* From now on number `which` is refused, counted from 0; negative: none. */
static void refuse(long which) {
    atomic_store(&asked, 0);
    atomic_store(&refused_one, which);
}

/* The C library looks at errno. */
static bool refused(void) {
    if (atomic_fetch_add(&asked, 1) != atomic_load(&refused_one)) return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *memory) {
    if (memory) atomic_fetch_add(&held, 1);
    return memory;
}

/* Also what is beyond its end. */
static void *dirty(void *memory) {
    const size_t bytes = memory ? malloc_usable_size(memory) : 0;
    return bytes > 0 && bytes < 1 << 16 ? memset(memory, 0xff, bytes) : memory;
}

void *malloc(size_t bytes) { return refused() ? NULL : counted(dirty(__libc_malloc(bytes))); }

void *calloc(size_t count, size_t bytes) {
    return refused() ? NULL : counted(__libc_calloc(count, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return refused() ? NULL : counted(dirty(__libc_memalign(alignment, bytes)));
}

void *realloc(void *memory, size_t bytes) {
    if (refused()) return NULL;
    void *larger = __libc_realloc(memory, bytes);
    return memory ? larger : counted(larger);
}

void free(void *memory) {
    if (memory) atomic_fetch_sub(&held, 1);
    __libc_free(memory);
}

#endif
#endif
