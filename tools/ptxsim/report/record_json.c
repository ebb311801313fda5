/* A record as JSON. README.md says what each key means. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "ptx/ptx.h"
#include "report/record.h"
#include "report/source_file.h"

/* ---- Pieces ---------------------------------------------------------------------------------- */

static void put_string(const char *text, FILE *out) { json_text(text, strlen(text), out); }

/* A number of a list, with a comma before it unless it is the first. */
static void put_number(bool *first, int64_t number, FILE *out) {
    if (!*first) fputc(',', out);
    *first = false;
    fprintf(out, "%" PRId64, number);
}

/* NO_STEP is -1. */
static int64_t step_number(uint32_t step) { return step == NO_STEP ? -1 : (int64_t)step; }

static void put_shape(const char *name, const uint32_t size[3], FILE *out) {
    fprintf(out, "\"%s\":[%u,%u,%u],", name, size[0], size[1], size[2]);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* The lines of a file as a list of strings; an empty one if it cannot be read. */
static void put_lines(const char *path, FILE *out) {
    char *bytes = source_file_read(path);
    fputc('[', out);
    for (const char *at = bytes, *end; at && *at; at = *end ? end + 1 : end) {
        end = strchrnul(at, '\n');
        if (at > bytes) fputc(',', out);
        json_text(at, (size_t)(end - at), out);
    }
    free(bytes);
    fputc(']', out);
}

/* The lines of the kernel's own file that led to an instruction, the innermost first. */
static void put_calls(const PtxModule *ptx, const Instruction *in, FILE *out) {
    bool first = true;
    fputc('[', out);
    for (int at = in->location; at >= 0; at = ptx->location[at].parent)
        if (ptx->location[at].file == 0) put_number(&first, ptx->location[at].line, out);
    fputc(']', out);
}

static void put_operations(const Kernel *kernel, FILE *out) {
    const PtxModule *ptx = kernel->ptx;
    fputs("\"ops\":[", out);
    for (int i = 0; i < kernel->ops; i++) {
        const Instruction *in = kernel->op[i].source;
        const Location *l = ptx_location(ptx, in);
        fputs(i ? ",\n[" : "\n[", out);
        json_text(in->text.at, (size_t)in->text.length, out);
        fprintf(out, ",%d,%d,", kernel->op[i].class, l && l->file == 0 ? l->line : 0);
        put_calls(ptx, in, out);
        fputc(']', out);
    }
    fputs("],\n\"classes\":[", out);
    for (int c = 0; c < CLASS_COUNT; c++) {
        if (c) fputc(',', out);
        put_string(counts_class_name((InstructionClass)c), out);
    }
    fputs("],\n", out);
}

static void put_counters(const char *name, const InstructionCount count[], int ops, FILE *out) {
    fprintf(out, "\"%s\":[", name);
    for (int i = 0; count && i < ops; i++) {
        const InstructionCount *c = &count[i];
        const uint64_t number[] = {
            c->executions, c->lanes,       c->divergent,    c->requests,
            c->units,      c->ideal_units, c->second_units, c->second_ideal_units};
        bool first = true;
        fputs(i ? ",[" : "[", out);
        for (size_t n = 0; n < sizeof number / sizeof *number; n++)
            put_number(&first, (int64_t)number[n], out);
        fputc(']', out);
    }
    fputs("],\n", out);
}

/* The last name of a mangled one, _ZZ9flash_fwdE2sK being sK: the rest behind a
 * number that says how long it is; else the name itself. */
static Text last_name(Text name) {
    if (strncmp(name.at, "_Z", 2) != 0) return name;
    unsigned length = 0;
    for (int i = 2; i < name.length; i++) {
        const unsigned left = (unsigned)(name.length - i);
        const bool digit = name.at[i] >= '0' && name.at[i] <= '9';
        if (!digit && length == left) return (Text){name.at + i, (int)left};
        length = digit ? 10 * length + (unsigned)(name.at[i] - '0') : 0;
    }
    return name;
}

static void put_variables(const Record *record, FILE *out) {
    fputs("\"variables\":[", out);
    for (int i = 0; i < record->variable.count; i++) {
        const Variable *v = record->variable.at[i];
        const Text name = last_name(v->name);
        const uint64_t rest = SHARED_BASE + record->shared_bytes - v->address;
        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        json_text(name.at, (size_t)name.length, out);
        fprintf(out, ",\"address\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", v->address,
                v->dynamic ? rest : v->bytes);
    }
    fputs("],\n\"tensors\":[", out);
    for (int i = 0; i < record->tensor.count; i++) {
        const Tensor *t = &record->tensor.at[i];
        fprintf(out, "%s{\"parameter\":%d,\"bytes\":%" PRIu64 "}", i ? "," : "", t->parameter,
                t->end - t->pointer);
    }
    fputs("],\n", out);
}

static void put_kernel(const Record *record, FILE *out) {
    const PtxModule *ptx = record->kernel->ptx;
    const char *file = source_file_name(ptx->files && ptx->file[0] ? ptx->file[0] : "");
    fputs("{\"kernel\":", out);
    put_string(record->kernel->name, out);
    fputs(",\"file\":", out);
    put_string(file, out);
    fprintf(out, ",\"async\":\"%s\",", record->late ? "late" : "early");
    put_shape("grid", record->grid, out);
    put_shape("threads", record->threads, out);
    put_shape("block", record->block, out);
    fprintf(out,
            "\"index\":%" PRId64 ",\"shared_base\":%d,\"shared_bytes\":%u,\"cut\":%" PRIu64 ",\n"
            "\"source\":",
            (int64_t)record->index, SHARED_BASE, record->shared_bytes, record->cut);
    put_lines(file, out);
    fputs(",\n", out);
    put_operations(record->kernel, out);
    put_counters("counters", record->count, record->kernel->ops, out);
    put_counters("run_counters", record->kernel->count, record->kernel->ops, out);
    put_variables(record, out);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void put_bytes(const char *name, const uint8_t list[LANES], FILE *out) {
    bool first = true;
    fprintf(out, ",\"%s\":[", name);
    for (unsigned l = 0; l < LANES; l++) put_number(&first, list[l], out);
    fputc(']', out);
}

static void put_distances(const char *name, const int64_t list[], unsigned count, FILE *out) {
    bool first = true;
    fprintf(out, ",\"%s\":[", name);
    for (unsigned i = 0; i < count; i++) put_number(&first, list[i], out);
    fputc(']', out);
}

static void put_footprint(const Footprint *f, FILE *out) {
    static const char *const spaces[] = {"shared", "global", "local", "lanes"};
    const FootprintKey *key = &f->key;
    fprintf(out, "{\"space\":\"%s\",\"bytes\":%u,\"mask\":%d", spaces[key->space], key->bytes,
            (int32_t)key->mask);
    put_distances("distance", key->distance, LANES, out);
    if (key->space == FOOTPRINT_SHARED || key->space == FOOTPRINT_GLOBAL)
        fprintf(out, ",\"units\":%u,\"ideal\":%u", f->units.actual, f->units.ideal);
    if (key->space == FOOTPRINT_SHARED) {
        fprintf(out, ",\"matrices\":%d", key->matrices);
        put_bytes("wavefront", f->unit, out);
        put_bytes("bank", f->bank, out);
    } else if (key->space == FOOTPRINT_GLOBAL) {
        fprintf(out, ",\"tensor\":%d", key->tensor);
        put_bytes("sector", f->unit, out);
        put_bytes("within", f->bank, out);
        put_distances("sectors", f->sector, f->units.actual, out);
    }
    fputc('}', out);
}

/* ---- Warps ----------------------------------------------------------------------------------- */

static void put_warp(const WarpRecord *warp, FILE *out) {
    bool first = true;
    uint64_t end = 0;
    uint32_t step = 0;
    fprintf(out, "{\"steps\":%u,\"runs\":[", warp->steps);
    for (int i = 0; i < warp->run.count; i++) {
        const Run *run = &warp->run.at[i];
        put_number(&first, run->first, out);
        put_number(&first, run->steps, out);
        put_number(&first, (int32_t)run->mask, out);
        put_number(&first, (int64_t)(run->time - end), out);
        end = run->time + run->steps;
    }
    fputs("],\n\"requests\":[", out);
    first = true;
    for (int i = 0; i < warp->request.count; i++) {
        const Request *request = &warp->request.at[i];
        put_number(&first, request->step - step, out);
        put_number(&first, request->footprint, out);
        put_number(&first, request->base, out);
        step = request->step;
    }
    fputs("],\"divergent\":[", out);
    first = true;
    for (int i = 0; i < warp->divergent.count; i++) put_number(&first, warp->divergent.at[i], out);
    fputs("]}", out);
}

/* ---- What is in flight ----------------------------------------------------------------------- */

static void put_flight(const Flight *f, FILE *out) {
    static const char *const kinds[] = {"cp.async", "bulk store", "wgmma", "bulk load"};
    const struct {
        const char *name;
        uint32_t step;
    } steps[] = {{"first", f->first}, {"last", f->last}, {"commit", f->commit}, {"wait", f->wait}};
    fprintf(out, "{\"kind\":\"%s\",\"warp\":%d,\"group\":%u", kinds[f->kind], f->warp, f->group);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        fprintf(out, ",\"%s\":%" PRId64, steps[i].name, step_number(steps[i].step));
    fprintf(out, ",\"operations\":%u,\"bytes\":%" PRIu64 ",\"phase\":%d}", f->operations, f->bytes,
            f->phase);
}

static void put_transfer(const Transfer *t, FILE *out) {
    bool first = true;
    fprintf(out,
            "{\"flight\":%d,\"warp\":%d,\"step\":%" PRId64
            ",\"stores\":%s,\"shared\":%u,\"bytes\":%u,"
            "\"tensor\":%d,\"base\":%" PRId64 ",\"layout\":%d,\"units\":%u,\"ideal\":%u,"
            "\"start\":[",
            t->flight, t->warp, step_number(t->step), t->stores ? "true" : "false", t->shared,
            t->bytes, t->tensor, t->base, t->layout, t->units.actual, t->units.ideal);
    for (uint32_t i = 0; i < t->rank; i++) put_number(&first, t->start[i], out);
    fputs("]}", out);
}

static void put_descriptor(const char *name, uint64_t bits, int layout, bool transposed,
                           FILE *out) {
    static const int swizzle_bytes[] = {0, 32, 64, 128};
    if (layout < 0) {
        fprintf(out, ",\"%s\":null", name);
        return;
    }
    const WgmmaDescriptor d = wgmma_descriptor(bits);
    fprintf(out,
            ",\"%s\":{\"bits\":\"%016" PRIx64 "\",\"address\":%u,\"leading\":%u,\"stride\":%u,"
            "\"base_offset\":%u,\"swizzle\":%d,\"transposed\":%s,\"layout\":%d}",
            name, bits, d.address, d.leading_offset, d.stride_offset, d.base_offset,
            swizzle_bytes[d.swizzle], transposed ? "true" : "false", layout);
}

static void put_product(const Product *p, FILE *out) {
    fprintf(out, "{\"flight\":%d,\"warp\":%d,\"step\":%" PRId64 ",\"n\":%u,\"accumulate\":%s",
            p->flight, p->warp, step_number(p->step), p->n, p->accumulate ? "true" : "false");
    put_descriptor("a", p->a_descriptor, p->a, p->a_transposed, out);
    put_descriptor("b", p->b_descriptor, p->b, p->b_transposed, out);
    fputc('}', out);
}

static void put_layout(const Layout *layout, FILE *out) {
    fputc('[', out);
    for (unsigned i = 0; i < layout->chunks; i++) {
        if (i) fputc(',', out);
        if (layout->offset[i] == NO_CHUNK)
            fputs("null", out);
        else
            fprintf(out, "%" PRId64, layout->offset[i]);
    }
    fputc(']', out);
}

static void put_arrivals(const char *name, const Arrival *at, int count, bool counted, FILE *out) {
    bool first = true;
    fprintf(out, ",\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        put_number(&first, at[i].warp, out);
        put_number(&first, at[i].step, out);
        if (counted) put_number(&first, at[i].count, out);
    }
    fputc(']', out);
}

static void put_phase(const Phase *p, FILE *out) {
    fprintf(out, "{\"at\":%u,\"phase\":%u,\"expected\":%u,\"complete\":%s,\"time\":%" PRIu64,
            p->where, p->number, p->expected, p->complete ? "true" : "false", p->time);
    put_arrivals("arrivals", p->arrival.at, p->arrival.count, true, out);
    put_arrivals("waits", p->wait.at, p->wait.count, false, out);
    fputc('}', out);
}

/* ---- Fragments ------------------------------------------------------------------------------- */

/* [row, column] of each register, lane and half, in this order. */
static void put_fragment(const char *name, MmaOperand operand, unsigned registers, unsigned halves,
                         FILE *out) {
    bool first = true;
    fprintf(out, "\"%s\":{\"registers\":%u,\"halves\":%u,\"places\":[", name, registers, halves);
    for (unsigned reg = 0; reg < registers; reg++)
        for (unsigned l = 0; l < LANES; l++)
            for (unsigned half = 0; half < halves; half++) {
                const MmaPlace place = mma_place(operand, l, reg, half);
                put_number(&first, place.row, out);
                put_number(&first, place.column, out);
            }
    fputs("]}", out);
}

static void put_fragments(FILE *out) {
    fputs("\"fragments\":{", out);
    put_fragment("A", MMA_A, 4, 2, out);
    fputc(',', out);
    put_fragment("B", MMA_B, 2, 2, out);
    fputc(',', out);
    put_fragment("sum", MMA_SUM, 4, 1, out);
    fputc(',', out);
    put_fragment("half sum", MMA_HALF_SUM, 2, 2, out);
    fputc(',', out);
    put_fragment("matrix", MMA_MATRIX, 1, 2, out);
    fputs("},\n", out);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void put_side(const char *name, const RaceSide *side, uint32_t step, FILE *out) {
    char who[160];
    race_side_text(side, who, sizeof who);
    fprintf(out, ",\"%s\":{\"text\":", name);
    put_string(who, out);
    fprintf(out, ",\"warp\":%u,\"lane\":%d,\"op\":%u,\"step\":%" PRId64 "}", side->warp,
            side->actor == RACE_ACTOR_WARP && side->lane < LANES ? (int)side->lane : -1,
            side->source, step_number(step));
}

static void put_fault(const RecordedFault *fault, FILE *out) {
    fputs("\"fault\":", out);
    if (!fault->happened) {
        fputs("null}", out);
        return;
    }
    fputs("{\"text\":", out);
    put_string(fault->text ? fault->text : "", out);
    fprintf(out, ",\"warp\":%d,\"lane\":%d,\"step\":%u", fault->warp, fault->lane, fault->step);
    if (fault->race) {
        fprintf(out, ",\"address\":%u", fault->sides.address);
        put_side("earlier", &fault->sides.earlier, fault->earlier_step, out);
        put_side("later", &fault->sides.later, fault->later_step, out);
    }
    fputs("}}", out);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* "name":[...], each element by `put`. */
#define PUT_LIST(name, list, count, put)       \
    do {                                       \
        fprintf(out, "\"%s\":[", name);        \
        for (int i_ = 0; i_ < (count); i_++) { \
            if (i_) fputs(",\n", out);         \
            put(&(list)[i_], out);             \
        }                                      \
        fputs("],\n", out);                    \
    } while (0)

void record_json(const Record *record, FILE *out) {
    put_kernel(record, out);
    PUT_LIST("footprints", record->footprints.at, record->footprints.count, put_footprint);
    PUT_LIST("warps", record->warp, record->warps, put_warp);
    PUT_LIST("flights", record->flight.at, record->flight.count, put_flight);
    PUT_LIST("transfers", record->transfer.at, record->transfer.count, put_transfer);
    PUT_LIST("products", record->product.at, record->product.count, put_product);
    PUT_LIST("layouts", record->layout.at, record->layout.count, put_layout);
    PUT_LIST("mbarriers", record->phase.at, record->phase.count, put_phase);
    PUT_LIST("barriers", record->barrier.at, record->barrier.count, put_phase);
    put_fragments(out);
    put_fault(&record->fault, out);
}
