/* Whether a case that failed among others also fails where nothing was launched before it. */
#ifndef ALONE_H
#define ALONE_H

#include "cli/trial.h"

/* True if `run` on this case and the stage in this folder passes in a process of its own: the same
 * program, which says nothing. False too where there is none to start, as in tests that are not
 * that program. */
bool passes_alone(const Options *options, const Device *device, const TrialSetup *setup,
                  const char *folder);

#endif
