/* The commands of build/sass, one file each. */
#ifndef SASS_COMMANDS_H
#define SASS_COMMANDS_H

#include "base/error.h"
#include "commands/output.h"

#include <stdbool.h>

enum { MAX_FILES = 512 };

typedef struct Options {
    Format format;        /* FORMAT */
    int line;             /* LINE; 0: all */
    const char *instr;    /* INSTR; "": all */
    bool ptx;             /* PTX=1 */
    bool clean;           /* CLEAN=1: no addresses */
    const char *stages;   /* STAGES: the folder of the stages' sources and signatures */
    const char *runs;     /* RUNS: a file with what attention run FORMAT=json printed, for page */
    const char *gpu;      /* GPU: the name of a machine; "": one that runs the code as its own */
    const char *machines; /* MACHINES: the folder of the machines' files */
    const char *counted;  /* COUNTED: the folder of what count.sh had counted */
    const char *results;  /* RESULTS: the folder of recorded times; "": none */
    int batch, heads, length; /* B, H, N, for limits */
    const char *files[MAX_FILES];
    int file_count;
} Options;

/* Each returns whether it did what was asked; if not, *error says why and what to exit with. */
bool show_command(const Options *options, Error *error);   /* the SASS beside its source */
bool count_command(const Options *options, Error *error);  /* instructions by opcode and class */
bool diff_command(const Options *options, Error *error);   /* two counts, and what changed */
bool ladder_command(const Options *options, Error *error); /* opcodes x stages */
bool check_command(const Options *options, Error *error);  /* signatures, as TAP */
bool page_command(const Options *options, Error *error);   /* two stages as HTML tables */
bool limits_command(const Options *options,
                    Error *error); /* which unit binds, and how fast at best */
bool errors_command(const Options *options, Error *error); /* the same beside all recorded times */

#endif
