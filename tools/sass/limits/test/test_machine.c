/* The files of machines. Catches: a number that is missing, impossible, given twice or without a
 * source and is not refused with its place; code that a machine cannot run. */
#include "limits/machine.h"
#include "test/tap.h"

#include <stdlib.h>
#include <unistd.h>

static const char whole[] =
    "# a card\n"
    "device Test Card | here\ncapability 86 | here\nsms 10 | here\nclock_mhz 1000 | here\n"
    "issue 4 | here\nfma 128 | here\nimad 64 | here\nhalf 64 | here\nhalf_in_fma 1 | here\n"
    "alu 64 | here\nmufu 16 | here\nshuffle 32 | here\nbarrier 16 | here\nmma 256 | here\n"
    "wgmma 0 | here\nshared_bytes 128 | here\nl2_bytes 640 | here\nhbm_gb_s 900 | here\n"
    "l2_mib 6 | here\nregisters 65536 | here\nshared_kib 100 | here\nthreads 1536 | here\n"
    "blocks 16 | here\n";

static char folder[] = "/tmp/machines.XXXXXX";

/* Reads `whole` with `from` replaced by `to`. */
static bool read_with(const char *from, const char *to, Machine *machine, Error *error) {
    char path[64];
    snprintf(path, sizeof path, "%s/card.txt", folder);
    FILE *out = fopen(path, "w");
    const char *at = strstr(whole, from);
    if (!out || !at) return false;
    fprintf(out, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
    fclose(out);
    memset(machine, 1, sizeof *machine);
    return machine_read(folder, "card", machine, error);
}

static void test_refused(const char *from, const char *to, const char *says) {
    Machine machine;
    Error error;
    const bool read = read_with(from, to, &machine, &error);
    if (!ok(!read && error.status == STATUS_FAIL && strstr(error.text, says), "refused: %s", says))
        printf("# %s\n", read ? "it was read" : error.text);
}

static void test_read(void) {
    Machine machine;
    Error error;
    char name[MACHINE_NAME_SIZE];
    ok(read_with("# a card", "", &machine, &error), "a whole file is read");
    is_text(machine.device, "Test Card", "the device");
    is_text(machine.file, "card", "the name of its file");
    is_near(machine.hbm_gb_s, 900, 0, "a number");
    is_near(machine.wgmma_tflops, 0, 0, "what may be absent is 0");
    ok(read_with("Test Card", "50 %%", &machine, &error), "another device");
    is_text(machine.device, "50 %%", "whose name is no format");
    ok(machine_for(folder, "sm_86", name), "it is the machine for sm_86");
    is_text(name, "card", "by its name");
    ok(!machine_for(folder, "sm_80", name), "there is none for sm_80");
    ok(!machine_read(folder, "other", &machine, &error), "a name that is none");
    is_text(error.text, "GPU must be one of: card; not 'other'", "names those that are");
    ok(!machine_read(folder, "../card", &machine, &error), "nor is a path");
    ok(!machine_read("/nowhere", "card", &machine, &error), "nor is there one in no folder");
    is_text(error.text, "GPU must be one of: ; not 'card'", "which has none");
}

static void put_text(const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    if (!out) return;
    fputs(text, out);
    fclose(out);
}

static void remove_text(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

/* Of four for the same code the last one is taken; what ends otherwise is none. */
static void test_several(void) {
    Machine machine;
    Error error;
    char name[MACHINE_NAME_SIZE];
    put_text("a.txt", whole);
    put_text("d.txt", whole);
    put_text("e%%.txt", whole);
    put_text("c.txt.old", whole);
    put_text("notes", "");
    ok(machine_for(folder, "sm_86", name), "there are four for sm_86");
    is_text(name, "e%%", "the last one is taken");
    ok(machine_read(folder, name, &machine, &error), "by this name");
    is_text(machine.file, "e%%", "it is read");
    ok(!machine_for(folder, "sm-86", name) && !*name, "none is for what is no architecture");
    ok(!machine_read(folder, "other", &machine, &error), "a name that is none");
    is_text(error.text, "GPU must be one of: a card d e%%; not 'other'", "names all");
    char many[32];
    for (int i = 0; i < 90; i++) {
        snprintf(many, sizeof many, "card_%02d.txt", i);
        put_text(many, "");
    }
    ok(!machine_read(folder, "other", &machine, &error), "a name among more than have room");
    ok(strstr(error.text, "a card card_00 card_01 ") != NULL, "names the first of them");
    is_int((int)strlen(error.text), (int)strlen("GPU must be one of: ; not 'other'") + 511,
           "as many as have room");
    for (int i = 0; i < 90; i++) {
        snprintf(many, sizeof many, "card_%02d.txt", i);
        remove_text(many);
    }
    remove_text("a.txt");
    remove_text("d.txt");
    remove_text("e%%.txt");
    remove_text("c.txt.old");
    remove_text("notes");
}

static void test_runs(void) {
    Machine machine;
    Error error;
    char reason[REFUSAL_SIZE];
    read_with("# a card", "", &machine, &error);
    ok(!machine_refuses(&machine, "sm_86", reason), "8.6 runs code for 8.6");
    ok(!machine_refuses(&machine, "sm_80", reason), "and for 8.0");
    ok(machine_refuses(&machine, "sm_89", reason), "not for 8.9");
    ok(machine_refuses(&machine, "sm_75", reason), "not for 7.5");
    machine.capability = 100;
    ok(machine_refuses(&machine, "sm_90a", reason), "code for sm_90a runs nowhere else");
    is_text(reason, "its code is for compute capability 9.0 alone, and Test Card has 10.0",
            "and says so");
    ok(machine_refuses(&machine, "sm-90", reason), "what is no architecture");
    is_text(reason, "its code is for compute capability 0.0, and Test Card has 10.0",
            "has no number");
    machine.capability = 90;
    ok(!machine_refuses(&machine, "sm_90a", reason), "but on 9.0");
    ok(machine_refuses(&machine, "sm_89", reason), "where code for 8.9 does not run");
    machine.capability = 89;
    ok(machine_refuses(&machine, "sm_129", reason), "a generation that it is not of");
    is_text(reason, "its code is for compute capability 12.9, and Test Card has 8.9",
            "is named with both digits");
}

/* What each number may be: the least and the most, and a bit beyond either. */
static void test_ranges(void) {
    static const struct {
        const char *key, *is;
        double least, most;
    } ranges[] = {
        {"capability", "86", 75, 129},
        {"sms", "10", 1, 1000},
        {"clock_mhz", "1000", 200, 5000},
        {"issue", "4", 1, 8},
        {"fma", "128", 16, 512},
        {"imad", "64", 16, 512},
        {"half", "64", 16, 512},
        {"half_in_fma", "1", 0, 1},
        {"alu", "64", 16, 512},
        {"mufu", "16", 4, 128},
        {"shuffle", "32", 8, 128},
        {"barrier", "16", 4, 128},
        {"mma", "256", 64, 16384},
        {"wgmma", "0", 0, 16384},
        {"shared_bytes", "128", 32, 1024},
        {"l2_bytes", "640", 64, 65536},
        {"hbm_gb_s", "900", 50, 20000},
        {"l2_mib", "6", 0.5, 1024},
        {"registers", "65536", 16384, 1 << 20},
        {"shared_kib", "100", 16, 1024},
        {"threads", "1536", 512, 4096},
        {"blocks", "16", 4, 128},
        {"mma_tflops", "", 1, 10000},
        {"wgmma_tflops", "", 1, 10000},
        {"lds_latency", "", 5, 500},
        {"ldmatrix_latency", "", 5, 500},
        {"shuffle_latency", "", 5, 500},
        {"mufu_latency", "", 5, 500},
        {"l2_latency", "", 20, 5000},
        {"hbm_latency", "", 20, 10000},
        {"copy_latency", "", 20, 5000},
        {"barrier_latency", "", 1, 500},
        {"barrier_warp", "", 0, 100},
        {"lds_128_cycles", "", 0, 32},
        {"lsu_cycles", "", 0.5, 32},
        {"lsu_queue", "", 1, 64},
        {"widen", "", 8, 512},
        {"code_kib", "", 1, 256},
        {"code_line", "", 1, 1000},
        {"block_start", "", 0, 1e5},
        {"tensor_mhz", "", 100, 10000},
        {"launch_us", "", 0, 1000},
        {"l2_port", "", 8, 1024},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (int end = 0; end < 4; end++) {
            const double number =
                (end % 2 ? ranges[i].most : ranges[i].least) + (end < 2   ? 0
                                                                : end % 2 ? 0.01
                                                                          : -0.01);
            char from[60], to[60], says[100];
            Machine machine;
            Error error;
            const bool optional = !*ranges[i].is;
            snprintf(from, sizeof from, "\n%s %s |", ranges[i].key, ranges[i].is);
            snprintf(to, sizeof to, "\n%s %.2f |%s", ranges[i].key, number,
                     optional ? " there\ndevice Test Card |" : "");
            snprintf(says, sizeof says, "%s must be a number from %g to %g; not '%.2f'",
                     ranges[i].key, ranges[i].least, ranges[i].most, number);
            const bool read =
                read_with(optional ? "\ndevice Test Card |" : from, to, &machine, &error);
            ok(end < 2 ? read : !read && strstr(error.text, says) != NULL, "%s %.2f is %s",
               ranges[i].key, number, end < 2 ? "possible" : "not");
        }
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    test_read();
    test_runs();
    test_several();
    test_ranges();
    test_refused("capability 86 | here\n", "", "card.txt: 'capability' is missing");
    test_refused("sms 10 | here\n", "", "card.txt: 'sms' is missing");
    test_refused("device Test Card | here\n", "", "'device' is missing");
    test_refused("sms 10 |", "sms 0 |", "card.txt:4: sms must be a number from 1 to 1000; not '0'");
    test_refused("clock_mhz 1000 |", "clock_mhz 1e9 |",
                 "clock_mhz must be a number from 200 to 5000");
    test_refused("wgmma 0 |", "wgmma none |", "card.txt:16: wgmma must be a number");
    test_refused("wgmma 0 |", "wgmma |", "wgmma must be a number from 0 to 16384; not ''");
    test_refused("fma 128 |", "fma nan |", "fma must be a number");
    test_refused("fma 128 |", "fma 128x |", "fma must be a number");
    test_refused("fma 128 | here", "fma 128 | ", "'fma' has no source");
    test_refused("fma 128 | here", "fma 128", "'fma' has no source");
    test_refused("fma 128 | here\n", "fma 128 | here\nfma 64 | here\n", "'fma' is given twice");
    test_refused("fma 128 |", "fmas 128 |", "there is no key 'fmas'");
    test_refused("fma 128 |", "fm 128 |", "there is no key 'fm'");
    char path[64];
    snprintf(path, sizeof path, "%s/card.txt", folder);
    unlink(path);
    rmdir(folder);
    return done_testing();
}
