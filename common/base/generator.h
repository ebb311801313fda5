/* The mixing function of the counter-based generators: the output function of SplitMix64 (Steele,
 * Lea, Flood 2014). What is random here is a function of a seed and a number, so any thread may
 * compute any of it. */
#ifndef GENERATOR_H
#define GENERATOR_H

#include <stdint.h>

/* 64 well-mixed bits from 64. */
uint64_t mix64(uint64_t bits);

#endif
