/* Whether two runs of a stage gave the same, bit for bit. Every stage adds in a fixed order, so a
 * difference between runs on one problem is a race, or memory that was read before it was written.
 */
#ifndef BITS_H
#define BITS_H

#include "truth/check.h"

/* True if O and LSE of run number `run` are those of the first run. Else false with STATUS_FAIL and
 * a sentence that names the run, how many elements differ and the first of them. */
bool bits_equal(const Problem *problem, const Outputs *first, const Outputs *again, int run,
                Error *error);

#endif
