#include "commands/commands.h"
#include "limits/subject.h"
#include "replay/forecast.h"

#include <string.h>

enum { BAR = 24, EXPLAINS = 80 };
static const double LEAST_WAIT = 0.01; /* that is shown */

/* The recorded time of a problem, or 0. */
static double measured_ms(const Cells *cells, const Subject *subject, const Shape *shape) {
    for (int i = 0; i < cells->cells; i++) {
        const Cell *cell = &cells->cell[i];
        if (strcmp(cell->stage, subject->module.stage) == 0 &&
            strcmp(cell->type, subject->type) == 0 && cell->d == shape->d &&
            cell->causal == shape->causal && cell->batch == shape->batch &&
            cell->heads == shape->heads && cell->length == shape->length)
            return cell->ms;
    }
    return 0;
}

static double largest(const Bound *bound) {
    double most = 0;
    for (int u = 0; u < UNITS; u++) most = bound->cycles[u] > most ? bound->cycles[u] : most;
    return most;
}

/* Beside the largest unit and, where a time is recorded, as a share of that: how busy each was. */
static void print_units(const Bound *bound, double recorded) {
    const double most = largest(bound);
    printf("%-24s %12s %15s%s\n", "unit", "cycles", "of the largest",
           recorded > 0 ? "  of the recorded time" : "");
    for (int u = 0; u < UNITS; u++) {
        const double share = bound->cycles[u] / most;
        if (bound->cycles[u] <= 0) continue;
        printf("%-24s %12.0f %13.1f %%", unit_name((Unit)u), bound->cycles[u], 100 * share);
        if (recorded > 0) printf(" %20.1f %%", 100 * bound->cycles[u] / recorded);
        const int marks = (int)(share * BAR + 0.5);
        printf("%s%.*s\n", marks ? "  " : "", marks, "########################");
    }
}

static void print_kernels(const Model *model, const Bound *bound) {
    if (model->demands < 2) return;
    for (int l = 0; l < model->demands; l++)
        printf("%s %s: %.4g ms, %s", l ? ";" : "kernels  ", model->demand[l].kernel,
               bound->kernel_ms[l], unit_name(bound->kernel_binding[l]));
    printf("\n");
}

static void print_measured(const Machine *machine, const Bound *bound, const Shape *shape,
                           double ms) {
    if (ms <= 0) {
        printf("measured: no time of this problem is recorded for %s\n", machine->device);
        return;
    }
    const double share = 100 * bound->ms / ms;
    printf("measured: %.4g ms, %.4g TFLOP/s (recorded); the bound explains %.1f %% of it\n", ms,
           shape_tflop(shape) / (ms * 1e-3), share);
    if (share > 100)
        printf("The bound is beaten, so a number in %s.txt or the count is wrong.\n",
               machine->file);
    else if (share < EXPLAINS)
        printf("Overlap decides: no unit is busy all the time, they wait for each other.\n");
}

/* What the warps of the replay wait for, the longest first. */
static void print_waits(const double waits[WAITS]) {
    bool printed[WAITS] = {false};
    printf("\n%-36s %24s\n", "warps of the replay wait for", "of their waits");
    for (int i = 0; i < WAITS; i++) {
        int most = -1;
        for (int w = 0; w < WAITS; w++)
            if (!printed[w] && (most < 0 || waits[w] > waits[most])) most = w;
        printed[most] = true;
        if (waits[most] < LEAST_WAIT) break;
        printf("%-36s %22.1f %%\n", wait_name((Wait)most), 100 * waits[most]);
    }
}

static void print_replay(const Forecast *forecast, const Outlook *outlook, const Shape *shape,
                         double ms) {
    if (forecast->kernels == 0) {
        printf("replay:   none, %s\n", forecast->reason);
        return;
    }
    printf("replay:   %.4g ms, %.4g TFLOP/s", outlook->ms,
           shape_tflop(shape) / (outlook->ms * 1e-3));
    if (ms > 0) printf(": %.1f %% of the measured time", 100 * outlook->ms / ms);
    printf("; issue slots %.1f %% used\n", 100 * outlook->issued);
    print_waits(outlook->waits);
}

static void print_subject(const Subject *subject, const Bound *bound, const Forecast *forecast,
                          const Shape *shape, double ms) {
    const Machine *machine = &subject->machine;
    printf("%s %s %s on %s, %g SMs at %g MHz: batch %d, heads %d, seq %d\n", subject->module.stage,
           subject->module.variant, subject->module.arch, machine->device, machine->sms,
           machine->clock_mhz, shape->batch, shape->heads, shape->length);
    if (*subject->model.unmatched)
        printf("PTX and machine code cannot be matched in %s: how often it runs is a guess there,\n"
               "and issue slots, FMA, ALU, MUFU and shared memory may be wrong\n",
               subject->model.unmatched);
    printf("\n");
    print_units(bound, ms * machine->clock_mhz * 1e3);
    printf("\n");
    print_kernels(&subject->model, bound);
    if (bound->imbalance > 1.001)
        printf("waves and tails: x %.3f, blocks that do not fill the last round of the SMs\n",
               bound->imbalance);
    printf("bound:    %.4g ms, %.4g TFLOP/s: %s\n", bound->ms, bound->tflops,
           unit_name(bound->binding));
    print_measured(machine, bound, shape, ms);
    const Outlook outlook = forecast_at(forecast, &subject->model, bound, shape);
    print_replay(forecast, &outlook, shape, ms);
}

static void put_text(const char *key, const char *text) {
    printf(",\"%s\":", key);
    if (*text)
        put_json(text, stdout);
    else
        printf("null");
}

static void put_number(const char *key, double number, bool present) {
    if (present)
        printf(",\"%s\":%.9g", key, number);
    else
        printf(",\"%s\":null", key);
}

static void put_replay(const Forecast *forecast, const Outlook *outlook, double ms) {
    const bool offered = forecast->kernels > 0;
    put_number("replay_ms", outlook->ms, offered);
    put_number("replayed", ms > 0 ? outlook->ms / ms : 0, offered && ms > 0);
    put_number("replay_issue", outlook->issued, offered);
    put_text("no_replay", forecast->reason);
    printf(",\"waits\":");
    for (int w = 0; w < WAITS && offered; w++)
        printf("%s\"%s\":%.4g", w ? "," : "{", wait_key((Wait)w), outlook->waits[w]);
    printf("%s", offered ? "}" : "null");
}

static void put_subject(const Subject *subject, const Bound *bound, const Forecast *forecast,
                        const Shape *shape, double ms) {
    printf("{\"stage\":");
    put_json(subject->module.stage, stdout);
    put_text("variant", subject->module.variant);
    put_text("arch", subject->module.arch);
    put_text("device", subject->machine.device);
    printf(",\"batch\":%d,\"heads\":%d,\"seq_q\":%d", shape->batch, shape->heads, shape->length);
    put_text("binding", unit_key(bound->binding));
    put_text("bound_by", unit_name(bound->binding));
    put_number("bound_ms", bound->ms, true);
    put_number("bound_tflops", bound->tflops, true);
    put_number("imbalance", bound->imbalance, true);
    put_number("measured_ms", ms, ms > 0);
    put_number("explained", ms > 0 ? bound->ms / ms : 0, ms > 0);
    put_text("unmatched", subject->model.unmatched);
    printf(",\"cycles\":{");
    for (int u = 0; u < UNITS; u++)
        printf("%s\"%s\":%.6g", u ? "," : "", unit_key((Unit)u), bound->cycles[u]);
    printf("}");
    const Outlook outlook = forecast_at(forecast, &subject->model, bound, shape);
    put_replay(forecast, &outlook, ms);
    printf("}\n");
}

static bool print_one(const Options *options, const char *file, Error *error) {
    Subject subject;
    Cells cells;
    if (!subject_open(file, options->gpu, options->machines, options->counted, &subject, error))
        return false;
    const bool read = subject_cells(options->results, subject.machine.device, &cells, error);
    if (read) {
        const Shape shape = {options->batch, options->heads, options->length, subject.d,
                             subject.causal};
        const Bound bound = model_bound(&subject.model, &shape);
        const double ms = measured_ms(&cells, &subject, &shape);
        const Forecast forecast = forecast_build(&subject.model, subject.counted, subject.causal);
        if (options->format == FORMAT_JSON)
            put_subject(&subject, &bound, &forecast, &shape, ms);
        else
            print_subject(&subject, &bound, &forecast, &shape, ms);
    }
    recorded_free(&cells);
    subject_close(&subject);
    return read;
}

/* A stage that the machine cannot run is skipped where there are others. */
bool limits_command(const Options *options, Error *error) {
    int skipped = 0;
    if (options->format == FORMAT_MARKDOWN)
        return error_set(error, STATUS_USAGE,
                         "FORMAT of limits must be one of: text json; not 'markdown'");
    for (int f = 0; f < options->file_count; f++) {
        if (f && options->format != FORMAT_JSON) printf("\n");
        if (print_one(options, options->files[f], error)) continue;
        if (error->status != STATUS_SKIP || ++skipped == options->file_count) return false;
        fprintf(stderr, "sass: %s\n", error->text);
    }
    return true;
}
