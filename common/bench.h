#ifndef BENCH_H
#define BENCH_H
#include "options.h"
int bench_command(const Options *options, const Device *device);
#endif
