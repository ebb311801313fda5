#!/usr/bin/env bash
# Asks of the GPU what the simulator's tests of instructions ask of the simulator: each instruction
# on edge values, in each type and rounding, against the same reference.
#
#   tools/validate/instructions.sh TEST...
#
# A TEST is a program of tools/ptxsim/ops/test that runs on a GPU with PTX_ON_GPU=0
# (tools/ptxsim/test/on_gpu.h). Their PTX is of sm_90a, so on another GPU nothing is asked.
# Environment: GPU, its index among those that CUDA sees (0); LIMIT, seconds for each test (60).
# Exit: 0 all is as on the GPU, 1 something is not, 2 there is no GPU.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case

IFS=, read -ra visible <<<"${CUDA_VISIBLE_DEVICES:-}"
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
    -i "${visible[${GPU:-0}]:-${GPU:-0}}" 2>/dev/null)
if [ -z "$capability" ]; then
    echo "there is no GPU to compare the simulator with" >&2
    exit 2
fi
if [ "$capability" != 9.0 ]; then
    echo "instructions are compared on compute capability 9.0 alone; this GPU is of $capability"
    exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
worst=0
for program in "$@"; do
    PTX_ON_GPU=${GPU:-0} timeout -k 5 "${LIMIT:-60}" "$program" >"$log" 2>&1
    code=$?
    right=$(grep -c '^ok ' "$log")
    all=$(grep -cE '^(not )?ok ' "$log")
    printf '%-21s %5d of %d\n' "${program##*/}" "$right" "$all"
    [ $code -ne 0 ] || [ "$right" -ne "$all" ] || [ "$all" -eq 0 ] || continue
    grep -A 1 '^not ok ' "$log" | grep -v '^--$'
    case $code in
        0 | 1) ;;
        124 | 137) echo "$program did not end within ${LIMIT:-60} seconds" ;;
        *) echo "$program ended with $code: $(tail -n 1 "$log")" ;;
    esac
    worst=1
done
exit $worst
