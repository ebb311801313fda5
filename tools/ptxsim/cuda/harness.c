/* common/device/counters.h and simulator.h beside the simulator: the harness asks here what the
 * kernels did, and for another order of things. */
#include "device/counters.h"
#include "device/simulator.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/registry.h"
#include "report/annotate.h"
#include "report/summary.h"

bool counters_simulated(void) { return true; }

void counters_reset(void) { registry_reset_counters(); }

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* A snapshot that owns its arrays. Files are numbered anew, since every module has its own. */
typedef struct Snapshot {
    CountsSnapshot counts;
    KernelCounts *kernel;
    const char **file;
    InstructionInfo **info; /* [kernels] */
} Snapshot;

static size_t count_kernels(void) {
    size_t kernels = 0;
    for (const Module *m = registry_modules(); m; m = m->next)
        for (int i = 0; i < m->kernels; i++) kernels += m->kernel[i].totals.launches > 0;
    return kernels;
}

static size_t count_files(void) {
    size_t files = 0;
    for (const Module *m = registry_modules(); m; m = m->next) files += (size_t)m->ptx->files;
    return files;
}

static InstructionInfo *renumbered(const Kernel *k, size_t first_file) {
    InstructionInfo *info = calloc((size_t)k->ops, sizeof *info);
    for (int i = 0; info && i < k->ops; i++) {
        info[i] = k->info[i];
        if (info[i].file >= 0) info[i].file += (int)first_file;
    }
    return info;
}

static void add_module(Snapshot *s, const Module *m) {
    CountsSnapshot *counts = &s->counts;
    for (int i = 0; i < m->kernels; i++) {
        const Kernel *k = &m->kernel[i];
        if (!k->totals.launches) continue;
        s->info[counts->kernels] = renumbered(k, counts->files);
        s->kernel[counts->kernels] = k->totals;
        s->kernel[counts->kernels].info = s->info[counts->kernels];
        counts->kernels++;
    }
    for (int i = 0; i < m->ptx->files; i++)
        s->file[counts->files++] = m->ptx->file[i] ? m->ptx->file[i] : "";
}

static void drop_snapshot(Snapshot *s) {
    for (size_t i = 0; i < s->counts.kernels; i++) free(s->info[i]);
    free(s->kernel);
    free(s->file);
    free(s->info);
}

/* False if there are no counters, or no memory for them. */
static bool take_snapshot(Snapshot *s) {
    const size_t kernels = count_kernels();
    *s = (Snapshot){0};
    if (kernels == 0) return false;
    s->kernel = calloc(kernels, sizeof *s->kernel);
    s->file = calloc(count_files() + 1, sizeof *s->file);
    s->info = calloc(kernels, sizeof *s->info);
    if (!s->kernel || !s->file || !s->info) {
        drop_snapshot(s);
        return false;
    }
    for (const Module *m = registry_modules(); m; m = m->next) add_module(s, m);
    for (size_t i = 0; i < s->counts.kernels; i++) {
        if (s->info[i]) continue;
        drop_snapshot(s);
        return false;
    }
    s->counts.kernel = s->kernel;
    s->counts.file = s->file;
    return true;
}

/* ---- The interface --------------------------------------------------------------------------- */

bool counters_read(Counters *counters) {
    Snapshot snapshot;
    if (!take_snapshot(&snapshot)) return false;
    counts_sum(&snapshot.counts, counters);
    drop_snapshot(&snapshot);
    return true;
}

void counters_report(FILE *out) {
    Snapshot snapshot;
    if (!take_snapshot(&snapshot)) return;
    counts_report(&snapshot.counts, out);
    drop_snapshot(&snapshot);
}

void counters_annotate(FILE *out, const char *title) {
    Snapshot snapshot;
    if (!take_snapshot(&snapshot)) return;
    if (title)
        annotate_html(&snapshot.counts, title, out);
    else
        annotate_text(&snapshot.counts, out);
    drop_snapshot(&snapshot);
}

void counters_lines(FILE *out, const char *name) {
    Snapshot snapshot;
    if (!take_snapshot(&snapshot)) return;
    annotate_json(&snapshot.counts, name, out);
    drop_snapshot(&snapshot);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static bool is_listed(const Function *f, const AttentionKernel kernels[]) {
    for (; kernels->name; kernels++)
        if (kernels->function == f->host && (int)f->threads <= kernels->threads &&
            (int)f->dynamic <= kernels->dynamic_shared)
            return true;
    return false;
}

const char *simulator_unlisted(const AttentionKernel kernels[]) {
    for (Function *f = registry_functions(); f; f = f->next)
        if (f->threads && !is_listed(f, kernels)) return registry_kernel(f)->name;
    return NULL;
}

/* ---- Settings -------------------------------------------------------------------------------- */

/* A variable of the environment: one of two words, or a whole number up to `most`. */
typedef struct Setting {
    const char *name, *word[2];
    uint64_t most;
} Setting;

static const Setting settings[] = {
    {"SIM_ASYNC", {"late", "early"}, 0},   {"SIM_FMA", {"separate", "fused"}, 0},
    {"SIM_RACE", {"0", "1"}, 0},           {"SIM_ORDER", {NULL}, INT64_MAX},
    {"SIM_BUDGET", {NULL}, INT64_MAX},     {"SIM_INDEX", {NULL}, UINT32_MAX},
    {"SIM_MULTIPROCESSORS", {NULL}, 1024}, {"SIM_THREADS", {NULL}, 1024},
};

static bool is_number(const char *text, uint64_t most) {
    uint64_t value = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || value > most / 10) return false;
        value = 10 * value + (uint64_t)(*at - '0');
        if (value > most) return false;
    }
    return true;
}

bool simulator_settings(char *problem, size_t size) {
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const Setting *s = &settings[i];
        const char *set = getenv(s->name);
        if (!set || !*set) continue;
        if (s->word[0] && strcmp(set, s->word[0]) != 0 && strcmp(set, s->word[1]) != 0) {
            snprintf(problem, size, "%s=%s: allowed are %s and %s", s->name, set, s->word[0],
                     s->word[1]);
            return false;
        }
        if (!s->word[0] && !is_number(set, s->most)) {
            snprintf(problem, size, "%s=%s: allowed are whole numbers from 0 to %llu", s->name, set,
                     (unsigned long long)s->most);
            return false;
        }
    }
    return true;
}

void simulator_vary(int run) {
    char order[16];
    snprintf(order, sizeof order, "%d", run);
    setenv("SIM_ASYNC", run % 2 ? "early" : "late", 1);
    setenv("SIM_ORDER", order, 1);
}

/* With several runs the last two are what simulator_vary has made of them. */
void simulator_print_settings(FILE *out, int runs) {
    const char *const names[] = {"SIM_MULTIPROCESSORS", "SIM_FMA", "SIM_ASYNC", "SIM_ORDER"};
    const int count = runs > 1 ? 2 : 4;
    for (int i = 0; i < count; i++) {
        const char *set = getenv(names[i]);
        if (set) fprintf(out, "%s=%s ", names[i], set);
    }
}
