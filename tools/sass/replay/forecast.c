#include "replay/forecast.h"

#include "analysis/source.h"
#include "list.h"
#include "replay/extrapolation.h"

#include <math.h>

/* The longest problem that is replayed is so many times as long as the longest that was counted:
 * what a block takes at its start and its end is then little. */
enum { LONGER = 4 };

/* How much of what runs may be off the path. */
static const double MOST_STRAYED = 0.05;

static void refuse(Forecast *forecast, const char *text, const char *detail) {
    if (!*forecast->reason)
        snprintf(forecast->reason, sizeof forecast->reason, "%s%.*s", text, REASON_SIZE / 2,
                 detail);
}

/* Whether a kernel reads bytes that grow as the square of the length, S or P: more than L2 holds.
 */
static bool streams(const Runs *runs, int l) {
    double bytes[LENGTHS];
    for (int j = 0; j < LENGTHS; j++) bytes[j] = runs->of[j].launch[l].read_bytes;
    const Growth growth = growth_through(runs->length, bytes);
    const double length = runs->length[LENGTHS - 1];
    return growth.square * length > growth.linear;
}

static Timing *timings_of(const Extrapolation *blocks, const Machine *machine) {
    const Function *function = blocks->code->function;
    const Counted *launch = &blocks->runs->of[LENGTHS - 1].launch[blocks->launch],
                  *shape = &blocks->runs->first.launch[blocks->launch];
    const bool from_hbm = streams(blocks->runs, blocks->launch);
    Timing *timing = list_zeroed((size_t)function->instructions, sizeof *timing);
    for (int i = 0; i < function->instructions; i++) {
        const Instruction *at = &function->instruction[i];
        const Matching *lines = &blocks->lines;
        const int op = at->ptx_line <= lines->lines ? lines->operation[at->ptx_line] : -1;
        timing[i] = timing_of(at, op < 0 ? NULL : &launch->operation[op], shape,
                              from_hbm || (op >= 0 && extrapolation_once(blocks, op)), machine);
    }
    return timing;
}

static const char *unmodelled(const Function *function, const Timing *timing) {
    for (int i = 0; i < function->instructions; i++)
        if (timing[i].unmodelled) return function->instruction[i].opcode;
    return NULL;
}

static bool multiplies(const Function *function, const Timing *timing) {
    for (int i = 0; i < function->instructions; i++)
        if (timing[i].pipe == PIPE_TENSOR) return true;
    return false;
}

static void name_strayed(Forecast *forecast, const Kernel *kernel, int instruction) {
    const Function *function = kernel->function;
    const Instruction *at = &function->instruction[instruction];
    const Frame *frame = at->frames ? &function->frame[at->frame + at->frames - 1] : NULL;
    char place[MODULE_NAME_SIZE + 200];
    snprintf(place, sizeof place, "%s, at %.150s:%d", kernel->name,
             frame ? file_name(frame->file) : "?", frame ? frame->line : 0);
    refuse(forecast, "the path of a warp cannot be derived in ", place);
}

/* Whether the paths are where the counts say; else `forecast` says where not. */
static bool follow_counts(Forecast *forecast, const Kernel *code, const Path *path, int paths) {
    if (paths == 0) refuse(forecast, "the path of a warp has no end in ", code->name);
    for (int p = 0; p < paths; p++)
        if (path[p].strayed > MOST_STRAYED) name_strayed(forecast, code, path[p].worst);
    return !*forecast->reason;
}

/* Replays the kernel for a length, and returns the cycles of an average block, whose rows see
 * `keys`; 0 with the reason in `forecast`. */
static double replay_at(Forecast *forecast, const Extrapolation *blocks, double length,
                        ReplayInput *in, Foretold *kernel, double *keys) {
    Path path[PARTS];
    in->path = path;
    in->paths = extrapolation_paths(blocks, length, path, keys);
    if (follow_counts(forecast, blocks->code, path, in->paths)) {
        ReplayInput alone = *in;
        alone.resident = 1;
        kernel->replay = replay_run(in);
        kernel->alone = in->resident > 1 ? kernel->replay.cycles / replay_run(&alone).cycles : 1;
        if (kernel->replay.cycles <= 0)
            refuse(forecast, "warps wait for what never comes in ", blocks->code->name);
    }
    for (int p = 0; p < in->paths; p++) path_free(&path[p]);
    return *forecast->reason ? 0 : kernel->replay.cycles;
}

/* Cycles per head from those of tiles of `rows` rows that see so many keys (growth.h). */
static Growth growth_of(const double keys[2], const double cycles[2], double rows, bool causal) {
    const double of_keys = (cycles[1] - cycles[0]) / (keys[1] - keys[0]) / rows,
                 alone = cycles[1] / rows - of_keys * keys[1];
    if (!causal) return (Growth){0, alone, of_keys};
    return (Growth){0, alone + of_keys / 2 * rows, of_keys / 2};
}

/* Of tiles a short and a long problem; else all blocks do the same, and there are as many as the
 * square of the length. */
static bool foretell_blocks(Forecast *forecast, const Extrapolation *blocks, ReplayInput *in,
                            Foretold *kernel) {
    const double *counted = blocks->runs->length, last = counted[LENGTHS - 1];
    double cycles[2], keys[2];
    cycles[1] = replay_at(forecast, blocks, LONGER * last, in, kernel, &keys[1]);
    if (!extrapolation_of_tiles(blocks)) {
        const double launched = blocks->runs->of[LENGTHS - 1].launch[blocks->launch].blocks;
        kernel->cycles = (Growth){0, 0, cycles[1] * launched / SIMULATED_HEADS / (last * last)};
        return cycles[1] > 0;
    }
    Foretold at_least = {0};
    cycles[0] = replay_at(forecast, blocks, counted[0], in, &at_least, &keys[0]);
    kernel->cycles = growth_of(keys, cycles, blocks->demand->rows, blocks->causal);
    return cycles[0] > 0 && cycles[1] > 0;
}

static bool foretell(Forecast *forecast, const Model *model, Extrapolation *blocks) {
    const Counted *launch = &blocks->runs->of[LENGTHS - 1].launch[blocks->launch];
    blocks->code = matching_kernel(model->module, launch, &blocks->lines);
    if (!blocks->code) return false;
    Timing *timing = timings_of(blocks, model->machine);
    const char *beside = unmodelled(blocks->code->function, timing);
    ReplayInput in = {.machine = model->machine,
                      .timing = timing,
                      .warps = extrapolation_warps(launch),
                      .resident = blocks->demand->resident};
    if (beside) refuse(forecast, "not modelled: ", beside);
    forecast->kernel[blocks->launch].tensor = multiplies(blocks->code->function, timing);
    const bool foretold =
        !beside && foretell_blocks(forecast, blocks, &in, &forecast->kernel[blocks->launch]);
    free(timing);
    matching_free(&blocks->lines);
    return foretold;
}

Forecast forecast_build(const Model *model, const char *folder, bool causal) {
    Forecast forecast = {0};
    Runs runs;
    Error error;
    if (!timing_known(model->machine)) {
        refuse(&forecast, "latencies are not known of ", model->machine->device);
        return forecast;
    }
    if (!runs_read(folder, &runs, &error)) {
        refuse(&forecast, "", error.text);
        return forecast;
    }
    for (int l = 0; l < model->demands && !*forecast.reason; l++) {
        Extrapolation blocks = {
            .demand = &model->demand[l], .runs = &runs, .launch = l, .causal = causal};
        if (blocks.demand->fixed_blocks > 0)
            refuse(&forecast, "blocks that stay: ", blocks.demand->kernel);
        else if (foretell(&forecast, model, &blocks))
            forecast.kernels++;
    }
    runs_free(&runs);
    if (*forecast.reason) forecast.kernels = 0;
    return forecast;
}

Outlook forecast_at(const Forecast *forecast, const Model *model, const Bound *bound,
                    const Shape *shape) {
    const Machine *m = model->machine;
    Outlook outlook = {0};
    for (int l = 0; l < forecast->kernels; l++) {
        const Foretold *kernel = &forecast->kernel[l];
        const double cycles = model_cycles(model, l, &kernel->cycles, kernel->alone, shape),
                     clock = kernel->tensor ? m->tensor_mhz : m->clock_mhz,
                     launched = cycles / (clock * 1e3) + m->launch_us / 1e3,
                     ms = fmax(bound->kernel_ms[l], launched);
        outlook.ms += ms;
        outlook.issued += ms * kernel->replay.issued;
        for (int w = 0; w < WAITS; w++) outlook.waits[w] += ms * kernel->replay.waits[w];
    }
    if (outlook.ms <= 0) return outlook;
    outlook.issued /= outlook.ms;
    for (int w = 0; w < WAITS; w++) outlook.waits[w] /= outlook.ms;
    return outlook;
}
