#!/usr/bin/env bash
# Measures how many bytes each stage moves and how fast it is, and draws it under the GPU's roofs.
#
#   tools/roofline/roofline.sh build/attention PEAKS [KEY=VALUE]... STAGE_DIR...
#
# Writes notes/results/DEVICE_roofline.jsonl, .md and .svg, each whole or not at all, and prints the
# table (FORMAT=json: the lines). What differs from the default shape is in the name:
# nvidia_h200_roofline_d64_causal1. RESULTS=... names another file of JSON lines.
#
# One line per stage: that of `attention run`, timed in turn with the others, and Nsight Compute's
# counters of one launch from cold caches
#   hbm_read_bytes hbm_write_bytes hbm_bytes   dram__bytes_read.sum, dram__bytes_write.sum, both;
#                                              what the L2 still holds at the end is not written yet
#   l2_bytes                                   lts__t_bytes.sum: all that passes through the L2
# and flops. Shared memory is left out: the counters of the load-store unit see neither what wgmma
# reads nor what TMA and cp.async write. A line without a name has the roofs, measured by PEAKS.
# Environment: CUDA_VERSION as in build/toolchain.mk, GOALS: the goals of make.
# Exit: as the program's; 2 without a GPU or Nsight Compute.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$1 peaks=$2
shift 2
options=() stages=() asked=() suffix='' gpu=0 format=text results=''
for argument in "$@"; do
    [[ $argument != *=* || $argument == RESULTS=* ]] || asked+=("$argument")
    case $argument in
        *=) ;;
        RESULTS=*.jsonl) results=${argument#*=} ;;
        RESULTS=*) echo "$argument: allowed is a name that ends in .jsonl" >&2 && exit 64 ;;
        DEVICE=sim)
            echo "$argument: the roofline needs a GPU; use DEVICE=auto or gpu" >&2
            exit 64
            ;;
        DEVICE=*) ;;
        FORMAT=text | FORMAT=json) format=${argument#*=} ;;
        FORMAT=*) echo "$argument: allowed here are text and json" >&2 && exit 64 ;;
        GPU=*) gpu=${argument#*=} options+=("$argument") ;;
        B=* | H=* | HKV=* | N=* | NKV=* | D=* | CAUSAL=* | DTYPE=* | INIT=* | STRENGTH=* \
            | SCALE=* | LSE=*)
            suffix+=_${argument/=/}
            options+=("$argument")
            ;;
        *=*) options+=("$argument") ;;
        */work/*) suffix+=_work stages+=("$argument") ;; # a learner's kernel
        *) stages+=("$argument") ;;
    esac
done
for goal in ${GOALS:-}; do [[ $goal != stage* ]] || suffix+=_$goal; done

# shellcheck source=tools/bench/about.sh
source "$root/tools/bench/about.sh"
# shellcheck source=tools/profile/nsight.sh
source "$root/tools/profile/nsight.sh"
if ! device=$(smi name 2>/dev/null); then
    echo "the roofline needs a GPU, and nvidia-smi finds none" >&2
    exit 2
fi
need_ncu

results=${results:-notes/results/$(file_name "$device")_roofline${suffix,,}.jsonl}
scratch=$(scratch_beside "$results" roofline)
trap 'rm -rf "$scratch"' EXIT
trap 'trap "" INT TERM; exit 130' INT TERM

echo "timing ${#stages[@]} stages" >&2
code=0
"$program" run FORMAT=json DEVICE=gpu "${options[@]}" "${stages[@]}" >"$scratch/lines" || code=$?
if [ $code -gt 1 ] || [ ! -s "$scratch/lines" ]; then exit $code; fi
echo "measuring the roofs" >&2
"$peaks" "$gpu" >"$scratch/peaks"

metrics=dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum
{
    about "$device" "$(limits)" "${GOALS:-roofline}" "${asked[@]}"
    cat "$scratch/peaks"
} >"$scratch/results.jsonl"
for stage in "${stages[@]}"; do
    line=$(grep "\"name\":\"${stage##*/}\"" "$scratch/lines")
    if [[ $line == *'"status":"pass"'* ]]; then
        echo "counting ${stage##*/}" >&2
        hardware "$metrics" "$program" "$stage" "${options[@]}" >"$scratch/counters"
        line=$(awk -f "$root/tools/plot/field.awk" -f "$root/tools/roofline/bytes.awk" \
            "$scratch/counters" - <<<"$line")
    fi
    echo "$line" >>"$scratch/results.jsonl"
done
mv "$scratch/results.jsonl" "$results"
"$root/tools/plot/plot.sh" "$results"
case $format in
    json) cat "$results" ;;
    *) cat "${results%.jsonl}.md" ;;
esac
exit $code
