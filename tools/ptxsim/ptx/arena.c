#include "ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024 };

typedef struct ArenaChunk {
    struct ArenaChunk *next;
    size_t used, size;
    max_align_t bytes[];
} ArenaChunk;

static ArenaChunk *add_chunk(Arena *arena, size_t bytes) {
    size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    ArenaChunk *chunk = calloc(1, sizeof *chunk + size);
    if (!chunk) {
        fprintf(stderr, "ptxsim: out of host memory\n");
        exit(1);
    }
    chunk->size = size;
    chunk->next = arena->chunks;
    return arena->chunks = chunk;
}

void *arena_alloc(Arena *arena, size_t bytes) {
    const size_t unit = sizeof(max_align_t);
    ArenaChunk *chunk = arena->chunks;
    bytes = (bytes + unit - 1) / unit * unit;
    if (!chunk || chunk->size - chunk->used < bytes) chunk = add_chunk(arena, bytes);
    void *piece = (char *)chunk->bytes + chunk->used;
    chunk->used += bytes;
    return piece;
}

void arena_free(Arena *arena) {
    while (arena->chunks) {
        ArenaChunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
}

/* An array is full whenever its count is 0 or a power of two from 8 on. */
void *arena_grow(Arena *arena, void *array, size_t count, size_t bytes) {
    const size_t first = 8;
    if (count && (count < first || (count & (count - 1)))) return array;
    void *larger = arena_alloc(arena, (count ? 2 * count : first) * bytes);
    if (count) memcpy(larger, array, count * bytes);
    return larger;
}
