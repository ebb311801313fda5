#ifndef GRID_H
#define GRID_H
#include "options.h"
int grid_command(const Options *options, const Device *device);
#endif
