/* The source files that .file directives name, for reports and annotations. */
#ifndef PTXSIM_SOURCE_FILE_H
#define PTXSIM_SOURCE_FILE_H

/* The whole file with a zero byte after it, to be freed. NULL if it cannot be read, is no ordinary
 * file, or is larger than any source (MAX_SOURCE_FILE): the path is the program's to choose. */
char *source_file_read(const char *path);

#endif
