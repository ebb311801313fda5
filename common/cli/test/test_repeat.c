/* What `repeat` runs, as a set. Catches: problems of one tile, where no order can change; lengths
 * that are multiples of a tile, heads that share nothing, a GPU that has room for all blocks. */
#include "cli/repeat.h"
#include "test/digest.h"
#include "test/tap.h"

#include <inttypes.h>

enum { ROWS = 128, KEYS = 128, BLOCK = 64, FRAGMENT = 16 }; /* largest tiles, least rows */

static void look(bool simulated, const char *where, int blocks) {
    int count, many_rows = 0, many_keys = 0, grouped = 0, ragged = 0, batches = 0, fewest = 1 << 30;
    const AttentionProblem *shape = repeat_shapes(simulated, &count);
    for (int i = 0; i < count; i++, shape++) {
        many_rows += shape->seq_q > ROWS;
        many_keys += shape->seq_kv > KEYS;
        grouped += shape->kv_heads < shape->heads && shape->heads % shape->kv_heads == 0;
        ragged += shape->seq_q % FRAGMENT != 0 && shape->seq_kv % FRAGMENT != 0;
        batches += shape->batch > 1;
        const int here = shape->batch * shape->heads * ((shape->seq_q + BLOCK - 1) / BLOCK);
        fewest = here < fewest ? here : fewest;
    }
    is_int(count, 3, where);
    ok(many_rows >= 2, "%s: more rows than a tile", where);
    ok(many_keys >= 2, "%s: more keys than a tile", where);
    ok(grouped >= 2 && grouped < count, "%s: heads that share keys, and heads that do not", where);
    ok(ragged >= 2, "%s: lengths that no tile divides", where);
    ok(batches >= 2, "%s: more than one batch", where);
    ok(fewest >= blocks, "%s: at least %d blocks", where, blocks);
}

/* notes/trust.md says what `repeat` has found on these shapes. */
static uint64_t digest(bool simulated) {
    int count;
    const AttentionProblem *shapes = repeat_shapes(simulated, &count);
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum = digest_shape(sum, &shapes[i]);
    return sum;
}

int main(void) {
    ok(digest(false) == 0x88707d9f8a9b192f, "the shapes of the recorded runs: %" PRIx64,
       digest(false));
    ok(digest(true) == 0x6181cc3063f803b9, "also in the simulator: %" PRIx64, digest(true));
    look(false, "on a GPU", 3 * 132); /* three per multiprocessor */
    look(true, "in the simulator", 6);
    return done_testing();
}
