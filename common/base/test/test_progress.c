/* What a long command says on stderr. Catches: a step that takes minutes in silence, a line after
 * the step has ended, a line for every case of a quick command. */
#include "base/progress.h"
#include "test/tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 12 }; /* seconds, more than between two lines */

static char said[4096];

/* Everything on stderr so far. */
static const char *so_far(FILE *file) {
    fflush(stderr);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    return said;
}

int main(void) {
    FILE *file = tmpfile();
    if (!file || dup2(fileno(file), STDERR_FILENO) < 0) return 1;
    for (int i = 0; i < 1000; i++) progress("case %d of 1000", i);
    is_text(so_far(file), "", "quick steps are not worth a line");
    progress("preparing inputs");
    sleep(LONG);
    ok(strncmp(so_far(file), "preparing inputs, for 1", 23) == 0, "a long step says what it is");
    progress_end();
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    sleep(LONG);
    so_far(file);
    ok((long)strlen(said) == length, "and nothing once it has ended");
    return done_testing();
}
