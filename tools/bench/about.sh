#!/usr/bin/env bash
# What a results file says about its run: the functions that bench.sh and roofline.sh share.
# Sourced; `gpu` is the index of the GPU. Environment: CUDA_VERSION.

# card: what nvidia-smi knows the GPU by. The index is one among those that CUDA sees.
card() {
    local visible
    IFS=, read -ra visible <<<"${CUDA_VISIBLE_DEVICES:-}"
    echo "${visible[${gpu:-0}]:-${gpu:-0}}"
}

# smi FIELDS: what nvidia-smi says of the GPU.
smi() { nvidia-smi -i "$(card)" --query-gpu="$1" --format=csv,noheader,nounits; }

# file_name DEVICE: its name as part of a file's name, such as nvidia_h200.
file_name() { tr 'A-Z ' 'a-z_' <<<"$1" | tr -cd 'a-z0-9_'; }

# scratch_beside RESULTS NAME: makes a folder beside RESULTS for what is not whole yet.
scratch_beside() {
    local folder
    folder=$(dirname "$1")
    { mkdir -p "$folder" && mktemp -d "$folder/$2.XXXXXX"; } 2>/dev/null && return
    echo "$folder cannot be written: RESULTS=... names another file" >&2
    return 2
}

# limits: the highest clocks and the power limit.
limits() {
    local sm memory power
    IFS=, read -r sm memory power <<<"$(smi clocks.max.sm,clocks.max.memory,power.limit)"
    echo "SM up to ${sm# } MHz, memory ${memory# } MHz, ${power# } W"
}

# quoted KEY TEXT: one pair of a JSON object.
quoted() {
    local text=${2//\\/\\\\}
    printf '"%s":"%s"' "$1" "${text//\"/\\\"}"
}

# about DEVICE CLOCKS COMMAND [KEY=VALUE]...: the line that describes the run, and the command that
# repeats it.
about() {
    printf '{%s,%s,%s,%s,%s,%s}\n' "$(quoted device "$1")" \
        "$(quoted driver "$(smi driver_version)")" "$(quoted toolkit "${CUDA_VERSION:-unknown}")" \
        "$(quoted clocks "$2")" "$(quoted date "$(date -u +%F)")" \
        "$(quoted command "make ${*:3}")"
}
