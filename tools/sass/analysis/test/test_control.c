/* Control bits of instructions as nvdisasm printed them, whose meaning their neighbours tell.
 * Catches: a field one bit off, a barrier that nobody waits for, yield the wrong way round. */
#include "analysis/control.h"

#include "test/tap.h"

static void control(const char *what, uint64_t upper, const char *wanted) {
    char text[CONTROL_TEXT];
    is_text(control_text(control_decode(upper), text), wanted, what);
}

int main(void) {
    /* MUFU.RCP R0 of 12_wgmma: waits for barrier 4, which its own result lowers again. */
    control("MUFU waits for its source and announces its result", 0x010f300000001000,
            "B----4- R- W4 - 08");
    control("two barriers at once", 0x002e6e0000001000, "B-1---- R- W1 - 07");
    control("LDGSTS announces that its addresses are read", 0x0003e2000b901c4c,
            "B------ R1 W- - 01");
    control("the next one with another barrier", 0x0005e8000b901c4c, "B------ R2 W- - 04");
    control("a branch stalls for five cycles", 0x000fea0003800000, "B------ R- W- - 05");
    control("nothing", 0x000fc00000000000, "B------ R- W- Y 00");
    control("every bit", 0xffffffffffffffff, "B012345 R- W- - 15");
    control("every bit that is none of them", 0xc00001ffffffffff, "B------ R0 W0 Y 00");
    return done_testing();
}
