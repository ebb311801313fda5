#include "truth/rows.h"

#include "base/generator.h"

#include <stdlib.h>

static int compare_index(const void *left, const void *right) {
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* Where errors sit: the first and last rows, and both sides of the edges of 16, 64 and 128 rows,
 * at the start and before the end. */
static size_t add_edges(size_t *index, size_t count, size_t head, size_t seq_q) {
    static const size_t edges[] = {0, 16, 64, 128};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        const size_t last_edge = edges[i] ? (seq_q - 1) / edges[i] * edges[i] : seq_q;
        const size_t rows[] = {edges[i], edges[i] - 1, last_edge, last_edge - 1};
        for (int r = 0; r < 4; r++)
            if (rows[r] < seq_q) index[count++] = head * seq_q + rows[r];
    }
    return count;
}

/* `count` is 1 at least. */
static size_t sort_unique(size_t *index, size_t count) {
    size_t kept = 1;
    qsort(index, count, sizeof *index, compare_index);
    for (size_t i = 1; i < count; i++)
        if (index[i] != index[kept - 1]) index[kept++] = index[i];
    return kept;
}

bool rows_choose(const Problem *problem, uint64_t seed, double work, Rows *rows, Error *error) {
    enum { EDGE_ROWS = 2 * 16 };
    const size_t total = problem_rows(problem), seq_q = (size_t)problem->shape.seq_q;
    const double row_work =
        (double)problem_pairs(problem) / (double)seq_q * problem->d + problem->d;
    const bool all = (double)total * row_work <= work || total <= EDGE_ROWS;
    const size_t random = all ? 0 : (size_t)(work / row_work);
    const size_t count = all ? total : EDGE_ROWS + random;

    *rows = (Rows){.index = malloc(count * sizeof *rows->index), .total = total};
    if (!rows->index) return error_set(error, STATUS_SKIP, "not enough host memory for the rows");
    if (all) {
        for (size_t i = 0; i < total; i++) rows->index[i] = i;
        rows->count = total;
        return true;
    }
    size_t filled = add_edges(rows->index, 0, 0, seq_q);
    filled = add_edges(rows->index, filled, total / seq_q - 1, seq_q);
    for (size_t i = 0; i < random; i++) rows->index[filled++] = mix64(seed + mix64(i)) % total;
    rows->count = sort_unique(rows->index, filled);
    return true;
}

void rows_free(Rows *rows) {
    free(rows->index);
    *rows = (Rows){0};
}
