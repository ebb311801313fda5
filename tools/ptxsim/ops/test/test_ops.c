/* One instruction at a time, from PTX text to its result. Catches: a wrong result at the edges of
 * an instruction's domain, operands in the wrong order, a modifier that is ignored, an opcode that
 * the decoder does not know. */
#include "test/run_ptx.h"
#include "test/tap.h"

/* An instruction on d, a, b, c, e, whose sizes `pattern` gives: the destination, '=', the sources;
 * 2, 4 or 8 bytes, p for a predicate. A result of 'p' is 1 or 0. */
typedef struct Case {
    const char *text, *pattern;
    uint64_t in[4], out;
} Case;

#define INF 0x7f800000
#define NAN32 0x7fffffff
#define MINUS(x) ((uint64_t)(-(int64_t)(x)))
#define LOW32(x) ((uint32_t)(x))

static const Case cases[] = {
    /* integers */
    {"add.s32 d, a, b", "4=44", {0x7fffffff, 1}, 0x80000000},
    {"add.u64 d, a, b", "8=88", {UINT64_MAX, 2}, 1},
    {"add.s16 d, a, b", "2=22", {0x7fff, 1}, 0x8000},
    {"add.sat.s32 d, a, b", "4=44", {0x7fffffff, 1}, 0x7fffffff},
    {"add.u16x2 d, a, b", "4=44", {0xffff0001, 0x00020003}, 0x00010004},
    {"sub.s32 d, a, b", "4=44", {3, 5}, LOW32(-2)},
    {"sub.s64 d, a, b", "8=88", {3, 5}, MINUS(2)},
    {"mul.lo.s32 d, a, b", "4=44", {0x10001, 0x10001}, 0x20001},
    {"mul.hi.s32 d, a, b", "4=44", {LOW32(-1), 1}, LOW32(-1)},
    {"mul.hi.u32 d, a, b", "4=44", {LOW32(-1), 2}, 1},
    {"mul.hi.s64 d, a, b", "8=88", {MINUS(1), 1}, MINUS(1)},
    {"mul.hi.u64 d, a, b", "8=88", {MINUS(1), 2}, 1},
    {"mul.wide.s32 d, a, b", "8=44", {LOW32(-3), 4}, MINUS(12)},
    {"mul.wide.u32 d, a, b", "8=44", {LOW32(-1), 4}, 0x3fffffffc},
    {"mul.wide.s16 d, a, b", "4=22", {0xfffd, 4}, LOW32(-12)},
    {"mul24.lo.s32 d, a, b", "4=44", {0xffffff, 2}, LOW32(-2)},
    {"mad.lo.s32 d, a, b, c", "4=444", {3, 4, 5}, 17},
    {"mad.wide.u16 d, a, b, c", "4=224", {0xffff, 2, 1}, 0x1ffff},
    {"mad.wide.s32 d, a, b, c", "8=448", {LOW32(-3), 4, 2}, MINUS(10)},
    {"mad.hi.u32 d, a, b, c", "4=444", {0x80000000, 4, 5}, 7},
    {"div.s32 d, a, b", "4=44", {LOW32(-7), 2}, LOW32(-3)},
    {"div.s32 d, a, b", "4=44", {0x80000000, LOW32(-1)}, 0x80000000},
    {"div.u32 d, a, b", "4=44", {7, 0}, UINT32_MAX},
    {"div.u64 d, a, b", "8=88", {MINUS(1), 3}, 0x5555555555555555},
    {"rem.s32 d, a, b", "4=44", {LOW32(-7), 2}, LOW32(-1)},
    {"rem.u32 d, a, b", "4=44", {7, 0}, 0xffffffff},
    {"rem.s64 d, a, b", "8=88", {1ull << 63, MINUS(1)}, 0},
    {"min.s32 d, a, b", "4=44", {LOW32(-1), 1}, LOW32(-1)},
    {"min.u32 d, a, b", "4=44", {LOW32(-1), 1}, 1},
    {"max.s64 d, a, b", "8=88", {MINUS(1), 1}, 1},
    {"max.s16x2 d, a, b", "4=44", {0xffff0001, 0x00010000}, 0x00010001},
    {"neg.s32 d, a", "4=4", {0x80000000}, 0x80000000},
    {"abs.s32 d, a", "4=4", {LOW32(-5)}, 5},
    {"sad.s32 d, a, b, c", "4=444", {LOW32(-5), 3, 10}, 18},
    {"popc.b32 d, a", "4=4", {0xf0f0}, 8},
    {"popc.b64 d, a", "4=8", {UINT64_MAX}, 64},
    {"clz.b32 d, a", "4=4", {0}, 32},
    {"clz.b64 d, a", "4=8", {1}, 63},
    {"brev.b32 d, a", "4=4", {1}, 0x80000000},
    {"brev.b64 d, a", "8=8", {2}, 1ull << 62},
    {"bfind.u32 d, a", "4=4", {0x100}, 8},
    {"bfind.s32 d, a", "4=4", {LOW32(-1)}, UINT32_MAX},
    {"bfind.shiftamt.u32 d, a", "4=4", {0x100}, 23},
    {"bfe.u32 d, a, b, c", "4=444", {0xabcd1234, 8, 8}, 0x12},
    {"bfe.s32 d, a, b, c", "4=444", {0x00008000, 8, 8}, LOW32(-128)},
    {"bfe.s32 d, a, b, c", "4=444", {0x80000000, 28, 8}, LOW32(-8)},
    {"bfe.u32 d, a, b, c", "4=444", {0xffffffff, 40, 8}, 0},
    {"bfe.u64 d, a, b, c", "8=844", {UINT64_MAX, 60, 8}, 15},
    {"bfi.b32 d, a, b, c, e", "4=4444", {0xff, 0, 4, 4}, 0xf0},
    {"bfi.b32 d, a, b, c, e", "4=4444", {0xff, 7, 32, 4}, 7},
    {"bfi.b64 d, a, b, c, e", "8=8844", {3, 0, 62, 9}, 3ull << 62},
    {"prmt.b32 d, a, b, c", "4=444", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
    {"prmt.b32 d, a, b, c", "4=444", {0x00008000, 0, 0x9999}, 0xffffffff},
    {"prmt.b32.b4e d, a, b, c", "4=444", {0x33221100, 0x77665544, 1}, 0x66770011},
    {"lop3.b32 d, a, b, c, 0x96", "4=444", {0xf0, 0xcc, 0xaa}, 0x96},
    {"shl.b32 d, a, b", "4=44", {1, 32}, 0},
    {"shr.u32 d, a, b", "4=44", {0x80000000, 33}, 0},
    {"shr.s32 d, a, b", "4=44", {0x80000000, 99}, UINT32_MAX},
    {"shr.s64 d, a, b", "8=84", {1ull << 63, 60}, MINUS(8)},
    {"shl.b16 d, a, b", "2=24", {0x8001, 1}, 2},
    {"shf.l.wrap.b32 d, a, b, c", "4=444", {0x80000000, 1, 33}, 3},
    {"shf.r.clamp.b32 d, a, b, c", "4=444", {5, 7, 40}, 7},
    {"dp4a.s32.s32 d, a, b, c", "4=444", {0xff01ff01, 0x02020202, 10}, 10},
    {"dp4a.u32.u32 d, a, b, c", "4=444", {0xff01ff01, 0x02020202, 10}, 1034},
    {"and.b64 d, a, b", "8=88", {12, 10}, 8},
    {"cnot.b32 d, a", "4=4", {0}, 1},
    /* carries: the second instruction takes the first one's */
    {"add.cc.u32 d, a, b; addc.u32 d, c, e", "4=4444", {UINT32_MAX, 1, 5, 6}, 12},
    {"sub.cc.u32 d, a, b; subc.u32 d, c, e", "4=4444", {0, 1, 5, 2}, 2},
    {"mad.lo.cc.u32 d, a, a, b; madc.hi.u32 d, a, a, c",
     "4=444",
     {UINT32_MAX, UINT32_MAX, 0},
     UINT32_MAX},
    {"add.cc.s64 d, a, b; addc.s64 d, c, e", "8=8888", {UINT64_MAX, 1, 5, 6}, 12},
    /* fp32 */
    {"add.f32 d, a, b", "4=44", {0x3f800000, 0x33800000}, 0x3f800000},
    {"add.rp.f32 d, a, b", "4=44", {0x3f800000, 0x33800000}, 0x3f800001},
    {"add.rz.f32 d, a, b", "4=44", {0x3f800000, 0xb3000000}, 0x3f7fffff},
    {"add.ftz.f32 d, a, b", "4=44", {1, 1}, 0},
    {"add.f32 d, a, b", "4=44", {1, 1}, 2},
    {"add.f32 d, a, 1.5", "4=4", {0x3f800000}, 0x40200000},
    {"mul.f32 d, a, -0.1", "4=4", {0x3f800000}, 0xbdcccccd},
    {"fma.rn.f64 d, a, 2.0, 1.0e0", "8=8", {0x3ff0000000000000}, 0x4008000000000000},
    {"add.sat.f32 d, a, b", "4=44", {0x3f800000, 0x3f800000}, 0x3f800000},
    {"sub.f32 d, a, b", "4=44", {0x40400000, 0x3f800000}, 0x40000000},
    {"mul.f32 d, a, b", "4=44", {0x40400000, 0x40400000}, 0x41100000},
    {"fma.rn.f32 d, a, b, c", "4=444", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
    {"fma.rm.f32 d, a, b, c", "4=444", {0x3f800000, 0x3f800000, 0x33000000}, 0x3f800000},
    {"div.rn.f32 d, a, b", "4=44", {0x3f800000, 0x40400000}, 0x3eaaaaab},
    {"rcp.rn.f32 d, a", "4=4", {0}, INF},
    {"sqrt.rn.f32 d, a", "4=4", {0x41100000}, 0x40400000},
    {"min.f32 d, a, b", "4=44", {NAN32, 0x3f800000}, 0x3f800000},
    {"min.NaN.f32 d, a, b", "4=44", {NAN32, 0x3f800000}, NAN32},
    {"max.f32 d, a, b", "4=44", {0x80000000, 0}, 0},
    {"max.xorsign.abs.f32 d, a, b", "4=44", {0xbf800000, 0x40000000}, 0xc0000000},
    {"neg.f32 d, a", "4=4", {0}, 0x80000000},
    {"abs.f32 d, a", "4=4", {0xff800000}, INF},
    {"copysign.f32 d, a, b", "4=44", {0x80000000, 0x3f800000}, 0xbf800000},
    {"ex2.approx.f32 d, a", "4=4", {0x40400000}, 0x41000000},
    {"ex2.approx.ftz.f32 d, a", "4=4", {0xff800000}, 0},
    {"lg2.approx.f32 d, a", "4=4", {0x41000000}, 0x40400000},
    {"testp.infinite.f32 d, a", "p=4", {0xff800000}, 1},
    /* fp64 */
    {"add.f64 d, a, b", "8=88", {0x3ff0000000000000, 0x3ff0000000000000}, 0x4000000000000000},
    {"fma.rn.f64 d, a, b, c",
     "8=888",
     {0x4000000000000000, 0x4008000000000000, 0x3ff0000000000000},
     0x401c000000000000},
    {"rcp.approx.ftz.f64 d, a", "8=8", {0x4010000000000000}, 0x3fd0000000000000},
    {"rcp.approx.ftz.f64 d, a", "8=8", {0x800fffffffffffff}, 0xfff0000000000000},
    {"rcp.approx.ftz.f64 d, a", "8=8", {0x7fe0000000000000}, 0},
    {"rcp.approx.ftz.f64 d, a", "8=8", {0xfff0000000000000}, 0x8000000000000000},
    {"rsqrt.approx.ftz.f64 d, a", "8=8", {0x4010000000000000}, 0x3fe0000000000000},
    {"rsqrt.approx.ftz.f64 d, a", "8=8", {0x800fffffffffffff}, 0xfff0000000000000},
    {"rsqrt.approx.ftz.f64 d, a", "8=8", {1}, 0x7ff0000000000000},
    /* fp16 and bf16 */
    {"add.f16 d, a, b", "2=22", {0x3c00, 0x3c00}, 0x4000},
    {"fma.rn.f16x2 d, a, b, c", "4=444", {0x3c004000, 0x40004200, 0x3c003c00}, 0x42004700},
    {"fma.rn.relu.f16 d, a, b, c", "2=222", {0xbc00, 0x3c00, 0}, 0},
    {"mul.sat.f16 d, a, b", "2=22", {0x4000, 0x4000}, 0x3c00},
    {"max.NaN.f16 d, a, b", "2=22", {0x7fff, 0x3c00}, 0x7fff},
    {"mul.bf16x2 d, a, b", "4=44", {0x3f804000, 0x40004040}, 0x400040c0},
    {"neg.bf16 d, a", "2=2", {0x3f80}, 0xbf80},
    /* conversions */
    {"cvt.f32.f16 d, a", "4=2", {0x0001}, 0x33800000},
    {"cvt.rn.f16.f32 d, a", "2=4", {0x477ff000}, 0x7c00},
    {"cvt.rz.f16.f32 d, a", "2=4", {0x477ff000}, 0x7bff},
    {"cvt.rn.bf16.f32 d, a", "2=4", {0x3f808000}, 0x3f80},
    {"cvt.rn.f16x2.f32 d, a, b", "4=44", {0x3f800000, 0x40000000}, 0x3c004000},
    {"cvt.rn.relu.bf16x2.f32 d, a, b", "4=44", {0xbf800000, 0x40000000}, 0x00004000},
    {"cvt.rna.tf32.f32 d, a", "4=4", {0x3f801000}, 0x3f802000},
    {"cvt.rzi.s32.f32 d, a", "4=4", {0xc0700000}, LOW32(-3)},
    {"cvt.rni.s32.f32 d, a", "4=4", {0x40200000}, 2},
    {"cvt.rmi.s32.f32 d, a", "4=4", {0xc0700000}, LOW32(-4)},
    {"cvt.rzi.u32.f32 d, a", "4=4", {0xbf800000}, 0},
    {"cvt.rzi.s32.f32 d, a", "4=4", {0x4f800000}, 0x7fffffff},
    {"cvt.rn.f32.s32 d, a", "4=4", {0x01000001}, 0x4b800000},
    {"cvt.rp.f32.s32 d, a", "4=4", {0x01000001}, 0x4b800001},
    {"cvt.rn.f32.u64 d, a", "4=8", {UINT64_MAX}, 0x5f800000},
    {"cvt.s64.s32 d, a", "8=4", {LOW32(-2)}, MINUS(2)},
    {"cvt.u32.u64 d, a", "4=8", {0x123456789}, 0x23456789},
    {"cvt.s32.s8 d, a", "4=4", {0x180}, LOW32(-128)},
    {"cvt.sat.u8.s32 d, a", "4=4", {300}, 255},
    {"cvt.sat.s8.s32 d, a", "4=4", {LOW32(-300)}, LOW32(-128)},
    {"cvt.sat.f32.f32 d, a", "4=4", {NAN32}, 0},
    {"cvt.rni.f32.f32 d, a", "4=4", {0x40200000}, 0x40000000},
    {"cvt.f64.f32 d, a", "8=4", {0x3f800000}, 0x3ff0000000000000},
    {"cvt.rn.f32.f64 d, a", "4=8", {0x3ff0000010000000}, 0x3f800000},
    {"cvt.rp.f32.f64 d, a", "4=8", {0x3ff0000010000000}, 0x3f800001},
    /* comparisons and selection */
    {"setp.lt.s32 d, a, b", "p=44", {LOW32(-1), 1}, 1},
    {"setp.lt.u32 d, a, b", "p=44", {LOW32(-1), 1}, 0},
    {"setp.lo.u32 d, a, b", "p=44", {1, 2}, 1},
    {"setp.ne.f32 d, a, b", "p=44", {NAN32, NAN32}, 0},
    {"setp.neu.f32 d, a, b", "p=44", {NAN32, NAN32}, 1},
    {"setp.ge.f32 d, a, b", "p=44", {NAN32, 0}, 0},
    {"setp.geu.f32 d, a, b", "p=44", {NAN32, 0}, 1},
    {"setp.num.f32 d, a, b", "p=44", {0, 0}, 1},
    {"setp.nan.f32 d, a, b", "p=44", {0, NAN32}, 1},
    {"setp.eq.ftz.f32 d, a, b", "p=44", {1, 2}, 1},
    {"setp.gt.f16 d, a, b", "p=22", {0x4000, 0x3c00}, 1},
    {"setp.le.s64 d, a, b", "p=88", {MINUS(1), 0}, 1},
    {"setp.eq.and.s32 d, a, b, c", "p=44p", {1, 1, 0}, 0},
    {"setp.eq.or.s32 d, a, b, !c", "p=44p", {1, 2, 0}, 1},
    {"set.eq.u32.s32 d, a, b", "4=44", {1, 1}, UINT32_MAX},
    {"set.lt.f32.f32 d, a, b", "4=44", {0, 0x3f800000}, 0x3f800000},
    {"set.eq.f16x2.f16x2 d, a, b", "4=44", {0x3c004000, 0x3c003c00}, 0x3c000000},
    {"selp.b32 d, a, b, c", "4=44p", {1, 2, 1}, 1},
    {"selp.b64 d, a, b, !c", "8=88p", {1, 2, 1}, 2},
    {"slct.b32.f32 d, a, b, c", "4=444", {1, 2, NAN32}, 2},
    {"and.pred d, a, b", "p=pp", {1, 0}, 0},
    {"xor.pred d, a, !b", "p=pp", {1, 1}, 1},
    {"not.pred d, a", "p=p", {0}, 1},
    {"mov.pred d, 1", "p=", {0}, 1},
    /* moves */
    {"mov.b64 d, {a, b}", "8=44", {1, 2}, 0x200000001},
    {"mov.b32 d, {a, b}", "4=22", {1, 2}, 0x20001},
    {"mov.u32 d, %laneid", "4=", {0}, 31}, /* the last lane's store wins */
    {"mov.u32 d, %ntid.x", "4=", {0}, 32},
    {"mov.u32 d, %lanemask_ge", "4=", {0}, 0x80000000},
    {"mov.b32 d, 0f3F800000", "4=", {0}, 0x3f800000},
    /* across the warp: all lanes hold the same */
    {"shfl.sync.bfly.b32 d, a, 1, 31, -1", "4=4", {7}, 7},
    {"vote.sync.ballot.b32 d, a, -1", "4=p", {1}, UINT32_MAX},
    {"vote.sync.any.pred d, !a, -1", "p=p", {1}, 0},
    {"match.any.sync.b32 d, a, -1", "4=4", {7}, UINT32_MAX},
    {"redux.sync.add.s32 d, a, -1", "4=4", {3}, 96},
    {"redux.sync.min.u32 d, a, -1", "4=4", {3}, 3},
    {"activemask.b32 d", "4=", {0}, UINT32_MAX},
    {"bar.red.popc.u32 d, 0, a", "4=p", {1}, 32},
    {"bar.red.and.pred d, 0, a", "p=p", {1}, 1},
};

static void declare(char *text, char name, char size) {
    char line[80];
    if (size == 'p')
        snprintf(line, sizeof line, ".reg .pred %c;\n", name);
    else
        snprintf(line, sizeof line, ".reg .b%d %c;\n", 8 * (size - '0'), name);
    strcat(text, line);
}

/* Loads source i from data[i]; a predicate is its lowest bit. */
static void load(char *text, char name, char size, int i) {
    char line[120];
    if (size == 'p')
        snprintf(line, sizeof line, "ld.global.b32 w, [p+%d];\nsetp.ne.b32 %c, w, 0;\n", 8 * i,
                 name);
    else
        snprintf(line, sizeof line, "ld.global.b%d %c, [p+%d];\n", 8 * (size - '0'), name, 8 * i);
    strcat(text, line);
}

/* The result goes to data[4]. */
static void store(char *text, char size) {
    char line[120];
    if (size == 'p')
        snprintf(line, sizeof line, "selp.b32 w, 1, 0, d;\nst.global.b32 [p+32], w;\n");
    else
        snprintf(line, sizeof line, "st.global.b%d [p+32], d;\n", 8 * (size - '0'));
    strcat(text, line);
}

static void check(const Case *c) {
    static const char names[] = "abce";
    char text[2000] = PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n"
                               ".reg .b64 p;\n.reg .b32 w;\n";
    uint64_t data[5] = {0};
    const char *sources = strchr(c->pattern, '=') + 1;
    declare(text, 'd', c->pattern[0]);
    for (int i = 0; sources[i]; i++) declare(text, names[i], sources[i]);
    strcat(text, "ld.param.u64 p, [data];\n");
    for (int i = 0; sources[i]; i++) load(text, names[i], sources[i], i);
    strcat(strcat(text, c->text), ";\n");
    store(text, c->pattern[0]);
    strcat(text, "ret;\n}\n");
    memcpy(data, c->in, sizeof c->in);
    const PtxRun run = run_ptx(text, LANES, data, sizeof data);
    if (!ok(run.status == LAUNCH_OK && data[4] == c->out, "%s", c->text))
        printf("# got 0x%llx, expected 0x%llx %s\n", (unsigned long long)data[4],
               (unsigned long long)c->out, run.error);
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(&cases[i]);
    return done_testing();
}
