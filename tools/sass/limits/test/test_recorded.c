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
