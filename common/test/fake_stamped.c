/* What makes a fake stage (fake_stage.c, whose attention_launch is plain_launch here) a stamped
 * copy: its launches leave stamps as a grid of six blocks of two warps on two SMs would. A block
 * begins 600 cycles after the one before it on its SM and lasts 1000; the clock overflows
 * meanwhile. STAMPS plants one bug. */
#include "stamped.h"
#include "attention.h"
#include "test/fake_runtime.h"

enum {
    STAMPS_GOOD,
    STAMPS_SLOW,   /* a launch takes twice as long */
    STAMPS_NONE,   /* writes nothing */
    STAMPS_BEYOND, /* a mark that there is not */
    STAMPS_GUARD,  /* writes a stamp past the last */
    STAMPS_FEWER, /* each launch writes one stamp less per warp than the one before, two at least */
    STAMPS_MANY   /* a warp writes as many stamps as there is memory for */
};
#ifndef STAMPS
#define STAMPS STAMPS_GOOD
#endif
enum { BLOCKS = 6, WARPS = 2, SMS = 2, MARKS = 4, BEGIN = -300 };

static const unsigned later[] = {10, 200, 900, 1000};

const TimelineMark timeline_marks[] = {{"other", 1, 0, -1}, {"QK", 10, 1, -1},
                                       {"wait", 20, 0, 0},  {"softmax", 30, 0, -1},
                                       {"end", 40, 0, -1},  {0, 0, 0, 0}};

static TimelineBuffers to;
static unsigned launches;

cudaError_t timeline_buffers(const TimelineBuffers *buffers) {
    to = *buffers;
    return cudaSuccess;
}

cudaError_t plain_launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                         cudaStream_t stream);

static void stamp_warp(unsigned warp) {
    const unsigned block = warp / WARPS, begin = (unsigned)BEGIN + block / SMS * 600;
    TimelineStamp *next = &to.stamps[warp * (size_t)(to.mask + 1) + to.mask];
    if (warp >= to.count) return;
    to.warps[warp] = (TimelineWarp){begin, (unsigned short)(1 + block % SMS), WARPS};
    const unsigned fewer = launches < MARKS - 2 ? MARKS - launches : 2;
    const unsigned most = STAMPS == STAMPS_MANY ? to.mask : STAMPS == STAMPS_FEWER ? fewer : MARKS;
    for (unsigned i = 0; i < most && i < to.mask; i++) {
        const unsigned mark = i < MARKS ? i : MARKS - 1;
        *next-- =
            (TimelineStamp){begin + later[mark], 2 + mark + (STAMPS == STAMPS_BEYOND ? MARKS : 0)};
    }
}

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                             cudaStream_t stream) {
    for (unsigned warp = 0; STAMPS != STAMPS_NONE && warp < BLOCKS * WARPS; warp++)
        stamp_warp(warp);
    launches++;
    if (STAMPS == STAMPS_SLOW) fake_launch();
    if (STAMPS == STAMPS_GUARD) to.stamps[to.count * (size_t)(to.mask + 1)].mark = 1;
    return plain_launch(p, t, workspace, stream);
}
