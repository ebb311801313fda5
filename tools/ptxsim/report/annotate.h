/* The kernel's source with the counters of each line beside it, or the counted lines alone. */
#ifndef PTXSIM_ANNOTATE_H
#define PTXSIM_ANNOTATE_H

#include <stdbool.h>
#include <stdio.h>

#include "decode/counts.h"

/* Reads the source files that the snapshot names; one that cannot be read is listed by its
 * counters alone. Text for a terminal (if `out` is one, coloured and cut to its width), or one HTML
 * page that needs nothing else, with a title. */
void annotate_text(const CountsSnapshot *snapshot, FILE *out);
void annotate_html(const CountsSnapshot *snapshot, const char *title, FILE *out);

/* One object of JSON for each line that was counted, in a line of its own; `name` is the stage's.
 * The text of a line that cannot be read is null. */
void annotate_json(const CountsSnapshot *snapshot, const char *name, FILE *out);

#endif
