#!/usr/bin/env bash
# make stageNN explore: records one block of a stage on the simulator and writes a page of it.
# Usage: explore.sh HARNESS STAGE SOURCE PREVIOUS LIBRARY OUTPUT [VARIABLE=value...]
# PREVIOUS is the source before this one, or empty; OUTPUT the page, *.html, or - for the record
# itself.
# Environment: LAB_SHOW prints machine code, NAV is put into the page's head.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
if [ $# -lt 6 ] || [[ $6 != - && $6 != *.html ]]; then
    echo "usage: explore.sh HARNESS STAGE SOURCE PREVIOUS LIBRARY OUTPUT.html|- [KEY=value...]" >&2
    exit 64
fi
harness=$1 stage=$2 source=$3 previous=$4 library=$5 output=$6
shift 6
here=$(dirname "$0")
folder=$here/..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say_reason() { sed -n 's/.*"reason":"\([^"]*\)".*/'"$stage: "'\1/p' "$scratch/run" >&2; }

# A race is a fault that only SIM_RACE sees; a kernel that faults gets its page, too.
SIM_RECORD=$scratch/record SIM_RACE=1 "$harness-sim" run "$@" DEVICE=sim FORMAT=json \
    "$(dirname "$library")" >"$scratch/run" 2>"$scratch/log" || code=$?
if [ ! -s "$scratch/record" ]; then
    if grep -o 'SIM_BLOCK=.*' "$scratch/log" | sed 's/^SIM_//' >&2; then exit 64; fi
    cat "$scratch/log" >&2
    say_reason
    [ "${code:-0}" -ne 0 ] || code=1
    exit "$code"
fi
sed -n 's/^ptxsim: SIM_/ptxsim: /; /^ptxsim: /p' "$scratch/log" >&2
grep -q '^ptxsim: ' "$scratch/log" || say_reason # a result that is wrong without a fault
if [ "$output" = - ]; then
    cat "$scratch/record"
    exit
fi

# The numbers of the lines that the source before does not have.
{
    printf '{"previous":"%s","lines":[' "${previous:+$(basename "$(dirname "$previous")")}"
    [ -z "$previous" ] ||
        diff --unchanged-line-format= --old-line-format= --new-line-format='%dn ' \
            "$previous" "$source" | sed 's/ $//; s/ /,/g' || true
    echo ']}'
} >"$scratch/changed"
# Without line information the record does not know the source: the page shows it all the same.
{
    echo '['
    ! grep -q '"source":\[\]' "$scratch/record" ||
        sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g; s/</\\u003c/g; s/.*/"&"/; $!s/$/,/' "$source"
    echo ']'
} >"$scratch/source"
echo null >"$scratch/sass"
if [ -n "${LAB_SHOW:-}" ]; then
    bash -c "$LAB_SHOW FORMAT=json '$library'" >"$scratch/sass" 2>/dev/null ||
        echo null >"$scratch/sass"
fi

mkdir -p "$(dirname "$output")"
awk -v folder="$folder" -v page=shell.html -v title="$stage" \
    -v files="record=$scratch/record run=$scratch/run changed=$scratch/changed \
        source=$scratch/source sass=$scratch/sass body=$here/explore.html looks=$here/explore.css \
        script=$here/explore.txt" \
    -v nav="${NAV:-}" -f "$folder/inline.awk" >"$scratch/page" </dev/null
mv "$scratch/page" "$output"
echo "$output"
