#include "report/annotate.h"

#include "report/format.h"
#include "report/lines.h"
#include "report/summary.h"

static const char *const HEAD =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --paper: #fff; --ink: #1d1f21; --faint: #636973;\n"
    "  --rule: #e3e5e8; --heat: 230, 126, 34; --bad: #b3261e; --code: #f7f8f9; }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e4e6e8;\n"
    "  --faint: #989ea8; --rule: #2c3035; --bad: #ff8a80; --code: #1d2024; } }\n"
    "body { background: var(--paper); color: var(--ink); margin: 2rem auto; max-width: 100rem;\n"
    "  padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }\n"
    "h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin-top: 2.5rem; }\n"
    "h1, h2 { overflow-wrap: anywhere; }\n"
    "@media (max-width: 80rem) { .lines { overflow-x: auto; } }\n"
    "summary { cursor: pointer; } p { max-width: 46rem; }\n"
    "pre, table { font: 12.5px/1.5 ui-monospace, Menlo, Consolas, monospace; }\n"
    "pre.report { background: var(--code); padding: 1rem; overflow-x: auto; }\n"
    "table { border-collapse: collapse; width: 100%; }\n"
    "th { position: sticky; top: 0; background: var(--paper); text-align: right;\n"
    "  font-weight: 600; border-bottom: 1px solid var(--rule); padding: .3rem .6rem; }\n"
    "td { padding: 0 .6rem; text-align: right; white-space: nowrap; }\n"
    "th.source { text-align: left; }\n"
    "td.source { text-align: left; white-space: pre; width: 100%;\n"
    "  border-left: 1px solid var(--rule); }\n"
    "td.number, .ideal, tr.idle td { color: var(--faint); }\n"
    "tr.busy td.source { font-weight: 700; }\n"
    "tr:hover td { background-color: rgba(var(--heat), .10); }\n"
    ".over, .note { color: var(--bad); }\n"
    ".note { display: block; font-weight: 400; white-space: normal; max-width: 48rem; }\n"
    "tr.gap td { text-align: center; color: var(--faint); }\n"
    "</style>\n";

static const char *const LEAD =
    "<p>Simulated counters by source line. The kernel ran on the CPU, instruction by instruction.\n"
    "Counts are PTX-level: ptxas later merges and removes some instructions; requests, sectors,\n"
    "wavefronts and mma hardly change. A warm background shows a line's share of all warp\n"
    "instructions; a number in red is above its ideal.</p>\n";

static void put_escaped(const char *text, FILE *out) {
    for (; *text; text++) switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
}

static void put_head(const char *title, FILE *out) {
    fputs(HEAD, out);
    fputs("<title>", out);
    put_escaped(title, out);
    fputs("</title></head><body>\n<h1>", out);
    put_escaped(title, out);
    fputs("</h1>\n", out);
    fputs(LEAD, out);
}

/* The text report, which is made for a stream, through a temporary file. */
static void put_report(const CountsSnapshot *snapshot, FILE *out) {
    FILE *report = tmpfile();
    if (!report) return;
    counts_report(snapshot, report);
    rewind(report);
    fputs("<details open><summary>By kernel</summary><pre class=\"report\">", out);
    char line[512];
    while (fgets(line, sizeof line, report)) put_escaped(line, out);
    fputs("</pre></details>\n", out);
    fclose(report);
}

static void put_memory(const LineMemory *memory, FILE *out) {
    if (!memory->requests) {
        fputs("<td></td>", out);
        return;
    }
    fprintf(out, "<td%s>%.2f <span class=\"ideal\">/ %.2f</span></td>",
            memory->units > memory->ideal_units ? " class=\"over\"" : "",
            (double)memory->units / (double)memory->requests,
            (double)memory->ideal_units / (double)memory->requests);
}

static void put_counts(const SourceLines *lines, const LineCounts *counts, FILE *out) {
    char number[FORMAT_SIZE];
    double share = (double)counts->executions / (double)lines->executions;
    double heat = share * 4 < 0.85 ? share * 4 : 0.85; /* a fifth of all is as warm as it gets */
    fprintf(out, "<td style=\"background-color: rgba(var(--heat), %.3f)\">%.1f %%</td>", heat,
            100 * share);
    fprintf(out, "<td>%s</td><td>%.0f %%</td>", format_grouped(counts->executions, number),
            100.0 * (double)counts->lanes / (32.0 * (double)counts->executions));
    put_memory(&counts->global, out);
    put_memory(&counts->shared, out);
}

static void put_line(const SourceLines *lines, size_t number, FILE *out) {
    const LineCounts *counts = &lines->counts[number];
    const char *kind = counts->marks & LINE_BUSY ? "busy" : counts->executions ? "" : "idle";
    fprintf(out, "<tr class=\"%s\">", kind);
    if (counts->executions)
        put_counts(lines, counts, out);
    else
        fputs("<td></td><td></td><td></td><td></td><td></td>", out);
    fprintf(out, "<td class=\"number\">%zu</td><td class=\"source\">", number);
    put_escaped(lines->text ? lines->text[number] : "(source not readable)", out);

    char note[LINE_NOTES][LINE_NOTE_SIZE];
    unsigned notes = source_line_notes(counts, note);
    for (unsigned i = 0; i < notes; i++)
        fprintf(out, "<span class=\"note\">&#8593; %s</span>", note[i]);
    fputs("</td></tr>\n", out);
}

static void put_file(const SourceLines *lines, FILE *out) {
    fputs("<h2>", out);
    put_escaped(lines->path, out);
    fputs("</h2>\n<div class=\"lines\"><table><thead><tr><th>share</th><th>warp instr.</th>"
          "<th>active</th><th>sectors / ideal</th><th>wavefronts / ideal</th><th>line</th>"
          "<th class=\"source\">source</th></tr></thead><tbody>\n",
          out);
    bool gap = false;
    for (size_t n = 1; n <= lines->lines; n++) {
        bool shown = source_line_shown(lines, n);
        if (!shown && !gap && lines->text)
            fputs("<tr class=\"gap\"><td colspan=\"7\">&hellip;</td></tr>\n", out);
        gap = !shown;
        if (shown) put_line(lines, n, out);
    }
    fputs("</tbody></table></div>\n", out);
}

void annotate_html(const CountsSnapshot *snapshot, const char *title, FILE *out) {
    put_head(title, out);
    put_report(snapshot, out);
    for (size_t file = 0; file < snapshot->files; file++) {
        SourceLines lines;
        if (!source_lines_open(snapshot, file, &lines)) continue;
        put_file(&lines, out);
        source_lines_close(&lines);
    }
    fputs("</body></html>\n", out);
}
