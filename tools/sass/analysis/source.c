#include "analysis/source.h"

#include "analysis/program.h"
#include "list.h"

Source source_cut(char *text) {
    Source source = {.text = text};
    while (text) {
        char *end = strchr(text, '\n');
        if (end > text && end[-1] == '\r') end[-1] = '\0'; /* as some editors end lines */
        if (end) *end++ = '\0';
        *(char **)LIST_ADD(source.line, source.lines) = text;
        text = end;
    }
    return source;
}

Source source_read(const char *path) {
    Error error;
    char *text = NULL;
    if (path) read_file(path, &text, NULL, &error);
    return source_cut(text);
}

const char *source_line(const Source *source, int number) {
    if (number < 1 || number > source->lines) return "";
    const char *line = source->line[number - 1];
    return line + strspn(line, " \t");
}

static bool is_octal(const char *text) { return *text >= '0' && *text <= '7'; }

void path_decode(char *path) {
    char *to = path;
    for (const char *at = path; *at; to++) {
        const bool coded = *at == '\\' && is_octal(at + 1) && is_octal(at + 2) && is_octal(at + 3);
        *to = coded ? (char)strtol((char[]){at[1], at[2], at[3], '\0'}, NULL, 8) : *at;
        at += coded ? 4 : 1;
    }
    *to = '\0';
}

const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void source_free(Source *source) {
    free(source->text);
    free(source->line);
    *source = (Source){0};
}
