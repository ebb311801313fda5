/* Runs a kernel and keeps what it says on a file descriptor. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <unistd.h>

#include "test/run_ptx.h"

/* `threads` run kernel `k` on `bytes` of device memory; what the run says on `fd`, to
 * text[0..size). Its status. */
__attribute__((unused)) static LaunchStatus capture_run(int fd, const char *module,
                                                        uint32_t threads, void *data, size_t bytes,
                                                        char *text, size_t size) {
    FILE *file = tmpfile();
    fflush(NULL);
    const int saved = dup(fd);
    dup2(fileno(file), fd);
    const PtxRun result = run_ptx(module, threads, data, bytes);
    fflush(NULL);
    dup2(saved, fd);
    close(saved);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
    if (result.error[0]) printf("# %s\n", result.error);
    return result.status;
}

/* The same of two threads and some memory. */
__attribute__((unused)) static LaunchStatus capture(int fd, const char *module, char *text,
                                                    size_t size) {
    uint64_t data[4] = {0};
    return capture_run(fd, module, 2, data, sizeof data, text, size);
}

#endif
