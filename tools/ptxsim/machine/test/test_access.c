/* Loads, stores and atomics at the edges of memory, in each space and width. Catches: an access
 * that is let through beyond the end or before the beginning, one inside that is refused, a lane
 * that is not looked at, a bound that is checked at the first place of an instruction and not at
 * the next, shared memory that is read before it was written, a misaligned address. */
#include "test/capture.h"
#include "test/tap.h"

enum { ROOM = 4096 }; /* bytes of each memory */

/* What an instruction does with `bytes` per lane at address q. */
typedef struct Form {
    unsigned bytes;
    const char *load, *store;
} Form;

static const Form forms[] = {
    {1, "u8 a, [q]", "u8 [q], t"},
    {2, "u16 h, [q]", "u16 [q], h"},
    {4, "u32 a, [q]", "u32 [q], t"},
    {8, "u64 w, [q]", "u64 [q], w"},
    {8, "v2.u32 {a, b}, [q]", "v2.u32 [q], {t, t}"},
    {16, "v4.u32 {a, b, c, d}, [q]", "v4.u32 [q], {t, t, t, t}"},
    {16, "v2.u64 {w, x}, [q]", "v2.u64 [q], {w, w}"},
    {4, NULL, "u32 a, [q], t"}, /* atomics */
    {8, NULL, "u64 w, [q], x"},
};
enum { FORMS = sizeof forms / sizeof *forms, ATOMICS = FORMS - 2 };

/* q is the place in the space that is `from` bytes behind its beginning, and `bytes` more for each
 * lane; it moves on by as much each of `times` times. Shared memory is filled before. */
static LaunchStatus run(const char *space, const char *instruction, unsigned bytes, int from,
                        uint32_t threads, int times, char *said, size_t size) {
    static uint8_t data[ROOM];
    char text[2000];
    const char *base = strcmp(space, "global") == 0 ? "p" : "room";
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.%s .align 16 .b8 room[%d];\n"
                      ".reg .b64 p, q, w, x, s; .reg .b32 t, a, b, c, d, n; .reg .b16 h; "
                      ".reg .pred more;\n"
                      "ld.param.u64 p, [data]; mov.u32 t, %%tid.x; mov.u64 w, 0; mov.u64 x, 1;\n"
                      "mov.u16 h, 3; mov.u32 n, 0;\n"
                      "mov.u64 s, room; FILL: st.%s.u32 [s], n; add.u64 s, s, 4; add.u32 n, n, 4; "
                      "setp.lt.u32 more, n, %d; @more bra FILL; bar.sync 0;\n"
                      "mul.wide.u32 q, t, %u; add.s64 q, q, %d; mov.u64 s, %s; add.u64 q, q, s;\n"
                      "mov.u32 n, 0;\nAGAIN: %s;\nadd.u64 q, q, %u; add.u32 n, n, 1; "
                      "setp.lt.u32 more, n, %d; @more bra AGAIN; ret;\n}\n",
             strcmp(space, "local") == 0 ? "local" : "shared", ROOM,
             strcmp(space, "local") == 0 ? "local" : "shared", ROOM, bytes, from, base, instruction,
             bytes, times);
    return capture_run(STDERR_FILENO, text, threads, data, sizeof data, said, size);
}

/* The instruction at both edges: `inside` the last that is right, then one access further. */
static void edges(const char *space, const char *instruction, unsigned bytes, uint32_t threads) {
    char said[1000];
    const int last = ROOM - (int)(threads * bytes), width = (int)bytes;
    const bool at_end = run(space, instruction, bytes, last, threads, 1, said, 1000) == LAUNCH_OK;
    const bool first = run(space, instruction, bytes, 0, threads, 1, said, 1000) == LAUNCH_OK;
    const bool moves =
        run(space, instruction, bytes, last - 2 * width, threads, 3, said, 1000) == LAUNCH_OK;
    bool good =
        ok(at_end && first && moves, "%s: %s, %u lanes: inside", space, instruction, threads);
    const bool beyond =
        run(space, instruction, bytes, last + width, threads, 1, said, 1000) == LAUNCH_FAULT &&
        (strstr(said, "out of bounds") || strstr(said, "outside"));
    const bool before =
        run(space, instruction, bytes, -width, threads, 1, said, 1000) == LAUNCH_FAULT;
    const bool later =
        run(space, instruction, bytes, last - 2 * width, threads, 4, said, 1000) == LAUNCH_FAULT;
    good &=
        ok(beyond && before && later, "and not one further (%d, %d, %d)", beyond, before, later);
    if (bytes == 1 || strcmp(space, "local") == 0) return;
    good &= ok(run(space, instruction, bytes, width / 2, threads, 1, said, 1000) == LAUNCH_FAULT &&
                   strstr(said, "aligned"),
               "nor half of one");
    if (!good) printf("# %s\n", said);
}

static void test_edges(void) {
    static const char *const spaces[] = {"global", "shared", "local"};
    static const uint32_t threads[] = {1, 7, 32};
    for (int s = 0; s < 3; s++)
        for (int f = 0; f < FORMS; f++)
            for (int t = 0; t < 3; t++) {
                char instruction[80];
                if (s == 2 && f >= ATOMICS) continue;
                snprintf(instruction, sizeof instruction,
                         f < ATOMICS ? "st.%s.%s" : "atom.%s.add.%s", spaces[s], forms[f].store);
                edges(spaces[s], instruction, forms[f].bytes, threads[t]);
                if (!forms[f].load) continue;
                snprintf(instruction, sizeof instruction, "ld.%s.%s", spaces[s], forms[f].load);
                edges(spaces[s], instruction, forms[f].bytes, threads[t]);
            }
}

/* A fault names what was asked for and how far it was from what there is. */
static void test_reports(void) {
    char said[1000];
    run("global", "ld.global.v4.u32 {a, b, c, d}, [q]", 16, ROOM - 16 * 32 + 16, 32, 1, said, 1000);
    ok(strstr(said, "load out of bounds: 16 bytes at 0x") &&
           strstr(said, ", which reach 16 bytes beyond the end of an allocation of 4096 bytes") &&
           strstr(said, "thread (31, 0, 0)"),
       "a load of 16 bytes beyond the end, by the last lane");
    run("global", "st.global.u16 [q], h", 2, -2, 32, 1, said, 1000);
    ok(strstr(said, "store out of bounds: 2 bytes at 0x") &&
           strstr(said, ", which begin 2 bytes before an allocation of 4096 bytes") &&
           strstr(said, "thread (0, 0, 0)"),
       "a store of 2 bytes before the beginning, by the first");
}

/* ---- What was never written ------------------------------------------------------------------ */

/* Each lane writes its bytes one by one, but lane `lane` leaves one out; then all read. */
static LaunchStatus read_after(const Form *form, uint32_t threads, int lane, int left_out,
                               char *said, size_t size) {
    static uint8_t data[ROOM];
    char text[4000];
    int n = snprintf(text, sizeof text,
                     PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.shared .align 16 .b8 "
                              "room[%d];\n.reg .b64 q, r, w, x; .reg .b32 t, a, b, c, d; "
                              ".reg .b16 h; .reg .pred all;\nmov.u32 t, %%tid.x; mov.u64 r, room; "
                              "mul.wide.u32 q, t, %u; add.u64 q, q, r; setp.ne.u32 all, t, %d;\n",
                     ROOM, form->bytes, lane);
    for (int i = 0; i < (int)form->bytes; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%sst.shared.u8 [q+%d], t;\n",
                      i == left_out ? "@all " : "", i);
    snprintf(text + n, sizeof text - (size_t)n, "ld.shared.%s; ret;\n}\n", form->load);
    return capture_run(STDERR_FILENO, text, threads, data, sizeof data, said, size);
}

static void test_never_written(void) {
    static const uint32_t threads[] = {1, 7, 32};
    char said[1000];
    for (int f = 0; f < ATOMICS; f++)
        for (int t = 0; t < 3; t++) {
            const Form *form = &forms[f];
            const int last = (int)threads[t] - 1, bytes = (int)form->bytes;
            bool faults = true;
            for (int i = 0; i < bytes; i++) {
                faults &= read_after(form, threads[t], i % 2 ? last : last / 2, i, said, 1000) ==
                              LAUNCH_FAULT &&
                          strstr(said, "read before it was written");
            }
            ok(faults, "ld.shared.%s, %u lanes: a byte that was not written", form->load,
               threads[t]);
            ok(read_after(form, threads[t], 99, 0, said, 1000) == LAUNCH_OK, "all written");
        }
}

/* Nobody may rely on what memory holds that is new: it is NaN in every type. */
static void test_fresh(void) {
    const uint8_t *memory = memory_allocate(300);
    int other = 0;
    for (int i = 0; memory && i < 300; i++) other += memory[i] != 0xff;
    ok(memory && other == 0, "new memory is full of NaN");
    memory_release((void *)(uintptr_t)memory);
}

/* An instruction at generic address q, in constant memory. */
static LaunchStatus at_constant(const char *instruction, char *said, size_t size) {
    static uint8_t data[ROOM];
    char text[1000];
    snprintf(text, sizeof text,
             PTX_HEAD ".const .align 4 .b8 table[64];\n.visible .entry k(.param .u64 data)\n{\n"
                      ".reg .b64 q; .reg .b32 a; mov.u64 q, table; cvta.const.u64 q, q;\n"
                      "mov.u32 a, 1; %s; ret;\n}\n",
             instruction);
    return capture_run(STDERR_FILENO, text, 1, data, sizeof data, said, size);
}

static void test_constants(void) {
    static const char *const writes[] = {"st.u32 [q+4], a", "st.global.u32 [q+60], a",
                                         "red.add.u32 [q], a"};
    char said[1000];
    for (int i = 0; i < 3; i++)
        ok(at_constant(writes[i], said, 1000) == LAUNCH_FAULT &&
               strstr(said, "of 4 bytes in constant memory, which may only be read"),
           "%s: a constant is written", writes[i]);
    ok(at_constant("ld.u32 a, [q+60]", said, 1000) == LAUNCH_OK, "a constant is read");
}

int main(void) {
    test_edges();
    test_constants();
    test_fresh();
    test_reports();
    test_never_written();
    return done_testing();
}
