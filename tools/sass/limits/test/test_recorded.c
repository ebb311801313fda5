/* Recorded times. Catches: a line of another device, input, shape or regime that is taken, the
 * slower of two records, a bench that ran back to back. */
#include "limits/recorded.h"
#include "test/tap.h"

#include <stdlib.h>
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
    fprintf(out, "{\"stage\":null,\"name\":\"peer\",\"device\":\"Card\",\"ms_median\":1}\n");
}

/* Cells that differ in every way, in no order: two of each of the seven that there are. */
enum { WAYS = 7, COMBINATIONS = 1 << WAYS };

/* Number i of the sorted cells, the first way in its highest bit. */
static Cell sorted_cell(int i) {
    Cell cell = {.d = i & 32 ? 64 : 128,
                 .causal = (i & 16) != 0,
                 .length = i & 8 ? 1024 : 512,
                 .batch = i & 4 ? 4 : 2,
                 .heads = i & 2 ? 16 : 8};
    strcpy(cell.stage, i & 64 ? "07_swizzle" : "05_register");
    strcpy(cell.type, i & 1 ? "fp16" : "bf16");
    return cell;
}

static void order(void) {
    char path[] = "/tmp/recorded.XXXXXX";
    const int file = mkstemp(path);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    Cells cells = {0};
    Error error;
    int wrong = 0;
    if (!out) return;
    for (int n = 0; n < COMBINATIONS; n++) {
        const Cell c = sorted_cell(n * 37 % COMBINATIONS);
        fprintf(out,
                "{\"stage\":7,\"name\":\"%s\",\"device\":\"Card\",\"dtype\":\"%s\",\"causal\":%s,"
                "\"batch\":%d,\"heads\":%d,\"kv_heads\":%d,\"seq_q\":%d,\"seq_kv\":%d,\"d\":%d,%s,"
                "\"ms_median\":%d}\n",
                c.stage, c.type, c.causal ? "true" : "false", c.batch, c.heads, c.heads, c.length,
                c.length, c.d, timed, n + 1);
    }
    fclose(out);
    ok(recorded_read(path, "Card", &cells, &error), "a file of many cells");
    recorded_sort(&cells);
    is_int(cells.cells, COMBINATIONS, "each of which is another one");
    for (int i = 0; i < cells.cells && i < COMBINATIONS; i++) {
        const Cell want = sorted_cell(i), *got = &cells.cell[i];
        wrong += strcmp(got->stage, want.stage) != 0 || strcmp(got->type, want.type) != 0 ||
                 got->d != want.d || got->causal != want.causal || got->length != want.length ||
                 got->batch != want.batch || got->heads != want.heads;
    }
    is_int(wrong, 0, "by stage, head size, mask, length, batch, heads and type");
    recorded_free(&cells);
    unlink(path);
}

int main(void) {
    order();
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
    is_int(cells.cells, 2, "two cells");
    is_text(cells.cell[0].stage, "05_register", "sorted by stage");
    is_near(cells.cell[0].ms, 8, 0, "a bench that names its regime, if that is square");
    is_near(cells.cell[1].ms, 1.5, 0, "the least time of one that was recorded three times");
    is_int(cells.cell[1].length, 512, "its length");
    recorded_free(&cells);
    unlink(path);
    ok(!recorded_read(path, "Card", &cells, &error), "a file that is not there");
    return done_testing();
}
