#include "replay/path.h"

#include "analysis/classes.h"
#include "analysis/graph.h"
#include "list.h"

#include <math.h>

/* How far counts may be apart that mean the same, and how long a path may be. */
static const double TOLERANCE = 1e-6, UNKNOWN = 1e9;
enum { MOST_STEPS = 1 << 24, SWEEPS = 4000 };

/* Executions of a block or an edge per warp: between these. */
typedef struct Range {
    double least, most;
} Range;

/* Flow through a graph. Edge 0 of a block leaves the kernel, edge 1 + i goes to block.next[i]. */
typedef struct Flows {
    const Graph *graph;
    Range *range;    /* [ranges]: of the blocks, then of the edges */
    int *first_edge; /* [blocks]: its edge 0 */
    int ranges;
    bool changed, contradiction;
} Flows;

static int edges_of(const Block *block) { return block->nexts + 1; }

/* Narrows a range. */
static void narrow(Flows *flows, int at, double least, double most) {
    Range *range = &flows->range[at];
    if (least > range->least + TOLERANCE) {
        range->least = least;
        flows->changed = true;
    }
    if (most < range->most - TOLERANCE) {
        range->most = most;
        flows->changed = true;
    }
    if (range->least > range->most + 2 * TOLERANCE) flows->contradiction = true;
}

/* A whole and its parts: each is what the others leave. `given` comes from elsewhere. */
static void balance(Flows *flows, int whole, const int *part, int parts, double given) {
    double least = given, most = given;
    for (int i = 0; i < parts; i++) {
        least += flows->range[part[i]].least;
        most += flows->range[part[i]].most;
    }
    narrow(flows, whole, least, most);
    const Range all = flows->range[whole];
    for (int i = 0; i < parts; i++) {
        const Range own = flows->range[part[i]];
        narrow(flows, part[i], all.least - (most - own.most), all.most - (least - own.least));
    }
}

static void balance_block(Flows *flows, int b, int *part) {
    const Block *block = &flows->graph->block[b];
    int parts = 0;
    for (int i = 0; i < edges_of(block); i++) part[parts++] = flows->first_edge[b] + i;
    balance(flows, b, part, parts, 0);
    parts = 0;
    for (int i = 0; i < block->befores; i++) {
        const int before = block->before[i];
        if (i > 0 && before == block->before[i - 1]) continue; /* two edges of one block */
        const Block *from = &flows->graph->block[before];
        for (int k = 0; k < from->nexts; k++)
            if (from->next[k] == b) part[parts++] = flows->first_edge[before] + 1 + k;
    }
    balance(flows, b, part, parts, b == 0);
}

/* False if the ranges contradict each other. */
static bool propagate(Flows *flows, int *part) {
    flows->changed = true;
    flows->contradiction = false;
    for (int sweep = 0; sweep < SWEEPS && flows->changed; sweep++) {
        flows->changed = false;
        for (int i = 0; i < flows->graph->reached && !flows->contradiction; i++)
            balance_block(flows, flows->graph->reverse_postorder[i], part);
    }
    return !flows->contradiction;
}

/* Believes that a range is `least` to `most`, unless that contradicts what is believed. */
static bool believe(Flows *flows, int at, double least, double most, int *part) {
    const size_t size = (size_t)flows->ranges * sizeof *flows->range;
    Range *before = list_zeroed((size_t)flows->ranges, sizeof *before);
    memcpy(before, flows->range, size);
    narrow(flows, at, least, most);
    const bool consistent = propagate(flows, part);
    if (!consistent) memcpy(flows->range, before, size);
    free(before);
    return consistent;
}

/* Whether a warp may end behind a block. */
static bool leaves(const Function *function, const Block *block) {
    const Instruction *last = &function->instruction[block->last - 1];
    return block->nexts == 0 || opcode_is(last, "EXIT");
}

static Flows flows_of(const Function *function, const Graph *graph) {
    Flows flows = {.graph = graph,
                   .first_edge = list_zeroed((size_t)graph->blocks, sizeof(int)),
                   .ranges = graph->blocks};
    for (int b = 0; b < graph->blocks; b++) {
        flows.first_edge[b] = flows.ranges;
        flows.ranges += edges_of(&graph->block[b]);
    }
    flows.range = list_zeroed((size_t)flows.ranges, sizeof *flows.range);
    for (int i = 0; i < flows.ranges; i++) flows.range[i].most = UNKNOWN;
    for (int b = 0; b < graph->blocks; b++)
        if (!leaves(function, &graph->block[b])) flows.range[flows.first_edge[b]].most = 0;
    return flows;
}

/* Blocks with deciding instructions, the surest first. */
static void believe_counts(Flows *flows, const Executions *executions, double warps, int *part) {
    const Graph *graph = flows->graph;
    int surest = 0;
    for (int b = 0; b < graph->blocks; b++) {
        const int sure = executions->sure[graph->block[b].first];
        if (sure > surest) surest = sure;
    }
    for (int sure = surest; sure > 0; sure--)
        for (int b = 0; b < graph->blocks; b++) {
            const int first = graph->block[b].first;
            const double times = executions->of[first] / warps;
            if (executions->sure[first] == sure) believe(flows, b, times, times, part);
        }
}

/* How much an edge alone leads to: deciding instructions that are executed and that no other way
 * reaches. A loop that runs is entered, and a branch around work that is done is not taken. */
static double promise(const Flows *flows, const Executions *executions, int from, int to) {
    const Graph *graph = flows->graph;
    const Block *target = &graph->block[to];
    double sure = 0;
    for (int i = 0; i < target->befores; i++)
        if (target->before[i] != from && !graph_dominates(graph, to, target->before[i])) return 0;
    if (graph_dominates(graph, to, from)) return 0;
    for (int i = 0; i < graph->reached; i++) {
        const int other = graph->reverse_postorder[i];
        const int first = graph->block[other].first;
        if (executions->of[first] > 0 && graph_dominates(graph, to, other))
            sure += executions->sure[first];
    }
    return sure;
}

/* Decides the branches that counts leave open. */
static void decide_rest(Flows *flows, const Function *function, const Executions *executions,
                        int *part) {
    const Graph *graph = flows->graph;
    for (int i = 0; i < graph->reached; i++) {
        const int b = graph->reverse_postorder[i];
        const Block *block = &graph->block[b];
        int best = -1;
        double most = -2;
        for (int k = 0; k < block->nexts; k++) {
            const Block *next = &graph->block[block->next[k]];
            const bool calls = opcode_is(&function->instruction[next->last - 1], "CALL");
            const double worth = promise(flows, executions, b, block->next[k]) - calls;
            if (worth <= most) continue;
            best = k;
            most = worth;
        }
        for (int k = 0; k < block->nexts; k++) {
            const int edge = flows->first_edge[b] + 1 + k;
            const Range open = flows->range[edge];
            if (k == best || open.most - open.least <= TOLERANCE) continue;
            believe(flows, edge, 0, open.least, part);
        }
        const Range left = flows->range[flows->first_edge[b]];
        if (block->nexts && left.most - left.least > TOLERANCE)
            believe(flows, flows->first_edge[b], 0, left.least, part);
    }
}

/* Executions of a block or an edge; what nothing limits is not executed without need. */
static double decided(Range range) { return range.most < UNKNOWN / 2 ? range.most : range.least; }

/* Where paths and counts disagree, weighed by instructions. */
static void compare(const Flows *flows, const Executions *executions, double warps, Path *path) {
    double all = 0, off = 0, worst = 0;
    for (int b = 0; b < flows->graph->blocks; b++) {
        const Block *block = &flows->graph->block[b];
        if (block->order < 0) continue;
        const double taken = decided(flows->range[b]), size = block->last - block->first;
        all += taken * size;
        if (executions->sure[block->first] == 0) continue;
        const double apart = fabs(taken - executions->of[block->first] / warps) * size;
        off += apart;
        if (apart <= worst) continue;
        worst = apart;
        path->worst = block->first;
    }
    path->expected = all;
    path->strayed = off / all;
}

/* The edge that is taken: one that is due, else the one that is taken most often. */
static int take_edge(const Flows *flows, int b, double *due) {
    const int edges = edges_of(&flows->graph->block[b]);
    const Range *edge = &flows->range[flows->first_edge[b]];
    double all = 0;
    int taken = 0;
    due += flows->first_edge[b];
    for (int k = 0; k < edges; k++) all += decided(edge[k]);
    for (int k = 0; k < edges; k++) {
        due[k] += all > 0 ? decided(edge[k]) / all : k == 0;
        if (decided(edge[k]) > decided(edge[taken])) taken = k;
    }
    for (int k = 0, most = taken; k < edges; k++)
        if (due[k] > 1 - TOLERANCE && k != most) taken = k;
    due[taken]--;
    return taken;
}

/* Follows the edges from the first block to the end of the kernel; false if there is none. */
static bool walk(const Flows *flows, Path *path) {
    const Graph *graph = flows->graph;
    double *due = list_zeroed((size_t)flows->ranges, sizeof *due);
    bool ended = false;
    for (int b = 0; !ended && path->steps < MOST_STEPS;) {
        const Block *block = &graph->block[b];
        for (int i = block->first; i < block->last; i++)
            *(int *)LIST_ADD(path->step, path->steps) = i;
        const int taken = take_edge(flows, b, due);
        ended = taken == 0;
        if (!ended) b = block->next[taken - 1];
    }
    free(due);
    return ended;
}

bool path_derive(const Kernel *kernel, const Executions *executions, double warps, Path *path) {
    const Function *function = kernel->function;
    Graph graph = graph_build(function);
    Flows flows = flows_of(function, &graph);
    int *part = list_zeroed((size_t)flows.ranges, sizeof *part);
    *path = (Path){0};
    propagate(&flows, part);
    believe_counts(&flows, executions, warps, part);
    decide_rest(&flows, function, executions, part);
    compare(&flows, executions, warps, path);
    const bool ended = walk(&flows, path);
    free(part);
    free(flows.range);
    free(flows.first_edge);
    graph_free(&graph);
    if (!ended) path_free(path);
    return ended;
}

void path_free(Path *path) {
    free(path->step);
    *path = (Path){0};
}
