#include "analysis/flow.h"

#include "analysis/classes.h"
#include "analysis/graph.h"
#include "list.h"

/* A loop while it is being found. */
typedef struct Body {
    int header, back; /* blocks; the last one that goes back to the header */
    bool *inside;     /* [blocks] */
    int blocks;
} Body;

/* The blocks that reach `block` without passing the header are in the loop. */
static void grow_body(const Graph *graph, Body *body, int block, int *stack) {
    int depth = 0;
    stack[depth++] = block;
    while (depth > 0) {
        const int b = stack[--depth];
        if (body->inside[b] || graph->block[b].order < 0) continue;
        body->inside[b] = true;
        body->blocks++;
        for (int e = 0; e < graph->block[b].befores; e++)
            stack[depth++] = graph->block[b].before[e];
    }
}

/* One loop a header, in the order of the headers' addresses. */
static Body *find_bodies(const Graph *graph, int *bodies) {
    Body *body = NULL;
    int edges = 0;
    for (int b = 0; b < graph->blocks; b++) edges += graph->block[b].befores;
    int *stack = list_zeroed((size_t)edges, sizeof *stack);
    for (int header = 0; header < graph->blocks; header++) {
        const Block *block = &graph->block[header];
        Body *loop = NULL;
        for (int e = 0; e < block->befores; e++) {
            const int from = block->before[e];
            if (graph->block[from].order < 0 || !graph_dominates(graph, header, from)) continue;
            if (!loop) {
                loop = LIST_ADD(body, *bodies);
                *loop = (Body){.header = header, .blocks = 1};
                loop->inside = list_zeroed((size_t)graph->blocks, sizeof *loop->inside);
                loop->inside[header] = true;
            }
            if (from > loop->back) loop->back = from;
            grow_body(graph, loop, from, stack);
        }
    }
    free(stack);
    return body;
}

/* The smallest other loop that holds the header; two with different headers are nested or apart. */
static int parent_of(const Body *body, int bodies, int loop) {
    int parent = -1;
    for (int i = 0; i < bodies; i++)
        if (i != loop && body[i].inside[body[loop].header] &&
            (parent < 0 || body[i].blocks < body[parent].blocks))
            parent = i;
    return parent;
}

static int innermost(const Body *body, int bodies, int block) {
    int inner = -1;
    for (int i = 0; i < bodies; i++)
        if (body[i].inside[block] && (inner < 0 || body[i].blocks < body[inner].blocks)) inner = i;
    return inner;
}

static void count_work(const Function *function, Flow *flow, int loop, int instruction) {
    const Instruction *at = &function->instruction[instruction];
    const OpcodeClass kind = opcode_class(at);
    for (; loop >= 0; loop = flow->loop[loop].parent) {
        Loop *around = &flow->loop[loop];
        around->instructions++;
        around->tensor += kind == CLASS_TENSOR;
        around->fma += kind == CLASS_FMA;
        around->ex2 += opcode_matches(at, "MUFU.EX2");
    }
}

/* "2" for the second outermost loop, "2.1" for the first in it. Its parent has its name already. */
static void name_loop(Flow *flow, int loop) {
    const int parent = flow->loop[loop].parent;
    const char *prefix = parent < 0 ? "" : flow->loop[parent].name;
    int number = 1;
    for (int i = 0; i < loop; i++) number += flow->loop[i].parent == parent;
    snprintf(flow->loop[loop].name, LOOP_NAME_SIZE, "%.10s%s%d", prefix, *prefix ? "." : "",
             number % 1000);
    flow->loop[loop].depth = parent < 0 ? 1 : flow->loop[parent].depth + 1;
}

static void find_loops(const Function *function, const Graph *graph, Flow *flow) {
    Body *body = find_bodies(graph, &flow->loops);
    flow->loop = list_zeroed((size_t)flow->loops, sizeof *flow->loop);
    for (int i = 0; i < flow->loops; i++) {
        flow->loop[i].header = graph->block[body[i].header].first;
        flow->loop[i].back = graph->block[body[i].back].last - 1;
        flow->loop[i].parent = parent_of(body, flow->loops, i);
    }
    for (int named = 0; named < flow->loops;)
        for (int i = 0; i < flow->loops; i++) {
            const int parent = flow->loop[i].parent;
            if (flow->loop[i].depth || (parent >= 0 && !flow->loop[parent].depth)) continue;
            name_loop(flow, i);
            named++;
        }
    for (int b = 0; b < graph->blocks; b++) {
        const int inner = innermost(body, flow->loops, b);
        for (int i = graph->block[b].first; i < graph->block[b].last; i++) {
            flow->loop_of[i] = inner;
            count_work(function, flow, inner, i);
        }
    }
    for (int i = 0; i < flow->loops; i++) free(body[i].inside);
    free(body);
}

bool flow_in_loop(const Flow *flow, int loop, int instruction) {
    int inner = flow->loop_of[instruction];
    while (inner >= 0 && inner != loop) inner = flow->loop[inner].parent;
    return inner >= 0;
}

static int find_main_loop(const Flow *flow) {
    int tensor = 0, fma = 0, ex2 = 0, best = -1;
    for (int i = 0; i < flow->loops; i++) {
        const Loop *loop = &flow->loop[i];
        if (loop->parent >= 0) continue;
        tensor += loop->tensor;
        fma += loop->fma;
        ex2 += loop->ex2;
    }
    for (int i = 0; i < flow->loops; i++) {
        const Loop *loop = &flow->loop[i];
        const int work = tensor ? loop->tensor : loop->fma, all = tensor ? tensor : fma;
        if (work == 0 || 3 * work < all || 3 * loop->ex2 < ex2) continue;
        if (best < 0 || loop->instructions < flow->loop[best].instructions) best = i;
    }
    return best;
}

/* Marks the blocks that are reached from `block`, or that reach it, without going round a loop. */
static void spread(const Graph *graph, int block, bool forward, bool *mark, int *stack) {
    int depth = 0;
    if (mark[block]) return;
    mark[block] = true;
    stack[depth++] = block;
    while (depth > 0) {
        const Block *at = &graph->block[stack[--depth]];
        const int edges = forward ? at->nexts : at->befores;
        for (int e = 0; e < edges; e++) {
            const int to = forward ? at->next[e] : at->before[e];
            const int order = graph->block[to].order;
            if (mark[to] || order < 0 || (order > at->order) != forward) continue;
            mark[to] = true;
            stack[depth++] = to;
        }
    }
}

static bool is_filler(const Function *function, int i) {
    const Instruction *instruction = &function->instruction[i];
    return opcode_is(instruction, "NOP") || opcode_is(instruction, "BRA");
}

static void find_regions(const Function *function, const Graph *graph, Flow *flow) {
    const size_t blocks = (size_t)graph->blocks;
    bool *before = list_zeroed(blocks, sizeof *before), *after = list_zeroed(blocks, sizeof *after);
    int *stack = list_zeroed(blocks, sizeof *stack);
    const int loop = flow->main_loop;
    for (int b = 0; loop >= 0 && b < graph->blocks; b++)
        if (flow_in_loop(flow, loop, graph->block[b].first)) spread(graph, b, true, after, stack);
    if (loop >= 0)
        spread(graph, graph_block_of(graph, flow->loop[loop].header), false, before, stack);
    for (int b = 0; b < graph->blocks; b++)
        for (int i = graph->block[b].first; i < graph->block[b].last; i++)
            if (graph->block[b].order < 0 && is_filler(function, i))
                flow->region[i] = REGION_PADDING;
            else if (loop >= 0 && flow_in_loop(flow, loop, i))
                flow->region[i] = REGION_LOOP;
            else if (i >= function->body)
                flow->region[i] = REGION_CALLED;
            else
                flow->region[i] = after[b]    ? REGION_EPILOGUE
                                  : before[b] ? REGION_PROLOGUE
                                              : REGION_ELSEWHERE;
    free(before);
    free(after);
    free(stack);
}

Flow flow_analyse(const Function *function) {
    const size_t count = (size_t)function->instructions;
    Flow flow = {.main_loop = -1,
                 .loop_of = list_zeroed(count, sizeof *flow.loop_of),
                 .region = list_zeroed(count, sizeof *flow.region)};
    Graph graph = graph_build(function);
    find_loops(function, &graph, &flow);
    flow.main_loop = find_main_loop(&flow);
    find_regions(function, &graph, &flow);
    graph_free(&graph);
    return flow;
}

const char *region_name(Region region) {
    static const char *const names[REGIONS] = {"prologue",  "loop",   "epilogue",
                                               "elsewhere", "called", "padding"};
    return names[region];
}

void flow_free(Flow *flow) {
    free(flow->loop);
    free(flow->loop_of);
    free(flow->region);
    *flow = (Flow){.main_loop = -1};
}
