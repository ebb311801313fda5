/* Catches: a causal mask aligned top-left, off-by-one in the visible keys, FLOPs that halve instead
 * of counting, a KV head taken modulo instead of by group. */
#include "test/tap.h"
#include "truth/problem.h"

static Problem make(int batch, int heads, int kv_heads, int seq_q, int seq_kv, int d, bool causal) {
    return (Problem){.shape = {batch, heads, kv_heads, seq_q, seq_kv, 0.125f},
                     .d = d,
                     .type = TYPE_FP16,
                     .causal = causal};
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
    return done_testing();
}
