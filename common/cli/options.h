/* The command line: [KEY=VALUE]... STAGE_DIR... , the keys being the Make variables. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "truth/model_inputs.h"
#include "truth/problem.h"

enum { OPTION_UNSET = -1, MAX_SEQS = 32, MAX_STAGES = 64 };
enum { INIT_ALL = INITS }; /* INIT=all, of bench alone */

typedef enum DeviceChoice { DEVICE_AUTO, DEVICE_GPU, DEVICE_SIM } DeviceChoice;
typedef enum GridSize { GRID_FULL, GRID_SMALL, GRID_BIG } GridSize;
typedef enum CountersView {
    COUNTERS_TABLE,  /* a few columns per stage */
    COUNTERS_FULL,   /* by kernel and instruction class */
    COUNTERS_SOURCE, /* the kernel's source with the counters of each line */
    COUNTERS_HTML    /* the same as one HTML page */
} CountersView;

/* Every int is OPTION_UNSET where the command line says nothing; those with a default that does
 * not depend on the device hold it. */
typedef struct Options {
    int batch, heads, kv_heads, seq_q, seq_kv, d; /* B H HKV N NKV D */
    int causal;                                   /* CAUSAL */
    int dtype;                                    /* DTYPE, an ElementType */
    int init;                                     /* INIT, an Init or INIT_ALL */
    double strength;                              /* STRENGTH; 0: that of the init */
    uint64_t seed;                                /* SEED; default 1 */
    bool seed_given;                              /* false: fuzz makes one */
    double scale;                                 /* SCALE; 0: 1 / sqrt(D) */
    int lse;                                      /* LSE=0: run with LSE = NULL; default 1 */
    int device;                                   /* DEVICE, a DeviceChoice; default auto */
    int gpu;                                      /* GPU index; default 0 */
    int json;                                     /* FORMAT=json; default text */
    int reps;                                     /* REPS, up to 1000; 0: until it is stable */
    int counters;                                 /* COUNTERS, a CountersView; default table */
    int grid;                                     /* GRID, a GridSize */
    int runs;                                     /* RUNS of a stage on a problem */
    int limit;                                    /* LIMIT, seconds a launch on a GPU */
    int seconds;                                  /* SECONDS of fuzz; default 60 */
    int seqs[MAX_SEQS], seq_count;                /* SEQS, sequence lengths of bench; 0: all */
    int regime;                                   /* REGIME of bench, see regimes.h */
    int sustained;                  /* SUSTAINED, seconds of bench; 0: one at a time */
    int block;                      /* BLOCK of timeline */
    const char *program;            /* this one, to be started again; NULL: it is not attention */
    const char *stages[MAX_STAGES]; /* folders, as given */
    int stage_count;
} Options;

/* Reads the arguments that follow the subcommand. An empty value means "not set". On a bad one
 * returns false with STATUS_USAGE and a sentence that names the variable and what is allowed. */
bool options_parse(int count, char *const arguments[], Options *options, Error *error);

/* The problem that the options ask for, checked. Sizes that are not set become
 * B=4 H=16 HKV=H N=4096 NKV=N D=128 on a GPU and B=1 H=2 HKV=1 N=256 NKV=N D=128 simulated. */
bool options_problem(const Options *options, bool simulated, Problem *problem, Error *error);

/* LIMIT, or 60. */
int options_limit(const Options *options);

/* INIT, or normal. */
Init options_init(const Options *options);

/* What INIT and STRENGTH ask a bench for: a list of *count inputs. `one` is room for a single one.
 */
const InputChoice *options_inputs(const Options *options, InputChoice *one, int *count);

/* STATUS_USAGE if INIT=all, REGIME or SUSTAINED is set, which bench alone takes. */
bool options_one_problem(const Options *options, const char *command, Error *error);

/* STATUS_USAGE if one of B H HKV N NKV is set: `command` chooses the shapes itself. */
bool options_no_shape(const Options *options, const char *command, Error *error);

#endif
