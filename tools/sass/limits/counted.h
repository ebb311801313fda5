/* What the simulator counted: of one run, the record that SIM_RECORD makes it write, and the
 * distinct bytes of the report that COUNTERS=full prints; of a stage, the runs of
 * tools/limits/count.sh. */
#ifndef SASS_COUNTED_H
#define SASS_COUNTED_H

#include "base/error.h"
#include "limits/growth.h"

enum { SECTORS = 32, NAME_SIZE = 128, MAX_LAUNCHED = 4, SIMULATED_HEADS = 2 };

/* One PTX instruction. Executions and requests are of warps, units are sectors of 32 bytes in
 * global memory and wavefronts in shared memory, each over the whole run. */
typedef struct Operation {
    const char *text; /* a JSON string: json_string */
    const char *kind; /* a JSON string, the simulator's name of the class */
    double executions, requests, units;
    double shared_units;   /* of the shared side of cp.async */
    double in_first_block; /* executions in the block that was recorded, if one was */
} Operation;

/* One kernel as it was launched. */
typedef struct Counted {
    char kernel[NAME_SIZE];
    double blocks;
    int threads; /* per block */
    Operation *operation;
    int operations;
    /* Lines of 128 bytes that a request of so many sectors touches, on average over the kinds of
     * requests of the recorded block; 0: no such request, or no recorded block. */
    double lines_of[SECTORS + 1];
    double read_bytes, written_bytes; /* of global memory, each sector once */
    bool again; /* the kernel was launched more than once, and the record is of the first launch */
} Counted;

typedef struct CountedRun {
    Counted *launch;
    int launches;
    char *text; /* what the operations point into */
} CountedRun;

/* Reads a record and, unless `report` is NULL, the report of the same run. False with STATUS_USAGE
 * if a file cannot be read, with STATUS_FAIL if it is no record. */
bool counted_read(const char *record, const char *report, CountedRun *run, Error *error);

void counted_free(CountedRun *run);

/* All that was counted of a stage, of SIMULATED_HEADS heads. */
typedef struct Runs {
    double length[LENGTHS];
    CountedRun of[LENGTHS];
    CountedRun first, second; /* the smallest again, with the first and the second block recorded */
} Runs;

/* Reads a folder: `lengths`, LENGTH.json and LENGTH.txt for each of these three, first.json and
 * second.json. False with the reason if a file is missing or wrong. */
bool runs_read(const char *folder, Runs *runs, Error *error);

/* Whether all runs launched the same kernels, MAX_LAUNCHED at most. */
bool runs_agree(const Runs *runs);

void runs_free(Runs *runs);

#endif
