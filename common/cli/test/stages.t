#!/usr/bin/env bash
# Every stage on the shape grid: on the GPU if there is one, else in the simulator, with products
# fused with an addition and copies that land as early as they may; where there are such copies also
# as late, and products rounded before. Without them the two give the same bits. A stage that asks
# how many multiprocessors there are also gets as many as an H200 has.
# Catches: a stage that breaks on a ragged length, a head mapping, a mask, a dtype, large logits,
# subnormals, equal or dominant keys, an infinity or a NaN.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
: "${STAGE_DIRS:?the folders of the built stages, as the Makefile exports them}"
: "${GPU_DIRS:=$STAGE_DIRS}" # where the GPU's compiler is not the simulator's
count=0

# The simulator has the device that a stage is compiled for, so no stage is left out there.
left_out=SKIP
grid() { # grid NAME DIRS [VARIABLE=VALUE]... : one TAP line for each summary line of the grid
    local name=$1 dirs=$2 line
    shift 2
    local log
    log=$(mktemp)
    # shellcheck disable=SC2086 # a list
    env "$@" build/attention grid $dirs >"$log" 2>&1
    for stage in $dirs; do
        count=$((count + 1))
        line=$(grep -E "^${stage##*/} .* cases, " "$log")
        case $line in
        *PASS*) echo "ok $count - $name: $line" ;;
        *$left_out*) echo "ok $count # SKIP $name: $line" ;;
        *) echo "not ok $count - $name: ${line:-${stage##*/} reported nothing}" ;;
        esac
    done
    grep -E '^FAIL|repeat:' "$log" | sed 's/^/# /'
    rm -f "$log"
}

# shellcheck disable=SC2086
build/attention run DEVICE=gpu B=1 H=1 N=1 $GPU_DIRS >/dev/null 2>&1
if [ $? -ne 2 ]; then
    grid gpu "$GPU_DIRS"
elif [ -x build/attention-sim ]; then
    asynchronous=() asking=() left_out='no stage'
    for dir in $STAGE_DIRS; do
        ! grep -q 'cp\.async' "stages/${dir##*/}/kernel.cu" || asynchronous+=("$dir")
        ! grep -q 'MultiProcessorCount' "stages/${dir##*/}/kernel.cu" || asking+=("$dir")
    done
    grid "simulator, copies late" "${asynchronous[*]}" SIM_ASYNC=late
    grid "simulator, 132 multiprocessors" "${asking[*]}" SIM_MULTIPROCESSORS=132
    grid "simulator, copies early, mul and add fused" "$STAGE_DIRS" SIM_ASYNC=early SIM_FMA=fused
else
    echo "1..0 # SKIP neither a GPU nor the simulator"
    exit 0
fi
echo "1..$count"
