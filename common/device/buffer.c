#include "device/buffer.h"

#include "device/counters.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 4096, PIECE_BYTES = 1 << 20 };
static const unsigned char guard_pattern[2] = {0xaa, 0x7f}; /* 0x7faa, little-endian: a NaN */

static void fill_guard(unsigned char *band) {
    for (int i = 0; i < GUARD_BYTES; i++) band[i] = guard_pattern[i % 2];
}

static unsigned char *rear_band(const Buffer *buffer) { return buffer->data + buffer->bytes; }

bool buffer_create(const char *name, size_t bytes, Buffer *buffer, Error *error) {
    unsigned char band[GUARD_BYTES];
    void *memory;
    *buffer = (Buffer){.name = name, .bytes = bytes};
    if (bytes == 0) return true;
    buffer->guard = counters_simulated() ? 0 : GUARD_BYTES;
    const cudaError_t code = cudaMalloc(&memory, bytes + 2 * buffer->guard);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return error_set(error, STATUS_SKIP,
                         "the device has no memory left for %s, %zu bytes (%.1f GiB): choose a "
                         "smaller B, H, N or NKV",
                         name, bytes, (double)bytes / (1 << 30));
    }
    if (!CUDA_OK(code, error)) return false;
    buffer->data = (unsigned char *)memory + buffer->guard;
    if (buffer->guard == 0) return true;
    fill_guard(band);
    return CUDA_OK(cudaMemcpy(memory, band, GUARD_BYTES, cudaMemcpyHostToDevice), error) &&
           CUDA_OK(cudaMemcpy(rear_band(buffer), band, GUARD_BYTES, cudaMemcpyHostToDevice), error);
}

bool buffer_fill_nan(const Buffer *buffer, Error *error) {
    return buffer_fill(buffer, 0xff, error);
}

bool buffer_fill(const Buffer *buffer, unsigned char byte, Error *error) {
    if (buffer->bytes == 0) return true;
    return CUDA_OK(cudaMemset(buffer->data, byte, buffer->bytes), error);
}

bool buffer_write(const Buffer *buffer, const void *host, Error *error) {
    if (buffer->bytes == 0) return true;
    return CUDA_OK(cudaMemcpy(buffer->data, host, buffer->bytes, cudaMemcpyHostToDevice), error);
}

bool buffer_read(const Buffer *buffer, void *host, Error *error) {
    if (buffer->bytes == 0) return true;
    return CUDA_OK(cudaMemcpy(host, buffer->data, buffer->bytes, cudaMemcpyDeviceToHost), error);
}

static bool band_intact(const Buffer *buffer, const unsigned char *on_device, const char *where,
                        Error *error) {
    unsigned char band[GUARD_BYTES], expected[GUARD_BYTES];
    fill_guard(expected);
    if (!CUDA_OK(cudaMemcpy(band, on_device, GUARD_BYTES, cudaMemcpyDeviceToHost), error))
        return false;
    for (int i = 0; i < GUARD_BYTES; i++)
        if (band[i] != expected[i])
            return error_set(error, STATUS_FAIL,
                             "a kernel wrote outside %s: it changed byte %d of the %d bytes %s it",
                             buffer->name, i, GUARD_BYTES, where);
    return true;
}

bool buffer_intact(const Buffer *buffer, Error *error) {
    if (buffer->guard == 0) return true;
    return band_intact(buffer, buffer->data - GUARD_BYTES, "before", error) &&
           band_intact(buffer, rear_band(buffer), "after", error);
}

/* `piece` is memory for PIECE_BYTES. */
static bool same_data(const Buffer *buffer, const unsigned char *host, unsigned char *piece,
                      Error *error) {
    for (size_t done = 0; done < buffer->bytes; done += PIECE_BYTES) {
        const size_t left = buffer->bytes - done, bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
        size_t i = 0;
        if (!CUDA_OK(cudaMemcpy(piece, buffer->data + done, bytes, cudaMemcpyDeviceToHost), error))
            return false;
        if (memcmp(piece, host + done, bytes) == 0) continue;
        while (piece[i] == host[done + i]) i++;
        return error_set(error, STATUS_FAIL,
                         "a kernel changed %s, which it may only read: byte %zu", buffer->name,
                         done + i);
    }
    return true;
}

bool buffer_unchanged(const Buffer *buffer, const void *host, Error *error) {
    unsigned char *piece = malloc(PIECE_BYTES);
    if (!piece) return error_set(error, STATUS_SKIP, "not enough host memory");
    const bool same = same_data(buffer, host, piece, error);
    free(piece);
    return same;
}

void buffer_free(Buffer *buffer) {
    Error ignored;
    if (buffer->data && device_usable(&ignored) &&
        cudaFree(buffer->data - buffer->guard) != cudaSuccess)
        cudaGetLastError(); /* after a fault: nobody else's error */
    *buffer = (Buffer){0};
}
