/* One launch of a stage, and what it must keep to beside its result: the contract in attention.h.
 */
#ifndef STAGE_LAUNCH_H
#define STAGE_LAUNCH_H

#include "device/device.h"
#include "device/stage.h"

/* False, with STATUS_SKIP: whatever the stage, the problem is too large for the simulator. */
bool launch_worthwhile(const Problem *problem, Error *error);

/* Enqueues the stage on device_stream(). False: the launch returned an error, or returned none and
 * left one; in the simulator, it called what waits or allocates; or (STATUS_SKIP) it is too large
 * for the simulator. */
bool launch_begin(const Stage *stage, const Problem *problem, const AttentionTensors *tensors,
                  void *workspace, const Device *device, Error *error);

/* Waits for it. False: it went wrong, did not end in time, or used the default stream, or in the
 * simulator any other than device_stream(). */
bool launch_end(const Device *device, Error *error);

/* Both, with nothing to be done between them. In the simulator also false if a kernel was launched
 * that attention_kernels lacks, or if memory was allocated or freed, which is counted to the byte.
 */
bool launch_whole(const Stage *stage, const Problem *problem, const AttentionTensors *tensors,
                  void *workspace, const Device *device, Error *error);

/* After a launch, in the simulator: launches of which nothing is executed, of this problem and of
 * such as are too large. False if one enqueues nothing, does not return the error of one of the
 * things that it enqueues, or would fail. */
bool launch_rehearsed(const Stage *stage, const Problem *problem, const AttentionTensors *tensors,
                      void *workspace, const Device *device, Error *error);

#endif
