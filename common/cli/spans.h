/* One block's stamps after a launch, and those of the blocks that were on its SM at the same time.
 */
#ifndef SPANS_H
#define SPANS_H

#include "device/stamps.h"

#include <stdint.h>
#include <stdio.h>

/* A warp from its first stamp that is kept on: each span ends where the next begins. */
typedef struct WarpSpans {
    int block, warp; /* warp: of the block */
    bool full;       /* there may have been more stamps than there was memory for */
    unsigned count;
    TimelineStamp *stamps; /* clock: since the chosen block began, as a signed number; mark: the
                              index of a TimelineMark */
} WarpSpans;

typedef struct Spans {
    int block, blocks; /* the chosen one, of how many */
    int sm;
    int64_t cycles; /* from the block's beginning to its end */
    WarpSpans *warps;
    int warp_count;
} Spans;

/* How many blocks ran. 0: none has written anything. */
int spans_blocks(const TimelineWarp *warps, unsigned count);

/* Reads block `block` and, if `neighbours`, what other blocks of its SM did meanwhile. `warps` is
 * what stamps_warps gave. */
bool spans_read(const Stamps *stamps, const TimelineWarp *warps, int block, bool neighbours,
                Spans *spans, Error *error);

/* Keys of a JSON object: block, blocks, sm, cycles; marks, a list of [label, line, issues, keeps];
 * warps, a list of objects with block, warp, full and stamps, a list of clock and mark in turn, a
 * clock being later than the one before by so much. */
void spans_json(FILE *out, const Stamps *stamps, const Spans *spans);

void spans_free(Spans *spans);

#endif
