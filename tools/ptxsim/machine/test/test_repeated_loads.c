/* Loads of a loop, whose requests have the pattern of the one before at another place: the values
 * that they give, and what they must refuse only when it is there. Catches: a lane that gets
 * another one's bytes, a request that is believed because the last one was good, or because an
 * earlier one of the same address register was. */
#include <stdint.h>

#include "test/run_ptx.h"
#include "test/tap.h"

enum { ROUNDS = 4, SHARED = 8192 };

/* Device memory: the lanes' offsets, then what each of them has loaded in each round, in the middle
 * the bytes that shared memory is filled with, and loads from global memory begin. */
static struct {
    uint32_t offset[LANES];
    uint8_t loaded[ROUNDS][LANES][16];
    uint8_t unused[SHARED - LANES * 4 - ROUNDS * LANES * 16];
    uint8_t bytes[SHARED];
} device;

/* The first `filled` bytes of shared memory are written; round i loads at offset + i * step. */
static const char text[] = PTX_HEAD
    ".visible .entry k(.param .u64 p)\n{\n.reg .b16 %%h;\n.reg .b32 %%r<9>;\n.reg .b64 %%d<9>;\n"
    ".reg .pred %%q;\n.shared .align 16 .b8 s[8192];\n"
    "ld.param.u64 %%d1, [p];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, s;\n"
    "mad.wide.u32 %%d2, %%r1, 4, %%d1;\nld.global.u32 %%r3, [%%d2];\n"
    "mad.lo.u32 %%r4, %%r1, 16, %%r2;\nmad.wide.u32 %%d3, %%r1, 16, %%d1;\nmov.u32 %%r5, 0;\n"
    "FILL:\nld.global.v2.u64 {%%d4, %%d5}, [%%d3+8192];\nst.shared.v2.u64 [%%r4], {%%d4, %%d5};\n"
    "add.u32 %%r4, %%r4, 512;\nadd.u64 %%d3, %%d3, 512;\nadd.u32 %%r5, %%r5, 512;\n"
    "setp.lt.u32 %%q, %%r5, %d;\n@%%q bra FILL;\nbar.sync 0;\n"
    "add.u32 %%r6, %%r2, %%r3;\ncvt.u64.u32 %%d6, %%r3;\nadd.u64 %%d6, %%d6, %%d1;\n"
    "mad.wide.u32 %%d7, %%r1, 16, %%d1;\nmov.u32 %%r5, 0;\n"
    "LOOP:\n%s\nadd.u32 %%r6, %%r6, %d;\nadd.u64 %%d6, %%d6, %d;\nadd.u64 %%d7, %%d7, 512;\n"
    "add.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%q, %%r5, 4;\n@%%q bra LOOP;\nret;\n}\n";

typedef struct Transfer {
    unsigned bytes;
    const char *shared, *global; /* the lane's bytes to its place in device.loaded */
} Transfer;

#define MOVE(type, registers)                                                                     \
    "ld.shared." type " " registers ", [%r6];\nst.global." type " [%d7+128], " registers ";",     \
        "ld.global." type " " registers ", [%d6+8192];\nst.global." type " [%d7+128], " registers \
        ";"
static const Transfer transfers[] = {
    {1, MOVE("u8", "%h")},
    {2, MOVE("u16", "%h")},
    {4, MOVE("u32", "%r7")},
    {8, MOVE("u64", "%d4")},
    {8, MOVE("v2.u32", "{%r7, %r8}")},
    {16, MOVE("v2.u64", "{%d4, %d5}")},
};

static PtxRun run_text(const char *body, int filled, int step) {
    char code[sizeof text + 512];
    snprintf(code, sizeof code, text, filled, body, step, step);
    return run_ptx(code, LANES, &device, sizeof device);
}

static LaunchStatus run_body(const char *body, int filled, int step) {
    return run_text(body, filled, step).status;
}

static LaunchStatus run(const Transfer *t, bool global, int filled, int step) {
    for (size_t i = 0; i < SHARED; i++) device.bytes[i] = (uint8_t)(i * 167 + (i >> 8) * 29 + 1);
    return run_body(global ? t->global : t->shared, filled, step);
}

static const char *const shapes[] = {"all the same", "the same in each half", "a row", "two rows",
                                     "scattered",    "but for one lane"};

static void set_offsets(unsigned shape, unsigned bytes) {
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t places[] = {
            3, l / 16 * 5, l, l % 16, (l * 13 + 7) % LANES * 3, l == 31 ? 40 : 2};
        device.offset[l] = places[shape] * bytes;
    }
}

static void test_values(const Transfer *t, unsigned shape, bool global) {
    const unsigned step = 5 * t->bytes;
    unsigned wrong = 0;
    set_offsets(shape, t->bytes);
    const LaunchStatus status = run(t, global, SHARED, (int)step);
    for (unsigned i = 0; i < ROUNDS; i++)
        for (unsigned l = 0; l < LANES; l++)
            wrong += memcmp(device.loaded[i][l], device.bytes + device.offset[l] + i * step,
                            t->bytes) != 0;
    ok(status == LAUNCH_OK && !wrong, "%s memory, %u bytes, %s: the values (%u are wrong)",
       global ? "global" : "shared", t->bytes, shapes[shape], wrong);
}

/* The highest lane's last byte of the last round is the last one written, or the one after it. */
static void test_unwritten(const Transfer *t, unsigned shape) {
    uint32_t highest = 0;
    set_offsets(shape, t->bytes);
    for (unsigned l = 0; l < LANES; l++)
        highest = device.offset[l] > highest ? device.offset[l] : highest;
    const uint32_t filled = 4096, room = filled - t->bytes - highest;
    const int step = (int)(room / 3 / t->bytes * t->bytes);
    const uint32_t rest = room - 3 * (uint32_t)step;
    for (unsigned l = 0; l < LANES; l++) device.offset[l] += rest;
    const bool good = run(t, false, (int)filled, step) == LAUNCH_OK;
    for (unsigned l = 0; l < LANES; l++) device.offset[l] += t->bytes;
    const bool refused = run(t, false, (int)filled, step) == LAUNCH_FAULT;
    ok(good && refused, "%u bytes, %s: what was never written is refused in the last round",
       t->bytes, shapes[shape]);
}

/* The same with the last byte of the memory. */
static void test_outside(const Transfer *t, unsigned shape, bool global) {
    uint32_t highest = 0;
    set_offsets(shape, t->bytes);
    for (unsigned l = 0; l < LANES; l++)
        highest = device.offset[l] > highest ? device.offset[l] : highest;
    const uint32_t room = SHARED - t->bytes - highest;
    const int step = (int)(room / 3 / t->bytes * t->bytes);
    for (unsigned l = 0; l < LANES; l++) device.offset[l] += room - 3 * (uint32_t)step;
    const bool good = run(t, global, SHARED, step) == LAUNCH_OK;
    for (unsigned l = 0; l < LANES; l++) device.offset[l] += t->bytes;
    const bool refused = run(t, global, SHARED, step) == LAUNCH_FAULT;
    ok(good && refused, "%s memory, %u bytes, %s: beyond the end is refused in the last round",
       global ? "global" : "shared", t->bytes, shapes[shape]);
}

/* ---- Several loads at the same addresses, but for their offsets ------------------------------ */

enum { SHARED_BEGIN = 1024, WORDS = SHARED / 4, ROUND_STEP = 20 };

static uint32_t word(uint32_t address) {
    uint32_t value;
    memcpy(&value, device.bytes + address - SHARED_BEGIN, sizeof value);
    return value;
}

/* Words are the addresses of others, three times as far apart. */
static void fill_addresses(void) {
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t address = SHARED_BEGIN + i % (WORDS / 3) * 12;
        memcpy(device.bytes + 4 * i, &address, sizeof address);
    }
    for (uint32_t l = 0; l < LANES; l++) device.offset[l] = (l * 13 + 7) % LANES * 12;
}

/* What `body` stores for the lanes in all rounds. It may write their address register, but leaves
 * it as it was. */
static void check_piece(const char *name, const char *body,
                        void (*expect)(uint32_t address, uint32_t lane, unsigned round,
                                       uint32_t value[4])) {
    unsigned wrong = 0;
    fill_addresses();
    const LaunchStatus status = run_body(body, SHARED, ROUND_STEP);
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t address = SHARED_BEGIN + device.offset[l];
        for (unsigned i = 0; i < ROUNDS; i++, address += ROUND_STEP) {
            uint32_t value[4];
            expect(address, l, i, value);
            wrong += memcmp(device.loaded[i][l], value, sizeof value) != 0;
        }
    }
    ok(status == LAUNCH_OK && !wrong, "%s: the values (%u are wrong)", name, wrong);
}

static void at_offsets(uint32_t address, uint32_t lane, unsigned round, uint32_t value[4]) {
    (void)round;
    (void)lane;
    for (uint32_t i = 0; i < 4; i++) value[i] = word(address + 4 * i);
}

static void further_apart(uint32_t address, uint32_t lane, unsigned round, uint32_t value[4]) {
    (void)round;
    value[0] = word(address);
    value[1] = word(address + 8 * lane + 4);
    value[2] = word(address + 8 * lane);
    value[3] = word(address + 8 * lane + 8);
}

static void address_loaded(uint32_t address, uint32_t lane, unsigned round, uint32_t value[4]) {
    (void)round;
    (void)lane;
    value[0] = word(address);
    value[1] = word(word(address + 4));
    value[2] = word(word(address + 4) + 4);
    value[3] = address;
}

static void apart_in_the_last(uint32_t address, uint32_t lane, unsigned round, uint32_t value[4]) {
    const uint32_t moved = address + (round == ROUNDS - 1 ? 8 * lane : 0);
    value[0] = word(moved);
    value[1] = word(moved + 4);
    value[2] = value[3] = 0;
}

#define STORE_FOUR "st.global.v4.u32 [%d7+128], {%r7, %r8, %r3, %r4};"
static void test_pieces(void) {
    check_piece("loads at offsets",
                "ld.shared.u32 %r7, [%r6];\nld.shared.u32 %r8, [%r6+4];\n"
                "ld.shared.u32 %r3, [%r6+8];\nld.shared.u32 %r4, [%r6+12];\n" STORE_FOUR,
                at_offsets);
    check_piece("the lanes move apart in between",
                "ld.shared.u32 %r7, [%r6];\nmad.lo.u32 %r6, %r1, 8, %r6;\n"
                "ld.shared.u32 %r8, [%r6+4];\nld.shared.u32 %r3, [%r6];\n"
                "ld.shared.u32 %r4, [%r6+8];\nmad.lo.u32 %r6, %r1, -8, %r6;\n" STORE_FOUR,
                further_apart);
    check_piece("a load overwrites its own address",
                "mov.u32 %r4, %r6;\nld.shared.u32 %r7, [%r6];\nld.shared.u32 %r6, [%r6+4];\n"
                "ld.shared.u32 %r8, [%r6];\nld.shared.u32 %r3, [%r6+4];\n"
                "mov.u32 %r6, %r4;\n" STORE_FOUR,
                address_loaded);
    check_piece("the lanes move apart before the last round",
                "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nld.shared.u32 %r7, [%r6];\n"
                "ld.shared.u32 %r8, [%r6+4];\n" STORE_FOUR
                "\nshr.u32 %r3, %r5, 1;\nmul.lo.u32 %r3, %r3, %r1;\n"
                "mad.lo.u32 %r6, %r3, 8, %r6;\n",
                apart_in_the_last);
}

/* The second of two loads, alone, is at what was never written, or beyond the end. */
static void test_second_refused(void) {
    static const char body[] = "ld.shared.u32 %r7, [%r6];\nld.shared.u32 %r8, [%r6+512];\n";
    static const struct {
        int filled, offset;
        const char *name;
    } cases[] = {{4096, 4096 - 512, "never written"}, {SHARED, SHARED - 512, "beyond the end"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LaunchStatus status[2];
        for (int more = 0; more < 2; more++) {
            fill_addresses();
            for (uint32_t l = 0; l < LANES; l++)
                device.offset[l] =
                    (uint32_t)(cases[i].offset - 4 * ((int)l + 1) - 3 * 64 + 4 * more);
            status[more] = run_body(body, cases[i].filled, 64);
        }
        ok(status[0] == LAUNCH_OK && status[1] == LAUNCH_FAULT, "of two loads the second is %s",
           cases[i].name);
    }
}

/* Lanes that go downwards from the first: in the last round the last of them is at the beginning of
 * the memory, or before it. */
static void test_downwards(void) {
    static const char load[] = "ld.global.u32 %r7, [%d6];\n";
    static const char store[] = "st.global.u32 [%d6], %r1;\n";
    for (int i = 0; i < 2; i++) {
        LaunchStatus status[2];
        for (int more = 0; more < 2; more++) {
            fill_addresses();
            for (uint32_t l = 0; l < LANES; l++) /* the offsets themselves are at the beginning */
                device.offset[l] = 4 * (LANES - 1 - l) + 3 * 32 - 4 * (uint32_t)more;
            status[more] = run_body(i ? store : load, SHARED, -32);
        }
        ok(status[0] == LAUNCH_OK && status[1] == LAUNCH_FAULT,
           "a %s of lanes downwards: the last lane before the beginning", i ? "store" : "load");
    }
}

/* A row from the middle of a sector costs a sector more, with the same register or another. */
static void test_second_cost(void) {
    PtxRun run[2];
    fill_addresses();
    for (uint32_t l = 0; l < LANES; l++) device.offset[l] = 4 * l;
    run[0] =
        run_text("ld.global.u32 %r7, [%d6+8192];\nld.global.u32 %r8, [%d6+8196];\n", SHARED, 32);
    run[1] = run_text("ld.global.u32 %r7, [%d6+8192];\nadd.u64 %d4, %d6, 4;\n"
                      "ld.global.u32 %r8, [%d4+8192];\n",
                      SHARED, 32);
    ok(run[0].units == run[1].units, "the second of two loads costs %d sectors more (%lld)", ROUNDS,
       (long long)(run[0].units - run[1].units) + ROUNDS);
}

/* Odd lanes load twice, at two places; the sectors of the others are not touched. */
static void test_idle_lanes(void) {
    static const char loop[] = PTX_HEAD
        ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t, n, v; .reg .b64 p; .reg .pred g, h;\n"
        "ld.param.u64 p, [data]; mov.u32 t, %tid.x; mad.wide.u32 p, t, 32, p; and.b32 n, t, 1;\n"
        "setp.eq.u32 g, n, 1; mov.u32 n, 0; AGAIN: @g ld.global.u32 v, [p]; add.u64 p, p, 1024;\n"
        "add.u32 n, n, 1; setp.lt.u32 h, n, 3; @h bra AGAIN; ret;\n}\n";
    const LaunchShape shape = {{1, 1, 1}, {LANES, 1, 1}, 0, false};
    char error[512] = "";
    void *memory = memory_allocate(3 * 1024);
    Module *module = module_load(loop, sizeof loop - 1, error, sizeof error);
    Kernel *k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    ok(k && launch_run(k, &shape, (void *[]){&memory}) == LAUNCH_OK, "loads of odd lanes %s",
       error);
    is_int(k ? (long long)k->totals.distinct_load_sectors : 0, 3 * 16, "touch their sectors");
    module_free(module);
    memory_release(memory);
}

/* Lane 1 is 126 bytes behind the others: in their bank only from the middle of a word on. The same
 * load is at the beginning of a word and then in its middle. */
static void test_residue(void) {
    static const char loop[] = PTX_HEAD
        ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t, s, n; .reg .b16 h; .reg .pred g;\n"
        ".shared .align 4 .b8 room[256];\nmov.u32 t, %tid.x; mov.u32 s, room; mov.u16 h, 0;\n"
        "mad.lo.u32 s, t, 8, s; st.shared.v4.u16 [s], {h, h, h, h}; bar.sync 0;\n"
        "setp.eq.u32 g, t, 1; mov.u32 s, room; @g add.u32 s, s, 126; mov.u32 n, 0;\n"
        "AGAIN: ld.shared.u16 h, [s]; add.u32 s, s, 2; add.u32 n, n, 1;\n"
        "setp.lt.u32 g, n, 4; @g bra AGAIN; ret;\n}\n";
    for (int race = 0; race < 2; race++) {
        uint64_t data = 0;
        setenv("SIM_RACE", race ? "1" : "0", 1);
        const PtxRun run = run_ptx(loop, LANES, &data, sizeof data);
        ok(run.status == LAUNCH_OK && run.units == 2 + 1 + 2 + 1 + 2,
           "a load costs what it costs at its place (%d)", (int)run.units);
    }
    unsetenv("SIM_RACE");
}

/* All lanes want one word, which moves from round to round: a load costs one wavefront, an atomic
 * one for each lane, compare-and-swap two. The store before it costs one. */
static void test_atomics(void) {
    static const struct {
        const char *what;
        unsigned units;
    } accesses[] = {{"ld.shared.u32 v, [s]", 1},
                    {"atom.shared.add.u32 v, [s], t", 32},
                    {"red.shared.max.u32 [s], t", 32},
                    {"atom.shared.cas.b32 v, [s], t, n", 64},
                    {"atom.max.u32 v, [p], t", 32}};
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        char loop[1000];
        snprintf(loop, sizeof loop,
                 PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 t, s, n, v; "
                          ".reg .b64 p; .reg .pred g;\n.shared .align 4 .b8 room[128];\n"
                          "mov.u32 t, %%tid.x; mov.u32 s, room; mad.lo.u32 v, t, 4, s;\n"
                          "st.shared.u32 [v], t; mov.u32 n, 0;\nAGAIN: cvt.u64.u32 p, s; "
                          "cvta.shared.u64 p, p;\n%s; add.u32 s, s, 4; add.u32 n, n, 1;\n"
                          "setp.lt.u32 g, n, 3; @g bra AGAIN; ret;\n}\n",
                 accesses[i].what);
        uint64_t data = 0;
        const PtxRun run = run_ptx(loop, LANES, &data, sizeof data);
        ok(run.status == LAUNCH_OK && run.units == 1 + 3 * accesses[i].units,
           "%s of one word: %u wavefronts (%u)", accesses[i].what, accesses[i].units,
           (unsigned)(run.units - 1) / 3);
    }
}

int main(void) {
    test_idle_lanes();
    test_residue();
    test_atomics();
    test_second_cost();
    test_pieces();
    test_second_refused();
    test_downwards();
    for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++)
        for (unsigned shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
            for (int global = 0; global < 2; global++) {
                test_values(&transfers[i], shape, global);
                test_outside(&transfers[i], shape, global);
            }
            test_unwritten(&transfers[i], shape);
        }
    return done_testing();
}
