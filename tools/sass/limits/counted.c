#include "limits/counted.h"

#include "analysis/program.h"
#include "limits/json.h"
#include "list.h"

#include <limits.h>

enum { SECTORS_A_LINE = 4 };

/* Element `index` of an array, or NULL. */
static const char *element(const char *array, int index) {
    const char *at = json_first(array);
    while (at && index-- > 0) at = json_next(at);
    return at;
}

/* The product of three numbers, as of a grid. */
static double volume(const char *array) {
    double product = 1;
    for (const char *at = json_first(array); at; at = json_next(at)) product *= json_number(at);
    return product;
}

/* Lines of 128 bytes among sectors, an increasing list. */
static int lines_among(const char *sectors) {
    int lines = 0, last = -1;
    for (const char *at = json_first(sectors); at; at = json_next(at)) {
        const int line = (int)json_number(at) / SECTORS_A_LINE;
        lines += line != last;
        last = line;
    }
    return lines;
}

static void read_footprints(const char *footprints, Counted *launch) {
    int seen[SECTORS + 1] = {0};
    for (const char *at = json_first(footprints); at; at = json_next(at)) {
        char space[16];
        const int units = (int)json_number(json_member(at, "units"));
        if (!json_string(json_member(at, "space"), space, sizeof space)) continue;
        if (strcmp(space, "global") != 0 || units < 1 || units > SECTORS) continue;
        launch->lines_of[units] += lines_among(json_member(at, "sectors"));
        seen[units]++;
    }
    for (int u = 0; u <= SECTORS; u++)
        if (seen[u]) launch->lines_of[u] /= seen[u];
}

/* `counts`: executions, lanes, divergent branches, requests, units, ideal, and units and ideal of
 * the shared side. */
static void read_counts(const char *counts, Operation *operation) {
    double value[8] = {0};
    int i = 0;
    for (const char *at = json_first(counts); at && i < 8; at = json_next(at))
        value[i++] = json_number(at);
    operation->executions = value[0];
    operation->requests = value[3];
    operation->units = value[4];
    operation->shared_units = value[6];
}

static void read_operations(const char *launch, Counted *counted) {
    const char *op = json_first(json_member(launch, "ops")),
               *all = json_first(json_member(launch, "run_counters")),
               *block = json_first(json_member(launch, "counters")),
               *classes = json_member(launch, "classes");
    for (; op && all; op = json_next(op), all = json_next(all)) {
        Operation *operation = LIST_ADD(counted->operation, counted->operations);
        operation->text = json_first(op);
        operation->kind = element(classes, (int)json_number(element(op, 1)));
        read_counts(all, operation);
        if (!block) continue;
        operation->in_first_block = json_number(json_first(block));
        block = json_next(block);
    }
}

static double bytes_of(const char *text) {
    char *unit;
    const double number = strtod(text, &unit);
    const char *prefix = unit + strspn(unit, " ");
    return number * (*prefix == 'K'   ? 1 << 10
                     : *prefix == 'M' ? 1 << 20
                     : *prefix == 'G' ? 1 << 30
                                      : 1);
}

/* The number before " distinct" on the line that begins so, between two places of the report. */
static double distinct_bytes(const char *from, const char *to, const char *line) {
    const char *at = strstr(from, line), *mark = at ? strstr(at, " distinct") : NULL;
    if (!mark || mark >= to || memchr(at, '\n', (size_t)(mark - at))) return 0;
    while (mark > at && *mark != ',') mark--;
    return bytes_of(mark + 1);
}

/* The report has a part for each kernel, in the order of their definitions: its name on a line of
 * its own, then indented lines. This is where the indented lines of launch i begin: of launches of
 * the same name the first has the first part, and so on; NULL if there are no more. */
static const char *part_of(const char *report, const CountedRun *run, int i) {
    char heading[NAME_SIZE + 4];
    snprintf(heading, sizeof heading, "\n%s\n ", run->launch[i].kernel);
    const char *from = strstr(report, heading);
    for (int l = 0; from && l < i; l++)
        if (strcmp(run->launch[l].kernel, run->launch[i].kernel) == 0)
            from = strstr(from + 1, heading);
    return from ? from + strlen(heading) : NULL;
}

/* Whether the first line of a part says "in 2 launches". */
static bool says_launches(const char *part) {
    const char *at = strstr(part, " launches, ");
    return at && !memchr(part, '\n', (size_t)(at - part));
}

static void read_report(const char *report, CountedRun *run) {
    for (int i = 0; i < run->launches; i++) {
        Counted *launch = &run->launch[i];
        const char *from = part_of(report, run, i);
        const char *to = from ? strstr(from, "mma instructions") : NULL;
        if (!to) continue;
        launch->again = says_launches(from);
        launch->read_bytes = distinct_bytes(from, to, "  global memory, read ");
        launch->written_bytes = distinct_bytes(from, to, "  global memory, written ");
    }
}

bool counted_read(const char *record, const char *report, CountedRun *run, Error *error) {
    char *text;
    *run = (CountedRun){0};
    if (!read_file(record, &run->text, NULL, error)) return false;
    const char *launch = json_first(json_member(run->text, "launches"));
    for (; launch; launch = json_next(launch)) {
        Counted *counted = LIST_ADD(run->launch, run->launches);
        json_string(json_member(launch, "kernel"), counted->kernel, sizeof counted->kernel);
        counted->blocks = volume(json_member(launch, "grid"));
        counted->threads = (int)volume(json_member(launch, "threads"));
        read_operations(launch, counted);
        read_footprints(json_member(launch, "footprints"), counted);
    }
    if (run->launches == 0) {
        counted_free(run);
        return error_set(error, STATUS_FAIL, "%s is no record of the simulator", record);
    }
    if (!report) return true;
    if (!read_file(report, &text, NULL, error)) {
        counted_free(run);
        return false;
    }
    read_report(text, run);
    free(text);
    return true;
}

void counted_free(CountedRun *run) {
    for (int i = 0; i < run->launches; i++) free(run->launch[i].operation);
    free(run->launch);
    free(run->text);
    *run = (CountedRun){0};
}

void runs_free(Runs *runs) {
    for (int j = 0; j < LENGTHS; j++) counted_free(&runs->of[j]);
    counted_free(&runs->first);
    counted_free(&runs->second);
}

/* The three lengths, which a file names in order. */
static bool lengths_read(const char *folder, double length[LENGTHS], Error *error) {
    char path[PATH_MAX], *text;
    snprintf(path, sizeof path, "%s/lengths", folder);
    if (!read_file(path, &text, NULL, error)) return false;
    const int found = sscanf(text, "%lf %lf %lf", &length[0], &length[1], &length[2]);
    free(text);
    return (found == LENGTHS && 0 < length[0] && length[0] < length[1] && length[1] < length[2]) ||
           error_set(error, STATUS_FAIL, "%s does not name three lengths, the least first", path);
}

/* A kernel of one block has no second one, so it is in no record of that: as one that does nothing
 * it takes its place there. */
static void fill_second(const CountedRun *first, CountedRun *second) {
    for (int l = 0; l < first->launches && l <= second->launches; l++) {
        if (first->launch[l].blocks != 1) continue;
        if (l < second->launches && second->launch[l].blocks == 1) continue;
        LIST_ADD(second->launch, second->launches);
        Counted *at = &second->launch[l];
        memmove(at + 1, at, (size_t)(second->launches - 1 - l) * sizeof *at);
        *at = (Counted){.blocks = 1};
        strcpy(at->kernel, first->launch[l].kernel);
    }
}

bool runs_read(const char *folder, Runs *runs, Error *error) {
    char record[PATH_MAX], report[PATH_MAX];
    *runs = (Runs){0};
    bool read = lengths_read(folder, runs->length, error);
    for (int j = 0; j < LENGTHS && read; j++) {
        snprintf(record, sizeof record, "%s/%.0f.json", folder, runs->length[j]);
        snprintf(report, sizeof report, "%s/%.0f.txt", folder, runs->length[j]);
        read = counted_read(record, report, &runs->of[j], error);
    }
    snprintf(record, sizeof record, "%s/first.json", folder);
    read = read && counted_read(record, NULL, &runs->first, error);
    snprintf(record, sizeof record, "%s/second.json", folder);
    read = read && counted_read(record, NULL, &runs->second, error);
    if (read)
        fill_second(&runs->first, &runs->second);
    else
        runs_free(runs);
    return read;
}

bool runs_agree(const Runs *runs) {
    const CountedRun *a = &runs->first;
    bool same = a->launches == runs->second.launches && a->launches <= MAX_LAUNCHED;
    for (int j = 0; j < LENGTHS && same; j++) {
        same = runs->of[j].launches == a->launches;
        for (int l = 0; l < a->launches && same; l++)
            same = strcmp(runs->of[j].launch[l].kernel, a->launch[l].kernel) == 0 &&
                   runs->of[j].launch[l].operations == a->launch[l].operations;
    }
    return same;
}
