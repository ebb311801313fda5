/* What whole commands print, on a terminal, with a stage that is in this program (inside.h) and a
 * clock that the test moves. Catches: a line that is left out, comes twice or in another order, a
 * number that stands for another one, a step that nobody sees, a case too many or too few, an exit
 * code that is not the worst of all. */
#include "cli/bench.h"
#include "cli/fuzz.h"
#include "cli/repeat.h"
#include "cli/run.h"
#include "cli/timeline.h"
#include "device/counters.h"
#include "device/simulator.h"
#include "test/digest.h"
#include "test/inside.h"
#include "test/tap.h"

#include <inttypes.h>
#include <time.h>

static char stage_c[64]; /* none of whose variants is built */

/* ---- The clock and the simulator ------------------------------------------------------------- */

static long ticks; /* seconds: one passes whenever somebody asks */

int clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    ticks++;
    *time = (struct timespec){.tv_sec = ticks};
    return 0;
}

/* Nobody watches. */
unsigned sleep(unsigned seconds) {
    (void)seconds;
    for (;;) pause();
}

bool counters_simulated(void) { return false; }

void counters_reset(void) {}

bool counters_read(Counters *counters) {
    *counters = (Counters){.warp_instructions = 1000};
    return device.simulated;
}

void counters_report(FILE *out) { fprintf(out, "the report\n"); }

void counters_annotate(FILE *out, bool html) { fprintf(out, html ? "a page\n" : "the source\n"); }

void simulator_vary(int run) { (void)run; }

void simulator_print_settings(FILE *out, int runs) { fprintf(out, "RUN=%d ", runs); }

/* ---- What is said ---------------------------------------------------------------------------- */

/* Each text that takes the place of the one before on the terminal becomes a line with a ">". */
static void mark_steps(void) {
    static char marked[2 * sizeof said];
    size_t n = 0;
    for (const char *at = said; *at; at++) {
        const bool step = strncmp(at, "\r\033[K", 4) == 0;
        if (step && n > 0 && marked[n - 1] != '\n') marked[n++] = '\n';
        marked[n++] = step ? '>' : *at;
        if (step) at += 3;
    }
    marked[n] = '\0';
    memcpy(said, marked, sizeof said);
}

static void begin(Command command, int code, const char *name) {
    ticks = 0;
    is_int(run(command), code, name);
    mark_steps();
    is_int(libraries, 0, "nothing stays open");
}

/* Against common/test/corpus/NAME.txt, which WRITE=1 writes anew. */
static void prints(const char *name, Command command, int code) {
    static char expected[sizeof said];
    char path[100];
    begin(command, code, name);
    snprintf(path, sizeof path, "common/test/corpus/%s.txt", name);
    FILE *file = fopen(path, getenv("WRITE") ? "w+" : "r");
    if (file && getenv("WRITE")) fputs(said, file), rewind(file);
    expected[file ? fread(expected, 1, sizeof expected - 1, file) : 0] = '\0';
    if (file) fclose(file);
    is_text(said, expected, path);
}

/* What is too long for a file, by its digest. */
static void amounts_to(const char *name, Command command, int code, uint64_t expected) {
    uint64_t digest = 0;
    begin(command, code, name);
    for (const char *at = said; *at; at++) digest = digest_add(digest, *at);
    ok(digest == expected, "its output is the same as ever: %" PRIx64, digest);
}

static void on_a_gpu(void) {
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "REPS=1");
    prints("run", run_command, STATUS_PASS);
    wrong_launch = 2;
    prints("run_wrong", run_command, STATUS_FAIL);
    wrong_launch = 0;
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "REPS=1", "FORMAT=json", stage_c);
    prints("run_json", run_command, STATUS_FAIL);
    capability = 80;
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "REPS=1");
    begin(run_command, STATUS_SKIP, "run on another device");
    ok(strstr(said,
              "\n02_b          -         -      -        -      -        -    40    1024      0"
              "         -         -  SKIP: needs another device\n") != NULL,
       "nothing was checked");
    capability = 0;
    OPTIONS("COUNTERS=full");
    begin(run_command, STATUS_SKIP, "run with counters");
    is_text(said, "attention: counters are the simulator's: add DEVICE=sim\n", "a GPU has none");
    OPTIONS("REGIME=small", "D=64", "CAUSAL=1", "REPS=1");
    wrong_launch = 1;
    prints("bench", bench_command, STATUS_FAIL);
    wrong_launch = 0;
    OPTIONS("B=1", "H=2", "HKV=1", "N=20", "REPS=3");
    prints("timeline", timeline_command, STATUS_PASS);
}

static void simulated(void) {
    device.simulated = true;
    OPTIONS("B=1", "H=2", "HKV=1", "N=3");
    wrong_launch = 2;
    prints("simulated", run_command, STATUS_FAIL);
    wrong_launch = 0;
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "COUNTERS=full", stage_c);
    prints("simulated_full", run_command, STATUS_FAIL);
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "COUNTERS=html");
    prints("simulated_page", run_command, STATUS_PASS);
    OPTIONS("D=64", "DTYPE=fp16", "CAUSAL=0", stage_c);
    wrong_launch = 4;
    prints("repeat", repeat_command, STATUS_FAIL);
    OPTIONS("D=64", "DTYPE=fp16", "SECONDS=100", "SEED=3");
    wrong_launch = 3;
    prints("fuzz", fuzz_command, STATUS_FAIL);
    wrong_launch = 0;
    device.simulated = false;
}

/* Cases that have no room on the device take no time. */
static void without_memory(void) {
    setenv("FAKE_MEMORY", "1000", 1);
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "REPS=1");
    prints("run_memory", run_command, STATUS_SKIP);
    OPTIONS("REGIME=decode", "D=64", "REPS=1");
    prints("bench_memory", bench_command, STATUS_SKIP);
    OPTIONS("FORMAT=json", "SECONDS=209", "SEED=5");
    /* The time is over just before the 53rd. */
    amounts_to("fuzz on a GPU", fuzz_command, STATUS_SKIP, 0x5b55b2d8439ab8e7);
    OPTIONS("FORMAT=json", "DTYPE=fp16");
    amounts_to("repeat on a GPU", repeat_command, STATUS_SKIP, 0xa6719d159fc616a3);
    device.simulated = true;
    OPTIONS("FORMAT=json", "SECONDS=209", "SEED=5");
    amounts_to("fuzz in the simulator", fuzz_command, STATUS_SKIP, 0x0b782bbaf0a59cf2);
    device.simulated = false;
    unsetenv("FAKE_MEMORY");
}

int main(void) {
    Error error;
    setvbuf(stdout, NULL, _IOLBF, 0); /* as main does */
    setenv("FAKE_TERMINAL", "1", 1);
    create_stages();
    create_folder(stage_c, "03_c", false);
    if (!device_open(0, &device, &error)) return 1;
    device.limit = 1000;
    on_a_gpu();
    simulated();
    without_memory();
    remove_stages();
    return done_testing();
}
