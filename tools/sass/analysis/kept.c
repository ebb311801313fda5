#include "analysis/kept.h"

#include "analysis/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FNV-1a (RFC 9923). */
static uint64_t hash(uint64_t before, const void *bytes, size_t length) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < length; i++) before = (before ^ byte[i]) * UINT64_C(0x100000001b3);
    return before;
}

static uint64_t hash_text(uint64_t before, const char *text) {
    return hash(before, text, strlen(text) + 1);
}

/* A program that is replaced where it is has another time or size. On PATH it is not looked for. */
static uint64_t hash_program(uint64_t before, const char *program) {
    struct stat at;
    before = hash_text(before, program);
    if (stat(program, &at) != 0) return before;
    const int64_t about[] = {at.st_mtim.tv_sec, at.st_mtim.tv_nsec, at.st_size};
    return hash(before, about, sizeof about);
}

bool kept_place(const char *library, const char *cubin, char *const argv[], Kept *kept) {
    const uint64_t nothing = UINT64_C(0xcbf29ce484222325);
    const char *folder = getenv("LISTINGS");
    char *code;
    size_t length;
    Error error;
    if (!folder || !*folder || !read_file(cubin, &code, &length, &error)) return false;
    kept->from = hash_program(hash(nothing, code, length), argv[0]);
    free(code);
    uint64_t name = hash_text(nothing, library);
    for (int i = 1; argv[i]; i++)
        if (strcmp(argv[i], cubin) != 0) name = hash_text(name, argv[i]);
    mkdir(folder, 0777);
    return snprintf(kept->path, sizeof kept->path, "%s/%016" PRIx64 ".sass", folder, name) <
           (int)sizeof kept->path;
}

/* The first line says what it was made from, and how long it is: a full disk cuts files. */
static void first_line(const Kept *kept, size_t length, char line[static 48]) {
    snprintf(line, 48, "%016" PRIx64 " %zu\n", kept->from, length);
}

char *kept_read(const Kept *kept) {
    char *text, *listing = NULL, line[48];
    size_t length;
    Error error;
    if (!read_file(kept->path, &text, &length, &error)) return NULL;
    const size_t first = strcspn(text, "\n") + 1; /* without a line's end one more than there are */
    first_line(kept, length - first, line);
    if (strncmp(text, line, first) == 0) listing = strdup(text + first);
    free(text);
    return listing;
}

void kept_write(const Kept *kept, const char *text) {
    char part[PATH_MAX + 24], line[48];
    snprintf(part, sizeof part, "%s.%ld", kept->path, (long)getpid());
    FILE *out = fopen(part, "wb");
    if (!out) return;
    first_line(kept, strlen(text), line);
    fprintf(out, "%s%s", line, text);
    if (fclose(out) == 0) rename(part, kept->path);
    unlink(part); /* if it is still there */
}
