#include "annotate.h"

#include <stdlib.h>
#include <unistd.h>

#include "format.h"
#include "lines.h"

static const char *const HEADING =
    "  share  warp instr. active        sectors     wavefronts     line\n";
enum { GUTTER = 57 }; /* columns before the mark and the line number */

/* Terminal colours; empty where the output is not a terminal. */
typedef struct Colours {
    const char *busy, *note, *dim, *off;
} Colours;

static Colours choose_colours(FILE *out) {
    bool plain = !isatty(fileno(out)) || getenv("NO_COLOR");
    if (plain) return (Colours){"", "", "", ""};
    return (Colours){"\033[1;33m", "\033[31m", "\033[2m", "\033[0m"};
}

/* Units a request, and the ideal if that is less. */
static void print_memory(const LineMemory *memory, FILE *out) {
    char text[FORMAT_SIZE] = "";
    double requests = (double)memory->requests, units = (double)memory->units;
    int length = memory->requests ? snprintf(text, sizeof text, "%.2f", units / requests) : 0;
    if (memory->units > memory->ideal_units)
        snprintf(text + length, sizeof text - (size_t)length, " (%.2f)",
                 (double)memory->ideal_units / requests);
    fprintf(out, " %14s", text);
}

static void print_counts(const SourceLines *lines, const LineCounts *counts, FILE *out) {
    char number[FORMAT_SIZE];
    double active = 100.0 * (double)counts->lanes / (32.0 * (double)counts->executions);
    fprintf(out, "%6.1f%% %12s ", 100.0 * (double)counts->executions / (double)lines->executions,
            format_grouped(counts->executions, number));
    if (active < 99.5)
        fprintf(out, "%4.0f%% ", active);
    else
        fprintf(out, "%6s", "");
    print_memory(&counts->global, out);
    print_memory(&counts->shared, out);
}

static void print_line(const SourceLines *lines, size_t number, const Colours *colours, FILE *out) {
    const LineCounts *counts = &lines->counts[number];
    const char *text = lines->text ? lines->text[number] : "(source not readable)";
    const char *colour = counts->marks & LINE_BUSY ? colours->busy : "";
    if (!counts->executions) colour = colours->dim;
    fputs(colour, out);
    if (counts->executions)
        print_counts(lines, counts, out);
    else
        fprintf(out, "%*s", GUTTER, "");
    fprintf(out, " %c%4zu  %s%s\n", counts->marks & LINE_BUSY ? '>' : ' ', number, text,
            *colour ? colours->off : "");

    char note[LINE_NOTES][LINE_NOTE_SIZE];
    unsigned notes = source_line_notes(counts, note);
    for (unsigned i = 0; i < notes; i++)
        fprintf(out, "%s%*s  ^^^^  %s%s\n", colours->note, GUTTER, "", note[i], colours->off);
}

static void print_file(const SourceLines *lines, const Colours *colours, FILE *out) {
    fprintf(out, "%s\n%s", lines->path, HEADING);
    bool gap = false;
    for (size_t n = 1; n <= lines->lines; n++) {
        bool shown = source_line_shown(lines, n);
        if (!shown && !gap && lines->text) fprintf(out, "%*s\n", GUTTER + 6, "...");
        gap = !shown;
        if (shown) print_line(lines, n, colours, out);
    }
    fputc('\n', out);
}

void annotate_text(const CountsSnapshot *snapshot, FILE *out) {
    Colours colours = choose_colours(out);
    fputs("Counters by source line, PTX-level (ptxas later merges and removes some instructions).\n"
          "Sectors and wavefronts are a request, in brackets the ideal where it is less; active\n"
          "lanes where fewer than all. > marks the busiest lines, ^ explains the worst.\n\n",
          out);
    for (size_t file = 0; file < snapshot->files; file++) {
        SourceLines lines;
        if (!source_lines_open(snapshot, file, &lines)) continue;
        print_file(&lines, &colours, out);
        source_lines_close(&lines);
    }
}
