/* Names of special registers. Catches: a name that is known and is none, a size that is another. */
#include "decode/specials.h"

#include <string.h>

#include "test/tap.h"

static int find(const char *name, unsigned *bytes) {
    *bytes = 99;
    return special_find((Text){name, (int)strlen(name)}, bytes);
}

int main(void) {
    unsigned bytes;
    ok(find("%tid.x", &bytes) == TID && bytes == 4, "the first of the list");
    ok(find("%nclusterid.z", &bytes) == NCTAID + 2 && bytes == 4, "the last one");
    ok(find("%gridid", &bytes) == GRIDID && bytes == 8, "one of 8 bytes");
    ok(find("%cluster_nctaid.y", &bytes) == ONE && find("%cluster_ctaid.y", &bytes) == ZERO,
       "what has but one value");
    is_int(find("%nobody", &bytes), -1, "no special register");
    is_int(find("%tid", &bytes), -1, "nor is the beginning of one");
    is_int(find("%tid.xy", &bytes), -1, "or more than one");
    is_int(find("", &bytes), -1, "or nothing");
    return done_testing();
}
