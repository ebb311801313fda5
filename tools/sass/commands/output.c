#include "commands/output.h"

#include "list.h"

#include <stdarg.h>

void table_add_text(Table *table, const char *text) {
    char **cell = LIST_ADD(table->cell, table->cells);
    *cell = list_zeroed(strlen(text) + 1, 1);
    strcpy(*cell, text);
}

void table_add(Table *table, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    table_add_text(table, text);
}

void table_add_count(Table *table, int count) {
    if (count)
        table_add(table, "%d", count);
    else
        table_add(table, ".");
}

static int width_of(const Table *table, int column) {
    int width = 0;
    for (int i = column; i < table->cells; i += table->columns)
        if ((int)strlen(table->cell[i]) > width) width = (int)strlen(table->cell[i]);
    return width;
}

static void print_text(const Table *table, FILE *out) {
    for (int i = 0; i < table->cells; i++) {
        const int column = i % table->columns, width = width_of(table, column);
        if (column == 0)
            fprintf(out, "%-*s", width, table->cell[i]);
        else
            fprintf(out, "  %*s", width, table->cell[i]);
        if (column == table->columns - 1) fputc('\n', out);
    }
}

static void print_markdown(const Table *table, FILE *out) {
    for (int i = 0; i < table->cells; i++) {
        const int column = i % table->columns;
        const char *text = table->cell[i];
        /* Two spaces of indent are lost in Markdown; the opcodes of a class are set as code. */
        if (strncmp(text, "  ", 2) == 0)
            fprintf(out, "| `%s` ", text + 2);
        else
            fprintf(out, "| %s ", text);
        if (column < table->columns - 1) continue;
        fputs("|\n", out);
        if (i >= table->columns) continue;
        for (int c = 0; c < table->columns; c++) fputs(c ? "|---:" : "|---", out);
        fputs("|\n", out);
    }
}

void table_print(Table *table, Format format, FILE *out) {
    if (format == FORMAT_MARKDOWN)
        print_markdown(table, out);
    else
        print_text(table, out);
    for (int i = 0; i < table->cells; i++) free(table->cell[i]);
    free(table->cell);
    *table = (Table){0};
}

void put_json(const char *text, FILE *out) {
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || *text == '<') /* a < could end a page's script */
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

void put_html(const char *text, FILE *out) {
    for (; *text; text++) {
        static const char special[] = "&<>\"";
        static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
        const char *at = strchr(special, *text);
        if (at)
            fputs(names[at - special], out);
        else
            fputc(*text, out);
    }
}
