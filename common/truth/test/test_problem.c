/* Catches: a causal mask aligned top-left, off-by-one in the visible keys, FLOPs that halve instead
 * of counting, a KV head taken modulo instead of by group, sizes that are refused for nothing, let
 * through, or named wrongly. */
#include "test/tap.h"
#include "truth/problem.h"

static Problem make(int batch, int heads, int kv_heads, int seq_q, int seq_kv, int d, bool causal) {
    return (Problem){.shape = {batch, heads, kv_heads, seq_q, seq_kv, 0.125f},
                     .d = d,
                     .type = TYPE_FP16,
                     .causal = causal};
}

/* The sentence about a problem, "" if it is one. */
static const char *said(int batch, int heads, int kv_heads, int seq_q, int seq_kv, int d) {
    static Error error;
    const Problem p = make(batch, heads, kv_heads, seq_q, seq_kv, d, false);
    error = (Error){.status = STATUS_PASS};
    return problem_check(&p, &error)      ? ""
           : error.status == STATUS_USAGE ? error.text
                                          : "another status";
}

static void refusals(void) {
    enum { MOST = 2147483647 };
    is_text(said(1, 2, 1, 5, 7, 64), "", "a problem");
    is_text(said(1, 1, 1, 1, 1, 1), "", "the smallest");
#define RANGE " allowed are whole numbers from 1 to 2147483647"
    is_text(said(0, 2, 1, 5, 7, 64), "B=0:" RANGE, "no batch");
    is_text(said(1, -2, 1, 5, 7, 64), "H=-2:" RANGE, "fewer than no heads");
    is_text(said(1, 2, 0, 5, 7, 64), "HKV=0:" RANGE, "no KV heads");
    is_text(said(1, 2, 1, 0, 7, 64), "N=0:" RANGE, "no rows");
    is_text(said(1, 2, 1, 5, 0, 64), "NKV=0:" RANGE, "no keys");
    is_text(said(1, 2, 1, 5, 7, 0), "D=0:" RANGE, "no columns");
    is_text(said(1, 6, 4, 5, 7, 64), "HKV=4 does not divide H=6: allowed are divisors of H",
            "heads that do not share evenly");
    is_text(said(1, 2, 4, 5, 7, 64), "HKV=4 does not divide H=2: allowed are divisors of H",
            "more KV heads than heads");
    is_text(said(1, MOST, 1, 1, 1, 64), "", "as many heads as an int can count");
    is_text(said(2, 1 << 30, 1, 1, 1, 64),
            "B=2 times H=1073741824 overflows: allowed is at most 2147483647", "and one more");
    is_text(said(1, 1, 1, 1 << 28, MOST, 1), "", "scores that 63 bits can count");
#define TOO_LARGE ": the product of the sizes overflows 63 bits; choose smaller ones"
    is_text(said(1, 1, 1, (1 << 28) + 1, MOST, 1),
            "B=1 H=1 N=268435457 NKV=2147483647 D=1" TOO_LARGE, "and that they cannot");
    is_text(said(1, 8, 1, MOST, 1, 1 << 26), "B=1 H=8 N=2147483647 NKV=1 D=67108864" TOO_LARGE,
            "Q");
    is_text(said(1, 8, 8, 1, MOST, 1 << 26), "B=1 H=8 N=1 NKV=2147483647 D=67108864" TOO_LARGE,
            "K");
    /* 2^63 bytes, and a column less */
    is_text(said(1, 1, 1, 1 << 30, 1, 1 << 29), "B=1 H=1 N=1073741824 NKV=1 D=536870912" TOO_LARGE,
            "Q, just");
    is_text(said(1, 1, 1, 1 << 30, 1, (1 << 29) - 1), "", "Q, just not");
    is_text(said(1, 1, 1, 1, 1 << 30, 1 << 29), "B=1 H=1 N=1 NKV=1073741824 D=536870912" TOO_LARGE,
            "K, just");
    is_text(said(1, 1, 1, 1, 1 << 30, (1 << 29) - 1), "", "K, just not");
}

int main(void) {
    char name[64];
    Problem p = make(2, 6, 3, 5, 7, 64, true);
    is_int((long long)problem_q_elements(&p), 2 * 6 * 5 * 64, "elements of Q");
    is_int((long long)problem_kv_elements(&p), 2 * 3 * 7 * 64, "elements of K");
    is_int((long long)problem_rows(&p), 2 * 6 * 5, "rows");
    is_int((long long)problem_bytes(&p), 4 * (3840 + 2688) + 4 * 60, "bytes");
    is_int(problem_visible_keys(&p, 0), 3, "bottom-right: query 0 of 5 sees 3 of 7 keys");
    is_int(problem_visible_keys(&p, 4), 7, "the last query sees all keys");
    p = make(1, 1, 1, 7, 5, 64, true);
    is_int(problem_visible_keys(&p, 1), 0, "queries before the keys begin see none");
    is_int(problem_visible_keys(&p, 2), 1, "the next sees one");

    p = make(1, 1, 1, 7, 5, 64, false);
    ok(problem_visible_keys(&p, 0) == 5 && problem_visible_keys(&p, 6) == 5,
       "without a mask each query sees all keys");

    int wrong = 0;
    for (int seq_q = 1; seq_q < 20; seq_q++)
        for (int seq_kv = 1; seq_kv < 20; seq_kv++)
            for (int causal = 0; causal < 2; causal++) {
                p = make(1, 1, 1, seq_q, seq_kv, 64, causal);
                unsigned long long pairs = 0;
                for (int row = 0; row < seq_q; row++)
                    for (int j = 0; j < seq_kv; j++) pairs += !causal || j <= row + seq_kv - seq_q;
                wrong += pairs != problem_pairs(&p);
            }
    is_int(wrong, 0, "pairs are counted exactly for all lengths up to 19");
    p = make(4, 16, 16, 4096, 4096, 128, false);
    is_near(problem_flops(&p), 549755813888.0, 0, "FLOPs of the standard problem");

    p = make(2, 6, 3, 5, 7, 64, false);
    is_int((long long)problem_kv_head(&p, 0), 0, "head 0 reads KV head 0");
    is_int((long long)problem_kv_head(&p, 5), 0, "head 1 reads KV head 0");
    is_int((long long)problem_kv_head(&p, 2 * 5), 1, "head 2 reads KV head 1");
    is_int((long long)problem_kv_head(&p, 11 * 5 + 4), 5, "the last row reads the last KV head");
    problem_variant(&p, name, sizeof name);
    is_text(name, "d64_fp16_full", "the variant's name");
    p.type = TYPE_BF16;
    p.causal = true;
    problem_variant(&p, name, sizeof name);
    is_text(name, "d64_bf16_causal", "the other variant's name");
    is_near(problem_scale(64), 0.125, 0, "1 / sqrt(64)");
    is_near(problem_scale(128), 0.08838834764831845, 1e-8, "1 / sqrt(128)");
    p = make(2, 6, 3, 5, 7, 128, true);
    is_near(problem_flops(&p), 4.0 * 2 * 6 * 128 * (3 + 4 + 5 + 6 + 7), 0, "FLOPs are counted");
    refusals();
    return done_testing();
}
