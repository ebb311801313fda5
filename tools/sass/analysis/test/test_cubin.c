/* Files that are opened, with a disassembler that says what the test has it say. Catches: a cubin
 * that is not taken for one, a name or a number of a kernel that is another's, a failure without
 * its reason or of something that need not be there, a scratch folder that stays. */
#include "analysis/cubin.h"
#include "list.h"
#include "analysis/program.h"
#include "test/sample.h"
#include "test/tap.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[] = "/tmp/cubin_test.XXXXXX";
static Error error;

/* A path in the test's own folder. */
static char *in_home(const char *name, char path[static 300]) {
    snprintf(path, 300, "%s/%s", home, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, size_t length) {
    char path[300];
    FILE *out = fopen(in_home(name, path), "wb");
    if (!out || fwrite(bytes, 1, length, out) != length || fclose(out) != 0) exit(1);
}

static void write_text(const char *name, const char *text) {
    write_bytes(name, text, strlen(text));
}

static void write_script(const char *name, const char *text) {
    char path[300];
    write_text(name, text);
    if (chmod(in_home(name, path), 0755) != 0) exit(1);
}

/* What a command of the shell in the folder prints. */
static char *shell(char *command) {
    char *output, *argv[] = {"sh", "-c", command, NULL};
    if (!run_program(home, argv, &output, &error)) {
        printf("Bail out! %s\n", error.text);
        exit(1);
    }
    return output;
}

static void run(char *command) { free(shell(command)); }

static bool opens(const char *name, bool ptx, Module *module) {
    char path[300];
    error = (Error){0};
    return ok(module_open(in_home(name, path), ptx, module, &error), "%s is opened: %s", name,
              error.text);
}

/* The message is shown without the folder. */
static void refused(const char *name, bool ptx, Status status, const char *text, const char *what) {
    char path[300];
    Module module;
    ok(!module_open(in_home(name, path), ptx, &module, &error), "is refused: %s", what);
    is_int(error.status, status, "with the status");
    const char *said =
        strncmp(error.text, home, strlen(home)) == 0 ? error.text + strlen(home) + 1 : error.text;
    is_text(said, text, "and the reason");
    ok(!module.kernel && !module.text && !module.ptx && !module.listing.function,
       "nothing is left to be closed");
}

/* What the programs were asked for since then. */
static void was_asked(const char *expected, const char *name) {
    char *said = shell("[ ! -e asked ] || sed -E 's,/[^ ]*/,,g' asked; rm -f asked");
    is_text(said, expected, name);
    free(said);
}

/* How many files are open, the folder that says it among them. */
static int open_files(void) {
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory)) count++;
    if (directory) closedir(directory);
    return count;
}

static void is_tidy(void) {
    char *left = shell("ls -A scratch");
    is_text(left, "", "the scratch folder is empty again");
    free(left);
}

/* cuobjdump gives what lies in elf and ptx, and ends as fails says. */
static void make_programs(void) {
    write_script("cuobjdump", "#!/bin/sh\n"
                              "here=${0%/*}\n"
                              "echo cuobjdump $* >>$here/asked\n"
                              "case $1 in\n"
                              "    --extract-elf) cp $here/elf/* . 2>/dev/null ;;\n"
                              "    --extract-ptx) cp $here/ptx/* . 2>/dev/null ;;\n"
                              "    *) cat $here/resources ;;\n"
                              "esac\n"
                              "if [ -e $here/fails$1 ]; then exit $(cat $here/fails$1); fi\n"
                              "[ $2 = all ] || [ -e $here/resources ]\n");
    write_script("nvdisasm", "#!/bin/sh\n"
                             "echo nvdisasm $* >>${0%/*}/asked\n"
                             "exec cat ${0%/*}/sass\n");
    write_text("sass", KERNEL("k") "  /*0000*/  EXIT ;\n");
    write_text("resources", "");
    run("mkdir elf ptx scratch listings 07_swizzle");
}

/* The first 20 bytes of a cubin, with nothing in the others that an equal file must have. */
static const unsigned char cubin[24] = {127, 'E', 'L', 'F', 2,   [17] = 7,
                                        190, 7,   ',', ' ', 'V', '9'};

static void test_kinds(void) {
    static const struct {
        size_t length, at;
        unsigned char byte;
        bool bare;
    } cases[] = {{20, 0, 127, true},  {24, 0, 127, true},  {19, 0, 127, false}, {20, 0, 126, false},
                 {20, 3, 'G', false}, {20, 18, 62, false}, {20, 17, 0, true},   {20, 19, 0, true}};
    char path[300];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Module module;
        unsigned char bytes[sizeof cubin];
        memcpy(bytes, cubin, sizeof cubin);
        bytes[cases[i].at] = cases[i].byte;
        write_bytes("file", bytes, cases[i].length);
        if (!cases[i].bare) {
            refused("file", true, STATUS_FAIL,
                    "file holds no machine code: it is neither a built stage "
                    "(build/<arch>/<stage>/<variant>.so) nor a cubin",
                    "no cubin");
            was_asked("cuobjdump --extract-elf all file\n", "after one was looked for");
            continue;
        }
        if (opens("file", true, &module)) module_close(&module);
        was_asked("nvdisasm -ndf -c -hex -gi -gp file\ncuobjdump --dump-resource-usage file\n",
                  "a cubin is read as it is");
    }
    if (mknod(in_home("socket", path), S_IFSOCK | 0600, 0) != 0) exit(1);
    refused("socket", true, STATUS_FAIL,
            "socket holds no machine code: it is neither a built stage "
            "(build/<arch>/<stage>/<variant>.so) nor a cubin",
            "what cannot be read");
    was_asked("cuobjdump --extract-elf all socket\n", "after a cubin was looked for");
    is_tidy();
}

static void test_names(void) {
    static const struct {
        const char *file, *stage, *variant;
    } cases[] = {{"07_swizzle/d64_fp16_full.so", "07_swizzle", "d64_fp16_full"},
                 {"07_swizzle/x.so", "07_swizzle", "x"},
                 {"07_swizzle/.so", ".so", ""},
                 {"07_swizzle/x.cubin", "x.cubin", ""},
                 {"07_swizzle/xso", "xso", ""}};
    char name[200] = "07_swizzle/";
    Module module;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes(cases[i].file, cubin, sizeof cubin);
        if (!opens(cases[i].file, false, &module)) continue;
        is_text(module.stage, cases[i].stage, "its stage");
        is_text(module.variant, cases[i].variant, "and its variant");
        module_close(&module);
    }
    memset(name + strlen(name), 'x', 150);
    write_bytes(name, cubin, sizeof cubin);
    if (opens(name, false, &module)) {
        is_int((int)strlen(module.stage), MODULE_NAME_SIZE - 1, "a long name is cut");
        module_close(&module);
    }
    refused("07_swizzle/none", false, STATUS_USAGE, "07_swizzle/none: No such file or directory",
            "a file that is not there");
}

/* A library has one cubin. */
static void test_libraries(void) {
    Module module;
    write_text("library.so", "a library");
    run("rm -f asked; echo code >elf/a.cubin; echo >elf/cubin; echo >elf/.cubin");
    run("echo 3 >fails--extract-elf");
    if (opens("library.so", false, &module)) {
        ok(!module.ptx, "PTX that is not asked for");
        module_close(&module);
    }
    was_asked("cuobjdump --extract-elf all library.so\n"
              "nvdisasm -ndf -c -hex -gi -gp a.cubin\n"
              "cuobjdump --dump-resource-usage a.cubin\n",
              "its cubin is what is read, whatever else could not be had");
    run("rm fails--extract-elf; echo code >elf/b.cubin");
    refused("library.so", false, STATUS_FAIL,
            "library.so holds machine code for 2 architectures: build it for one", "two cubins");
    run("rm elf/b.cubin");
    is_tidy();
}

static void test_ptx(void) {
    Module module;
    if (opens("library.so", true, &module)) {
        ok(!module.ptx, "PTX that is not there");
        module_close(&module);
    }
    run("echo one >ptx/a.ptx; echo 3 >fails--extract-ptx");
    if (opens("library.so", true, &module)) {
        is_text(module.ptx ? module.ptx : "", "one\n", "PTX");
        module_close(&module);
    }
    run("echo two >ptx/b.ptx");
    if (opens("library.so", true, &module)) {
        ok(!module.ptx, "PTX of two architectures");
        module_close(&module);
    }
    run("rm ptx/* fails--extract-ptx");
    is_tidy();
}

static const char cannot_run[] =
    "cuobjdump cannot be run: put the disassembler (cuobjdump and nvdisasm, in the CUDA Toolkit "
    "13.0 or newer) on PATH, or run `tools/toolchain/toolchain.sh --disassembler "
    "build/disassembler.mk`, which fetches it";

static void test_failures(void) {
    static const char *const options[] = {"--extract-elf", "--extract-ptx",
                                          "--dump-resource-usage"};
    char text[600], command[100], path[300];
    Module module;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(command, sizeof command, "echo 127 >fails%s", options[i]);
        run(command);
        refused("library.so", true, STATUS_SKIP, cannot_run, options[i]);
        snprintf(command, sizeof command, "rm fails%s", options[i]);
        run(command);
    }
    run("mv cuobjdump away");
    write_script("cuobjdump", "#!/bin/sh\nrmdir \"$PWD\"\n");
    refused("library.so", false, STATUS_FAIL,
            "library.so holds no machine code: it is neither a built stage "
            "(build/<arch>/<stage>/<variant>.so) nor a cubin",
            "scratch that is gone");
    run("mv away cuobjdump; mv resources away");
    snprintf(text, sizeof text, "cuobjdump failed: cat: %s/resources: No such file or directory",
             home);
    refused("library.so", false, STATUS_FAIL, text, "no resources");
    run("mv away resources; mv sass away");
    snprintf(text, sizeof text, "nvdisasm failed: cat: %s/sass: No such file or directory", home);
    refused("library.so", false, STATUS_FAIL, text, "no disassembly");
    write_text("sass", "\t.target\tsm_80\n");
    refused("library.so", false, STATUS_FAIL, "library.so holds no kernel", "no kernel");
    run("mv away sass");
    is_tidy();
    setenv("TMPDIR", in_home("none", path), 1);
    ok(!module_open(in_home("library.so", path), false, &module, &error) &&
           error.status == STATUS_FAIL && strstr(error.text, "No such file or directory"),
       "no place for scratch: %s", error.text);
    setenv("TMPDIR", in_home("scratch", path), 1);
}

static void test_kernel_names(void) {
    static const struct {
        const char *symbol, *name;
    } cases[] = {{"_Z9flash_fwdPK6__half", "flash_fwd"},
                 {"_ZL4rowsv", "rows"},
                 {"_Z1ki", "k"},
                 {"plain", "plain"},
                 {"_Z3abc", "abc"},
                 {"_Z4abc", "_Z4abc"},
                 {"_Z0abc", "_Z0abc"},
                 {"_Z-1abc", "_Z-1abc"},
                 {"_ZN5space4fillEv", "_ZN5space4fillEv"},
                 {"_Z", "_Z"},
                 {"_3abc", "_3abc"},
                 {"_X3abc", "_X3abc"},
                 {"_Z4tileILi64EEvv", "tile"},
                 {"_Z4tileILi96EEvv", "_Z4tileILi96EEvv"},
                 {"tile", "tile"}};
    enum { CASES = sizeof cases / sizeof *cases };
    char text[8000] = "";
    Module module;
    for (size_t i = 0; i < CASES; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 KERNEL("%s") "  /*0000*/ EXIT ;\n", cases[i].symbol, cases[i].symbol,
                 cases[i].symbol, cases[i].symbol);
    write_text("sass", text);
    if (!opens("library.so", false, &module)) return;
    is_int(module.kernels, CASES, "all of its kernels");
    for (int i = 0; i < module.kernels && i < CASES; i++)
        is_text(module.kernel[i].name, cases[i].name, cases[i].symbol);
    module_close(&module);
}

static const char three_kernels[] = "\t.target\tsm_90a \n" KERNEL(
    "first") "  /*0000*/  MOV R1, R2 ;\n"
             "  /*0010*/  LDL R1, [R2] ;\n"
             "  /*0020*/  EXIT ;\n"
             "\t.section\t.text.helper,\"ax\",@progbits\n"
             "  /*0000*/  RET ;\n" KERNEL("second") "  /*0000*/  STL [R1], R2 ;\n"
                                                    "\t//## File \"/a/inner.cuh\", line 3 "
                                                    "inlined at \"/a/outer.cu\", line 7\n"
                                                    "\t//## File \"/a/outer.cu\", line 7\n"
                                                    "  /*0010*/  LDL R1, [R2] ;\n"
                                                    "\t//## File \"/a/inner.cuh\", line 4\n"
                                                    "  /*0020*/  EXIT ;\n" KERNEL(
                                                        "third") "\t//## File "
                                                                 "\"/a/third.cu\", line 3\n"
                                                                 "  /*0000*/  EXIT ;\n";

/* "NAME REGISTERS STACK STATIC DYNAMIC SHARED SPILLS, ..." */
static void is_kernels(const Module *module, const char *expected) {
    char text[500] = "";
    for (int k = 0; k < module->kernels; k++) {
        const Kernel *kernel = &module->kernel[k];
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %d %d %d %d %d %d", used ? ", " : "",
                 kernel->name, kernel->registers, kernel->stack, kernel->static_shared,
                 kernel->dynamic_shared, kernel_shared(kernel), kernel_spills(kernel));
    }
    is_text(text, expected, "the numbers of its kernels");
}

static void test_numbers(void) {
    Module module;
    write_text("sass", three_kernels);
    write_text("resources", "Resource usage:\n"
                            " Function second:\n  REG:40 STACK:8 SHARED:1040\n"
                            " Function first:\n  REG:208 STACK:16\n"
                            " Function secondary:\n  REG:1 STACK:2 SHARED:3\n");
    write_text("elf/a.cubin", "code");
    if (opens("library.so", false, &module)) {
        is_text(module.arch, "sm_90a", "the architecture");
        is_text(module.source ? module.source : "none", "/a/outer.cu",
                "the source is where the first line is inlined");
        is_text(module.compiler, "unknown", "nobody knows by which compiler");
        is_kernels(&module,
                   "first 208 16 -1 -1 -1 1, second 40 8 16 -1 16 2, third -1 -1 -1 -1 -1 0");
        module.kernel[0].dynamic_shared = 5;
        is_int(kernel_shared(&module.kernel[0]), -1, "of static memory nothing is known");
        module.kernel[1].dynamic_shared = 0;
        is_int(kernel_shared(&module.kernel[1]), 16, "there is no dynamic memory");
        module.kernel[1].static_shared = 0, module.kernel[1].dynamic_shared = 5;
        is_int(kernel_shared(&module.kernel[1]), 5, "or no static memory");
        module_close(&module);
        ok(!module.kernel && !module.kernels && !module.text, "a module that is closed is empty");
    }
}

/* What the system keeps of each block's memory is not the kernel's. */
static void test_reserved(void) {
    static const struct {
        const char *target;
        int shared, own;
    } cases[] = {{"sm_80", 2048, 2048},    {"sm_89", 1024, 1024}, {"sm_90", 1024, 0},
                 {"sm_90a", 1023, 1023},   {"sm_90a", 1025, 1},   {"sm_100a", 3000, 1976},
                 {"other_90", 2048, 2048}, {"", 2048, 2048}};
    char text[300];
    Module module;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "\t.target\t%s\n" KERNEL("k") "  /*0000*/ EXIT ;\n",
                 cases[i].target);
        write_text("sass", text);
        snprintf(text, sizeof text, " Function k:\n  REG:1 STACK:0 SHARED:%d LOCAL:0\n",
                 cases[i].shared);
        write_text("resources", text);
        if (!opens("library.so", false, &module)) continue;
        is_int(module.kernel[0].static_shared, cases[i].own, cases[i].target);
        ok(!module.source, "nothing says where it comes from");
        module_close(&module);
    }
}

static void test_compilers(void) {
    static const struct {
        const char *note, *compiler;
    } cases[] = {{"Cuda compilation tools, release 13.0, V13.0.88", "13.0.88"},
                 {"x, V1.2 Cuda compilation tools, release 13.0, V12.9_r3", "12.9"},
                 {"Cuda compilation tools, release 13.0", "unknown"},
                 {"Cuda compilation, V3", "unknown"}};
    char bytes[200] = "";
    Module module;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(bytes + 10, sizeof bytes - 10, "%s", cases[i].note);
        write_bytes("elf/a.cubin", bytes, sizeof bytes);
        if (!opens("library.so", false, &module)) continue;
        is_text(module.compiler, cases[i].compiler, cases[i].note);
        module_close(&module);
    }
}

/* Only what is kept is not asked for again. */
static void test_kept(void) {
    char path[300];
    Module module;
    setenv("LISTINGS", in_home("listings", path), 1);
    run("rm -f asked");
    for (int time = 0; time < 2; time++)
        if (opens("library.so", false, &module)) {
            is_int(module.kernels, 1, "its kernel");
            module_close(&module);
        }
    was_asked("cuobjdump --extract-elf all library.so\n"
              "nvdisasm -ndf -c -hex -gi -gp a.cubin\n"
              "cuobjdump --dump-resource-usage a.cubin\n"
              "cuobjdump --extract-elf all library.so\n"
              "cuobjdump --dump-resource-usage a.cubin\n",
              "one listing serves twice");
    unsetenv("LISTINGS");
    if (opens("library.so", false, &module)) module_close(&module);
    was_asked("cuobjdump --extract-elf all library.so\n"
              "nvdisasm -ndf -c -hex -gi -gp a.cubin\n"
              "cuobjdump --dump-resource-usage a.cubin\n",
              "unless none are kept");
}

/* Found on PATH, in a folder for scratch that has its usual place or the longest name. */
static void test_environment(void) {
    char path[300], folder[1024];
    Module module;
    setenv("PATH", in_home(":/usr/bin:/bin", path), 1);
    setenv("CUOBJDUMP", "", 1);
    unsetenv("NVDISASM");
    if (opens("library.so", false, &module)) module_close(&module);
    write_script("cuobjdump", "#!/bin/sh\nprintf %s \"$PWD\" >${0%/*}/where\nexit 127\n");
    for (int named = 0; named < 3; named++) {
        const char *expected = named == 2 ? folder : "/tmp";
        snprintf(folder, sizeof folder, "%s/scratch", home);
        if (named == 0) unsetenv("TMPDIR");
        if (named == 1) setenv("TMPDIR", "", 1);
        if (named == 2) setenv("TMPDIR", folder, 1);
        refused("library.so", false, STATUS_SKIP, cannot_run, "one on PATH");
        char *where = shell("cat where");
        ok(strncmp(where, expected, strlen(expected)) == 0 &&
               strncmp(where + strlen(expected), "/sass.", 6) == 0,
           "scratch is in %s: %s", expected, where);
        free(where);
    }
    memset(folder + strlen(folder), '/', sizeof folder - strlen(folder));
    folder[1024 - sizeof "/sass.XXXXXX"] = '\0';
    setenv("TMPDIR", folder, 1);
    refused("library.so", false, STATUS_SKIP, cannot_run, "the longest name");
    strcat(folder, "/");
    setenv("TMPDIR", folder, 1);
    ok(!module_open(in_home("library.so", path), false, &module, &error) &&
           error.status == STATUS_FAIL,
       "a longer one");
}

int main(void) {
    char path[300];
    if (!mkdtemp(home)) return 1;
    unsetenv("LISTINGS");
    setenv("CUOBJDUMP", in_home("cuobjdump", path), 1);
    setenv("NVDISASM", in_home("nvdisasm", path), 1);
    setenv("TMPDIR", in_home("scratch", path), 1);
    make_programs();
    const int open_before = open_files();
    test_kinds();
    test_names();
    test_libraries();
    test_ptx();
    test_failures();
    test_kernel_names();
    test_numbers();
    test_reserved();
    test_compilers();
    test_kept();
    test_environment();
    is_int(open_files(), open_before, "no file stays open");
    run("rm -r *");
    rmdir(home);
    return done_testing();
}
