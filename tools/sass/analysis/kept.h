/* What the disassembler printed, kept: it takes a quarter of a second, and most commands want what
 * another one has had it print already.
 *
 * The environment's LISTINGS names the folder, which is made if the one around it is there; unset
 * or empty, nothing is kept. There is one file for each library and list of options, so that a
 * library which is built again takes the place of what it was. It counts only while the machine
 * code, the options and the disassembler are those that it was made from. */
#ifndef SASS_KEPT_H
#define SASS_KEPT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Kept {
    char path[PATH_MAX]; /* the file */
    uint64_t from;       /* a hash of what it was made from */
} Kept;

/* Where the output of argv, which reads `cubin`, the machine code of `library`, is kept: beside
 * that name, options make the place. False if it is not kept. */
bool kept_place(const char *library, const char *cubin, char *const argv[], Kept *kept);

/* What is kept there, to be freed; NULL if it is not what argv would print. */
char *kept_read(const Kept *kept);

/* Keeps it, if the folder can be written. */
void kept_write(const Kept *kept, const char *text);

#endif
