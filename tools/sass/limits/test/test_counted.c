/* Records and reports of the simulator, of one run and of a stage. Catches: a count of another
 * column, a class of another operation, sectors of one line counted as several, a footprint of
 * shared memory, bytes of another line, kernel or unit, a file that is not there and not missed,
 * runs of different kernels that pass for the same. */
#include "limits/counted.h"
#include "limits/json.h"
#include "test/tap.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/counted.XXXXXX";

static const char *place(const char *name) {
    static char path[2][80];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put(const char *name, const char *text) {
    FILE *out = fopen(place(name), "w");
    if (!out) return;
    fputs(text, out);
    fclose(out);
}

/* A record of these launches. */
static void put_launches(const char *name, const char *launches) {
    char text[4000];
    snprintf(text, sizeof text, "{\"launches\":[%s]}", launches);
    put(name, text);
}

static CountedRun run;

static bool read_launches(const char *launches, const char *report) {
    Error error;
    put_launches("record", launches);
    memset(&run, 1, sizeof run);
    if (report) put("report", report);
    return counted_read(place("record"), report ? place("report") : NULL, &run, &error);
}

static void is_kind(int operation, const char *expected, const char *what) {
    char kind[NAME_SIZE];
    if (!json_string(run.launch[0].operation[operation].kind, kind, sizeof kind))
        strcpy(kind, "none");
    is_text(kind, expected, what);
}

/* Four operations, of which nine numbers were counted, one or none, and another one. */
static void test_operations(void) {
    static const char launch[] =
        "{\"kernel\":\"k\",\"grid\":[2,3,4],\"threads\":[32,2,1],\"classes\":[\"a\",\"b\",\"c\"],"
        "\"ops\":[[\"x\",2],[\"y\",0],[\"z\",1],[\"w\",7],[\"none\",0]],"
        "\"run_counters\":[[1,2,3,4,5,6,7,8,9],[11,12,13,14,15,16,17,18,19],[21],[]],"
        "\"counters\":[[41,99],[42],[43]]}";
    ok(read_launches(launch, NULL), "a record without a report");
    const Counted *counted = &run.launch[0];
    is_near(counted->blocks, 24, 0, "a grid of three numbers");
    is_int(counted->threads, 64, "threads of two");
    is_int(counted->operations, 4, "an operation without counts is none");
    is_kind(0, "c", "the third class");
    is_kind(1, "a", "the first");
    is_kind(2, "b", "the second");
    is_kind(3, "none", "a class that is not there");
    for (int i = 0; i < 2; i++) {
        const Operation *at = &counted->operation[i];
        ok(at->executions == 1 + 10 * i && at->requests == 4 + 10 * i && at->units == 5 + 10 * i &&
               at->shared_units == 7 + 10 * i,
           "numbers 1, 4, 5 and 7 of operation %d", i);
        is_near(at->in_first_block, 41 + i, 0, "in the recorded block");
    }
    ok(counted->operation[2].executions == 21 && counted->operation[2].requests == 0,
       "of another one there is one number");
    ok(counted->operation[3].executions == 0, "of the last one there is none");
    ok(counted->operation[2].in_first_block == 43 && counted->operation[3].in_first_block == 0,
       "the recorded block has fewer operations");
    ok(counted->read_bytes == 0 && counted->written_bytes == 0, "no report, no bytes");
    counted_free(&run);
    ok(!run.launch && !run.text && run.launches == 0, "nothing is left");
    ok(read_launches("{\"kernel\":\"k\",\"ops\":[[\"x\",0]],\"run_counters\":[[1],[2]]}", NULL),
       "a record with more counts than operations");
    is_int(run.launch[0].operations, 1, "of which the rest counts for nothing");
    counted_free(&run);
}

static void test_footprints(void) {
    static const char launch[] = "{\"kernel\":\"k\",\"footprints\":["
                                 "{\"space\":\"global\",\"units\":0,\"sectors\":[5]},"
                                 "{\"space\":\"global\",\"units\":1,\"sectors\":[3]},"
                                 "{\"units\":1,\"sectors\":[3,9,17]},"
                                 "{\"space\":\"shared\",\"units\":1,\"sectors\":[3,9,17]},"
                                 "{\"space\":\"global\",\"units\":4,\"sectors\":[0,1,2,3]},"
                                 "{\"space\":\"global\",\"units\":4,\"sectors\":[3,4,7,8]},"
                                 "{\"space\":\"global\",\"units\":4,\"sectors\":[1,5,9,13]},"
                                 "{\"space\":\"global\",\"units\":32,\"sectors\":[4,8]},"
                                 "{\"space\":\"global\",\"units\":32,\"sectors\":[4]},"
                                 "{\"space\":\"global\",\"units\":33,\"sectors\":[4]}]}";
    ok(read_launches(launch, NULL), "a record with footprints");
    const double *lines = run.launch[0].lines_of;
    is_near(lines[0], 0, 0, "no sectors, no lines");
    is_near(lines[1], 1, 0, "of global memory alone");
    is_near(lines[4], (1 + 3 + 4) / 3.0, 1e-9, "four sectors of one, three and four lines");
    is_near(lines[32], 1.5, 0, "the most that a request can touch");
    is_near(lines[5] + lines[31], 0, 0, "what was not seen has none");
    counted_free(&run);
}

/* The bytes of the kernels are what is in their parts of the report, each as "READ WRITTEN". */
static void tells(const char *report, const char *expected, const char *what) {
    char got[200] = "";
    ok(read_launches("{\"kernel\":\"k\"},{\"kernel\":\"m\"},{\"kernel\":\"k\"}", report),
       "a record and a report");
    for (int l = 0; l < run.launches; l++)
        sprintf(got + strlen(got), "%s%.0f %.0f", l ? ", " : "", run.launch[l].read_bytes,
                run.launch[l].written_bytes);
    is_text(got, expected, what);
    counted_free(&run);
}

#define READ "  global memory, read  "
#define WRITTEN "  global memory, written  "
#define BLOCKS "  2 blocks\n"
#define END "  0 mma instructions\n"

/* A name that just has room. */
static void test_long_name(void) {
    char name[NAME_SIZE], launch[NAME_SIZE + 40], text[NAME_SIZE + 80];
    memset(name, 'k', NAME_SIZE - 1);
    name[NAME_SIZE - 1] = '\0';
    snprintf(launch, sizeof launch, "{\"kernel\":\"%s\"}", name);
    snprintf(text, sizeof text, "\n%s\n" BLOCKS READ "9, 5 B distinct\n" END, name);
    ok(read_launches(launch, text), "a kernel with a long name");
    is_text(run.launch[0].kernel, name, "which is kept");
    is_near(run.launch[0].read_bytes, 5, 0, "and found in the report");
    counted_free(&run);
}

static void test_reports(void) {
    tells("\nk\n" BLOCKS READ "1 B requested, 2.5 KiB distinct: each\n" WRITTEN
          "7, 3 MiB distinct\n" END "\nm\n" BLOCKS READ "9, 2  GiB distinct\n" WRITTEN
          "9, 12 B distinct\n" END "\nk\n" BLOCKS READ "9, 5 B distinct\n" END,
          "2560 3145728, 2147483648 12, 5 0", "three kernels with units of their own");
    tells("\nm\n" BLOCKS READ "9, 4 B distinct\n" END "\nk\n" BLOCKS READ "9, 5 B distinct\n" END,
          "5 0, 4 0, 0 0", "defined in another order than launched; one of them launched twice");
    tells("\nm\n" BLOCKS READ "9,48 B distinct\n" END, "0 0, 48 0, 0 0",
          "a kernel that is not there");
    tells("\nk\n" BLOCKS READ "9, 4 B distinct\n\nm\n" BLOCKS READ "9, 5 B distinct\n",
          "0 0, 0 0, 0 0", "parts without an end");
    tells("\nk\n" BLOCKS READ "9 B requested\n" WRITTEN "9, 6 B distinct\n" END, "0 6, 0 0, 0 0",
          "a line without distinct bytes");
    tells("\nk\n" BLOCKS READ "9 B requested\n" END "9, 8 B distinct\n", "0 0, 0 0, 0 0",
          "none until the end, either");
    tells("\nk\n" BLOCKS READ "9 B requested " END ", 8 B distinct\n", "0 0, 0 0, 0 0",
          "the end on the same line");
    tells("\nk\n" BLOCKS END READ "9, 8 B distinct\n", "0 0, 0 0, 0 0", "a line behind the end");
    tells("\nk\n" BLOCKS READ "8 B distinct\n" END, "0 0, 0 0, 0 0",
          "no number of requested bytes");
    tells("\nk:\n" READ "9, 8 B distinct\n" END, "0 0, 0 0, 0 0", "a heading that says more");
    tells("\nk\nm\n" BLOCKS READ "9, 8 B distinct\n" END, "0 0, 8 0, 0 0",
          "a heading without lines");
}

static void test_again(void) {
    ok(read_launches("{\"kernel\":\"k\"},{\"kernel\":\"m\"}",
                     "\nk\n  4 blocks (grid 2 x 1 x 1) in 2 launches, 0 B\n" END
                     "\nm\n" BLOCKS END),
       "a kernel that was launched twice");
    ok(run.launch[0].again && !run.launch[1].again, "is told from one that was launched once");
    counted_free(&run);
}

static void says(bool read, const Error *error, Status status, const char *text) {
    char expected[200];
    snprintf(expected, sizeof expected, "%s%s", folder, text);
    ok(!read && error->status == status, "refused, with its status");
    is_text(read ? "" : error->text, expected, text);
}

static void test_refused(void) {
    Error error;
    memset(&run, 1, sizeof run);
    bool read = counted_read(place("nothing"), NULL, &run, &error);
    ok(!run.launch && !run.text && run.launches == 0, "nothing was read");
    says(read, &error, STATUS_USAGE, "/nothing cannot be read: No such file or directory");
    put_launches("record", "{\"kernel\":\"k\",\"ops\":[[\"x\",0]],\"run_counters\":[[1]]}");
    read = counted_read(place("record"), place("nothing"), &run, &error);
    ok(!run.launch && !run.text && run.launches == 0, "nothing is kept");
    says(read, &error, STATUS_USAGE, "/nothing cannot be read: No such file or directory");
    put("record", "{\"launches\":[]}");
    read = counted_read(place("record"), NULL, &run, &error);
    says(read, &error, STATUS_FAIL, "/record is no record of the simulator");
}

/* All that is counted of a stage: in each record the kernels have other numbers of blocks. */
static const char *const names[] = {"1.json", "2.json", "4.json",     "1.txt",
                                    "2.txt",  "4.txt",  "first.json", "second.json"};
enum { NAMES = sizeof names / sizeof *names };

static void put_stage(void) {
    char text[200];
    put("lengths", "1 2 4\n");
    for (int i = 0; i < NAMES; i++) {
        snprintf(text, sizeof text, "{\"kernel\":\"k\",\"grid\":[%d]}", i + 1);
        put_launches(names[i], text);
        snprintf(text, sizeof text, "\nk\n" BLOCKS READ "9, %d B distinct\n" END, 10 * i);
        if (strstr(names[i], ".txt")) put(names[i], text);
    }
}

static void test_stage(void) {
    Runs runs;
    Error error;
    put_stage();
    memset(&runs, 1, sizeof runs);
    ok(runs_read(folder, &runs, &error), "all that was counted of a stage");
    for (int j = 0; j < LENGTHS; j++) {
        is_near(runs.length[j], 1 << j, 0, "a length");
        is_near(runs.of[j].launch[0].blocks, j + 1, 0, "its record");
        is_near(runs.of[j].launch[0].read_bytes, 30 + 10 * j, 0, "and its report");
    }
    is_near(runs.first.launch[0].blocks, 7, 0, "the record of the first block");
    is_near(runs.second.launch[0].blocks, 8, 0, "and of the second");
    ok(runs_agree(&runs), "all of the same kernels");
    runs_free(&runs);
    for (int i = 0; i < NAMES; i++) {
        char text[80];
        unlink(place(names[i]));
        snprintf(text, sizeof text, "/%s cannot be read: No such file or directory", names[i]);
        memset(&runs, 1, sizeof runs);
        const bool read = runs_read(folder, &runs, &error);
        says(read, &error, STATUS_USAGE, text);
        ok(!runs.first.text && !runs.of[0].text, "nothing is kept");
        put_stage();
    }
    unlink(place("lengths"));
    bool read = runs_read(folder, &runs, &error);
    says(read, &error, STATUS_USAGE, "/lengths cannot be read: No such file or directory");
    static const char *const wrong[] = {"", "1 2", "0 1 2", "-1 1 2", "1 1 2", "1 2 2", "2 1 4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put("lengths", wrong[i]);
        read = runs_read(folder, &runs, &error);
        says(read, &error, STATUS_FAIL, "/lengths does not name three lengths, the least first");
    }
}

#define ONE "{\"kernel\":\"o\",\"ops\":[[\"x\",0]],\"run_counters\":[[1]]}"
#define K "{\"kernel\":\"k\",\"grid\":[2],\"ops\":[[\"x\",0]],\"run_counters\":[[1]]}"
#define M "{\"kernel\":\"m\",\"grid\":[2],\"ops\":[[\"x\",0]],\"run_counters\":[[1]]}"
#define LONG \
    "{\"kernel\":\"k\",\"grid\":[2],\"ops\":[[\"x\",0],[\"y\",0]],\"run_counters\":[[1],[1]]}"

/* Whether the runs agree if one record has these launches and the others those. */
static bool agree(const char *name, const char *launches, const char *others) {
    Runs runs;
    Error error;
    put_stage();
    for (int i = 0; i < NAMES; i++)
        if (!strstr(names[i], ".txt"))
            put_launches(names[i], strcmp(names[i], name) == 0 ? launches : others);
    if (!ok(runs_read(folder, &runs, &error), "runs of a stage")) return false;
    const bool same = runs_agree(&runs);
    runs_free(&runs);
    return same;
}

static void test_agree(void) {
    ok(agree("", "", K "," M), "two kernels in all records");
    ok(agree("", "", K "," K "," K "," M), "four kernels");
    ok(!agree("", "", K "," K "," K "," K "," M), "five are too many");
    ok(!agree("second.json", K, K "," M), "one kernel less for the second block");
    ok(!agree("second.json", K "," M "," M, K "," M), "or one more");
    ok(agree("second.json", K, ONE "," K), "a kernel of one block has no second one");
    ok(agree("second.json", K, K "," ONE), "nor if it is the last");
    ok(agree("second.json", ONE "," K, ONE "," K), "a record that has it nevertheless");
    static const char *const lengths[] = {"1.json", "2.json", "4.json"};
    for (int j = 0; j < LENGTHS; j++) {
        ok(!agree(lengths[j], K, K "," M), "%s has a kernel less", lengths[j]);
        ok(!agree(lengths[j], K "," M "," M, K "," M), "or one more");
        ok(!agree(lengths[j], K "," K, K "," M), "its second kernel is another");
        ok(!agree(lengths[j], M "," M, K "," M), "or its first");
        ok(!agree(lengths[j], LONG "," M, K "," M), "its first kernel has more operations");
        ok(!agree(lengths[j], K "," K, K "," LONG), "or its second fewer");
    }
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    test_operations();
    test_footprints();
    test_reports();
    test_long_name();
    test_again();
    test_refused();
    test_stage();
    test_agree();
    for (int i = 0; i < NAMES; i++) unlink(place(names[i]));
    unlink(place("lengths"));
    unlink(place("record"));
    unlink(place("report"));
    rmdir(folder);
    return done_testing();
}
