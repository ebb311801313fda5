#include "limits/subject.h"

#include "list.h"

#include <dirent.h>

/* "d128_fp16_full" says head size, type and mask. */
static void read_variant(const char *variant, Subject *subject) {
    const char *type = strchr(variant, '_'), *mask = type ? strchr(type + 1, '_') : NULL;
    subject->d = *variant == 'd' ? atoi(variant + 1) : 0;
    subject->causal = mask && strcmp(mask, "_causal") == 0;
    if (mask)
        snprintf(subject->type, sizeof subject->type, "%.*s", (int)(mask - type - 1), type + 1);
}

static bool read_machine(const char *gpu, const char *machines, Subject *subject, Error *error) {
    char found[MACHINE_NAME_SIZE];
    if (!*gpu && !machine_for(machines, subject->module.arch, found))
        return error_set(error, STATUS_SKIP, "no machine in %s runs code for %s as its own",
                         machines, subject->module.arch);
    return machine_read(machines, *gpu ? gpu : found, &subject->machine, error);
}

bool subject_open(const char *file, const char *gpu, const char *machines, const char *counted,
                  Subject *subject, Error *error) {
    *subject = (Subject){0};
    if (strlen(file) < sizeof ".so" || strcmp(file + strlen(file) - 3, ".so") != 0)
        return error_set(error, STATUS_USAGE, "%s is no built stage: it does not end with .so",
                         file);
    if (!module_open(file, true, &subject->module, error)) return false;
    const Module *module = &subject->module;
    read_variant(module->variant, subject);
    const char *place = strncmp(file, "build/", 6) == 0 ? file + 6 : file;
    snprintf(subject->counted, sizeof subject->counted, "%s/%.*s", counted,
             (int)(strlen(place) - strlen(".so")), place);
    if (read_machine(gpu, machines, subject, error) &&
        model_build(module, &subject->machine, subject->counted, &subject->model, error))
        return true;
    subject_close(subject);
    return false;
}

void subject_close(Subject *subject) {
    module_close(&subject->module);
    *subject = (Subject){0};
}

bool subject_cells(const char *folder, const char *device, Cells *cells, Error *error) {
    struct dirent **entry = NULL;
    bool read = true;
    *cells = (Cells){0};
    const int count = *folder ? scandir(folder, &entry, NULL, alphasort) : 0;
    if (count < 0) return error_set(error, STATUS_USAGE, "RESULTS=%s is no folder", folder);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        const char *ending = strrchr(entry[i]->d_name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (ending && strcmp(ending, ".jsonl") == 0)
            read = read && recorded_read(path, device, cells, error);
        free(entry[i]);
    }
    free(entry);
    recorded_sort(cells);
    return read;
}
