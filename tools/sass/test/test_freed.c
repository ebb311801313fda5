/* What is given back is empty: whoever looks at it again, or gives it back again, finds nothing.
 * Catches: a pointer that stays to memory that is gone, a count of what is no longer there. */
#include "analysis/expect.h"
#include "analysis/graph.h"
#include "analysis/ptx_lines.h"
#include "analysis/source.h"
#include "commands/delta.h"
#include "limits/executions.h"
#include "limits/recorded.h"
#include "test/sample.h"
#include "test/tap.h"

#define FREED(thing, free_it, what)                                           \
    do {                                                                      \
        free_it(&(thing));                                                    \
        const unsigned char *byte_ = (const unsigned char *)&(thing);         \
        size_t set_ = 0;                                                      \
        for (size_t i_ = 0; i_ < sizeof(thing); i_++) set_ += byte_[i_] != 0; \
        is_int((long long)set_, 0, what);                                     \
        free_it(&(thing));                                                    \
    } while (0)

static const char code[] = KERNEL("k") ".L_x_0:\n"
                                       "FFMA R1, R2, R3, R4\n"
                                       "@P0 BRA `(.L_x_0)\n"
                                       "EXIT\n";

static char *copied(const char *text) { return strcpy(list_zeroed(strlen(text) + 1, 1), text); }

int main(void) {
    Module module = sample_code(code), other = sample_code(code);
    const Function *function = module.kernel[0].function;
    Graph graph = graph_build(function);
    Flow flow = flow_analyse(function);
    Counts counts = counts_of(&module, -1);
    Deltas deltas = deltas_of(&module, &other);
    Source source = source_cut(copied("one\ntwo\n"));
    Ptx ptx = ptx_read(copied(".visible .entry k()\n{\nret;\n}\n"), NULL);
    Signature signature;
    Error error;
    char text[] = "loop FFMA == 1\n";
    ok(signature_read(text, "path", &module, &signature, &error), "a signature");
    Cells cells = {0};
    LIST_ADD(cells.cell, cells.cells);
    CountedRun run = {0};
    Counted *launch = LIST_ADD(run.launch, run.launches);
    LIST_ADD(launch->operation, launch->operations);
    run.text = copied("text");
    int of_line[] = {-1, -1};
    Matching none = {.lines = 1, .operation = of_line}, lines = {.lines = 1};
    lines.operation = list_zeroed(2, sizeof *lines.operation);
    Executions executions = executions_of(&module.kernel[0], launch, &none);
    FREED(graph, graph_free, "a graph");
    flow_free(&flow);
    ok(!flow.loop && flow.loops == 0 && !flow.loop_of && !flow.region && flow.main_loop == -1,
       "a flow");
    flow_free(&flow);
    FREED(counts, counts_free, "counts");
    FREED(deltas, deltas_free, "differences");
    FREED(source, source_free, "a source");
    FREED(ptx, ptx_free, "PTX");
    FREED(signature, signature_free, "a signature");
    FREED(cells, recorded_free, "recorded times");
    FREED(run, counted_free, "what was counted");
    FREED(lines, matching_free, "lines that were matched");
    FREED(module.listing, listing_free, "a listing");
    FREED(other, module_close, "a module");
    executions_free(&executions);
    ok(!executions.of && executions.unmatched == -1, "executions");
    module_close(&module);
    return done_testing();
}
