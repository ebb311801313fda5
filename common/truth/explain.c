#include "truth/explain.h"

#include <math.h>
#include <stdlib.h>

enum { MISMATCHES = 8, TILE_ROWS = 64, TILE_COLUMNS = 16, MAP_LINES = 32, FRAGMENT_ROWS = 16 };

typedef struct Failure {
    const Problem *problem;
    const Rows *rows;
    const Truth *truth;
    const Outputs *outputs;
    size_t seq_q, d;
    bool *wrong; /* [rows, d] elements of O */
} Failure;

/* The NaN that O is filled with has a sign that tells nothing. */
static double without_nan_sign(double value) { return isnan(value) ? fabs(value) : value; }

static double got_O(const Failure *f, size_t r, size_t column) {
    const uint16_t bits = f->outputs->O[f->rows->index[r] * f->d + column];
    return without_nan_sign(element_to_float(f->problem->type, bits));
}

static void mark_wrong(const Failure *f) {
    for (size_t r = 0; r < f->rows->count; r++) {
        const double tolerance = check_row_tolerance(f->problem, f->truth, r);
        for (size_t i = r * f->d; i < (r + 1) * f->d; i++)
            f->wrong[i] = !(check_O_error(f->truth, i, got_O(f, r, i % f->d)) <= tolerance);
    }
}

static bool row_is_wrong(const Failure *f, size_t r) {
    for (size_t column = 0; column < f->d; column++)
        if (f->wrong[r * f->d + column]) return true;
    return false;
}

static void print_place(FILE *out, const Failure *f, const char *tensor, size_t index) {
    const size_t head = index / f->seq_q, heads = (size_t)f->problem->shape.heads;
    fprintf(out, "    %-3s batch %zu head %zu row %zu", tensor, head / heads, head % heads,
            index % f->seq_q);
}

static void list_mismatches(FILE *out, const Failure *f) {
    int left = MISMATCHES;
    fprintf(out, "  first mismatches of O:\n");
    for (size_t i = 0; i < f->rows->count * f->d && left > 0; i++) {
        if (!f->wrong[i]) continue;
        print_place(out, f, "O", f->rows->index[i / f->d]);
        fprintf(out, " column %zu: expected %.6g, got %.6g, tolerance %.2g\n", i % f->d,
                f->truth->O[i], got_O(f, i / f->d, i % f->d),
                check_row_tolerance(f->problem, f->truth, i / f->d));
        left--;
    }
    if (left == MISMATCHES) fprintf(out, "    none\n");
}

static void list_lse_mismatches(FILE *out, const Failure *f) {
    const double tolerance = check_lse_tolerance(f->rows, f->truth);
    int left = MISMATCHES;
    fprintf(out, "  first mismatches of LSE:\n");
    for (size_t r = 0; r < f->rows->count && left > 0; r++) {
        const double got = without_nan_sign(f->outputs->LSE[f->rows->index[r]]);
        const double expected = f->truth->LSE[r];
        if (check_error(got, expected) <= tolerance) continue;
        print_place(out, f, "LSE", f->rows->index[r]);
        fprintf(out, ": expected %.8g, got %.8g, tolerance %.2g\n", expected, got, tolerance);
        left--;
    }
    if (left == MISMATCHES) fprintf(out, "    none\n");
}

/* '.' right, '+' in part wrong, '#' all wrong. */
static char tile_symbol(size_t compared, size_t wrong) {
    if (wrong == 0) return '.';
    return wrong == compared ? '#' : '+';
}

/* One line of the map: rows first .. first + TILE_ROWS - 1 of the head, `r` on the first of them
 * that was compared. Returns the r after them. */
static size_t print_map_line(FILE *out, const Failure *f, size_t r, size_t first) {
    const size_t last = first + TILE_ROWS <= f->seq_q ? first + TILE_ROWS - 1 : f->seq_q - 1;
    const size_t head = f->rows->index[r] / f->seq_q;
    size_t end = r;
    while (end < f->rows->count && f->rows->index[end] <= head * f->seq_q + last) end++;
    fprintf(out, "    rows %6zu-%-6zu |", first, last);
    for (size_t column = 0; column < f->d; column += TILE_COLUMNS) {
        size_t compared = 0, wrong = 0;
        for (size_t row = r; row < end; row++)
            for (size_t c = column; c < column + TILE_COLUMNS && c < f->d; c++, compared++)
                wrong += f->wrong[row * f->d + c];
        fputc(tile_symbol(compared, wrong), out);
    }
    fprintf(out, "|\n");
    return end;
}

/* The head of the first wrong row, from that row's tile on; tiles without a compared row are
 * left out. */
static void print_map(FILE *out, const Failure *f, size_t first_wrong) {
    const size_t head = f->rows->index[first_wrong] / f->seq_q;
    const size_t heads = (size_t)f->problem->shape.heads;
    const size_t row = f->rows->index[first_wrong] % f->seq_q;
    const size_t tile_start = head * f->seq_q + row / TILE_ROWS * TILE_ROWS;
    size_t r = first_wrong, lines = 0;
    while (r > 0 && f->rows->index[r - 1] >= tile_start) r--;
    fprintf(out,
            "  batch %zu head %zu in tiles of %d rows x %d columns ('.' right, '+' partly wrong, "
            "'#' all wrong):\n",
            head / heads, head % heads, TILE_ROWS, TILE_COLUMNS);
    while (r < f->rows->count && f->rows->index[r] / f->seq_q == head && lines++ < MAP_LINES)
        r = print_map_line(out, f, r, f->rows->index[r] % f->seq_q / TILE_ROWS * TILE_ROWS);
}

static void print_fragment_rows(FILE *out, const Failure *f) {
    size_t compared[FRAGMENT_ROWS] = {0}, wrong[FRAGMENT_ROWS] = {0};
    for (size_t r = 0; r < f->rows->count; r++) {
        const size_t place = f->rows->index[r] % f->seq_q % FRAGMENT_ROWS;
        compared[place]++;
        wrong[place] += row_is_wrong(f, r);
    }
    fprintf(out, "  wrong rows by row mod 16:");
    for (int place = 0; place < FRAGMENT_ROWS; place++)
        if (compared[place]) fprintf(out, " %d:%zu/%zu", place, wrong[place], compared[place]);
    fprintf(out, "\n");
}

static void print_heads(FILE *out, const Failure *f) {
    size_t heads = 0, wrong_heads = 0, last = SIZE_MAX, last_wrong = SIZE_MAX;
    for (size_t r = 0; r < f->rows->count; r++) {
        const size_t head = f->rows->index[r] / f->seq_q;
        if (head != last) heads++;
        last = head;
        if (head == last_wrong || !row_is_wrong(f, r)) continue;
        wrong_heads++;
        last_wrong = head;
    }
    fprintf(out, "  heads with a wrong row: %zu of %zu compared\n", wrong_heads, heads);
}

void explain_failure(FILE *out, const Problem *problem, const Rows *rows, const Truth *truth,
                     const Outputs *outputs) {
    Failure f = {problem,
                 rows,
                 truth,
                 outputs,
                 (size_t)problem->shape.seq_q,
                 (size_t)problem->d,
                 malloc(rows->count * (size_t)problem->d * sizeof(bool))};
    if (!f.wrong) return; /* the verdict stands without it */
    mark_wrong(&f);
    list_mismatches(out, &f);
    if (outputs->LSE) list_lse_mismatches(out, &f);
    size_t first_wrong = 0;
    while (first_wrong < rows->count && !row_is_wrong(&f, first_wrong)) first_wrong++;
    if (first_wrong < rows->count) {
        print_map(out, &f, first_wrong);
        print_fragment_rows(out, &f);
        print_heads(out, &f);
    }
    free(f.wrong);
}
