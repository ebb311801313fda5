#!/usr/bin/env bash
# Nsight Compute on one launch of a stage: what counters.sh and roofline.sh share. Sourced.

# need_ncu: exit 2 where it is missing.
need_ncu() {
    command -v ncu >/dev/null && return
    echo "ncu was not found: Nsight Compute comes with the CUDA Toolkit." >&2
    exit 2
}

# hardware METRICS PROGRAM STAGE_DIR [KEY=VALUE]...: `metric total` lines, summed over the kernels
# of the first launch, each from cold caches and at whatever clock the GPU runs. A launch runs each
# kernel of the stage's list once or not at all, so a kernel that comes again is of the next launch.
# Metrics: with commas between. 2, with Nsight Compute's own words, if it could not read them.
hardware() {
    local metrics=$1 program=$2 stage=$3 kernels log
    shift 3
    kernels=$(sed -n '/attention_kernels\[\]/,/NULL, NULL/p' "stages/${stage##*/}/kernel.cu" |
        grep -c '(const void \*)')
    if ! log=$(ncu --clock-control none --cache-control all --launch-count "$kernels" \
        --csv --page raw --print-units base --metrics "$metrics" \
        "$program" run "$@" REPS=1 DEVICE=gpu "$stage" 2>&1) || ! grep -q '^"[0-9]' <<<"$log"; then
        echo "ncu could not count ${stage##*/}:" >&2
        grep -E '^==(ERROR|WARNING)==' <<<"$log" >&2 || tail -n 5 <<<"$log" >&2
        return 2
    fi
    awk '/^"/' <<<"$log" | sed 's/^"//; s/"$//; s/","/\t/g' | awk -F'\t' '
        NR == 1 { for (i = 1; i <= NF; i++) { name[i] = $i; column[$i] = i } next }
        NR == 2 { next } # units
        again || $column["Kernel Name"] in counted { again = 1; next }
        { counted[$column["Kernel Name"]] }
        { for (i = 1; i <= NF; i++) { gsub(/,/, "", $i); total[i] += $i } }
        END { for (i in name) printf "%s %.0f\n", name[i], total[i] }'
}
