/* The files of a kernel's source. Catches: a size that is let through or refused one byte too
 * early, something other than a file that is read, a text that does not end. */
#include <stdlib.h>
#include <string.h>
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
    unlink(path);
    ok(!source_file_read(path), "a file that is not there");
    return done_testing();
}
