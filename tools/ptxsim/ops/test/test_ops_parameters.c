/* ld.param of a kernel's parameters, by name and by address, in every type and width of register.
 * Catches: bytes of another place, a sign that is extended or is not, an element of a vector out of
 * order, a load of parameters or constants that is not aligned. */
#include "test/run_ptx.h"
#include "test/stub.h"
#include "test/tap.h"

enum { BYTES = 32 };
static uint8_t block[BYTES];

/* Runs `code`, which loads from the parameter `block`; what it stores at p, to out[0..4). */
static LaunchStatus run(const char *code, uint64_t out[4]) {
    char text[1500], error[512] = "";
    snprintf(text, sizeof text,
             PTX_HEAD ".const .align 16 .b8 table[%d];\n"
                      ".visible .entry k(.param .u64 data, .param .align 16 .b8 block[%d])\n{\n"
                      ".reg .b64 p, q; .reg .b16 h<4>; .reg .b32 w<4>; .reg .b64 d<4>;\n"
                      "ld.param.u64 p, [data];\n%s;\nret;\n}\n",
             BYTES, BYTES, code);
    void *memory = memory_allocate(4 * sizeof *out);
    void *arguments[] = {&memory, block};
    const LaunchShape shape = {{1, 1, 1}, {1, 1, 1}, 0, false};
    Module *module = module_load(text, strlen(text), error, sizeof error);
    Kernel *kernel = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    memset(memory, 0, 4 * sizeof *out);
    const LaunchStatus status = kernel ? launch_run(kernel, &shape, arguments) : LAUNCH_FAULT;
    memcpy(out, memory, 4 * sizeof *out);
    if (error[0]) printf("# %s\n", error);
    module_free(module);
    memory_release(memory);
    return status;
}

/* What a load of the type at `at` gives in a register of so many bytes. */
static uint64_t expected(const char *type, int at, int width) {
    const int bytes = atoi(type + 1) / 8;
    uint64_t value = 0;
    memcpy(&value, block + at, (size_t)bytes);
    const bool negative = type[0] == 's' && block[at + bytes - 1] >> 7;
    for (int i = bytes; negative && i < 8; i++) value |= 0xffull << 8 * i;
    return width < 8 ? value & ((1ull << 8 * width) - 1) : value;
}

/* A vector of `count` at `at`, in registers called `name` and a number. */
static void try_load(const char *type, int count, int at, char name, int width, bool by_name) {
    char code[600], vector[60] = "", list[60], store[200] = "";
    int wrong = 0;
    uint64_t out[4];
    for (int i = 0; i < count; i++) {
        sprintf(vector + strlen(vector), "%s%c%d", i ? ", " : "", name, i);
        sprintf(store + strlen(store), "; st.global.b%d [p+%d], %c%d", 8 * width, 8 * i, name, i);
    }
    snprintf(list, sizeof list, count > 1 ? "{%s}" : "%s", vector);
    snprintf(code, sizeof code, "%sld.param%s.%s %s, [%s+%d]%s",
             by_name ? "" : "mov.u64 q, block; ",
             count == 4   ? ".v4"
             : count == 2 ? ".v2"
                          : "",
             type, list, by_name ? "block" : "q", at, store);
    const LaunchStatus status = run(code, out);
    for (int i = 0; i < count; i++)
        wrong += out[i] != expected(type, at + i * atoi(type + 1) / 8, width);
    ok(status == LAUNCH_OK && !wrong, "%s", code);
}

/* Loads of `bytes` at every place of the parameter or the table: right if they are aligned; if not,
 * `words` are said of those that the kernel computes, and the others are not even decoded. */
static void try_places(const char *before, const char *load, const char *result, int bytes,
                       const char *words) {
    for (int at = 0; at + bytes <= BYTES; at++) {
        char code[200];
        uint64_t out[4];
        const bool aligned = at % bytes == 0;
        snprintf(code, sizeof code, "%s %s, [%s+%d]", load, result, before, at);
        const Capture capture = begin_capture(STDERR_FILENO);
        const LaunchStatus status = run(code, out);
        char *said = end_capture(&capture);
        ok(status == (aligned ? LAUNCH_OK : LAUNCH_FAULT) && (aligned || strstr(said, words)),
           "%s: %s", code, aligned ? "aligned" : "not aligned");
        free(said);
    }
}

static void test_alignment(void) {
    static const struct {
        const char *type, *result;
        int bytes;
    } loads[] = {{".u16", "h0", 2},
                 {".u32", "w0", 4},
                 {".u64", "d0", 8},
                 {".v2.u32", "{w0, w1}", 8},
                 {".v4.u32", "{w0, w1, w2, w3}", 16},
                 {".v2.u64", "{d0, d1}", 16}};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        char load[80];
        snprintf(load, sizeof load, "ld.param%s", loads[i].type);
        try_places("block", load, loads[i].result, loads[i].bytes, "");
        snprintf(load, sizeof load, "mov.u64 q, block; ld.param%s", loads[i].type);
        try_places("q", load, loads[i].result, loads[i].bytes, "misaligned load of a parameter: ");
        snprintf(load, sizeof load, "mov.u64 q, table; ld.const%s", loads[i].type);
        try_places("q", load, loads[i].result, loads[i].bytes, "misaligned load of a constant: ");
        snprintf(load, sizeof load, "ld.const%s", loads[i].type);
        try_places("table", load, loads[i].result, loads[i].bytes,
                   "misaligned load of a constant: ");
    }
}

int main(void) {
    static const char *const types[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16",
                                        "b32", "u32", "s32", "b64", "u64", "s64"};
    for (int i = 0; i < BYTES; i++) block[i] = (uint8_t)(37 * i + 11);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const int bytes = atoi(types[t] + 1) / 8;
        for (int width = 2; width <= 8; width *= 2) {
            const char name = width == 2 ? 'h' : width == 4 ? 'w' : 'd';
            if (width < bytes) continue;
            for (int by_name = 0; by_name < 2; by_name++) {
                for (int at = 0; at < BYTES; at += bytes < 4 ? 5 * bytes : bytes)
                    try_load(types[t], 1, at, name, width, by_name);
                try_load(types[t], 2, 16, name, width, by_name);
                if (bytes < 8) try_load(types[t], 4, 16, name, width, by_name);
            }
        }
    }
    test_alignment();
    return done_testing();
}
