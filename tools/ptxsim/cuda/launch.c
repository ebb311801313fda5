#include "cuda/launch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/module.h"
#include "cuda/watch.h"
#include "device/simulator.h"
#include "machine/async.h"
#include "machine/scheduler.h"
#include "ptx/bounds.h"
#include "report/recorder.h"

enum {
    MAX_THREADS = 16,
    DEFAULT_MULTIPROCESSORS = 4,
    MAX_MULTIPROCESSORS = 1024,
    DEFAULT_BUDGET = 100 * 1000 * 1000, /* operations of a warp in one block: seconds of work */
    PATIENCE = 60,                      /* seconds that a launch may take without FORCE=1 */
};
static const double PROBE_SECONDS = 1; /* how long to run before an estimate is made */
/* Floating-point operations of a kernel that one thread simulates in a second: twice as many as of
 * the best stages, those whose products are wgmma. */
static const double FASTEST = 4e10;

/* A launch in progress, shared by its threads. */
typedef struct Launch {
    Kernel *kernel;
    const LaunchShape *shape;
    Settings settings;
    uint64_t blocks;
    double started;
    Record *record;       /* of one of the blocks; NULL: not wanted */
    pthread_mutex_t lock; /* of all that follows */
    uint64_t next;        /* the place in the order that nobody has taken yet */
    uint64_t finished;
    LaunchStatus status;
    uint64_t fault_place; /* the first one whose block went wrong */
    GridUses uses;        /* with SIM_RACE: of the blocks in all places before `compared` */
    uint64_t compared;
    GridUses **ended; /* [room] by place, of those that have ended and were not compared */
    int room;
    char report[sizeof((Block *)0)->report];
} Launch;

/* ---- Settings -------------------------------------------------------------------------------- */

static bool variable_is(const char *name, const char *value) {
    const char *set = getenv(name);
    return set && strcmp(set, value) == 0;
}

static uint64_t variable_number(const char *name, uint64_t otherwise) {
    const char *set = getenv(name);
    const uint64_t value = set ? strtoull(set, NULL, 10) : 0;
    return value ? value : otherwise;
}

uint32_t launch_multiprocessors(void) {
    const uint64_t count = variable_number("SIM_MULTIPROCESSORS", DEFAULT_MULTIPROCESSORS);
    return count > MAX_MULTIPROCESSORS ? MAX_MULTIPROCESSORS : (uint32_t)count;
}

static Settings read_settings(void) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t threads = variable_number("SIM_THREADS", (uint64_t)processors);
    return (Settings){
        .late = !variable_is("SIM_ASYNC", "early"),
        .race = variable_is("SIM_RACE", "1"),
        .force = variable_is("FORCE", "1"),
        .budget = variable_number("SIM_BUDGET", DEFAULT_BUDGET),
        .order = variable_number("SIM_ORDER", 0),
        .threads = threads > MAX_THREADS ? MAX_THREADS : (int)threads,
        .index = variable_number("SIM_INDEX", 0),
        .multiprocessors = launch_multiprocessors(),
    };
}

bool simulator_too_long(double operations) {
    const Settings settings = read_settings();
    return !settings.force && operations > PATIENCE * FASTEST * settings.threads;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Gives up if the launch would take longer than a reader waits. Called with the lock held. */
static void estimate(Launch *launch) {
    const double elapsed = now() - launch->started;
    if (launch->settings.force || launch->finished == 0 || elapsed < PROBE_SECONDS) return;
    const double total = elapsed * (double)launch->blocks / (double)launch->finished;
    if (total <= PATIENCE || launch->status != LAUNCH_OK) return;
    launch->status = LAUNCH_TOO_LONG;
    snprintf(launch->report, sizeof launch->report,
             "ptxsim: kernel %s would take about %.0f %s here (%llu blocks; %.1f s for the first "
             "%llu): choose a smaller problem, or set FORCE=1\n",
             launch->kernel->name, total < 600 ? total : total / 60,
             total < 600 ? "seconds" : "minutes", (unsigned long long)launch->blocks, elapsed,
             (unsigned long long)launch->finished);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

/* The block that runs in place `place`. SIM_ORDER 1 is from the last to the first; larger numbers
 * step through the grid from the last one, so none is the usual order. */
static uint64_t block_at(const Launch *launch, uint64_t place) {
    const uint64_t order = launch->settings.order, blocks = launch->blocks;
    uint64_t step = 2 * order - 1;
    if (order == 0 || blocks == 1) return place;
    while (common_divisor(step, blocks) > 1) step++;
    return blocks - 1 - (uint64_t)((unsigned __int128)place * step % blocks);
}

/* Takes the next place; false if there is none left, or something went wrong. Places are taken in
 * order and each that was taken is finished, so the first fault is always the same one. */
static bool take_place(Launch *launch, uint64_t *place) {
    pthread_mutex_lock(&launch->lock);
    estimate(launch);
    const bool taken = launch->status == LAUNCH_OK && launch->next < launch->blocks;
    if (taken) *place = launch->next++;
    pthread_mutex_unlock(&launch->lock);
    return taken;
}

/* The first place where something goes wrong counts; two reports of that are both kept. */
static void note_fault(Launch *launch, const Block *block, uint64_t place) {
    if (place > launch->fault_place) return;
    const size_t used = place == launch->fault_place ? strlen(launch->report) : 0;
    launch->status = LAUNCH_FAULT;
    launch->fault_place = place;
    snprintf(launch->report + used, sizeof launch->report - used, "%s", block->report);
}

/* Looks for races of blocks in the order of their places, so that the first is the same whoever
 * ends first. */
static void compare(Launch *launch, Block *block, uint64_t place, GridUses *uses) {
    GridConflict conflict;
    for (int had; (uint64_t)(had = launch->room) <= place;) {
        launch->ended = queue_room(launch->ended, had, &launch->room, sizeof *launch->ended);
        memset(launch->ended + had, 0, (size_t)(launch->room - had) * sizeof *launch->ended);
    }
    launch->ended[place] = uses;
    while (launch->compared < (uint64_t)launch->room && launch->ended[launch->compared]) {
        uses = launch->ended[launch->compared];
        if (grid_race(&launch->uses, uses, &conflict)) {
            report_grid_race(block, &conflict);
            note_fault(launch, block, launch->compared);
        }
        launch->compared++;
        grid_free(uses);
        free(uses);
    }
}

static void finish_place(Launch *launch, Block *block, uint64_t place, bool good, GridUses *uses) {
    pthread_mutex_lock(&launch->lock);
    launch->finished++;
    if (!good) note_fault(launch, block, place);
    if (uses) compare(launch, block, place, uses);
    pthread_mutex_unlock(&launch->lock);
}

static GridUses *begin_uses(uint64_t block) {
    GridUses *uses = calloc(1, sizeof *uses);
    if (!uses) abort();
    uses->block = block;
    return uses;
}

static void run_place(Launch *launch, Block *block, uint64_t place) {
    const uint64_t index = block_at(launch, place);
    GridUses *uses = launch->settings.race ? begin_uses(index) : NULL;
    block->uses = uses;
    const bool good = recorder_run(launch->record, block, index);
    block->uses = NULL;
    finish_place(launch, block, place, good, uses);
}

static void add_counts(Launch *launch, const Block *block) {
    InstructionCount *total = launch->kernel->count;
    pthread_mutex_lock(&launch->lock);
    for (int i = 0; i < launch->kernel->ops; i++) {
        const InstructionCount *c = &block->count[i];
        total[i].executions += c->executions;
        total[i].lanes += c->lanes;
        total[i].divergent += c->divergent;
        total[i].requests += c->requests;
        total[i].units += c->units;
        total[i].ideal_units += c->ideal_units;
        total[i].second_units += c->second_units;
        total[i].second_ideal_units += c->second_ideal_units;
    }
    pthread_mutex_unlock(&launch->lock);
}

static void *work(void *argument) {
    Launch *launch = argument;
    const LaunchShape *shape = launch->shape;
    Block *block = block_new(launch->kernel, &launch->settings, shape->grid, shape->threads,
                             shape->dynamic_shared);
    uint64_t place;
    if (!block) {
        pthread_mutex_lock(&launch->lock);
        launch->status = LAUNCH_NO_MEMORY;
        pthread_mutex_unlock(&launch->lock);
        return NULL;
    }
    block->early = shape->early;
    while (take_place(launch, &place)) run_place(launch, block, place);
    block_count_straight(block);
    add_counts(launch, block);
    block_free(block);
    return NULL;
}

/* How many blocks run at one time: fewer if their local memory is much. */
static int threads_of(const Launch *launch) {
    const uint32_t *size = launch->shape->threads;
    const uint64_t local =
        ((uint64_t)size[0] * size[1] * size[2] + LANES) * (launch->kernel->local_bytes + 1);
    const uint64_t fit = MAX_LAUNCH_LOCAL / local;
    if (launch->kernel->in_order || fit < 1) return 1;
    return fit < (uint64_t)launch->settings.threads ? (int)fit : launch->settings.threads;
}

/* This thread works, too; one that cannot be started is not missed. */
static void work_together(Launch *launch) {
    pthread_t thread[MAX_THREADS];
    int started = 0, wanted = threads_of(launch);
    if ((uint64_t)wanted > launch->blocks) wanted = (int)launch->blocks;
    while (started + 1 < wanted && pthread_create(&thread[started], NULL, work, launch) == 0)
        started++;
    work(launch);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static void copy_arguments(Kernel *kernel, void *const argument[]) {
    const PtxFunction *f = kernel->function;
    for (int i = 0; i < f->parameters; i++) {
        const Variable *v = f->parameter[i];
        memcpy((void *)(uintptr_t)v->address, argument[i], (size_t)v->bytes);
    }
}

/* A fault is worth more than the block that was chosen: runs its block again, to record it. */
static void record_fault(const Launch *launch) {
    const LaunchShape *shape = launch->shape;
    if (launch->status != LAUNCH_FAULT || !launch->record) return;
    const uint64_t index = block_at(launch, launch->fault_place);
    if (!recorder_choose_fault(launch->record, index)) return;
    Block *block = block_new(launch->kernel, &launch->settings, shape->grid, shape->threads,
                             shape->dynamic_shared);
    if (block) block->early = shape->early;
    if (block) recorder_run(launch->record, block, index);
    block_free(block);
}

/* A stage's launches may run at the same time, and all of them have the same variables. */
static void refuse_state(Launch *launch) {
    if (launch->status != LAUNCH_OK || !watching_launch()) return;
    const char *name = module_stored(launch->kernel);
    if (!name) return;
    launch->status = LAUNCH_FAULT;
    snprintf(launch->report, sizeof launch->report,
             "ptxsim: kernel %s stores to %s, a variable of the whole program: two launches at the "
             "same time would share it\n",
             launch->kernel->name, name);
}

/* A generic access counts where it went, if that was the same memory each time: no request to
 * global memory is without sectors. */
static void note_classes(const Kernel *kernel) {
    for (int i = 0; i < kernel->ops; i++) {
        const InstructionClass class = (InstructionClass)kernel->op[i].class;
        const InstructionCount *count = &kernel->count[i];
        if (class < CLASS_GLOBAL_LOAD || class > CLASS_GLOBAL_ATOMIC || !count->requests) continue;
        kernel->info[i].class = count->second_units == count->requests
                                    ? class + CLASS_SHARED_LOAD - CLASS_GLOBAL_LOAD
                                : count->units ? class
                                               : CLASS_LOCAL;
    }
}

static void note_totals(Launch *launch) {
    KernelCounts *totals = &launch->kernel->totals;
    uint64_t loaded, stored;
    memory_count_marks(&loaded, &stored);
    note_classes(launch->kernel);
    totals->launches++;
    totals->blocks += launch->finished;
    totals->distinct_load_sectors += loaded;
    totals->distinct_store_sectors += stored;
    memcpy(totals->grid, launch->shape->grid, sizeof totals->grid);
    memcpy(totals->block, launch->shape->threads, sizeof totals->block);
    totals->shared_bytes = launch->kernel->dynamic_offset + launch->shape->dynamic_shared;
}

LaunchStatus launch_run(Kernel *kernel, const LaunchShape *shape, void *const argument[]) {
    Launch launch = {.kernel = kernel,
                     .shape = shape,
                     .settings = read_settings(),
                     .lock = PTHREAD_MUTEX_INITIALIZER};
    launch.blocks = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
    launch.fault_place = UINT64_MAX;
    launch.started = now();
    copy_arguments(kernel, argument);
    memory_clear_marks();
    launch.record = recorder_begin(kernel, shape->grid, shape->threads, launch.blocks);
    work_together(&launch);
    note_totals(&launch);
    record_fault(&launch);
    refuse_state(&launch);
    recorder_end(launch.record);
    grid_free(&launch.uses);
    free(launch.ended);
    fputs(launch.report, stderr);
    return launch.status;
}
