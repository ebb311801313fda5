/* The files of a kernel's source. Catches: a size that is let through or refused one byte too
 * early, something other than a file that is read, a text that does not end, a folder that is left
 * out of a path beside it. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ptx/bounds.h"
#include "report/source_file.h"
#include "test/tap.h"

/* Whether a file of so many bytes is read, all but the first of them zeros. */
static void reads(const char *path, off_t size, bool expected) {
    if (truncate(path, size)) exit(1);
    char *text = source_file_read(path);
    ok((text != NULL) == expected && (!text || strcmp(text, size ? "a" : "") == 0), "%lld bytes",
       (long long)size);
    free(text);
}

/* A file that is there, but cannot be opened. */
static void test_not_opened(const char *path) {
    struct rlimit before, none;
    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    char *text = source_file_read(path);
    setrlimit(RLIMIT_NOFILE, &before);
    ok(!text, "a file for which there is no room to be opened");
    free(text);
}

static void test_names(void) {
    char folder[] = "/tmp/test_source_file.XXXXXX", path[64], beside[64];
    if (!mkdtemp(folder) || chdir(folder)) exit(1);
    snprintf(path, sizeof path, "%s/a/b.cu", folder);
    snprintf(beside, sizeof beside, "%sa/b.cu", folder);
    is_text(source_file_name(path), "a/b.cu", "a file below the working directory");
    is_text(source_file_name(beside), beside, "one in a folder beside it");
    is_text(source_file_name("a/b.cu"), "a/b.cu", "a path from there");
    is_text(source_file_name("/a/b.cu"), "/a/b.cu", "a file elsewhere");
    is_text(source_file_name(folder), folder, "the working directory itself");
    is_text(source_file_name(""), "", "no path");
    const bool gone = rmdir(folder) == 0;
    const char *name = source_file_name(path);
    ok(gone && name == path, "a working directory that is gone is not looked for");
}

int main(void) {
    char path[] = "/tmp/test_source_file.XXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || write(file, "a", 1) != 1) return 1;
    close(file);
    reads(path, 1, true);
    reads(path, 2, true);
    reads(path, MAX_SOURCE_FILE, true);
    reads(path, MAX_SOURCE_FILE + 1, false);
    reads(path, 0, true);
    ok(!source_file_read("/tmp"), "a folder");
    ok(!source_file_read("/dev/zero"), "what has no end");
    test_not_opened(path);
    unlink(path);
    ok(!source_file_read(path), "a file that is not there");
    test_names();
    return done_testing();
}
