/* Catches: an item left out or done twice, pieces that depend on who takes them, fewer threads than
 * were asked for or more, a loop over nothing that does not end. */
#include "base/parallel.h"
#include "test/tap.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 5000, MOST = 64 };

static atomic_int done[ITEMS], pieces, longest, met;
static int meeting; /* its number */

static void count_items(size_t first, size_t end, void *context) {
    (void)context;
    pieces++;
    if ((int)(end - first) > longest) longest = (int)(end - first);
    for (size_t i = first; i < end; i++) done[i]++;
}

static void cover(int count, int threads, int expected_pieces) {
    int wrong = 0;
    for (int i = 0; i < ITEMS; i++) done[i] = 0;
    pieces = longest = 0;
    parallel_for((size_t)count, threads, count_items, NULL);
    for (int i = 0; i < ITEMS; i++) wrong += done[i] != (i < count);
    ok(wrong == 0, "%d items by %d threads: each once", count, threads);
    ok(pieces == expected_pieces, "in %d pieces", pieces);
}

static void rest(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* In its first piece each thread waits for all that are expected, and then some time for others. */
static void meet(size_t first, size_t end, void *context) {
    static _Thread_local int came;
    const int expected = *(const int *)context;
    (void)first, (void)end;
    if (came == meeting) return;
    came = meeting;
    met++;
    for (int i = 0; met < expected && i < 10000; i++) rest(1);
    rest(50);
}

static void threads(int asked, int expected) {
    met = 0;
    meeting++;
    parallel_for((size_t)expected * 8, asked, meet, &expected);
    is_int(met, expected, "threads at the same time");
}

int main(void) {
    const int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    cover(0, 3, 0);
    cover(1, 3, 1);
    cover(24, 3, 24);
    cover(25, 3, 13);
    cover(ITEMS, 1, 8);
    ok(longest == 625, "eight of a thread are of one length");
    cover(ITEMS, 7, 56);
    cover(ITEMS, -5, 8);
    cover(512, 1000, 512);
    threads(1, 1);
    threads(3, 3);
    threads(1000, MOST);
    threads(MOST, MOST);
    threads(0, processors < MOST ? processors : MOST);
    return done_testing();
}
