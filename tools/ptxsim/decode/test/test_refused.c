/* Instructions that are decoded, and what is almost one of them: with a part of the opcode that it
 * has not, with an operand more or less, with a register of another size. Catches: a modifier or an
 * operand that is passed over in silence, a width that does not matter, a kernel that is refused
 * without its reason. */
#include "test/one_instruction.h"
#include "test/tap.h"

static int mistaken;

static void refused(const char *instruction) {
    char error[600], expected[400];
    snprintf(expected, sizeof expected, "unsupported instruction in kernel k (PTX line 11): %.60s",
             instruction);
    if (decodes(instruction, error, sizeof error)) {
        printf("# decoded: %s\n", instruction);
        mistaken++;
    } else if (strncmp(error, expected, strlen(expected)) != 0) {
        printf("# %s: %s\n", instruction, error);
        mistaken++;
    }
}

/* The opcode with `part` behind it, before its last part; the operands as they are. */
static void put_part(const char *instruction, const char *part, char *out, size_t size) {
    const int opcode = (int)strcspn(instruction, " ");
    int last = opcode;
    while (last > 0 && instruction[last] != '.') last--;
    if (!last) last = opcode;
    snprintf(out, size, "%.*s.%s%s", last, instruction, part, instruction + last);
}

/* The operands up to their last comma that is in no bracket; false if there is none. */
static bool cut_operand(const char *instruction, char *out, size_t size) {
    int depth = 0, last = 0;
    for (int i = 0; instruction[i]; i++) {
        depth += strchr("[{(", instruction[i]) != NULL;
        depth -= strchr("]})", instruction[i]) != NULL;
        if (instruction[i] == ',' && !depth) last = i;
    }
    snprintf(out, size, "%.*s", last, instruction);
    return last > 0;
}

/* "-" before it: its last operand may be left out; "+": there may be another one. */
static void test_instruction(const char *given) {
    const bool may_end = *given == '-', may_go_on = *given == '+';
    const char *instruction = given + (may_end || may_go_on);
    char other[300], error[600];
    const bool decoded = decodes(instruction, error, sizeof error);
    mistaken = 0;
    put_part(instruction, "frob", other, sizeof other);
    refused(other);
    snprintf(other, sizeof other, "%.*s.frob%s", (int)strcspn(instruction, " "), instruction,
             instruction + strcspn(instruction, " "));
    refused(other);
    snprintf(other, sizeof other, "%s%s", instruction, strchr(instruction, ' ') ? ", 0" : " 0");
    if (!may_go_on) refused(other);
    if (cut_operand(instruction, other, sizeof other) && !may_end) refused(other);
    if (!ok(decoded && !mistaken, "%s", instruction)) printf("# %s\n", error);
}

static const char product[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                              "{a, b, c, d}, {a, b, c, d}, {a, b}, {a, b, c, d}";
static const char mixed_types[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 "
                                  "{a, b, c, d}, {a, b, c, d}, {a, b}, {a, b, c, d}";
static const char other_shape[] = "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
                                  "{a, b, c, d}, {a, b, c, d}, {a, b}, {a, b, c, d}";
static const char three_sums[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{a, b, c}, {a, b, c, d}, {a, b}, {a, b, c, d}";

static const char box_load[] = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
                               "complete_tx::bytes [room], [p, {a, b}], [room]";

static const char *const instructions[] = {
    "add.u32 a, b, c",
    "add.cc.u32 a, b, c",
    "addc.u32 a, b, c",
    "sub.s64 p, q, w",
    "mul.lo.u32 a, b, c",
    "mul.wide.u16 a, h, i",
    "mul.hi.s64 p, q, w",
    "mad.lo.s32 a, b, c, d",
    "mad.wide.u32 p, b, c, q",
    "div.u32 a, b, c",
    "rem.s64 p, q, w",
    "min.u32 a, b, c",
    "max.s16 h, i, i",
    "abs.s32 a, b",
    "neg.s64 p, q",
    "and.b32 a, b, c",
    "or.b64 p, q, w",
    "xor.b16 h, i, i",
    "not.b32 a, b",
    "and.pred g, l, g",
    "not.pred g, l",
    "shl.b32 a, b, c",
    "shr.s64 p, q, c",
    "shf.l.wrap.b32 a, b, c, d",
    "lop3.b32 a, b, c, d, 0x1a",
    "prmt.b32 a, b, c, d",
    "bfe.u32 a, b, c, d",
    "bfi.b32 a, b, c, d, e",
    "popc.b32 a, b",
    "clz.b64 a, p",
    "brev.b32 a, b",
    "bfind.u32 a, b",
    "sad.u32 a, b, c, d",
    "add.f32 a, b, c",
    "sub.ftz.f32 a, b, c",
    "mul.rz.f32 a, b, c",
    "fma.rn.ftz.f32 a, b, c, d",
    "add.sat.f32 a, b, c",
    "min.f32 a, b, c",
    "ex2.approx.ftz.f32 a, b",
    "rcp.rn.f32 a, b",
    "sqrt.approx.f32 a, b",
    "div.full.f32 a, b, c",
    "fma.rn.f64 p, q, w, q",
    "testp.finite.f32 g, a",
    "add.f16x2 a, b, c",
    "fma.rn.bf16x2 a, b, c, d",
    "max.NaN.f16 h, i, i",
    "ex2.approx.f16x2 a, b",
    "cvt.rn.f16x2.f32 a, b, c",
    "cvt.f32.f16 a, h",
    "cvt.rn.bf16.f32 h, a",
    "cvt.rzi.s32.f32 a, b",
    "cvt.u64.u32 p, a",
    "setp.lt.u32 g, a, b",
    "setp.le.and.f32 g|l, a, b, g",
    "selp.b32 a, b, c, g",
    "slct.u32.s32 a, b, c, d",
    "set.lt.u32.f32 a, b, c",
    "mov.u32 a, b",
    "mov.b64 p, {a, b}",
    "mov.b32 {h, i}, a",
    "ld.global.u32 a, [p]",
    "ld.shared.v4.u32 {a, b, c, d}, [room]",
    "st.global.v2.u64 [p], {q, w}",
    "st.shared.u8 [room], a",
    "cvta.to.global.u64 p, q",
    "isspacep.shared g, p",
    "atom.global.add.u32 a, [p], b",
    "atom.global.cas.b32 a, [p], b, c",
    "atom.shared.exch.b64 p, [room], q",
    "red.global.max.s32 [p], a",
    "shfl.sync.bfly.b32 a, b, c, d, e",
    "vote.sync.ballot.b32 a, g, b",
    "vote.sync.any.pred g, l, b",
    "match.any.sync.b32 a, b, c",
    "redux.sync.add.u32 a, b, c",
    "elect.sync a|g, b",
    "activemask.b32 a",
    "-bar.sync a, 64",
    "bar.warp.sync a",
    "+mbarrier.try_wait.parity.shared.b64 g, [room], a",
    "+cp.async.ca.shared.global [room], [p], 8",
    "cp.async.commit_group",
    "cp.async.wait_group 1",
    "cp.async.wait_all",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], [p], 16, [room]",
    "cp.async.bulk.global.shared::cta.bulk_group [p], [room], 16",
    box_load,
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [p, {a, b}], [room]",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {a, b, c, d}, p, q, 1, 1, 1, 0, 0",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group.read 1",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a, b, c, d}, [room]",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {a, b}, [room]",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [room], {a}",
    product,
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {a, b}, {a, b, c, d}, {a, b}, {a, b}",
    "wgmma.fence.sync.aligned",
    "wgmma.commit_group.sync.aligned",
    "wgmma.wait_group.sync.aligned 1",
    "griddepcontrol.wait",
};

/* What no instruction is. */
static const char *const wrong[] = {
    "frobnicate.u32 a, b",
    "add.u32 a, b, p",
    "add.u32 p, b, c",
    "add.u64 a, b, c",
    "add.u32 a, b, g",
    "add.u32 1, b, c",
    "add.u32 a, b, {c, d}",
    "add.u32 a, b, [p]",
    "add.u32 a, b, !c",
    "add.u32 a, b, nobody",
    "add.b32 a, b, c",
    "add.rz.f64 p, q, w",
    "add.ftz.f64 p, q, w",
    "ex2.rz.f32 a, b",
    "ex2.approx.f64 p, q",
    "min.rz.f32 a, b, c",
    "min.sat.f32 a, b, c",
    "neg.sat.f32 a, b",
    "sub.rm.f64 p, q, w",
    "testp.odd.f32 g, a",
    "mul.u32 a, b, c",
    "mul.wide.u64 p, q, w",
    "mad.cc.u32 a, b, c, d",
    "madc.u32 a, b, c, d",
    "shl.u32 a, b, c",
    "shl.b32 a, b, p",
    "and.u32 a, b, c",
    "not.f32 a, b",
    "setp.maybe.u32 g, a, b",
    "setp.lt.pred g, g, l",
    "selp.b32 a, b, c, d",
    "selp.pred g, g, l, g",
    "mov.b8 h, i",
    "mov.b64 p, {a, b, c}",
    "mov.b64 p, {h, i}",
    "ld.global.pred g, [p]",
    "ld.global.v4.u64 {p, q, w, p}, [p]",
    "ld.global.v2.u32 {a, b, c}, [p]",
    "ld.global.u32 a, p",
    "ld.global.u32 a, [h]",
    "ld.global.u32 [p], a",
    "ld.global.v3.u32 {a, b, c}, [p]",
    "st.global.u32 a, [p]",
    "atom.global.frob.u32 a, [p], b",
    "shfl.sync.left.b32 a, b, c, d, e",
    "shfl.sync.bfly.b64 p, q, c, d, e",
    "vote.sync.some.pred g, l, b",
    "redux.sync.and.f32 a, b, c",
    "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {a, b, c}, [room]",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a, b}, [room]",
    mixed_types,
    other_shape,
    three_sums,
    "wgmma.mma_async.sync.aligned.m64n8k16.s32.f16.f16 {a, b, c, d}, p, q, 1, 1, 1, 0, 0",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {a, b, c, d}, p, q, 1, 1, 1, 0, 0",
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {a, b}, p, q, 1, 1, 1, 0, 0",
    "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {a, b, c, d}, p, q, 1, 1, 1, 0, 0",
    "cp.async.ca.shared.global [room], [p], 12",
    "cp.async.ca.global.shared [p], [room], 8",
    "bar.sync",
    "bar.sync p",
    "mov.u32 a, %nobody",
    "mov.u64 p, %laneid2",
    "mov.u64 p, %nobody",
    "mov.u16 h, %laneid",
    "mov.u32 a, %gridid",
    "selp.b32 a, b, c, %nobody",
    "selp.b32 a, b, c, %laneid",
    "cvt a, b",
    "cvt.u32 a, b",
    "set a, b, c",
    "slct a, b, c, d",
    "testp g, a",
    "cvt.u32.f32.frob a, b",
    "cvt.f32.f32.f32 a, b",
};

int main(void) {
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        test_instruction(instructions[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mistaken = 0;
        refused(wrong[i]);
        ok(!mistaken, "refused: %s", wrong[i]);
    }
    char error[600];
    ok(!decodes("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 a, b, a, b", error,
                sizeof error) &&
           strstr(error, ": use ldmatrix and mma.sync, as stages 08 and 09"),
       "what there is instead of wmma: %s", error);
    ok(!decodes("mov.u32 a, %envreg2", error, sizeof error) &&
           strstr(error, ": grid.sync() needs a cooperative launch"),
       "what the register is for: %s", error);
    return done_testing();
}
