/* The control bits of an instruction: what ptxas tells the scheduler, since hardware of these
 * generations checks no dependence by itself.
 *
 * From Volta on they are bits 105 to 125 of the 128-bit encoding, 41 to 61 of its upper half.
 * NVIDIA does not document them; the fields are those that Jia et al. found ("Dissecting the NVIDIA
 * Volta GPU Architecture via Microbenchmarking", 2018), and the tests hold them against listings.
 */
#ifndef SASS_CONTROL_H
#define SASS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum { CONTROL_BARRIERS = 6, NO_BARRIER = 7 };

typedef struct Control {
    unsigned stall;   /* cycles until the warp's next instruction may be issued */
    bool yields;      /* the scheduler may take another warp first */
    unsigned written; /* the barrier that falls when the result is there, or NO_BARRIER */
    unsigned read;    /* the barrier that falls when the sources have been read, or NO_BARRIER */
    unsigned waits;   /* barriers that must have fallen before it is issued, a bit each */
} Control;

/* From the upper half of an encoding. */
Control control_decode(uint64_t upper);

enum { CONTROL_TEXT = 24 };

/* As "B0-2--- R1 W- Y 04": the barriers that are waited for, those that fall after reading and
 * writing, Y if it yields, the stall. Returns `text`. */
const char *control_text(Control control, char text[CONTROL_TEXT]);

/* What the text means, one line. */
extern const char control_legend[];

#endif
