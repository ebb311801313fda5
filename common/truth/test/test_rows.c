/* Catches: a row chosen twice, out of range or out of order; a small problem of which rows are left
 * out; a choice that misses the ends, the tile edges or most heads; more work than allowed. */
#include "test/tap.h"
#include "truth/rows.h"

static bool has(const Rows *rows, size_t index) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->index[i] == index) return true;
    return false;
}

static Problem make(int batch, int heads, int seq_q, int seq_kv) {
    return (Problem){{batch, heads, 1, seq_q, seq_kv, 0.125f}, 64, TYPE_FP16, false};
}

int main(void) {
    Rows rows, again;
    Error error;
    Problem p = make(2, 3, 100, 50);
    rows_choose(&p, 1, 1e9, &rows, &error);
    bool all = rows.count == 600 && rows.total == 600;
    for (size_t i = 0; all && i < 600; i++) all = rows.index[i] == i;
    ok(all, "a small problem: all 600 rows");
    rows_free(&rows);
    const double work_of_all = 600.0 * (50 * 64 + 64);
    rows_choose(&p, 1, work_of_all, &rows, &error);
    is_int((long long)rows.count, 600, "all, if the work just allows it");
    rows_free(&rows);
    rows_choose(&p, 1, work_of_all - 1, &rows, &error);
    ok(rows.count < 600, "not all, if it just does not");
    rows_free(&rows);

    p = make(4, 16, 4096, 4096);
    rows_choose(&p, 1, 1e9, &rows, &error);
    bool ordered = rows.total == 262144;
    for (size_t i = 1; i < rows.count; i++) ordered &= rows.index[i] > rows.index[i - 1];
    ok(ordered && rows.index[rows.count - 1] < rows.total, "a large one: ascending, in range");
    const double work = (double)rows.count * 4096 * 64;
    ok(work > 0.9e9 && work < 1.1e9, "as many rows as the work allows (%zu)", rows.count);

    static const size_t edges[] = {0, 15, 16, 63, 64, 127, 128, 4095, 4080, 4079, 4032, 3968};
    const size_t last_head = 63 * 4096;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
        ok(has(&rows, edges[i]) && has(&rows, last_head + edges[i]),
           "row %zu of the first and of the last head", edges[i]);
    int heads = 0;
    for (size_t head = 0; head < 64; head++) {
        bool seen = false;
        for (size_t i = 0; i < rows.count; i++) seen |= rows.index[i] / 4096 == head;
        heads += seen;
    }
    is_int(heads, 64, "rows of every head");

    rows_choose(&p, 1, 1e9, &again, &error);
    ok(again.count == rows.count && !memcmp(again.index, rows.index, rows.count * sizeof(size_t)),
       "the same seed, the same rows");
    rows_free(&again);
    rows_choose(&p, 2, 1e9, &again, &error);
    ok(again.count != rows.count ||
           memcmp(again.index, rows.index, rows.count * sizeof(size_t)) != 0,
       "another seed, others");
    rows_free(&again);
    rows_free(&rows);

    p = make(1, 2, 16, 2000000000); /* as many rows as there are edges */
    rows_choose(&p, 1, 1e3, &rows, &error);
    ok(rows.count == 32, "32 rows are all compared, whatever they cost");
    rows_free(&rows);

    p = make(1, 1, 1, 2000000000);
    rows_choose(&p, 1, 1e3, &rows, &error);
    ok(rows.count == 1, "at least the edges, whatever they cost");
    rows_free(&rows);
    p = make(1, 1, 33, 2000000000);
    rows_choose(&p, 1, 1e3, &rows, &error);
    ok(rows.count == 5 && has(&rows, 0) && has(&rows, 15) && has(&rows, 16) && has(&rows, 31) &&
           has(&rows, 32),
       "also for a length just past a tile, each once");
    rows_free(&rows);
    /* The edges alone, of the first and of the last head. */
    static const size_t of_head[] = {0, 15, 16, 63, 64, 127, 128, 255, 256, 287, 288, 299};
    p = make(2, 3, 300, 2000000000);
    rows_choose(&p, 1, 1e3, &rows, &error);
    int wrong = rows.count != 24;
    for (size_t i = 0; i < 24 && !wrong; i++)
        wrong += rows.index[i] != of_head[i % 12] + i / 12 * 5 * 300;
    is_int(wrong, 0, "rows on both sides of the edges, and no others");
    rows_free(&rows);
    p = make(32, 64, 1, 8193);
    rows_choose(&p, 1, 1e6, &rows, &error);
    ok(rows.count < 40 && has(&rows, 0) && has(&rows, 2047), "the last of many heads of one row");
    rows_free(&rows);
    p = make(1 << 20, 1 << 10, 1 << 20, 1); /* 2^50 rows */
    ok(!rows_choose(&p, 1, 1e30, &rows, &error) && error.status == STATUS_SKIP,
       "more rows than the memory of the host has room for: %s", error.text);
    return done_testing();
}
