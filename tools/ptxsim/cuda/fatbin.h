/* Finds the PTX text in the binary that nvcc embeds in a host object ("fatbin").
 *
 * The host object hands __cudaRegisterFatBinary a wrapper {u32 magic 0x466243b1, u32 version, data
 * pointer}. The data is a header {u32 magic 0xba55ed50, u16 version, u16 header bytes, u64 bytes
 * that follow} and then entries {u16 kind: 1 PTX, 2 machine code; u16 version; u32 header bytes;
 * u64 payload bytes; u32 compressed bytes, 0 if not compressed; ...; u32 architecture at byte 28}.
 * NVIDIA does not document this; the versions are checked and everything else is bounds-checked.
 */
#ifndef PTXSIM_FATBIN_H
#define PTXSIM_FATBIN_H

#include <stddef.h>

typedef enum FatbinStatus {
    FATBIN_OK,
    FATBIN_NOT_A_FATBIN,
    FATBIN_UNKNOWN_VERSION,
    FATBIN_TRUNCATED,
    FATBIN_NO_PTX,
    FATBIN_COMPRESSED,
} FatbinStatus;

typedef struct FatbinPtx {
    const char *text; /* inside the fatbin; not terminated by a zero byte */
    size_t length;    /* bytes of text, trailing zero bytes left out */
    int architecture; /* 80 for compute_80, 90 for compute_90 and compute_90a */
} FatbinPtx;

/* Checks the wrapper that __cudaRegisterFatBinary receives and gives its data: *data and, from the
 * data's own header, *size in bytes. */
FatbinStatus fatbin_unwrap(const void *wrapper, const void **data, size_t *size);

/* The PTX entry in data[0..size) that a device of that compute capability takes, 90 for 9.0: the
 * one for the newest architecture that is not newer; if all are newer, the oldest.
 * FATBIN_COMPRESSED if PTX is there, but only compressed. *ptx is written on FATBIN_OK alone. */
FatbinStatus fatbin_find_ptx(const void *data, size_t size, int capability, FatbinPtx *ptx);

/* One sentence for a status, with the remedy. */
const char *fatbin_message(FatbinStatus status);

#endif
