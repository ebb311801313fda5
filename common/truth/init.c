#include "truth/init.h"

const char *init_name(Init init) {
    static const char *const names[INITS] = {
        "normal",   "uniform",  "large", "onehot", "ramp",   "tiny",  "equal",   "zeros",
        "dominant", "infinite", "nan",   "sink",   "peaked", "local", "recency", "primacy"};
    return names[init];
}

double init_strength(Init init) {
    switch (init) {
    case INIT_SINK:
        return 12;
    case INIT_PEAKED:
        return 3;
    case INIT_LOCAL:
        return 14;
    case INIT_RECENCY:
    case INIT_PRIMACY:
        return 20;
    default:
        return 0;
    }
}
