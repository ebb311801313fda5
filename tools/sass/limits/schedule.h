/* How long a list of blocks takes on the multiprocessors of a GPU. */
#ifndef SASS_SCHEDULE_H
#define SASS_SCHEDULE_H

/* The blocks begin in order, each on the multiprocessor that has room first; `resident` of them fit
 * one. Those that share a multiprocessor share its units, so each goes on at its part of their
 * speed. cost: [blocks], the time of a block that has the whole speed to itself; a block that is
 * alone reaches the part `alone` of it, `resident` of them all, and each one more as much again.
 * Returns when the last one ends. */
double schedule_end(const double *cost, int blocks, int sms, int resident, double alone);

/* How many blocks fit a multiprocessor, at least 1. What a block needs and what there is. */
typedef struct Residents {
    int threads, registers, shared_bytes; /* per block, per thread, per block */
    int most_threads, most_registers, most_shared_bytes, most_blocks;
    int reserved_shared; /* bytes of each block that the system takes */
} Residents;
int schedule_residents(const Residents *r);

#endif
