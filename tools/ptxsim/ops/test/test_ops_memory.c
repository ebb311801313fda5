/* Loads, stores, moves and atomics in every space and width. Catches: bytes of a value in the wrong
 * place, a sign that is extended or is not, a space that is taken for another, an element of a
 * vector out of order, an atomic that returns the new value. */
#include "test/operands.h"
#include "test/reference.h"

/* ---- A place of 16 bytes for every thread ---------------------------------------------------- */

/* How a kernel gets the address q of its thread's 16 bytes; `spaces` are what ld and st may be
 * called then. */
typedef struct Place {
    const char *spaces, *address;
} Place;

#define SHARED_ROOM                                                                       \
    ".shared .align 16 .b8 room[4096]; .reg .b32 s; mov.u32 s, room; mov.u32 z, %tid.x; " \
    "mad.lo.u32 s, z, 16, s; .reg .b64 q; cvt.u64.u32 q, s; "
#define LOCAL_ROOM ".local .align 16 .b8 room[16]; .reg .b64 q; mov.u64 q, room; "
#define GLOBAL_ROOM ".reg .b64 q; add.u64 q, p, 48; "
static const Place places[] = {
    {".global .volatile.global .relaxed.gpu.global .relaxed.cta.global .relaxed.sys.global",
     GLOBAL_ROOM},
    {".shared .shared::cta .volatile.shared .relaxed.cluster.shared::cluster", SHARED_ROOM},
    {".local", LOCAL_ROOM},
    {" .volatile .relaxed.gpu", GLOBAL_ROOM},
    {" .weak", SHARED_ROOM "cvta.shared.u64 q, q; "},
    {" ", LOCAL_ROOM "cvta.local.u64 q, q; "},
};
enum { PLACES = sizeof places / sizeof *places };

static int bits_in(const char *type) { return atoi(type + strcspn(type, "0123456789")); }

static uint64_t low(uint64_t value, int bits) {
    return bits < 64 ? value & ((1ull << bits) - 1) : value;
}

/* ---- One value ------------------------------------------------------------------------------- */

/* What a load of the type gives of a's bytes, in any wider register. */
static uint64_t loaded(const void *what, const uint64_t in[]) {
    const char *type = what;
    const int bits = bits_in(type), unused = 64 - bits;
    if (type[0] == 's') return (uint64_t)((int64_t)(in[0] << unused) >> unused);
    return low(in[0], bits);
}

/* b's bytes after a store of the type from a. */
static uint64_t stored(const void *what, const uint64_t in[]) {
    const int bits = bits_in(what);
    return low(in[0], bits) | (in[1] ^ low(in[1], bits));
}

static void try_load(const Place *place, const char *space, const char *type, int width) {
    char text[400];
    const char sizes[] = {(char)('0' + width / 8), '=', '8', 0};
    snprintf(text, sizeof text, "%sst%s.b64 [q+8], a; ld%s.%s d, [q+8]", place->address, space,
             space, type);
    try_operands(&(Trial){.text = text,
                          .sizes = sizes,
                          .values = {VALUES(edge_integers)},
                          .reference = loaded,
                          .what = type});
}

static void try_store(const Place *place, const char *space, const char *type, int width) {
    char text[400];
    const char sizes[] = {'8', '=', (char)('0' + width / 8), '8', 0};
    snprintf(text, sizeof text, "%sst%s.b64 [q], b; st%s.%s [q], a; ld%s.b64 d, [q]",
             place->address, space, space, type, space);
    try_operands(&(Trial){.text = text,
                          .sizes = sizes,
                          .values = {VALUES(edge_integers), VALUES(edge_integers)},
                          .reference = stored,
                          .what = type});
}

static void test_scalars(void) {
    static const char *const types[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",
                                        "u32", "s32", "f32", "b64", "u64", "s64", "f64"};
    for (int i = 0; i < PLACES; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (int width = 16; width <= 64; width *= 2) {
                const bool is_float = types[t][0] == 'f';
                char space[80] = {0};
                strncpy(space, places[i].spaces, strcspn(places[i].spaces + 1, " ") + 1);
                if (space[0] == ' ') space[0] = 0;
                if (width < bits_in(types[t]) || (is_float && width > bits_in(types[t]))) continue;
                try_load(&places[i], space, types[t], width);
                try_store(&places[i], space, types[t], width);
            }
}

/* Every other spelling of the spaces and of cache hints. */
static void test_spellings(void) {
    for (int i = 0; i < PLACES; i++) {
        char spaces[120], *rest;
        strcpy(spaces, places[i].spaces);
        for (char *s = strtok_r(spaces, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
            try_load(&places[i], s, "b32", 32);
    }
    static const char *const loads[] = {
        "st.global.wb.b64 [p+48], a; ld.global.ca.b64 d, [p+48]",
        "st.global.cg.b64 [p+48], a; ld.global.cg.b64 d, [p+48]",
        "st.global.cs.b64 [p+48], a; ld.global.cs.b64 d, [p+48]",
        "st.global.wt.b64 [p+48], a; ld.global.cv.b64 d, [p+48]",
        "st.global.b64 [p+48], a; ld.global.lu.b64 d, [p+48]",
        "ld.global.nc.b64 d, [p]",
        "st.global.b64 [p+48], a; ldu.global.b64 d, [p+48]",
        "st.release.gpu.global.b64 [p+48], a; ld.acquire.gpu.global.b64 d, [p+48]",
        "st.mmio.relaxed.sys.global.b64 [p+48], a; ld.mmio.relaxed.sys.global.b64 d, [p+48]",
        "st.global.L1::no_allocate.b64 [p+48], a; ld.global.L1::evict_last.L2::128B.b64 d, [p+48]",
        "ld.global.nc.L1::no_allocate.L2::256B.b64 d, [p]",
        "st.global.L2::cache_hint.b64 [p+48], a, 7; ld.global.L2::cache_hint.b64 d, [p+48], 7",
        "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.b64 d, [p], p",
    };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        try_operands(&(Trial){.text = loads[i],
                              .sizes = "8=8",
                              .values = {VALUES(edge_integers)},
                              .reference = loaded,
                              .what = "b64"});
}

/* ---- Vectors, packing, addresses ------------------------------------------------------------- */

static uint64_t same_value(const void *what, const uint64_t in[]) {
    (void)what;
    return in[0];
}

static uint64_t halves_swapped(const void *what, const uint64_t in[]) {
    const int *bits = what;
    return low(in[0] >> *bits, *bits) | low(in[0], *bits) << *bits;
}

/* Elements of `bits` bits in the opposite order. */
static uint64_t reversed(const void *what, const uint64_t in[]) {
    const int *bits = what;
    uint64_t result = 0;
    for (int i = 0; i < 4; i++) result |= low(in[0] >> *bits * i, *bits) << *bits * (3 - i);
    return result;
}

/* The first of four words that a and b hold, plus 3, 5 and 7 times the others. */
static uint64_t mixed(const void *what, const uint64_t in[]) {
    (void)what;
    return (uint32_t)(in[0] + 3 * (in[0] >> 32) + 5 * in[1] + 7 * (in[1] >> 32));
}

static uint64_t mixed_64(const void *what, const uint64_t in[]) {
    (void)what;
    return in[0] + 3 * in[1];
}

static void try_text(const char *address, const char *text, const char *sizes, Reference by,
                     const void *what) {
    char whole[700];
    snprintf(whole, sizeof whole, "%s%s", address, text);
    try_operands(&(Trial){.text = whole,
                          .sizes = sizes,
                          .values = {VALUES(edge_integers), VALUES(edge_integers)},
                          .reference = by,
                          .what = what});
}

static void test_vectors(void) {
    static const int widths[] = {8, 16, 32};
    for (int i = 0; i < 3; i++) { /* global, shared, local */
        static const char *const spaces[] = {"global", "shared", "local"};
        char text[400];
        snprintf(text, sizeof text,
                 ".reg .b16 h<4>; st.%1$s.b16 [q], a; ld.%1$s.v2.u8 {h0, h1}, [q]; "
                 "st.%1$s.v2.b8 [q+2], {h1, h0}; ld.%1$s.b16 d, [q+2]",
                 spaces[i]);
        try_text(places[i].address, text, "2=2", halves_swapped, &widths[0]);
        snprintf(text, sizeof text,
                 ".reg .b16 h<4>; st.%1$s.b32 [q], a; ld.%1$s.v4.u8 {h0, h1, h2, h3}, [q]; "
                 "st.%1$s.v4.u8 [q+4], {h3, h2, h1, h0}; ld.%1$s.b32 d, [q+4]",
                 spaces[i]);
        try_text(places[i].address, text, "4=4", reversed, &widths[0]);
        snprintf(text, sizeof text,
                 ".reg .b16 h<4>; st.%1$s.b64 [q], a; ld.%1$s.v4.b16 {h0, h1, h2, h3}, [q]; "
                 "st.%1$s.v4.b16 [q+8], {h3, h2, h1, h0}; ld.%1$s.b64 d, [q+8]",
                 spaces[i]);
        try_text(places[i].address, text, "8=8", reversed, &widths[1]);
        snprintf(text, sizeof text,
                 ".reg .b32 v<4>; st.%1$s.b64 [q], a; ld.%1$s.v2.f32 {v0, v1}, [q]; "
                 "st.%1$s.v2.u32 [q+8], {v1, v0}; ld.%1$s.b64 d, [q+8]",
                 spaces[i]);
        try_text(places[i].address, text, "8=8", halves_swapped, &widths[2]);
        snprintf(
            text, sizeof text,
            ".reg .b32 v<4>; st.%1$s.v2.b64 [q], {a, b}; ld.%1$s.v4.b32 {v0, v1, v2, v3}, [q]; "
            "mad.lo.u32 v0, v1, 3, v0; mad.lo.u32 v0, v2, 5, v0; mad.lo.u32 d, v3, 7, v0",
            spaces[i]);
        try_text(places[i].address, text, "4=88", mixed, NULL);
        snprintf(text, sizeof text,
                 ".reg .b64 v<2>; .reg .b128 o, n; mov.b128 o, {a, b}; st.%1$s.b128 [q], o; "
                 "ld.%1$s.v2.u64 {v0, v1}, [q]; st.%1$s.v2.b64 [q], {v0, v1}; ld.%1$s.b128 n, [q]; "
                 "mov.b128 o, n; mov.b128 {v0, v1}, o; mad.lo.u64 d, v1, 3, v0",
                 spaces[i]);
        try_text(places[i].address, text, "8=88", mixed_64, NULL);
    }
}

/* A number has the size of the type, or two bytes; an element that is loaded into `_` is gone. */
static void test_numbers(void) {
    try_text(GLOBAL_ROOM,
             "st.global.b64 [q], a; st.global.u8 [q+1], 0x77; "
             "ld.global.b64 d, [q]; and.b64 a, a, 0xff00; xor.b64 a, a, 0x7700; xor.b64 d, d, a",
             "8=8", same_value, NULL);
    try_text(GLOBAL_ROOM,
             ".reg .b16 h; st.global.v2.b32 [q], {0x12345678, 0x9abcdef0}; "
             "ld.global.v2.u8 {_, h}, [q+4]; cvt.u64.u16 q, h; add.u64 d, a, q; sub.u64 d, d, 0xde",
             "8=8", same_value, NULL);
}

static void test_moves(void) {
    static const int word = 32, half = 16;
    try_text("", "mov.b16 d, a", "2=2", same_value, NULL);
    try_text("", "mov.u16 d, a", "2=2", same_value, NULL);
    try_text("", "mov.s32 d, a", "4=4", same_value, NULL);
    try_text("", "mov.f32 d, a", "4=4", same_value, NULL);
    try_text("", "mov.f64 d, a", "8=8", same_value, NULL);
    try_text("", "mov.u64 d, a", "8=8", same_value, NULL);
    try_text("", ".reg .b16 h<2>; mov.b32 {h0, h1}, a; mov.b32 d, {h1, h0}", "4=4", halves_swapped,
             &half);
    try_text("", ".reg .b32 v<2>; mov.b64 {v0, v1}, a; mov.b64 d, {v1, v0}", "8=8", halves_swapped,
             &word);
    try_text("", ".reg .b16 h<4>; mov.b64 {h0, h1, h2, h3}, a; mov.b64 d, {h3, h2, h1, h0}", "8=8",
             reversed, &half);
    try_text("",
             ".reg .b16 h; mov.b32 {_, h}, a; cvt.u32.u16 w, h; .reg .b16 l; "
             "mov.b32 {l, _}, a; cvt.u32.u16 z, l; shl.b32 z, z, 16; or.b32 d, w, z",
             "4=4", halves_swapped, &half);
}

/* Addresses of variables, generic and back; parameters and constants by address. */
static void test_addresses(void) {
    try_text(SHARED_ROOM,
             "cvta.shared.u64 q, q; cvta.to.shared.u64 q, q; st.shared.u64 [q], a; "
             "ld.shared.u64 d, [q]",
             "8=8", same_value, NULL);
    try_text(LOCAL_ROOM,
             "cvta.local.u64 q, q; cvta.to.local.u64 q, q; st.local.u64 [room], a; "
             "ld.local.u64 d, [q]",
             "8=8", same_value, NULL);
    try_text("", "cvta.to.global.u64 p, p; cvta.global.u64 p, p; mov.b64 d, a", "8=8", same_value,
             NULL);
    try_text("",
             ".reg .b64 q, r; ld.param::entry.u64 q, [data]; .reg .b32 v<2>; "
             "ld.param.v2.b32 {v0, v1}, [data]; mov.b64 r, {v0, v1}; sub.u64 q, q, r; "
             "add.u64 d, a, q",
             "8=8", same_value, NULL);
    try_text("",
             ".reg .b64 q, r; ld.param.s32 q, [data+4]; ld.param.u32 r, [data]; shl.b64 q, q, "
             "32; or.b64 q, q, r; ld.param.u64 r, [data]; sub.u64 q, q, r; add.u64 d, a, q",
             "8=8", same_value, NULL);
    try_text("",
             ".reg .b64 q, r; .reg .b16 h<4>; ld.param.u16 h3, [data+6]; ld.param.u16 h2, "
             "[data+4]; ld.param.u16 h1, [data+2]; ld.param.u16 h0, [data]; "
             "mov.b64 q, {h0, h1, h2, h3}; ld.param.u64 r, [data]; sub.u64 q, q, r; "
             "add.u64 d, a, q",
             "8=8", same_value, NULL);
}

/* isspacep of a generic address: bit i of d is for the i-th space. A parameter is in the global
 * window, too. */
static void test_spaces(void) {
    static const char *const spaces[] = {"global", "shared",       "local",      "const",
                                         "param",  "param::entry", "shared::cta"};
    static const struct {
        const char *address;
        uint64_t spaces;
    } rows[] = {
        {GLOBAL_ROOM, 1},
        {SHARED_ROOM "cvta.shared.u64 q, q; ", 2 | 64},
        {LOCAL_ROOM "cvta.local.u64 q, q; ", 4},
        {".reg .b64 q; mov.u64 q, table; cvta.const.u64 q, q; ", 8},
        {".reg .b64 q; mov.u64 q, table; cvta.const.u64 q, q; add.u64 q, q, 7; ", 8},
        {".reg .b64 q; mov.u64 q, word; cvta.global.u64 q, q; ", 1},
        {".reg .b64 q; mov.u64 q, data; cvta.param.u64 q, q; ", 1 | 16 | 32},
        {".reg .b64 q; mov.u64 q, data; cvta.param.u64 q, q; add.u64 q, q, 7; ", 1 | 16 | 32},
        {".reg .b64 q; mov.u64 q, table; cvta.const.u64 q, q; add.u64 q, q, 8; ", 1}};
    const size_t count = sizeof rows / sizeof *rows - is_on_gpu(); /* whose window is larger */
    for (size_t i = 0; i < count; i++) {
        char text[2000];
        uint32_t data[32] = {0}, wrong = 0;
        int n = snprintf(text, sizeof text,
                         PTX_HEAD ".const .align 8 .u64 table = 1;\n.global .u32 word;\n"
                                  ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p; "
                                  ".reg .b32 d, w, z; .reg .pred g; ld.param.u64 p, [data]; "
                                  "mov.u32 d, 0; %s",
                         rows[i].address);
        for (int s = 0; s < 7; s++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "isspacep.%s g, q; selp.b32 w, %d, 0, g; or.b32 d, d, w; ", spaces[s],
                          1 << s);
        snprintf(text + n, sizeof text - (size_t)n,
                 "mov.u32 z, %%tid.x; mad.wide.u32 p, z, 4, p; st.global.u32 [p], d; ret;\n}\n");
        run_ptx(text, 32, data, sizeof data);
        for (int l = 0; l < 32; l++) wrong += data[l] != rows[i].spaces;
        ok(!wrong, "isspacep: %s(%x)", rows[i].address, data[0]);
    }
}

/* Variables of the module, with initial values, one of which is an address. */
static void test_variables(void) {
    static const char text[] =
        PTX_HEAD ".const .align 8 .b16 table[4] = {1, 2, 0xfffd, 4};\n"
                 ".global .align 4 .u32 word = 7;\n"
                 ".global .align 8 .u64 pointer = generic(word);\n"
                 ".global .align 8 .v2 .f32 pairs[2] = {{0f3F800000, 0f40000000}, "
                 "{0f00000000, 0fC0800000}};\n"
                 ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 r<6>;\n"
                 "ld.param.u64 p, [data]; ld.const.s16 r0, [table+4]; mov.u64 q, table; "
                 "ld.const.u16 r1, [q+2]; ld.global.u64 q, [pointer]; ld.u32 r2, [q]; "
                 "ld.global.u32 r3, [word]; ld.global.f32 r4, [pairs+4]; ld.global.u32 r5, "
                 "[pairs+12]; st.global.v4.u32 [p], {r0, r1, r2, r3}; "
                 "st.global.v2.u32 [p+16], {r4, r5}; ret;\n}\n";
    int32_t data[8] = {0};
    const PtxRun run = run_ptx(text, 1, data, sizeof data);
    ok(run.status == LAUNCH_OK && data[0] == -3 && data[1] == 2 && data[2] == 7 && data[3] == 7 &&
           data[4] == 0x40000000 && data[5] == (int32_t)0xc0800000,
       "constants, initial values and pointers of the module %s", run.error);
}

/* ---- Atomics --------------------------------------------------------------------------------- */

/* The operation on a, the value in memory, with b and (cas) c. */
typedef struct Atomic {
    const char *name, *types;
    uint64_t (*result)(const char *type, uint64_t a, uint64_t b, uint64_t c);
} Atomic;

static int64_t extended(const char *type, uint64_t x) {
    const int unused = 64 - bits_in(type);
    return (int64_t)(x << unused) >> unused;
}

static bool is_below(const char *type, uint64_t a, uint64_t b) {
    return type[0] == 's' ? extended(type, a) < extended(type, b) : a < b;
}

static uint64_t half_sum(Format f, uint64_t a, uint64_t b) {
    const Wide sum = (Wide)format_value(f, a & 0xffff) + (Wide)format_value(f, b & 0xffff);
    return format_round(f, sum, FE_TONEAREST);
}

static uint64_t sum(const char *type, uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    const Format f = strncmp(type, "bf16", 4) == 0 ? format_bf16 : format_f16;
    if (strcmp(type, "f32") == 0) return float_as_bits(as_float(a) + as_float(b));
    if (strcmp(type, "f64") == 0) return double_as_bits(as_double(a) + as_double(b));
    if (strstr(type, "x2")) return half_sum(f, a, b) | half_sum(f, a >> 16, b >> 16) << 16;
    return strstr(type, "f16") ? half_sum(f, a, b) : a + b;
}

#define RESULT(name, expression)                                                 \
    static uint64_t name(const char *type, uint64_t a, uint64_t b, uint64_t c) { \
        (void)type, (void)a, (void)b, (void)c;                                   \
        return (expression);                                                     \
    }
RESULT(least, is_below(type, a, b) ? a : b)
RESULT(most, is_below(type, a, b) ? b : a)
RESULT(conjunction, a &b)
RESULT(disjunction, a | b)
RESULT(exclusive, a ^ b)
RESULT(exchanged, b)
RESULT(swapped_if_equal, a == b ? c : a)
RESULT(counted_up, a >= b ? 0 : a + 1)
RESULT(counted_down, a == 0 || a > b ? b : a - 1)

static const Atomic atomics[] = {
    {"add", "u32 s32 u64 f32 f64", sum},
    {"add.noftz", "f16 f16x2 bf16 bf16x2", sum},
    {"min", "u32 s32 u64 s64", least},
    {"max", "u32 s32 u64 s64", most},
    {"and", "b32 b64", conjunction},
    {"or", "b32 b64", disjunction},
    {"xor", "b32 b64", exclusive},
    {"exch", "b32 b64", exchanged},
    {"cas", "b16 b32 b64", swapped_if_equal},
    {"inc", "u32", counted_up},
    {"dec", "u32", counted_down},
};

typedef struct AtomicTrial {
    const Atomic *atomic;
    const char *type;
    bool is_flushed; /* fp32 in global memory */
} AtomicTrial;

static uint64_t flushed_bits(uint64_t bits) { return float_as_bits(flushed(as_float(bits))); }

static uint64_t new_value(const void *what, const uint64_t in[]) {
    const AtomicTrial *t = what;
    if (t->is_flushed)
        return flushed_bits(t->atomic->result("f32", flushed_bits(in[0]), flushed_bits(in[1]), 0));
    return t->atomic->result(t->type, in[0], in[1], in[2]);
}

static bool same_float(const void *what, const uint64_t in[], uint64_t got, uint64_t expected) {
    const AtomicTrial *t = what;
    (void)in;
    if (strcmp(t->type, "f32") == 0) return isnan(as_float(got)) && isnan(as_float(expected));
    return strcmp(t->type, "f64") == 0 && isnan(as_double(got)) && isnan(as_double(expected));
}

static void try_atomic(const Place *place, const char *space, const Atomic *atomic,
                       const char *type) {
    const bool is_global = strstr(place->address, GLOBAL_ROOM);
    const AtomicTrial trial = {atomic, type, is_global && strcmp(type, "f32") == 0};
    const bool is_cas = strcmp(atomic->name, "cas") == 0,
               is_exch = strcmp(atomic->name, "exch") == 0;
    const int bits = strstr(type, "x2") ? 32 : bits_in(type);
    const char size = (char)('0' + bits / 8);
    const char sizes[] = {size, '=', size, size, is_cas ? size : 0, 0};
    const Values edges = strstr(type, "x2") ? edges_of_pairs(type[0] == 'b') : edges_of(type);
    char text[500], name[40];
    const char *store = "%1$sst%2$s.b%3$d [q], a; ", *load = "; ld%2$s.b%3$d d, [q]";
    Trial t = {.text = text, .sizes = sizes, .values = {edges, edges, edges}, .what = &trial};
    snprintf(name, sizeof name, "%s.%s", atomic->name, type);
    char format[300];
    snprintf(format, sizeof format, "%satom%%2$s.%s d, [q], b%s", store, name, is_cas ? ", c" : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, place->address, space, bits);
    t.reference = same_value; /* the old one */
    try_operands(&t);
    t.reference = new_value;
    t.same = same_float;
    snprintf(format, sizeof format, "%satom%%2$s.%s d, [q], b%s%s", store, name,
             is_cas ? ", c" : "", load);
    snprintf(text, sizeof text, format, place->address, space, bits);
    try_operands(&t);
    snprintf(format, sizeof format, "%sred%%2$s.%s [q], b%s", store, name, load);
    snprintf(text, sizeof text, format, place->address, space, bits);
#pragma GCC diagnostic pop
    if (!is_cas && !is_exch) try_operands(&t);
}

static void test_atomics(void) {
    static const char *const spaces[] = {".global", ".shared", NULL, "", ""};
    for (size_t i = 0; i < sizeof atomics / sizeof *atomics; i++) {
        char types[80], *rest;
        strcpy(types, atomics[i].types);
        for (char *t = strtok_r(types, " ", &rest); t; t = strtok_r(NULL, " ", &rest))
            for (int p = 0; p < 5; p++) {
                const bool half_in_shared = p == 1 && strstr(t, "f16");
                if (spaces[p] && !half_in_shared) try_atomic(&places[p], spaces[p], &atomics[i], t);
            }
    }
    static const Atomic qualified[] = {{"relaxed.gpu.global.add", "u32", sum},
                                       {"release.cluster.global.add", "u32", sum}};
    for (int i = 0; i < 2; i++) try_atomic(&places[0], "", &qualified[i], "u32");
    const AtomicTrial add = {&qualified[0], "u32", false};
    try_text(GLOBAL_ROOM, "st.b32 [q], a; atom.acq_rel.sys.add.u32 d, [q], b; ld.b32 d, [q]",
             "4=44", new_value, &add);
    try_text(SHARED_ROOM,
             "st.shared.b32 [q], a; atom.acquire.cta.shared::cta.add.u32 d, [q], b; "
             "ld.shared.b32 d, [q]",
             "4=44", new_value, &add);
}

/* The widest load by the odd lanes alone: the register of the others stays as it was. */
static void test_odd_lanes(void) {
    static const char text[] = PTX_HEAD
        ".visible .entry k(.param .u64 data)\n{\n.reg .b128 x; .reg .b64 p, v, w; .reg .b32 t; "
        ".reg .pred c;\nld.param.u64 p, [data]; mov.u32 t, %tid.x; mad.wide.u32 p, t, 16, p; "
        "and.b32 t, t, 1; setp.ne.u32 c, t, 0; mov.u64 v, 7; mov.b128 x, {v, v}; "
        "@c ld.global.b128 x, [p]; mov.b128 {v, w}, x; st.global.v2.b64 [p], {v, w}; ret;\n}\n";
    uint64_t data[64];
    for (uint64_t i = 0; i < 64; i++) data[i] = 100 + i;
    bool right = run_ptx(text, 32, data, sizeof data).status == LAUNCH_OK;
    for (uint64_t i = 0; i < 64; i++) right &= data[i] == (i / 2 % 2 ? 100 + i : 7);
    ok(right, "a load of 16 bytes by every other lane");
}

/* A constant of 16 bytes beside narrower ones, each of which keeps its own place. */
static void test_wide_constant(void) {
    static const char text[] =
        PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, v, w; .reg .b32 t; "
                 ".reg .b128 x;\nld.param.u64 p, [data]; mov.u32 t, %tid.x; "
                 "mad.wide.u32 p, t, 16, p; mov.b128 x, 9; mov.b128 {v, w}, x; add.u64 v, v, 1000; "
                 "st.global.v2.b64 [p], {v, w}; ret;\n}\n";
    uint64_t data[64];
    memset(data, 0xee, sizeof data);
    bool right = run_ptx(text, 32, data, sizeof data).status == LAUNCH_OK;
    for (uint64_t i = 0; i < 64; i++) right &= data[i] == (i % 2 ? 0 : 1009);
    ok(right, "a constant of 16 bytes");
}

/* All lanes of a warp on one word: each gets what the ones before it left. */
static void test_contention(void) {
    static const char text[] =
        PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 t, d;\n"
                 "ld.param.u64 p, [data]; mov.u32 t, %tid.x; atom.global.add.u32 d, [p], t; "
                 "mad.wide.u32 q, t, 4, p; st.global.u32 [q+4], d; ret;\n}\n";
    uint32_t data[65] = {100}, sum_before = 100;
    bool right = run_ptx_grid(text, 1, 64, data, sizeof data).status == LAUNCH_OK;
    for (uint32_t i = 0; i < 64; i++) right &= data[i + 1] == sum_before, sum_before += i;
    ok(right && data[0] == sum_before, "64 threads add to one word, one after another");
}

int main(void) {
    test_scalars();
    test_spellings();
    test_vectors();
    test_numbers();
    test_moves();
    test_addresses();
    test_spaces();
    test_variables();
    test_atomics();
    test_odd_lanes();
    test_wide_constant();
    test_contention();
    return done_testing();
}
