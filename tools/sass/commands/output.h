/* Tables as text or Markdown, and strings as JSON or HTML. */
#ifndef SASS_OUTPUT_H
#define SASS_OUTPUT_H

#include <stdio.h>

typedef enum Format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON } Format;

/* A table: the first row is the heading, the first column is aligned to the left. */
typedef struct Table {
    int columns;
    char **cell; /* [rows][columns] */
    int cells;
} Table;

/* Adds the next cell, row by row. */
void table_add_text(Table *table, const char *text);

/* The same for what printf would print; 511 characters of it. */
void table_add(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a number; 0 is a dot, so that what is there stands out. */
void table_add_count(Table *table, int count);

/* Prints the table as text or Markdown and frees its cells. */
void table_print(Table *table, Format format, FILE *out);

/* A string as JSON, with its quotation marks. */
void put_json(const char *text, FILE *out);

/* A string as HTML text or as the value of an attribute. */
void put_html(const char *text, FILE *out);

#endif
