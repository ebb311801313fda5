/* The kinds of inputs by their names; inputs.h says what each of them is. */
#ifndef INIT_H
#define INIT_H

typedef enum Init {
    INIT_NORMAL,
    INIT_UNIFORM,
    INIT_LARGE,
    INIT_ONEHOT,
    INIT_RAMP,
    INIT_TINY,
    INIT_EQUAL,
    INIT_ZEROS,
    INIT_DOMINANT,
    INIT_INFINITE,
    INIT_NAN,
    INIT_SINK,
    INIT_PEAKED,
    INIT_LOCAL,
    INIT_RECENCY,
    INIT_PRIMACY
} Init;
enum { INITS = INIT_PRIMACY + 1 };
typedef enum Tensor { TENSOR_Q, TENSOR_K, TENSOR_V } Tensor;

/* An init and its strength. */
typedef struct InputChoice {
    Init init;
    double strength; /* 0: the init takes none */
} InputChoice;

/* "normal", "uniform", ... */
const char *init_name(Init init);

/* The strength of an init where none is chosen; 0 if it takes none. */
double init_strength(Init init);

#endif
