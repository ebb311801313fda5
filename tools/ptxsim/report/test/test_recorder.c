/* Which block of a launch is recorded, and what is in the file when. Catches: another block than
 * the one asked for, a kernel that is recorded twice or forgotten, a record that is not given back,
 * a file that is written for nothing. */
#include "machine/scheduler.h"
#include "report/record.h"
#include "report/recorder.h"
#include "test/stub.h"
#include "test/allocator.h"
#include "test/run_ptx.h"

static const char text[] = PTX_HEAD ".visible .entry first()\n{\nret;\n}\n"
                                    ".visible .entry second()\n{\nret;\n}\n";
static const uint32_t shape[] = {1, 1, 1};
static const Settings settings = {.budget = 1000, .threads = 1, .multiprocessors = 1};
static const uint64_t no_block = UINT64_MAX;
static char path[] = "/tmp/test_recorder.XXXXXX";
static Module *module;

static Kernel *kernel_of(const char *name) {
    char error[400];
    return module_kernel(module, name, error, sizeof error);
}

/* The record of a kernel that SIM_RECORD and SIM_BLOCK ask for, of so many blocks. */
static Record *begin(const Kernel *kernel, const char *block, uint64_t blocks) {
    if (block)
        setenv("SIM_BLOCK", block, 1);
    else
        unsetenv("SIM_BLOCK");
    return recorder_begin(kernel, shape, shape, blocks);
}

/* How often a text is in the file. */
static int found(const char *part) {
    int times = 0;
    char *all = file_text(fopen(path, "r"));
    for (const char *at = all; (at = strstr(at, part)); at++) times++;
    free(all);
    return times;
}

static void test_blocks(void) {
    static const struct {
        const char *wanted;
        uint64_t blocks, index;
        bool refused;
    } cases[] = {{NULL, 12, 5, false},
                 {"", 12, 5, false},
                 {NULL, 1, 0, false},
                 {NULL, 2, 0, false},
                 {NULL, 3, 1, false},
                 {"0", 12, 0, false},
                 {"8", 12, 8, false},
                 {"9", 12, 9, false},
                 {"10", 12, 10, false},
                 {"11", 12, 11, false},
                 {"12", 12, 0, true},
                 {"1 ", 12, 0, true},
                 {"-1", 12, 0, true},
                 {"nine", 12, 0, true},
                 {"none", 12, no_block, false},
                 {"-18446744073709551611", 12, 0, true},
                 {" -18446744073709551611", 12, 0, true},
                 {"18446744073709551621", 12, 0, true},
                 {" 5", 12, 0, true},
                 {"none", 1, no_block, false},
                 {"none ", 12, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[200] = "";
        const Capture capture = begin_capture(STDERR_FILENO);
        Record *record = begin(kernel_of("first"), cases[i].wanted, cases[i].blocks);
        char *said = end_capture(&capture);
        if (cases[i].refused)
            snprintf(expected, sizeof expected,
                     "ptxsim: SIM_BLOCK=%s: kernel first has blocks 0 to 11\n", cases[i].wanted);
        is_text(said, expected, cases[i].wanted ? cases[i].wanted : "no block is asked for");
        ok(!record == cases[i].refused && (!record || record->index == cases[i].index),
           "block %lld", (long long)cases[i].index);
        record_free(record);
        free(said);
    }
    unsetenv("SIM_RECORD");
    ok(!begin(kernel_of("first"), "0", 12), "no record is wanted");
    setenv("SIM_RECORD", "", 1);
    ok(!begin(kernel_of("first"), "0", 12), "nor in a file without a name");
    setenv("SIM_RECORD", path, 1);
}

static void test_faults(void) {
    Record *record = begin(kernel_of("first"), "3", 12);
    ok(recorder_choose_fault(record, 7) && record->index == 7, "a fault in another block");
    record->fault.happened = true;
    ok(!recorder_choose_fault(record, 8) && record->index == 7, "one that was recorded");
    record_free(record);
    record = begin(kernel_of("first"), "none", 12);
    ok(!recorder_choose_fault(record, 7) && record->index == no_block, "none is to be recorded");
    record_free(record);
}

static void run(Record *record, const Kernel *kernel, uint64_t index) {
    Block *block = block_new(kernel, &settings, shape, shape, 0);
    ok(recorder_run(record, block, index) && !block->record, "block %d runs", (int)index);
    block_free(block);
}

static void test_file(void) {
    Kernel *first = kernel_of("first"), *second = kernel_of("second");
    recorder_end(NULL);
    recorder_end(begin(first, "3", 12));
    is_int(found("{"), 0, "a launch that ended before its block leaves nothing");
    Record *record = begin(first, "3", 12);
    run(NULL, first, 3);
    run(record, first, 2);
    ok(!record->warp, "this is not the block");
    run(record, first, 3);
    ok(record->warp && record->warp->steps == 1, "this one is");
    recorder_end(record);
    ok(found("\"kernel\":\"first\"") == 1 && found("\"index\":3,") == 1, "it is in the file");
    ok(found("{\"format\":1,\"launches\":[\n{") == 1 && found("}\n]}\n") == 1, "alone");
    ok(!begin(first, "3", 12), "the next launch of its kernel is not");
    recorder_forget(second);
    record = begin(second, "none", 12);
    run(record, second, 3);
    recorder_end(record);
    ok(found("\"kernel\":\"first\"") == 1 && found("}},\n{") + found("null},\n{\"kernel\"") == 1 &&
           found("\"kernel\":\"second\"") == 1,
       "another kernel stands behind it, whose block is none");
    recorder_forget(second);
    ok(!begin(first, "3", 12), "what is forgotten is another one's");
    recorder_forget(first);
    record = begin(first, "4", 12);
    ok(record != NULL, "a kernel that is gone may come again");
    run(record, first, 4);
    recorder_end(record);
    ok(found("\"kernel\":\"first\"") == 2 && found("\"kernel\":\"second\"") == 1,
       "and what was recorded of it stays");
    recorder_forget(first);
}

/* Of a kernel that is gone its text is kept, and nothing else. */
static void test_memory(void) {
#if ALLOCATOR_COUNTS
    for (int i = 0; i < 2; i++) {
        const long before = atomic_load(&held);
        Record *record = begin(kernel_of("first"), "0", 12);
        run(record, kernel_of("first"), 0);
        recorder_end(record);
        recorder_forget(kernel_of("first"));
        is_int(atomic_load(&held) - before, 1, "one text is kept");
    }
    const long before = atomic_load(&held);
    refuse(-1);
    recorder_end(begin(kernel_of("first"), "0", 12));
    is_int(atomic_load(&held) - before, 0, "and of a launch without its block nothing");
#endif
}

int main(void) {
    char error[400];
    const int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    setenv("SIM_RECORD", path, 1);
    module = module_load(text, strlen(text), error, sizeof error);
    test_blocks();
    test_faults();
    test_file();
    test_memory();
    module_free(module);
    unlink(path);
    return done_testing();
}
