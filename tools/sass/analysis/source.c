#include "analysis/source.h"

#include "analysis/program.h"
#include "list.h"

Source source_cut(char *text) {
    Source source = {.text = text};
    while (text) {
        char *end = strchr(text, '\n');
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

const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void source_free(Source *source) {
    free(source->text);
    free(source->line);
    *source = (Source){0};
}
