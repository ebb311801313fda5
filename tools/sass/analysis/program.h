/* Running the disassembler and the simulator. */
#ifndef SASS_PROGRAM_H
#define SASS_PROGRAM_H

#include "base/error.h"

#include <stddef.h>

/* Runs argv[0], found on PATH if it has no slash, in `folder` (NULL: here). *output is what it
 * wrote on stdout, ended by a zero byte, to be freed. If it cannot be run, STATUS_SKIP; if it
 * fails, STATUS_FAIL with the last line that it wrote on either stream. */
bool run_program(const char *folder, char *const argv[], char **output, Error *error);

/* The whole of a file, ended by a zero byte, to be freed; its length in *length unless NULL. */
bool read_file(const char *path, char **text, size_t *length, Error *error);

#endif
