/* Which unit of a GPU binds a stage, and the least time that this allows.
 *
 * The model is the simplest of those that Zhang and Owens describe ("A Quantitative Performance
 * Analysis Model for GPU Architectures", HPCA 2011): every unit's share of the work takes its own
 * time, and the kernel at least as long as the unit that takes longest. */
#ifndef SASS_MODEL_H
#define SASS_MODEL_H

#include "limits/growth.h"
#include "limits/units.h"

enum { REASON_SIZE = 512 };

/* The problem: as many keys as queries, and a KV head for each head. */
typedef struct Shape {
    int batch, heads, length, d;
    bool causal;
} Shape;

/* One kernel of a stage: what it asks for, as it grows with the length. */
typedef struct Demand {
    const char *kernel;
    Growth of[UNITS];    /* cycles per head, as unit_cycles counts them */
    double rows;         /* query rows of a block; 1: its blocks are no query tiles */
    double fixed_blocks; /* as many blocks for every problem: one per multiprocessor; 0: no */
    bool last_first;     /* blocks of late rows begin */
    bool heads_first;    /* neighbouring blocks are of different heads */
    int resident;        /* blocks on a multiprocessor */
} Demand;

typedef struct Model {
    const Module *module;
    const Machine *machine;
    Demand demand[MAX_LAUNCHED];
    int demands;
    char unmatched[REASON_SIZE]; /* the loop that PTX and machine code do not agree on, or "" */
} Model;

typedef struct Bound {
    double cycles[UNITS]; /* per multiprocessor on average, of all kernels together */
    double imbalance;     /* the time of the schedule over that of work that is spread evenly */
    double ms, tflops;    /* of the bound */
    Unit binding;         /* of the kernel that takes longest */
    double kernel_ms[MAX_LAUNCHED];
    Unit kernel_binding[MAX_LAUNCHED];
} Bound;

/* Reads what was counted of the module in `folder`: `lengths`, LENGTH.json and LENGTH.txt for each
 * of these three, first.json and second.json (counted.h; tools/limits/count.sh makes them). False
 * with the reason if a file is missing or no PTX of the module is what was counted. */
bool model_build(const Module *module, const Machine *machine, const char *folder, Model *model,
                 Error *error);

Bound model_bound(const Model *model, const Shape *shape);

/* Cycles of the multiprocessors until the last block of a kernel ends, if a head takes `growth`
 * cycles of one of them, and a block that is alone there reaches the part `alone` of its speed. */
double model_cycles(const Model *model, int kernel, const Growth *growth, double alone,
                    const Shape *shape);

/* 10^12 floating-point operations of a problem. */
double shape_tflop(const Shape *shape);

#endif
