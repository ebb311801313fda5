#include "limits/executions.h"

#include "analysis/classes.h"
#include "analysis/graph.h"
#include "list.h"

#include <math.h>

/* What one instruction says of its block. */
typedef struct Voice {
    const char *opcode;
    int line, block;
    bool decides;
    double says; /* executions */
} Voice;

/* How far voices are apart that mean the same. */
static const double TOLERANCE = 1e-3;
/* So few instructions of a loop may disagree by accident. */
enum { FEW = 8 };

static size_t base_length(const char *opcode) { return strcspn(opcode, "."); }

static int compare_opcodes(const char *a, const char *b) {
    const size_t length = base_length(a), other = base_length(b);
    return length != other ? (int)length - (int)other : strncmp(a, b, length);
}

static bool are_copies(const Voice *a, const Voice *b) {
    return a->line == b->line && compare_opcodes(a->opcode, b->opcode) == 0;
}

/* Copies of one instruction stand together, those in one block side by side. */
static int compare_copies(const void *a, const void *b) {
    const Voice *x = a, *y = b;
    if (x->line != y->line) return x->line - y->line;
    const int order = compare_opcodes(x->opcode, y->opcode);
    return order ? order : x->block - y->block;
}

static int compare_in_blocks(const void *a, const void *b) {
    const Voice *x = a, *y = b;
    if (x->block != y->block) return x->block - y->block;
    if (x->decides != y->decides) return x->decides ? -1 : 1;
    return (x->says > y->says) - (x->says < y->says);
}

static bool decides(const Instruction *instruction) {
    static const OpcodeClass kinds[] = {CLASS_TENSOR, CLASS_FMA,     CLASS_LANES, CLASS_SHARED,
                                        CLASS_GLOBAL, CLASS_BARRIER, CLASS_ASYNC};
    const OpcodeClass kind = opcode_class(instruction);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kind == kinds[i]) return true;
    return false;
}

/* Every instruction whose line of PTX was counted, with the count of that line. */
static Voice *listen(const Kernel *kernel, const Graph *graph, const Counted *launch,
                     const Matching *lines, int *voices) {
    const Function *function = kernel->function;
    Voice *voice = NULL;
    for (int i = 0; i < function->instructions; i++) {
        const Instruction *at = &function->instruction[i];
        const int line = at->ptx_line, op = line <= lines->lines ? lines->operation[line] : -1;
        if (op < 0 || opcode_never_executes(at)) continue;
        *(Voice *)LIST_ADD(voice, *voices) = (Voice){at->opcode, line, graph_block_of(graph, i),
                                                     decides(at), launch->operation[op].executions};
    }
    return voice;
}

/* Shares the count of a line out among its copies, voice[0 .. copies - 1]. */
static void share_out(Voice *voice, int copies) {
    int most = 0, blocks = 0;
    for (int i = 0, end; i < copies; i = end) {
        for (end = i; end < copies && voice[end].block == voice[i].block;) end++;
        if (end - i > most) blocks = 0;
        most = end - i > most ? end - i : most;
        blocks += end - i == most;
    }
    for (int i = 0, end; i < copies; i = end) {
        for (end = i; end < copies && voice[end].block == voice[i].block;) end++;
        const bool takes = end - i == most;
        for (int k = i; k < end; k++) voice[k].says = takes ? voice[k].says / most / blocks : 0;
    }
}

static bool same(double a, double b) { return fabs(a - b) <= TOLERANCE * fmax(a, b); }

/* What most of the voices say; they are sorted. Of two that as many say, the larger if `larger`.
 * *agreed is how many say so. */
static double vote(const Voice *voice, int voices, bool larger, int *agreed) {
    double elected = 0;
    *agreed = 0;
    for (int i = 0, end; i < voices; i = end) {
        for (end = i; end < voices && same(voice[i].says, voice[end].says);) end++;
        if (end - i > *agreed || (end - i == *agreed && larger)) {
            *agreed = end - i;
            elected = voice[end - 1].says;
        }
    }
    return elected;
}

/* How many deciding voices a loop has, and how many of them agree with their block. */
typedef struct Tally {
    int asked, agreed;
} Tally;

static void elect_blocks(Voice *voice, int voices, const Flow *flow, const Graph *graph,
                         double *block, int *sure, Tally *tally) {
    qsort(voice, (size_t)voices, sizeof *voice, compare_in_blocks);
    for (int i = 0, end; i < voices; i = end) {
        int deciding = 0, agreed;
        for (end = i; end < voices && voice[end].block == voice[i].block; end++)
            deciding += voice[end].decides;
        const int asked = deciding ? deciding : end - i;
        block[voice[i].block] = vote(&voice[i], asked, deciding, &agreed);
        sure[voice[i].block] = deciding ? agreed : 0;
        const int loop = flow->loop_of[graph->block[voice[i].block].first];
        if (!deciding || loop < 0) continue;
        tally[loop].asked += asked;
        tally[loop].agreed += agreed;
    }
}

static int worst_loop(const Tally *tally, int loops) {
    int worst = -1;
    for (int i = 0; i < loops; i++) {
        if (tally[i].asked < FEW || 2 * tally[i].agreed >= tally[i].asked) continue;
        if (worst < 0 || (double)tally[i].agreed / tally[i].asked <
                             (double)tally[worst].agreed / tally[worst].asked)
            worst = i;
    }
    return worst;
}

Executions executions_of(const Kernel *kernel, const Counted *launch, const Matching *lines) {
    const Function *function = kernel->function;
    Graph graph = graph_build(function);
    int voices = 0;
    Voice *voice = listen(kernel, &graph, launch, lines, &voices);
    if (voices) qsort(voice, (size_t)voices, sizeof *voice, compare_copies);
    for (int i = 0, end; i < voices; i = end) {
        for (end = i; end < voices && are_copies(&voice[i], &voice[end]);) end++;
        share_out(&voice[i], end - i);
    }
    double *block = list_zeroed((size_t)graph.blocks, sizeof *block);
    int *sure = list_zeroed((size_t)graph.blocks, sizeof *sure);
    Tally *tally = list_zeroed((size_t)kernel->flow.loops, sizeof *tally);
    if (voices) elect_blocks(voice, voices, &kernel->flow, &graph, block, sure, tally);
    Executions executions = {.of = list_zeroed((size_t)function->instructions, sizeof(double)),
                             .sure = list_zeroed((size_t)function->instructions, sizeof(int)),
                             .unmatched = worst_loop(tally, kernel->flow.loops)};
    for (int b = 0; b < graph.blocks; b++)
        for (int i = graph.block[b].first; i < graph.block[b].last; i++)
            if (kernel->flow.region[i] != REGION_PADDING) {
                executions.of[i] = block[b];
                executions.sure[i] = sure[b];
            }
    free(voice);
    free(block);
    free(sure);
    free(tally);
    graph_free(&graph);
    return executions;
}

void executions_free(Executions *executions) {
    free(executions->of);
    free(executions->sure);
    *executions = (Executions){.unmatched = -1};
}
