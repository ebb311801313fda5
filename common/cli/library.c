#include "cli/library.h"

#include "cli/regimes.h"
#include "truth/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Library {
    Problem problem;
    Inputs inputs;
    Rows rows;
    Truth truth;
} Library;

static void set_reason(char reason[LIBRARY_REASON], const char *text) {
    snprintf(reason, LIBRARY_REASON, "%s", text);
}

static void set_too_many(char reason[LIBRARY_REASON], const char *what, int count, int most) {
    snprintf(reason, LIBRARY_REASON, "%d %s are too many: at most %d", count, what, most);
}

int library_inputs(int count, char *const arguments[], int most, LibraryInput inputs[],
                   char reason[LIBRARY_REASON]) {
    Options options;
    InputChoice one;
    Error error;
    int found;
    if (!options_parse(count, arguments, &options, &error))
        return set_reason(reason, error.text), 0;
    const InputChoice *choices = options_inputs(&options, &one, &found);
    if (found > most) return set_too_many(reason, "inputs", found, most), 0;
    for (int i = 0; i < found; i++)
        inputs[i] = (LibraryInput){.init = (int)choices[i].init,
                                   .strength = choices[i].strength,
                                   .name = init_name(choices[i].init)};
    return found;
}

int library_cells(int count, char *const arguments[], int most, LibraryCell cells[],
                  char reason[LIBRARY_REASON]) {
    Options options;
    Cell list[MAX_CELLS];
    Error error;
    if (!options_parse(count, arguments, &options, &error))
        return set_reason(reason, error.text), 0;
    const int found = regimes_cells(&options, list, &error);
    if (found == 0) return set_reason(reason, error.text), 0;
    if (found > most) return set_too_many(reason, "shapes", found, most), 0;
    for (int i = 0; i < found; i++) {
        const Problem *p = &list[i].problem;
        cells[i] = (LibraryCell){.shape = p->shape,
                                 .d = p->d,
                                 .causal = p->causal,
                                 .regime = regime_name(list[i].regime),
                                 .flops = problem_flops(p),
                                 .bytes = (double)problem_bytes(p)};
    }
    return found;
}

void *library_open(const AttentionProblem *shape, int d, bool bf16, bool causal,
                   const LibraryInput *input, uint64_t seed, char reason[LIBRARY_REASON]) {
    Library *library = calloc(1, sizeof *library);
    Error error = {.text = "not enough host memory"};
    if (!library) return set_reason(reason, error.text), NULL;
    library->problem =
        (Problem){.shape = *shape, .d = d, .type = bf16 ? TYPE_BF16 : TYPE_FP16, .causal = causal};
    const Problem *p = &library->problem;
    if (problem_check(p, &error) &&
        inputs_create(p, (Init)input->init, input->strength, seed, 0, &library->inputs, &error) &&
        rows_choose(p, seed, ROWS_WORK_GRID, &library->rows, &error) &&
        oracle_create(p, (double)p->shape.scale, &library->inputs, &library->rows, &library->truth,
                      &error))
        return library;
    set_reason(reason, error.text);
    library_close(library);
    return NULL;
}

void library_copy(const void *handle, uint16_t *Q, uint16_t *K, uint16_t *V) {
    const Library *library = handle;
    const size_t kv = problem_kv_elements(&library->problem);
    memcpy(Q, library->inputs.Q, sizeof *Q * problem_q_elements(&library->problem));
    memcpy(K, library->inputs.K, sizeof *K * kv);
    memcpy(V, library->inputs.V, sizeof *V * kv);
}

size_t library_rows(const void *handle) { return ((const Library *)handle)->rows.count; }

double library_rms_error(const void *handle, const uint16_t *O) {
    const Library *library = handle;
    return check_rms_error(&library->problem, &library->rows, &library->truth, O);
}

void library_close(void *handle) {
    Library *library = handle;
    oracle_free(&library->truth);
    rows_free(&library->rows);
    inputs_free(&library->inputs);
    free(library);
}
