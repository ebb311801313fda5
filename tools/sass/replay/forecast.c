#include "replay/forecast.h"

#include "analysis/source.h"
#include "list.h"

#include <math.h>

enum { WARP = 32, PARTITIONS = 4 };

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

static Timing *timings_of(const Kernel *kernel, const Counted *launch, const Matching *lines,
                          const Counted *shape, bool from_hbm, const Machine *machine) {
    const Function *function = kernel->function;
    Timing *timing = list_zeroed((size_t)function->instructions, sizeof *timing);
    for (int i = 0; i < function->instructions; i++) {
        const Instruction *at = &function->instruction[i];
        const int op = at->ptx_line <= lines->lines ? lines->operation[at->ptx_line] : -1;
        timing[i] = timing_of(at, op < 0 ? NULL : &launch->operation[op], shape, from_hbm, machine);
    }
    return timing;
}

static const char *unmodelled(const Function *function, const Timing *timing) {
    for (int i = 0; i < function->instructions; i++)
        if (timing[i].unmodelled) return function->instruction[i].opcode;
    return NULL;
}

/* Cycles of the tensor cores of a partition for one block. */
static double tensor_cycles(const ReplayInput *in) {
    double sum = 0;
    for (int i = 0; i < in->path->steps; i++) {
        const Timing *timing = &in->timing[in->path->step[i]];
        sum += timing->pipe == PIPE_TENSOR ? timing->busy : 0;
    }
    return sum * in->warps / PARTITIONS;
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

/* One kernel at one length; false with the reason in `forecast`. */
static bool replay_one(Forecast *forecast, const Kernel *kernel, const Counted *launch,
                       const Matching *lines, ReplayInput *in, Timing *timing, Replay *replay,
                       double *tensor) {
    Executions executions = executions_of(kernel, launch, lines);
    Path path;
    in->timing = timing;
    in->warps = (launch->threads + WARP - 1) / WARP;
    bool found = path_derive(kernel, &executions, launch->blocks * in->warps, &path);
    executions_free(&executions);
    if (!found) {
        refuse(forecast, "the path of a warp has no end in ", kernel->name);
        return false;
    }
    found = path.strayed <= MOST_STRAYED;
    if (!found) name_strayed(forecast, kernel, path.worst);
    in->path = &path;
    if (found) {
        *replay = replay_run(in);
        found = replay->cycles > 0;
        if (found) *tensor = tensor_cycles(in) / replay->cycles;
        if (!found) refuse(forecast, "warps wait for what never comes in ", kernel->name);
    }
    path_free(&path);
    return found;
}

/* Cycles per head from those of blocks at two lengths: blocks are tiles of `rows` rows, which see
 * more keys the longer the problem is, or the same work each and as many as the square of it. */
static Growth growth_of(const Runs *runs, int l, double rows, double least, double most) {
    const double first = runs->length[0], last = runs->length[LENGTHS - 1];
    const double slope = (most - least) / (last - first);
    const double blocks = runs->of[LENGTHS - 1].launch[l].blocks / SIMULATED_HEADS;
    if (rows > 1) return (Growth){0, (most - slope * last) / rows, slope / rows};
    return (Growth){0, 0, most * blocks / (last * last)};
}

static bool foretell(Forecast *forecast, const Model *model, const Runs *runs, int l) {
    const Counted *shape = &runs->first.launch[l];
    const Demand *demand = &model->demand[l];
    Foretold *kernel = &forecast->kernel[l];
    ReplayInput in = {.machine = model->machine, .resident = demand->resident};
    double cycles[2] = {0};
    for (int end = demand->rows > 1 ? 0 : 1; end < 2; end++) {
        const Counted *launch = &runs->of[end * (LENGTHS - 1)].launch[l];
        Matching lines;
        const Kernel *code = matching_kernel(model->module, launch, &lines);
        if (!code) return false;
        Timing *timing = timings_of(code, launch, &lines, shape, streams(runs, l), model->machine);
        const char *beside = unmodelled(code->function, timing);
        if (beside) refuse(forecast, "not modelled: ", beside);
        if (!*forecast->reason && replay_one(forecast, code, launch, &lines, &in, timing,
                                             &kernel->replay, &kernel->tensor))
            cycles[end] = kernel->replay.cycles;
        free(timing);
        matching_free(&lines);
        if (*forecast->reason) return false;
    }
    kernel->cycles = growth_of(runs, l, demand->rows, cycles[0], cycles[1]);
    return true;
}

Forecast forecast_build(const Model *model, const char *folder) {
    Forecast forecast = {0};
    Runs runs;
    Error error;
    if (!timing_known(model->machine)) {
        refuse(&forecast, "latencies are not known of ", model->machine->device);
        return forecast;
    }
    if (!runs_read(folder, &runs, &error)) {
        refuse(&forecast, error.text, "");
        return forecast;
    }
    for (int l = 0; l < model->demands && !*forecast.reason; l++) {
        if (model->demand[l].fixed_blocks > 0)
            refuse(&forecast, "blocks that stay: ", model->demand[l].kernel);
        else if (foretell(&forecast, model, &runs, l))
            forecast.kernels++;
    }
    runs_free(&runs);
    if (*forecast.reason) forecast.kernels = 0;
    return forecast;
}

/* MHz where the tensor cores are busy for a share of the time. */
static double clock_at(const Machine *m, double tensor) {
    const double most = m->clock_mhz, sustained = 1e6 * m->mma_tflops / (2 * m->mma * m->sms);
    return m->mma_tflops > 0 && sustained < most ? most - tensor * (most - sustained) : most;
}

Outlook forecast_at(const Forecast *forecast, const Model *model, const Bound *bound,
                    const Shape *shape) {
    Outlook outlook = {0};
    for (int l = 0; l < forecast->kernels; l++) {
        const Foretold *kernel = &forecast->kernel[l];
        const double cycles = model_cycles(model, l, &kernel->cycles, shape),
                     clock = clock_at(model->machine, kernel->tensor),
                     ms = fmax(bound->kernel_ms[l], cycles / (clock * 1e3));
        outlook.ms += ms;
        outlook.issued += ms * kernel->replay.issued;
        for (int w = 0; w < WAITS; w++) outlook.waits[w] += ms * kernel->replay.waits[w];
    }
    if (outlook.ms <= 0) return outlook;
    outlook.issued /= outlook.ms;
    for (int w = 0; w < WAITS; w++) outlook.waits[w] /= outlook.ms;
    return outlook;
}
