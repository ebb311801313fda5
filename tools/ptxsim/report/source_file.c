#include "report/source_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ptx/bounds.h"

char *source_file_read(const char *path) {
    struct stat is;
    if (stat(path, &is) || !S_ISREG(is.st_mode) || is.st_size > MAX_SOURCE_FILE) return NULL;
    FILE *in = fopen(path, "rb");
    if (!in) return NULL;
    const size_t size = (size_t)is.st_size;
    char *bytes = malloc(size + 1);
    if (bytes) bytes[fread(bytes, 1, size, in)] = '\0';
    fclose(in);
    return bytes;
}

const char *source_file_name(const char *path) {
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder)) return path;
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}
