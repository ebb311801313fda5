/* Gives every value its place in the register file. Values that are never needed at the same time
 * share a place, which keeps a warp's registers in the processor's cache. */
#include <stdlib.h>

#include "decode/cfg.h"
#include "ptx/bounds.h"

/* The operations from the first to the last at which a value must be kept, in the order of the
 * code: perhaps more than its life, but never less. */
typedef struct Span {
    int32_t value;
    int first, last; /* last -1: never used */
} Span;

/* Values alive at the ends of blocks: sets of `words` 64-bit words, one set a block. */
typedef struct Liveness {
    Arena arena;
    const Graph *graph;
    const Kernel *kernel;
    size_t words;
    uint64_t *read;    /* read before it is written */
    uint64_t *written; /* by all lanes that come through */
    uint64_t *in, *out;
    Span *span; /* [values] */
} Liveness;

static bool contains(const uint64_t *set, int32_t value) {
    return set[value >> 6] >> (value & 63) & 1;
}

static void insert(uint64_t *set, int32_t value) { set[value >> 6] |= 1ull << (value & 63); }

/* ---- Liveness -------------------------------------------------------------------------------- */

static void extend(Liveness *live, int32_t value, int op) {
    Span *span = &live->span[value];
    if (op < span->first) span->first = op;
    if (op > span->last) span->last = op;
}

static void reads(Liveness *live, int block, int32_t value, int op) {
    const size_t row = (size_t)block * live->words;
    if (value < 0) return;
    extend(live, value, op);
    if (!contains(live->written + row, value)) insert(live->read + row, value);
}

/* A guarded write keeps the old value in the other lanes, so it reads it, too. */
static void writes(Liveness *live, int block, int32_t value, const Op *op) {
    const size_t row = (size_t)block * live->words;
    if (value < 0) return;
    if (op->guard >= 0 || op->updates) reads(live, block, value, op->index);
    extend(live, value, op->index);
    insert(live->written + row, value);
}

static void scan_block(Liveness *live, int block) {
    const BasicBlock *b = &live->graph->block[block];
    for (int i = b->first; i < b->end; i++) {
        const Op *op = &live->kernel->op[i];
        reads(live, block, op->guard, i);
        for (int r = op->definitions; r < op->operands; r++) reads(live, block, op->r[r], i);
        for (int r = 0; r < op->definitions; r++) writes(live, block, op->r[r], op);
    }
}

/* in = read + (out - written), until nothing changes. */
static bool flow_through(Liveness *live, int block) {
    const BasicBlock *b = &live->graph->block[block];
    const size_t row = (size_t)block * live->words;
    bool changed = false;
    for (size_t w = 0; w < live->words; w++) {
        uint64_t out = 0;
        for (int s = 0; s < b->successors; s++)
            out |= live->in[(size_t)b->successor[s] * live->words + w];
        const uint64_t in = live->read[row + w] | (out & ~live->written[row + w]);
        changed |= in != live->in[row + w];
        live->in[row + w] = in;
        live->out[row + w] = out;
    }
    return changed;
}

/* The values of the set are alive at the operation. */
static void extend_all(Liveness *live, const uint64_t *set, int op) {
    for (size_t w = 0; w < live->words; w++)
        for (uint64_t left = set[w]; left; left &= left - 1)
            extend(live, (int32_t)w * 64 + __builtin_ctzll(left), op);
}

static void spread(Liveness *live, int block) {
    const BasicBlock *b = &live->graph->block[block];
    const size_t row = (size_t)block * live->words;
    extend_all(live, live->in + row, b->first);
    extend_all(live, live->out + row, b->end - 1);
}

static size_t words_of(const Kernel *kernel) { return (size_t)kernel->values / 64 + 1; }

/* Bytes of one of the four lists of sets. */
static size_t set_bytes(const Graph *graph, const Kernel *kernel) {
    return ((size_t)graph->blocks + 1) * words_of(kernel) * sizeof(uint64_t);
}

static Liveness find_spans(const Graph *graph, const Kernel *kernel) {
    Liveness live = {.graph = graph, .kernel = kernel, .words = words_of(kernel)};
    const size_t bytes = set_bytes(graph, kernel);
    live.read = arena_alloc(&live.arena, bytes);
    live.written = arena_alloc(&live.arena, bytes);
    live.in = arena_alloc(&live.arena, bytes);
    live.out = arena_alloc(&live.arena, bytes);
    live.span = arena_alloc(&live.arena, (size_t)kernel->values * sizeof *live.span);
    for (int32_t v = 0; v < kernel->values; v++) live.span[v] = (Span){v, INT32_MAX, -1};
    for (int b = 0; b < graph->blocks; b++) scan_block(&live, b);
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = graph->blocks - 1; b >= 0; b--) changed |= flow_through(&live, b);
    }
    for (int b = 0; b < graph->blocks; b++) spread(&live, b);
    return live;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Of a value in the register file. */
static uint32_t size_of(const Value *value) {
    return value->bytes == PREDICATE_BYTES ? sizeof(uint32_t) : (uint32_t)LANES * value->bytes;
}

static const uint8_t sizes[] = {16, 8, 4, 2, PREDICATE_BYTES}; /* large ones first: all aligned */

static int compare_spans(const void *left, const void *right) {
    const Span *a = left, *b = right;
    return a->first != b->first ? (a->first > b->first) - (a->first < b->first)
                                : (a->value > b->value) - (a->value < b->value);
}

static uint64_t place_fixed(Kernel *k, uint8_t bytes, uint64_t offset) {
    for (int32_t v = 0; v < k->values; v++) {
        if (k->value[v].kind == VALUE_REGISTER || k->value[v].bytes != bytes) continue;
        k->value[v].offset = (int32_t)offset;
        offset += size_of(&k->value[v]);
    }
    return offset;
}

/* Registers of one size, by where their spans begin: each takes a place whose last owner
 * is over. */
static uint64_t place_registers(Kernel *k, const Span *span, int spans, uint8_t bytes,
                                uint64_t offset) {
    int *last = calloc((size_t)spans + 1, sizeof *last), places = 0;
    const uint32_t size = bytes == PREDICATE_BYTES ? sizeof(uint32_t) : (uint32_t)LANES * bytes;
    if (!last) abort();
    for (int i = 0; i < spans; i++) {
        Value *value = &k->value[span[i].value];
        int place = 0;
        if (value->bytes != bytes) continue;
        while (place < places && (value->pinned || last[place] >= span[i].first)) place++;
        if (place == places) places++;
        last[place] = value->pinned ? INT32_MAX : span[i].last;
        value->offset = (int32_t)(offset + (uint64_t)place * size);
    }
    free(last);
    return offset + (uint64_t)places * size;
}

/* What is alive where the kernel begins. */
static void note_unwritten(Kernel *k, const uint64_t *alive) {
    k->unwritten = arena_alloc(&k->arena, (size_t)k->values * sizeof *k->unwritten);
    for (int32_t v = 0; v < k->values; v++)
        if (k->value[v].kind == VALUE_REGISTER && contains(alive, v))
            k->unwritten[k->unwrittens++] = v;
}

static void use_offsets(Kernel *k) {
    for (int i = 0; i < k->ops; i++) {
        Op *op = &k->op[i];
        if (op->guard >= 0) op->guard = k->value[op->guard].offset;
        for (int r = 0; r < op->operands; r++)
            if (op->r[r] >= 0) op->r[r] = k->value[op->r[r]].offset;
    }
}

bool registers_assign(const Graph *graph, Kernel *kernel) {
    if (set_bytes(graph, kernel) > MAX_LIVENESS) return false;
    Liveness live = find_spans(graph, kernel);
    uint64_t offset = 0;
    int spans = 0;
    for (int32_t v = 0; v < kernel->values; v++)
        if (kernel->value[v].kind == VALUE_REGISTER && live.span[v].last >= 0)
            live.span[spans++] = live.span[v];
    qsort(live.span, (size_t)spans, sizeof *live.span, compare_spans);
    for (size_t s = 0; s < sizeof sizes; s++) offset = place_fixed(kernel, sizes[s], offset);
    offset = (offset + 255) / 256 * 256;
    for (size_t s = 0; s < sizeof sizes; s++)
        offset = place_registers(kernel, live.span, spans, sizes[s], offset);
    const bool fits = offset <= MAX_REGISTER_FILE;
    kernel->register_bytes = (uint32_t)((offset + 255) / 256 * 256);
    if (fits) {
        note_unwritten(kernel, live.in);
        use_offsets(kernel);
    }
    arena_free(&live.arena);
    return fits;
}
