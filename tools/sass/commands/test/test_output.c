/* Tables, and texts in JSON and HTML. Catches: a column that is not as wide as its widest cell, a
 * cell that is cut elsewhere, a character that means something and is not replaced. */
#include "commands/output.h"
#include "list.h"
#include "test/tap.h"

static char *text;
static size_t size;

static FILE *begin(void) { return open_memstream(&text, &size); }

static void is_output(FILE *out, const char *expected, const char *name) {
    fclose(out);
    is_text(text, expected, name);
    free(text);
}

static void fill(Table *table) {
    table->columns = 3;
    table_add(table, "head");
    table_add(table, "%s %d", "n", 5);
    table_add(table, "wide column");
    table_add(table, "  in a row");
    table_add_count(table, 0);
    table_add_count(table, -12);
    table_add(table, " last");
    table_add_count(table, 123456);
    table_add(table, "%s", "");
}

static void test_tables(void) {
    Table table = {0};
    FILE *out = begin();
    fill(&table);
    table_print(&table, FORMAT_TEXT, out);
    is_output(out,
              "head           n 5  wide column\n"
              "  in a row       .          -12\n"
              " last       123456             \n",
              "a table as text");
    ok(!table.cell && table.cells == 0 && table.columns == 0, "and nothing of it is left");
    out = begin();
    fill(&table);
    table_print(&table, FORMAT_MARKDOWN, out);
    is_output(out,
              "| head | n 5 | wide column |\n|---|---:|---:|\n"
              "| `in a row` | . | -12 |\n|  last | 123456 |  |\n",
              "as Markdown");
}

static void test_long(void) {
    char long_text[600], expected[600];
    Table table = {.columns = 1};
    memset(long_text, 'x', sizeof long_text);
    long_text[599] = '\0';
    snprintf(expected, sizeof expected, "%.511s\n", long_text);
    FILE *out = begin();
    table_add(&table, "%s", long_text);
    table_print(&table, FORMAT_TEXT, out);
    is_output(out, expected, "a cell has at most 511 characters");
}

static void test_texts(void) {
    FILE *out = begin();
    put_json("a \"b\" \\ <c> \x1f\n~\x7f\xc3\xa9", out);
    is_output(out, "\"a \\\"b\\\" \\\\ \\u003cc> \\u001f\\u000a~\x7f\xc3\xa9\"", "a text as JSON");
    out = begin();
    put_json("", out);
    is_output(out, "\"\"", "none");
    out = begin();
    put_html("a < b && \"c\" > 'd'\n", out);
    is_output(out, "a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'\n", "a text as HTML");
}

int main(void) {
    test_tables();
    test_long();
    test_texts();
    return done_testing();
}
