#include "analysis/control.h"

#include <stdio.h>

enum { STALL_BIT = 41, YIELD_BIT = 45, WRITTEN_BIT = 46, READ_BIT = 49, WAITS_BIT = 52 };

const char control_legend[] =
    "B: scoreboard barriers that it waits for; R, W: the one that is cleared when its sources have "
    "been read, its result is written; Y: another warp may go first; then the cycles until the "
    "next instruction";

static unsigned field(uint64_t bits, int at, int width) {
    return (unsigned)(bits >> at) & ((1u << width) - 1);
}

/* The yield bit is 1 where the warp should go on. */
Control control_decode(uint64_t upper) {
    return (Control){
        .stall = field(upper, STALL_BIT, 4),
        .yields = !field(upper, YIELD_BIT, 1),
        .written = field(upper, WRITTEN_BIT, 3),
        .read = field(upper, READ_BIT, 3),
        .waits = field(upper, WAITS_BIT, CONTROL_BARRIERS),
    };
}

static char digit(unsigned barrier) { return barrier == NO_BARRIER ? '-' : (char)('0' + barrier); }

const char *control_text(Control control, char text[CONTROL_TEXT]) {
    char waits[] = "------"; /* CONTROL_BARRIERS of them */
    for (unsigned b = 0; b < CONTROL_BARRIERS; b++)
        if (control.waits >> b & 1) waits[b] = digit(b);
    snprintf(text, CONTROL_TEXT, "B%s R%c W%c %c %02u", waits, digit(control.read),
             digit(control.written), control.yields ? 'Y' : '-', control.stall);
    return text;
}
