#!/usr/bin/env bash
# Compares the simulator's counters with those of the GPU, stage by stage.
#
#   tools/validate/counters.sh build/attention [KEY=VALUE]... STAGE_DIR...
#
# Nsight Compute reads the hardware's counters of the first launch; build/attention-sim counts the
# same launch on the CPU. Metrics: shared-memory requests and wavefronts, global requests and
# sectors, tensor-core instructions. cp.async counts as a global load on both sides; its write to
# shared memory is in neither (the hardware has no counter of it).
# Exit: 0 all within 1 %, 1 something further off, 2 a tool is missing.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

program=$1
shift
# shellcheck source=tools/profile/nsight.sh
source "$(dirname "$0")/../profile/nsight.sh"
need_ncu
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo "there is no GPU to compare the simulator with" >&2
    exit 2
fi

# The simulator's name of each counter, and the hardware's: a metric, or a difference of two. The
# tensor pipe also runs HFMA2.MMA, by which the compiler likes to load constants.
hmma=sm__inst_executed_pipe_tensor_op_hmma
pairs=(
    shared_load_requests smsp__sass_inst_executed_op_shared_ld.sum
    shared_load_units l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
    shared_store_requests smsp__sass_inst_executed_op_shared_st.sum
    shared_store_units l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
    global_load_requests l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
    global_load_units l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
    global_store_requests l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
    global_store_units l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
    mma_instructions "${hmma}.sum-${hmma}_type_hfma2.sum"
)
metrics=$(printf '%s\n' "${pairs[@]}" | awk 'NR % 2 == 0' | tr - '\n' | paste -sd,)

log=$(mktemp)
trap 'rm -f "$log"' EXIT
options=() stages=()
for argument in "$@"; do
    if [[ $argument == *=* ]]; then options+=("$argument"); else stages+=("$argument"); fi
done
shape=(B=1 H=2 HKV=1 N=256 NKV=256)

# simulated STAGE_DIR: the counters object, as `name value` lines, of the same stage under SIM_ROOT
# where the simulator has a compiler of its own.
simulated() {
    "$program-sim" run "${shape[@]}" "${options[@]}" DEVICE=sim FORMAT=json \
        "${1/#"${KERNEL_ROOT:-}"/"${SIM_ROOT:-}"}" 2>"$log" |
        grep -o '"[a-z_]*": *[0-9]*' | tr -d '"' | tr ':' ' '
}

worst=0
printf '%-18s %-22s %15s %15s %9s\n' stage counter hardware simulator ratio
for stage in "${stages[@]}"; do
    gpu=$(hardware "$metrics" "$program" "$stage" "${shape[@]}" "${options[@]}")
    cpu=$(simulated "$stage") || {
        code=$?
        echo "the simulator could not count ${stage##*/}: $(tail -n 1 "$log")" >&2
        exit $code
    }
    for ((i = 0; i < ${#pairs[@]}; i += 2)); do
        a=$(awk -v m="${pairs[i + 1]}" '
            BEGIN { split(m, part, "-") }
            $1 == part[1] { value += $2 }
            $1 == part[2] { value -= $2 }
            END { print value }' <<<"$gpu")
        b=$(awk -v m="${pairs[i]}" '$1 == m { print $2 }' <<<"$cpu")
        line=$(awk -v a="${a:-0}" -v b="${b:-0}" 'BEGIN {
            ratio = a == b ? 1 : a ? b / a : 999
            mark = ratio > 1.01 || ratio < 0.99 ? "  <--" : ""
            printf "%15d %15d %9.4f%s", a, b, ratio, mark }')
        printf '%-18s %-22s %s\n' "${stage##*/}" "${pairs[i]}" "$line"
        [[ $line != *'<--' ]] || worst=1
    done
done
exit $worst
