/* wgmma. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". Each warp
 * of a warpgroup computes its own 16 rows, so the four need not run together. The result is in the
 * registers only after the wait; touching them before is a fault. */
#include "decode/decode.h"
#include "machine/access.h"
#include "machine/async.h"
#include "machine/lanes.h"
#include "machine/observe.h"
#include "ops/mma.h"

enum { CHUNK_BYTES = 16, ROWS_A_WARP = 16 };
enum { ROWS_A_GROUP = ROWS_A_WARP * WARPS_A_GROUP };

/* Op.mode */
enum { A_IN_REGISTERS = 1, TRANSPOSE_A = 2, TRANSPOSE_B = 4, HALF_SUM = 8 };

static void require_warpgroup(Warp *warp) {
    if (warp->mask != ALL_LANES)
        fault(warp, -1, "wgmma needs all lanes of the warpgroup; lanes 0x%08x execute it",
              warp->mask);
}

/* ---- Operands -------------------------------------------------------------------------------- */

static WgmmaTile a_tile(const Warp *warp, const Op *op, uint64_t descriptor) {
    const unsigned first = ROWS_A_WARP * ((unsigned)warp->index % WARPS_A_GROUP);
    return (WgmmaTile){wgmma_descriptor(descriptor), first, ROWS_A_WARP,
                       (op->mode & TRANSPOSE_A) != 0};
}

static WgmmaTile b_tile(const Op *op, uint64_t descriptor) {
    return (WgmmaTile){wgmma_descriptor(descriptor), 0, (unsigned)op->number,
                       (op->mode & TRANSPOSE_B) != 0};
}

/* The tile as a number, which no pattern of lanes has: those are below 2^63. */
static uint64_t tile_fact(const WgmmaTile *tile) {
    const WgmmaDescriptor *d = &tile->descriptor;
    const uint64_t shape = tile->first / 8 | tile->rows << 3 | (unsigned)tile->transposed << 12;
    return 1ull << 63 | shape << 44 | (uint64_t)d->swizzle << 42 |
           (uint64_t)d->stride_offset / 16 << 28 | (uint64_t)d->leading_offset / 16 << 14 |
           d->address / 16;
}

/* An address that is not shifted or not masked ends in bits that no field has. */
static void check_fields(Warp *warp, uint64_t descriptor, const char *what) {
    const uint64_t others = descriptor & ~WGMMA_DESCRIPTOR_FIELDS;
    if (others)
        fault(
            warp, -1,
            "the matrix descriptor 0x%llx of %s has 0x%llx in bits that no field has and that must "
            "be 0",
            (unsigned long long)descriptor, what, (unsigned long long)others);
    if (wgmma_descriptor(descriptor).base_offset)
        fault(warp, -1, "matrix descriptors with a base offset are not supported");
}

/* All of the tile is inside shared memory and written. */
static void check_tile(Warp *warp, const WgmmaTile *tile, const char *what) {
    uint32_t address[WGMMA_MAX_CHUNKS];
    if (memo_knows(warp->block->readable, tile_fact(tile))) return;
    const unsigned chunks = wgmma_chunks(tile, address);
    if (shared_readable(warp->block, address, chunks, CHUNK_BYTES)) {
        memo_learn(warp->block->readable, tile_fact(tile));
        return;
    }
    for (unsigned i = 0; i < chunks; i++) {
        shared_range(warp, -1, address[i], CHUNK_BYTES, what);
        shared_require_written(warp, -1, address[i], CHUNK_BYTES);
    }
}

/* The tile races with nothing. For A it is that of the warpgroup: PTX does not say which warp reads
 * which rows, so none may write any before all have waited. */
static void check_races(Warp *warp, const Op *op, const WgmmaTile *tile) {
    uint32_t address[WGMMA_MAX_CHUNKS];
    RaceReport report;
    if (!warp->block->race) return;
    const unsigned chunks = wgmma_chunks(tile, address);
    for (unsigned i = 0; i < chunks; i++)
        shared_range(warp, -1, address[i], CHUNK_BYTES, "wgmma operand");
    if (race_async_read(warp->block->race, (unsigned)warp->index, RACE_ALL_LANES, RACE_WGMMA,
                        chunks, address, CHUNK_BYTES, (uint32_t)op->index, &report))
        fault_race(warp, &report);
}

/* The descriptors and scale-d are the whole warpgroup's: the hardware has them in registers that a
 * warp has one of. (PTX ISA, wgmma.mma_async: the descriptor is the same across the warpgroup.) */
static void check_uniform(Warp *warp, const Op *op, bool registers, int a, int b) {
    if ((!registers && !is_uniform_u64(warp, op, a)) || !is_uniform_u64(warp, op, b))
        fault(warp, -1, "the lanes of a warp have different matrix descriptors");
    const uint32_t scale = predicate(warp, op->r[b + 1]);
    if (scale && scale != ALL_LANES)
        fault(warp, -1, "the lanes of a warp have different scale-d: 0x%08x", scale);
}

/* Notes the descriptors of the warp's next wgmma, and faults if another warp of its warpgroup had
 * others for the same one. That one is known unless it went far ahead. */
static void check_group(Warp *warp, const Wgmma *w) {
    WgmmaQueue *queue = warp->wgmma;
    const uint32_t n = queue->issued++;
    uint64_t *mine = queue->descriptor[n % DESCRIPTORS_KEPT];
    const int first = warp->index / WARPS_A_GROUP * WARPS_A_GROUP;
    queue->last = w->op;
    mine[0] = w->a_descriptor, mine[1] = w->b_descriptor;
    for (int i = first; i < first + WARPS_A_GROUP && i < warp->block->warps; i++) {
        const WgmmaQueue *other = warp->block->warp[i].wgmma;
        const uint64_t *its = other->descriptor[n % DESCRIPTORS_KEPT];
        if (other->issued <= n || other->issued - n > DESCRIPTORS_KEPT) continue;
        if (its[0] != mine[0] || its[1] != mine[1])
            fault(warp, -1, "matrix descriptor 0x%llx, where warp %d of the warpgroup had 0x%llx",
                  (unsigned long long)mine[its[0] == mine[0]], i,
                  (unsigned long long)its[its[0] == mine[0]]);
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static void compute(Warp *warp, const Wgmma *w) {
    const Op *op = w->op;
    const uint32_t *a[A_REGISTERS] = {w->a[0], w->a[1], w->a[2], w->a[3]};
    uint32_t *d[WGMMA_MAX_N / 2];
    for (int i = 0; i < op->definitions; i++) d[i] = (uint32_t *)REG(u32, i);
    const WgmmaOperation operation = {
        .n = (unsigned)op->number,
        .element = op->bf16 ? MMA_BF16 : MMA_F16,
        .shared = shared_zero(warp->block),
        .a = op->mode & A_IN_REGISTERS ? a : NULL,
        .a_tile = a_tile(warp, op, w->a_descriptor),
        .b_tile = b_tile(op, w->b_descriptor),
        .accumulate = w->accumulate,
        .negate_a = op->negated,
        .negate_b = op->second_negated,
    };
    if (op->mode & HALF_SUM)
        wgmma_f16(&operation, d, (const uint32_t *const *)d);
    else
        wgmma_f32(&operation, d, (const uint32_t *const *)d);
}

/* Notes whether it is in flight. */
static void mark(Warp *warp, const Op *op, bool in_flight) {
    wgmma_mark(warp, op, op->mode & A_IN_REGISTERS ? A_REGISTERS : 0, in_flight);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

/* operands: d; a as 4 registers or a descriptor; b's descriptor; scale-d */
static void run_wgmma(Warp *warp, const Op *op) {
    WgmmaQueue *queue = warp->wgmma;
    const bool registers = op->mode & A_IN_REGISTERS;
    const int a = op->definitions, b = a + (registers ? A_REGISTERS : 1);
    require_warpgroup(warp);
    if (!queue->fenced)
        fault(warp, -1, "wgmma without any wgmma.fence before it: its registers may be unready");
    queue->wgmma =
        flight_room(warp, queue->wgmma, queue->count, &queue->capacity, sizeof *queue->wgmma);
    Wgmma *w = &queue->wgmma[queue->count];
    *w = (Wgmma){.op = op, .group = queue->groups};
    check_uniform(warp, op, registers, a, b);
    w->b_descriptor = REG(u64, b)[0];
    w->accumulate = predicate(warp, op->r[b + 1]) & 1;
    if (!registers) w->a_descriptor = REG(u64, a)[0];
    check_group(warp, w);
    if (registers) {
        for (int i = 0; i < A_REGISTERS; i++) memcpy(w->a[i], REG(u32, a + i), sizeof w->a[i]);
    } else {
        check_fields(warp, w->a_descriptor, "A");
        WgmmaTile tile = a_tile(warp, op, w->a_descriptor);
        check_tile(warp, &tile, "wgmma operand A");
        tile.first = 0, tile.rows = ROWS_A_GROUP;
        check_races(warp, op, &tile);
    }
    check_fields(warp, w->b_descriptor, "B");
    const WgmmaTile tile = b_tile(op, w->b_descriptor), rows = a_tile(warp, op, w->a_descriptor);
    Record *record = warp->block->record;
    if (record) observe_wgmma(record, warp, w, registers ? NULL : &rows, &tile);
    check_tile(warp, &tile, "wgmma operand B");
    check_races(warp, op, &tile);
    queue->count++;
    mark(warp, op, true);
    if (!warp->block->settings->late) compute(warp, w);
}

static void run_fence(Warp *warp, const Op *op) {
    (void)op;
    require_warpgroup(warp);
    warp->wgmma->fenced = true;
}

static void run_commit(Warp *warp, const Op *op) {
    (void)op;
    require_warpgroup(warp);
    warp->wgmma->groups++;
    if (warp->block->race)
        race_commit(warp->block->race, (unsigned)warp->index, RACE_WGMMA, warp->mask);
    if (warp->block->record) observe_commit(warp->block->record, warp, RACE_WGMMA);
}

/* wait_group op->number: in the late order the older groups are computed now. */
static void run_wait(Warp *warp, const Op *op) {
    WgmmaQueue *queue = warp->wgmma;
    const uint32_t left = (uint32_t)op->number;
    int over = 0;
    require_warpgroup(warp);
    while (over < queue->count && queue->wgmma[over].group + left < queue->groups) over++;
    for (int i = 0; i < over; i++) {
        if (warp->block->settings->late) compute(warp, &queue->wgmma[i]);
        mark(warp, queue->wgmma[i].op, false);
    }
    queue->count -= over;
    for (int i = 0; i < queue->count; i++) { /* there may be no queue yet */
        queue->wgmma[i] = queue->wgmma[i + over];
        mark(warp, queue->wgmma[i].op, true);
    }
    if (warp->block->race)
        race_wait(warp->block->race, (unsigned)warp->index, RACE_WGMMA, op->number, warp->mask);
    if (warp->block->record) observe_wait(warp->block->record, warp, RACE_WGMMA, op->number);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* m64nNk16: N, 0 if the part is no such shape */
static int take_shape(Decoder *d) {
    const Text shape = d->in->parts > 4 ? d->in->part[4] : (Text){"", 0};
    int n = 0;
    const int end = shape.length - 3; /* of N, which has one to three digits */
    if (end < 5 || end > 7 || memcmp(shape.at, "m64n", 4) != 0) return 0;
    if (memcmp(shape.at + end, "k16", 3) != 0) return 0;
    for (int i = 4; i < end; i++) {
        if (shape.at[i] < '0' || shape.at[i] > '9') return 0;
        n = 10 * n + (shape.at[i] - '0');
    }
    d->taken |= 1u << 4;
    return n >= 8 && n <= WGMMA_MAX_N && n % 8 == 0 ? n : 0;
}

static bool take_types(Decoder *d) { /* .f32.f16.f16 and its like are the last three parts */
    if (d->in->parts != 8) return false;
    const Text sum = d->in->part[5], a = d->in->part[6], b = d->in->part[7];
    d->op->bf16 = text_is(a, "bf16");
    if (!text_equal(a, b) || (!d->op->bf16 && !text_is(a, "f16"))) return false;
    const bool half = text_is(sum, "f16");
    if ((!half && !text_is(sum, "f32")) || (half && d->op->bf16)) return false;
    d->op->mode = half ? HALF_SUM : 0;
    d->taken |= 7u << 5;
    return true;
}

static bool decode_mma_async(Decoder *d) {
    Op *op = d->op;
    op->number = take_shape(d);
    if (!op->number || !take_types(d)) return false;
    const int sums = op->number / (op->mode & HALF_SUM ? 4 : 2);
    define_vector(d, 4, sums);
    op->updates = true;
    const Operand *a = peek_operand(d);
    const bool registers = a && a->kind == OPERAND_VECTOR;
    if (registers) use_vector(d, 4, A_REGISTERS);
    for (int i = 0; i < d->operands && !d->bad; i++) d->kernel->value[d->value[i]].pinned = true;
    if (!registers) use(d, 8);
    use(d, 8);
    bool negated;
    use_predicate(d, &negated);
    op->negated = immediate(d) == -1;
    op->second_negated = immediate(d) == -1;
    if (registers)
        op->mode |= A_IN_REGISTERS;
    else if (immediate(d))
        op->mode |= TRANSPOSE_A;
    if (immediate(d)) op->mode |= TRANSPOSE_B;
    return !negated && done(d, run_wgmma, CLASS_WGMMA);
}

bool decode_wgmma(Decoder *d) {
    if (!opcode_is(d, "wgmma")) return false;
    const bool multiplies = take(d, "mma_async");
    const bool fences = take(d, "fence"), commits = take(d, "commit_group");
    const bool waits = take(d, "wait_group");
    if (!take(d, "sync") || !take(d, "aligned")) return false;
    if (multiplies) return decode_mma_async(d);
    if (fences) return done(d, run_fence, CLASS_OTHER);
    if (commits) return done(d, run_commit, CLASS_OTHER);
    if (waits) d->op->number = (int32_t)immediate(d);
    return waits && done(d, run_wait, CLASS_OTHER);
}
