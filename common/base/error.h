/* One way to say what went wrong: a status, which is also the exit code, and one sentence. */
#ifndef ERROR_H
#define ERROR_H

#include <stdbool.h>

typedef enum Status {
    STATUS_PASS = 0,
    STATUS_FAIL = 1, /* a wrong result or a fault */
    STATUS_SKIP = 2, /* cannot run here: no GPU, a GPU that the stage does not support, no memory */
    STATUS_USAGE = 64 /* a bad value on the command line */
} Status;

typedef struct Error {
    Status status;
    char text[1024];
} Error;

/* Stores the status and the formatted sentence. Returns false, so that a function can
 * `return error_set(...)`. */
bool error_set(Error *error, Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the sentence on stderr and returns the status as an exit code. */
int error_exit(const Error *error);

#endif
