/* Arenas. Catches: pieces that overlap, that are not zero or not aligned, an array that loses what
 * it had, a piece that is larger than a chunk. */
#include "ptx/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "test/stub.h"
#include "test/tap.h"

enum { PIECES = 3000 };

static void test_pieces(void) {
    static uint8_t *piece[PIECES];
    Arena arena = {0};
    int wrong = 0;
    for (int i = 0; i < PIECES; i++) {
        const size_t bytes = (size_t)i % 100;
        piece[i] = arena_alloc(&arena, bytes);
        wrong += (uintptr_t)piece[i] % sizeof(max_align_t) % _Alignof(max_align_t) != 0;
        for (size_t b = 0; b < bytes; b++) {
            wrong += piece[i][b] != 0;
            piece[i][b] = (uint8_t)(i % 255 + 1);
        }
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t b = 0; b < (size_t)i % 100; b++) wrong += piece[i][b] != i % 255 + 1;
    is_int(wrong, 0, "pieces are aligned, zero, and nobody else's");
    uint8_t *large = arena_alloc(&arena, 1 << 20);
    for (int b = 0; b < 1 << 20; b++) wrong += large[b], large[b] = 1;
    is_int(wrong, 0, "a large one as well");
    uint8_t *exact = arena_alloc(&arena, 64 * 1024), *next = arena_alloc(&arena, 16);
    memset(exact, 2, 64 * 1024);
    ok(next[0] == 0 && next[15] == 0 && (next >= exact + 64 * 1024 || next < exact),
       "and one as large as a chunk");
    arena_free(&arena);
    ok(!arena.chunks, "nothing is left");
}

static void test_arrays(void) {
    Arena arena = {0};
    int *array = NULL, wrong = 0, moves = 0;
    for (int i = 0; i < 1000; i++) {
        int *grown = arena_grow(&arena, array, (size_t)i, sizeof *array);
        moves += grown != array;
        array = grown;
        array[i] = i;
    }
    for (int i = 0; i < 1000; i++) wrong += array[i] != i;
    is_int(wrong, 0, "an array keeps what it has");
    is_int(moves, 8, "and moves when it is full: 8, 16 and so on to 1024");
    arena_free(&arena);
}

/* The program ends, and says why. */
static void test_no_memory(void) {
    int status = 0;
    const Capture capture = begin_capture(STDERR_FILENO);
    const pid_t child = fork();
    if (child == 0) {
        Arena arena = {0};
        arena_alloc(&arena, SIZE_MAX / 4);
        _exit(0);
    }
    waitpid(child, &status, 0);
    char *said = end_capture(&capture);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 1 && strstr(said, "out of host memory"),
       "what no host has ends the program");
    free(said);
}

int main(void) {
    test_pieces();
    test_arrays();
    test_no_memory();
    return done_testing();
}
