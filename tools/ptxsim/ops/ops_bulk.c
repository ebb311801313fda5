/* cp.async.bulk and cp.async.bulk.tensor: copies by the TMA unit. PTX ISA, "cp.async.bulk". A load
 * completes on an mbarrier; stores are in groups of the thread, as cp.async is. */
#include "decode/decode.h"
#include "machine/access.h"
#include "machine/landing.h"
#include "machine/lanes.h"
#include "machine/mbarrier_word.h"
#include "machine/observe.h"

enum { CHUNK_BYTES = 16 }; /* which a swizzle moves */

/* ---- Checks at the issue --------------------------------------------------------------------- */

static uint64_t sectors_of(uint64_t address, uint64_t bytes) {
    return bytes ? (address + bytes - 1) / SECTOR_BYTES - address / SECTOR_BYTES + 1 : 0;
}

/* The global side: all of it inside allocations; counts its sectors. */
static void check_global(const Bulk *bulk, AccessKind kind) {
    InstructionCount *count = counter(bulk->warp, bulk->op);
    uint64_t units = 0, bytes = 0;
    if (bulk->map.rank) {
        TensorRows rows = tensor_rows(&bulk->map, bulk->start);
        for (TensorRow row; tensor_rows_next(&rows, &row);) {
            const uint64_t span =
                row.count ? (row.count - 1) * bulk->map.stride[0] + bulk->map.element_bytes : 0;
            if (span) global_range(bulk->warp, (int)bulk->lane, row.global, span, kind);
            units += sectors_of(row.global, span);
            bytes += (uint64_t)row.count * bulk->map.element_bytes;
        }
    } else {
        global_range(bulk->warp, (int)bulk->lane, bulk->global, bulk->bytes, kind);
        units = sectors_of(bulk->global, bulk->bytes);
        bytes = bulk->bytes;
    }
    const uint64_t ideal = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    const Units cost = {(uint32_t)units, (uint32_t)(ideal < units ? ideal : units)};
    count->requests++;
    count->units += cost.actual;
    count->ideal_units += cost.ideal;
    Record *record = bulk->warp->block->record;
    if (record) observe_bulk(record, bulk, cost);
}

static void check_alignment(const Bulk *bulk) {
    const unsigned need = bulk->map.rank ? TENSORMAP_SHARED_ALIGNMENT : 16;
    if (bulk->shared % need)
        fault(bulk->warp, (int)bulk->lane,
              "the shared address 0x%x of a bulk copy is not %u-byte aligned", bulk->shared, need);
    if (!bulk->map.rank && (bulk->global % 16 || bulk->bytes % 16))
        fault(bulk->warp, (int)bulk->lane,
              "a bulk copy of %u bytes at global 0x%llx: both must be multiples of 16", bulk->bytes,
              (unsigned long long)bulk->global);
}

/* What an H100 refuses as an illegal instruction: a coordinate of dimension 0 that is not a
 * multiple of 16 bytes, and a store at a negative one. */
static void check_coordinates(const Bulk *bulk, bool stores) {
    const TensorMap *map = &bulk->map;
    const int64_t bytes = (int64_t)bulk->start[0] * map->element_bytes;
    if (map->rank && bytes % CHUNK_BYTES)
        fault(bulk->warp, (int)bulk->lane,
              "coordinate %d of dimension 0 is %lld bytes, which is no multiple of %d",
              bulk->start[0], (long long)bytes, CHUNK_BYTES);
    for (unsigned i = 0; stores && i < map->rank; i++)
        if (bulk->start[i] < 0)
            fault(bulk->warp, (int)bulk->lane, "a bulk store at coordinate %d of dimension %u",
                  bulk->start[i], i);
}

/* What a GPU does otherwise than tensormap.h says is refused. */
static void check_supported(const Bulk *bulk, bool stores) {
    const TensorMap *map = &bulk->map;
    if (!map->rank) return;
    const uint32_t row = (uint32_t)map->box[0] * map->element_bytes, span = 16u << map->swizzle;
    const uint64_t width = ((uint64_t)map->size[0] + 1) * map->element_bytes;
    if (map->swizzle && row < span && bulk->bytes > row)
        fault(bulk->warp, (int)bulk->lane,
              "rows of %u bytes in a swizzle of %u: not supported, a GPU spaces them otherwise",
              row, span);
    if (map->element_type >= FIRST_CONVERTED)
        fault(bulk->warp, (int)bulk->lane,
              "tensor maps of FLOAT32_FTZ and TFLOAT32, which convert, are not supported");
    if (stores && width % CHUNK_BYTES &&
        (uint64_t)bulk->start[0] * map->element_bytes + row > width)
        fault(bulk->warp, (int)bulk->lane,
              "a bulk store to rows of %llu bytes writes up to the next multiple of %d",
              (unsigned long long)width, CHUNK_BYTES);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static void read_map(Warp *warp, unsigned lane, uint64_t address, Bulk *bulk) {
    if (address >> 48 == LOCAL_WINDOW >> 48)
        fault(warp, (int)lane,
              "the tensor map is in local memory, where TMA cannot read it: its parameter must be "
              "const __grid_constant__, and used itself, not a copy");
    if (address % TENSORMAP_ALIGNMENT)
        fault(warp, (int)lane, "the tensor map at 0x%llx is not %d-byte aligned",
              (unsigned long long)address, TENSORMAP_ALIGNMENT);
    global_range(warp, (int)lane, address, TENSORMAP_BYTES, ACCESS_LOAD);
    if (!tensormap_decode((const void *)(uintptr_t)address, &bulk->map))
        fault(warp, (int)lane, "0x%llx holds no tensor map", (unsigned long long)address);
    if (bulk->map.rank != bulk->op->elements)
        fault(warp, (int)lane, "a tensor map of %u dimensions in an instruction for %u",
              bulk->map.rank, bulk->op->elements);
    bulk->bytes = tensormap_box_bytes(&bulk->map);
}

/* operands: shared address, map or global address, mbarrier or -1, bytes or -1, coordinates */
static Bulk describe(Warp *warp, const Op *op, unsigned l) {
    Bulk bulk = {.op = op, .warp = warp, .lane = l};
    const uint64_t address = REG(u64, 1)[l] + (uint64_t)(int64_t)op->second_offset;
    bulk.shared = shared_address(warp, op, 0, l, op->offset);
    if (op->r[2] >= 0) bulk.mbarrier = shared_address(warp, op, 2, l, op->number);
    if (op->elements) {
        read_map(warp, l, address, &bulk);
        for (int i = 0; i < op->elements; i++) bulk.start[i] = REG(s32, 4 + i)[l];
    } else {
        bulk.global = address;
        bulk.bytes = REG(u32, 3)[l];
    }
    return bulk;
}

static void issue_load(Warp *warp, const Bulk *bulk) {
    Block *block = warp->block;
    BulkLoads *loads = block->loads;
    RaceReport report;
    shared_range(warp, (int)bulk->lane, bulk->shared, bulk->bytes, "bulk load");
    mbarrier_bytes(warp, (int)bulk->lane, bulk->mbarrier);
    check_global(bulk, ACCESS_LOAD);
    if (bulk->bytes == 0) return; /* it is over, and adds nothing to the mbarrier */
    if (block->race &&
        race_bulk_load(block->race, (unsigned)warp->index, bulk->lane, bulk->mbarrier, bulk->shared,
                       bulk->bytes, (uint32_t)bulk->op->index, &report))
        fault_race(warp, &report);
    loads->bulk =
        flight_room(warp, loads->bulk, loads->count, &loads->capacity, sizeof *loads->bulk);
    loads->bulk[loads->count++] = *bulk;
    if (!block->settings->late) bulk_land(block, loads->count - 1);
}

/* What a store reads is written: of a box only the elements that are inside the tensor count, since
 * the others go nowhere. */
static void require_source_written(Warp *warp, const Bulk *bulk) {
    const int lane = (int)bulk->lane;
    const uint32_t size = bulk->map.element_bytes;
    if (!bulk->map.rank) {
        shared_require_written(warp, lane, bulk->shared, bulk->bytes);
        return;
    }
    TensorRows rows = tensor_rows(&bulk->map, bulk->start);
    for (TensorRow row; tensor_rows_next(&rows, &row);) {
        const uint32_t begin = bulk->shared + row.box_offset + row.first * size;
        const uint32_t end = begin + row.count * size;
        for (uint32_t at = begin, next; at < end; at = next) {
            next = at / CHUNK_BYTES * CHUNK_BYTES + CHUNK_BYTES;
            if (next > end) next = end;
            shared_require_written(warp, lane, swizzle_address(at, bulk->map.swizzle), next - at);
        }
    }
}

static void issue_store(Warp *warp, Bulk *bulk) {
    Block *block = warp->block;
    BulkQueue *queue = warp->bulk;
    RaceReport report;
    shared_range(warp, (int)bulk->lane, bulk->shared, bulk->bytes, "bulk store");
    require_source_written(warp, bulk);
    check_global(bulk, ACCESS_STORE);
    if (block->race &&
        race_async_read(block->race, (unsigned)warp->index, bulk->lane, RACE_BULK, 1, &bulk->shared,
                        bulk->bytes, (uint32_t)bulk->op->index, &report))
        fault_race(warp, &report);
    if (!block->settings->late) bulk_move(bulk, false);
    bulk->group = queue->groups[bulk->lane];
    queue->bulk =
        flight_room(warp, queue->bulk, queue->count, &queue->capacity, sizeof *queue->bulk);
    queue->bulk[queue->count++] = *bulk;
}

static void run_bulk(Warp *warp, const Op *op) {
    EACH_ACTIVE({
        Bulk bulk = describe(warp, op, l);
        check_alignment(&bulk);
        check_coordinates(&bulk, op->mode);
        check_supported(&bulk, op->mode);
        if (op->mode)
            issue_store(warp, &bulk);
        else
            issue_load(warp, &bulk);
    });
}

static void run_commit(Warp *warp, const Op *op) {
    (void)op;
    EACH_ACTIVE(warp->bulk->groups[l]++);
    if (warp->block->race)
        race_commit(warp->block->race, (unsigned)warp->index, RACE_BULK, warp->mask);
    if (warp->block->record) observe_commit(warp->block->record, warp, RACE_BULK);
}

/* wait_group op->number: the stores of older groups are carried out now, in the late order. With
 * .read only their source has been read, and what they write may be seen later: by the next wait.
 */
static void run_wait(Warp *warp, const Op *op) {
    BulkQueue *queue = warp->bulk;
    int kept = 0;
    for (int i = 0; i < queue->count; i++) {
        Bulk *bulk = &queue->bulk[i];
        const uint32_t left = (uint32_t)op->number;
        const bool over =
            warp->mask >> bulk->lane & 1 && bulk->group + left < queue->groups[bulk->lane];
        const bool late = over && warp->block->settings->late;
        const bool reads = late && op->mode && !bulk->source;
        if (reads)
            bulk_read(bulk);
        else if (late)
            bulk_write(bulk);
        if (!over || reads) queue->bulk[kept++] = *bulk;
    }
    queue->count = kept;
    if (warp->block->race)
        race_wait(warp->block->race, (unsigned)warp->index, RACE_BULK, op->number, warp->mask);
    if (warp->block->record) observe_wait(warp->block->record, warp, RACE_BULK, op->number);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static bool take_shared(Decoder *d) { return take(d, "shared::cluster") || take(d, "shared::cta"); }

static uint8_t take_dimensions(Decoder *d) {
    static const char *const names[] = {"1d", "2d", "3d", "4d", "5d", NULL};
    take(d, "tile");
    return (uint8_t)(take_one(d, names) + 1);
}

/* The address of shared memory comes first in the operation, whatever its place in the
 * instruction. */
static void use_nth_address(Decoder *d, int operand, int32_t *offset) {
    d->next = operand;
    use_address(d, offset);
}

/* load:  [shared], [map, {c}] or [global] {, bytes}, [mbarrier] {, policy}
 * store: [map, {c}] or [global], [shared] {, bytes} {, policy} */
static bool decode_transfer(Decoder *d, bool stores) {
    Op *op = d->op;
    const bool tensor = op->elements > 0, hinted = take(d, "L2::cache_hint");
    const int first = stores ? 1 : 0, second = stores ? 0 : 1, size = tensor ? -1 : 2;
    const int mbarrier = stores ? -1 : tensor ? 2 : 3;
    const int operands = 2 + !tensor + !stores + hinted;
    op->mode = stores;
    use_nth_address(d, first, &op->offset);
    const uint8_t width = op->address_width;
    use_nth_address(d, second, &op->second_offset);
    d->bad |= op->address_width != 8;
    if (mbarrier >= 0)
        use_nth_address(d, mbarrier, &op->number);
    else
        absent(d, false);
    d->bad |= mbarrier >= 0 && op->address_width != width;
    op->address_width = width;
    d->next = size;
    if (size >= 0)
        use(d, 4);
    else
        absent(d, false);
    if (tensor) use_elements(d, &d->in->operand[second], 4);
    d->bad |= tensor && d->in->operand[second].elements != op->elements;
    d->next = operands; /* a cache policy is not looked at */
    return done(d, run_bulk, stores ? CLASS_BULK_STORE : CLASS_BULK_LOAD);
}

bool decode_bulk(Decoder *d) {
    if (!opcode_is(d, "cp") || !take(d, "async") || !take(d, "bulk")) return false;
    if (take(d, "commit_group")) return done(d, run_commit, CLASS_OTHER);
    if (take(d, "wait_group")) {
        d->op->mode = take(d, "read");
        d->op->number = (int32_t)immediate(d);
        return done(d, run_wait, CLASS_OTHER);
    }
    if (take(d, "prefetch")) {
        d->taken = (1u << d->in->parts) - 1;
        d->next = d->in->operands;
        return done(d, run_nothing, CLASS_OTHER);
    }
    if (take(d, "tensor") && !(d->op->elements = take_dimensions(d))) return false;
    if (!take(d, "global") || !take_shared(d)) return false;
    if (take(d, "mbarrier::complete_tx::bytes")) return decode_transfer(d, false);
    return take(d, "bulk_group") && decode_transfer(d, true);
}
