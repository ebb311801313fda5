/* common/device/counters.h and simulator.h beside the simulator: the harness asks here what the
 * kernels did, and for another order of things. */
#include "device/counters.h"
#include "device/simulator.h"

#include <stdlib.h>

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

/* ---- Launches -------------------------------------------------------------------------------- */

static bool is_listed(const void *function, const AttentionKernel kernels[]) {
    for (; kernels->name; kernels++)
        if (kernels->function == function) return true;
    return false;
}

const char *simulator_unlisted(const AttentionKernel kernels[]) {
    for (Function *f = registry_functions(); f; f = f->next)
        if (f->launched && !is_listed(f->host, kernels)) return registry_kernel(f)->name;
    return NULL;
}

/* ---- Settings -------------------------------------------------------------------------------- */

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
