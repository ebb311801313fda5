/* Elements of vectors in another order, for each GCC and clang that knows vectors. */
#ifndef PTXSIM_SHUFFLE_H
#define PTXSIM_SHUFFLE_H

/* SHUFFLE(a, b, n ...): element n of a and b side by side, for vectors of unsigned integers and as
 * many n as a has elements. JOIN(type, a, b): two vectors of four as one of eight. */
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define JOIN(type, a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#endif
#endif
/* The same where GCC, before 12, has another name for the one and none for the other. */
#define SHUFFLE_BY_MASK(a, b, ...) __builtin_shuffle(a, b, (__typeof__(a)){__VA_ARGS__})
#define JOIN_ELEMENTS(type, a, b) \
    (type) { (a)[0], (a)[1], (a)[2], (a)[3], (b)[0], (b)[1], (b)[2], (b)[3] }
#ifndef SHUFFLE
#define SHUFFLE SHUFFLE_BY_MASK
#define JOIN JOIN_ELEMENTS
#endif

#endif
