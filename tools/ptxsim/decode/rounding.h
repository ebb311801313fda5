/* The rounding modes of PTX: "Floating Point Instructions". */
#ifndef PTXSIM_ROUNDING_H
#define PTXSIM_ROUNDING_H

typedef enum Rounding {
    ROUND_NEAREST, /* .rn: to nearest, ties to even */
    ROUND_ZERO,    /* .rz */
    ROUND_DOWN,    /* .rm: towards minus infinity */
    ROUND_UP,      /* .rp */
} Rounding;

#endif
