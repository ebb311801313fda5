/* What is read of the stamps of a launch, which the test writes itself. Catches: a block that was
 * beside the chosen one and is left out, one that was not and is there, a span that is cut wrongly,
 * a clock that overflows, stamps in another order, a mark or a write that there may not be and is
 * not told, memory that is not given back. */
#include "cli/spans.h"
#include "test/allocator.h"
#include "test/tap.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { EACH = 8, BLOCKS = 8 };

static const TimelineMark marks[] = {
    {"copy", 3, 0, -1}, {"QK", 10, 1, 2}, {"end", 40, 0, -1}, {NULL, 0, 0, 0}};
static TimelineBuffers given;
static Stamps stamps;
static Error error;
static char text[4096];

static cudaError_t set(const TimelineBuffers *buffers) {
    given = *buffers;
    return cudaSuccess;
}

/* `team` warps of a block, which begin at a clock on an SM. */
typedef struct Block {
    unsigned begin, sm;
    int count;
    unsigned at[EACH]; /* the clocks of the stamps of the marks 1, 2, 0, 1, ... */
} Block;

static void create(const Block blocks[], int count, int team) {
    stamps.marks = marks, stamps.mark_count = 3, stamps.set = set;
    ok(stamps_create((unsigned)(BLOCKS * team), EACH, &stamps, &error) &&
           given.count == (unsigned)(BLOCKS * team) && given.mask == EACH - 1 &&
           (void *)given.warps == (void *)stamps.warps.data &&
           (void *)given.stamps == (void *)stamps.stamps.data,
       "memory for %d warps", BLOCKS * team);
    for (int w = 0; w < count * team; w++) {
        const Block *block = &blocks[w / team];
        given.warps[w] = (TimelineWarp){block->begin + (unsigned)(w % team),
                                        (unsigned short)block->sm, (unsigned short)team};
        for (int i = 0; i < block->count; i++)
            given.stamps[w * EACH + EACH - 1 - i] =
                (TimelineStamp){block->at[i], 1 + (unsigned)(i + 1) % 3};
    }
}

/* The JSON object of a block, or why there is none. */
static const char *read_block(int block, bool neighbours) {
    Spans spans;
    TimelineWarp *warps = stamps_warps(&stamps, &error);
    if (!warps) return error.text;
    const bool read = spans_read(&stamps, warps, block, neighbours, &spans, &error);
    free(warps);
    if (!read) return error.text;
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    spans_json(out, &stamps, &spans);
    fclose(out);
    spans_free(&spans);
    return text;
}

#define HEAD(block, blocks, sm, cycles)                                          \
    "\"block\":" block ",\"blocks\":" blocks ",\"sm\":" sm ",\"cycles\":" cycles \
    ",\n\"marks\":[[\"copy\",3,0,-1],[\"QK\",10,1,2],[\"end\",40,0,-1]],\n\"warps\":[\n"
#define LIST1(head, a) head a "\n]"
#define LIST2(head, a, b) LIST1(head, a ",\n" b)
#define LIST4(head, a, b, c, d) LIST2(head, a ",\n" b, c ",\n" d)
#define WARP(block, warp, full, stamps) \
    "{\"block\":" block ",\"warp\":" warp ",\"full\":" full ",\"stamps\":[" stamps "]}"

/* Around a block from 1000 to 1300. */
static const Block around[] = {
    {1000, 7, 2, {1100, 1300}},
    {700, 7, 2, {900, 1000}},                 /* ends as it begins */
    {1300, 7, 2, {1400, 1500}},               /* begins as it ends */
    {600, 7, 3, {900, 1000, 1001}},           /* ends a cycle later */
    {1299, 7, 2, {1300, 1400}},               /* begins a cycle earlier */
    {1000, 6, 2, {1100, 1300}},               /* another SM */
    {0, 7, 5, {999, 1001, 1299, 1301, 2000}}, /* all the time */
};

static void neighbours(void) {
    create(around, 7, 1);
    is_text(read_block(0, false),
            LIST1(HEAD("0", "7", "6", "300"), WARP("0", "0", "false", "0,0,100,1,200,2")),
            "a block alone");
    is_text(read_block(0, true),
            LIST4(HEAD("0", "7", "6", "300"), WARP("0", "0", "false", "0,0,100,1,200,2"),
                  WARP("3", "0", "false", "0,2,1,0"), WARP("4", "0", "false", "299,0,1,1"),
                  WARP("6", "0", "false", "-1,1,2,2,298,0,2,1")),
            "with what was beside it, cut to its life");
    is_text(read_block(5, true),
            LIST1(HEAD("5", "7", "5", "300"), WARP("5", "0", "false", "0,0,100,1,200,2")),
            "and alone on another SM");
    is_text(read_block(3, true),
            LIST4(HEAD("3", "7", "6", "401"), WARP("3", "0", "false", "0,0,300,1,100,2,1,0"),
                  WARP("0", "0", "false", "400,0,100,1"),
                  WARP("1", "0", "false", "100,0,200,1,100,2"),
                  WARP("6", "0", "false", "-600,0,999,1,2,2")),
            "also with what is before it in the grid");
    is_text(read_block(7, true), "BLOCK=7: allowed are 0 to 6", "there is no eighth");
    ok(error.status == STATUS_USAGE, "which is a bad value");
}

/* Two warps, the second one begins later; the clock overflows; more stamps than room. */
static void teams(void) {
    static const Block blocks[] = {{0xfffffff0u, 1, 2, {0xfffffffau, 4}},
                                   {0xfffffff8u, 1, 7, {1, 2, 3, 4, 5, 6, 7}}};
    create(blocks, 2, 2);
    is_text(read_block(0, true),
            LIST4(HEAD("0", "2", "0", "20"), WARP("0", "0", "false", "0,0,10,1,10,2"),
                  WARP("0", "1", "false", "1,0,9,1,10,2"),
                  WARP("1", "0", "true", "8,0,9,1,1,2,1,0,1,1"),
                  WARP("1", "1", "true", "9,0,8,1,1,2,1,0,1,1")),
            "two warps of each of two blocks");
    is_text(read_block(1, false),
            LIST2(HEAD("1", "2", "0", "15"),
                  WARP("1", "0", "true", "0,0,9,1,1,2,1,0,1,1,1,2,1,0,1,1"),
                  WARP("1", "1", "true", "1,0,8,1,1,2,1,0,1,1,1,2,1,0,1,1")),
            "the second block");
    /* Of the second block one warp had ended, the other has not begun. */
    for (unsigned i = 0; i < EACH - 1; i++) {
        given.stamps[2 * EACH + 1 + i].clock = 0xffffffefu - i;
        given.stamps[3 * EACH + 1 + i].clock = 40 - i;
    }
    given.warps[2].clock = 0xffffffe0u, given.warps[3].clock = 10;
    ok(strstr(read_block(0, true), "\"block\":1,\"warp\":0") == NULL, "neither is beside it");
    given.stamps[2 * EACH + 1].clock = 0xfffffff1u, given.warps[3].clock = 3;
    ok(strstr(read_block(0, true), WARP("1", "0", "true", "-2,0,3,1")) &&
           strstr(text, WARP("1", "1", "true", "19,0,31,1")),
       "until a cycle is");
    given.warps[3].clock = 30;
    ok(strstr(read_block(0, true), WARP("1", "1", "true", "46,0")) != NULL &&
           strstr(text, WARP("1", "0", "true", "-2,0,3,1")),
       "one is enough");
    given.stamps[2 * EACH + 1].clock = 0xffffffefu, given.warps[3].clock = 3;
    ok(strstr(read_block(0, true), WARP("1", "0", "true", "-1,1")) != NULL, "or the other");
    given.stamps[1 * EACH + EACH - 2].clock = 3; /* it ends before the first warp */
    ok(strstr(read_block(0, false), "\"cycles\":20,") != NULL, "to the last warp's end");
    given.warps[0].clock = 0xfffffff2u; /* the other one is first */
    ok(strstr(read_block(0, false), "\"stamps\":[1,0,8,1,10,2]") &&
           strstr(text, "\"stamps\":[0,0,9,1,9,2]") && strstr(text, "\"cycles\":19,"),
       "from the first warp's beginning");
    given.stamps[2 * EACH] = (TimelineStamp){0, 1};
    ok(strstr(read_block(1, false), "2,1,0,1,1,1,2,1,0,1,1]},\n") != NULL, "entry 0 is not read");
    given.stamps[3 * EACH + 4].mark = 4;
    is_text(read_block(0, true), "warp 3 wrote a stamp with mark 4, but there are only 3 marks",
            "a mark that there is not");
    ok(error.status == STATUS_FAIL, "is a failure");
}

static void nothing(void) {
    create(around, 0, 1);
    is_text(read_block(0, true),
            "the stamped copy has written no stamp: did its kernel run any of the marked lines?",
            "no stamp");
    ok(error.status == STATUS_FAIL && spans_blocks(given.warps, BLOCKS) == 0, "of no block");
    create(around, 1, 1);
    is_int(spans_blocks(given.warps, 1), 1, "a grid of one warp");
    create(around, 7, 1);
    for (unsigned i = 0; i <= 7; i++)
        ok(spans_blocks(given.warps, i) == (int)i, "of %d there is memory for", (int)i);
    ok(stamps_clear(&stamps, &error) && given.warps[0].sm == 0 && given.stamps[7].mark == 0,
       "all is forgotten");
    for (int i = 0; i < 2; i++) {
        const Buffer *buffer = i ? &stamps.stamps : &stamps.warps;
        buffer->data[buffer->bytes] ^= 1;
        ok(strstr(read_block(0, true), i ? "wrote outside the stamps: it changed byte 0 of"
                                           " the 4096 bytes after"
                                         : "wrote outside the warps: it changed byte 0 of"
                                           " the 4096 bytes after"),
           "a write outside: %s", error.text);
        buffer->data[buffer->bytes] ^= 1;
    }
}

/* The program itself is such a copy, the mathematical library is none. */
const TimelineMark timeline_marks[] = {{"other", 1, 0, -1}, {"end", 2, 0, -1}, {NULL, 0, 0, 0}};

cudaError_t timeline_buffers(const TimelineBuffers *buffers) { return set(buffers); }

static void opening(void) {
    Stage stage = {.library = dlopen(NULL, RTLD_LAZY), .folder = "a/01_a"};
    Stamps opened;
    ok(stamps_open(&stage, &opened, &error) && opened.mark_count == 2 && !opened.warps.data,
       "a stamped copy");
    given.count = 0;
    ok(opened.set(&(TimelineBuffers){.count = 5}) == cudaSuccess && given.count == 5,
       "is told where to write");
    stage.library = dlopen("libm.so.6", RTLD_LAZY);
    ok(!stage.library || (!stamps_open(&stage, &opened, &error) && error.status == STATUS_USAGE),
       "another library is none");
    is_text(error.text,
            "a/01_a is not a stamped copy of a stage: the second folder must be one "
            "(make stageNN timeline builds it)",
            "which is said");
}

static void memory(void) {
#if ALLOCATOR_COUNTS
    create(around, 7, 1);
    read_block(0, true);
    const long before = held;
    refuse(-1);
    read_block(0, true);
    const long allocations = asked;
    is_int(held - before, 0, "memory is given back");
    int told = 0;
    for (long i = 0; i < allocations; i++) {
        refuse(i);
        TimelineWarp *warps = stamps_warps(&stamps, &error);
        Spans spans = {0};
        if (!warps || !spans_read(&stamps, warps, 0, true, &spans, &error))
            told +=
                error.status == STATUS_SKIP && strcmp(error.text, "not enough host memory") == 0;
        refuse(-1);
        free(warps);
        spans_free(&spans);
    }
    is_int(held - before, 0, "also if there is none for one thing");
    is_int(told, 3 + 6, "which is said: warps, a list, the spans, and those of each warp");
    stamps_free(&stamps);
    ok(held < before && !stamps.warps.data && !stamps.stamps.data, "nothing is left");
#endif
}

int main(void) {
    opening();
    neighbours();
    teams();
    nothing();
    memory();
    return done_testing();
}
