#!/usr/bin/env bash
# Sizes that no simulated problem reaches, by what would go wrong there.
# Catches: an index of elements or bytes that is computed in 32 bits, and so overflows in a tensor
# of 2^31 elements (SIM_INDEX of the simulator; GRID=big runs such tensors on a GPU); a launch whose
# grid counts heads in y or z, which end at 65535; a workspace that grows with the batch; an LSE
# that drifts with every tile of keys as ptxas fuses what must cancel (SIM_FMA); a race between the
# warps that merge what many multiprocessors leave. Kernels made wrong on purpose must be caught.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
: "${STAGE_DIRS:?the folders of the built stages, as the Makefile exports them}"
nvcc=$(sed -n 's/^NVCC := //p' build/toolchain.mk)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -x build/attention-sim ]; then
    echo "1..0 # SKIP the simulator is not built"
    exit 0
fi

# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$work/log")
simulate() { # simulate ARGUMENT...: the exit code, and $work/log
    build/attention-sim run "$@" >"$work/log" 2>&1
}
plant() { # plant STAGE SED: the folder $work/STAGE, made of the stage with the edit
    mkdir "$work/$1" && sed "$2" "stages/$1/kernel.cu" >"$work/kernel.cu" &&
        ! cmp -s "$work/kernel.cu" "stages/$1/kernel.cu" &&
        "$nvcc" -std=c++17 -O3 -lineinfo --compress-mode=none -Xcompiler -fPIC -shared \
            -cudart none -Icommon -D_GLIBCXX_BITS_SPECFUN_H -DHEAD_DIM=128 -DELEMENT_BF16=0 \
            -DCAUSAL=0 -DTARGET_SM=80 -gencode arch=compute_80,code=compute_80 "$work/kernel.cu" \
            -o "$work/$1/d128_fp16_full.so" >"$work/log" 2>&1
}

# Every count of this problem, and every index within a tile, is below the limit; the indices into
# each tensor are not, even within a head. A count of rows may have 32 bits: 2^31 rows are 256 GiB.
shape=(B=1 H=2 HKV=2 N=264 NKV=264 D=128)
export SIM_INDEX=32767
for stage in $STAGE_DIRS; do
    simulate "${shape[@]}" "$stage"
    result $? "${stage##*/}: no index is computed in 32 bits"
done
for stage in 01_three_pass 07_swizzle; do
    plant "$stage" 's/(size_t)//g' && simulate "${shape[@]}" "$work/$stage"
    [ $? -eq 1 ] && grep -q 'was computed in 32 bits' "$work/log"
    result $? "$stage without its casts to 64 bits is caught"
done
unset SIM_INDEX

# grid STAGE_DIR: true if all kernels count their blocks in x alone
grid() {
    simulate B=2 H=4 HKV=2 N=70 NKV=70 D=128 COUNTERS=full "$1" && grep -q '(grid ' "$work/log" &&
        ! grep '(grid ' "$work/log" | grep -vq ' x 1 x 1)'
}
for stage in $STAGE_DIRS; do
    grid "$stage"
    result $? "${stage##*/}: blocks are counted in x alone"
done
plant 04_online_softmax 's/<<<blocks,/<<<dim3(ceil_div(p->seq_q, BR), p->heads * p->batch),/
    s/head = blockIdx.x . row_tiles/head = blockIdx.y/' && ! grid "$work/04_online_softmax" &&
    grep -q 'would fail for B=1 H=65537 HKV=65537 N=1 NKV=1: .*at most 65535' "$work/log"
result $? "heads in y are caught, though the result of a small problem is right"
# More where the host plans the work by the number of multiprocessors: a workspace may grow then.
for stage in $STAGE_DIRS; do
    batches=300
    ! grep -q 'MultiProcessorCount' "stages/${stage##*/}/kernel.cu" || batches=1500
    simulate B=$batches H=2 HKV=1 N=2 NKV=1 CAUSAL=1 "$stage"
    result $? "${stage##*/}: $batches small batches with heads that share keys"
    [ $batches = 1500 ] || continue
    SIM_MULTIPROCESSORS=132 SIM_RACE=1 simulate B=1 H=2 HKV=1 N=3 NKV=5000 CAUSAL=1 "$stage"
    result $? "${stage##*/}: as many pieces as 132 multiprocessors take"
done
for stage in $STAGE_DIRS; do
    [[ $stage == *02_coalesced ]] || continue
    simulate B=65537 H=1 N=1 NKV=2 D=64 "$stage"
    result $? "${stage##*/}: 65,537 batches"
done

# While the maximum stays, scale_i must be 1: cm_i, rounded once, less itself. Less c m_i, computed
# again, it is up to 2^-16 off as an FFMA, which adds up over many tiles.
shape=(B=1 H=1 HKV=1 N=64 NKV=9999 D=128 INIT=dominant SEED=1)
for stage in $STAGE_DIRS; do
    [[ $stage == *10_lean ]] || continue
    SIM_FMA=fused simulate "${shape[@]}" "$stage"
    result $? "${stage##*/}: LSE does not drift, mul and add fused"
done
stage=10_lean
plant $stage 's/scale_i\[2\];/scale_i[2], m_i[2];/
    s/rows.l_i\[h\] = 0;/& rows.m_i[h] = -CUDART_INF_F;/
    s/float m_new = -CUDART_INF_F;/float m_new = rows.m_i[h];/
    s/fmaxf(rows.cm_i\[h\], c \* row_max(m_new))/c * (rows.m_i[h] = row_max(m_new))/' &&
    simulate "${shape[@]}" "$work/$stage"
result $? "$stage with cm_i - c m_i is right if the product is rounded"
SIM_FMA=fused simulate "${shape[@]}" "$work/$stage"
[ $? -eq 1 ] && grep -q 'LSE are wrong' "$work/log"
result $? "and is caught if it is fused"

echo "1..$count"
