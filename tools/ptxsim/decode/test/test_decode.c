/* Kernels as they are decoded, whole: what each operation reads and writes, where lanes meet, what
 * runs in one go, where values and variables have their places. WRITE=1 writes the expected texts
 * in corpus/decode anew. Catches: a branch that meets elsewhere, two values that are alive in one
 * place, a variable that lies on another, an access that is taken for a repeated one. */
#include "decode/cfg.h"
#include "test/stub.h"
#include "test/run_ptx.h"

#define FOLDER "tools/ptxsim/test/corpus/"

static void put_operation(const Kernel *k, const Op *op, FILE *out) {
    char place[100];
    op_place(k, op, place, sizeof place);
    fprintf(out, "%3d %.*s\n    %s, %s%sstraight %d, repeats %d", op->index,
            op->source->text.length > 60 ? 60 : op->source->text.length, op->source->text.at, place,
            op->joins ? "joins, " : "", op->guard_negated ? "negated, " : "", op->straight,
            op->repeats);
    if (op->target >= 0 || op->reconverge >= 0)
        fprintf(out, ", to %d, meets at %d", op->target, op->reconverge);
    for (int t = 0; op->table && t < op->table->targets; t++)
        fprintf(out, "%s%d", t ? "," : ", to ", op->table->target[t]);
    fprintf(out, "\n    guard %d, %d of %d:", op->guard, op->definitions, op->operands);
    for (int i = 0; i < op->operands; i++) fprintf(out, " %d", op->r[i]);
    fprintf(out, "\n    class %d, space %d, %d x %d of %d from %d, address %d at %d and %d",
            op->class, op->space, op->elements, op->bytes, op->width, op->source_width,
            op->address_width, op->offset, op->second_offset);
    fprintf(out, ", mode %d, combination %d, number %d, rounding %d, flags", op->mode,
            op->combination, op->number, op->rounding);
    const bool flags[] = {op->is_signed, op->flush,   op->saturate,       op->relu,
                          op->bf16,      op->negated, op->second_negated, op->updates};
    for (size_t i = 0; i < sizeof flags; i++) fputc(flags[i] ? '1' : '0', out);
    fputc('\n', out);
}

static void put_value(const Value *v, int number, FILE *out) {
    static const char *const kinds[] = {"register", "constant", "special"};
    fprintf(out, "value %d: %s of %u at %d%s", number, kinds[v->kind], v->bytes, v->offset,
            v->pinned ? ", pinned" : "");
    if (v->kind == VALUE_CONSTANT) fprintf(out, ", 0x%llx", (unsigned long long)v->bits);
    if (v->kind == VALUE_SPECIAL) fprintf(out, ", %d", v->special);
    fputc('\n', out);
}

static void put_variables(const Kernel *k, FILE *out) {
    for (int i = 0; i < k->function->parameters; i++) {
        const Variable *v = k->function->parameter[i];
        fprintf(out, "parameter %.*s at %llu\n", v->name.length, v->name.at,
                (unsigned long long)(v->address - (uintptr_t)k->parameter));
    }
    fprintf(out,
            "parameters %u, shared %u, dynamic from %u, local %u, registers %u, granule %u%s\n",
            k->parameter_bytes, k->static_shared, k->dynamic_offset, k->local_bytes,
            k->register_bytes, k->race_granule, k->in_order ? ", in order" : "");
}

/* Addresses of global variables are others in each run. */
static bool is_address(const Value *v) {
    return v->kind == VALUE_CONSTANT && v->bytes == 8 && v->bits >> 32 && v->bits >> 62 == 0;
}

static void put_kernel(const Kernel *k, FILE *out) {
    fprintf(out, "\nkernel %s\n", k->name);
    put_variables(k, out);
    for (int i = 0; i < k->ops; i++) put_operation(k, &k->op[i], out);
    for (int i = 0; i < k->values; i++)
        if (!is_address(&k->value[i])) put_value(&k->value[i], i, out);
}

/* All kernels of a file of the corpus. */
static void decode_file(const char *path, FILE *out) {
    char name[200], error[512] = "";
    snprintf(name, sizeof name, FOLDER "%s", path);
    char *text = file_text(fopen(name, "r"));
    Module *module = module_load(text, strlen(text), error, sizeof error);
    int kernels = 0;
    for (int i = 0; module && i < module->ptx->functions; i++) {
        const PtxFunction *f = &module->ptx->function[i];
        if (!f->is_kernel || !f->has_body) continue;
        snprintf(name, sizeof name, "%.*s", f->name.length, f->name.at);
        Kernel *kernel = module_kernel(module, name, error, sizeof error);
        if (kernel) put_kernel(kernel, out);
        kernels += kernel != NULL;
    }
    if (!ok(module && kernels == module->kernels && !*error, "%s", path)) printf("# %s\n", error);
    module_free(module);
    free(text);
}

static void test_file(const char *path, const char *expected) {
    char *text = NULL, name[200];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    snprintf(name, sizeof name, FOLDER "decode/%s", expected);
    decode_file(path, out);
    fclose(out);
    is_file(text, name);
    free(text);
}

/* Blocks that see each other's writes run one after another; what the search for races looks at is
 * as narrow as the narrowest access. */
static void test_kind(const char *code, bool in_order, unsigned granule) {
    char text[1000], error[512] = "";
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p; .reg .b32 v, w; "
                      ".shared .align 8 .b8 room[8]; ld.param.u64 p, [data];\n%s;\nret;\n}\n",
             code);
    Module *module = module_load(text, strlen(text), error, sizeof error);
    const Kernel *k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    if (!ok(k && k->in_order == in_order && k->race_granule == granule, "%s", code))
        printf("# %s\n", error);
    module_free(module);
}

static void test_kinds(void) {
    static const char *const strong[] = {"volatile", "relaxed.gpu", "acquire.sys", "release.cta",
                                         "mmio.relaxed.sys"};
    static const char *const hints[] = {
        "nc",     "ca",   "cg",  "cs",  "lu",  "cv",       "wb",
        "wt",     "weak", "cta", "gpu", "sys", "L2::128B", "L1::evict_last",
        "cluster"};
    char code[100];
    for (int i = 0; i < 5; i++) {
        snprintf(code, sizeof code, "ld.%s.global.u32 v, [p]", strong[i]);
        test_kind(code, true, 4);
        snprintf(code, sizeof code, "st.%s.u32 [p], v", strong[i]);
        test_kind(code, true, 4);
        snprintf(code, sizeof code, "ld.%s.shared.u32 v, [room]", strong[i]);
        test_kind(code, false, 4);
    }
    for (int i = 0; i < 15; i++) {
        snprintf(code, sizeof code, "ld.global.%s.u32 v, [p]", hints[i]);
        test_kind(code, false, 4);
    }
    test_kind("atom.global.add.u32 v, [p], 1", true, 4);
    test_kind("red.add.u32 [p], 1", true, 4);
    test_kind("atom.shared.add.u32 v, [room], 1", false, 4);
    test_kind("st.shared.u8 [room], v", false, 1);
    test_kind("st.shared.u8 [room], v; ld.shared.u16 v, [room]", false, 1);
    test_kind("ld.shared.u16 v, [room]", false, 2);
    test_kind("ld.u16 v, [p]", false, 2);
    test_kind("ld.global.u8 v, [p]", false, 4);
    test_kind("ld.shared.u64 p, [room]", false, 4);
    test_kind("st.shared.u8 [room], v; cp.async.ca.shared.global [room], [p], 8", false, 1);
    test_kind("st.shared.u16 [room], v; atom.shared.add.u32 v, [room], 1", false, 2);
}

/* What a thread has of its own does not grow by what is shared, nor by constants and parameters. */
static void test_local(void) {
    static const char text[] =
        PTX_HEAD ".extern .shared .align 128 .b8 dynamic[];\n.global .align 64 .b8 all[64];\n"
                 ".visible .entry k(.param .align 32 .b8 given[96])\n{\n.reg .b32 a; .reg .b64 p;\n"
                 ".local .align 4 .b8 own[4]; .shared .align 64 .b8 room[32];\n"
                 "st.local.u32 [own], a; st.shared.u32 [dynamic], a; st.shared.u32 [room], a;\n"
                 "mov.u64 p, all; ld.param.u32 a, [given]; ret;\n}\n";
    char error[512] = "";
    Module *module = module_load(text, strlen(text), error, sizeof error);
    const Kernel *k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    ok(k && k->local_bytes == 16 && k->static_shared == 32 && k->dynamic_offset == 128 &&
           k->parameter_bytes == 96,
       "memory of each kind %s", error);
    module_free(module);
}

int main(void) {
    test_local();
    test_kinds();
    test_file("decode/flow.ptx", "flow.txt");
    test_file("report/sample.ptx", "sample.txt");
    test_file("ptx/call.ptx", "call.txt");
    test_file("ptx/inline_asm.ptx", "inline_asm.txt");
    setenv("SIM_FMA", "fused", 1);
    test_file("decode/flow.ptx", "fused.txt");
    return done_testing();
}
