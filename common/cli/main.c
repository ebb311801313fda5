/* attention run|grid|bench|fuzz|repeat [KEY=VALUE]... STAGE_DIR...
 *
 * The same files make two programs: build/attention on the CUDA runtime and build/attention-sim on
 * the simulator. DEVICE=sim, or DEVICE=auto without a GPU that can run one of the stages, makes the
 * first replace itself by the second. */
#include "cli/bench.h"
#include "cli/fuzz.h"
#include "cli/grid.h"
#include "cli/repeat.h"
#include "cli/run.h"
#include "device/counters.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: attention run|grid|bench|fuzz|repeat [KEY=VALUE]... STAGE_DIR...\n";

typedef struct Command {
    const char *name;
    int (*run)(const Options *options, const Device *device);
} Command;

static const Command commands[] = {
    {"run", run_command},   {"grid", grid_command},     {"bench", bench_command},
    {"fuzz", fuzz_command}, {"repeat", repeat_command},
};

static const Command *find_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

/* The simulator's program beside this one; false if there is none. */
static bool simulator_path(char *path, size_t size) {
    const ssize_t length = readlink("/proc/self/exe", path, size - sizeof "-sim");
    if (length < 0) return false;
    strcpy(path + length, "-sim");
    return access(path, X_OK) == 0;
}

/* Replaces this program by the simulator's; returns only if that is impossible. */
static int become_simulator(char *arguments[], const char *why) {
    char path[PATH_MAX];
    Error error;
    if (simulator_path(path, sizeof path)) {
        fprintf(stderr, "attention: %s: running on the simulator\n", why);
        execv(path, arguments);
    }
    error_set(&error, STATUS_SKIP, "%s, and the simulator (%s) is not built", why, path);
    return error_exit(&error);
}

/* NULL if the device can run at least one of the stages, else why the simulator is asked. A stage
 * that cannot be opened counts as one that runs: the command itself will say what is wrong. */
static const char *why_not_here(const Options *options, const Device *device) {
    Problem problem;
    Error error;
    if (!options_problem(options, device->simulated, &problem, &error)) return NULL;
    for (int i = 0; i < options->stage_count; i++) {
        Stage stage;
        if (!stage_open(options->stages[i], &problem, &stage, &error)) return NULL;
        const bool runs = !stage.supports(&problem.shape, device->compute_capability);
        stage_close(&stage);
        if (runs) return NULL;
    }
    return "no GPU here can run the stages";
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

int main(int count, char *arguments[]) {
    Options options;
    Error error;
    Device device;
    const Command *command = count > 1 ? find_command(arguments[1]) : NULL;
    if (!command) {
        fputs(usage, stderr);
        return STATUS_USAGE;
    }
    if (!options_parse(count - 2, arguments + 2, &options, &error)) return error_exit(&error);
    if (command->run != bench_command && !options_one_problem(&options, command->name, &error))
        return error_exit(&error);
    if (options.stage_count == 0) {
        fputs(usage, stderr);
        return STATUS_USAGE;
    }
    const bool simulator = counters_simulated();
    if (simulator && options.device == DEVICE_GPU) {
        error_set(&error, STATUS_USAGE,
                  "DEVICE=gpu: allowed here are auto and sim, this is the "
                  "simulator");
        return error_exit(&error);
    }
    if (!simulator && options.device == DEVICE_SIM)
        return become_simulator(arguments, options.counters == COUNTERS_TABLE
                                               ? "DEVICE=sim was asked for"
                                               : "the counters are the simulator's");
    if (!simulator && options.device == DEVICE_AUTO && device_count() == 0)
        return become_simulator(arguments, "no GPU was found");
    if (!device_open(simulator ? 0 : options.gpu, &device, &error)) return error_exit(&error);
    if (!simulator && options.device == DEVICE_AUTO) {
        const char *why = why_not_here(&options, &device);
        if (why) return become_simulator(arguments, why);
    }
    device.limit = options.limit;
    setvbuf(stdout, NULL, _IOLBF, 0); /* an interrupted command leaves no half of a line */
    return finish(command->run(&options, &device));
}
