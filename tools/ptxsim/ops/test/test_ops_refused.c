/* What is almost an instruction, by families of opcodes: a type that it has not, a form that lacks
 * a part, an operand of another size. decode/test/test_refused.c asks of each instruction what all
 * have in common. Catches: a condition of a decoder that lets something through, which would then
 * be executed as something else; a form that is right and is refused. */
#include "test/one_instruction.h"
#include "test/tap.h"

static const char *const right[] = {
    "atom.global.exch.b32 a, [p], b",
    "atom.shared::cta.cas.b16 h, [room], h, i",
    "bar.arrive 1, 64",
    "barrier.arrive 1, 64",
    "bar.red.or.pred g, 0, 64, l",
    "mbarrier.arrive.shared.b64 _, [room]",
    "mbarrier.arrive.shared.b64 [room]",
    "mbarrier.arrive_drop.release.cta.shared::cta.b64 p, [room], 1",
    "mbarrier.test_wait.shared.b64 g, [room], p",
    "mbarrier.try_wait.parity.shared.b64 g, [room], a, b",
    "membar.gl",
    "setmaxnreg.dec.sync.aligned.u32 24",
    "createpolicy.fractional.L2::evict_last.b64 p, 0f3F800000",
    "cp.async.ca.shared.global.L2::128B [room], [p], 4, a",
    "cp.async.cg.shared.global.L2::cache_hint [room], [p], 16, a, q",
    "cp.async.cg.shared.global.L2::cache_hint [room], [p], 16, g, q",
    "setp.eq.f16x2 g|l, a, b",
    "set.eq.u32.f16x2 a, b, c",
    "slct.b64.f32 p, q, w, a",
    "cvt.rz.bf16x2.f32 a, b, c",
    "cvt.rna.tf32.f32 a, b",
    "mov.b64 {h, i, h, i}, p",
    "ld.global.L1::no_allocate.v2.b64 {p, q}, [w]",
    "ld.param.b32 a, [block+12]",
    "ld.param.v4.b32 {a, b, c, d}, [block]",
    "vote.sync.ballot.b32 a, !g, b",
    "match.all.sync.b64 a|g, p, b",
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {a, b}, p, q, g, -1, 1, 1, 0",
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {a, b}, {z0, z1, z2, z3}, q, g, -1, 1, 1",
    "discard.global.L2 [p], 128",
};

static const char *const atomics[] = {
    "atom.global.min.f32 a, [p], b",
    "atom.global.and.f16x2 a, [p], b",
    "atom.global.inc.bf16 h, [p], i",
    "atom.global.cas.f32 a, [p], b, c",
    "red.global.max.f64 [p], q",
    "atom.global.add.u8 h, [p], i",
    "atom.global.add.pred g, [p], l",
    "atom.global.exch.b128 x, [p], x",
    "atom.global.cas.b32 a, [p], b",
    "atom.global.add.u32 a, [p], b, c",
    "atom.global.shared.add.u32 a, [p], b",
    "atom.global.add.u32 [p], b",
    "red.global.add.u32 a, [p], b",
    "atom.global.add.u32 a, [p], q",
    "atom.global.add.u32 q, [p], b",
    "atom.global.u32 a, [p], b",
    "atom.global.add.frob a, [p], b",
    "add.global.add.u32 a, [p], b",
};

static const char *const barriers[] = {
    "bar.red.popc.pred g, 0, l",
    "bar.red.and.u32 a, 0, l",
    "bar.red.xor.pred g, 0, l",
    "bar.red.popc.u32 a, 0, 64, 32, g",
    "bar.red.popc.u32 a, p, g",
    "bar.red.popc.u32 a, 0, p, g",
    "bar a",
    "barrier.cta.aligned a",
    "bar.sync.arrive a, 64",
    "bar.sync a, b, c",
    "bar.sync a, p",
    "bar.sync !g",
    "barriers.sync a",
    "mbarrier.frob.shared.b64 [room], a",
    "mbarrier.init.expect_tx.shared.b64 [room], 1",
    "mbarrier.inval.expect_tx.shared.b64 [room]",
    "mbarrier.init.shared.b64 p, [room], 1",
    "mbarrier.expect_tx.shared.b64 p, [room], 1",
    "mbarrier.inval.shared.b64 p, [room]",
    "mbarrier.arrive.shared.b64 a, [room]",
    "mbarrier.arrive.shared.b64 p, [room], 1, 2",
    "mbarrier.arrive.shared.b64 p, [room], q",
    "mbarrier.arrive.shared.b64 p, room",
    "mbarrier.arrive.test_wait.shared.b64 p, [room]",
    "mbarrier.wait.parity.shared.b64 g, [room], a",
    "mbarrier.test_wait.parity.shared.b64 g, [room], p",
    "mbarrier.test_wait.shared.b64 g, [room], a",
    "mbarrier.test_wait.parity.shared.b64 a, [room], b",
    "mbarrier.try_wait.parity.shared.b64 g, [room], a, p",
    "mbarrier.try_wait.parity.shared.b64 g, [room], a, b, c",
    "mbarrier.try_wait.test_wait.parity.shared.b64 g, [room], a",
};

static const char *const control[] = {
    "ret.frob",
    "exit 1",
    "trap 1",
    "membar.gl 1",
    "griddepcontrol",
    "griddepcontrol.frob",
    "griddepcontrol.wait 1",
    "griddepcontrol.wait.launch_dependents",
    "setmaxnreg.inc.sync.aligned.u32 a",
    "setmaxnreg.inc.sync.aligned.u32 20",
    "setmaxnreg.inc.sync.aligned.u32 100",
    "setmaxnreg.inc.sync.aligned.u32 264",
    "setmaxnreg.inc.sync.aligned.u32 40, 40",
    "createpolicy.fractional.L2::evict_last.b64 a, 0f3F800000",
    "createpolicy.fractional.L2::evict_last.b64",
};

static const char *const copies[] = {
    "cp.async.cg.shared.global [room], [p], 0",
    "cp.async.cg.shared.global [room], [p], 2",
    "cp.async.cg.shared.global [room], [p], 32",
    "cp.async.cg.shared.global [room], [p], 260",
    "cp.async.cg.shared.global [room], [p], a",
    "cp.async.cg.shared.global [room], [p]",
    "cp.async.cg.shared.global [room], [a], 16",
    "cp.async.cg.shared.global room, [p], 16",
    "cp.async.cg.shared.global [room], [p], 16, q",
    "cp.async.cg.shared.global [room], [p], 16, a, q",
    "cp.async.cg.shared.global [room], [p], 16, a, g",
    "cp.async.cg.shared.global.L2::cache_hint [room], [p], 16",
    "cp.async.cg.shared.global.L2::cache_hint [room], [p], 16, a, b",
    "cp.async.cg.shared.global.L2:: [room], [p], 16",
    "cp.async.cg.shared.global.M2::128B [room], [p], 16",
    "cp.async.cg.shared.global.L21:128B [room], [p], 16",
    "cp.async.shared.global [room], [p], 16",
    "cp.async.cg.shared [room], [p], 16",
    "cp.async.cg.global [room], [p], 16",
    "cp.cg.shared.global [room], [p], 16",
    "cp.async.wait_group a",
    "cp.async.wait_group",
    "cp.async.commit_group 1",
    "cp.async.wait_all 0",
    "cp.async.mbarrier.noinc.b64 [room]",
    "cp.async.arrive.noinc.b64 [room]",
    "cp.async.mbarrier.arrive.noinc.b32 [room]",
    "cp.async.mbarrier.arrive.noinc.shared.global.b64 [room]",
};

#define LOAD "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
#define BOX "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
static const char *const bulk_copies[] = {
    LOAD "[room], [p], 16",
    LOAD "[room], [p], [room]",
    LOAD "[room], [p], q, [room]",
    LOAD "[room], [a], 16, [room]",
    LOAD "[room], [p], 16, room",
    LOAD "[p], [q], 16, [room]",
    LOAD "[room], [q], 16, [p]",
    LOAD "[room], [q], 16, [room], p",
    "cp.async.bulk.shared::cluster.mbarrier::complete_tx::bytes [room], [p], 16, [room]",
    "cp.async.bulk.global.mbarrier::complete_tx::bytes [room], [p], 16, [room]",
    "cp.async.bulk.shared::cluster.global [room], [p], 16, [room]",
    "cp.async.bulk.global.shared::cta [p], [room], 16",
    "cp.async.bulk.global.shared::cta.bulk_group [p], [room]",
    "cp.async.bulk.global.shared::cta.bulk_group [a], [room], 16",
    "cp.async.bulk.global.shared::cta.bulk_group [p], room, 16",
    "cp.async.bulk.global.shared::cta.bulk_group [p], [room], 16, q",
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [p], [room], 16",
    BOX "[room], [p, {a}], [room]",
    BOX "[room], [p, {a, b, c}], [room]",
    BOX "[room], [p, {a, q}], [room]",
    BOX "[room], [p], [room]",
    BOX "[room], [p, {a, b}]",
    BOX "[room], [a, {a, b}], [room]",
    BOX "[room], [p, {a, b}], [room], 16",
    "cp.async.bulk.tensor.6d.shared::cluster.global.mbarrier::complete_tx::bytes [room], "
    "[p, {a, b, a, b, a, b}], [room]",
    "cp.async.bulk.tensor.shared::cluster.global.mbarrier::complete_tx::bytes [room], [p, {a, b}], "
    "[room]",
    "cp.async.bulk.2d.shared::cluster.global.mbarrier::complete_tx::bytes [room], [p, {a, b}], "
    "[room]",
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [p, {a}], [room]",
    "cp.async.bulk.wait_group a",
    "cp.async.bulk.wait_group.write 0",
    "cp.async.bulk.commit_group 1",
    "cp.bulk.commit_group",
};

static const char *const comparisons[] = {
    "setp.eq.f16x2 g, a, b",
    "setp.eq.and.f16x2 g|l, a, b, g",
    "setp.eq.b8 g, h, i",
    "setp.eq.b128 g, x, x",
    "setp.eq.u32 g|l, a",
    "setp.eq.u32 a, b, c",
    "setp.eq.u32 g, a, p",
    "setp.eq.u32 g, a, b, l",
    "setp.eq.and.u32 g, a, b",
    "setp.eq.and.u32 g, a, b, c",
    "setp.eq.nand.u32 g, a, b, l",
    "setp.u32 g, a, b",
    "set.eq.and.f16x2.f16x2 a, b, c, g",
    "set.eq.f16.f16x2 h, a, b",
    "set.eq.u32.pred a, g, l",
    "set.eq.u32 a, b, c",
    "set.eq.frob.u32 a, b, c",
    "selp.b8 h, h, i, g",
    "selp.b128 x, x, x, g",
    "selp.b32 a, b, c",
    "selp.frob a, b, c, g",
    "selp.ne.b32 a, b, c, g",
    "slct.b16.s32 h, h, i, a",
    "slct.b128.s32 x, x, x, a",
    "slct.b32.s64 a, b, c, p",
    "slct.b32.f64 a, b, c, p",
    "slct.b32.s16 a, b, c, h",
    "slct.b32.s64 a, b, c, d",
    "slct.b32.f16 a, b, c, d",
    "slct.b32 a, b, c, d",
    "slct.b64.s32 p, q, w, q",
    "and.b32 g, g, l",
    "and.pred a, g, l",
    "and.pred g, g",
    "not.pred g, g, l",
    "cnot.pred g, l",
    "mov.pred a, g",
    "mov.pred g",
};

static const char *const numbers[] = {
    "add.cc.f32 a, b, c",        "add.cc.b32 a, b, c",       "add.cc.u16 h, h, i",
    "add.cc.s8 h, h, i",         "addc.b64 p, q, w",         "subc.f64 p, q, w",
    "mad.cc.u32 a, b, c, d",     "madc.u32 a, b, c, d",      "mad.wide.cc.u32 a, b, c, d",
    "sub.cc.u32 a, b",           "add.cc.lo.u32 a, b, c",    "mul.cc.u32 a, b, c",
    "lop3.b32 a, b, c, d, 1.0",  "add.u16 h, h, 1.0",        "mov.b16 h, 1.0",
    "lop3.b32 a, b, c, d, e",    "lop3.b64 p, q, w, p, 1",   "lop3.b32 a, b, c, d",
    "prmt.b32.frob a, b, c, d",  "prmt.b64.f4e p, q, w, a",  "prmt.b32.f4e.b4e a, b, c, d",
    "popc.shiftamt.b32 a, b",    "bfind.shiftamt.b32 a, b",  "dp4a.u32 a, b, c, d",
    "dp4a.u32.frob a, b, c, d",  "dp2a.u32.u32 a, b, c, d",  "cvt.rm.f16x2.f32 a, b, c",
    "cvt.rp.bf16x2.f32 a, b, c", "cvt.rn.f16x2.f32 a, b",    "cvt.rn.f16x2.f64 a, p, q",
    "cvt.rn.tf32.f64 a, p",      "cvt.rn.tf32.f32 p, a",     "cvt.s32 a, b",
    "cvt.frob.s32 a, b",         "cvt.rzi.rni.s32.f32 a, b", "convert.s32.s32 a, b",
    "testp.finite.f64 g, p",     "add.rz.f16 h, h, i",       "sin.approx.f16 h, i",
    "fma.rn.f16 h, h, i",        "add.f16 h, h, i, h",       "neg.f16 h, h, i",
    "add.f16x2 h, h, i",         "max.rz.bf16 h, h, i",      "ex2.approx.f32.f32 a, b",
    "copysign.rz.f32 a, b, c",
};

static const char *const moves[] = {
    "mov.b64 {a, b}, {c, d}",
    "mov.b64 a, b",
    "mov.b64 {a, b, c}, p",
    "mov.b64 p, {a, b, c}",
    "mov.b64 {a}, p",
    "mov.b32 {h, i, h, i}, a",
    "mov.b32 a, {h, i, h, i}",
    "mov.b16 {h, i}, h",
    "mov.b128 {a, b}, x",
    "mov.u64 p, %clock",
    "mov.u32 a, %clock64",
    "mov.u32 a, %globaltimer",
    "mov.u32 a, b, c",
    "mov.u32 a",
    "mov.b8 h, i",
    "move.u32 a, b",
    "ld.global.u32 a, [p], b",
    "ld.global.L2::cache_hint.u32 a, [p]",
    "ld.global.L2::cache_hint.u32 a, [p], b",
    "ld.shared.L2::cache_hint.u32 a, [room], p",
    "st.global.L2::cache_hint.u32 [p], a",
    "ld.global.u32 a",
    "ld.global.v8.u32 {a, b, c, d, a, b, c, d}, [p]",
    "ld.global.v2.b128 {x, x}, [p]",
    "ld.global.v4.b64 {p, q, w, p}, [p]",
    "ld.global.u64 a, [p]",
    "ld.global.u32 h, [p]",
    "ld.global.s64 a, [p]",
    "ld.global.b128 p, [p]",
    "ld.global.shared.u32 a, [p]",
    "ld.global.L1::.u32 a, [p]",
    "ld.global.M1::no_allocate.u32 a, [p]",
    "ld.global.L12:no_allocate.u32 a, [p]",
    "ld.global.frob.u32 a, [p]",
    "ldd.global.u32 a, [p]",
    "st.global.u32 [p], [q]",
    "st.global.v2.u32 [p], a",
    "st.global.u32 [p], q, a",
    "st.param.u64 [data], p",
    "ld.param.pred g, [data]",
    "st.global.pred [p], g",
    "ld.param.b128 x, [block]",
    "ld.param.b128 x, [data]",
    "isspacep.shared g, a",
    "isspacep.shared a, p",
    "cvta.shared.u32 a, b",
    "cvta.to.shared.u64 a, p",
    "cvta.shared.u64 p, q, w",
    "cvtb.shared.u64 p, q",
};

static const char *const warps[] = {
    "shfl.bfly.b32 a, b, c, d, e",
    "shfl.sync.b32 a, b, c, d, e",
    "shfl.sync.bfly.u32 a, b, c, d, e",
    "shfl.sync.bfly.b32 a, b, c, d",
    "shfl.sync.bfly.b32 a|b, b, c, d, e",
    "shfl.sync.bfly.up.b32 a, b, c, d, e",
    "vote.ballot.b32 a, g, b",
    "vote.sync.ballot.pred g, l, a",
    "vote.sync.any.b32 a, g, b",
    "vote.sync.all.b32 a, g, b",
    "vote.sync.pred g, l, a",
    "vote.sync.any.pred g, l",
    "match.any.b32 a, b, c",
    "match.sync.b32 a, b, c",
    "match.any.sync.b16 a, h, c",
    "match.any.sync.b64 a, b, c",
    "match.any.sync.b32 a, p, c",
    "match.any.all.sync.b32 a, b, c",
    "redux.add.u32 a, b, c",
    "redux.sync.add.u64 p, q, a",
    "redux.sync.add.f32 a, b, c",
    "redux.sync.u32 a, b, c",
    "redux.sync.add.frob a, b, c",
    "redux.sync.add.u16 h, i, c",
    "elect a|g, b",
    "elect.sync a, b",
    "activemask.b64 p",
    "activemask a",
    "bar.warp a",
    "bar.warp.sync",
    "bar.warp.sync p",
};

#define PRODUCT "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
#define WGMMA(shape, types) "wgmma.mma_async.sync.aligned." shape "." types " "
#define SUMS4 "{a, b, c, d}, "
static const char *const matrices[] = {
    "ldmatrix.sync.aligned.m8n8.shared.b16 {a}, [room]",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b8 {a}, [room]",
    "ldmatrix.sync.aligned.m16n16.x1.shared.b16 {a}, [room]",
    "ldmatrix.aligned.m8n8.x1.shared.b16 {a}, [room]",
    "ldmatrix.sync.m8n8.x1.shared.b16 {a}, [room]",
    "ldmatrix.sync.aligned.m8n8.x1.global.b16 {a}, [p]",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 [room], {a}",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {p}, [room]",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 {a}, [room]",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [room], {a}",
    "mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.aligned.m16n8k8.col.col.f32.f16.f16.f32 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.m16n8k8.row.col.f32.f16.f16.f32 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.aligned.m16n8k8.row.col.f32.f16.f16.f32 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.aligned.row.col.f32.f16.f16.f32 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.aligned.row.col.f32.f16.f16.f32 {a, b, c, d}, {}, {}, {a, b, c, d}",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.tf32.f32 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.f16.f32 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.aligned.m16n8k8.row.col.f16.bf16.bf16.f16 {a, b}, {a, b}, {a}, {a, b}",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32 {a, b}, {a, b}, {a}, {a, b, c, d}",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {a, b, c, d}, {a, b}, {a}, {a, b}",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32 {a, b}, {a, b}, {a}, {a, b}",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {a, b, c, d}, {a, b}, {a}, {a, b, c, d}",
    PRODUCT "{a, b, c, d}, {a, b, c, d}, {a, b}, {a, b, c, d}",
    PRODUCT "{a, b, c, d}, {a, b}, {a}, {a, b}",
    PRODUCT "{a, b, c, d}, {a, b}, {a, b}, {a, b, c, d}",
    PRODUCT "{a, b}, {a, b}, {a}, {a, b, c, d}",
    WGMMA("m64n0k16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n4k16", "f32.f16.f16") "{a, b}, p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n264k16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k8", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m32n8k16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n$k16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n:k16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64nk16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n0008k16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f16.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") "{a, b}, p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.tf32.tf32") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "bf16.bf16.bf16") "{a, b}, p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "p, q, !g, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "p, q, a, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "p, q, 1, 1, 1, 0, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "p, q, 1, a, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "a, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "p, a, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "{z0, z1, z2, z3}, q, 1, 1, 1, 0, 0",
    WGMMA("m64n8k16", "f32.f16.f16") SUMS4 "{z0, z1}, q, 1, 1, 1, 0",
    "wgmma.mma_async.aligned.m64n8k16.f32.f16.f16 {a, b, c, d}, p, q, 1, 1, 1, 0, 0",
    "wgmma.fence.aligned",
    "wgmma.fence.sync",
    "wgmma.sync.aligned",
    "wgmma.commit_group.sync.aligned 0",
    "wgmma.wait_group.sync.aligned",
    "wgmma.wait_group.sync.aligned a",
    "wgmma.wait_group.sync.aligned 0, 1",
};

static void refused(const char *const list[], size_t count) {
    for (size_t i = 0; i < count; i++) {
        char error[600];
        const bool is = decodes(list[i], error, sizeof error);
        if (!ok(!is && strncmp(error, "unsupported instruction in kernel k (PTX line 11", 47) == 0,
                "refused: %s", list[i]))
            printf("# %s\n", error);
    }
}
#define REFUSED(list) refused((list), sizeof(list) / sizeof *(list))

/* Why, where the reason is known. */
static void test_reasons(void) {
    static const char *const beyond[] = {"ld.param.u64 p, [data+1]", "ld.param.b32 a, [block+13]",
                                         "ld.param.v2.b64 {p, q}, [block+8]",
                                         "ld.param.u8 h, [block+16]", "ld.param.u8 h, [block-1]"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        char error[600];
        ok(!decodes(beyond[i], error, sizeof error) && strstr(error, "it is beyond its parameter"),
           "beyond its parameter: %s", beyond[i]);
    }
    static const char *const unaligned[] = {
        "ld.param.u16 h, [block+1]", "ld.param.b32 a, [block+10]",
        "ld.param.v2.b32 {a, b}, [block+4]", "ld.param.u64 p, [block+4]"};
    for (size_t i = 0; i < sizeof unaligned / sizeof *unaligned; i++) {
        char error[600];
        ok(!decodes(unaligned[i], error, sizeof error) && strstr(error, "it is not aligned"),
           "not aligned: %s", unaligned[i]);
    }
}

int main(void) {
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        char error[600];
        if (!ok(decodes(right[i], error, sizeof error), "decoded: %s", right[i]))
            printf("# %s\n", error);
    }
    REFUSED(atomics);
    REFUSED(barriers);
    REFUSED(control);
    REFUSED(copies);
    REFUSED(bulk_copies);
    REFUSED(comparisons);
    REFUSED(numbers);
    REFUSED(moves);
    REFUSED(warps);
    REFUSED(matrices);
    test_reasons();
    return done_testing();
}
