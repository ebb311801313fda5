#include "replay/fetch.h"

#include <string.h>

CodeCache code_cache(double kib) {
    return (CodeCache){.sets = (int)(kib * 1024) / (LINE_BYTES * WAYS)};
}

bool code_cached(CodeCache *cache, int line) {
    int *set = cache->line[line % cache->sets];
    size_t way = 0;
    while (way < WAYS - 1 && set[way] != line + 1) way++;
    const bool hit = set[way] == line + 1;
    memmove(&set[1], set, way * sizeof *set);
    set[0] = line + 1;
    return hit;
}
