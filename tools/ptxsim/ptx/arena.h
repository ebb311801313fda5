/* Memory that is freed all at once: many small pieces with one lifetime, such as a
 * parsed module. */
#ifndef PTXSIM_ARENA_H
#define PTXSIM_ARENA_H

#include <stddef.h>

typedef struct Arena {
    struct ArenaChunk *chunks; /* the newest first */
} Arena;

/* `bytes` of zeros, aligned for any C type. Ends the program if there is no memory. */
void *arena_alloc(Arena *arena, size_t bytes);

/* Frees every piece; the arena is then empty. */
void arena_free(Arena *arena);

/* Makes room for one more element: returns `array` of `count` elements of `bytes`, moved to a place
 * twice as large if it is full. Arrays grown so start as NULL with count 0. */
void *arena_grow(Arena *arena, void *array, size_t count, size_t bytes);

#endif
