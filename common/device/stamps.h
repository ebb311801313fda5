/* The stamps of a stage's stamped copy: memory for them on the device, and what a launch left
 * there. */
#ifndef STAMPS_H
#define STAMPS_H

#include "device/buffer.h"
#include "device/stage.h"
#include "stamped.h"

typedef struct Stamps {
    const TimelineMark *marks;
    int mark_count;
    Buffer warps, stamps;
    unsigned warp_count; /* that there is memory for */
    unsigned each;       /* stamps of a warp, a power of two; one less can be written */
    cudaError_t (*set)(const TimelineBuffers *buffers);
} Stamps;

/* Finds what the stamped copy exports. STATUS_USAGE if the stage is none. */
bool stamps_open(const Stage *stage, Stamps *stamps, Error *error);

/* Memory for `warps` warps of `each` stamps, a power of two, in place of what there was; the
 * launches from now on write there. With `each` 1 only the warps themselves are written. */
bool stamps_create(unsigned warps, unsigned each, Stamps *stamps, Error *error);

/* Forgets what was written. */
bool stamps_clear(const Stamps *stamps, Error *error);

/* All warps, [warp_count], which the caller frees; NULL on an error. */
TimelineWarp *stamps_warps(const Stamps *stamps, Error *error);

/* Copies the stamps of a warp out in the order in which they were written, to room for `each`.
 * Their number goes to *count, at most each - 1: then there may have been more. */
bool stamps_of(const Stamps *stamps, unsigned warp, TimelineStamp *list, unsigned *count,
               Error *error);

void stamps_free(Stamps *stamps);

#endif
