/* Times that were measured, from lines of JSON as `attention bench` prints them. */
#ifndef SASS_RECORDED_H
#define SASS_RECORDED_H

#include "base/error.h"

#include <stddef.h>

enum { STAGE_SIZE = 64 };

/* One stage and problem. */
typedef struct Cell {
    char stage[STAGE_SIZE];
    char type[8]; /* "fp16" */
    int batch, heads, length, d;
    bool causal;
    double ms; /* the least of the medians that were recorded */
} Cell;

typedef struct Cells {
    Cell *cell; /* sorted by stage, d, mask, length and batch */
    int cells;
} Cells;

/* Adds the cells of a file that were measured on `device` with normal inputs, one repetition at a
 * time, in square shapes with a KV head for each head. False: it cannot be read. */
bool recorded_read(const char *path, const char *device, Cells *cells, Error *error);

/* Call when all files have been read. */
void recorded_sort(Cells *cells);

void recorded_free(Cells *cells);

#endif
