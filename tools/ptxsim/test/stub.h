/* A program part as nvcc's stubs register it, from PTX alone, and texts that are kept in files. */
#ifndef STUB_H
#define STUB_H

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/tap.h"

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, void *thread, void *block, void *block_size,
                            void *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                       size_t bytes, int constant, int global);

/* What a stub hands over: fatbin.h says what the numbers are. */
typedef struct Fatbin {
    struct {
        uint32_t magic, version;
        const void *data, *unused;
    } wrapper;
    unsigned char bytes[1 << 16];
} Fatbin;

__attribute__((unused)) static void **register_ptx(Fatbin *fatbin, const char *text) {
    enum { HEADER = 16, ENTRY = 64 };
    static const uint32_t magic = 0xba55ed50;
    const uint64_t length = (strlen(text) + 8) / 8 * 8, rest = ENTRY + length;
    if (HEADER + rest > sizeof fatbin->bytes) exit(1);
    memset(fatbin, 0, sizeof *fatbin);
    memcpy(fatbin->bytes, &magic, 4);
    fatbin->bytes[4] = 1, fatbin->bytes[6] = HEADER;
    memcpy(fatbin->bytes + 8, &rest, 8);
    unsigned char *entry = fatbin->bytes + HEADER;
    entry[0] = 1, entry[2] = 1, entry[3] = 1, entry[4] = ENTRY, entry[28] = 90;
    memcpy(entry + 8, &length, 8);
    memcpy(entry + ENTRY, text, strlen(text) + 1); /* zeros fill the rest */
    fatbin->wrapper.magic = 0x466243b1;
    fatbin->wrapper.version = 1;
    fatbin->wrapper.data = fatbin->bytes;
    return __cudaRegisterFatBinary(&fatbin->wrapper);
}

__attribute__((unused)) static void register_kernel(void **handle, const char *host,
                                                    const char *name) {
    __cudaRegisterFunction(handle, host, NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* A whole file, to be freed; "" if it cannot be read. */
__attribute__((unused)) static char *file_text(FILE *file) {
    size_t size = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    for (int c; file && (c = fgetc(file)) != EOF;) fputc(c, out);
    if (file) fclose(file);
    fclose(out);
    return text;
}

/* Whether `got` is what the file at `path` holds, which WRITE=1 writes anew. */
__attribute__((unused)) static void is_file(const char *got, const char *path) {
    FILE *file = fopen(path, getenv("WRITE") ? "w+" : "r");
    if (file && getenv("WRITE")) fputs(got, file), rewind(file);
    char *expected = file_text(file);
    size_t line = 1, at = 0;
    while (got[at] && got[at] == expected[at]) line += got[at++] == '\n';
    if (!ok(got[at] == expected[at], "%s", path)) {
        printf("# line %zu, from there on:\n# got \"%.100s\"\n# expected \"%.100s\"\n", line,
               got + at, expected + at);
    }
    free(expected);
}

/* From now on what goes to `fd` is kept; returns what end_capture takes. */
typedef struct Capture {
    FILE *file;
    int fd, saved;
} Capture;

__attribute__((unused)) static Capture begin_capture(int fd) {
    const Capture capture = {tmpfile(), fd, dup(fd)};
    fflush(NULL);
    dup2(fileno(capture.file), fd);
    return capture;
}

/* What was said; to be freed. */
__attribute__((unused)) static char *end_capture(const Capture *capture) {
    fflush(NULL);
    dup2(capture->saved, capture->fd);
    close(capture->saved);
    rewind(capture->file);
    return file_text(capture->file);
}

#endif
