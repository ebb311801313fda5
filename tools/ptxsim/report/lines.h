/* Counters by source line, and which lines are worst. */
#ifndef PTXSIM_LINES_H
#define PTXSIM_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/counts.h"

/* Requests of one kind of memory: sectors (global) or wavefronts (shared). */
typedef struct LineMemory {
    uint64_t requests, units, ideal_units;
} LineMemory;

enum {
    LINE_BUSY = 1,      /* among the three lines of the file with the most instructions */
    LINE_SCATTERED = 2, /* among the three with the most sectors beyond the ideal */
    LINE_CONFLICTS = 4, /* among the three with the most wavefronts beyond the ideal */
};

typedef struct LineCounts {
    uint64_t executions, lanes, divergent;
    LineMemory global, shared;
    unsigned marks;
} LineCounts;

typedef struct SourceLines {
    const char *path;    /* from the working directory, if below it */
    size_t lines;        /* of the file, or up to the last counted one if it cannot be read */
    char **text;         /* [lines + 1], by line number; NULL if the file cannot be read */
    LineCounts *counts;  /* [lines + 1], by line number */
    uint64_t executions; /* of the whole snapshot, for shares */
} SourceLines;

/* Collects what instructions from file `file` of the snapshot did, over all kernels. False if there
 * are none, or memory is short; then there is nothing to free. */
bool source_lines_open(const CountsSnapshot *snapshot, size_t file, SourceLines *lines);
void source_lines_close(SourceLines *lines);

/* Whether line `number` is worth showing: something near it was counted. */
bool source_line_shown(const SourceLines *lines, size_t number);

/* Sentences about a marked line, into `text`; returns how many there are, at most 3. */
enum { LINE_NOTES = 3, LINE_NOTE_SIZE = 128 };
unsigned source_line_notes(const LineCounts *counts, char text[LINE_NOTES][LINE_NOTE_SIZE]);

#endif
