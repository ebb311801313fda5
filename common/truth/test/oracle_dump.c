/* oracle_dump [KEY=VALUE]...: writes the oracle's problem and answer to stdout for another program
 * to compare: Q, K, V, O, LSE as raw little-endian doubles, all rows. The keys are those of
 * `attention`, except that D may be any size from 1 to 1024. The scale is 1 / sqrt(D) in fp64. */
#include "cli/options.h"
#include "truth/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_elements(ElementType type, const uint16_t *elements, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double value = element_to_float(type, elements[i]);
        fwrite(&value, sizeof value, 1, stdout);
    }
}

static bool dump(const Problem *p, Init init, double strength, uint64_t seed, Error *error) {
    Inputs inputs;
    Rows rows;
    Truth truth;
    if (!inputs_create(p, init, strength, seed, 0, &inputs, error) ||
        !rows_choose(p, seed, INFINITY, &rows, error) ||
        !oracle_create(p, 1 / sqrt(p->d), &inputs, &rows, &truth, error))
        return false; /* the program ends here, and its memory with it */
    write_elements(p->type, inputs.Q, problem_q_elements(p));
    write_elements(p->type, inputs.K, problem_kv_elements(p));
    write_elements(p->type, inputs.V, problem_kv_elements(p));
    fwrite(truth.O, sizeof *truth.O, problem_q_elements(p), stdout);
    fwrite(truth.LSE, sizeof *truth.LSE, problem_rows(p), stdout);
    oracle_free(&truth);
    rows_free(&rows);
    inputs_free(&inputs);
    return true;
}

/* Takes D=... out of the arguments, because options.h allows only what a stage can do. */
static int take_d(int *count, char *arguments[]) {
    int kept = 0, d = 128;
    for (int i = 0; i < *count; i++)
        if (strncmp(arguments[i], "D=", 2) == 0)
            d = atoi(arguments[i] + 2);
        else
            arguments[kept++] = arguments[i];
    *count = kept;
    return d;
}

int main(int count, char *arguments[]) {
    int left = count - 1;
    const int d = take_d(&left, arguments + 1);
    Options options;
    Problem problem;
    Error error;
    if (d < 1 || d > 1024) {
        fprintf(stderr, "oracle_dump: D=%d: allowed are whole numbers from 1 to 1024\n", d);
        return STATUS_USAGE;
    }
    bool done = options_parse(left, arguments + 1, &options, &error) &&
                options_problem(&options, true, &problem, &error);
    problem.d = d;
    done = done && problem_check(&problem, &error) &&
           dump(&problem, options_init(&options), options.strength, options.seed, &error);
    if (done) return STATUS_PASS;
    return error_exit(&error);
}
