/* Groups of asynchronous operations as a block's record has them: two groups, of which the first is
 * waited for before the second. Catches: a wait or commit of another queue, a wait for more or
 * fewer groups than it says. */
#include "machine/scheduler.h"
#include "report/record.h"
#include "test/run_ptx.h"
#include "test/tap.h"

#define HEAD                                                                                      \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p; .reg .b32 t, s, z; .reg .f32 " \
             "f<4>; .reg .pred g; .shared .align 1024 .b8 room[4096];\nld.param.u64 p, [data]; "  \
             "mov.u32 t, %tid.x; mov.u32 s, room; mad.lo.u32 s, t, 16, s; mov.u32 z, 0; "         \
             "st.shared.v4.u32 [s], {z, z, z, z}; fence.proxy.async; bar.sync 0; "                \
             "setp.eq.u32 g, t, 0; mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; "      \
             "mov.f32 f3, f0; wgmma.fence.sync.aligned;\n"

typedef struct Queue {
    FlightKind kind;
    const char *begin, *commit, *wait, *name;
} Queue;

static const Queue queues[] = {
    {FLIGHT_COPY, "cp.async.ca.shared.global [s], [p], 16;", "cp.async.commit_group;",
     "cp.async.wait_group", "cp.async"},
    {FLIGHT_STORE, "@g cp.async.bulk.global.shared::cta.bulk_group [p], [room], 16;",
     "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group.read", "bulk stores"},
    {FLIGHT_WGMMA,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, {z, z, z, z}, "
     "0x0000001000080040, 1, 1, 1, 0;",
     "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned", "wgmma"},
};

/* The flights of warp 0 that are of the kind. */
static int flights(const Record *record, FlightKind kind, const Flight *found[4]) {
    int count = 0;
    for (int i = 0; i < record->flight.count; i++) {
        const Flight *f = &record->flight.at[i];
        if (f->warp == 0 && f->kind == kind && count < 4) found[count++] = f;
    }
    return count;
}

static void test_queue(const Queue *q) {
    static const uint32_t grid[] = {1, 1, 1}, threads[] = {128, 1, 1};
    const Settings settings = {.late = true, .budget = 100000, .threads = 1, .multiprocessors = 1};
    char text[3000], error[512] = "";
    const Flight *f[4] = {NULL};
    void *memory = memory_allocate(4096);
    snprintf(text, sizeof text, "%s%s\n%s\n%s\n%s\n%s 1;\n%s 0;\nret;\n}\n", HEAD, q->begin,
             q->commit, q->begin, q->commit, q->wait, q->wait);
    Module *module = module_load(text, strlen(text), error, sizeof error);
    Kernel *kernel = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    if (!ok(kernel != NULL, "%s: decoded %s", q->name, error)) return;
    memcpy((void *)(uintptr_t)kernel->function->parameter[0]->address, &memory, sizeof memory);
    Block *block = block_new(kernel, &settings, grid, threads, 0);
    Record *record = record_new(kernel, 0, grid, threads);
    record_begin(record, block);
    block->record = record;
    ok(block_run(block, 0), "%s: runs", q->name);
    record_end(record, block);
    is_int(flights(record, q->kind, f), 2, "two groups of warp 0");
    if (f[1])
        ok(f[0]->commit + 2 == f[1]->commit && f[1]->commit + 1 == f[0]->wait &&
               f[0]->wait + 1 == f[1]->wait,
           "%s: committed at %u and %u, waited for at %u and %u", q->name, f[0]->commit,
           f[1]->commit, f[0]->wait, f[1]->wait);
    record_free(record);
    block_free(block);
    module_free(module);
    memory_release(memory);
}

int main(void) {
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) test_queue(&queues[i]);
    return done_testing();
}
