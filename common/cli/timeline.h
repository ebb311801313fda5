/* The command `timeline`: who does what when, in the stamped copy of a stage (stamped.h). */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "cli/options.h"
#include "device/device.h"

/* Takes two folders: a stage, and its stamped copy. Checks both, times them in turn, says what the
 * stamps cost, and writes the stamps of one block as a JSON object on stdout; all else goes to
 * stderr. The simulator only runs the copy. Returns the exit code. */
int timeline_command(const Options *options, const Device *device);

/* The most stamps of each of so many warps, a power of two, 2 at least: a GiB of them in all, and
 * fewer in the simulator. */
unsigned timeline_stamps(bool simulated, unsigned warps);

#endif
