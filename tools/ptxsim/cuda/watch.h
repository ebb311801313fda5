/* What the harness wants to know of a launch (device/simulator.h): it says when attention_launch is
 * running, the runtime says here what is called. */
#ifndef WATCH_H
#define WATCH_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

/* In a function of the runtime that waits for the device, or that allocates or frees something:
 * WATCHED notes its name. */
#define WATCHED watch_call(__func__)

void watch_call(const char *function);

/* Something is enqueued on that stream. */
void watch_stream(cudaStream_t stream);

/* Whether attention_launch is running, or rehearsed. */
bool watching_launch(void);

/* In one that enqueues something: true if nothing is to be executed, and then what to return. */
bool only_rehearsed(cudaError_t *outcome);

#endif
