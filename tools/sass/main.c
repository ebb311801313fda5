/* sass show|count|diff|ladder|check|page|limits|errors [KEY=VALUE]... FILE...
 *
 * What the compiler made of the stages. A FILE is build/<arch>/<stage>/<variant>.so or a cubin.
 * Keys that a command has no use for are passed over, as with all programs here. */
#include "commands/commands.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: sass show|count|diff|ladder|check|page|limits|errors [KEY=VALUE]... FILE...\n";

typedef struct Command {
    const char *name;
    bool (*run)(const Options *options, Error *error);
    int files; /* that it needs; 0: any number but none */
} Command;

static const Command commands[] = {
    {"show", show_command, 0},     {"count", count_command, 0},   {"diff", diff_command, 2},
    {"ladder", ladder_command, 0}, {"check", check_command, 0},   {"page", page_command, 2},
    {"limits", limits_command, 0}, {"errors", errors_command, 0}, {NULL, NULL, 0}};

static const Command *find_command(const char *name) {
    for (const Command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0) return command;
    return NULL;
}

static bool set_format(const char *value, Options *options, Error *error) {
    static const char *const names[] = {"text", "markdown", "json", NULL};
    for (int i = 0; names[i]; i++)
        if (strcmp(value, names[i]) == 0) {
            options->format = (Format)i;
            return true;
        }
    return error_set(error, STATUS_USAGE, "FORMAT must be one of: text markdown json; not '%s'",
                     value);
}

static bool set_line(const char *value, Options *options, Error *error) {
    char *end;
    const long line = strtol(value, &end, 10);
    if (*end || line < 1 || line > INT_MAX)
        return error_set(error, STATUS_USAGE, "LINE must be the number of a line; not '%s'", value);
    options->line = (int)line;
    return true;
}

static bool set_size(const char *key, const char *value, int *size, Error *error) {
    char *end;
    const long number = strtol(value, &end, 10);
    if (*end || number < 1 || number > 1 << 20)
        return error_set(error, STATUS_USAGE, "%s must be a number from 1 to 1048576; not '%s'",
                         key, value);
    *size = (int)number;
    return true;
}

static bool set_flag(const char *key, const char *value, bool *flag, Error *error) {
    *flag = strcmp(value, "1") == 0;
    return *flag || strcmp(value, "0") == 0 ||
           error_set(error, STATUS_USAGE, "%s must be one of: 0 1; not '%s'", key, value);
}

/* An empty value means "not set", as for make. */
static bool set_option(const char *argument, const char *value, Options *options, Error *error) {
    const struct {
        const char *key, **value;
    } texts[] = {{"INSTR=", &options->instr},       {"STAGES=", &options->stages},
                 {"RUNS=", &options->runs},         {"GPU=", &options->gpu},
                 {"MACHINES=", &options->machines}, {"COUNTED=", &options->counted},
                 {"RESULTS=", &options->results},   {NULL, NULL}};
    const struct {
        const char *key;
        int *value;
    } sizes[] = {
        {"B", &options->batch}, {"H", &options->heads}, {"N", &options->length}, {NULL, NULL}};
    if (*value == '\0') return true;
    if (strncmp(argument, "FORMAT=", 7) == 0) return set_format(value, options, error);
    if (strncmp(argument, "LINE=", 5) == 0) return set_line(value, options, error);
    if (strncmp(argument, "PTX=", 4) == 0) return set_flag("PTX", value, &options->ptx, error);
    if (strncmp(argument, "CLEAN=", 6) == 0)
        return set_flag("CLEAN", value, &options->clean, error);
    for (int i = 0; sizes[i].key; i++)
        if (argument[0] == sizes[i].key[0] && argument[1] == '=')
            return set_size(sizes[i].key, value, sizes[i].value, error);
    for (int i = 0; texts[i].key; i++)
        if (strncmp(argument, texts[i].key, strlen(texts[i].key)) == 0) *texts[i].value = value;
    return true;
}

static bool parse(int count, char *const arguments[], Options *options, Error *error) {
    *options = (Options){.instr = "",
                         .stages = "stages",
                         .gpu = "",
                         .machines = "tools/limits/machines",
                         .counted = "build/limits",
                         .results = "",
                         .batch = 4,
                         .heads = 16,
                         .length = 4096};
    for (int i = 0; i < count; i++) {
        const char *value = strchr(arguments[i], '=');
        if (value) {
            if (!set_option(arguments[i], value + 1, options, error)) return false;
        } else if (options->file_count == MAX_FILES)
            return error_set(error, STATUS_USAGE, "at most %d files", MAX_FILES);
        else
            options->files[options->file_count++] = arguments[i];
    }
    return true;
}

static bool run(int count, char *arguments[], Error *error) {
    Options options;
    const Command *command = count > 1 ? find_command(arguments[1]) : NULL;
    if (command && !parse(count - 2, arguments + 2, &options, error)) return false;
    if (!command ||
        (command->files ? options.file_count != command->files : options.file_count == 0))
        return error_set(error, STATUS_USAGE, "%s", usage);
    return command->run(&options, error);
}

int main(int count, char *arguments[]) {
    Error error;
    if (run(count, arguments, &error)) {
        fflush(stdout);
        if (!ferror(stdout)) return STATUS_PASS;
        error_set(&error, STATUS_FAIL, "the output cannot be written");
    }
    fprintf(stderr, "sass: %s\n", error.text);
    return (int)error.status;
}
