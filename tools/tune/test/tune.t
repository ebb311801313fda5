#!/usr/bin/env bash
# `make stageNN tune` without a GPU: a small kernel on the simulator. Catches: a shape that is not
# the one its name says, one that spills or is refused and is timed all the same, a bad value
# without a sentence.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
root=$PWD
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")

nvcc=$(sed -n 's/^NVCC := //p' build/toolchain.mk)
export NVCC=$nvcc MACROS='-DHEAD_DIM=128 -DELEMENT_BF16=0 -DCAUSAL=0' VARIANT=d128_fp16_full
export NVCC_FLAGS="-std=c++17 -O3 --compress-mode=none -Xcompiler -fPIC -shared -cudart none \
    -Icommon -D_GLIBCXX_BITS_SPECFUN_H"
mkdir -p "$work/stages/01_small" "$work/stages/02_none"
cd "$work" || exit 1
ln -s "$root/common" common
cp "$root/tools/test/small_kernel.cu" stages/01_small/kernel.cu
sed 's/; tune:.*//' stages/01_small/kernel.cu >stages/02_none/kernel.cu
tune() { "$root/tools/tune/tune.sh" "$@" >"$log" 2>&1; code=$?; }

tune "$root/build/attention-sim" N=20 build/sm_80/01_small
ok "tuning succeeds without a GPU" [ $code -eq 0 ]
ok "a shape that a static_assert refuses, with its words" \
    grep -qE '^WARPS6 +WARPS is a power of two$' "$log"
grep -qE '^WARPS2 +- +- +[0-9]+ +0 +0 ' "$log" && grep -qE '^WARPS4 +- +- +[0-9]+ +0 +0 ' "$log"
ok "registers and no spills of the others" [ $? -eq 0 ]
ok "each is what its name says" \
    grep -q '^constexpr int WARPS = 2; // per block' build/sm_80/tune/01_small/WARPS2/kernel.cu
ok "no times, and why" says "no times: the shapes ran on the simulator"
tune "$root/build/attention-sim" N=20 WARPS=2,2 build/sm_80/01_small
ok "a value that is given twice is one shape" [ "$(grep -c '^WARPS2 ' "$log")" -eq 1 ]
exec 9>build/sm_80/tune/01_small.lock
flock 9
tune "$root/build/attention-sim" N=20 WARPS=2 build/sm_80/01_small 9>&-
exec 9>&-
ok "beside another tune of the stage: exit 2" [ $code -eq 2 ]
ok "which says so" says "another make tune of 01_small runs in this folder"
tune "$root/build/attention-sim" N=1000000 WARPS=2 build/sm_80/01_small
ok "a problem that cannot run: exit 2" [ $code -eq 2 ]
ok "with the reason, and no table" eval 'says "choose a smaller B, H, N or NKV" && ! says TFLOP/s'
NVCC_FLAGS="$NVCC_FLAGS -maxrregcount=16" \
    tune "$root/build/attention-sim" N=20 WARPS=1 build/sm_80/01_small
ok "no shape that is left: exit 2" [ $code -eq 2 ]
ok "and a sentence" [ "$(tail -n 1 "$log")" = "01_small: no shape is left to be timed" ]
ok "values of one's own; a shape that spills" grep -qE '^WARPS1 +spills [0-9]+ bytes' "$log"
tune "$root/build/attention-sim" BR=64 build/sm_80/01_small
ok "a constant that is none: exit 64" [ $code -eq 64 ]
ok "and those that are" says "BR=64: stages/01_small/kernel.cu can be tuned in WARPS"
tune "$root/build/attention-sim" WARPS=2,x build/sm_80/01_small
ok "no numbers: exit 64" [ $code -eq 64 ]
ok "and what is allowed" says "WARPS=2,x: allowed are whole numbers with commas between them"
tune "$root/build/attention-sim" build/sm_80/02_none
ok "a stage without constants to tune: exit 2" [ $code -eq 2 ]
ok "and what is missing" \
    says "kernel.cu has no constant to tune (marked by a comment \`tune: VALUES')"
ok "and which stages have it" says "these stages have: 01_small"
mkdir -p work/02_none
echo '#define BESIDE 1' >work/02_none/beside.cuh
{
    echo '#include "beside.cuh"'
    cat stages/01_small/kernel.cu
    echo 'static_assert(BESIDE, "it is found");'
} >work/02_none/kernel.cu
KERNEL=work/02_none/kernel.cu tune "$root/build/attention-sim" WARPS=1 N=20 \
    build/sm_80/work/02_none
ok "another file for the stage's, which includes one beside it: exit 0" [ $code -eq 0 ]
ok "for the same architecture" [ -e build/sm_80/tune/02_none/WARPS1/d128_fp16_full.so ]
tune "$root/build/attention-sim" WARPS="$(seq -s, 65)" build/sm_80/01_small
ok "too many shapes: exit 64" [ $code -eq 64 ]
echo "1..$count"
