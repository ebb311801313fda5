#include "report/annotate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json_text.h"
#include "report/format.h"
#include "report/lines.h"

static const char *const HEADING = " share warp instr. active      sectors   wavefronts   line\n";
enum {
    GUTTER = 50,    /* columns before the mark and the line number */
    SOURCE = 58,    /* columns before the source */
    NOTE = 7,       /* columns before a note: it begins under the numbers that it explains */
    NARROWEST = 80, /* a terminal that is narrower wraps lines */
};

/* What the terminal can do; no colours and no limit where the output is none. */
typedef struct Terminal {
    const char *busy, *note, *dim, *off; /* colours */
    int columns;
} Terminal;

static int columns_of(FILE *out) {
    struct winsize size = {.ws_col = 0};
    ioctl(fileno(out), TIOCGWINSZ, &size); /* leaves it if the output is no terminal */
    if (size.ws_col == 0) return INT_MAX;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

static Terminal look_at_terminal(FILE *out) {
    const bool plain = !isatty(fileno(out)) || getenv("NO_COLOR");
    const int columns = columns_of(out);
    if (plain) return (Terminal){"", "", "", "", columns};
    return (Terminal){"\033[1;33m", "\033[31m", "\033[2m", "\033[0m", columns};
}

/* Units a request, and the ideal if that is less. */
static void print_memory(const LineMemory *memory, FILE *out) {
    char text[FORMAT_SIZE] = "";
    const double requests = (double)memory->requests, each = (double)memory->units / requests;
    if (memory->units > memory->ideal_units)
        snprintf(text, sizeof text, "%.2f (%.2f)", each, (double)memory->ideal_units / requests);
    else if (memory->requests)
        snprintf(text, sizeof text, "%.2f", each);
    fprintf(out, " %12s", text);
}

static void print_counts(const SourceLines *lines, const LineCounts *counts, FILE *out) {
    char number[FORMAT_SIZE], active[FORMAT_SIZE] = "";
    const double percent = 100.0 * (double)counts->lanes / (32.0 * (double)counts->executions);
    if (percent < 99.5) snprintf(active, sizeof active, "%.0f%%", percent);
    fprintf(out, "%5.1f%% %12s %4s", 100.0 * (double)counts->executions / (double)lines->executions,
            format_grouped(counts->executions, number), active);
    print_memory(&counts->global, out);
    print_memory(&counts->shared, out);
}

/* The source is cut where the terminal ends, so that the columns stay columns. */
static void print_line(const SourceLines *lines, size_t number, const Terminal *terminal,
                       FILE *out) {
    const LineCounts *counts = &lines->counts[number];
    const char *text = lines->text ? lines->text[number] : "(source not readable)";
    const char *colour = counts->marks & LINE_BUSY ? terminal->busy : "";
    if (!counts->executions) colour = terminal->dim;
    fputs(colour, out);
    if (counts->executions)
        print_counts(lines, counts, out);
    else
        fprintf(out, "%*s", GUTTER, "");
    fprintf(out, " %c%4zu  %.*s%s\n", counts->marks & LINE_BUSY ? '>' : ' ', number,
            terminal->columns - SOURCE, text, *colour ? terminal->off : "");

    char note[LINE_NOTES][LINE_NOTE_SIZE];
    const unsigned notes = source_line_notes(counts, note);
    for (unsigned i = 0; i < notes; i++)
        fprintf(out, "%s%*s^ %s%s\n", terminal->note, NOTE, "", note[i], terminal->off);
}

static void print_file(const SourceLines *lines, const Terminal *terminal, FILE *out) {
    fprintf(out, "%s\n%s", lines->path, HEADING);
    bool gap = false;
    for (size_t n = 1; n <= lines->lines; n++) {
        bool shown = source_line_shown(lines, n);
        if (!shown && !gap && lines->text) fprintf(out, "%*s\n", SOURCE - 2, "...");
        gap = !shown;
        if (shown) print_line(lines, n, terminal, out);
    }
    fputc('\n', out);
}

void annotate_text(const CountsSnapshot *snapshot, FILE *out) {
    const Terminal terminal = look_at_terminal(out);
    fputs("Counters by source line, PTX-level (ptxas later merges and removes some instructions).\n"
          "Sectors and wavefronts are per request; brackets hold the ideal if it is less. Active\n"
          "lanes appear if some are idle, as one that does not take a branch is. > marks the\n"
          "busiest lines, ^ explains the worst.\n\n",
          out);
    for (size_t file = 0; file < snapshot->files; file++) {
        SourceLines lines;
        if (!source_lines_open(snapshot, file, &lines)) continue;
        print_file(&lines, &terminal, out);
        source_lines_close(&lines);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_string(const char *key, const char *text, FILE *out) {
    fprintf(out, "\"%s\":", key);
    json_text(text, strlen(text), out);
    fputc(',', out);
}

static void json_memory(const char *name, const LineMemory *memory, FILE *out) {
    const unsigned long long requests = memory->requests, units = memory->units,
                             ideal = memory->ideal_units;
    fprintf(out, ",\"%s_requests\":%llu,\"%s_units\":%llu,\"%s_ideal_units\":%llu", name, requests,
            name, units, name, ideal);
}

static void json_line(const SourceLines *lines, size_t number, const char *name, FILE *out) {
    const LineCounts *counts = &lines->counts[number];
    fputc('{', out);
    json_string("name", name, out);
    json_string("file", lines->path, out);
    fprintf(out, "\"line\":%zu,", number);
    if (lines->text)
        json_string("text", lines->text[number], out);
    else
        fputs("\"text\":null,", out);
    fprintf(out,
            "\"warp_instructions\":%llu,\"lane_instructions\":%llu,\"divergent_branches\":%llu",
            (unsigned long long)counts->executions, (unsigned long long)counts->lanes,
            (unsigned long long)counts->divergent);
    json_memory("global", &counts->global, out);
    json_memory("shared", &counts->shared, out);
    fputs("}\n", out);
}

void annotate_json(const CountsSnapshot *snapshot, const char *name, FILE *out) {
    for (size_t file = 0; file < snapshot->files; file++) {
        SourceLines lines;
        if (!source_lines_open(snapshot, file, &lines)) continue;
        for (size_t n = 1; n <= lines.lines; n++)
            if (lines.counts[n].executions) json_line(&lines, n, name, out);
        source_lines_close(&lines);
    }
}
