/* Records that are too long for a page: of their loops the first, the second and the last round
 * stay. */
#ifndef PTXSIM_CUT_H
#define PTXSIM_CUT_H

#include "report/record.h"

/* Cuts rounds of loops, the outermost loops first, until at most `most` steps are left or nothing
 * more can be cut. Steps and times are numbered anew; what happened in between is taken out.
 * record->cut says how many steps that were. */
void record_cut(Record *record, uint64_t most);

#endif
