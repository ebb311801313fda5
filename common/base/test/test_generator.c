/* Catches: another function than SplitMix64's, so other inputs and cases for every seed. */
#include "base/generator.h"
#include "test/tap.h"

int main(void) {
    const uint64_t step = 0x9e3779b97f4a7c15; /* of SplitMix64; these are what it gives from 0 on */
    static const uint64_t known[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f};
    for (uint64_t i = 0; i < 3; i++)
        ok(mix64((i + 1) * step) == known[i], "number %d of SplitMix64", (int)i + 1);
    ok(mix64(0) == 0, "0 stays 0");
    return done_testing();
}
