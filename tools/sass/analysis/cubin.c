#include "analysis/cubin.h"

#include "analysis/classes.h"
#include "analysis/host_code.h"
#include "analysis/kept.h"
#include "analysis/program.h"
#include "analysis/source.h"
#include "list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

enum { FOLDER_SIZE = 1024 }; /* the name of a scratch folder */

/* e_machine of an ELF file is at byte 18; 190 is CUDA (System V ABI registry). */
static bool is_cubin(const char *path) {
    unsigned char head[20];
    FILE *in = fopen(path, "rb");
    const size_t got = in ? fread(head, 1, sizeof head, in) : 0;
    if (in) fclose(in);
    return got == sizeof head && memcmp(head, "\177ELF", 4) == 0 && head[18] == 190;
}

static char *tool(const char *variable, char *name) {
    char *value = getenv(variable);
    return value && *value ? value : name;
}

static bool has_ending(const char *name, const char *ending) {
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* Finds the one file in the folder that ends so. Returns how many there are. */
static int find_file(const char folder[FOLDER_SIZE], const char *ending, char path[PATH_MAX]) {
    int found = 0;
    DIR *directory = opendir(folder);
    if (!directory) return 0;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (has_ending(entry->d_name, ending)) {
            snprintf(path, PATH_MAX, "%s/%s", folder, entry->d_name);
            found++;
        }
    closedir(directory);
    return found;
}

static void remove_folder(const char folder[FOLDER_SIZE]) {
    char path[PATH_MAX];
    DIR *directory = opendir(folder);
    if (!directory) return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(directory);
    rmdir(folder);
}

/* The library's cubin, as a file in the folder. */
static bool extract_cubin(const char folder[FOLDER_SIZE], char *library, char cubin[PATH_MAX],
                          Error *error) {
    char *output, *argv[] = {tool("CUOBJDUMP", "cuobjdump"), "--extract-elf", "all", library, NULL};
    const bool ran = run_program(folder, argv, &output, error);
    free(output);
    if (!ran && error->status == STATUS_SKIP) return false;
    const int found = find_file(folder, ".cubin", cubin);
    if (found == 1) return true;
    if (found)
        return error_set(error, STATUS_FAIL,
                         "%s holds machine code for %d architectures: build it for one", library,
                         found);
    return error_set(error, STATUS_FAIL,
                     "%s holds no machine code: it is neither a built stage "
                     "(build/<arch>/<stage>/<variant>.so) nor a cubin",
                     library);
}

/* PTX that is not there is not an error: the library may have been built without. */
static bool extract_ptx(const char folder[FOLDER_SIZE], char *library, Module *module,
                        Error *error) {
    char path[PATH_MAX], *output,
        *argv[] = {tool("CUOBJDUMP", "cuobjdump"), "--extract-ptx", "all", library, NULL};
    const bool ran = run_program(folder, argv, &output, error);
    free(output);
    if (!ran && error->status == STATUS_SKIP) return false;
    return find_file(folder, ".ptx", path) != 1 || read_file(path, &module->ptx, NULL, error);
}

/* Always with the lines of source and PTX, a tenth of nvdisasm's time, so that one listing serves
 * all commands. `tables` has it follow what registers hold, a fifth of its time: only then it says
 * where a jump through a table goes. */
static bool print_listing(const char *path, char *cubin, bool tables, char **text, Error *error) {
    char *argv[] = {tool("NVDISASM", "nvdisasm"), "-ndf", "-c", "-hex", "-gi", "-gp", cubin, NULL};
    Kept kept;
    if (tables) memmove(argv + 1, argv + 2, sizeof argv - 2 * sizeof *argv);
    const bool keeps = kept_place(path, cubin, argv, &kept);
    *text = keeps ? kept_read(&kept) : NULL;
    if (*text) return true;
    if (!run_program(NULL, argv, text, error)) return false;
    if (keeps) kept_write(&kept, *text);
    return true;
}

/* What it cannot follow it may refuse; then the other listing serves. */
static bool disassemble(const char *path, char *cubin, Module *module, Error *error) {
    char *followed;
    if (!print_listing(path, cubin, false, &module->text, error)) return false;
    if (strstr(module->text, " BRX") && print_listing(path, cubin, true, &followed, error)) {
        free(module->text);
        module->text = followed;
    }
    module->listing = listing_parse(module->text);
    snprintf(module->arch, sizeof module->arch, "%s", module->listing.target);
    return true;
}

/* The release of ptxas, as the cubin's notes tell it. */
static void read_compiler(const char *cubin, Module *module) {
    static const char mark[] = "Cuda compilation tools, release ";
    char *bytes;
    size_t length;
    Error error;
    strcpy(module->compiler, "unknown");
    if (!read_file(cubin, &bytes, &length, &error)) return;
    const char *note = memmem(bytes, length, mark, strlen(mark));
    const char *version = note ? strstr(note, ", V") : NULL;
    if (version)
        snprintf(module->compiler, sizeof module->compiler, "%.*s",
                 (int)strspn(version + 3, "0123456789."), version + 3);
    free(bytes);
}

/* The number behind "REG:" in a line such as "REG:208 STACK:0 SHARED:0 LOCAL:0"; -1 without. */
static int resource(const char *line, const char *key) {
    const char *end = line + strcspn(line, "\n"), *at = strstr(line, key);
    return at && at < end ? atoi(at + strlen(key)) : -1;
}

/* ptxas counts the KiB of each block that the system keeps from compute capability 9.0 on; the
 * kernel does not have it, and the runtime does not count it. */
static int without_reserved(int shared, const char *arch) {
    const int capability = strncmp(arch, "sm_", 3) == 0 ? atoi(arch + 3) : 0;
    return capability >= 90 && shared >= 1024 ? shared - 1024 : shared;
}

/* What stands behind " Function NAME:\n"; "" if it is not there. */
static const char *usage_of(const char *name, const char *output) {
    static const char mark[] = " Function ";
    const size_t length = strlen(name);
    while ((output = strstr(output, mark))) {
        output += strlen(mark);
        if (strncmp(output, name, length) == 0 && output[length] == ':')
            return output + length + strlen(":\n");
    }
    return "";
}

/* " Function NAME:\n  REG:208 STACK:0 SHARED:0 ..." for each kernel */
static bool read_resources(char *cubin, Module *module, Error *error) {
    char *output, *argv[] = {tool("CUOBJDUMP", "cuobjdump"), "--dump-resource-usage", cubin, NULL};
    if (!run_program(NULL, argv, &output, error)) return false;
    for (int k = 0; k < module->kernels; k++) {
        Kernel *kernel = &module->kernel[k];
        const char *line = usage_of(kernel->function->name, output);
        kernel->registers = resource(line, "REG:");
        kernel->stack = resource(line, "STACK:");
        kernel->static_shared = without_reserved(resource(line, "SHARED:"), module->arch);
    }
    free(output);
    return true;
}

/* The identifier in a mangled name: _Z9flash_fwdPK6__half... is flash_fwd. A name in C is itself.
 */
static void plain_name(const char *symbol, char name[MODULE_NAME_SIZE]) {
    const char *digits = strncmp(symbol, "_Z", 2) == 0 ? symbol + 2 : "";
    digits += *digits == 'L'; /* static */
    char *end;
    const long length = strtol(digits, &end, 10);
    if (end > digits && length > 0 && length <= (long)strlen(end))
        snprintf(name, MODULE_NAME_SIZE, "%.*s", (int)length, end);
    else
        snprintf(name, MODULE_NAME_SIZE, "%s", symbol);
}

static void add_kernel(Module *module, const Function *function, const Launch *launch) {
    for (int k = 0; k < module->kernels; k++)
        if (module->kernel[k].function == function) return;
    Kernel *kernel = LIST_ADD(module->kernel, module->kernels);
    kernel->function = function;
    kernel->flow = flow_analyse(function);
    kernel->dynamic_shared = launch ? launch->dynamic_shared : -1;
    if (launch)
        snprintf(kernel->name, sizeof kernel->name, "%s", launch->name);
    else
        plain_name(function->name, kernel->name);
    for (int k = 0; k < module->kernels - 1; k++) /* instances of a template */
        if (strcmp(module->kernel[k].name, kernel->name) == 0)
            snprintf(kernel->name, sizeof kernel->name, "%s", function->name);
}

static void add_kernels(const char *path, Module *module) {
    Launch launches[MAX_LAUNCHES];
    const int known = is_cubin(path) ? 0 : launches_read(path, launches);
    const Listing *listing = &module->listing;
    for (int l = 0; l < known; l++)
        for (int f = 0; f < listing->functions; f++)
            if (strcmp(listing->function[f].name, launches[l].symbol) == 0)
                add_kernel(module, &listing->function[f], &launches[l]);
    for (int f = 0; f < listing->functions; f++)
        if (listing->function[f].kernel) add_kernel(module, &listing->function[f], NULL);
}

/* The outermost file of the first instruction that has lines: where the kernel itself is. */
static void find_source(Module *module) {
    for (int k = 0; k < module->kernels && !module->source; k++) {
        const Function *function = module->kernel[k].function;
        for (int i = 0; i < function->instructions && !module->source; i++) {
            const Instruction *at = &function->instruction[i];
            if (at->frames) module->source = function->frame[at->frame + at->frames - 1].file;
        }
    }
}

/* /.../07_swizzle/d128_fp16_full.so, from the root, says stage and variant. */
static void name_module(const char *path, Module *module) {
    const char *file = file_name(path), *end = file - 1, *folder = end;
    while (folder > path && folder[-1] != '/') folder--;
    if (has_ending(file, ".so")) {
        snprintf(module->stage, sizeof module->stage, "%.*s", (int)(end - folder), folder);
        snprintf(module->variant, sizeof module->variant, "%.*s", (int)(strlen(file) - 3), file);
    } else
        snprintf(module->stage, sizeof module->stage, "%.*s", MODULE_NAME_SIZE - 1, file);
}

/* Reads what is to be read with a folder for scratch. */
static bool open_in(const char folder[FOLDER_SIZE], char *path, bool ptx, Module *module,
                    Error *error) {
    char cubin[PATH_MAX];
    const bool bare = is_cubin(path);
    snprintf(cubin, sizeof cubin, "%s", path);
    if (!bare && !extract_cubin(folder, path, cubin, error)) return false;
    if (!bare && ptx && !extract_ptx(folder, path, module, error)) return false;
    if (!disassemble(path, cubin, module, error)) return false;
    read_compiler(cubin, module);
    add_kernels(path, module);
    if (module->kernels == 0) return error_set(error, STATUS_FAIL, "%s holds no kernel", path);
    find_source(module);
    return read_resources(cubin, module, error);
}

/* What ends the program waits until the folder is gone; it ends the programs that are run. */
static void hold_signals(int how) {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigprocmask(how, &ending, NULL);
}

bool module_open(const char *path, bool ptx, Module *module, Error *error) {
    char whole[PATH_MAX], folder[FOLDER_SIZE];
    const char *scratch = getenv("TMPDIR");
    *module = (Module){0};
    if (!realpath(path, whole))
        return error_set(error, STATUS_USAGE, "%s: %s", path, strerror(errno));
    snprintf(folder, sizeof folder, "%s/sass.XXXXXX", scratch && *scratch ? scratch : "/tmp");
    name_module(whole, module);
    hold_signals(SIG_BLOCK);
    if (!mkdtemp(folder)) {
        hold_signals(SIG_UNBLOCK);
        return error_set(error, STATUS_FAIL, "%s cannot be made: %s", folder, strerror(errno));
    }
    const bool opened = open_in(folder, whole, ptx, module, error);
    remove_folder(folder);
    hold_signals(SIG_UNBLOCK);
    if (!opened) module_close(module);
    return opened;
}

int kernel_spills(const Kernel *kernel) {
    int spills = 0;
    for (int i = 0; i < kernel->function->instructions; i++)
        spills += opcode_class(&kernel->function->instruction[i]) == CLASS_LOCAL;
    return spills;
}

int kernel_shared(const Kernel *kernel) {
    if (kernel->static_shared < 0 || kernel->dynamic_shared < 0) return kernel->static_shared;
    return kernel->static_shared + kernel->dynamic_shared;
}

void module_close(Module *module) {
    for (int k = 0; k < module->kernels; k++) flow_free(&module->kernel[k].flow);
    free(module->kernel);
    listing_free(&module->listing);
    free(module->text);
    free(module->ptx);
    free(module->counters);
    *module = (Module){0};
}
