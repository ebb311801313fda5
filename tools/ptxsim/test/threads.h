/* Runs a few instructions with a thread for each input and compares what every thread gets. For the
 * tests of instructions in which threads work together. */
#ifndef THREADS_H
#define THREADS_H

#include "test/run_ptx.h"
#include "test/tap.h"

enum { LANES_A_WARP = 32, MAX_THREADS = 256 };

/* The kernels see: the thread in t, a thread's input in a and where its output goes in q. */
#define HEAD                                                                                \
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q, x; .reg .pred g, h; " \
             ".reg .b32 t, a, d, w, z;\nld.param.u64 p, [data]; mov.u32 t, %tid.x; "        \
             "mad.wide.u32 q, t, 8, p; ld.global.u32 a, [q]; mov.u32 d, 0;\n"
#define TAIL "st.global.u32 [q+4], d; ret;\n}\n"

typedef struct Thread {
    uint32_t in, out;
} Thread;
static Thread thread[MAX_THREADS];

/* Runs HEAD body TAIL; inputs are i * i + 3 unless `small`, then i / 5. */
__attribute__((unused)) static PtxRun run(const char *body, uint32_t threads, bool small) {
    char text[4000];
    snprintf(text, sizeof text, "%s%s;\n%s", HEAD, body, TAIL);
    for (uint32_t i = 0; i < threads; i++) thread[i] = (Thread){small ? i / 5 : i * i + 3, 0};
    const PtxRun result = run_ptx(text, threads, thread, threads * sizeof *thread);
    if (result.error[0]) printf("# %s\n", result.error);
    return result;
}

typedef uint32_t (*Expected)(const void *what, uint32_t lane);

__attribute__((unused)) static void check(const char *body, uint32_t threads, bool small,
                                          Expected expected, const void *what) {
    const PtxRun result = run(body, threads, small);
    uint32_t wrong = 0, first = 0;
    for (uint32_t i = threads; i-- > 0;)
        if (thread[i].out != expected(what, i)) wrong++, first = i;
    if (!ok(result.status == LAUNCH_OK && !wrong, "%s", body))
        printf("# %u threads are wrong; thread %u has 0x%x, not 0x%x\n", wrong, first,
               thread[first].out, expected(what, first));
}

__attribute__((unused)) static uint32_t input(uint32_t i) { return i * i + 3; }

#endif
