/* What the simulator says when a kernel does what it must not. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/barrier.h"
#include "machine/mbarrier_word.h"
#include "machine/observe.h"
#include "machine/simt.h"
#include "report/source_file.h"

/* A report grows in the block's buffer; what does not fit is left out. */
static void say_list(Block *block, const char *format, va_list arguments) {
    const size_t used = strlen(block->report);
    vsnprintf(block->report + used, sizeof block->report - used, format, arguments);
}

__attribute__((format(printf, 2, 3))) static void say(Block *block, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_list(block, format, arguments);
    va_end(arguments);
}

/* Line `line` of a file without the blanks around it, to text[0..size); false if it cannot be
 * read. */
static bool read_line(const char *path, int line, char *text, size_t size) {
    char *bytes = path ? source_file_read(path) : NULL;
    const char *at = bytes;
    for (int i = 1; at && i < line; i++) at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    if (at) at += strspn(at, " \t");
    if (at) snprintf(text, size, "%.*s", (int)strcspn(at, "\r\n"), at);
    free(bytes);
    return at != NULL;
}

static const char *file_of(const PtxModule *ptx, const Location *l) {
    return l && l->file >= 0 && l->file < ptx->files ? ptx->file[l->file] : NULL;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Source and PTX of an operation, each on its line. */
static void say_place(Block *block, const Op *op, const char *indent) {
    const PtxModule *ptx = block->kernel->ptx;
    const Location *l = ptx_location(ptx, op->source);
    const Location *inner = op->source->location < 0 ? NULL : &ptx->location[op->source->location];
    char line[200];
    if (file_of(ptx, l))
        say(block, "%sat %s:%d", indent, file_of(ptx, l), l->line);
    else
        say(block, "%sat an unknown line%s", indent,
            ptx->locations ? "" : " (build with nvcc -lineinfo)");
    if (inner != l && file_of(ptx, inner))
        say(block, ", which calls %s:%d", base_name(file_of(ptx, inner)), inner->line);
    say(block, "\n");
    if (l && read_line(file_of(ptx, l), l->line, line, sizeof line))
        say(block, "%s    %s\n", indent, line);
    say(block, "%sPTX %.*s\n", indent,
        op->source->text.length > 160 ? 160 : op->source->text.length, op->source->text.at);
}

static void say_thread(Block *block, const Warp *warp, int lane) {
    const uint32_t *size = block->threads;
    const uint32_t thread = (uint32_t)(warp->index * LANES + lane);
    say(block, "  in kernel %s, block (%u, %u, %u), warp %d", block->kernel->name, block->index[0],
        block->index[1], block->index[2], warp->index);
    if (lane >= 0)
        say(block, ", lane %d: thread (%u, %u, %u)", lane, thread % size[0],
            thread / size[0] % size[1], thread / size[0] / size[1]);
    say(block, "\n");
}

/* The innermost loop that the warp is in, as operations first .. last; false if it is in none. */
static bool find_loop(const Warp *warp, int *first, int *last) {
    const Kernel *kernel = warp->block->kernel;
    bool found = false;
    for (int i = warp->pc; i < kernel->ops; i++) {
        const Op *op = &kernel->op[i];
        const bool inside = op->run == run_branch && op->target <= warp->pc;
        if (!inside || (found && op->target <= *first)) continue;
        *first = op->target, *last = i;
        found = true;
    }
    return found;
}

/* Whether the operation tests an mbarrier: mbarrier.test_wait or try_wait. */
static bool tests_mbarrier(const Op *op) {
    const Text *part = op->source->part;
    return op->class == CLASS_MBARRIER && op->source->parts > 1 &&
           (text_is(part[1], "test_wait") || text_is(part[1], "try_wait"));
}

/* Whether the warp reads again and again what another block may write. */
static bool polls_global(const Warp *warp) {
    int first = 0, last = -1;
    if (!find_loop(warp, &first, &last)) return false;
    for (int i = first; i <= last; i++) {
        const Op *op = &warp->block->kernel->op[i];
        if (op->order && op->space != SPACE_SHARED && op->class != CLASS_MBARRIER) return true;
    }
    return false;
}

/* Whether the loop that the warp is in does nothing but test an mbarrier. */
static bool polls_mbarrier(const Warp *warp) {
    int first = 0, last = -1;
    bool tests = false;
    if (polls_global(warp) || !find_loop(warp, &first, &last)) return false;
    for (int i = first; i <= last; i++) tests |= tests_mbarrier(&warp->block->kernel->op[i]);
    return tests;
}

/* Blocks that talk to each other run one after another, so a block that waits for a later one
 * waits in vain. */
static void say_other_blocks(Block *block) {
    const uint64_t before =
        block->index[0] +
        (uint64_t)block->grid[0] * (block->index[1] + (uint64_t)block->grid[1] * block->index[2]);
    const uint64_t blocks = (uint64_t)block->grid[0] * block->grid[1] * block->grid[2];
    if (blocks == 1 || (block->settings->order == 0 && before + 1 == blocks)) return;
    say(block, "  does it wait for another block? Blocks run one after another here");
    if (block->settings->order == 0)
        say(block, ", and %llu of %llu come after this one",
            (unsigned long long)(blocks - before - 1), (unsigned long long)blocks);
    say(block,
        ": a wait for a later one,\n  such as grid.sync(), never ends here. On a GPU it ends "
        "if all blocks run at one time\n");
}

/* Adds where lanes of the warp's other ways wait, if some of these are among them. */
static void describe_others(const Warp *warp, uint32_t among, char *text, size_t size) {
    char place[256];
    for (int i = 0; i < warp->depth; i++) {
        const uint32_t lanes = simt_lanes_at(warp, i);
        const size_t used = strlen(text);
        if (lanes != warp->stack[i].mask || !(lanes & among)) continue;
        op_place(warp->block->kernel, &warp->block->kernel->op[warp->stack[i].pc], place,
                 sizeof place);
        snprintf(text + used, size - used, "; lanes 0x%08x wait at %s", lanes, place);
    }
}

/* Where other lanes of the warp wait for those that execute. */
static void say_others(Block *block, const Warp *warp) {
    char others[512] = "";
    describe_others(warp, warp->waiting, others, sizeof others);
    if (others[0]) say(block, "  %s\n", others + 2);
}

static void say_fault(Warp *warp, int lane, const char *format, va_list arguments) {
    Block *block = warp->block;
    block->report[0] = 0;
    say(block, "ptxsim: ");
    say_list(block, format, arguments);
    say(block, "\n");
    say_thread(block, warp, lane);
    if (warp->op) say_place(block, warp->op, "  ");
    say_others(block, warp);
}

_Noreturn static void end_block(Warp *warp, int lane) {
    Block *block = warp->block;
    if (block->record) observe_fault(block->record, warp, lane, NULL);
    longjmp(block->escape, 1);
}

_Noreturn void fault(Warp *warp, int lane, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_fault(warp, lane, format, arguments);
    va_end(arguments);
    end_block(warp, lane);
}

__attribute__((format(printf, 2, 3))) static void say_endless(Warp *warp, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_fault(warp, -1, format, arguments);
    va_end(arguments);
    if (polls_global(warp)) say_other_blocks(warp->block);
}

_Noreturn void fault_endless(Warp *warp) {
    say_endless(warp,
                "the warp has executed %llu instructions and goes on: an endless loop? "
                "If it is none, SIM_BUDGET=... allows more",
                (unsigned long long)warp->executed);
    end_block(warp, -1);
}

static void say_side(Block *block, const char *which, const RaceSide *side) {
    char who[160];
    race_side_text(side, who, sizeof who);
    say(block, "  %s: %s\n", which, who);
    if (side->source < (uint32_t)block->kernel->ops)
        say_place(block, &block->kernel->op[side->source], "    ");
}

_Noreturn void fault_race(Warp *warp, const RaceReport *race) {
    Block *block = warp->block;
    block->report[0] = 0;
    say(block, "ptxsim: %s (shared address 0x%x)\n", race_message(race->why), race->address);
    say(block, "  in kernel %s, block (%u, %u, %u)\n", block->kernel->name, block->index[0],
        block->index[1], block->index[2]);
    say_side(block, "earlier", &race->earlier);
    say_side(block, "later", &race->later);
    if ((race->earlier.access == RACE_ATOMIC) != (race->later.access == RACE_ATOMIC) &&
        race->earlier.access <= RACE_ATOMIC && race->later.access <= RACE_ATOMIC)
        say(block, "  one access is atomic, the other is not: let a barrier order them (volatile "
                   "alone ends the race, but orders nothing)\n");
    if (block->record) observe_fault(block->record, warp, -1, race);
    longjmp(block->escape, 1);
}

/* What one of two blocks does. A weak access that other blocks would take for a strong one has a
 * scope without them. */
static void say_use(Block *block, const SectorUse *use, uint32_t source) {
    const Op *op = &block->kernel->op[source];
    const uint32_t *grid = block->grid;
    const bool strong = use->kind & GRID_STRONG;
    say(block, "  block (%llu, %llu, %llu): a %s%s%s\n", (unsigned long long)(use->block % grid[0]),
        (unsigned long long)(use->block / grid[0] % grid[1]),
        (unsigned long long)(use->block / grid[0] / grid[1]), strong ? "strong " : "",
        use->kind & GRID_WRITES ? "write" : "read",
        op->order && !strong ? ", for threads of its block alone" : "");
    say_place(block, op, "    ");
}

void report_grid_race(Block *block, const GridConflict *conflict) {
    const SectorUse *one = &conflict->side[0], *other = &conflict->side[1];
    const Allocation *a = memory_find(conflict->address, 1);
    block->report[0] = 0;
    say(block, "ptxsim: data race between blocks: both use the same bytes of global memory, one of "
               "them writes, and nothing orders them (");
    if (a)
        say(block, "byte %llu of an allocation of %llu)\n",
            (unsigned long long)(conflict->address - a->start),
            (unsigned long long)(a->end - a->start));
    else
        say(block, "global address 0x%llx)\n", (unsigned long long)conflict->address);
    say(block, "  in kernel %s\n", block->kernel->name);
    say_use(block, one, grid_source(conflict, 0));
    say_use(block, other, grid_source(conflict, 1));
    if (one->kind & other->kind & GRID_STRONG)
        say(block, "  both are strong, but one has %d bytes and the other %d\n", one->size,
            other->size);
    else if ((one->kind | other->kind) & GRID_STRONG)
        say(block, "  one is strong (atomic, volatile or relaxed), the other is not\n");
}

/* What the mbarrier that a warp waits for lacks. */
static void describe_mbarrier(const Warp *warp, char *text, size_t size) {
    Mbarrier state;
    uint64_t word;
    memcpy(&word, shared_zero(warp->block) + warp->wait_address, sizeof word);
    if (!mbarrier_read(word, &state)) {
        snprintf(text, size, "which holds no mbarrier any more");
        return;
    }
    snprintf(text, size,
             state.tx < 0 ? "parity %u; in its phase %u, of parity %u, %u of %u arrivals are "
                            "missing, and %d bytes came that nobody expects"
                          : "parity %u; in its phase %u, of parity %u, %u of %u arrivals and %d "
                            "bytes are missing",
             warp->wait_parity, *mbarrier_phases(warp->block, warp->wait_address), state.odd,
             state.pending, state.expected, abs(state.tx));
}

/* What a warp does, without its number. */
static void describe_warp(const Warp *warp, char *text, size_t size) {
    const NamedBarrier *barrier = &warp->block->barrier[warp->barrier];
    char place[256] = "its first instruction", missing[160];
    const bool polls = warp->state == WARP_POLLING && polls_mbarrier(warp);
    if (warp->op) op_place(warp->block->kernel, warp->op, place, sizeof place);
    switch (polls ? WARP_AT_MBARRIER : warp->state) {
    case WARP_AT_BARRIER:
        snprintf(text, size,
                 "lanes 0x%08x, waits at barrier %u (%u of %u threads have arrived), %s",
                 warp->active, warp->barrier, barrier->arrived,
                 barrier_threads(warp->block, barrier->expected), place);
        break;
    case WARP_AT_MBARRIER:
        describe_mbarrier(warp, missing, sizeof missing);
        snprintf(text, size, "lanes 0x%08x, waits for the mbarrier at 0x%x, %s, %s", warp->active,
                 warp->wait_address, missing, place);
        break;
    case WARP_DONE:
        snprintf(text, size, "has ended");
        break;
    default:
        snprintf(text, size, "lanes 0x%08x, tests again and again, %s", warp->active, place);
        break;
    }
    describe_others(warp, warp->live, text, size);
}

/* Warps that do the same are said together. */
_Noreturn void fault_deadlock(Block *block) {
    char text[512], next[512];
    block->report[0] = 0;
    say(block, "ptxsim: deadlock: no warp of the block can go on\n");
    say(block, "  in kernel %s, block (%u, %u, %u)\n", block->kernel->name, block->index[0],
        block->index[1], block->index[2]);
    for (int first = 0, end; first < block->warps; first = end) {
        describe_warp(&block->warp[first], text, sizeof text);
        for (end = first + 1; end < block->warps; end++) {
            describe_warp(&block->warp[end], next, sizeof next);
            if (strcmp(text, next) != 0) break;
        }
        if (end == first + 1)
            say(block, "  warp %d, %s\n", first, text);
        else
            say(block, "  warps %d to %d, each %s\n", first, end - 1, text);
    }
    for (int i = 0; i < block->warps; i++) {
        if (block->warp[i].state != WARP_POLLING || !polls_global(&block->warp[i])) continue;
        say_other_blocks(block);
        break;
    }
    if (block->record) observe_fault(block->record, NULL, -1, NULL);
    longjmp(block->escape, 1);
}
