/* What the stamped copy of a stage exports beside attention.h. tools/timeline/stamp.awk makes the
 * copy: the kernel itself with stamps at the lines that the stage's timeline.marks names.
 *
 * A span begins at a stamp and ends at the warp's next one. */
#ifndef STAMPED_H
#define STAMPED_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a warp does in the spans that begin at this mark. Mark 0 is the kernel's beginning, the one
 * before the last its end; the last has the label NULL. */
typedef struct TimelineMark {
    const char *label; /* copy, QK, softmax, PV, wait, store, other; end */
    int line;          /* of the kernel's own file */
    int issues;        /* wgmma groups that the span issues */
    int keeps; /* wgmma groups that are still in flight at its end, at most; -1: any number */
} TimelineMark;

extern const TimelineMark timeline_marks[];

/* One stamp: the SM's clock, and 1 + the mark's index. 0: never written. */
typedef struct TimelineStamp {
    unsigned clock, mark;
} TimelineStamp;

/* A warp at its beginning. Warp w of the grid is blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32.
 */
typedef struct TimelineWarp {
    unsigned clock;
    unsigned short sm;    /* 1 + the SM's number; 0: the warp never ran */
    unsigned short warps; /* of its block */
} TimelineWarp;

/* Where the launches from now on write, in device memory: warps [count], stamps [count][mask + 1],
 * mask + 1 a power of two, all stamps less than 4 GiB. Warp w writes from stamps[w][mask] down to
 * stamps[w][1] and then stops; warps from `count` on write nothing. */
typedef struct TimelineBuffers {
    TimelineWarp *warps;
    TimelineStamp *stamps;
    unsigned count, mask;
} TimelineBuffers;

cudaError_t timeline_buffers(const TimelineBuffers *buffers);

#ifdef __cplusplus
}
#endif
#endif
