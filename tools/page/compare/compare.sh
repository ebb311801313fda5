#!/usr/bin/env bash
# make compare: two kernels beside each other on one page.
# Usage: compare.sh HARNESS FROM_LIBRARY TO_LIBRARY OUTPUT [VARIABLE=value...]
# Environment: LAB_RUN runs build/sass, NAV is put into the page's head; FROM_FILE and TO_FILE are
# the files of the sides, empty where that is the stage's own; where the simulator has a
# compiler of its own, its kernels are in SIM_ROOT as those of the GPU are in KERNEL_ROOT. Times and
# counters are of what can run here. A kernel that faults gets its page, too, without ratios.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
harness=$1 from=$2 to=$3 output=$4
shift 4
from_name=${FROM_FILE:-$(basename "$(dirname "$from")")}
to_name=${TO_FILE:-$(basename "$(dirname "$to")")}
here=$(dirname "$0")
folder=$here/..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'trap "" INT TERM; exit 130' INT TERM

lab() { bash -c "$LAB_RUN $*"; }

# What ran, and its instructions with their counters.
record() { # record ARGUMENT...: to $scratch/run and $scratch/record
    local code=0
    SIM_RECORD=$scratch/record SIM_BLOCK=none "$harness" run "$@" >"$scratch/run" \
        2>"$scratch/log" || code=$?
    if [ ! -s "$scratch/record" ]; then
        cat "$scratch/log" >&2
        exit $((code ? code : 1))
    fi
    if grep -q '"source":\[\]' "$scratch/record"; then
        echo "$library was built without -lineinfo: there are no lines to compare." >&2
        exit 2
    fi
}
# One sentence on a run that ended before any of its result could be checked.
faulted() { # faulted NAME
    if grep -q '"status":"fail".*"checked_rows":null' "$scratch/run"; then
        echo "$1 faulted, and its counters end there:" \
            "$(sed -n '/^ptxsim: /{s///p;q}' "$scratch/log")"
    fi
}
# A wrong result leaves its counters as they are, and is said.
wrong() { # wrong NAME
    grep -q '"checked_rows":null' "$scratch/run" || REASON_OF=$1 awk '
        match($0, /"status":"fail","reason":"[^"]*"/) {
            print ENVIRON["REASON_OF"] ": " substr($0, RSTART + 26, RLENGTH - 27)
        }' "$scratch/run" >&2
}
json() { sed 's/[\\"]/\\&/g; s/</\\u003c/g; s/.*/"&"/' <<<"$1"; }
for side in from to; do
    library=${!side} name=${side}_name file=${side^^}_FILE
    rm -f "$scratch/record"
    simulated=${library/#"${KERNEL_ROOT:-}"/"${SIM_ROOT:-}"}
    record "$@" DEVICE=sim FORMAT=json "$(dirname "$simulated")"
    faulted "${!name}" >>"$scratch/faults"
    wrong "${!name}"
    cat "$scratch/run" >>"$scratch/simulated"
    lab show FORMAT=json "'$library'" >"$scratch/sass" 2>/dev/null || echo null >"$scratch/sass"
    { printf '{"file":%s,"run":' "$(json "${!file:-}")"; cat "$scratch/run"
        printf ',"record":'; cat "$scratch/record"
        printf ',"sass":'; cat "$scratch/sass"; echo '}'; } >"$scratch/$side"
done
cat "$scratch/faults" >&2
[ -s "$scratch/faults" ] || mv "$scratch/simulated" "$scratch/runs"
if nvidia-smi -L >/dev/null 2>&1; then
    "$harness" run "$@" DEVICE=gpu FORMAT=json "$(dirname "$from")" "$(dirname "$to")" \
        >>"$scratch/runs" 2>/dev/null || true
fi
touch "$scratch/runs"
lab page "RUNS='$scratch/runs'" "'$from'" "'$to'" >"$scratch/tables"
sed 's/&/\&amp;/g; s/</\&lt;/g; s/.*/<p class="fault" role="alert">&<\/p>/' "$scratch/faults" \
    >"$scratch/fault"

# One sentence about their bounds, where both can be computed.
if "$folder/../limits/count.sh" "$harness" build/limits "$to" "$from" 2>/dev/null &&
    lab limits FORMAT=json "'$to'" "'$from'" >"$scratch/bounds" 2>/dev/null &&
    said=$(awk -v mine="$to_name" -v other="$from_name" -f "$folder/../plot/field.awk" \
        -f "$folder/../limits/beside.awk" "$scratch/bounds"); then
    echo "$said" >&2
    printf '<p class="bound">%s</p>\n' "$said" >>"$scratch/tables"
fi

mkdir -p "$(dirname "$output")"
awk -v folder="$folder" -v page=shell.html -v title="$from_name and $to_name" \
    -v files="from=$scratch/from to=$scratch/to tables=$scratch/tables fault=$scratch/fault \
        body=$here/compare.html looks=$here/compare.css script=$here/compare.txt" \
    -v nav="${NAV:-}" -f "$folder/inline.awk" >"$scratch/page" </dev/null
mv "$scratch/page" "$output"
echo "$output"
