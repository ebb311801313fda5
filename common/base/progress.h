/* One line on stderr that says what a long command is doing: rewritten in place on a terminal, else
 * a new line at most every ten seconds, also while one step takes longer than that. */
#ifndef PROGRESS_H
#define PROGRESS_H

void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Clears the line on a terminal. */
void progress_end(void);

#endif
