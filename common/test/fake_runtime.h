/* What the fake stages ask of the fake runtime. */
#ifndef FAKE_RUNTIME_H
#define FAKE_RUNTIME_H

/* From now on every call reports an illegal address, until the device is reset. */
void fake_fault(void);

/* From now on the device is busy, and every call that waits for it never returns. */
void fake_hang(void);

/* A kernel was launched. */
void fake_launch(void);

#endif
