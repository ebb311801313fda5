/* The cache of instructions of a partition: sets of four lines of 128 bytes.
 *
 * tools/limits/latencies.cu on an H200: a loop of up to 32 KiB costs nothing; of one of 40 KiB
 * every line takes code_line cycles, of one of 34 KiB two lines in five: as sets of about four
 * lines that keep what was used last would have it. Warps of one partition, or of several, do not
 * slow each other down: each waits for its own lines. */
#ifndef SASS_FETCH_H
#define SASS_FETCH_H

#include <stdbool.h>

enum { LINE = 8 /* instructions */, LINE_BYTES = 128, WAYS = 4, MOST_CODE_KIB = 256 };
enum { MOST_SETS = MOST_CODE_KIB * 1024 / (LINE_BYTES * WAYS) };

typedef struct CodeCache {
    int sets;
    int line[MOST_SETS][WAYS]; /* 1 + its number, that used last first; 0: none */
} CodeCache;

/* An empty cache of so many KiB, MOST_CODE_KIB at most. */
CodeCache code_cache(double kib);

/* Whether a line is there; it is afterwards. */
bool code_cached(CodeCache *cache, int line);

#endif
