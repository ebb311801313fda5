/* SIM_FMA=fused: additions take in the multiplications before them, as ptxas makes them do.
 *
 * PTX ISA, add, sub and mul of "Floating Point Instructions": those of .f32 without a rounding
 * modifier round to nearest, but an optimizer may make one fma of a product and a sum; those with
 * .rn it must leave alone. So a program is right only if it is right either way: c * m - cm with
 * cm = c * m is 0 if the product is rounded, and is what the rounding took away if it is not.
 *
 * ptxas 13.0 fuses a product if nothing but additions uses it. The PTX ISA asks for no such thing,
 * and here every product in the same basic block is fused, those whose operands have changed
 * meanwhile excepted. The multiplication stays: others may use its result, and counters do not
 * change. */
#include <stdlib.h>
#include <string.h>

#include "decode/cfg.h"

/* Of fp32, and no modifiers but .ftz and .sat. */
static bool is_plain(const Op *op, const char *name) {
    const Instruction *in = op->source;
    return in->parts == 2 + op->flush + op->saturate && text_is(in->part[0], name) &&
           text_is(in->part[in->parts - 1], "f32");
}

static bool defines(const Op *op, int32_t value) {
    for (int i = 0; i < op->definitions; i++)
        if (op->r[i] == value) return true;
    return false;
}

/* The last of the operations first .. end - 1 that writes the value; NULL: none does. */
static const Op *last_definition(const Op *first, const Op *end, int32_t value) {
    while (end > first)
        if (defines(--end, value)) return end;
    return NULL;
}

/* The multiplication whose result `sum` finds in the value; NULL: none that can be fused. With a
 * guard it leaves something else in some lanes. It may itself overwrite one of its sources. */
static const Op *find_product(const Op *first, const Op *sum, int32_t value) {
    const Op *product = last_definition(first, sum, value);
    if (!product || !is_plain(product, "mul") || product->guard >= 0) return NULL;
    if (product->flush != sum->flush || product->saturate) return NULL;
    for (int source = 1; source <= 2; source++)
        if (last_definition(product, sum, product->r[source])) return NULL;
    return product;
}

/* The addition or subtraction becomes that of source `which`, now a product, and the other one. */
static void fuse(Op *sum, const Op *product, int which) {
    const bool subtracts = op_is(sum, "sub");
    const int32_t other = sum->r[3 - which];
    sum->r[1] = product->r[1];
    sum->r[2] = product->r[2];
    sum->r[3] = other;
    sum->run = run_fused;
    sum->operands = 4;
    sum->negated = subtracts && which == 2;
    sum->second_negated = subtracts && which == 1;
}

void fuse_products(const Graph *graph, Kernel *kernel) {
    const char *set = getenv("SIM_FMA");
    if (!set || strcmp(set, "fused") != 0) return;
    for (int i = 0; i < kernel->ops; i++) {
        Op *sum = &kernel->op[i];
        const Op *first = &kernel->op[graph->block[graph->block_of[i]].first];
        if (!is_plain(sum, "add") && !is_plain(sum, "sub")) continue;
        const Op *left = find_product(first, sum, sum->r[1]);
        const Op *right = find_product(first, sum, sum->r[2]);
        /* Of two products the first is fused and the second rounded, as ptxas does. */
        if (left || right) fuse(sum, left ? left : right, left ? 1 : 2);
    }
}
