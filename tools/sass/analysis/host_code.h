/* What only the host code of a stage knows about its kernels. */
#ifndef SASS_HOST_CODE_H
#define SASS_HOST_CODE_H

#include <stddef.h>

typedef struct Launch {
    const char *name;   /* as in the source */
    const char *symbol; /* mangled, as in the machine code */
    int dynamic_shared; /* bytes per block */
} Launch;

enum { MAX_LAUNCHES = 16 };

/* The kernels of a stage's .so in launch order, from its attention_kernels; returns how many, 0 if
 * the file is not such a library. The names stay valid until the program ends. */
int launches_read(const char *path, Launch launches[MAX_LAUNCHES]);

#endif
