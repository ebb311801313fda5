#include "commands/commands.h"
#include "limits/subject.h"
#include "replay/forecast.h"
#include "list.h"

#include <string.h>

enum { MAX_COLUMNS = 32 };

/* A recorded time, the bound and the replay beside it. */
typedef struct Compared {
    Cell cell;
    Bound bound;
    double replay_ms; /* 0: no replay is offered */
} Compared;

typedef struct Comparison {
    Compared *compared;
    int count;
    Compared *alone; /* of each file, a problem of the default shape, without a time */
    int files;
    int length[MAX_COLUMNS], lengths; /* that were recorded, in order */
} Comparison;

static double explained(const Compared *one) { return 100 * one->bound.ms / one->cell.ms; }
static double replayed(const Compared *one) { return 100 * one->replay_ms / one->cell.ms; }

static void note_length(Comparison *all, int length) {
    int i = all->lengths;
    for (int k = 0; k < all->lengths; k++)
        if (all->length[k] == length) return;
    if (i == MAX_COLUMNS) return;
    for (; i > 0 && all->length[i - 1] > length; i--) all->length[i] = all->length[i - 1];
    all->length[i] = length;
    all->lengths++;
}

/* Fills in the bound and the replay of a cell. */
static void foretell(const Subject *subject, const Forecast *forecast, Compared *one) {
    const Cell *cell = &one->cell;
    const Shape shape = {cell->batch, cell->heads, cell->length, cell->d, cell->causal};
    one->bound = model_bound(&subject->model, &shape);
    one->replay_ms = forecast_at(forecast, &subject->model, &one->bound, &shape).ms;
}

static void compare_cells(const Subject *subject, const Forecast *forecast, const Cells *cells,
                          Comparison *all) {
    for (int i = 0; i < cells->cells; i++) {
        const Cell *cell = &cells->cell[i];
        if (strcmp(cell->stage, subject->module.stage) != 0 || cell->d != subject->d ||
            cell->causal != subject->causal || strcmp(cell->type, subject->type) != 0)
            continue;
        Compared *one = LIST_ADD(all->compared, all->count);
        one->cell = *cell;
        foretell(subject, forecast, one);
        note_length(all, cell->length);
    }
}

/* The bound of the shape that the options ask for. */
static void add_alone(const Subject *subject, const Forecast *forecast, const Options *options,
                      Comparison *all) {
    Compared *one = LIST_ADD(all->alone, all->files);
    Cell *cell = &one->cell;
    *cell = (Cell){.batch = options->batch,
                   .heads = options->heads,
                   .length = options->length,
                   .d = subject->d,
                   .causal = subject->causal};
    snprintf(cell->stage, sizeof cell->stage, "%.*s", STAGE_SIZE - 1, subject->module.stage);
    snprintf(cell->type, sizeof cell->type, "%s", subject->type);
    foretell(subject, forecast, one);
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
        const Forecast forecast = forecast_build(&subject.model, subject.counted, subject.causal);
        compare_cells(&subject, &forecast, &cells, all);
        add_alone(&subject, &forecast, options, all);
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

/* The cells compared[from .. to - 1] of one stage, head size and mask: a row of the table of
 * bounds, or of replays. */
static void add_row(Table *table, const Comparison *all, int from, int to, bool replays) {
    const Compared *first = &all->compared[from], *last = &all->compared[to - 1];
    table_add(table, "%s d%d %s", first->cell.stage, first->cell.d,
              first->cell.causal ? "causal" : "full");
    for (int k = 0; k < all->lengths; k++) {
        int i = from;
        while (i < to && all->compared[i].cell.length != all->length[k]) i++;
        if (i < to)
            table_add(table, "%.1f",
                      replays ? replayed(&all->compared[i]) : explained(&all->compared[i]));
        else
            table_add(table, "-");
    }
    if (!replays) table_add_text(table, unit_name(last->bound.binding));
}

static void print_table(const Comparison *all, Format format, bool replays) {
    Table table = {.columns = all->lengths + (replays ? 1 : 2)};
    table_add(&table, "stage \\ seq");
    for (int k = 0; k < all->lengths; k++) table_add(&table, "%d", all->length[k]);
    if (!replays) table_add(&table, "bound by");
    for (int i = 0, end; i < all->count; i = end) {
        for (end = i;
             end < all->count && same_row(&all->compared[i].cell, &all->compared[end].cell);)
            end++;
        if (!replays || all->compared[i].replay_ms > 0) add_row(&table, all, i, end, replays);
    }
    table_print(&table, format, stdout);
}

static bool any_replay(const Comparison *all) {
    for (int i = 0; i < all->count; i++)
        if (all->compared[i].replay_ms > 0) return true;
    return false;
}

static void print_tables(const Comparison *all, const char *device, Format format) {
    printf(
        "%s: the bound's time over the recorded one, %%; what is missing to 100 is the error\n\n",
        device);
    print_table(all, format, false);
    if (!any_replay(all)) return;
    printf("\nthe replay's time over the recorded one, %%\n\n");
    print_table(all, format, true);
}

static void print_alone(const Comparison *all, const char *device, Format format) {
    const char *const head[] = {"stage", "ms", "TFLOP/s", "bound by"};
    Table table = {.columns = 4};
    const Cell *first = &all->alone[0].cell;
    printf("%s: bounds of batch %d, heads %d, seq %d; nothing is recorded beside them\n\n", device,
           first->batch, first->heads, first->length);
    for (int i = 0; i < 4; i++) table_add_text(&table, head[i]);
    for (int i = 0; i < all->files; i++) {
        const Compared *one = &all->alone[i];
        table_add(&table, "%s d%d %s", one->cell.stage, one->cell.d,
                  one->cell.causal ? "causal" : "full");
        table_add(&table, "%.4g", one->bound.ms);
        table_add(&table, "%.4g", one->bound.tflops);
        table_add_text(&table, unit_name(one->bound.binding));
    }
    table_print(&table, format, stdout);
}

static void put_number(const char *key, double number, bool known) {
    if (known)
        printf(",\"%s\":%.6g", key, number);
    else
        printf(",\"%s\":null", key);
}

static void put_cell(const Compared *one, const char *device) {
    const Cell *cell = &one->cell;
    const Shape shape = {cell->batch, cell->heads, cell->length, cell->d, cell->causal};
    const bool timed = cell->ms > 0;
    const double ms = timed ? cell->ms : 1;
    printf("{\"name\":\"%s\",\"device\":", cell->stage);
    put_json(device, stdout);
    printf(",\"dtype\":\"%s\",\"causal\":%s,\"batch\":%d,\"heads\":%d,\"seq_q\":%d,\"d\":%d",
           cell->type, cell->causal ? "true" : "false", cell->batch, cell->heads, cell->length,
           cell->d);
    printf(",\"binding\":\"%s\",\"bound_by\":\"%s\"", unit_key(one->bound.binding),
           unit_name(one->bound.binding));
    put_number("bound_ms", one->bound.ms, true);
    put_number("measured_ms", ms, timed);
    put_number("bound_tflops", one->bound.tflops, true);
    put_number("tflops", shape_tflop(&shape) / (ms * 1e-3), timed);
    put_number("explained", one->bound.ms / ms, timed);
    put_number("replay_ms", one->replay_ms, one->replay_ms > 0);
    put_number("replayed", one->replay_ms / ms, timed && one->replay_ms > 0);
    printf("}\n");
}

static const Compared *worst_of(const Comparison *all) {
    const Compared *worst = all->compared;
    for (int i = 1; i < all->count; i++)
        if (explained(&all->compared[i]) > explained(worst)) worst = &all->compared[i];
    return worst;
}

/* Bounds beside times, or where nothing is recorded of the device, bounds alone. */
static void print_all(const Comparison *all, const char *device, Format format) {
    const int count = all->count ? all->count : all->files;
    if (format == FORMAT_JSON)
        for (int i = 0; i < count; i++)
            put_cell(all->count ? &all->compared[i] : &all->alone[i], device);
    else if (all->count)
        print_tables(all, device, format);
    else
        print_alone(all, device, format);
}

static bool none_beaten(const Comparison *all, Error *error) {
    const Compared *worst = all->count ? worst_of(all) : NULL;
    if (!worst || explained(worst) <= 100) return true;
    return error_set(error, STATUS_FAIL,
                     "a bound is beaten, so a number of the machine or a count is wrong: %s, d %d, "
                     "%s, seq %d explained %.1f %%",
                     worst->cell.stage, worst->cell.d, worst->cell.causal ? "causal" : "full",
                     worst->cell.length, explained(worst));
}

bool errors_command(const Options *options, Error *error) {
    char device[MACHINE_NAME_SIZE] = "";
    Comparison all = {0};
    bool done = compare_files(options, &all, device, error);
    if (done && all.files == 0) done = false; /* the last reason stays */
    if (done) print_all(&all, device, options->format);
    fflush(stdout);
    done = done && none_beaten(&all, error);
    free(all.compared);
    free(all.alone);
    return done;
}
