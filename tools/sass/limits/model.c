#include "limits/model.h"

#include "analysis/source.h"
#include "limits/schedule.h"
#include "list.h"

#include <math.h>

enum { KIB = 1024, RESERVED_FROM = 80 };
enum { MOST_BLOCKS = 1 << 20 }; /* of more, the last round does not show */

static double executions_in_block(const Counted *launch) {
    double sum = 0;
    for (int i = 0; i < launch->operations; i++) sum += launch->operation[i].in_first_block;
    return sum;
}

/* Which query tiles the first blocks have, from how much they do: in a causal problem the first
 * rows see fewest keys. */
static void read_order(const Runs *runs, int l, Demand *demand) {
    const Counted *first = &runs->first.launch[l], *second = &runs->second.launch[l];
    double all = 0;
    for (int i = 0; i < first->operations; i++) all += first->operation[i].executions;
    const double one = executions_in_block(first), other = executions_in_block(second);
    demand->last_first = one * first->blocks > all;
    demand->heads_first = fabs(one - other) < 0.01 * one;
}

/* How many blocks there are: as many as multiprocessors, a number for each head and query tile, or
 * for each pair of tiles. False if the lengths are no multiples of the tiles: then counts grow in
 * steps, and nothing can be said of other lengths. */
static bool read_blocks(const Runs *runs, int l, Demand *demand) {
    const double first = runs->of[0].launch[l].blocks, last = runs->of[2].launch[l].blocks,
                 ratio = runs->length[2] / runs->length[0];
    demand->rows = 1;
    if (last == first)
        demand->fixed_blocks = first;
    else if (last == first * ratio)
        demand->rows = runs->length[0] * SIMULATED_HEADS / first;
    else
        return last == first * ratio * ratio;
    return true;
}

static int residents(const Kernel *kernel, const Machine *machine, int threads) {
    const Residents r = {threads,
                         kernel->registers,
                         kernel_shared(kernel),
                         (int)machine->threads,
                         (int)machine->registers,
                         (int)(machine->shared_kib * KIB),
                         (int)machine->blocks,
                         machine->capability >= RESERVED_FROM ? KIB : 0};
    return schedule_residents(&r);
}

static void name_unmatched(Model *model, const Kernel *kernel, int loop) {
    const Function *function = kernel->function;
    const Instruction *back = &function->instruction[kernel->flow.loop[loop].back];
    const Frame *frame = back->frames ? &function->frame[back->frame + back->frames - 1] : 0;
    snprintf(model->unmatched, sizeof model->unmatched, "loop %s of %s, repeated at %.200s:%d",
             kernel->flow.loop[loop].name, kernel->name, frame ? file_name(frame->file) : "?",
             frame ? frame->line : 0);
}

/* False if the lengths do not fit its tiles. */
static bool add_demand(Model *model, const Runs *runs, int l, const Kernel *kernel,
                       const Matching *lines) {
    double cycles[LENGTHS][UNITS], work[WORKS];
    Demand *demand = &model->demand[model->demands++];
    *demand = (Demand){.kernel = kernel->name};
    for (int j = 0; j < LENGTHS; j++) {
        const Counted *launch = &runs->of[j].launch[l];
        Executions executions = executions_of(kernel, launch, lines);
        work_of(kernel, &executions, launch, lines, &runs->first.launch[l], work);
        for (int w = 0; w < WORKS; w++) work[w] /= SIMULATED_HEADS;
        unit_cycles(model->machine, work, cycles[j]);
        if (executions.unmatched >= 0 && !*model->unmatched)
            name_unmatched(model, kernel, executions.unmatched);
        executions_free(&executions);
    }
    for (int u = 0; u < UNITS; u++) {
        double value[LENGTHS];
        for (int j = 0; j < LENGTHS; j++) value[j] = cycles[j][u];
        demand->of[u] = growth_through(runs->length, value);
    }
    read_order(runs, l, demand);
    demand->resident = residents(kernel, model->machine, runs->of[0].launch[l].threads);
    return read_blocks(runs, l, demand);
}

static bool add_demands(Model *model, const Runs *runs, Error *error) {
    const Module *module = model->module;
    if (runs->first.launches > MAX_LAUNCHED)
        return error_set(error, STATUS_SKIP,
                         "%s launches %d kernels, and the limits know at most %d", module->stage,
                         runs->first.launches, MAX_LAUNCHED);
    if (!runs_agree(runs))
        return error_set(error, STATUS_SKIP, "%s launches other kernels for other lengths",
                         module->stage);
    if (!module->ptx)
        return error_set(error, STATUS_SKIP, "%s was built without its PTX", module->stage);
    for (int l = 0; l < runs->first.launches; l++) {
        Matching lines;
        const Counted *launch = &runs->of[0].launch[l];
        if (launch->again)
            return error_set(
                error, STATUS_SKIP,
                "%s launches kernel %s more than once, and the limits count one launch",
                module->stage, launch->kernel);
        const Kernel *kernel = matching_kernel(module, launch, &lines);
        if (!kernel && strstr(module->ptx, "\n.func"))
            return error_set(error, STATUS_SKIP,
                             "%s: kernel %s calls a function that is not inlined, which the "
                             "limits cannot follow",
                             module->stage, launch->kernel);
        if (!kernel)
            return error_set(error, STATUS_SKIP,
                             "%s: the PTX of kernel %s is not what the simulator counted",
                             module->stage, launch->kernel);
        const bool fits = add_demand(model, runs, l, kernel, &lines);
        matching_free(&lines);
        if (!fits)
            return error_set(error, STATUS_SKIP,
                             "%s: the lengths that were simulated are no multiples of its tiles",
                             module->stage);
    }
    return true;
}

bool model_build(const Module *module, const Machine *machine, const char *folder, Model *model,
                 Error *error) {
    char reason[REFUSAL_SIZE];
    Runs runs;
    *model = (Model){.module = module, .machine = machine};
    if (machine_refuses(machine, module->arch, reason))
        return error_set(error, STATUS_SKIP, "%s: %s", module->stage, reason);
    if (!runs_read(folder, &runs, error)) return false;
    const bool built = add_demands(model, &runs, error);
    runs_free(&runs);
    return built;
}

/* Cycles for all heads. What a kernel of as many blocks as multiprocessors does once is
 * done by each of them, whatever the number of heads. */
static double total(const Demand *demand, Growth growth, const Shape *shape, double sms) {
    const double heads = (double)shape->batch * shape->heads;
    double once = 0;
    if (demand->fixed_blocks > 0) {
        once = fmax(0, growth.constant) * SIMULATED_HEADS * sms / demand->fixed_blocks;
        growth.constant = 0;
    }
    return once + heads * growth_at(growth, shape->length, demand->rows, shape->causal);
}

/* The time of the blocks, one by one, over that of the same work spread evenly. */
static double imbalance_of(const Demand *demand, const Growth *growth, const Shape *shape, int sms,
                           double alone) {
    const double blocks = ceil(shape->length / demand->rows) * shape->batch * shape->heads;
    if (demand->rows <= 1 || blocks > MOST_BLOCKS) return 1;
    const int tiles = (int)ceil(shape->length / demand->rows), heads = shape->batch * shape->heads;
    double *cost = list_zeroed((size_t)blocks, sizeof *cost), sum = 0;
    for (int b = 0; b < tiles * heads; b++) {
        int tile = demand->heads_first ? b / heads : b % tiles;
        if (demand->last_first) tile = tiles - 1 - tile;
        const double b_keys = shape->causal ? 2 * growth->square : growth->square,
                     a = growth->linear - (shape->causal ? growth->square * demand->rows : 0),
                     keys = shape->causal ? fmin((tile + 1) * demand->rows, shape->length)
                                          : shape->length;
        cost[b] = fmax(0, a + b_keys * keys);
        sum += cost[b];
    }
    double imbalance = 1;
    if (sum > 0)
        imbalance = schedule_end(cost, tiles * heads, sms, demand->resident, alone) * sms / sum;
    free(cost);
    return imbalance;
}

double model_cycles(const Model *model, int kernel, const Growth *growth, double alone,
                    const Shape *shape) {
    const double sms = model->machine->sms;
    const Demand *demand = &model->demand[kernel];
    return total(demand, *growth, shape, sms) / sms *
           imbalance_of(demand, growth, shape, (int)sms, alone);
}

double shape_tflop(const Shape *shape) {
    const double pairs = (double)shape->length * shape->length / (shape->causal ? 2 : 1);
    return 4e-12 * shape->batch * shape->heads * pairs * shape->d;
}

/* Cycles of HBM that L2 may save a kernel: what the one before left there, and its own last bytes.
 */
static double kept_in_l2(const Model *model, const Demand *demand) {
    const Machine *m = model->machine;
    const double bytes = m->l2_mib * KIB * KIB * (demand == model->demand ? 1 : 2);
    return bytes * m->clock_mhz * 1e6 / (m->hbm_gb_s * 1e9);
}

/* Adds a kernel's cycles; returns those that bind it, and which unit does. */
static double add_kernel(const Model *model, const Demand *demand, const Shape *shape, Bound *bound,
                         Unit *binding) {
    const double sms = model->machine->sms;
    double cycles[UNITS], most = 0;
    Unit busiest = UNIT_ISSUE;
    for (int u = 0; u < UNITS; u++) {
        cycles[u] = total(demand, demand->of[u], shape, sms) / ((int)u < WHOLE_GPU ? sms : 1);
        if (u == UNIT_HBM) cycles[u] = fmax(0, cycles[u] - kept_in_l2(model, demand));
        bound->cycles[u] += cycles[u];
        if ((int)u < WHOLE_GPU && cycles[u] > cycles[busiest]) busiest = (Unit)u;
    }
    const double imbalance = imbalance_of(demand, &demand->of[busiest], shape, (int)sms, 1);
    for (int u = 0; u < UNITS; u++) {
        const double needed = cycles[u] * ((int)u < WHOLE_GPU ? imbalance : 1);
        if (needed <= most) continue;
        most = needed;
        *binding = (Unit)u;
    }
    bound->imbalance = imbalance > bound->imbalance ? imbalance : bound->imbalance;
    return most;
}

Bound model_bound(const Model *model, const Shape *shape) {
    Bound bound = {.imbalance = 1};
    int longest = 0;
    for (int l = 0; l < model->demands; l++) {
        const double cycles =
            add_kernel(model, &model->demand[l], shape, &bound, &bound.kernel_binding[l]);
        bound.kernel_ms[l] = cycles / (model->machine->clock_mhz * 1e3);
        bound.ms += bound.kernel_ms[l];
        if (bound.kernel_ms[l] > bound.kernel_ms[longest]) longest = l;
    }
    bound.binding = bound.kernel_binding[longest];
    bound.tflops = shape_tflop(shape) / (bound.ms * 1e-3);
    return bound;
}
