#!/usr/bin/env bash
# Measures the stages over sequence lengths and keeps the results.
#
#   tools/bench/bench.sh build/attention [KEY=VALUE]... STAGE_DIR...
#
# Writes notes/results/DEVICE.jsonl, .md, .svg and _ladder.svg, each whole or not at all, and prints
# the table (FORMAT=json: the lines). What restricts the run is in the name: nvidia_h200_bf16_d64.
#   PEERS=1     also the attention of PyTorch and FlashAttention-3 and 4, where python3 (PYTHON=...)
#               can import them; PEERS=fa3,cudnn: some of them (reference/peers.py)
#   REGIME=...  other shapes than the square ones (common/cli/regimes.h); all: all regimes. Table
#               and plot are by regime then: DEVICE_decode.jsonl, .md and .svg, DEVICE_regimes.* of
#               all
#   SUSTAINED=1 each for a second back to back, with SM clock and power beside it
#   INIT=all    the time on one input after the other over that on normal ones, and the error:
#               DEVICE_inputs.jsonl and .md
#   RESULTS=... the file of JSON lines to write instead
# Environment: CUDA_LIB, CUDA_VERSION as in build/toolchain.mk, GOALS: the goals of make, TRUTH: see
# reference/peers.py.
# Exit: as the program's; 2 without a GPU.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$1
shift
options=() stages=() asked=() suffix='' gpu=0 peers=0 format=text results=''
chosen=() seed=1 sustained=0
for argument in "$@"; do
    [[ $argument != *=* || $argument == RESULTS=* ]] || asked+=("$argument")
    case $argument in
        *=) ;;
        PEERS=0 | PEERS=1) peers=${argument#*=} ;;
        PEERS=[a-z]*) peers=1 chosen=("$argument") ;;
        PEERS=*) echo "$argument: allowed are 0, 1 and names such as fa3,cudnn" >&2 && exit 64 ;;
        RESULTS=*.jsonl) results=${argument#*=} ;;
        RESULTS=*) echo "$argument: allowed is a name that ends in .jsonl" >&2 && exit 64 ;;
        FORMAT=*) format=${argument#*=} options+=("$argument") ;;
        GPU=*) gpu=${argument#*=} options+=("$argument") ;;
        DTYPE=bf16) suffix+=_bf16 options+=("$argument") ;;
        D=*) suffix+=_d${argument#*=} options+=("$argument") ;;
        CAUSAL=0) suffix+=_full options+=("$argument") ;;
        CAUSAL=1) suffix+=_causal options+=("$argument") ;;
        INIT=normal) options+=("$argument") ;;
        INIT=all) suffix+=_inputs options+=("$argument") ;;
        INIT=* | STRENGTH=*)
            suffix+=_$(tr -cd 'a-z0-9.' <<<"${argument#*=}")
            options+=("$argument")
            ;;
        SEED=*) seed=${argument#*=} options+=("$argument") ;;
        REGIME=square | SUSTAINED=0) options+=("$argument") ;;
        REGIME=all) suffix+=_regimes options+=("$argument") ;;
        REGIME=*) suffix+=_$(tr -cd 'a-z0-9' <<<"${argument#*=}") options+=("$argument") ;;
        SUSTAINED=*) sustained=1 suffix+=_sustained options+=("$argument") ;;
        LSE=0 | SCALE=*) suffix+=_${argument/=/} options+=("$argument") ;;
        SEQS=*) suffix+=_part options+=("$argument") ;;
        *=*) options+=("$argument") ;;
        */work/*) suffix+=_work stages+=("$argument") ;; # a learner's kernel
        *) stages+=("$argument") ;;
    esac
done
[[ $suffix != *_random* ]] || suffix=${suffix/_random/_random$(tr -cd 0-9 <<<"$seed")}
for goal in ${GOALS:-}; do [[ $goal != stage* ]] || suffix+=_$goal; done

# shellcheck source=tools/bench/about.sh
source "$root/tools/bench/about.sh"

# watch_clocks: the GPU's load and clock, once a second, until it is stopped; of a sustained run ten
# times a second with time and power.
watch_clocks() {
    local fields=utilization.gpu,clocks.sm often=(-l 1)
    [ $sustained = 0 ] || { fields+=,timestamp,power.draw.instant && often=(-lms 100); }
    exec nvidia-smi -i "$(card)" --query-gpu=$fields --format=csv,noheader,nounits "${often[@]}"
}

# clocks FILE: the limits, and the range of clocks seen under load.
clocks() {
    awk -F', *' -v limits="$(limits)" '
        $1 >= 90 && $2 > 0 { low = !low || $2 < low ? $2 : low; high = $2 > high ? $2 : high }
        END { print limits (low ? "; SM under load " low " to " high " MHz" : "") }' "$1"
}

run=("$program" bench "${options[@]}" "${stages[@]}")
if ! device=$(smi name 2>/dev/null); then
    exec "${run[@]}" # which says that there is no GPU
fi
if [ "$peers" = 1 ]; then
    python=${PYTHON:-python3}
    if "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
        export CUDART=${CUDA_LIB:+$CUDA_LIB/}libcudart.so
        run=("$python" "$root/reference/peers.py" "${chosen[@]}" "${options[@]}" "${stages[@]}")
    else
        echo "PEERS=1: $python has no PyTorch that can use the GPU (set PYTHON): only the stages" \
            "are timed." >&2
    fi
fi

results=${results:-notes/results/$(file_name "$device")${suffix,,}.jsonl}
scratch=$(scratch_beside "$results" bench)
: >"$scratch/clocks"
watch_clocks >>"$scratch/clocks" 2>/dev/null &
trap 'kill $! 2>/dev/null || true; rm -rf "$scratch"' EXIT
trap 'trap "" INT TERM; exit 130' INT TERM
code=0
"${run[@]}" >"$scratch/lines" || code=$?
if [ $code -gt 1 ] || [ ! -s "$scratch/lines" ]; then exit $code; fi
if [ $sustained = 1 ]; then
    awk -F ', *' -f "$root/tools/plot/field.awk" -f "$root/tools/bench/clocks.awk" \
        "$scratch/clocks" "$scratch/lines" >"$scratch/with_clocks"
    mv "$scratch/with_clocks" "$scratch/lines"
fi

{
    about "$device" "$(clocks "$scratch/clocks")" "${GOALS:-bench}" "${asked[@]}"
    cat "$scratch/lines"
} >"$scratch/results.jsonl"
mv "$scratch/results.jsonl" "$results"
"$root/tools/plot/plot.sh" "$results"
case $format in
    json) cat "$results" ;;
    *) cat "${results%.jsonl}.md" ;;
esac
exit $code
