/* The bound that a model sets, worked out by hand, and why there is none. Catches: a unit of one
 * multiprocessor taken for one of the GPU, blocks in another order, a last round that is not seen,
 * a head or a kernel left out, bytes that L2 keeps counted once too often, a model of other PTX,
 * code or lengths. */
#include "limits/model.h"
#include "limits/test/made_counts.h"

#include <stdlib.h>

static Machine machine = {.device = "Card",
                          .capability = 80,
                          .sms = 10,
                          .clock_mhz = 1000,
                          .issue = 4,
                          .fma = 128,
                          .imad = 64,
                          .half = 128,
                          .alu = 64,
                          .mufu = 16,
                          .shuffle = 32,
                          .barrier = 16,
                          .mma = 1024,
                          .shared_bytes = 128,
                          .l2_bytes = 1000,
                          .hbm_gb_s = 1000,
                          .registers = 65536,
                          .shared_kib = 100,
                          .threads = 64,
                          .blocks = 32};

/* ---- What is built of counts */

static char folder[] = "/tmp/model.XXXXXX";

static void growth_is(Growth growth, double constant, double linear, double square,
                      const char *what) {
    is_near(growth.constant, constant, 1e-6, what);
    is_near(growth.linear, linear, 1e-9, "for each row");
    is_near(growth.square, square, 1e-12, "for each row and key");
}

static bool build(const char *code, Module *module, Model *model, Error *error) {
    *module = counted_module(code, counted_ptx);
    return model_build(module, &machine, folder, model, error);
}

static Demand demand_of(void) {
    Module module;
    Model model;
    Error error;
    const bool built = build(counted_sass, &module, &model, &error);
    ok(built && model.demands == 1, "a model of one kernel");
    if (!built) printf("# %s\n", error.text);
    module_close(&module);
    return model.demand[0];
}

/* Each of two warps for 64 rows: two instructions, and three for 32 keys. */
static void test_demand(void) {
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    const Demand demand = demand_of();
    growth_is(demand.of[UNIT_ISSUE], 0, 2 * 2 / 64.0 / 4, 2 * 3 / 64.0 / 32 / 4, "issue slots");
    growth_is(demand.of[UNIT_FMA], 0, 0, 2 / 64.0 / 32 * 32 / 128, "FFMA");
    growth_is(demand.of[UNIT_SHARED], 0, 2 / 64.0, 2 / 64.0 / 32, "loads");
    growth_is(demand.of[UNIT_HBM], 0, 100 / 2.0 / 1000, 0, "bytes of two heads");
    growth_is(demand.of[UNIT_ALU], 0, 0, 0, "nothing of the ALU");
    is_near(demand.rows, 64, 0, "rows of a tile");
    is_near(demand.fixed_blocks, 0, 0, "more blocks for more rows");
    put_counts(folder, BLOCKS_PAIRS, 100, true, 8, 8);
    const Demand pairs = demand_of();
    growth_is(pairs.of[UNIT_HBM], 0, 0, 100 / 2.0 / 1000, "bytes of pairs");
    is_near(pairs.rows, 1, 0, "blocks that are no tiles");
    is_near(pairs.fixed_blocks, 0, 0, "and are not as many always");
    put_counts(folder, BLOCKS_FIXED, 100, false, 8, 8);
    const Demand fixed = demand_of();
    is_near(fixed.rows, 1, 0, "nor are blocks that stay");
    is_near(fixed.fixed_blocks, 10, 0, "of which there are as many always");
}

/* A block executes twice 2 + 3 R instructions for R rounds, on average R = 8. */
static void test_order(void) {
    static const struct {
        double first, second;
        bool last_first, heads_first;
    } orders[] = {{8, 8, false, true},     {8.01, 8.01, true, true}, {7.99, 9, false, false},
                  {9, 7, true, false},     {66, 66.65, true, true},  {66, 66.68, true, false},
                  {66, 65.35, true, true}, {66, 65.32, true, false}, {2, 2, false, true},
                  {0.1, 0.1, false, true}, {2, 12, false, false}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        put_counts(folder, BLOCKS_FULL, 100, false, orders[i].first, orders[i].second);
        const Demand demand = demand_of();
        ok(demand.last_first == orders[i].last_first && demand.heads_first == orders[i].heads_first,
           "%g rounds, then %g: late rows first %d, heads first %d", orders[i].first,
           orders[i].second, orders[i].last_first, orders[i].heads_first);
    }
}

/* A block takes 64 threads, 2,048 registers and a KiB, and one more from 8.0 on. */
static void test_residents(void) {
    static const struct {
        double capability, threads, registers, shared_kib, blocks;
        int resident;
    } rooms[] = {{80, 160, 65536, 100, 32, 2}, {80, 2048, 6144, 100, 32, 3},
                 {80, 2048, 65536, 9, 32, 4},  {86, 2048, 65536, 9, 32, 4},
                 {75, 2048, 65536, 9, 32, 9},  {79, 2048, 65536, 9, 32, 9},
                 {80, 2048, 65536, 100, 5, 5}};
    const Machine before = machine;
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        Module module = counted_module(counted_sass, counted_ptx);
        Model model;
        Error error;
        machine.capability = rooms[i].capability;
        machine.threads = rooms[i].threads;
        machine.registers = rooms[i].registers;
        machine.shared_kib = rooms[i].shared_kib;
        machine.blocks = rooms[i].blocks;
        if (machine.capability < 80) strcpy(module.arch, "sm_75");
        ok(model_build(&module, &machine, folder, &model, &error), "a model");
        is_int(model.demand[0].resident, rooms[i].resident, "so many blocks have room");
        module_close(&module);
    }
    machine = before;
}

static void unmatched_is(const char *code, const char *expected, const char *what) {
    Module module;
    Model model;
    Error error;
    ok(build(code, &module, &model, &error), "a model");
    is_text(model.unmatched, expected, what);
    module_close(&module);
}

/* Eight instructions of a loop, of which three agree. */
#define DISAGREE                                                                               \
    "7 FFMA R1, R2, R3, R1\n7 FFMA R1, R2, R3, R1\n7 FFMA R1, R2, R3, R1\n7 FMUL R1, R2, R3\n" \
    "7 FMUL R1, R2, R3\n7 FADD R1, R2, R3\n6 LDG.E R2, [R8.64]\n4 LDG.E R2, [R8.64]\n"

static void test_unmatched(void) {
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    unmatched_is(counted_sass, "", "all agree");
    unmatched_is(".L_x_0:\n" DISAGREE "9 @P0 BRA `(.L_x_0)\n10 EXIT\n",
                 "loop 1 of k, repeated at ?:0", "a loop of which no line is known");
    unmatched_is("\t//## File \"a/z.cu\", line 1\n9 @P0 BRA `(.L_x_0)\n.L_x_0:\n"
                 "\t//## File \"a/h.cuh\", line 3 inlined at \"a/k.cu\", line 17\n"
                 "\t//## File \"a/k.cu\", line 17\n" DISAGREE "9 @P0 BRA `(.L_x_0)\n10 EXIT\n",
                 "loop 1 of k, repeated at k.cu:17", "one that was inlined");
}

static void refused(bool built, const Error *error, Status status, const char *text) {
    ok(!built && error->status == status, "refused, with its status");
    is_text(built ? "" : error->text, text, text);
}

static void test_refused(void) {
    Module module;
    Model model;
    Error error;
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    put_record(folder, "768.json", BLOCKS_FIXED, 768, 0);
    bool built = build(counted_sass, &module, &model, &error);
    refused(built, &error, STATUS_SKIP,
            "sample: the lengths that were simulated are no multiples of its tiles");
    put_counts(folder, BLOCKS_FULL, 100, false, 8, 8);
    free(module.ptx);
    module.ptx = NULL;
    built = model_build(&module, &machine, folder, &model, &error);
    refused(built, &error, STATUS_SKIP, "sample was built without its PTX");
    module_close(&module);
    module = counted_module(counted_sass, ".entry k()\n{\nret;\n}\n");
    built = model_build(&module, &machine, folder, &model, &error);
    refused(built, &error, STATUS_SKIP,
            "sample: the PTX of kernel k is not what the simulator counted");
    module_close(&module);
    module = counted_module(counted_sass,
                            ".version 8.0\n.func f()\n{\nret;\n}\n.entry k()\n{\nret;\n}\n");
    built = model_build(&module, &machine, folder, &model, &error);
    refused(
        built, &error, STATUS_SKIP,
        "sample: kernel k calls a function that is not inlined, which the limits cannot follow");
    strcpy(module.arch, "sm_90");
    built = model_build(&module, &machine, folder, &model, &error);
    refused(built, &error, STATUS_SKIP,
            "sample: its code is for compute capability 9.0, and Card has 8.0");
    strcpy(module.arch, "sm_80");
    built = model_build(&module, &machine, "/nowhere", &model, &error);
    refused(built, &error, STATUS_USAGE,
            "/nowhere/lengths cannot be read: No such file or directory");
    FILE *out = counted_file(folder, "second.json");
    fprintf(out, "{\"launches\":[{\"kernel\":\"k\"},{\"kernel\":\"m\"}]}");
    fclose(out);
    built = model_build(&module, &machine, folder, &model, &error);
    refused(built, &error, STATUS_SKIP, "sample launches other kernels for other lengths");
    out = counted_file(folder, "first.json");
    fprintf(out, "{\"launches\":[{\"kernel\":\"k\"},{\"kernel\":\"k\"},{\"kernel\":\"k\"},"
                 "{\"kernel\":\"k\"},{\"kernel\":\"k\"}]}");
    fclose(out);
    built = model_build(&module, &machine, folder, &model, &error);
    refused(built, &error, STATUS_SKIP, "sample launches 5 kernels, and the limits know at most 4");
    module_close(&module);
}

/* ---- What a model says of problems */

static Demand tiles(Growth growth) {
    Demand demand = {.rows = 64, .resident = 1};
    demand.of[UNIT_ALU] = growth;
    return demand;
}

static Bound bound_of(const Model *model, int length, bool causal) {
    const Shape shape = {.batch = 3, .heads = 2, .length = length, .d = 128, .causal = causal};
    return model_bound(model, &shape);
}

/* Six heads of four tiles on ten multiprocessors: three rounds for 2.4. */
static void test_bound(void) {
    Model model = {.machine = &machine, .demands = 1};
    model.demand[0] = tiles((Growth){0, 10, 1});
    const double alu = 6 * (10 * 256 + 256.0 * 256) / 10;
    Bound bound = bound_of(&model, 256, false);
    is_near(bound.cycles[UNIT_ALU], alu, 1e-6, "cycles of a multiprocessor, evenly spread");
    is_near(bound.imbalance, 3 / 2.4, 1e-9, "the last round is not full");
    is_near(bound.ms, alu * 3 / 2.4 / 1e6, 1e-12, "which takes as long as a full one");
    is_int(bound.binding, UNIT_ALU, "the unit that binds");
    is_near(bound.kernel_ms[0], bound.ms, 0, "all of it in one kernel");
    is_int(bound.kernel_binding[0], UNIT_ALU, "which it binds");
    is_near(bound.tflops, 4e-12 * 6 * 256 * 256 * 128 / (bound.ms * 1e-3), 1e-9, "the speed");
    model.demand[0].of[UNIT_FMA] = (Growth){0, 10, 1};
    is_int(bound_of(&model, 256, false).binding, UNIT_FMA, "of two as busy the first");
    model.demand[0].of[UNIT_MUFU] = (Growth){0, 11, 1};
    is_int(bound_of(&model, 256, false).binding, UNIT_MUFU, "else the busiest");
    /* A unit of the GPU: 6 heads of 256 rows, evenly spread. */
    model.demand[0].of[UNIT_L2].linear = alu / 6 / 256;
    is_int(bound_of(&model, 256, false).binding, UNIT_MUFU, "a last round does not matter to L2");
    model.demand[0].of[UNIT_L2].linear *= 1.3;
    bound = bound_of(&model, 256, false);
    is_int(bound.binding, UNIT_L2, "which can bind");
    is_near(bound.ms, alu * 1.3 / 1e6, 1e-12, "all multiprocessors together");
    is_near(bound.cycles[UNIT_L2], alu * 1.3, 1e-6, "in cycles of the GPU");
    model.demand[0].of[UNIT_POWER].linear = alu * 1.3 / 6 / 256;
    bound = bound_of(&model, 256, false);
    is_int(bound.binding, UNIT_POWER, "as can power");
    is_near(bound.ms, alu * 1.3 / 1e6, 1e-12, "of all multiprocessors");
    model.demand[0].of[UNIT_ISSUE] = (Growth){0, 40, 1};
    bound = bound_of(&model, 256, false);
    is_int(bound.binding, UNIT_ISSUE, "or issue slots");
    is_near(bound.ms, bound.cycles[UNIT_ISSUE] * 3 / 2.4 / 1e6, 1e-12, "in three rounds");
    model.demand[0] = tiles((Growth){0});
    bound = bound_of(&model, 256, false);
    ok(bound.ms == 0 && bound.imbalance == 1, "a kernel that does nothing");
    const Shape one = {.batch = 1, .heads = 1, .length = 10, .d = 1};
    is_near(shape_tflop(&one) * 1e12, 400, 1e-9, "two products of a multiplication and a sum");
    const Model none = {.machine = &machine};
    bound = model_bound(&none, &one);
    ok(bound.ms == 0 && bound.imbalance == 1, "no kernels");
}

static void test_causal(void) {
    Model model = {.machine = &machine, .demands = 1};
    model.demand[0] = tiles((Growth){0, 10, 1});
    /* Tile i costs 64 (10 - 64 + 2 (i + 1) 64). */
    Bound bound = bound_of(&model, 256, true);
    is_near(bound.cycles[UNIT_ALU], 6 * 64 * (4 * -54 + 2 * 10 * 64) / 10.0, 1e-6, "half the keys");
    is_near(bound.tflops, 2e-12 * 6 * 256 * 256 * 128 / (bound.ms * 1e-3), 1e-9, "half the work");
}

static const Growth rising = {0, 64, 1}, steep = {0, 128, 1};

/* The imbalance on two multiprocessors of blocks that cost 1, 2, 3 and so on (`rising`), or 3, 5, 7
 * (`steep`). That each needs as much of what is of the whole GPU does not matter. */
static double imbalance_of(Growth growth, int heads, int length, bool last_first,
                           bool heads_first) {
    Machine two = machine;
    Model model = {.machine = &two, .demands = 1};
    const Shape shape = {.batch = 1, .heads = heads, .length = length, .d = 64, .causal = true};
    two.sms = 2;
    model.demand[0] = tiles(growth);
    model.demand[0].of[UNIT_L2] = model.demand[0].of[UNIT_POWER] = (Growth){0, 1e6, 0};
    model.demand[0].last_first = last_first;
    model.demand[0].heads_first = heads_first;
    return model_bound(&model, &shape).imbalance;
}

static void test_orders(void) {
    is_near(imbalance_of(rising, 1, 192, false, false), 4 * 2 / 6.0, 1e-9, "1 and 3, 2");
    is_near(imbalance_of(rising, 1, 192, true, false), 1, 1e-9, "3, 2 and 1");
    is_near(imbalance_of(rising, 2, 192, false, false), 7 * 2 / 12.0, 1e-9,
            "1, 3 and 3, 2, 1 and 2");
    is_near(imbalance_of(rising, 2, 192, false, true), 1, 1e-9, "1, 2 and 3, 1, 2 and 3");
    is_near(imbalance_of(rising, 3, 128, true, true), 5 * 2 / 9.0, 1e-9, "2, 2 and 1, 2, 1 and 1");
    is_near(imbalance_of(rising, 1, 128, false, false), 2 * 2 / 3.0, 1e-9, "1, 2");
    is_near(imbalance_of(steep, 1, 192, false, false), 10 * 2 / 15.0, 1e-9, "3 and 7, 5");
    is_near(imbalance_of(steep, 1, 128, false, false), 5 * 2 / 8.0, 1e-9, "3, 5");
    is_near(imbalance_of(rising, 1, 96, false, false), 1.5 * 2 / 2.5, 1e-9,
            "a last tile sees half more");
    const Growth slow = {0, 64e-6, 1e-6};
    is_near(imbalance_of(slow, 1, 192, false, false), 4 * 2 / 6.0, 1e-9, "however little it is");
}

/* Four tiles: of one unit each needs as much, of another one 1, 3, 5 and 7 parts, which are as many
 * cycles in all. */
static void test_as_busy(void) {
    Machine two = machine;
    Model model = {.machine = &two, .demands = 1};
    const Shape shape = {.batch = 1, .heads = 1, .length = 256, .d = 64, .causal = true};
    two.sms = 2;
    model.demand[0] = tiles((Growth){0, 256, 0});
    model.demand[0].of[UNIT_MUFU] = (Growth){0, 0, 1};
    const Bound bound = model_bound(&model, &shape);
    is_near(bound.cycles[UNIT_ALU], bound.cycles[UNIT_MUFU], 0, "two units that are as busy");
    is_near(bound.imbalance, 1, 1e-9, "the first tells how blocks spread");
    model.demand[0].resident = 2;
    is_near(model_bound(&model, &shape).imbalance, 1, 1e-9, "two share a multiprocessor");
    model.demand[0].rows = 128;
    is_near(model_bound(&model, &shape).ms, 65536 / 2 / 1e6, 1e-12, "or one has all of it");
    model.demands = 2;
    for (int l = 0; l < 2; l++) {
        model.demand[l] = (Demand){.rows = 1, .resident = 1};
        model.demand[l].of[l ? UNIT_ALU : UNIT_MUFU] = (Growth){0, 10, 0};
    }
    is_int(model_bound(&model, &shape).binding, UNIT_MUFU, "of two kernels as long the first");
}

static void test_cycles(void) {
    Machine three = machine;
    Model model = {.machine = &three, .demands = 1};
    const Growth growth = {0, 1, 0};
    Shape shape = {.batch = 1, .heads = 1, .length = 64 * 4, .d = 64};
    three.sms = 3;
    model.demand[0] = tiles(growth);
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 128, 1e-9, "two rounds");
    is_near(model_cycles(&model, 0, &growth, 0.5, &shape), 128, 1e-9, "each block by itself");
    model.demand[0].resident = 2;
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 128, 1e-9, "two share one");
    is_near(model_cycles(&model, 0, &growth, 0.75, &shape), 128, 1e-9, "as fast as they can");
    shape.length = 64 * 3;
    is_near(model_cycles(&model, 0, &growth, 0.5, &shape), 128, 1e-9, "alone, at half the speed");
    const Growth nothing = {0}, falling = {0, -1, 0};
    is_near(model_cycles(&model, 0, &nothing, 1, &shape), 0, 0, "nothing to do");
    is_near(model_cycles(&model, 0, &falling, 1, &shape), 0, 0, "or less");
    /* 2^20 blocks on three: one more than 349,525 full rounds have. */
    shape = (Shape){.batch = 1024, .heads = 1024, .length = 64, .d = 64};
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 64 * 349526.0, 1e-3, "a million blocks");
    shape.heads = 1025;
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 64 * 1024 * 1025 / 3.0, 1e-3,
            "of more the last round does not show");
    model.demand[0].rows = 2;
    shape = (Shape){.batch = 1, .heads = 1, .length = 2, .d = 64};
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 2, 1e-9, "one tile of two rows");
    model.demand[0].rows = 1;
    shape = (Shape){.batch = 1, .heads = 1, .length = 4, .d = 64};
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 4 / 3.0, 1e-9, "nor of no tiles");
}

/* What each block does once, and what there is for each row of each head. */
static void test_fixed(void) {
    Model model = {.machine = &machine, .demands = 1};
    const Shape shape = {.batch = 3, .heads = 2, .length = 100, .d = 64};
    const Growth growth = {50, 7, 0}, less = {-50, 7, 0};
    model.demand[0] = (Demand){.rows = 1, .resident = 1, .fixed_blocks = 5};
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 50 * 2 / 5.0 + 6 * 700 / 10.0, 1e-9,
            "once for each multiprocessor");
    is_near(model_cycles(&model, 0, &less, 1, &shape), 6 * 700 / 10.0, 1e-9, "no less than never");
    model.demand[0].fixed_blocks = 1;
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 50 * 2 + 6 * 700 / 10.0, 1e-9,
            "of which there may be one");
    model.demand[0].fixed_blocks = 0;
    is_near(model_cycles(&model, 0, &growth, 1, &shape), 6 * 750 / 10.0, 1e-9, "or for each head");
}

/* L2 keeps a MiB, 1,048.576 cycles of HBM: of the first kernel its last bytes, of others those of
 * the one before as well. */
static void test_kernels(void) {
    Machine card = machine;
    Model model = {.machine = &card, .demands = 3};
    card.l2_mib = 1;
    for (int l = 0; l < 3; l++) {
        model.demand[l] = (Demand){.rows = 1, .resident = 1};
        model.demand[l].of[UNIT_HBM] = (Growth){0, 10, 0};
        model.demand[l].of[UNIT_ALU] = (Growth){0, l == 1 ? 50 : 1, 0};
    }
    model.demand[2].rows = 64;
    Bound bound = bound_of(&model, 100, false);
    const double kept = 1048.576;
    is_near(bound.kernel_ms[0], (6000 - kept) / 1e6, 1e-12, "the first kernel");
    is_near(bound.kernel_ms[1], (6000 - 2 * kept) / 1e6, 1e-12, "the second");
    is_near(bound.cycles[UNIT_HBM], 6000 - kept + 6000 - 2 * kept + 7680 - 2 * kept, 1e-6,
            "all of them");
    is_near(bound.cycles[UNIT_ALU], 60 + 3000 + 76.8, 1e-6, "of each unit");
    is_near(bound.ms, bound.kernel_ms[0] + bound.kernel_ms[1] + bound.kernel_ms[2], 1e-12,
            "one after the other");
    is_near(bound.imbalance, 2 / 1.2, 1e-9, "the largest imbalance");
    is_int(bound.binding, UNIT_HBM, "memory binds");
    card.l2_mib = 3;
    bound = bound_of(&model, 100, false);
    is_int(bound.kernel_binding[0], UNIT_HBM, "the first kernel");
    is_int(bound.kernel_binding[1], UNIT_ALU, "not the second");
    is_int(bound.binding, UNIT_ALU, "which takes longest");
    card.l2_mib = 100;
    bound = bound_of(&model, 100, false);
    is_near(bound.cycles[UNIT_HBM], 0, 0, "L2 keeps no more than there is");
    is_near(bound.kernel_ms[0], 60 / 1e6, 1e-12, "then something else binds");
    is_int(bound.binding, UNIT_ALU, "all of them");
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    test_demand();
    test_order();
    test_residents();
    test_unmatched();
    test_refused();
    remove_counts(folder);
    test_bound();
    test_causal();
    test_orders();
    test_as_busy();
    test_cycles();
    test_fixed();
    test_kernels();
    return done_testing();
}
