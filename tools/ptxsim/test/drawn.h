/* Numbers drawn from a seed, for tests of what is drawn. */
#ifndef DRAWN_H
#define DRAWN_H

#include "base/generator.h"

/* A number from 0 to below - 1; *state begins as the seed and moves on. */
static int drawn(uint64_t *state, int below) { return (int)(mix64(++*state) % (unsigned)below); }

#endif
