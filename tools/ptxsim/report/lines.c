#include "report/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/source_file.h"

enum { CONTEXT = 6, WORST = 3 };

/* ---- Counting -------------------------------------------------------------------------------- */

static void add_memory(LineMemory *sum, uint64_t requests, uint64_t units, uint64_t ideal) {
    sum->requests += requests;
    sum->units += units;
    sum->ideal_units += ideal;
}

static void add(LineCounts *line, InstructionClass class, const InstructionCount *count) {
    line->executions += count->executions;
    line->lanes += count->lanes;
    line->divergent += count->divergent;
    switch (class) {
    case CLASS_CP_ASYNC:
        add_memory(&line->shared, count->executions, count->second_units,
                   count->second_ideal_units);
        /* fall through */
    case CLASS_GLOBAL_LOAD:
    case CLASS_GLOBAL_STORE:
    case CLASS_GLOBAL_ATOMIC:
    case CLASS_BULK_LOAD:
    case CLASS_BULK_STORE:
        add_memory(&line->global, count->requests, count->units, count->ideal_units);
        break;
    case CLASS_SHARED_LOAD:
    case CLASS_SHARED_STORE:
    case CLASS_SHARED_ATOMIC:
    case CLASS_LDMATRIX:
    case CLASS_STMATRIX:
        add_memory(&line->shared, count->requests, count->units, count->ideal_units);
        break;
    default:
        break;
    }
}

/* The last line of the file that an instruction comes from; 0 if none does. */
static size_t last_line(const CountsSnapshot *snapshot, size_t file) {
    int last = 0;
    for (size_t k = 0; k < snapshot->kernels; k++)
        for (size_t i = 0; i < snapshot->kernel[k].instructions; i++) {
            const InstructionInfo *info = &snapshot->kernel[k].info[i];
            if (info->file == (int)file && info->line > last) last = info->line;
        }
    return (size_t)last;
}

static void count_lines(const CountsSnapshot *snapshot, size_t file, SourceLines *lines) {
    for (size_t k = 0; k < snapshot->kernels; k++)
        for (size_t i = 0; i < snapshot->kernel[k].instructions; i++) {
            const InstructionInfo *info = &snapshot->kernel[k].info[i];
            const InstructionCount *count = &snapshot->kernel[k].count[i];
            lines->executions += count->executions;
            if (info->file == (int)file && info->line > 0)
                add(&lines->counts[info->line], info->class, count);
        }
}

/* ---- Marks ----------------------------------------------------------------------------------- */

static uint64_t excess(const LineMemory *memory) {
    return memory->units > memory->ideal_units ? memory->units - memory->ideal_units : 0;
}

static uint64_t badness(const LineCounts *line, unsigned mark) {
    if (mark == LINE_BUSY) return line->executions;
    return excess(mark == LINE_SCATTERED ? &line->global : &line->shared);
}

/* Marks the three worst lines, less those with under a twentieth of what all lines have. */
static void mark_worst(SourceLines *lines, unsigned mark) {
    uint64_t all = 0;
    for (size_t n = 1; n <= lines->lines; n++) all += badness(&lines->counts[n], mark);
    for (int rank = 0; rank < WORST; rank++) {
        LineCounts *worst = NULL;
        for (size_t n = 1; n <= lines->lines; n++) {
            LineCounts *line = &lines->counts[n];
            bool counts = !(line->marks & mark) && badness(line, mark) > all / 20;
            if (counts && (!worst || badness(line, mark) > badness(worst, mark))) worst = line;
        }
        if (worst) worst->marks |= mark;
    }
}

static double per_request(uint64_t units, const LineMemory *memory) {
    return (double)units / (double)memory->requests;
}

unsigned source_line_notes(const LineCounts *counts, char text[LINE_NOTES][LINE_NOTE_SIZE]) {
    char number[FORMAT_SIZE];
    unsigned notes = 0;
    if (counts->marks & LINE_SCATTERED)
        snprintf(text[notes++], LINE_NOTE_SIZE,
                 "%s sectors beyond the ideal: %.2f per request, packed bytes would need %.2f",
                 format_grouped(excess(&counts->global), number),
                 per_request(counts->global.units, &counts->global),
                 per_request(counts->global.ideal_units, &counts->global));
    if (counts->marks & LINE_CONFLICTS)
        snprintf(text[notes++], LINE_NOTE_SIZE,
                 "%s wavefronts lost to bank conflicts: %.2f per request, the ideal is %.2f",
                 format_grouped(excess(&counts->shared), number),
                 per_request(counts->shared.units, &counts->shared),
                 per_request(counts->shared.ideal_units, &counts->shared));
    if (counts->divergent)
        snprintf(text[notes++], LINE_NOTE_SIZE, "%s branches diverged here",
                 format_grouped(counts->divergent, number));
    return notes;
}

bool source_line_shown(const SourceLines *lines, size_t number) {
    size_t first = number > CONTEXT ? number - CONTEXT : 1;
    size_t last = number + CONTEXT < lines->lines ? number + CONTEXT : lines->lines;
    if (!lines->text) return lines->counts[number].executions > 0;
    for (size_t n = first; n <= last; n++)
        if (lines->counts[n].executions) return true;
    return false;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Cuts `bytes` into lines in place: text[n] is line n, text[0] the allocation. */
static bool split(char *bytes, SourceLines *lines) {
    size_t count = 1;
    for (const char *at = bytes; (at = strchr(at, '\n')) && at[1]; at++) count++;
    if (count > lines->lines) lines->lines = count;
    lines->text = calloc(lines->lines + 1, sizeof *lines->text);
    if (!lines->text) return false;
    lines->text[0] = bytes;
    char *at = bytes;
    for (size_t n = 1; n <= lines->lines; n++) {
        lines->text[n] = at;
        at += strcspn(at, "\n");
        if (*at) *at++ = '\0';
    }
    return true;
}

bool source_lines_open(const CountsSnapshot *snapshot, size_t file, SourceLines *lines) {
    *lines = (SourceLines){.path = source_file_name(snapshot->file[file]),
                           .lines = last_line(snapshot, file)};
    if (lines->lines == 0) return false;
    char *bytes = source_file_read(lines->path);
    if (bytes && !split(bytes, lines)) free(bytes);
    lines->counts = calloc(lines->lines + 1, sizeof *lines->counts);
    if (!lines->counts) {
        source_lines_close(lines);
        return false;
    }
    count_lines(snapshot, file, lines);
    mark_worst(lines, LINE_BUSY);
    mark_worst(lines, LINE_SCATTERED);
    mark_worst(lines, LINE_CONFLICTS);
    return true;
}

void source_lines_close(SourceLines *lines) {
    if (lines->text) free(lines->text[0]);
    free(lines->text);
    free(lines->counts);
}
