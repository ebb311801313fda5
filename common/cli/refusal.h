/* When a stage may refuse a problem. Contract: any lengths, any heads; so a stage that refuses what
 * it finds hard has failed. */
#ifndef REFUSAL_H
#define REFUSAL_H

#include "device/stage.h"

/* Whether the stage computes the problem on a device of this compute capability, and would compute
 * large ones that are only asked about, with the workspace that they need, and refuse what no
 * launch can count. False: *error says why not, with STATUS_SKIP if the
 * contract knows the reason (the stage runs on other devices and on none of this capability, or the
 * problem may need more than 2^31 - 1 blocks), else with STATUS_FAIL. */
bool stage_accepts(const Stage *stage, const Problem *problem, int compute_capability,
                   Error *error);

/* The same, and whether its blocks fit the device: STATUS_SKIP if not. Fills `resources`; a stage
 * that would refuse a device for which it is compiled, or a newer one, has failed. */
bool stage_fits(const Stage *stage, const Problem *problem, const Device *device,
                StageResources *resources, Error *error);

/* The most bytes of workspace that a stage may ask for, and whether `bytes` are more: twice the
 * fp32 scores and probabilities of everything, and 32 MiB for counters and for the parts of a
 * problem that is shared out over the multiprocessors (on an H200 264 pieces of 128 rows of O are
 * 18 MB). */
double workspace_most(const Problem *problem);
bool workspace_excessive(const Problem *problem, size_t bytes);

#endif
