/* Which rows of O and LSE are compared with the oracle. */
#ifndef ROWS_H
#define ROWS_H

#include "truth/problem.h"

/* A limit on the oracle's work, in products of a pair of row and key by head size. */
enum { ROWS_WORK_RUN = 1000000000, ROWS_WORK_GRID = 50000000 };

typedef struct Rows {
    size_t *index; /* [count], ascending: positions in LSE, (batch * heads + head) * seq_q + row */
    size_t count;
    size_t total; /* rows of the problem */
} Rows;

/* Chooses all rows if that costs at most `work`. Otherwise, of the first and the last head the
 * rows at both ends and at both sides of tile edges, and random rows of all heads up to `work`.
 * The choice depends on the arguments alone. */
bool rows_choose(const Problem *problem, uint64_t seed, double work, Rows *rows, Error *error);

void rows_free(Rows *rows);

#endif
