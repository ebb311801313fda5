#include "cli/report.h"

#include <math.h>
#include <string.h>

#include "base/json_text.h"

const char *report_status(Status status) {
    return status == STATUS_PASS ? "PASS" : status == STATUS_SKIP ? "SKIP" : "FAIL";
}

double report_tflops(const Problem *problem, const Times *times) {
    return problem_flops(problem) / times->median * 1e-9;
}

double report_gb_s(const Problem *problem, const Times *times) {
    return (double)problem_bytes(problem) / times->median * 1e-6;
}

static void print_version(FILE *out, const char *what, int version) {
    fprintf(out, ", %s %d.%d", what, version / 1000, version % 1000 / 10);
}

void report_device(FILE *out, const Device *device) {
    if (device->simulated) {
        fprintf(out,
                "device   simulator: PTX executed on the CPU; counters are exact, there are no "
                "times\n");
        return;
    }
    fprintf(out, "device   %s, compute capability %d.%d, %d SMs", device->name,
            device->compute_capability / 10, device->compute_capability % 10,
            device->multiprocessors);
    if (device->clock_mhz) fprintf(out, " at up to %d MHz", device->clock_mhz);
    fprintf(out, ", %.0f MiB L2, %.1f GiB", (double)device->l2_bytes / (1 << 20),
            (double)device->memory_total / (1 << 30));
    print_version(out, "driver", device->driver);
    print_version(out, "toolkit", device->runtime);
    if (device->peak_tflops > 0) fprintf(out, ", peak %.0f TFLOP/s", device->peak_tflops);
    fprintf(out, "\n");
}

static double strength_of(const TrialSetup *setup) {
    return setup->strength > 0 ? setup->strength : init_strength(setup->init);
}

void report_arguments(FILE *out, const TrialSetup *setup) {
    const Problem *p = &setup->problem;
    fprintf(out, "B=%d H=%d HKV=%d N=%d NKV=%d D=%d CAUSAL=%d DTYPE=%s INIT=%s", p->shape.batch,
            p->shape.heads, p->shape.kv_heads, p->shape.seq_q, p->shape.seq_kv, p->d, p->causal,
            element_name(p->type), init_name(setup->init));
    if (init_strength(setup->init) > 0) fprintf(out, " STRENGTH=%.9g", strength_of(setup));
    fprintf(out, " SEED=%llu LSE=%d", (unsigned long long)setup->seed, setup->lse);
    if (p->shape.scale != problem_scale(p->d)) fprintf(out, " SCALE=%.9g", (double)p->shape.scale);
    if (setup->runs > 1) fprintf(out, " RUNS=%d", setup->runs);
}

void report_problem(FILE *out, const TrialSetup *setup, const Rows *rows) {
    fprintf(out, "problem  ");
    report_arguments(out, setup);
    fprintf(out, ", %.4g GFLOP\n", problem_flops(&setup->problem) * 1e-9);
    fprintf(out, "checked  %zu of %zu rows\n", rows->count, rows->total);
}

static int name_width(const Result results[], int count) {
    int width = 5;
    for (int i = 0; i < count; i++) {
        const int length = (int)strlen(results[i].stage.name);
        width = length > width ? length : width;
    }
    return width;
}

static void print_int(FILE *out, int width, int value) {
    if (value < 0)
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*d", width, value);
}

static void print_times(FILE *out, const Device *device, const Problem *problem,
                        const Result *result, const Result *before) {
    if (!result->timed) {
        fprintf(out, " %9s %9s %6s %8s %6s %8s", "-", "-", "-", "-", "-", "-");
        return;
    }
    const double tflops = report_tflops(problem, &result->times);
    fprintf(out, " %9.4g %9.4g %5.1f%% %8.4g", result->times.median, result->times.min,
            100 * result->times.spread, tflops);
    if (device->peak_tflops > 0)
        fprintf(out, " %5.1f%%", 100 * tflops / device->peak_tflops);
    else
        fprintf(out, " %6s", "-");
    if (before)
        fprintf(out, " %7.2fx", before->times.median / result->times.median);
    else
        fprintf(out, " %8s", "-");
}

static void print_ratio(FILE *out, int width, uint64_t units, uint64_t requests) {
    if (requests == 0)
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.2f", width, (double)units / (double)requests);
}

static void print_counters(FILE *out, const Result *result) {
    const Counters *c = &result->counters;
    if (!result->counted) {
        fprintf(out, " %12s %10s %9s %9s %9s %9s %9s", "-", "-", "-", "-", "-", "-", "-");
        return;
    }
    fprintf(out, " %12llu %10llu %9llu", (unsigned long long)c->warp_instructions,
            (unsigned long long)c->mma_instructions, (unsigned long long)c->barriers);
    print_ratio(out, 9, c->global_load.units, c->global_load.requests);
    print_ratio(out, 9, c->global_load.units, c->global_load.ideal_units);
    print_ratio(out, 9, c->shared_load.units, c->shared_load.requests);
    print_ratio(out, 9, c->shared_load.units, c->shared_load.ideal_units);
}

void report_head(FILE *out, const Device *device, int width) {
    fprintf(out, "%-*s", width, "stage");
    if (device->simulated)
        fprintf(out, " %12s %10s %9s %9s %9s %9s %9s %7s", "instructions", "mma", "barriers",
                "sectors", "x ideal", "wavefr.", "x ideal", "shared");
    else
        fprintf(out, " %9s %9s %6s %8s %6s %8s %5s %7s %6s", "ms", "ms min", "spread", "TFLOP/s",
                "peak", "x before", "regs", "shared", "spills");
    fprintf(out, " %9s %9s\n", "error", "allowed");
}

void report_row(FILE *out, const Device *device, const Problem *problem, int width,
                const Result *result, const Result *before) {
    fprintf(out, "%-*s", width, result->stage.name);
    if (device->simulated) {
        print_counters(out, result);
    } else {
        print_times(out, device, problem, result, before);
        print_int(out, 5, result->resources.registers);
    }
    print_int(out, 7, result->resources.shared_bytes);
    if (!device->simulated) print_int(out, 6, result->resources.spill_bytes);
    if (result->checked)
        fprintf(out, " %9.2e %9.2e", result->check.max_error, result->check.tolerance);
    else
        fprintf(out, " %9s %9s", "-", "-");
    fprintf(out, "  %s%s%s\n", report_status(result->status), result->reason[0] ? ": " : "",
            result->reason);
}

void report_foot(FILE *out, const Device *device) {
    if (device->simulated)
        fprintf(out,
                "simulated PTX: instructions, mma and barriers per warp; global sectors and shared "
                "wavefronts per\nload request, each also as a multiple of its ideal\n");
}

void report_table(FILE *out, const Device *device, const Problem *problem, const Result results[],
                  int count) {
    const int width = name_width(results, count);
    const Result *before = NULL;
    report_head(out, device, width);
    for (int i = 0; i < count; i++) {
        report_row(out, device, problem, width, &results[i], before);
        if (results[i].timed) before = &results[i];
    }
    report_foot(out, device);
}

/* ---- JSON ---- */

static void json_string(FILE *out, const char *key, const char *text) {
    fprintf(out, ",\"%s\":", key);
    json_text(text, strlen(text), out);
}

/* Absent if NULL or "". */
static void json_optional(FILE *out, const char *key, const char *text) {
    if (text && *text)
        json_string(out, key, text);
    else
        fprintf(out, ",\"%s\":null", key);
}

static void json_int(FILE *out, const char *key, long long value, bool present) {
    if (present)
        fprintf(out, ",\"%s\":%lld", key, value);
    else
        fprintf(out, ",\"%s\":null", key);
}

/* JSON has neither NaN nor infinity: they become null. */
static void json_number(FILE *out, const char *key, double value, bool present) {
    if (present && isfinite(value))
        fprintf(out, ",\"%s\":%.9g", key, value);
    else
        fprintf(out, ",\"%s\":null", key);
}

static void json_memory(FILE *out, const char *name, const MemoryCounters *memory) {
    fprintf(out, ",\"%s_requests\":%llu,\"%s_units\":%llu,\"%s_ideal_units\":%llu", name,
            (unsigned long long)memory->requests, name, (unsigned long long)memory->units, name,
            (unsigned long long)memory->ideal_units);
}

static void json_counters(FILE *out, const Result *result) {
    const Counters *c = &result->counters;
    if (!result->counted) {
        fprintf(out, ",\"counters\":null");
        return;
    }
    fprintf(out, ",\"counters\":{\"warp_instructions\":%llu",
            (unsigned long long)c->warp_instructions);
    json_int(out, "lane_instructions", (long long)c->lane_instructions, true);
    json_int(out, "mma_instructions", (long long)c->mma_instructions, true);
    json_int(out, "barriers", (long long)c->barriers, true);
    json_int(out, "divergent_branches", (long long)c->divergent_branches, true);
    json_int(out, "blocks", (long long)c->blocks, true);
    json_memory(out, "global_load", &c->global_load);
    json_memory(out, "global_store", &c->global_store);
    json_memory(out, "shared_load", &c->shared_load);
    json_memory(out, "shared_store", &c->shared_store);
    json_memory(out, "shared_atomic", &c->shared_atomic);
    fputc('}', out);
}

static void json_times(FILE *out, const Device *device, const TrialSetup *setup,
                       const Result *result) {
    const Times *times = &result->times;
    const bool timed = result->timed, sustained = setup->timing.sustained > 0;
    const double gb_s = timed ? report_gb_s(&setup->problem, times) : 0;
    json_number(out, "ms_median", times->median, timed);
    json_number(out, "ms_min", times->min, timed);
    json_number(out, "host_us", 1e3 * times->host, timed && times->host > 0);
    json_number(out, "tflops", timed ? report_tflops(&setup->problem, times) : 0, timed);
    json_number(out, "gb_s", gb_s, timed);
    json_number(out, "hbm_share", gb_s / device->peak_gb_s, timed);
    json_int(out, "sustained", setup->timing.sustained, sustained);
    json_optional(out, "began", times->began.text);
    json_optional(out, "ended", times->ended.text);
}

void report_json(FILE *out, const Device *device, const TrialSetup *setup, const Result *result) {
    const char *status = result->status == STATUS_PASS   ? "pass"
                         : result->status == STATUS_SKIP ? "skip"
                                                         : "fail";
    const Problem *problem = &setup->problem;
    const AttentionProblem *shape = &problem->shape;
    const StageResources *resources = &result->resources;
    if (result->stage.number)
        fprintf(out, "{\"stage\":%d", result->stage.number);
    else
        fprintf(out, "{\"stage\":null");
    json_string(out, "name", result->stage.name);
    json_string(out, "device", device->name);
    fprintf(out, ",\"simulated\":%s", device->simulated ? "true" : "false");
    json_string(out, "dtype", element_name(problem->type));
    fprintf(out, ",\"causal\":%s", problem->causal ? "true" : "false");
    json_int(out, "batch", shape->batch, true);
    json_int(out, "heads", shape->heads, true);
    json_int(out, "kv_heads", shape->kv_heads, true);
    json_int(out, "seq_q", shape->seq_q, true);
    json_int(out, "seq_kv", shape->seq_kv, true);
    json_int(out, "d", problem->d, true);
    json_optional(out, "regime", setup->regime);
    json_string(out, "init", init_name(setup->init));
    json_number(out, "strength", strength_of(setup), init_strength(setup->init) > 0);
    json_string(out, "status", status);
    json_optional(out, "reason", result->reason);
    json_number(out, "max_error", result->check.max_error, result->checked);
    json_number(out, "tolerance", result->check.tolerance, result->checked);
    json_number(out, "rms_error", result->check.rms_error, result->checked);
    json_int(out, "checked_rows", (long long)result->checked_rows, result->checked);
    json_times(out, device, setup, result);
    json_int(out, "registers", resources->registers, resources->registers >= 0);
    json_int(out, "threads", resources->threads, resources->threads >= 0);
    json_int(out, "shared_bytes", resources->shared_bytes, resources->shared_bytes >= 0);
    json_int(out, "spill_bytes", resources->spill_bytes, resources->spill_bytes >= 0);
    json_counters(out, result);
    fprintf(out, "}\n");
}
