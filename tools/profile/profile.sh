#!/usr/bin/env bash
# Profiles the first launch of each stage with Nsight Compute, without touching the GPU's clocks.
#
#   tools/profile/profile.sh build/attention [KEY=VALUE]... STAGE_DIR...
#
# Exit: as the program's, 2 if Nsight Compute or the GPU is missing.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

# shellcheck source=tools/profile/nsight.sh
source "$(dirname "$0")/nsight.sh"
need_ncu
program=$1
shift
options=()
for argument in "$@"; do [[ $argument == *=* ]] && options+=("$argument"); done
for argument in "$@"; do
    [[ $argument == *=* ]] && continue
    # A stage is at most three kernels, and the first launch of each is the one that is checked.
    ncu --clock-control none --launch-count 3 --import-source no \
        --section SpeedOfLight --section ComputeWorkloadAnalysis --section MemoryWorkloadAnalysis \
        --section WarpStateStats --section Occupancy --section LaunchStats \
        "$program" run REPS=1 "${options[@]}" DEVICE=gpu "$argument"
done
