/* Records that are cut, of corpus/report/sample.ptx: what is left, whole. Catches: a round too many
 * or too few, a step, time or flight that keeps its old number, what was cut and is still named.
 * WRITE=1 writes it anew. */
#include "machine/scheduler.h"
#include "report/cut.h"
#include "test/stub.h"
#include "test/allocator.h"
#include "test/run_ptx.h"

#define FOLDER "tools/ptxsim/test/corpus/report/"

static char *sample;

/* Five rounds of five rounds. In each outer one a copy that is waited for in the next, a bulk load
 * that all wait for, and a branch that lane 3 alone takes; at the end lane 3 writes beside itself
 * what nobody has waited for. */
static const char nested[] = PTX_HEAD
    ".file 1 \"/nowhere/nested.cu\"\n"
    ".visible .entry nested(.param .u64 in, .param .u64 out, .param .u32 rounds, .param .u32 e)\n"
    "{\n"
    ".reg .b64 p; .reg .b32 i, j, t, s, b, v, n; .reg .pred g, h, l;\n"
    ".shared .align 128 .b8 room[4096]; .shared .align 8 .b64 bar;\n"
    "ld.param.u64 p, [in]; ld.param.u32 n, [rounds]; mov.u32 t, %tid.x; mov.u32 b, bar;\n"
    "mov.u32 s, room; mad.lo.u32 s, t, 16, s; setp.eq.u32 l, t, 3; mov.u32 i, 0;\n"
    "@l mbarrier.init.shared.b64 [b], 1; fence.proxy.async;\n"
    "bar.sync 0;\n"
    "OUTER:\n"
    "cp.async.ca.shared.global [s], [p], 16;\n"
    "cp.async.commit_group;\n"
    "@!l bra WAIT;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [b], 64;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room+2048], [p], 64, [b];\n"
    "WAIT:\n"
    "and.b32 v, i, 1;\n"
    "TRY: mbarrier.try_wait.parity.shared.b64 g, [b], v;\n"
    "@!g bra TRY;\n"
    "mov.u32 j, 0;\n"
    "INNER:\n"
    "ld.shared.u32 v, [room+2048];\n"
    "add.u32 j, j, 1; setp.lt.u32 h, j, n;\n"
    "@h bra INNER;\n"
    "cp.async.wait_group 0;\n"
    "bar.sync 0;\n"
    "add.u32 i, i, 1; setp.lt.u32 h, i, n;\n"
    "@h bra OUTER;\n"
    "cp.async.ca.shared.global [s], [p], 16;\n"
    "cp.async.commit_group;\n"
    "ld.param.u32 v, [e]; setp.ne.and.u32 h, v, 0, l;\n"
    "@h ld.shared.u32 v, [s];\n"
    "ret;\n}\n";

/* The record of block 0 of a kernel, cut to `most` steps; from its warps on, to `out`. */
static void cut_to(const char *ptx, const char *name, uint64_t most, int rounds, int fault,
                   FILE *out) {
    static const uint32_t grid[] = {1, 1, 1}, threads[] = {64, 1, 1};
    const Settings settings = {
        .late = true, .race = fault == 2, .budget = 100000, .threads = 1, .multiprocessors = 1};
    char error[512];
    void *input = memory_allocate(1 << 16), *output = memory_allocate(1 << 16);
    void *arguments[] = {&input, &output, &rounds, &fault};
    Module *module = module_load(ptx, strlen(ptx), error, sizeof error);
    Kernel *kernel = module_kernel(module, name, error, sizeof error);
    memset(input, 0, 1 << 16);
    for (int i = 0; i < kernel->function->parameters; i++) {
        const Variable *v = kernel->function->parameter[i];
        memcpy((void *)(uintptr_t)v->address, arguments[i], (size_t)v->bytes);
    }
    Block *block = block_new(kernel, &settings, grid, threads, 0);
    Record *record = record_new(kernel, 0, grid, threads);
    record_begin(record, block);
    block->record = record;
    ok(block_run(block, 0) == !fault, "%s runs %d rounds", name, rounds);
    record_end(record, block);
    record_cut(record, most);
    char *text = NULL;
    size_t size = 0;
    FILE *json = open_memstream(&text, &size);
    record_json(record, json);
    fclose(json);
    const char *from = strstr(text, "\"warps\":"), *to = strstr(text, "\"fragments\":"),
               *faults = strstr(text, "\"fault\":"), *cut = strstr(text, "\"cut\":"),
               *file = strstr(text, "\"file\":");
    fprintf(out, "%s of %.*s, %d rounds, cut to %d: %.*s\n%.*s%.*s\n", name,
            (int)strcspn(file, ","), file, rounds, (int)most, (int)strcspn(cut, ",\n"), cut,
            (int)(to - from), from, (int)strcspn(faults, "\n"), faults);
    free(text);
    record_free(record);
    block_free(block);
    module_free(module);
    memory_release(input);
    memory_release(output);
}

/* Each of 400 loads has another distance between its lanes, and comes twice. */
static void test_footprints(void) {
    static const char many[] = PTX_HEAD
        ".visible .entry many(.param .u64 in, .param .u64 out, .param .u32 r, .param .u32 e)\n{\n"
        ".reg .b64 p, q; .reg .b32 i, j, t, v; .reg .pred g;\n"
        "ld.param.u64 p, [in]; mov.u32 t, %tid.x; mov.u32 j, 0;\n"
        "AGAIN: mov.u32 i, 0;\nLOOP: mul.lo.u32 v, t, i; cvt.u64.u32 q, v; add.u64 q, q, p;\n"
        "ld.global.u8 v, [q]; add.u32 i, i, 1; setp.lt.u32 g, i, 400;\n@g bra LOOP;\n"
        "add.u32 j, j, 1; setp.lt.u32 g, j, 2;\n@g bra AGAIN;\nret;\n}\n";
    char *text = NULL;
    size_t size = 0;
    int highest = 0;
    FILE *out = open_memstream(&text, &size);
    cut_to(many, "many", 1 << 20, 1, 0, out);
    fclose(out);
    const char *at = strstr(text, "\"requests\":[");
    at += at ? strlen("\"requests\":[") : 0;
    for (int field = 0, used; at && *at != ']'; field++) {
        int number = 0;
        sscanf(at, "%d%n", &number, &used);
        if (field % 3 == 1 && number > highest) highest = number;
        at += used;
        at += *at == ',';
    }
    is_int(highest, 399, "400 loads have 400 footprints");
    free(text);
}

/* Operands of wgmma have one layout if their descriptors are alike but for whole phases. */
static void test_layouts(void) {
    static const uint32_t one[] = {1, 1, 1};
    char error[512];
    Module *module = module_load(nested, strlen(nested), error, sizeof error);
    Record *record = record_new(module_kernel(module, "nested", error, sizeof error), 0, one, one);
    const WgmmaTile tile = {{2048, 128, 256, 0, 0}, 0, 8, false};
    WgmmaTile other[8];
    for (int i = 0; i < 8; i++) other[i] = tile;
    other[0].descriptor.address += 1024;
    other[1].descriptor.address += 512;
    other[2].descriptor.leading_offset = 256, other[2].descriptor.stride_offset = 128;
    other[3].descriptor.stride_offset = 384;
    other[4].descriptor.swizzle = 1;
    other[5].first = 8;
    other[6].rows = 16;
    other[7].transposed = true;
    is_int(record_operand(record, &tile), 0, "a layout");
    for (int i = 0; i < 8; i++)
        is_int(record_operand(record, &other[i]), i, i ? "another one" : "the same");
    for (int i = 0; i < 8; i++) is_int(record_operand(record, &other[i]), i, "each of them again");
    record_free(record);
    module_free(module);
}

/* A record and all that it is of gives back what it took; the first one keeps what all share. */
static void test_memory(void) {
#if ALLOCATOR_COUNTS
    FILE *nowhere = fopen("/dev/null", "w");
    cut_to(nested, "nested", 100, 5, 2, nowhere);
    const long before = atomic_load(&held);
    refuse(-1);
    cut_to(nested, "nested", 100, 5, 2, nowhere);
    cut_to(sample, "copies", 300, 4, 3, nowhere);
    is_int(atomic_load(&held) - before, 0, "all memory is given back");
    fclose(nowhere);
#endif
}

int main(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    sample = file_text(fopen(FOLDER "sample.ptx", "r"));
    cut_to(sample, "copies", 348, 4, 0, out);
    cut_to(sample, "copies", 347, 4, 0, out);
    cut_to(sample, "copies", 1, 6, 3, out);
    cut_to(nested, "nested", 1 << 20, 1, 0, out);
    cut_to(nested, "nested", 1 << 20, 5, 0, out);
    cut_to(nested, "nested", 300, 5, 0, out);
    cut_to(nested, "nested", 1, 5, 2, out);
    fclose(out);
    is_file(text, FOLDER "cut.txt");
    test_footprints();
    test_layouts();
    test_memory();
    free(text);
    free(sample);
    return done_testing();
}
