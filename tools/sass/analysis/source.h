/* The lines of a text: source code or PTX. */
#ifndef SASS_SOURCE_H
#define SASS_SOURCE_H

#include <stdbool.h>

typedef struct Source {
    char *text; /* cut into lines */
    char **line;
    int lines;
} Source;

/* Takes the text over and cuts it into lines; NULL is an empty source. */
Source source_cut(char *text);

/* The same for a file; one that cannot be read is an empty source. */
Source source_read(const char *path);

/* Line `number`, from 1, without the spaces before it; "" if there is no such line. */
const char *source_line(const Source *source, int number);

/* Decodes, in place, a path as compilers write it: a byte that is not ASCII is a backslash and
 * three octal digits. */
void path_decode(char *path);

/* The last part of a path. */
const char *file_name(const char *path);

void source_free(Source *source);

#endif
