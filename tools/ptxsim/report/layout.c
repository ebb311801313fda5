/* Where things are: tensors, variables in shared memory, the chunks of tiles there. */
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "report/record.h"

enum { CHUNK = 16 };

/* ---- Tensors --------------------------------------------------------------------------------- */

static void add_tensor(Record *record, int parameter, uint64_t pointer) {
    const Allocation *a = memory_find(pointer, 1);
    if (a) *LIST_ADD(record->tensor) = (Tensor){parameter, pointer, a->start, a->end};
}

void record_find_tensors(Record *record) {
    const PtxFunction *f = record->kernel->function;
    for (int i = 0; i < f->parameters; i++) {
        const Variable *v = f->parameter[i];
        const void *value = (const void *)(uintptr_t)v->address;
        TensorMap map;
        uint64_t pointer;
        if (v->bytes == sizeof pointer) {
            memcpy(&pointer, value, sizeof pointer);
            add_tensor(record, i, pointer);
        } else if (v->bytes == TENSORMAP_BYTES && tensormap_decode(value, &map)) {
            add_tensor(record, i, map.base);
        }
    }
}

/* Two pointers may point into one allocation: then it is that of the nearer one before the address,
 * and as unsigned numbers distances behind it are larger than all before. */
int record_tensor(const Record *record, uint64_t address, int64_t *offset) {
    int found = -1;
    *offset = (int64_t)address;
    for (int i = 0; i < record->tensor.count; i++) {
        const Tensor *t = &record->tensor.at[i];
        if (address < t->start || address >= t->end) continue;
        const int64_t distance = (int64_t)(address - t->pointer);
        if (found >= 0 && (uint64_t)distance > (uint64_t)*offset) continue;
        found = i;
        *offset = distance;
    }
    return found;
}

/* ---- Variables ------------------------------------------------------------------------------- */

static void add_variable(Record *record, const Variable *v) {
    for (int i = 0; i < record->variable.count; i++)
        if (record->variable.at[i] == v) return;
    if (v->space == SPACE_SHARED) *LIST_ADD(record->variable) = v;
}

static void add_variables(Record *record, const Operand *operand, int operands) {
    for (int i = 0; i < operands; i++) {
        if (operand[i].kind == OPERAND_VARIABLE) add_variable(record, operand[i].variable);
        add_variables(record, operand[i].element, operand[i].elements);
    }
}

void record_find_variables(Record *record) {
    const PtxFunction *f = record->kernel->function;
    for (int i = 0; i < f->instructions; i++)
        add_variables(record, f->code[i].operand, f->code[i].operands);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static int find(const Record *record, const uint64_t key[LAYOUT_KEY]) {
    for (int i = 0; i < record->layout.count; i++)
        if (memcmp(record->layout.at[i].key, key, sizeof record->layout.at[i].key) == 0) return i;
    return -1;
}

static Layout *add(Record *record, const uint64_t key[LAYOUT_KEY], unsigned chunks) {
    Layout *layout = LIST_ADD(record->layout);
    memcpy(layout->key, key, sizeof layout->key);
    layout->chunks = chunks;
    layout->offset = malloc(chunks * sizeof *layout->offset);
    if (!layout->offset) abort();
    for (unsigned i = 0; i < chunks; i++) layout->offset[i] = NO_CHUNK;
    return layout;
}

/* A swizzle depends on address bits 7 to 9. */
static uint64_t phase_of(uint32_t address) { return address % 1024; }

int record_operand(Record *record, const WgmmaTile *tile) {
    const WgmmaDescriptor *d = &tile->descriptor;
    /* It is none of a box, which has 0 in the place of the rows, or what is beyond 32 bits. */
    const uint64_t key[LAYOUT_KEY] = {d->leading_offset, d->stride_offset, phase_of(d->address),
                                      d->swizzle,        tile->first,      tile->rows,
                                      tile->transposed};
    uint32_t address[WGMMA_MAX_CHUNKS];
    const int known = find(record, key);
    if (known >= 0) return known;
    const unsigned chunks = wgmma_chunks(tile, address);
    Layout *layout = add(record, key, chunks);
    for (unsigned i = 0; i < chunks; i++)
        layout->offset[i] = (int64_t)address[i] - (int64_t)d->address;
    return record->layout.count - 1;
}

/* The chunks of one row, which lie in a line in global memory. */
static void add_row(Layout *layout, const TensorMap *map, const TensorRow *row, uint32_t box,
                    uint64_t first) {
    const uint32_t bytes = map->box[0] * map->element_bytes;
    const uint64_t line = row->global - row->first * map->element_bytes;
    for (uint32_t i = 0; row->count && i < bytes; i += CHUNK) {
        const uint32_t at = swizzle_address(box + row->box_offset + i, map->swizzle);
        layout->offset[(at - box) / CHUNK] = (int64_t)(line + i - first);
    }
}

/* The box's place in the tensor matters where it sticks out. */
int record_box(Record *record, const Bulk *bulk, uint64_t first) {
    const TensorMap *map = &bulk->map;
    if (!map->rank) return -1;
    uint64_t key[LAYOUT_KEY] = {(uint64_t)(uintptr_t)bulk->op->source ^ map->base,
                                phase_of(bulk->shared), bulk->bytes};
    for (unsigned i = 0; i < map->rank; i++) {
        const int64_t end = (int64_t)bulk->start[i] + map->box[i];
        if (bulk->start[i] < 0 || end > (int64_t)map->size[i] + 1)
            key[3 + i] = 1ull << 32 | (uint32_t)bulk->start[i];
    }
    const int known = find(record, key);
    if (known >= 0) return known;
    Layout *layout = add(record, key, bulk->bytes / CHUNK);
    TensorRows rows = tensor_rows(map, bulk->start);
    for (TensorRow row; tensor_rows_next(&rows, &row);)
        add_row(layout, map, &row, bulk->shared, first);
    return record->layout.count - 1;
}
