#include "analysis/expect.h"

#include "analysis/classes.h"

#include <string.h>

static bool matches(const Selection *selection, const Kernel *kernel, int i, const char *pattern) {
    const Region region = kernel->flow.region[i];
    if (region == REGION_PADDING) return false;
    if (selection->region >= 0 && region != (Region)selection->region) return false;
    return strcmp(pattern, "all") == 0 ||
           opcode_matches(&kernel->function->instruction[i], pattern);
}

/* The first or last instruction that matches `other`; -1 if there is none. */
static int pivot(const Selection *selection, const Kernel *kernel) {
    int found = -1;
    for (int i = 0; i < kernel->function->instructions; i++) {
        if (!matches(selection, kernel, i, selection->other)) continue;
        found = i;
        if (!selection->last) break;
    }
    return found;
}

/* Whether a match of `other` stands between instruction i and the match before it. */
static bool is_split(const Selection *selection, const Kernel *kernel, int i) {
    bool other = false;
    while (--i >= 0 && !matches(selection, kernel, i, selection->pattern))
        other |= matches(selection, kernel, i, selection->other);
    return i >= 0 && other;
}

bool selection_has(const Selection *selection, const Module *module, int k, int i) {
    const Kernel *kernel = &module->kernel[k];
    if (selection->kernel >= 0 && selection->kernel != k) return false;
    if (!matches(selection, kernel, i, selection->pattern)) return false;
    if (selection->order == ORDER_SPLIT) return is_split(selection, kernel, i);
    if (selection->order == ORDER_ANY) return true;
    const int at = pivot(selection, kernel);
    return at >= 0 && (selection->order == ORDER_BEFORE ? i < at : i > at);
}
