/* Where a result is wrong, for the person who looks for the bug. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "truth/check.h"

#include <stdio.h>

/* Writes the first mismatches with (batch, head, row, column); a map of the first wrong head in
 * tiles of 64 rows by 16 columns; the wrong rows by their place in a 16-row fragment; how many
 * heads are wrong. */
void explain_failure(FILE *out, const Problem *problem, const Rows *rows, const Truth *truth,
                     const Outputs *outputs);

#endif
