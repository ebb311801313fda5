/* What the fake stages and the tests ask of the fake runtime. */
#ifndef FAKE_RUNTIME_H
#define FAKE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/* From now on every call reports an illegal address, until the device is reset. */
void fake_fault(void);

/* Something is asked of the default stream. */
void fake_default_stream(void);

/* A call fails whose error nobody has looked at. */
void fake_error(void);

/* From now on the device is busy, and every call that waits for it never returns. */
void fake_hang(void);

/* A kernel was launched: false if it is refused, or only rehearsed (device/simulator.h). And how
 * long one takes from now on. */
bool fake_launch(void);
void fake_launch_takes(double ms);

/* How long the host waits for each answer whether a stream is done, from now on. */
void fake_answer_takes(long nanoseconds);

/* What the device was asked for since fake_forget, a letter each: m memory set in a stream, e an
 * event, l a launch, and what the test notes itself. */
const char *fake_history(void);
void fake_note(char what);
void fake_forget(void);

/* The fewest bytes that were set in a stream since then. */
size_t fake_least_set(void);

#endif
