#include "limits/recorded.h"

#include "analysis/program.h"
#include "limits/json.h"
#include "list.h"

static bool is_text(const char *line, const char *key, const char *wanted) {
    char text[128];
    return json_string(json_member(line, key), text, sizeof text) && strcmp(text, wanted) == 0;
}

static bool is_number(const char *line, const char *key) {
    const char *value = json_member(line, key);
    return value && strchr("-0123456789", *value);
}

static int whole(const char *line, const char *key) {
    return (int)json_number(json_member(line, key));
}

/* That of a run is null. */
static bool is_square(const char *line) {
    char regime[16];
    return !json_string(json_member(line, "regime"), regime, sizeof regime) ||
           strcmp(regime, "square") == 0;
}

static bool serves(const char *line, const char *device) {
    return is_number(line, "stage") && is_number(line, "ms_median") &&
           !is_number(line, "sustained") && is_text(line, "device", device) &&
           is_text(line, "status", "pass") && is_text(line, "init", "normal") && is_square(line) &&
           whole(line, "seq_q") == whole(line, "seq_kv") &&
           whole(line, "heads") == whole(line, "kv_heads");
}

static int compare_cells(const void *a, const void *b) {
    const Cell *x = a, *y = b;
    const int order = strcmp(x->stage, y->stage);
    if (order) return order;
    if (x->d != y->d) return y->d - x->d;
    if (x->causal != y->causal) return x->causal - y->causal;
    if (x->length != y->length) return x->length - y->length;
    if (x->batch != y->batch) return x->batch - y->batch;
    return x->heads != y->heads ? x->heads - y->heads : strcmp(x->type, y->type);
}

static void add_cell(const char *line, Cells *cells) {
    Cell cell = {.batch = whole(line, "batch"),
                 .heads = whole(line, "heads"),
                 .length = whole(line, "seq_q"),
                 .d = whole(line, "d"),
                 .ms = json_number(json_member(line, "ms_median"))};
    const char *causal = json_member(line, "causal");
    cell.causal = causal && *causal == 't';
    json_string(json_member(line, "name"), cell.stage, sizeof cell.stage);
    json_string(json_member(line, "dtype"), cell.type, sizeof cell.type);
    for (int i = 0; i < cells->cells; i++) {
        if (compare_cells(&cells->cell[i], &cell) != 0) continue;
        if (cell.ms < cells->cell[i].ms) cells->cell[i].ms = cell.ms;
        return;
    }
    *(Cell *)LIST_ADD(cells->cell, cells->cells) = cell;
}

bool recorded_read(const char *path, const char *device, Cells *cells, Error *error) {
    char *text;
    if (!read_file(path, &text, NULL, error)) return false;
    for (char *line = text, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end) *end++ = '\0';
        if (serves(line, device)) add_cell(line, cells);
    }
    free(text);
    return true;
}

void recorded_sort(Cells *cells) {
    if (cells->cells) qsort(cells->cell, (size_t)cells->cells, sizeof *cells->cell, compare_cells);
}

void recorded_free(Cells *cells) {
    free(cells->cell);
    *cells = (Cells){0};
}
