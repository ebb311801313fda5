/* Counters by line. Catches: a line that is marked in the place of a worse one, or though it has
 * hardly more than others, an instruction of another file or of no line, context that is one line
 * too short, a source that is shorter than what was counted of it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/lines.h"
#include "test/tap.h"

enum { MOST_LINES = 24 };

/* Line k + 1 has number[k]: of instructions, or beyond the ideal. */
typedef struct Case {
    const char *name;
    uint64_t number[MOST_LINES];
    const char *marked; /* a character for each line up to the last that is marked */
} Case;

static const Case cases[] = {
    {"of different numbers the three largest", {10, 40, 20, 30, 5}, ".###"},
    {"in another order", {30, 5, 10, 20, 40}, "#..##"},
    {"of equal ones the first", {7, 7, 7, 7}, "###"},
    {"the first of two, behind a larger one", {3, 9, 9, 3, 3}, "###"},
    {"none of what has a twentieth",
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     ""},
    {"what has more than a twentieth",
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     "###"},
    {"of 20 all but one have a twentieth",
     {2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     "#"},
    {"one alone", {0, 1}, ".#"},
    {"nothing", {0}, ""},
};

static const char *const files[] = {"/nowhere/a.cu", "/nowhere/b.cu"};

/* A snapshot of one kernel whose instruction k is of line k + 1. */
static CountsSnapshot snapshot_of(const InstructionCount *count, InstructionClass class) {
    static InstructionInfo info[MOST_LINES];
    static KernelCounts kernel;
    for (int i = 0; i < MOST_LINES; i++) info[i] = (InstructionInfo){class, 0, i + 1, ""};
    kernel = (KernelCounts){.instructions = MOST_LINES, .info = info, .count = count};
    return (CountsSnapshot){1, &kernel, 2, files};
}

static void are_marked(const Case *c, InstructionClass class, unsigned mark) {
    InstructionCount count[MOST_LINES];
    char marked[MOST_LINES + 1];
    SourceLines lines;
    for (int i = 0; i < MOST_LINES; i++) {
        const uint64_t n = c->number[i];
        count[i] = (InstructionCount){.executions = n};
        if (mark != LINE_BUSY) count[i].requests = 1, count[i].units = n + 2;
        if (mark != LINE_BUSY) count[i].ideal_units = 2;
    }
    const CountsSnapshot snapshot = snapshot_of(count, class);
    if (!source_lines_open(&snapshot, 0, &lines)) exit(1);
    size_t end = 0;
    for (size_t n = 1; n <= lines.lines; n++) {
        marked[n - 1] = lines.counts[n].marks & mark ? '#' : '.';
        if (lines.counts[n].marks & mark) end = n;
    }
    marked[end] = '\0';
    is_text(marked, c->marked, c->name);
    source_lines_close(&lines);
}

/* Of less than the ideal nobody is to blame. */
static void test_below_ideal(void) {
    const InstructionCount count[MOST_LINES] = {{.requests = 1, .units = 1, .ideal_units = 2},
                                                {.requests = 1, .units = 2, .ideal_units = 2}};
    const CountsSnapshot snapshot = snapshot_of(count, CLASS_SHARED_LOAD);
    SourceLines lines;
    if (!source_lines_open(&snapshot, 0, &lines)) exit(1);
    ok(!lines.counts[1].marks && !lines.counts[2].marks, "what needs less than the ideal is good");
    source_lines_close(&lines);
}

/* Of two kernels, whose instructions are of two files and of none. */
static void test_files(void) {
    static const InstructionInfo info[] = {{CLASS_INTEGER, 0, 1, ""},
                                           {CLASS_INTEGER, 1, 3, ""},
                                           {CLASS_INTEGER, 1, 1, ""},
                                           {CLASS_INTEGER, -1, 0, ""},
                                           {CLASS_INTEGER, 0, 0, ""}};
    static const InstructionCount count[] = {{.executions = 1, .lanes = 2, .divergent = 4},
                                             {.executions = 8},
                                             {.executions = 16},
                                             {.executions = 32},
                                             {.executions = 64}};
    const KernelCounts kernels[] = {{.instructions = 1, .info = info, .count = count},
                                    {.instructions = 5, .info = info, .count = count}};
    const CountsSnapshot snapshot = {2, kernels, 2, files}, first = {1, kernels, 2, files};
    SourceLines lines;
    ok(source_lines_open(&snapshot, 0, &lines), "a file of which one line is counted");
    ok(lines.lines == 1 && lines.counts[1].executions == 2, "that is line 1, in both kernels");
    ok(lines.counts[1].lanes == 4 && lines.counts[1].divergent == 8, "with lanes and branches");
    is_int((long long)lines.executions, 122, "shares are those of everything");
    source_lines_close(&lines);
    ok(source_lines_open(&snapshot, 1, &lines), "another file");
    ok(lines.lines == 3 && lines.counts[1].executions == 16 && lines.counts[3].executions == 8,
       "has its own lines");
    ok(!source_line_shown(&lines, 2) && source_line_shown(&lines, 3), "those counted are shown");
    source_lines_close(&lines);
    ok(!source_lines_open(&first, 1, &lines), "and of a file without instructions there is none");
}

/* Each kind of memory in the place of its class, cp.async in both. */
static void test_classes(void) {
    static const struct {
        InstructionClass class;
        uint64_t global, shared;
    } places[] = {
        {CLASS_INTEGER, 0, 0},      {CLASS_LOCAL, 0, 0},         {CLASS_GLOBAL_LOAD, 4, 0},
        {CLASS_GLOBAL_STORE, 4, 0}, {CLASS_GLOBAL_ATOMIC, 4, 0}, {CLASS_SHARED_LOAD, 0, 4},
        {CLASS_SHARED_STORE, 0, 4}, {CLASS_SHARED_ATOMIC, 0, 4}, {CLASS_LDMATRIX, 0, 4},
        {CLASS_STMATRIX, 0, 4},     {CLASS_CP_ASYNC, 4, 16},     {CLASS_BULK_LOAD, 4, 0},
        {CLASS_BULK_STORE, 4, 0}};
    const InstructionCount count[MOST_LINES] = {{.executions = 1,
                                                 .requests = 2,
                                                 .units = 4,
                                                 .ideal_units = 3,
                                                 .second_units = 16,
                                                 .second_ideal_units = 7}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const CountsSnapshot snapshot = snapshot_of(count, places[i].class);
        SourceLines lines;
        if (!source_lines_open(&snapshot, 0, &lines)) exit(1);
        const LineMemory *global = &lines.counts[1].global, *shared = &lines.counts[1].shared;
        const bool copies = places[i].class == CLASS_CP_ASYNC;
        ok(global->units == places[i].global && shared->units == places[i].shared,
           "class %d: its memory", (int)places[i].class);
        ok(global->requests == global->units / 2 && global->ideal_units == global->units / 4 * 3,
           "its requests and ideal in global memory");
        ok(shared->requests == (copies ? 1 : shared->units / 2) &&
               shared->ideal_units == (copies ? 7 : shared->units / 4 * 3),
           "and in shared memory");
        source_lines_close(&lines);
    }
}

/* A file with `text`, of which line 8 is counted once. */
static void has_lines(const char *text, size_t lines, const char *fourth, const char *name) {
    char path[] = "/tmp/test_lines.XXXXXX";
    const char *const file[] = {path};
    const int descriptor = mkstemp(path);
    const size_t size = strlen(text);
    if (descriptor < 0 || write(descriptor, text, size) != (ssize_t)size) exit(1);
    close(descriptor);
    static const InstructionInfo info = {CLASS_INTEGER, 0, 8, ""};
    static const InstructionCount count = {.executions = 1};
    const KernelCounts kernel = {.instructions = 1, .info = &info, .count = &count};
    const CountsSnapshot snapshot = {1, &kernel, 1, file};
    SourceLines read;
    if (!source_lines_open(&snapshot, 0, &read)) exit(1);
    is_int((long long)read.lines, (long long)lines, name);
    is_text(read.text[4], fourth, "its fourth line");
    is_text(read.text[8], lines > 8 ? "8" : "", "and what was counted");
    ok(!source_line_shown(&read, 1) && source_line_shown(&read, 2), "six lines before it");
    ok(lines == 8 || (source_line_shown(&read, 14) && !source_line_shown(&read, 15)), "and after");
    source_lines_close(&read);
    unlink(path);
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        are_marked(&cases[i], CLASS_INTEGER, LINE_BUSY);
        are_marked(&cases[i], CLASS_GLOBAL_LOAD, LINE_SCATTERED);
        are_marked(&cases[i], CLASS_SHARED_LOAD, LINE_CONFLICTS);
    }
    test_below_ideal();
    test_files();
    test_classes();
    has_lines("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n", 15, "4", "15 lines");
    has_lines("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16", 16, "4",
              "16 lines, the last without an end");
    has_lines("1\n2\n\n4 of 4", 8, "4 of 4", "a file that is shorter than what was counted");
    has_lines("1\n2\n\n\n", 8, "", "one that ends with an empty line");
    has_lines("", 8, "", "an empty one");
    return done_testing();
}
