#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

bool error_set(Error *error, Status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

int error_exit(const Error *error) {
    fprintf(stderr, "attention: %s\n", error->text);
    return (int)error->status;
}
