#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_THREADS = 64, PIECES_PER_THREAD = 8 };

typedef struct Loop {
    size_t count, piece;
    atomic_size_t next;
    ParallelBody body;
    void *context;
} Loop;

static void *work(void *argument) {
    Loop *loop = argument;
    for (;;) {
        const size_t first = atomic_fetch_add(&loop->next, loop->piece);
        if (first >= loop->count) return NULL;
        const size_t end = loop->count - first < loop->piece ? loop->count : first + loop->piece;
        loop->body(first, end, loop->context);
    }
}

void parallel_for(size_t count, int threads, ParallelBody body, void *context) {
    if (threads == 0) threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    if (threads < 1) threads = 1;
    const size_t pieces = (size_t)threads * PIECES_PER_THREAD;
    Loop loop = {
        .count = count, .piece = (count + pieces - 1) / pieces, .body = body, .context = context};

    pthread_t others[MAX_THREADS];
    int started = 0;
    while (started < threads - 1 && pthread_create(&others[started], NULL, work, &loop) == 0)
        started++; /* fewer threads than wished for do the same work */
    work(&loop);
    for (int i = 0; i < started; i++) pthread_join(others[i], NULL);
}
