#include "report/format.h"

#include <stdio.h>
#include <string.h>

const char *format_grouped(uint64_t number, char text[FORMAT_SIZE]) {
    char digits[FORMAT_SIZE];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

const char *format_bytes(uint64_t bytes, char text[FORMAT_SIZE]) {
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) {
        snprintf(text, FORMAT_SIZE, "%u B", (unsigned)bytes);
        return text;
    }
    double value = (double)bytes / 1024;
    unsigned u = 0;
    for (; value >= 1024 && u < 3; u++) value /= 1024;
    snprintf(text, FORMAT_SIZE, "%.2f %s", value, unit[u]);
    return text;
}
