/* What attention_launch may not call: it only enqueues. The harness says when it is running
 * (device/simulator.h), the runtime says what is called. */
#ifndef WATCH_H
#define WATCH_H

/* In a function of the runtime that waits for the device, or that allocates or frees something:
 * WATCHED notes its name. */
#define WATCHED watch_call(__func__)

void watch_call(const char *function);

#endif
