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

void counters_annotate(FILE *out, const char *title) {
    fprintf(out, "%s\n", title ? title : "the source");
}

void counters_lines(FILE *out, const char *name) { fprintf(out, "{\"lines of\":\"%s\"}\n", name); }

static int varied; /* a bit for each run that was announced */

void simulator_vary(int run) { varied |= 1 << run; }

void simulator_watch(cudaStream_t stream) { (void)stream; }

const char *simulator_unwatch(void) { return NULL; }

bool simulator_strayed(void) { return false; }

const char *simulator_unlisted(const AttentionKernel kernels[]) {
    (void)kernels;
    return NULL;
}

bool simulator_rehearse(int which) {
    (void)which;
    return false;
}

int simulator_rehearsed(void) { return 0; }

bool simulator_too_long(double operations) { return operations < 0; }

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

#define LAUNCH(number) ((uint64_t)1 << (number))

static void on_a_gpu(void) {
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "REPS=1");
    prints("run", run_command, STATUS_PASS);
    wrong_launches = LAUNCH(2);
    prints("run_wrong", run_command, STATUS_FAIL);
    wrong_launches = 0;
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "REPS=1", "FORMAT=json", stage_c);
    prints("run_json", run_command, STATUS_FAIL);
    capability = 80;
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "REPS=1");
    begin(run_command, STATUS_SKIP, "run on another device");
    ok(strstr(said,
              "\n02_longer_name         -         -      -        -      -        -    40    1024"
              "      0         -         -  SKIP: needs another device\n") != NULL,
       "nothing was checked");
    capability = 0;
    OPTIONS("COUNTERS=full");
    begin(run_command, STATUS_SKIP, "run with counters");
    is_text(said, "attention: counters are the simulator's: add DEVICE=sim\n", "a GPU has none");
    OPTIONS("REGIME=small", "D=64", "CAUSAL=1", "REPS=2");
    wrong_launches = LAUNCH(7) | LAUNCH(17); /* one that is timed; a last check */
    prints("bench", bench_command, STATUS_FAIL);
    wrong_launches = 0;
    OPTIONS("B=1", "H=2", "HKV=1", "N=20", "REPS=3");
    prints("timeline", timeline_command, STATUS_PASS);
    is_int(most_warps, 1 << 22, "room for four million warps at first");
    static const char *const whose[] = {
        ">attention: 01_a: 5120 of 5120 elements of O are wrong: ",
        ">attention: 02_longer_name, the stamped copy: 5120 of 5120"};
    for (int i = 0; i < 2; i++) {
        wrong_launches = LAUNCH(11 + i); /* the last checks */
        begin(timeline_command, STATUS_FAIL, "timeline of what is wrong at last");
        ok(strstr(said, whose[i]) && !strstr(said, "{"), "nothing is written of it");
    }
    wrong_launches = 0;
}

static void simulated(void) {
    device.simulated = true;
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", stage_c);
    wrong_launches = LAUNCH(2);
    prints("simulated", run_command, STATUS_FAIL);
    wrong_launches = 0;
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "FORMAT=json");
    begin(run_command, STATUS_PASS, "simulated, JSON");
    ok(!strstr(said, "x ideal"), "has no table");
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "COUNTERS=full", stage_c);
    prints("simulated_full", run_command, STATUS_FAIL);
    OPTIONS("B=1", "H=2", "HKV=1", "N=3", "COUNTERS=html");
    prints("simulated_page", run_command, STATUS_PASS);
    OPTIONS("D=64", "DTYPE=fp16", "CAUSAL=0", stage_c);
    wrong_launches = LAUNCH(4);
    varied = 0;
    prints("repeat", repeat_command, STATUS_FAIL);
    is_int(varied, 3, "another order for each of two runs");
    OPTIONS("DTYPE=fp16");
    wrong = true;
    begin(repeat_command, STATUS_FAIL, "repeat of what is always wrong");
    ok(strstr(said, "02_longer_name              10 cases, 10 failed") != NULL, "ends after ten");
    wrong = false;
    OPTIONS("D=64", "DTYPE=fp16", "SECONDS=100", "SEED=3", stage_c);
    wrong_launches = LAUNCH(3);
    prints("fuzz", fuzz_command, STATUS_FAIL);
    wrong_launches = 0;
    device.simulated = false;
}

/* One case with scores of some 10^31, as no command makes them. */
static int far_case(const Options *chosen, const Device *on) {
    const Problem problem = {{1, 1, 1, 3, 3, 1e30f}, 64, TYPE_FP16, false};
    const TrialSetup setup = setup_of(chosen, &problem, ROWS_WORK_GRID);
    Cases cases;
    Error error;
    cases_begin(chosen, on, &cases);
    cases.patience = 1;
    cases.failed = cases_print_failure;
    return cases_try(&cases, &setup, &error) ? cases_end(&cases) : STATUS_USAGE;
}

/* What was compared with nothing has not passed. */
static void nothing_compared(void) {
    OPTIONS("INIT=normal");
    begin(far_case, STATUS_SKIP, "inputs beyond the contract");
    ok(strstr(said, " 1 cases, 0 failed, 1 skipped, ") &&
           strstr(said, "SKIP: the inputs have scores beyond 1e+08"),
       "are no case of a stage");
    OPTIONS("RUNS=1");
    begin(repeat_command, STATUS_USAGE, "repeat of one run");
    is_text(said,
            "attention: RUNS=1: repeat compares runs; allowed are whole numbers from 2 to "
            "2147483647\n",
            "is none");
}

/* How many stamps a warp has room for, and what the simulator is given. */
static void room(void) {
    static const struct {
        bool simulated;
        unsigned warps, each;
    } of[] = {
        {false, 1, 1 << 16},      {false, 1 << 11, 1 << 16},      {false, (1 << 11) + 1, 1 << 15},
        {false, 1 << 22, 32},     {false, 1u << 31, 2},           {true, 1, 1 << 13},
        {true, 1 << 12, 1 << 13}, {true, (1 << 12) + 1, 1 << 12}, {true, 1 << 24, 2}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        is_int(timeline_stamps(of[i].simulated, of[i].warps), of[i].each, "stamps of a warp");
    device.simulated = true;
    OPTIONS("B=1", "H=2", "HKV=1", "N=20");
    begin(timeline_command, STATUS_PASS, "timeline, simulated");
    ok(to.count == (2 * 20 / 16 + 512) * 2 && to.mask == (1 << 13) - 1,
       "two warps of each block that there may be: %u", to.count);
    ok(strstr(said, "\"plain\":\nnull\n,\"stamped\":\n{") && strstr(said, ",\"cost\":null,"),
       "no times");
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
    amounts_to("fuzz on a GPU", fuzz_command, STATUS_SKIP, 0x389844e0aa7e411e);
    OPTIONS("FORMAT=json", "DTYPE=fp16");
    amounts_to("repeat on a GPU", repeat_command, STATUS_SKIP, 0x9bf0f88266596fad);
    device.simulated = true;
    OPTIONS("FORMAT=json", "SECONDS=209", "SEED=5");
    amounts_to("fuzz in the simulator", fuzz_command, STATUS_SKIP, 0xb0338f94245585d);
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
    nothing_compared();
    room();
    without_memory();
    remove_stages();
    return done_testing();
}
