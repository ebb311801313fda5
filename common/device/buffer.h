/* Device memory with guard bands.
 *
 * On a GPU 4096 bytes before and after the data hold a pattern that is NaN in fp16, bf16 and fp32:
 * a kernel that writes past its tensor changes it, one that reads and uses it gets NaN. In the
 * simulator there are no bands: it checks every access against the bounds of the allocation. */
#ifndef BUFFER_H
#define BUFFER_H

#include "base/error.h"

#include <stddef.h>

typedef struct Buffer {
    const char *name;
    unsigned char *data; /* on the device, 256-byte aligned; NULL if bytes is 0 */
    size_t bytes;
    size_t guard; /* bytes of a band */
} Buffer;

/* Allocates `bytes` (0 is allowed) and writes the bands. No memory: STATUS_SKIP. */
bool buffer_create(const char *name, size_t bytes, Buffer *buffer, Error *error);

/* Fills the data with 0xFF bytes, a NaN in every float type. */
bool buffer_fill_nan(const Buffer *buffer, Error *error);

/* Fills the data with bytes of one value. */
bool buffer_fill(const Buffer *buffer, unsigned char byte, Error *error);

/* Fills the data from `host`. */
bool buffer_write(const Buffer *buffer, const void *host, Error *error);

/* Copies the data to `host`. */
bool buffer_read(const Buffer *buffer, void *host, Error *error);

/* False with a sentence that names the buffer and the first changed byte if a band is not intact.
 */
bool buffer_intact(const Buffer *buffer, Error *error);

/* False with a sentence that names the buffer and the first changed byte if the data is not that at
 * `host`. */
bool buffer_unchanged(const Buffer *buffer, const void *host, Error *error);

/* Does nothing on the device once it is lost: freeing would wait for its kernel. */
void buffer_free(Buffer *buffer);

#endif
