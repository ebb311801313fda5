/* Catches: a sentence that is cut wrongly or lost, a status that is not the one that was set, one
 * that ends the program with another code. */
#include "base/error.h"
#include "test/tap.h"

#include <unistd.h>

int main(void) {
    char said[2000] = "";
    Error error;
    ok(!error_set(&error, STATUS_USAGE, "%s=%d is wrong", "N", 7), "an error is false");
    ok(error.status == STATUS_USAGE, "with its status");
    is_text(error.text, "N=7 is wrong", "and its sentence");
    FILE *file = tmpfile();
    const int usual = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    const int code = error_exit(&error);
    fflush(stderr);
    dup2(usual, STDERR_FILENO);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    is_int(code, 64, "the exit code is the status");
    is_text(said, "attention: N=7 is wrong\n", "what is said");
    error_set(&error, STATUS_FAIL, "%5000d", 1);
    ok(error.status == STATUS_FAIL && strlen(error.text) == sizeof error.text - 1,
       "a long one is cut");
    return done_testing();
}
