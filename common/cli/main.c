/* attention run|grid|bench|fuzz|repeat|timeline [KEY=VALUE]... STAGE_DIR...
 *
 * The same files make two programs: build/attention on the CUDA runtime and build/attention-sim on
 * the simulator. DEVICE=sim, or DEVICE=auto without a GPU that can run one of the stages, makes the
 * first replace itself by the second. With DEVICE=auto and a GPU that can run some of them, `run`
 * has the second simulate the others. */
#include "cli/bench.h"
#include "cli/fuzz.h"
#include "cli/grid.h"
#include "cli/refusal.h"
#include "cli/repeat.h"
#include "cli/run.h"
#include "cli/timeline.h"
#include "device/counters.h"
#include "device/handover.h"
#include "device/simulator.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: attention run|grid|bench|fuzz|repeat|timeline [KEY=VALUE]... STAGE_DIR...\n"
    "STAGE_DIR is a folder such as build/sm_80/07_swizzle; bare make lists the KEYs\n";

typedef struct Command {
    const char *name;
    int (*run)(const Options *options, const Device *device);
} Command;

static const Command commands[] = {
    {"run", run_command},   {"grid", grid_command},     {"bench", bench_command},
    {"fuzz", fuzz_command}, {"repeat", repeat_command}, {"timeline", timeline_command},
};

static const Command *find_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

/* True unless the device cannot run the stage. A stage that cannot be opened or refuses what it may
 * not counts as one that runs: the command itself will say what is wrong. */
static bool runs_here(const char *folder, const Problem *problem, const Device *device) {
    Stage stage;
    StageResources resources;
    Error error;
    if (!stage_open(folder, problem, &stage, &error)) return true;
    const bool runs =
        stage_fits(&stage, problem, device, &resources, &error) || error.status == STATUS_FAIL;
    stage_close(&stage);
    return runs;
}

/* Takes the stages that run here out of the arguments, which are then the simulator's. Returns how
 * many stages are left. */
static int keep_others(const Options *options, const Device *device, char *arguments[]) {
    Problem problem;
    Error error;
    char **kept = arguments;
    int left = 0, stage = 0;
    if (!options_problem(options, device->simulated, &problem, &error)) return 0;
    for (; *arguments; arguments++) {
        const bool is_stage = stage < options->stage_count && *arguments == options->stages[stage];
        stage += is_stage;
        if (is_stage && runs_here(*arguments, &problem, device)) continue;
        left += is_stage;
        *kept++ = *arguments;
    }
    *kept = NULL;
    return left;
}

/* The exit code of a command that two programs have shared: a skip says nothing of the other. */
static int both(int here, int simulated) {
    if (here == STATUS_SKIP || simulated == STATUS_SKIP)
        return here == STATUS_SKIP ? simulated : here;
    return here > simulated ? here : simulated;
}

/* LIMIT is for the stages that run here; the simulator refuses it. */
static void drop_limit(char *arguments[]) {
    char **kept = arguments;
    for (; *arguments; arguments++)
        if (strncmp(*arguments, "LIMIT=", 6) != 0) *kept++ = *arguments;
    *kept = NULL;
}

/* Runs the command here, and for the stages that cannot run here, `left` in number, on the
 * simulator afterwards, with these arguments. */
static int run_and_simulate(const Options *options, const Device *device, int left,
                            char *arguments[]) {
    char why[64];
    const int here = run_command(options, device);
    snprintf(why, sizeof why, "this GPU cannot run %d of the %d stages", left,
             options->stage_count);
    if (!options->json) printf("\n");
    drop_limit(arguments);
    return both(here, ask_simulator(arguments, why));
}

/* Whoever reads the results may leave early, and then the program ends. If that was a reader of
 * stderr alone, the results are still wanted. */
static void on_broken_pipe(int number) {
    struct pollfd out = {.fd = STDOUT_FILENO};
    if (poll(&out, 1, 0) == 0) return;
    signal(number, SIG_DFL);
    raise(number);
}

/* Unless broken pipes are ignored altogether. */
static void expect_broken_pipes(void) {
    if (signal(SIGPIPE, on_broken_pipe) == SIG_IGN) signal(SIGPIPE, SIG_IGN);
}

/* What was printed has to have arrived. A device that is lost may still run a kernel, for which the
 * runtime's own exit would wait. */
static int finish(int code) {
    Error error;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        error_set(&error, STATUS_FAIL, "standard output cannot be written: is the disk full?");
        code = error_exit(&error);
    }
    if (!device_usable(&error)) _exit(code);
    return code;
}

static bool simulator_takes(const Options *options, Error *error) {
    char problem[200];
    if (!simulator_settings(problem, sizeof problem))
        return error_set(error, STATUS_USAGE, "%s", problem);
    if (options->device == DEVICE_GPU)
        return error_set(error, STATUS_USAGE,
                         "DEVICE=gpu: this program is the simulator; use DEVICE=auto or sim");
    return options->limit == OPTION_UNSET ||
           error_set(
               error, STATUS_USAGE,
               "LIMIT=%d: allowed on a GPU only, where it limits the seconds of a launch; the "
               "simulator limits instructions instead, by a variable that bare make lists",
               options->limit);
}

int main(int count, char *arguments[]) {
    Options options;
    Error error;
    Device device;
    const Command *command = count > 1 ? find_command(arguments[1]) : NULL;
    expect_broken_pipes();
    if (!command) {
        fputs(usage, stderr);
        return STATUS_USAGE;
    }
    if (!options_parse(count - 2, arguments + 2, &options, &error)) return error_exit(&error);
    options.program = "/proc/self/exe";
    if (command->run != bench_command && !options_one_problem(&options, command->name, &error))
        return error_exit(&error);
    if (options.stage_count == 0) {
        fputs(usage, stderr);
        return STATUS_USAGE;
    }
    const bool simulator = counters_simulated();
    int left = 0;
    if (simulator && !simulator_takes(&options, &error)) return error_exit(&error);
    if (!simulator && options.device == DEVICE_SIM)
        return become_simulator(arguments, options.counters == COUNTERS_TABLE
                                               ? "DEVICE=sim was asked for"
                                               : "the counters are the simulator's");
    if (!simulator && options.device == DEVICE_AUTO && device_count() == 0)
        return become_simulator(arguments, "no GPU was found");
    if (!device_open(simulator ? 0 : options.gpu, &device, &error)) return error_exit(&error);
    if (!simulator && options.device == DEVICE_AUTO) {
        left = keep_others(&options, &device, arguments);
        if (left == options.stage_count)
            return become_simulator(arguments, "no GPU here can run the stages");
    }
    device.limit = options_limit(&options);
    /* By lines: they keep their order beside those of stderr and of another program, and an
     * interrupted command leaves no half of one. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (left > 0 && command->run == run_command && options.counters == COUNTERS_TABLE)
        return finish(run_and_simulate(&options, &device, left, arguments));
    return finish(command->run(&options, &device));
}
