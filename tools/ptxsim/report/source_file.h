/* The source files that .file directives name, for reports and annotations. */
#ifndef PTXSIM_SOURCE_FILE_H
#define PTXSIM_SOURCE_FILE_H

/* The whole file with a zero byte after it, to be freed. NULL if it cannot be read, is no ordinary
 * file, or is larger than any source (MAX_SOURCE_FILE): the path is the program's to choose. */
char *source_file_read(const char *path);

/* The path as seen from the working directory, if it is below that: the rest of `path`. */
const char *source_file_name(const char *path);

#endif
