#include "limits/units.h"

#include <math.h>

enum { LANES = 32, WAVEFRONT_BYTES = 128 };

static const struct {
    const char *key, *name;
} names[UNITS] = {
    [UNIT_ISSUE] = {"issue", "issue slots"},
    [UNIT_FMA] = {"fma", "FMA"},
    [UNIT_HALF] = {"half", "fp16"},
    [UNIT_ALU] = {"alu", "ALU"},
    [UNIT_MUFU] = {"mufu", "MUFU"},
    [UNIT_TENSOR] = {"tensor", "tensor cores"},
    [UNIT_SHARED] = {"shared", "shared memory and L1"},
    [UNIT_BARRIER] = {"barrier", "barriers"},
    [UNIT_POWER] = {"power", "tensor cores as measured"},
    [UNIT_L2] = {"l2", "L2"},
    [UNIT_HBM] = {"hbm", "HBM"},
};

const char *unit_name(Unit unit) { return names[unit].name; }
const char *unit_key(Unit unit) { return names[unit].key; }

/* Integer products take a part of the FMA pipe, and all kinds together the whole. */
static double fma_cycles(const Machine *m, const double work[WORKS]) {
    const double half = m->half_in_fma > 0 ? work[WORK_HALF] / m->half : 0;
    const double all = (work[WORK_FP32] + work[WORK_IMAD]) / m->fma + half;
    return LANES * fmax(all, work[WORK_IMAD] / m->imad);
}

static double over(double work, double rate) { return rate > 0 ? work / rate : 0; }

void unit_cycles(const Machine *m, const double work[WORKS], double cycles[UNITS]) {
    const double hertz = m->clock_mhz * 1e6;
    cycles[UNIT_ISSUE] = work[WORK_ISSUE] / m->issue;
    cycles[UNIT_FMA] = fma_cycles(m, work);
    cycles[UNIT_HALF] = m->half_in_fma > 0 ? 0 : LANES * work[WORK_HALF] / m->half;
    cycles[UNIT_ALU] = LANES * work[WORK_ALU] / m->alu;
    cycles[UNIT_MUFU] = LANES * work[WORK_MUFU] / m->mufu;
    cycles[UNIT_TENSOR] = over(work[WORK_MMA], m->mma) + over(work[WORK_WGMMA], m->wgmma);
    cycles[UNIT_SHARED] = WAVEFRONT_BYTES * work[WORK_SHARED] / m->shared_bytes +
                          LANES * work[WORK_SHUFFLE] / m->shuffle;
    cycles[UNIT_BARRIER] = LANES * work[WORK_BARRIER] / m->barrier;
    cycles[UNIT_POWER] =
        2e-12 * hertz *
        (over(work[WORK_MMA], m->mma_tflops) + over(work[WORK_WGMMA], m->wgmma_tflops));
    cycles[UNIT_L2] = work[WORK_L2] / m->l2_bytes;
    cycles[UNIT_HBM] = (work[WORK_READ] + work[WORK_WRITTEN]) * hertz / (m->hbm_gb_s * 1e9);
}
