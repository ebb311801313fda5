/* CLONES before a function compiles it three times, for any x86-64, for AVX2 with FMA, and for
 * AVX-512; the program takes the best one for its processor when it is loaded. It pays for loops
 * over lanes, rows or columns. On Arm, every processor has NEON, and the compiler uses it without
 * being asked. The address sanitizer looks at one version: they are of the same source. */
#ifndef CLONES_H
#define CLONES_H

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#endif
