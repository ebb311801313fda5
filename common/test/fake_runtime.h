/* What the fake stages ask of the fake runtime. */
#ifndef FAKE_RUNTIME_H
#define FAKE_RUNTIME_H

/* From now on every call reports an illegal address, until the device is reset. */
void fake_fault(void);

/* Something is asked of the default stream. */
void fake_default_stream(void);

/* A call fails whose error nobody has looked at. */
void fake_error(void);

/* From now on the device is busy, and every call that waits for it never returns. */
void fake_hang(void);

/* A kernel was launched. */
void fake_launch(void);

#endif
