#!/usr/bin/env bash
# Every stage on the shape grid: on the GPU if there is one, else in the simulator, with copies that
# land as late and as early as they may, and products rounded before an addition or fused with it.
# Catches: a stage that breaks on a ragged length, a head mapping, a mask, a dtype, large logits,
# subnormals, equal or dominant keys, an infinity or a NaN.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
: "${STAGE_DIRS:?the folders of the built stages, as the Makefile exports them}"
: "${GPU_DIRS:=$STAGE_DIRS}" # where the GPU's compiler is not the simulator's
count=0

grid() { # grid NAME [VARIABLE=VALUE]... : one TAP line for each summary line of the grid
    local name=$1 line
    shift
    local log
    log=$(mktemp)
    # shellcheck disable=SC2086 # a list
    env "$@" build/attention grid $dirs >"$log" 2>&1
    for stage in $dirs; do
        count=$((count + 1))
        line=$(grep -E "^${stage##*/} .* cases, " "$log")
        case $line in
        *PASS*) echo "ok $count - $name: $line" ;;
        *SKIP*) echo "ok $count # SKIP $name: $line" ;;
        *) echo "not ok $count - $name: ${line:-${stage##*/} reported nothing}" ;;
        esac
    done
    grep -E '^FAIL|repeat:' "$log" | sed 's/^/# /'
    rm -f "$log"
}

dirs=$STAGE_DIRS
# shellcheck disable=SC2086
build/attention run DEVICE=gpu B=1 H=1 N=1 $GPU_DIRS >/dev/null 2>&1
if [ $? -ne 2 ]; then
    dirs=$GPU_DIRS
    grid gpu
elif [ -x build/attention-sim ]; then
    grid "simulator, copies late" SIM_ASYNC=late
    grid "simulator, copies early, mul and add fused" SIM_ASYNC=early SIM_FMA=fused
else
    echo "1..0 # SKIP neither a GPU nor the simulator"
    exit 0
fi
echo "1..$count"
