/* One parallel loop. */
#ifndef PARALLEL_H
#define PARALLEL_H

#include <stddef.h>

/* Works on items first .. end - 1. */
typedef void (*ParallelBody)(size_t first, size_t end, void *context);

/* Calls `body` on pieces that cover 0 .. count - 1 once each, from `threads` threads at the same
 * time (0: one a processor). The pieces depend on nothing but count and threads; which thread takes
 * which does not matter to a body that writes only its own items. */
void parallel_for(size_t count, int threads, ParallelBody body, void *context);

#endif
