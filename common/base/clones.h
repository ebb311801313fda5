/* CLONES before a function compiles it twice, for any x86-64 and for processors with AVX2 and FMA;
 * the program takes the better one when it is loaded. It pays for loops over lanes. WIDE_CLONES
 * adds one for AVX-512, for loops that fill its vectors. On Arm, every processor has NEON, and the
 * compiler uses it without being asked. */
#ifndef CLONES_H
#define CLONES_H

#if defined(__x86_64__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#define WIDE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#define WIDE_CLONES
#endif

#endif
