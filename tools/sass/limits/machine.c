#include "limits/machine.h"

#include "analysis/program.h"
#include "analysis/source.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Key {
    const char *name;
    size_t offset;
    double least, most;
    bool optional;
} Key;

#define KEY(name, least, most, optional) \
    { #name, offsetof(Machine, name), least, most, optional }

/* What is possible is what GPUs of these generations could have, with room to spare. */
static const Key keys[] = {
    KEY(capability, 75, 129, false),
    KEY(sms, 1, 1000, false),
    KEY(clock_mhz, 200, 5000, false),
    KEY(issue, 1, 8, false),
    KEY(fma, 16, 512, false),
    KEY(imad, 16, 512, false),
    KEY(half, 16, 512, false),
    KEY(half_in_fma, 0, 1, false),
    KEY(alu, 16, 512, false),
    KEY(mufu, 4, 128, false),
    KEY(shuffle, 8, 128, false),
    KEY(barrier, 4, 128, false),
    KEY(mma, 64, 16384, false),
    KEY(wgmma, 0, 16384, false),
    KEY(shared_bytes, 32, 1024, false),
    KEY(l2_bytes, 64, 65536, false),
    KEY(hbm_gb_s, 50, 20000, false),
    KEY(l2_mib, 0.5, 1024, false),
    KEY(registers, 16384, 1 << 20, false),
    KEY(shared_kib, 16, 1024, false),
    KEY(threads, 512, 4096, false),
    KEY(blocks, 4, 128, false),
    KEY(mma_tflops, 1, 10000, true),
    KEY(wgmma_tflops, 1, 10000, true),
    KEY(lds_latency, 5, 500, true),
    KEY(ldmatrix_latency, 5, 500, true),
    KEY(shuffle_latency, 5, 500, true),
    KEY(mufu_latency, 5, 500, true),
    KEY(l2_latency, 20, 5000, true),
    KEY(hbm_latency, 20, 10000, true),
    KEY(copy_latency, 20, 5000, true),
    KEY(barrier_latency, 1, 500, true),
    KEY(barrier_warp, 0, 100, true),
    KEY(lds_128_cycles, 0, 32, true),
    KEY(lsu_cycles, 0.5, 32, true),
    KEY(lsu_queue, 1, 64, true),
    KEY(widen, 8, 512, true),
    KEY(code_kib, 1, 256, true), /* room: MOST_CODE_KIB of replay/fetch.h */
    KEY(code_line, 1, 1000, true),
    KEY(block_start, 0, 1e5, true),
    KEY(tensor_mhz, 100, 10000, true),
    KEY(launch_us, 0, 1000, true),
    KEY(l2_port, 8, 1024, true),
};
enum { KEYS = sizeof keys / sizeof keys[0] };

static double *value_of(Machine *machine, const Key *key) {
    return (double *)((char *)machine + key->offset);
}

static int key_named(const char *name, size_t length) {
    int k = 0;
    while (k < KEYS && (strlen(keys[k].name) != length || strncmp(keys[k].name, name, length) != 0))
        k++;
    return k;
}

/* Cuts the blanks at both ends off. */
static char *trimmed(char *text) {
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
    return text + strspn(text, " \t");
}

/* A line that is neither empty nor a comment. `place` is "file:line". */
static bool read_line(char *line, const char *place, Machine *machine, bool seen[KEYS],
                      Error *error) {
    char *source = strchr(line, '|'), *end;
    if (source) *source++ = '\0';
    const size_t length = strcspn(line, " \t");
    char *value = trimmed(line + length);
    if (!source || !*trimmed(source))
        return error_set(error, STATUS_FAIL, "%s: '%.*s' has no source: key value | source", place,
                         (int)length, line);
    if (length == strlen("device") && strncmp(line, "device", length) == 0) {
        snprintf(machine->device, sizeof machine->device, "%s", value);
        return true;
    }
    const int k = key_named(line, length);
    if (k == KEYS)
        return error_set(error, STATUS_FAIL, "%s: there is no key '%.*s'", place, (int)length,
                         line);
    if (seen[k])
        return error_set(error, STATUS_FAIL, "%s: '%s' is given twice", place, keys[k].name);
    const double number = strtod(value, &end);
    if (end == value || *end || !(number >= keys[k].least && number <= keys[k].most))
        return error_set(error, STATUS_FAIL, "%s: %s must be a number from %g to %g; not '%s'",
                         place, keys[k].name, keys[k].least, keys[k].most, value);
    *value_of(machine, &keys[k]) = number;
    seen[k] = true;
    return true;
}

static bool read_lines(Source *lines, const char *path, Machine *machine, Error *error) {
    bool seen[KEYS] = {false};
    for (int i = 0; i < lines->lines; i++) {
        char place[PATH_MAX + 32];
        char *line = trimmed(lines->line[i]);
        snprintf(place, sizeof place, "%s:%d", path, i + 1);
        if (*line && *line != '#' && !read_line(line, place, machine, seen, error)) return false;
    }
    for (int k = 0; k < KEYS; k++)
        if (!seen[k] && !keys[k].optional)
            return error_set(error, STATUS_FAIL, "%s: '%s' is missing", path, keys[k].name);
    return *machine->device || error_set(error, STATUS_FAIL, "%s: 'device' is missing", path);
}

/* The names in the folder, sorted, with blanks between. */
static void list_names(const char *folder, char *names, size_t size) {
    struct dirent **entry = NULL;
    const int count = scandir(folder, &entry, NULL, alphasort);
    *names = '\0';
    for (int i = 0; i < count; i++) {
        const char *ending = strstr(entry[i]->d_name, ".txt");
        const size_t used = strlen(names);
        if (ending && !ending[4])
            snprintf(names + used, size - used, "%s%.*s", used ? " " : "",
                     (int)(ending - entry[i]->d_name), entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

bool machine_read(const char *folder, const char *name, Machine *machine, Error *error) {
    char path[PATH_MAX], names[512], *text;
    Error reading;
    *machine = (Machine){0};
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    if (strchr(name, '/') || !read_file(path, &text, NULL, &reading)) {
        list_names(folder, names, sizeof names);
        return error_set(error, STATUS_USAGE, "GPU must be one of: %s; not '%s'", names, name);
    }
    snprintf(machine->file, sizeof machine->file, "%s", name);
    Source lines = source_cut(text);
    const bool read = read_lines(&lines, path, machine, error);
    source_free(&lines);
    return read;
}

static int number_of(const char *arch) { return strncmp(arch, "sm_", 3) ? 0 : atoi(arch + 3); }

bool machine_for(const char *folder, const char *arch, char name[MACHINE_NAME_SIZE]) {
    char names[512], *rest = names;
    list_names(folder, names, sizeof names);
    *name = '\0';
    for (char *one; (one = strtok_r(rest, " ", &rest));) {
        Machine machine;
        Error error;
        if (machine_read(folder, one, &machine, &error) && machine.capability == number_of(arch))
            snprintf(name, MACHINE_NAME_SIZE, "%s", one);
    }
    return *name;
}

/* Machine code runs on what it is for and on later ones of that generation; that for sm_90a on
 * nothing else. */
const char *machine_refuses(const Machine *machine, const char *arch, char text[REFUSAL_SIZE]) {
    const int needs = number_of(arch), has = (int)machine->capability;
    const bool alone = arch[strlen(arch) - 1] == 'a';
    if (alone ? has == needs : has / 10 == needs / 10 && has >= needs) return NULL;
    snprintf(text, REFUSAL_SIZE, "its code is for compute capability %d.%d%s, and %s has %d.%d",
             needs / 10, needs % 10, alone ? " alone" : "", machine->device, has / 10, has % 10);
    return text;
}
