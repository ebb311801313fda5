/* Control flow: basic blocks and immediate post-dominators. Lanes that part at a branch meet again
 * where all paths from it must pass: at its immediate post-dominator. */
#include "decode/cfg.h"

static bool ends_block(const Op *op) {
    return op->run == run_branch || op->run == run_indexed_branch || op->run == run_exit;
}

/* ---- Blocks and arrows ----------------------------------------------------------------------- */

static void mark_leaders(const Kernel *k, bool *leads) {
    leads[0] = true;
    for (int i = 0; i < k->ops; i++) {
        const Op *op = &k->op[i];
        if (!ends_block(op)) continue;
        leads[i + 1] = true;
        if (op->run == run_branch) leads[op->target] = true;
        for (int t = 0; op->table && t < op->table->targets; t++)
            leads[op->table->target[t]] = true;
    }
}

static void find_blocks(Graph *g) {
    const int ops = g->kernel->ops;
    bool *leads = arena_alloc(&g->arena, (size_t)ops + 1);
    mark_leaders(g->kernel, leads);
    g->block = arena_alloc(&g->arena, ((size_t)ops + 1) * sizeof *g->block);
    g->block_of = arena_alloc(&g->arena, (size_t)ops * sizeof *g->block_of);
    for (int i = 0; i < ops; i++) {
        if (leads[i]) g->block[g->blocks++].first = i;
        g->block[g->blocks - 1].end = i + 1;
        g->block_of[i] = g->blocks - 1;
    }
}

static void add_number(Graph *g, int **list, int *count, int number) {
    *list = arena_grow(&g->arena, *list, (size_t)*count, sizeof **list);
    (*list)[(*count)++] = number;
}

/* An arrow, at both of its ends. Two that are the same do no harm. */
static void add_arrow(Graph *g, int from, int to) {
    BasicBlock *b = &g->block[from];
    add_number(g, &b->successor, &b->successors, to);
    add_number(g, &g->predecessor[to], &g->predecessors[to], from);
}

static void add_arrows(Graph *g) {
    const int exit = g->blocks;
    const size_t count = (size_t)g->blocks + 1;
    g->predecessor = arena_alloc(&g->arena, count * sizeof *g->predecessor);
    g->predecessors = arena_alloc(&g->arena, count * sizeof *g->predecessors);
    for (int i = 0; i < g->blocks; i++) {
        const Op *last = &g->kernel->op[g->block[i].end - 1];
        if (last->run == run_branch) add_arrow(g, i, g->block_of[last->target]);
        if (last->run == run_exit) add_arrow(g, i, exit);
        for (int t = 0; last->table && t < last->table->targets; t++)
            add_arrow(g, i, g->block_of[last->table->target[t]]);
        if (!ends_block(last) || last->guard >= 0) add_arrow(g, i, i + 1);
    }
}

/* ---- Post-dominators: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" ------- */

/* Numbers the blocks that reach the exit in post-order, walking against the arrows. */
static void number_blocks(Graph *g) {
    const size_t count = (size_t)g->blocks + 1;
    int *stack = arena_alloc(&g->arena, count * sizeof *stack), depth = 0;
    int *tried = arena_alloc(&g->arena, count * sizeof *tried);
    bool *seen = arena_alloc(&g->arena, count);
    g->order = arena_alloc(&g->arena, count * sizeof *g->order);
    for (size_t i = 0; i < count; i++) g->block[i].post_number = -1;
    stack[depth++] = g->blocks;
    while (depth) {
        const int at = stack[depth - 1];
        if (tried[at] == g->predecessors[at]) {
            g->block[at].post_number = g->ordered;
            g->order[g->ordered++] = at;
            depth--;
            continue;
        }
        const int next = g->predecessor[at][tried[at]++];
        if (!seen[next]) stack[depth++] = next;
        seen[next] = true;
    }
}

static int common_post_dominator(const Graph *g, int a, int b) {
    while (a != b) {
        while (g->block[a].post_number < g->block[b].post_number) a = g->block[a].post_dominator;
        while (g->block[b].post_number < g->block[a].post_number) b = g->block[b].post_dominator;
    }
    return a;
}

static int new_post_dominator(const Graph *g, int at) {
    int found = -1;
    for (int s = 0; s < g->block[at].successors; s++) {
        const int to = g->block[at].successor[s];
        if (g->block[to].post_dominator < 0) continue;
        found = found < 0 ? to : common_post_dominator(g, found, to);
    }
    return found;
}

static void find_post_dominators(Graph *g) {
    for (int i = 0; i < g->blocks; i++) g->block[i].post_dominator = -1;
    g->block[g->blocks].post_dominator = g->blocks;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = g->ordered - 2; i >= 0; i--) {
            BasicBlock *b = &g->block[g->order[i]];
            const int found = new_post_dominator(g, g->order[i]);
            changed |= found != b->post_dominator;
            b->post_dominator = found;
        }
    }
}

Graph cfg_build(const Kernel *kernel) {
    Graph g = {.kernel = kernel};
    find_blocks(&g);
    add_arrows(&g);
    number_blocks(&g);
    find_post_dominators(&g);
    return g;
}

void cfg_free(Graph *graph) { arena_free(&graph->arena); }

void cfg_reconvergence(const Graph *graph, Kernel *kernel) {
    for (int i = 0; i < graph->blocks; i++) {
        Op *last = &kernel->op[graph->block[i].end - 1];
        const int meet = graph->block[i].post_dominator;
        if (!ends_block(last) || meet < 0 || meet == graph->blocks) continue;
        last->reconverge = graph->block[meet].first;
        kernel->op[last->reconverge].joins = true;
    }
}

/* Whether a warp that executes the operation goes on with the next one, with the same lanes. */
static bool goes_on(const Op *op) {
    switch ((InstructionClass)op->class) {
    case CLASS_BRANCH:
    case CLASS_CP_ASYNC:
    case CLASS_BULK_LOAD:
    case CLASS_BULK_STORE:
    case CLASS_WGMMA:
    case CLASS_BARRIER:
    case CLASS_MBARRIER:
    case CLASS_OTHER:
        return false;
    default:
        return op->guard < 0;
    }
}

void cfg_straight(Kernel *kernel) {
    for (int i = kernel->ops - 2; i >= 0; i--) { /* the last one is an exit */
        const Op *next = &kernel->op[i + 1];
        if (goes_on(&kernel->op[i])) kernel->op[i].straight = next->joins ? 1 : 1 + next->straight;
    }
}
