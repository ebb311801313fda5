#include "analysis/graph.h"

#include "analysis/classes.h"
#include "list.h"

/* Opcodes that go to the labels among their operands. ptxas also writes CALL for a jump out of a
 * loop on which the lanes of a warp do not agree; a real call names a function, not a .L_ label. */
static bool is_jump(const Instruction *instruction) {
    static const char *const jumps[] = {"BRA", "BRX", "BRXU", "JMP", "JMX", "CALL", "WARPSYNC"};
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++)
        if (opcode_is(instruction, jumps[i])) return true;
    return false;
}

/* Whether the next instruction is never reached from this one. */
static bool ends_path(const Instruction *instruction) {
    const bool jump = opcode_is(instruction, "BRA") || opcode_is(instruction, "JMP");
    const bool table = opcode_is(instruction, "BRX") || opcode_is(instruction, "BRXU");
    const bool leave = opcode_is(instruction, "EXIT") || opcode_is(instruction, "RET");
    if (*instruction->guard) return false;
    /* A branch may also have its condition among the operands: BRA.DIV UR4, `(.L_x_7). */
    return leave || table || (jump && *instruction->operands == '`');
}

/* The next label among the operands: its instruction in *target; returns the text behind it, or
 * NULL if there is none. */
static const char *next_target(const Function *function, const char *operands, int *target) {
    for (;;) {
        const char *label = strstr(operands, ".L");
        if (!label) return NULL;
        const int length = (int)strcspn(label, " ,)\"");
        *target = listing_find_label(function, label, length);
        operands = label + length;
        if (*target >= 0 && *target < function->instructions) return operands;
    }
}

/* starts[i]: instruction i starts a block. */
static void mark_starts(const Function *function, bool *starts) {
    starts[0] = true;
    for (int i = 0; i < function->labels; i++) starts[function->label[i].at] = true;
    for (int i = 0; i < function->instructions; i++) {
        const Instruction *instruction = &function->instruction[i];
        if (is_jump(instruction) || ends_path(instruction)) starts[i + 1] = true;
    }
}

int graph_block_of(const Graph *graph, int instruction) {
    int low = 0, high = graph->blocks - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (graph->block[middle].first <= instruction)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void add_edge(Graph *graph, int from, int to) {
    Block *a = &graph->block[from], *b = &graph->block[to];
    *(int *)LIST_ADD(a->next, a->nexts) = to;
    *(int *)LIST_ADD(b->before, b->befores) = from;
}

static void add_edges(const Function *function, Graph *graph, int b) {
    const Block *block = &graph->block[b];
    const Instruction *last = &function->instruction[block->last - 1];
    int target;
    if (is_jump(last))
        for (const char *text = last->operands;
             (text = next_target(function, text, &target)) != NULL;)
            add_edge(graph, b, graph_block_of(graph, target));
    if (!ends_path(last) && b + 1 < graph->blocks) add_edge(graph, b, b + 1);
}

/* A block on the way from an entry, and how many of its edges have been followed. */
typedef struct Step {
    int block, edges;
} Step;

static void step_to(Graph *graph, int block, Step *stack, int *depth) {
    if (graph->block[block].order >= 0) return;
    graph->block[block].order = block; /* some number, until all that are reached are known */
    stack[(*depth)++] = (Step){block, 0};
}

/* Appends the blocks reached from `entry` to `postorder`, each after those that follow it. */
static void visit(Graph *graph, int entry, int *postorder, Step *stack) {
    int depth = 0;
    step_to(graph, entry, stack, &depth);
    while (depth > 0) {
        Step *at = &stack[depth - 1];
        const Block *block = &graph->block[at->block];
        if (at->edges < block->nexts)
            step_to(graph, block->next[at->edges++], stack, &depth);
        else {
            postorder[graph->reached++] = at->block;
            depth--;
        }
    }
}

static bool is_entry(const Function *function, const Block *block) {
    if (block->first == 0 || block->first == function->body) return true;
    for (int i = 0; block->first > function->body && i < function->labels; i++)
        if (function->label[i].at == block->first && function->label[i].name[0] != '.') return true;
    return false;
}

static void order_blocks(const Function *function, Graph *graph) {
    const size_t blocks = (size_t)graph->blocks;
    int *postorder = list_zeroed(blocks, sizeof *postorder);
    Step *stack = list_zeroed(blocks, sizeof *stack);
    graph->reverse_postorder = list_zeroed(blocks, sizeof *graph->reverse_postorder);
    for (int b = 0; b < graph->blocks; b++) graph->block[b].order = -1;
    for (int b = graph->blocks - 1; b >= 0; b--)
        if (is_entry(function, &graph->block[b])) visit(graph, b, postorder, stack);
    for (int i = 0; i < graph->reached; i++) {
        Block *block = &graph->block[postorder[i]];
        block->order = graph->reached - 1 - i;
        graph->reverse_postorder[block->order] = postorder[i];
    }
    free(stack);
    free(postorder);
}

/* The last block that dominates both; -1 if only the world outside does. */
static int common_dominator(const Graph *graph, int a, int b) {
    while (a != b) {
        if (a < 0 || b < 0) return -1;
        if (graph->block[a].order > graph->block[b].order)
            a = graph->block[a].dominator;
        else
            b = graph->block[b].dominator;
    }
    return a;
}

/* Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm. */
static void find_dominators(const Function *function, Graph *graph) {
    enum { UNKNOWN = -2 };
    for (int b = 0; b < graph->blocks; b++) graph->block[b].dominator = UNKNOWN;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < graph->reached; i++) {
            Block *block = &graph->block[graph->reverse_postorder[i]];
            int dominator = is_entry(function, block) ? -1 : UNKNOWN;
            for (int e = 0; e < block->befores; e++) {
                const int before = block->before[e];
                if (graph->block[before].dominator == UNKNOWN) continue;
                dominator =
                    dominator == UNKNOWN ? before : common_dominator(graph, dominator, before);
            }
            changed |= dominator != block->dominator;
            block->dominator = dominator;
        }
    }
}

bool graph_dominates(const Graph *graph, int dominator, int block) {
    while (block >= 0 && block != dominator) block = graph->block[block].dominator;
    return block == dominator;
}

Graph graph_build(const Function *function) {
    Graph graph = {0};
    if (function->instructions == 0) return graph;
    bool *starts = list_zeroed((size_t)function->instructions + 1, sizeof *starts);
    mark_starts(function, starts);
    for (int i = 0; i < function->instructions; i++) {
        if (starts[i]) {
            Block *block = LIST_ADD(graph.block, graph.blocks);
            block->first = i;
        }
        graph.block[graph.blocks - 1].last = i + 1;
    }
    free(starts);
    for (int b = 0; b < graph.blocks; b++) add_edges(function, &graph, b);
    order_blocks(function, &graph);
    find_dominators(function, &graph);
    return graph;
}

void graph_free(Graph *graph) {
    for (int b = 0; b < graph->blocks; b++) {
        free(graph->block[b].next);
        free(graph->block[b].before);
    }
    free(graph->block);
    free(graph->reverse_postorder);
    *graph = (Graph){0};
}
