#include "analysis/kept.h"

#include "analysis/program.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two hashes by FNV-1a, of different beginnings (www.isthe.com/chongo/tech/comp/fnv). */
typedef struct Hash {
    uint64_t low, high;
} Hash;

static Hash hash_begin(void) {
    return (Hash){UINT64_C(14695981039346656037), UINT64_C(1099511628211)};
}

static void hash_add(Hash *hash, const void *bytes, size_t length) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < length; i++) {
        hash->low = (hash->low ^ byte[i]) * UINT64_C(1099511628211);
        hash->high = (hash->high ^ byte[i]) * UINT64_C(1099511628211);
    }
}

static void hash_add_text(Hash *hash, const char *text) { hash_add(hash, text, strlen(text) + 1); }

/* A program that is replaced where it is has another time or size. On PATH it is not looked for. */
static void hash_add_program(Hash *hash, const char *program) {
    struct stat at;
    hash_add_text(hash, program);
    if (stat(program, &at) != 0) return;
    const int64_t about[] = {at.st_mtim.tv_sec, at.st_mtim.tv_nsec, at.st_size};
    hash_add(hash, about, sizeof about);
}

bool kept_place(const char *library, const char *cubin, char *const argv[], Kept *kept) {
    const char *folder = getenv("LISTINGS");
    char *code;
    size_t length;
    Error error;
    if (!folder || !*folder || !read_file(cubin, &code, &length, &error)) return false;
    Hash name = hash_begin(), from = hash_begin();
    hash_add_text(&name, library);
    hash_add(&from, code, length);
    hash_add_program(&from, argv[0]);
    for (int i = 1; argv[i]; i++)
        if (strcmp(argv[i], cubin) != 0) {
            hash_add_text(&name, argv[i]);
            hash_add_text(&from, argv[i]);
        }
    free(code);
    snprintf(kept->from, sizeof kept->from, "%016" PRIx64 "%016" PRIx64, from.high, from.low);
    const int size =
        snprintf(kept->path, sizeof kept->path, "%s/%016" PRIx64 ".sass", folder, name.low);
    mkdir(folder, 0777);
    return size > 0 && size < (int)sizeof kept->path;
}

char *kept_read(const Kept *kept) {
    char *text, head[80];
    size_t length;
    Error error;
    if (!read_file(kept->path, &text, &length, &error)) return NULL;
    /* Its first line says what it was made from, and how long it is: a full disk cuts files. */
    const char *end = memchr(text, '\n', length);
    const size_t first = end ? (size_t)(end - text) + 1 : length;
    snprintf(head, sizeof head, "%s %zu\n", kept->from, length - first);
    if (strlen(head) == first && memcmp(text, head, first) == 0) {
        memmove(text, text + first, length - first + 1);
        return text;
    }
    free(text);
    return NULL;
}

void kept_write(const Kept *kept, const char *text) {
    char part[PATH_MAX + 24];
    snprintf(part, sizeof part, "%s.%ld", kept->path, (long)getpid());
    FILE *out = fopen(part, "wb");
    if (!out) return;
    fprintf(out, "%s %zu\n%s", kept->from, strlen(text), text);
    if (fclose(out) != 0 || rename(part, kept->path) != 0) unlink(part);
}
