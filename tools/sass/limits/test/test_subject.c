/* A built stage as the commands about limits open it, and the times that are recorded of it, with a
 * disassembler that says what it is told to. Catches: a variant whose name is read wrongly, counts
 * of another folder, another machine than the one that is asked for, a reason that is lost, a file
 * of times that is passed over or is none. */
#include "limits/subject.h"
#include "limits/test/made_counts.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char sass[] = "\t.target\tsm_80\n" KERNEL("k") //
    "\t//## File \".nv_debug_ptx_txt\", line 4\n  /*0000*/  LDG.E R1, [R8.64] ;\n"
    ".L_x_0:\n"
    "\t//## File \".nv_debug_ptx_txt\", line 6\n  /*0010*/  LDG.E R2, [R8.64] ;\n"
    "\t//## File \".nv_debug_ptx_txt\", line 7\n  /*0020*/  FFMA R1, R2, R3, R1 ;\n"
    "\t//## File \".nv_debug_ptx_txt\", line 9\n  /*0030*/  @P0 BRA `(.L_x_0) ;\n"
    "\t//## File \".nv_debug_ptx_txt\", line 10\n  /*0040*/  EXIT ;\n";
static const char cuobjdump[] =
    "#!/bin/sh\ncase $1 in\n"
    "--extract-elf) printf '\\177ELF%14s\\276\\n' '' >k.cubin ;;\n"
    "--extract-ptx) cp \"${0%/*}/ptx\" k.ptx ;;\n"
    "*) printf ' Function k:\\n  REG:32 STACK:0 SHARED:0 LOCAL:0\\n' ;;\nesac\n";
static const char nvdisasm[] = "#!/bin/sh\nexec cat \"${0%/*}/sass\"\n";

/* A machine of this name, with so many multiprocessors. */
static const char card[] =
    "device %s | here\ncapability %d | here\nsms %d | here\nclock_mhz 1000 | here\n"
    "issue 4 | here\nfma 128 | here\nimad 64 | here\nhalf 64 | here\nhalf_in_fma 1 | here\n"
    "alu 64 | here\nmufu 16 | here\nshuffle 32 | here\nbarrier 16 | here\nmma 256 | here\n"
    "wgmma 0 | here\nshared_bytes 128 | here\nl2_bytes 640 | here\nhbm_gb_s 900 | here\n"
    "l2_mib 6 | here\nregisters 65536 | here\nshared_kib 100 | here\nthreads 1536 | here\n"
    "blocks 16 | here\n";

static char home[] = "/tmp/subject.XXXXXX";

static void put(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    if (!out) return;
    fputs(text, out);
    fclose(out);
}

static void put_card(const char *path, const char *device, int capability, int sms) {
    char text[sizeof card + 80];
    snprintf(text, sizeof text, card, device, capability, sms);
    put(path, text);
}

static void make_folders(void) {
    static const char *const folders[] = {"build",          "build/sm_80",       "build/sm_80/01_s",
                                          "builds",         "counted",           "machines",
                                          "nothing",        "results",           "counted/sm_80",
                                          "counted/builds", "counted/sm_80/01_s"};
    char path[80];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) mkdir(folders[i], 0700);
    put("sass", sass);
    put("ptx", counted_ptx);
    put("cuobjdump", cuobjdump);
    put("nvdisasm", nvdisasm);
    chmod("cuobjdump", 0700);
    chmod("nvdisasm", 0700);
    snprintf(path, sizeof path, "%s/cuobjdump", home);
    setenv("CUOBJDUMP", path, 1);
    snprintf(path, sizeof path, "%s/nvdisasm", home);
    setenv("NVDISASM", path, 1);
    unsetenv("LISTINGS");
    put_card("machines/one.txt", "Card One", 80, 11);
    put_card("machines/other.txt", "Other Card", 86, 12);
}

static void count(const char *folder) {
    mkdir(folder, 0700);
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
}

static Subject subject;
static Error error;

static bool open_subject(const char *file, const char *gpu, const char *machines) {
    put(file, "text");
    memset(&subject, 1, sizeof subject);
    const bool opened = subject_open(file, gpu, machines, "counted", &subject, &error);
    if (!opened) printf("# %s\n", error.text);
    return opened;
}

/* Names of variants say head size, type and mask, if they say anything. */
static void test_variants(void) {
    static const struct {
        const char *name;
        int d;
        const char *type;
        bool causal;
    } variants[] = {
        {"d128_fp16_full", 128, "fp16", false},
        {"d64_bf16_causal", 64, "bf16", true},
        {"d64_fp16_causal2", 64, "fp16", false},
        {"d64_fp16_full_causal", 64, "fp16", false},
        {"d64__causal", 64, "", true},
        {"d9_f_", 9, "f", false},
        {"d64_causal", 64, "", false},
        {"d64", 64, "", false},
        {"x64_fp16_causal", 0, "fp16", true},
        {"d8_float32_wide_full", 8, "float32", false},
        {"d8_float32x_causal", 8, "float32", true},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        char file[80], counted[80];
        snprintf(file, sizeof file, "build/sm_80/01_s/%s.so", variants[i].name);
        snprintf(counted, sizeof counted, "counted/sm_80/01_s/%s", variants[i].name);
        count(counted);
        if (!ok(open_subject(file, "one", "machines"), "%s is opened", file)) continue;
        is_int(subject.d, variants[i].d, "its head size");
        is_text(subject.type, variants[i].type, "its type");
        is_int(subject.causal, variants[i].causal, "its mask");
        is_text(subject.counted, counted, "where its counts are");
        is_text(subject.module.stage, "01_s", "its stage");
        subject_close(&subject);
        ok(!subject.module.kernel && !subject.model.module, "nothing is left");
        remove_counts(counted);
    }
}

static void test_places(void) {
    count("counted/a");
    count("counted/builds/a");
    ok(open_subject("a.so", "one", "machines"), "a stage with a short name");
    is_text(subject.counted, "counted/a", "in no folder");
    is_int(subject.model.demands, 1, "with the model of a kernel");
    ok(subject.model.machine == &subject.machine && subject.model.module == &subject.module,
       "that is of this subject");
    subject_close(&subject);
    ok(open_subject("builds/a.so", "one", "machines"), "one in a folder that is not build");
    is_text(subject.counted, "counted/builds/a", "whose name is kept");
    subject_close(&subject);
    remove_counts("counted/builds/a");
}

static void opens_on(const char *gpu, const char *device, double sms) {
    ok(open_subject("a.so", gpu, "machines"), "a stage on GPU '%s'", gpu);
    is_text(subject.machine.device, device, "the machine");
    is_near(subject.machine.sms, sms, 0, "its numbers");
    subject_close(&subject);
}

static void refused(const char *file, const char *gpu, const char *machines, Status status,
                    const char *text) {
    ok(!open_subject(file, gpu, machines), "refused");
    is_int(error.status, status, "with its status");
    is_text(error.text, text, text);
    ok(!subject.module.kernel, "nothing is left open");
}

static void test_machines(void) {
    opens_on("one", "Card One", 11);
    opens_on("other", "Other Card", 12);
    opens_on("", "Card One", 11);
    refused("a.so", "none", "machines", STATUS_USAGE, "GPU must be one of: one other; not 'none'");
    refused("a.so", "", "nothing", STATUS_SKIP,
            "no machine in nothing runs code for sm_80 as its own");
    refused("a.so", "one", "nothing", STATUS_USAGE, "GPU must be one of: ; not 'one'");
}

static void test_refused(void) {
    static const char *const names[] = {".so", "so", "a.s", "a.sox", "a.cubin", "aso"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s is no built stage: it does not end with .so", names[i]);
        refused(names[i], "one", "machines", STATUS_USAGE, text);
        unlink(names[i]);
    }
    ok(!subject_open("b.so", "one", "machines", "counted", &subject, &error), "no such file");
    is_text(error.text, "b.so: No such file or directory", "says so");
    refused("b.so", "one", "machines", STATUS_USAGE,
            "counted/b/lengths cannot be read: No such file or directory");
    char text[200];
    snprintf(text, sizeof text, "%s was built without its PTX", strrchr(home, '/') + 1);
    unlink("ptx");
    refused("a.so", "one", "machines", STATUS_SKIP, text);
}

static void cell(const char *path, int length, const char *device) {
    FILE *out = fopen(path, "a");
    if (!out) return;
    fprintf(out,
            "{\"stage\":1,\"name\":\"01_s\",\"device\":\"%s\",\"dtype\":\"fp16\",\"causal\":false,"
            "\"batch\":1,\"heads\":2,\"kv_heads\":2,\"seq_q\":%d,\"seq_kv\":%d,\"d\":64,"
            "\"init\":\"normal\",\"status\":\"pass\",\"ms_median\":1}\n",
            device, length, length);
    fclose(out);
}

static void test_cells(void) {
    Cells cells;
    cell("results/b.jsonl", 128, "Card One");
    cell("results/a.jsonl", 512, "Card One");
    cell("results/a.jsonl", 256, "Other Card");
    cell("results/a.b.jsonl", 384, "Card One");
    cell("results/jsonl", 1, "Card One");
    cell("results/c.json", 2, "Card One");
    cell("results/c.jsonl.old", 3, "Card One");
    ok(subject_cells("results", "Card One", &cells, &error), "a folder of times");
    is_int(cells.cells, 3, "three of the device");
    for (int i = 0; i < 3 && i < cells.cells; i++)
        is_int(cells.cell[i].length, 128 * (i == 2 ? 4 : i == 1 ? 3 : 1), "in order");
    recorded_free(&cells);
    ok(subject_cells("", "Card One", &cells, &error) && cells.cells == 0, "no folder, no times");
    ok(!subject_cells("nowhere", "Card One", &cells, &error), "a folder that is not there");
    is_int(error.status, STATUS_USAGE, "is refused");
    is_text(error.text, "RESULTS=nowhere is no folder", "with its name");
    ok(subject_cells("nothing", "Card One", &cells, &error) && cells.cells == 0, "an empty one");
    if (symlink("nowhere", "results/aa.jsonl") != 0) return;
    ok(!subject_cells("results", "Card One", &cells, &error), "a file that cannot be read");
    is_text(error.text, "results/aa.jsonl cannot be read: No such file or directory", "is told");
    is_int(cells.cells, 2, "those before it are there");
    recorded_free(&cells);
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *at) {
    (void)about, (void)kind, (void)at;
    return remove(path);
}

int main(void) {
    if (!mkdtemp(home) || chdir(home) != 0) return 1;
    make_folders();
    test_variants();
    test_places();
    test_machines();
    test_refused();
    test_cells();
    ok(nftw(home, remove_entry, 4, FTW_DEPTH | FTW_PHYS) == 0, "the folder is removed");
    return done_testing();
}
