/* What runs of corpus/report/sample.ptx leave behind, whole: the report, the annotated source as
 * text and as a page, the sums, the records of blocks, and what is said of faults. WRITE=1 writes
 * the expected texts there anew. Catches: a line that is left out or comes twice, a number that
 * stands for another one, a step, request or flight that is recorded elsewhere or not at all. */
#include <cuda.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "device/counters.h"
#include "test/stub.h"

#define FOLDER "tools/ptxsim/test/corpus/report/"

enum { ROWS = 160, WIDTH = 64 };
static const char copies, tiles;
static char record_path[] = "/tmp/test_runs.XXXXXX";
static char *ptx, *absolute; /* the same, with a whole path */
static void *input, *output;

/* A program part of its own: its kernels have counters of their own, and are recorded anew. */
static void **begin_program(Fatbin *fatbin, const char *text) {
    void **handle = register_ptx(fatbin, text);
    register_kernel(handle, &copies, "copies");
    register_kernel(handle, &tiles, "tiles");
    return handle;
}

static cudaError_t run_copies(unsigned blocks, int rounds, int fault) {
    void *arguments[] = {&input, &output, &rounds, &fault};
    return cudaLaunchKernel(&copies, (dim3){blocks, 1, 1}, (dim3){64, 1, 1}, arguments, 0, NULL);
}

typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                           const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                           const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static CUtensorMap map_of(void *base, cuuint32_t rows) {
    CUtensorMap map;
    Encode encode;
    const cuuint64_t sizes[] = {WIDTH, ROWS}, strides[] = {2 * WIDTH};
    const cuuint32_t box[] = {rows == 64 ? 64 : 32, rows}, steps[] = {1, 1};
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, 0, NULL);
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, base, sizes, strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE,
               rows == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        exit(1);
    return map;
}

static cudaError_t run_tiles(void) {
    CUtensorMap in = map_of(input, 64), out = map_of(output, 8);
    void *sums = (char *)output + 24576, *arguments[] = {&in, &out, &sums};
    return cudaLaunchKernel(&tiles, (dim3){1, 2, 1}, (dim3){160, 1, 1}, arguments, 16384 + 1024,
                            NULL);
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void annotated_text(FILE *out) { counters_annotate(out, NULL); }
static void annotated_page(FILE *out) { counters_annotate(out, "a < b"); }
static void counted_lines(FILE *out) { counters_lines(out, "a \"b\""); }

static void prints(const char *path, void (*print)(FILE *out)) {
    FILE *out = tmpfile();
    print(out);
    rewind(out);
    char *text = file_text(out);
    is_file(text, path);
    free(text);
}

static void sums(FILE *out) {
    Counters c;
    const MemoryCounters *const memory[] = {&c.global_load, &c.global_store, &c.shared_load,
                                            &c.shared_store};
    if (!counters_read(&c)) return;
    fprintf(out, "%llu %llu %llu %llu %llu\n", (unsigned long long)c.warp_instructions,
            (unsigned long long)c.lane_instructions, (unsigned long long)c.mma_instructions,
            (unsigned long long)c.barriers, (unsigned long long)c.divergent_branches);
    for (int i = 0; i < 4; i++)
        fprintf(out, "%llu %llu %llu\n", (unsigned long long)memory[i]->requests,
                (unsigned long long)memory[i]->units, (unsigned long long)memory[i]->ideal_units);
}

static void test_reports(void) {
    static Fatbin fatbin;
    void **program = begin_program(&fatbin, absolute);
    prints("/dev/null", counters_report);
    prints("/dev/null", annotated_page);
    prints("/dev/null", counted_lines);
    prints("/dev/null", sums);
    is_int(run_copies(3, 4, 0), cudaSuccess, "three blocks copy");
    is_int(run_tiles(), cudaSuccess, "two blocks multiply tiles");
    is_int(run_copies(3, 2, 0), cudaSuccess, "and three copy once more");
    __cudaUnregisterFatBinary(program); /* the counters stay */
    prints(FOLDER "report.txt", counters_report);
    prints(FOLDER "annotated.txt", annotated_text);
    prints(FOLDER "page.txt", annotated_page);
    prints(FOLDER "lines.txt", counted_lines);
    prints(FOLDER "sums.txt", sums);
    counters_reset();
    prints("/dev/null", counters_report);
}

/* A block of 500,000 steps is recorded whole, one of two more is cut. */
static void test_long(void) {
    static const char text[] =
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry copies(.param .u32 most)\n{\n.reg .b32 i, n; .reg .pred g;\n"
        "ld.param.u32 n, [most]; mov.u32 i, 0;\n"
        "LOOP: add.u32 i, i, 1; setp.lt.u32 g, i, n;\n@g bra LOOP;\nmov.u32 i, 0;\nret;\n}\n";
    static const struct {
        uint32_t rounds;
        const char *cut;
    } runs[] = {{166665, "\"cut\":0,"}, {166666, "\"cut\":499989,"}};
    setenv("SIM_ASYNC", "late", 1);
    setenv("SIM_BLOCK", "", 1);
    setenv("SIM_RACE", "0", 1);
    setenv("SIM_RECORD", record_path, 1);
    for (int i = 0; i < 2; i++) {
        static Fatbin fatbin;
        uint32_t rounds = runs[i].rounds;
        void *arguments[] = {&rounds}, **program = register_ptx(&fatbin, text);
        register_kernel(program, &copies, "copies");
        cudaLaunchKernel(&copies, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL);
        char *recorded = file_text(fopen(record_path, "r")), *last = NULL;
        for (char *at = recorded; (at = strstr(at, "\"cut\":")); at++) last = at;
        ok(last && strncmp(last, runs[i].cut, strlen(runs[i].cut)) == 0, "%u rounds, then %s",
           rounds, runs[i].cut);
        free(recorded);
        __cudaUnregisterFatBinary(program);
        counters_reset();
    }
}

/* A file beside the working directory is not below it. */
static void test_paths(void) {
    static Fatbin fatbin;
    static char text[1000];
    char folder[400];
    const char *whole[2];
    if (!getcwd(folder, sizeof folder)) return;
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"%ser/some.cu\"\n"
             ".visible .entry copies()\n{\n.loc 1 3 1\nret;\n}\n",
             folder);
    void **program = register_ptx(&fatbin, text);
    register_kernel(program, &copies, "copies");
    setenv("SIM_RECORD", record_path, 1);
    is_int(cudaLaunchKernel(&copies, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL), cudaSuccess,
           "a kernel of another folder");
    FILE *out = tmpfile();
    annotated_text(out);
    rewind(out);
    char *annotated = file_text(out), *recorded = file_text(fopen(record_path, "r"));
    strcat(folder, "er/some.cu");
    whole[0] = strstr(annotated, folder), whole[1] = strstr(recorded, folder);
    ok(whole[0] && whole[1], "its file is called by its whole path");
    free(annotated);
    free(recorded);
    __cudaUnregisterFatBinary(program);
    counters_reset();
}

/* A fault in a function of one line, which belongs to its call; a source whose last line does not
 * end. */
static void test_source(void) {
    static Fatbin fatbin;
    static char text[1000];
    char path[] = "/tmp/test_runs_source.XXXXXX", said_by[100];
    const int file = mkstemp(path);
    if (file < 0 || write(file, "one\n\n  two", 10) != 10) exit(1);
    close(file);
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"%s\"\n"
             ".visible .entry copies()\n{\n.reg .b64 p; .reg .b32 v;\n.loc 1 3 1\nmov.u64 p, 0;\n"
             ".loc 1 1 1, function_name $L0, inlined_at 1 3 1\nld.global.u32 v, [p];\nret;\n}\n",
             path);
    void **program = register_ptx(&fatbin, text);
    register_kernel(program, &copies, "copies");
    setenv("SIM_RECORD", record_path, 1);
    setenv("SIM_BLOCK", "", 1);
    const Capture capture = begin_capture(STDERR_FILENO);
    cudaLaunchKernel(&copies, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL);
    char *said = end_capture(&capture), *recorded = file_text(fopen(record_path, "r"));
    snprintf(said_by, sizeof said_by, "  at %s:3, which calls %s:1\n      two\n", path,
             strrchr(path, '/') + 1);
    if (!ok(strstr(said, said_by) != NULL, "a fault names the call and the function"))
        printf("# %s\n", said);
    ok(strstr(recorded, "\"source\":[\"one\",\"\",\"  two\"]") != NULL, "the source ends");
    is_int(cudaGetLastError(), cudaErrorLaunchFailure, "the error is kept");
    cudaDeviceReset();
    free(said);
    free(recorded);
    __cudaUnregisterFatBinary(program);
    counters_reset();
    unlink(path);
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Addresses of the host are others in each run; those in shared memory are short. */
static void hide_addresses(char *text) {
    for (char *at = text; (at = strstr(at, "0x")); at += 2) {
        const size_t digits = strspn(at + 2, "0123456789abcdef");
        if (digits > 8) memset(at + 2, '-', digits);
    }
}

/* One program part a run: each kernel is recorded once. What it says is added to `said`. */
static void record(const char *settings, cudaError_t expected, int fault, FILE *said) {
    static Fatbin fatbin;
    char early[8] = "late", race[8] = "0", block[8] = "";
    sscanf(settings, "%7s %7s %7s", early, race, block);
    setenv("SIM_ASYNC", early, 1);
    setenv("SIM_RACE", race, 1);
    setenv("SIM_BLOCK", block, 1);
    void **program = begin_program(&fatbin, fault > 0 ? ptx : absolute);
    const Capture capture = begin_capture(STDERR_FILENO);
    const cudaError_t error = fault < 0 ? run_tiles() : run_copies(3, fault ? 1 : 3, fault);
    char *text = end_capture(&capture);
    is_int(error, expected, settings);
    is_int(cudaGetLastError(), expected, "the error is kept");
    cudaDeviceReset();
    hide_addresses(text);
    fputs(text, said);
    free(text);
    __cudaUnregisterFatBinary(program);
}

/* The records, each line once: "=" stands for one that has been there before. */
static void print_records(FILE *out) {
    enum { MOST = 2000 };
    static char *seen[MOST];
    FILE *file = fopen(record_path, "r");
    size_t size = 0;
    int lines = 0;
    while (file && lines < MOST && getline(&seen[lines], &size, file) >= 0) {
        int same = 0;
        hide_addresses(seen[lines]);
        while (strcmp(seen[same], seen[lines]) != 0) same++;
        fputs(same < lines ? "=\n" : seen[lines], out);
        lines++;
        size = 0;
    }
    for (int i = 0; i < MOST; i++) free(seen[i]);
    if (file) fclose(file);
}

static void test_records(void) {
    char *faults = NULL;
    size_t size = 0;
    FILE *said = open_memstream(&faults, &size);
    setenv("SIM_RECORD", record_path, 1);
    record("late 0", cudaSuccess, 0, said);
    record("late 0", cudaSuccess, -1, said);
    record("early 1 2", cudaSuccess, 0, said);
    record("early 0 none", cudaSuccess, -1, said);
    record("late 0 3", cudaSuccess, 0, said);
    record("late 0 -1", cudaSuccess, 0, said);
    record("late 0 1x", cudaSuccess, 0, said);
    record("late 0", cudaErrorLaunchFailure, 1, said);
    record("late 1", cudaErrorLaunchFailure, 2, said);
    record("late 0 0", cudaErrorLaunchFailure, 3, said);
    record("late 0 none", cudaErrorLaunchFailure, 3, said);
    prints(FOLDER "records.txt", print_records);
    setenv("SIM_RECORD", "/nowhere/record", 1);
    record("late 0 none", cudaSuccess, 0, said);
    setenv("SIM_RECORD", "/dev/full", 1);
    record("late 0 none", cudaSuccess, 0, said);
    fclose(said);
    is_file(faults, FOLDER "said.txt");
    free(faults);
}

/* A disk that is full in the middle of a record. */
static void test_full_disk(void) {
    struct rlimit most;
    struct stat left;
    char *said = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&said, &size);
    if (!out || getrlimit(RLIMIT_FSIZE, &most) != 0) return;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, most.rlim_max});
    setenv("SIM_RECORD", record_path, 1);
    record("late 0", cudaSuccess, 0, out);
    setrlimit(RLIMIT_FSIZE, &most);
    fclose(out);
    ok(strstr(said, "the disk is full") && stat(record_path, &left) == 0 && left.st_size == 0,
       "a part of a record is not left for the whole");
    free(said);
}

static void make_absolute(void) {
    static const char mark[] = ".file\t1 \"";
    const size_t room = strlen(ptx) + 4096;
    char folder[4000];
    const char *at = strstr(ptx, mark);
    if (!at || !getcwd(folder, sizeof folder) || !(absolute = malloc(room))) exit(1);
    at += strlen(mark);
    snprintf(absolute, room, "%.*s%s/%s", (int)(at - ptx), ptx, folder, at);
}

int main(void) {
    setenv("SIM_THREADS", "1", 1);
    ptx = file_text(fopen(FOLDER "sample.ptx", "r"));
    const int file = mkstemp(record_path);
    if (file < 0 || !*ptx) return 1;
    close(file);
    make_absolute();
    cudaMalloc(&input, 1 << 20); /* so much that what is beyond it is far from all else */
    cudaMalloc(&output, 1 << 15);
    cudaMemset(input, 0, 1 << 20);
    cudaMemset(output, 0, 1 << 15);
    test_reports();
    test_records();
    test_full_disk();
    test_paths();
    test_source();
    test_long();
    cudaFree(input);
    cudaFree(output);
    unlink(record_path);
    free(ptx);
    free(absolute);
    return done_testing();
}
