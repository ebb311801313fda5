/* Recorded times. Catches: a line of another device, input, shape or regime that is taken, the
 * slower of two records, a bench that ran back to back, two problems that are taken for one,
 * another order. */
#include "limits/recorded.h"
#include "test/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char timed[] = "\"init\":\"normal\",\"status\":\"pass\",\"sustained\":null";

/* A line of a bench. */
static void put_cell(FILE *out, const char *name, const char *device, int keys, const char *how,
                     const char *ms) {
    fprintf(out, "{\"stage\":7,\"name\":\"%s\",\"device\":\"%s\",\"dtype\":\"fp16\"", name, device);
    fprintf(out, ",\"causal\":false,\"batch\":4,\"heads\":16,\"kv_heads\":16,\"seq_q\":512");
    fprintf(out, ",\"seq_kv\":%d,\"d\":128,%s,\"ms_median\":%s}\n", keys, how, ms);
}

static void put_cells(FILE *out) {
    fprintf(out, "{\"device\":\"Card\",\"command\":\"make bench\"}\n");
    put_cell(out, "07_swizzle", "Card", 512, timed, "2.5");
    put_cell(out, "07_swizzle", "Card", 512, timed, "1.5");
    put_cell(out, "07_swizzle", "Card", 512, timed, "2");
    put_cell(out, "05_register", "Card", 512, timed, "9");
    put_cell(out, "07_swizzle", "Other", 512, timed, "0.5");
    put_cell(out, "07_swizzle", "Card", 1024, timed, "0.5");
    put_cell(out, "07_swizzle", "Card", 512, timed, "null");
    put_cell(out, "07_swizzle", "Card", 512, "\"init\":\"sink\",\"status\":\"pass\"", "1");
    put_cell(out, "07_swizzle", "Card", 512, "\"init\":\"normal\",\"status\":\"fail\"", "1");
    put_cell(out, "07_swizzle", "Card", 512,
             "\"init\":\"normal\",\"status\":\"pass\",\"sustained\":1", "1");
    put_cell(out, "07_swizzle", "Card", 512,
             "\"init\":\"normal\",\"status\":\"pass\",\"regime\":\"small\"", "1");
    put_cell(out, "05_register", "Card", 512,
             "\"init\":\"normal\",\"status\":\"pass\",\"regime\":\"square\"", "8");
    put_cell(out, "04_run", "Card", 512, "\"init\":\"normal\",\"status\":\"pass\",\"regime\":null",
             "4");
    fprintf(out, "{\"stage\":null,\"name\":\"peer\",\"device\":\"Card\",\"ms_median\":1}\n");
}

/* Two neighbours differ in one thing or more, and are in order. */
static const Cell ordered[] = {
    {"03_a", "fp16", 1, 4, 512, 64, false, 9},  {"03_b", "bf16", 1, 4, 512, 128, false, 8},
    {"03_b", "fp16", 1, 4, 512, 128, false, 3}, {"03_b", "bf16", 1, 8, 512, 128, false, 7},
    {"03_b", "fp16", 1, 8, 512, 128, false, 2}, {"03_b", "bf16", 2, 4, 512, 128, false, 6},
    {"03_b", "bf16", 1, 4, 640, 128, false, 5}, {"03_b", "bf16", 1, 4, 512, 128, true, 4},
    {"03_b", "bf16", 1, 4, 256, 64, false, 1},  {"03_b", "bf16", 1, 4, 128, 64, true, 9},
};
enum { ORDERED = sizeof ordered / sizeof *ordered };

static void put_ordered(FILE *out, const Cell *c, double ms) {
    fprintf(out, "{\"stage\":3,\"name\":\"%s\",\"device\":\"Card\",\"dtype\":\"%s\",", c->stage,
            c->type);
    fprintf(out, "\"causal\":%s,\"batch\":%d,\"heads\":%d,\"kv_heads\":%d,\"seq_q\":%d,",
            c->causal ? "true" : "false", c->batch, c->heads, c->heads, c->length);
    fprintf(out, "\"seq_kv\":%d,\"d\":%d,%s,\"ms_median\":%g}\n", c->length, c->d, timed, ms);
}

/* Each problem twice, in steps through the list that end everywhere. */
static void test_order(const char *path) {
    FILE *out = fopen(path, "w");
    Cells cells = {0};
    Error error;
    int wrong = 0;
    for (int i = 0; i < 2 * ORDERED; i++) {
        const Cell *cell = &ordered[i * 7 % ORDERED];
        put_ordered(out, cell, cell->ms + (i < ORDERED ? 0 : 0.5));
    }
    fclose(out);
    ok(recorded_read(path, "Card", &cells, &error), "problems in no order");
    recorded_sort(&cells);
    is_int(cells.cells, ORDERED, "each is one cell");
    for (int i = 0; i < cells.cells && i < ORDERED; i++) {
        const Cell *x = &cells.cell[i], *y = &ordered[i];
        wrong += strcmp(x->stage, y->stage) != 0 || strcmp(x->type, y->type) != 0 ||
                 x->batch != y->batch || x->heads != y->heads || x->length != y->length ||
                 x->d != y->d || x->causal != y->causal || x->ms != y->ms;
    }
    is_int(wrong, 0, "in order, each with its time");
    recorded_free(&cells);
}

/* A line that says no more than what it must. */
static void test_less(const char *path) {
    FILE *out = fopen(path, "w");
    Cells cells = {0};
    Error error;
    fprintf(out, "{\"stage\":3,\"ms_median\":-1,\"device\":\"Card\",%s}", timed);
    fclose(out);
    ok(recorded_read(path, "Card", &cells, &error), "a line that says little");
    is_int(cells.cells, 1, "is a cell");
    ok(!cells.cell[0].causal && cells.cell[0].d == 0 && !*cells.cell[0].stage, "of nothing");
    recorded_free(&cells);
    recorded_sort(&cells);
    is_int(cells.cells, 0, "none can be sorted");
}

int main(void) {
    char path[] = "/tmp/recorded.XXXXXX";
    const int file = mkstemp(path);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    Cells cells = {0};
    Error error;
    if (!out) return 1;
    put_cells(out);
    fclose(out);
    ok(recorded_read(path, "Card", &cells, &error), "the file is read");
    recorded_sort(&cells);
    is_int(cells.cells, 3, "three cells");
    is_text(cells.cell[0].stage, "04_run", "sorted by stage; a run, which has no regime");
    is_near(cells.cell[1].ms, 8, 0, "a bench that names its regime, if that is square");
    is_near(cells.cell[2].ms, 1.5, 0, "the least time of one that was recorded three times");
    is_int(cells.cell[2].length, 512, "its length");
    recorded_free(&cells);
    ok(!cells.cell && cells.cells == 0, "nothing is left");
    test_less(path);
    test_order(path);
    unlink(path);
    ok(!recorded_read(path, "Card", &cells, &error), "a file that is not there");
    return done_testing();
}
