/* The cache of instructions. Catches: a line that is not kept or not found, one that stays when it
 * was used longest ago, lines of different sets that push each other out, another size. */
#include "replay/fetch.h"
#include "test/tap.h"

/* Comes to lines by turns, and returns how many of them were there. */
static int hits(CodeCache *cache, const int *line, int lines) {
    int found = 0;
    for (int i = 0; i < lines; i++) found += code_cached(cache, line[i]);
    return found;
}

int main(void) {
    CodeCache cache = code_cache(32);
    is_int(cache.sets, 64, "32 KiB are 64 sets of four lines");
    is_int(code_cache(0.5).sets, 1, "half a KiB is one");
    const int same[] = {0, 64, 128, 192}, others[] = {1, 65, 63, 255};
    is_int(hits(&cache, same, 4), 0, "nothing is there at first");
    is_int(hits(&cache, same, 4), 4, "then four lines of a set");
    is_int(hits(&cache, others, 4), 0, "others are not");
    is_int(hits(&cache, same, 4), 4, "and push none out");
    /* 64 is used again, so 0 is the oldest. */
    ok(code_cached(&cache, 64) && !code_cached(&cache, 256), "a fifth line");
    ok(code_cached(&cache, 64) && code_cached(&cache, 128) && code_cached(&cache, 192),
       "leaves those that were used");
    ok(code_cached(&cache, 256), "stays itself");
    ok(!code_cached(&cache, 0), "and pushes out the one that was not");
    ok(!code_cached(&cache, 64), "as that one does now");
    return done_testing();
}
