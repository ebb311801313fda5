/* Running a whole grid. */
#ifndef PTXSIM_LAUNCH_H
#define PTXSIM_LAUNCH_H

#include <stdbool.h>

#include "decode/kernel.h"

typedef struct LaunchShape {
    uint32_t grid[3], threads[3];
    uint32_t dynamic_shared;
    bool early; /* programmatic: may begin before the launch before it has ended */
} LaunchShape;

typedef enum LaunchStatus {
    LAUNCH_OK,
    LAUNCH_FAULT,    /* the kernel did something wrong: reported on stderr */
    LAUNCH_TOO_LONG, /* it would take too long, and was stopped: said on stderr */
    LAUNCH_NO_MEMORY,
} LaunchStatus;

/* Runs the kernel; argument[i] points to parameter i. Counts are added to the kernel's. The
 * settings are those of the environment. */
LaunchStatus launch_run(Kernel *kernel, const LaunchShape *shape, void *const argument[]);

/* How many multiprocessors there are: SIM_MULTIPROCESSORS, at most 1,024. */
uint32_t launch_multiprocessors(void);

#endif
