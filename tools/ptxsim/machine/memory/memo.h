/* What was found out and stays so, in numbers other than 0: a small table that forgets one fact for
 * another, so that asking costs little and whoever is told "no" has to look again. */
#ifndef PTXSIM_MEMO_H
#define PTXSIM_MEMO_H

#include <stdbool.h>
#include <stdint.h>

enum { MEMO_BITS = 10 };
typedef struct Memo {
    uint64_t fact[1 << MEMO_BITS];
} Memo;

/* Neighbouring facts are far apart: Knuth's multiplicative hashing. */
static inline uint64_t *memo_place(Memo *memo, uint64_t fact) {
    return &memo->fact[fact * 0x9e3779b97f4a7c15 >> (64 - MEMO_BITS)];
}

static inline bool memo_knows(Memo *memo, uint64_t fact) { return *memo_place(memo, fact) == fact; }
static inline void memo_learn(Memo *memo, uint64_t fact) { *memo_place(memo, fact) = fact; }

#endif
