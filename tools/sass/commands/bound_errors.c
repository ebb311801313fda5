#include "commands/commands.h"
#include "limits/subject.h"
#include "list.h"

#include <string.h>

enum { MAX_COLUMNS = 32 };

/* A recorded time and the bound beside it. */
typedef struct Compared {
    Cell cell;
    Bound bound;
} Compared;

typedef struct Comparison {
    Compared *compared;
    int count;
    int length[MAX_COLUMNS], lengths; /* that were recorded, in order */
} Comparison;

static double explained(const Compared *one) { return 100 * one->bound.ms / one->cell.ms; }

static void note_length(Comparison *all, int length) {
    int i = all->lengths;
    for (int k = 0; k < all->lengths; k++)
        if (all->length[k] == length) return;
    if (i == MAX_COLUMNS) return;
    for (; i > 0 && all->length[i - 1] > length; i--) all->length[i] = all->length[i - 1];
    all->length[i] = length;
    all->lengths++;
}

static void compare_cells(const Subject *subject, const Cells *cells, Comparison *all) {
    for (int i = 0; i < cells->cells; i++) {
        const Cell *cell = &cells->cell[i];
        if (strcmp(cell->stage, subject->module.stage) != 0 || cell->d != subject->d ||
            cell->causal != subject->causal || strcmp(cell->type, subject->type) != 0)
            continue;
        const Shape shape = {cell->batch, cell->heads, cell->length, cell->d, cell->causal};
        Compared *one = LIST_ADD(all->compared, all->count);
        *one = (Compared){*cell, model_bound(&subject->model, &shape)};
        note_length(all, cell->length);
    }
}

/* Compares all files; a stage that the machine cannot run, or that cannot be matched, is named. */
static bool compare_files(const Options *options, Comparison *all, char device[MACHINE_NAME_SIZE],
                          Error *error) {
    for (int f = 0; f < options->file_count; f++) {
        Subject subject;
        Cells cells;
        if (!subject_open(options->files[f], options->gpu, options->machines, options->counted,
                          &subject, error)) {
            if (error->status != STATUS_SKIP) return false;
            fprintf(stderr, "sass: %s\n", error->text);
            continue;
        }
        if (*subject.model.unmatched)
            fprintf(stderr, "sass: %s: PTX and machine code cannot be matched in %s\n",
                    subject.module.stage, subject.model.unmatched);
        const bool read = subject_cells(options->results, subject.machine.device, &cells, error);
        if (read) compare_cells(&subject, &cells, all);
        snprintf(device, MACHINE_NAME_SIZE, "%s", subject.machine.device);
        recorded_free(&cells);
        subject_close(&subject);
        if (!read) return false;
    }
    return true;
}

static bool same_row(const Cell *a, const Cell *b) {
    return strcmp(a->stage, b->stage) == 0 && strcmp(a->type, b->type) == 0 && a->d == b->d &&
           a->causal == b->causal && a->heads == b->heads;
}

/* The cells compared[from .. to - 1] of one stage, head size and mask: a row of the table. */
static void add_row(Table *table, const Comparison *all, int from, int to) {
    const Compared *first = &all->compared[from], *last = &all->compared[to - 1];
    table_add(table, "%s d%d %s", first->cell.stage, first->cell.d,
              first->cell.causal ? "causal" : "full");
    for (int k = 0; k < all->lengths; k++) {
        int i = from;
        while (i < to && all->compared[i].cell.length != all->length[k]) i++;
        if (i < to)
            table_add(table, "%.1f", explained(&all->compared[i]));
        else
            table_add(table, "-");
    }
    table_add(table, "%s", unit_name(last->bound.binding));
}

static void print_table(const Comparison *all, const char *device, Format format) {
    Table table = {.columns = all->lengths + 2};
    printf(
        "%s: the bound's time over the recorded one, %%; what is missing to 100 is the error\n\n",
        device);
    table_add(&table, "stage \\ seq");
    for (int k = 0; k < all->lengths; k++) table_add(&table, "%d", all->length[k]);
    table_add(&table, "bound by");
    for (int i = 0, end; i < all->count; i = end) {
        for (end = i;
             end < all->count && same_row(&all->compared[i].cell, &all->compared[end].cell);)
            end++;
        add_row(&table, all, i, end);
    }
    table_print(&table, format, stdout);
}

static void put_cell(const Compared *one, const char *device) {
    const Cell *cell = &one->cell;
    const Shape shape = {cell->batch, cell->heads, cell->length, cell->d, cell->causal};
    printf("{\"name\":\"%s\",\"device\":", cell->stage);
    put_json(device, stdout);
    printf(",\"dtype\":\"%s\",\"causal\":%s,\"batch\":%d,\"heads\":%d,\"seq_q\":%d,\"d\":%d",
           cell->type, cell->causal ? "true" : "false", cell->batch, cell->heads, cell->length,
           cell->d);
    printf(",\"binding\":\"%s\",\"bound_ms\":%.6g,\"measured_ms\":%.6g,\"bound_tflops\":%.6g,"
           "\"tflops\":%.6g,\"bound_by\":\"%s\",\"explained\":%.6f}\n",
           unit_key(one->bound.binding), one->bound.ms, cell->ms, one->bound.tflops,
           shape_tflop(&shape) / (cell->ms * 1e-3), unit_name(one->bound.binding),
           one->bound.ms / cell->ms);
}

static const Compared *worst_of(const Comparison *all) {
    const Compared *worst = all->compared;
    for (int i = 1; i < all->count; i++)
        if (explained(&all->compared[i]) > explained(worst)) worst = &all->compared[i];
    return worst;
}

bool errors_command(const Options *options, Error *error) {
    char device[MACHINE_NAME_SIZE] = "";
    Comparison all = {0};
    bool done = compare_files(options, &all, device, error);
    if (done && all.count == 0)
        done = error_set(error, STATUS_SKIP, "no time of these stages is recorded for %s in %s",
                         *device ? device : options->gpu,
                         *options->results ? options->results : "RESULTS");
    if (done && options->format != FORMAT_JSON) print_table(&all, device, options->format);
    for (int i = 0; done && options->format == FORMAT_JSON && i < all.count; i++)
        put_cell(&all.compared[i], device);
    if (done && explained(worst_of(&all)) > 100) {
        const Cell *cell = &worst_of(&all)->cell;
        fflush(stdout);
        done = error_set(error, STATUS_FAIL,
                         "a bound is beaten, so a number of the machine or a count is wrong: %s, "
                         "d %d, %s, seq %d explained %.1f %%",
                         cell->stage, cell->d, cell->causal ? "causal" : "full", cell->length,
                         explained(worst_of(&all)));
    }
    free(all.compared);
    return done;
}
