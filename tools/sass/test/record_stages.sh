#!/usr/bin/env bash
# Makes corpus/stages/ anew from samples/stage.cu: what nvdisasm and cuobjdump say of its two
# stages, and what the simulator counts of the second. commands.t reads it, and needs none of them.
#
#   tools/sass/test/record_stages.sh
#
# 03_paths, whose encodings mean nothing, is no compiler's work and stays.
#
# Afterwards WRITE=1 tools/sass/test/commands.t writes anew what the commands print.
set -euo pipefail
# shellcheck source=tools/sass/test/lab.sh
. "$(dirname "${BASH_SOURCE[0]}")/lab.sh"
source=tools/sass/test/samples/stage.cu
corpus=tools/sass/test/corpus/stages
export SIM_MULTIPROCESSORS=2 FORCE=1 # as tools/limits/count.sh has it

# counted STAGE: the record and the report of runs whose results nobody looks at
counted() {
    local stage=$1 length to=$corpus/$1/counted run
    mkdir -p "$to"
    run=(build/attention-sim run DEVICE=sim FORMAT=json COUNTERS=full B=1 H=2 HKV=2 D=64 CAUSAL=1)
    for length in 64 128 192; do
        SIM_RECORD=$to/$length.json SIM_BLOCK=none "${run[@]}" N=$length NKV=$length \
            "$scratch/$stage" 2>"$log" >"$scratch/json" || true
        sed -n '/^Simulated counters/,$p' "$log" >"$to/$length.txt"
    done
    for block in 0 1; do
        SIM_RECORD=$to/block_$block.json SIM_BLOCK=$block "${run[@]}" N=64 NKV=64 \
            "$scratch/$stage" 2>"$log" >"$scratch/json" || true
    done
    mv "$to/block_0.json" "$to/first.json"
    mv "$to/block_1.json" "$to/second.json"
    # What the limits do not read.
    sed -i -E '/^"(source|variables|tensors|warps|requests|fragments)"/d' "$to"/*.json
    echo 64 128 192 >"$to/lengths"
}

for stage in 01_rows 02_mma; do
    mkdir -p "$scratch/$stage" "$corpus/$stage"
    second=()
    [ $stage = 01_rows ] || second=(-DSECOND)
    "$NVCC" -std=c++17 -O3 -lineinfo -Icommon -shared -Xcompiler -fPIC -cudart none \
        --compress-mode=none -gencode 'arch=compute_80,code=[sm_80,compute_80]' -DHEAD_DIM=64 \
        -DELEMENT_BF16=0 -DCAUSAL=1 -DTARGET_SM=80 "${second[@]}" \
        -o "$scratch/$stage/d64_fp16_causal.so" "$root/$source"
    (
        cd "$scratch/$stage"
        "$CUOBJDUMP" --extract-elf all d64_fp16_causal.so >"$log"
        "$CUOBJDUMP" --extract-ptx all d64_fp16_causal.so >"$log"
        "$NVDISASM" -ndf -c -hex -gi -gp ./*.cubin | sed "s,$root/,,g" >sass
        "$CUOBJDUMP" --dump-resource-usage ./*.cubin >resources
    )
    cp "$scratch/$stage"/{sass,resources} "$corpus/$stage"
    sed "s,$root/,,g" "$scratch/$stage"/*.ptx >"$corpus/$stage/ptx"
done
counted 02_mma
