/* Accesses at the addresses of an earlier one (op->repeats). Catches: one that is taken for a
 * repeated one though its register was written, another piece of code began, or it has another
 * width, space or kind; one that is not, though nothing has changed. */
#include "test/run_ptx.h"
#include "test/tap.h"

/* Which operation the last one but the two exits of `code` repeats, -1: none. The first register,
 * number 0, is p; q and s have other numbers. */
static int repeats(const char *code) {
    char text[1500], error[512] = "";
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k()\n{\n.reg .b64 p, q; .reg .b32 s, a, b, c, d; "
                      ".reg .b16 h; .reg .pred g;\n.shared .align 16 .b8 room[64];\n%s\nret;\n}\n",
             code);
    Module *module = module_load(text, strlen(text), error, sizeof error);
    const Kernel *k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    const int found = k ? k->op[k->ops - 3].repeats : -2;
    if (*error) printf("# %s\n", error);
    module_free(module);
    return found;
}

static void repeat(const char *code, int expected) { is_int(repeats(code), expected, code); }

static void test_repeated(void) {
    repeat("ld.global.u32 a, [p]; ld.global.u32 b, [p];", 0);
    repeat("mov.u32 c, 1; ld.global.u32 a, [p+4]; ld.global.u32 b, [p+8];", 1);
    repeat("ld.global.u32 a, [p]; ld.global.u32 b, [p]; ld.global.u32 c, [p];", 0);
    repeat("ld.global.u32 a, [p]; ld.global.u32 b, [q]; ld.global.u32 c, [p];", 0);
    repeat("ld.global.u32 a, [p]; ld.global.u32 b, [q]; ld.global.u32 c, [q];", 1);
    repeat("st.global.u32 [p], a; st.global.u32 [p+4], b;", 0);
    repeat("st.global.v2.u32 [p], {a, b}; st.global.v2.u32 [p+8], {a, b};", 0);
    repeat("ld.global.v2.u32 {a, b}, [p]; ld.global.v2.u32 {c, d}, [p+8];", 0);
    repeat("ld.shared.u32 a, [s]; ld.shared.u32 b, [s+4];", 0);
    repeat("st.shared.u32 [s], a; st.shared.u32 [s+4], b;", 0);
    repeat("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a}, [s]; "
           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b}, [s+16];",
           0);
    repeat("stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {a}; "
           "stmatrix.sync.aligned.m8n8.x1.shared.b16 [s+16], {b};",
           0);
    repeat("ld.shared.u32 a, [room]; ld.shared.u32 b, [room];", 0);
}

static void test_others(void) {
    repeat("ld.global.u32 a, [p]; ld.global.u32 b, [q];", -1);
    repeat("ld.global.u32 a, [p];", -1);
    repeat("ld.global.u32 a, [p]; ld.global.u16 h, [p];", -1);
    repeat("ld.global.u32 a, [p]; ld.global.v2.u32 {b, c}, [p];", -1);
    repeat("ld.global.u32 a, [p]; ld.u32 b, [p];", -1);
    repeat("ld.global.u32 a, [p]; st.global.u32 [p], a;", -1);
    repeat("ld.shared.u32 a, [s]; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b}, [s];", -1);
    repeat("atom.global.add.u32 a, [p], 1; atom.global.add.u32 b, [p], 1;", -1);
    repeat("ld.local.u32 a, [p]; ld.local.u32 b, [p];", -1);
}

/* The register was written in between: what comes next is the first one at the new place. */
static void test_written(void) {
    repeat("ld.global.u32 a, [p]; mov.u64 p, q; ld.global.u32 b, [p];", -1);
    repeat("ld.global.u32 a, [q]; mov.u64 q, p; ld.global.u32 b, [q];", -1);
    repeat("ld.global.u64 p, [p]; ld.global.u64 q, [p];", -1);
    repeat("ld.global.u32 a, [q]; mov.b64 {a, b}, p; ld.global.u32 b, [q];", 0);
    repeat("ld.shared.u32 a, [s]; mov.b64 {a, s}, p; ld.shared.u32 b, [s];", -1);
    repeat("ld.shared.u32 a, [s]; mov.b64 {s, a}, p; ld.shared.u32 b, [s];", -1);
    repeat("ld.global.u32 a, [p]; mov.u64 p, q; ld.global.u32 b, [p]; ld.global.u32 c, [p];", 2);
    repeat("ld.global.u32 a, [p]; ld.global.u16 h, [p]; ld.global.u16 h, [p+2];", 1);
    repeat("ld.global.u32 a, [p]; ld.global.u16 h, [p]; ld.global.u32 b, [p];", -1);
}

/* What is not executed by the same lanes in one go. */
static void test_pieces(void) {
    repeat("ld.global.u32 a, [p]; bar.sync 0; ld.global.u32 b, [p];", -1);
    repeat("ld.global.u32 a, [p]; bar.sync 0; ld.global.u32 b, [p]; ld.global.u32 c, [p];", 2);
    repeat("ld.global.u32 a, [p]; @g mov.u32 c, 1; ld.global.u32 b, [p];", -1);
    repeat("@g ld.global.u32 a, [p]; ld.global.u32 b, [p];", -1);
    repeat("ld.global.u32 a, [p]; @g ld.global.u32 b, [p];", -1);
    repeat("@g bra MEET; ld.global.u32 a, [p]; MEET: ld.global.u32 b, [p];", -1);
    repeat("@g bra MEET; mov.u32 c, 1; MEET: ld.global.u32 a, [p]; ld.global.u32 b, [p];", 2);
}

int main(void) {
    test_repeated();
    test_others();
    test_written();
    test_pieces();
    return done_testing();
}
