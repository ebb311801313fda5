#!/usr/bin/env bash
# Has the simulator count what the limits of a variant are computed from.
#
#   tools/limits/count.sh build/attention FOLDER LIBRARY...
#
# A LIBRARY is build/ARCH/STAGE/VARIANT.so; what is counted goes to FOLDER/ARCH/STAGE/VARIANT:
#   lengths                    three lengths of which the query tile is a divisor
#   LENGTH.json, LENGTH.txt    record and report of two heads with so many queries and keys, on two
#                              multiprocessors: a plan then suits many tiles, as on a GPU
#   first.json, second.json    the record of the least, with its first and its second block
# tools/sass/limits/model.c reads them. What is newer than the library and the simulator stays.
#
# Exit: 0; 1 if the simulator fails on a stage, with its reason; 2 if its counts cannot be kept.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
export SIM_MULTIPROCESSORS=2
program=$1 folder=$2
shift 2

full() { echo "$folder cannot be written: is the disk full?"; }

# why NAME: what there is to say of a run that failed. A program that has ended early, or has no
# room for its results, leaves none.
why() {
    if [ -s "$1.run" ]; then
        sed -n 's/.*"name":"\([^"]*\)".*"reason":"\([^"]*\)".*/\1: \2/p' "$1.run"
    else
        tail -n 1 "$1.txt" | grep . || full
    fi
}

# run NAME LENGTH BLOCK: one run of $library, with that block recorded, in NAME.json and NAME.txt
run() {
    local name=$1 variant keys
    variant=$(basename "$library" .so)
    IFS=_ read -r d type mask <<<"$variant"
    keys=(B=1 H=2 HKV=2 N="$2" NKV="$2" D="${d#d}" DTYPE="$type" CAUSAL=0)
    [ "$mask" = full ] || keys[-1]=CAUSAL=1
    FORCE=1 SIM_RECORD=$name.part SIM_BLOCK=$3 "$program-sim" run DEVICE=sim FORMAT=json \
        COUNTERS=full "${keys[@]}" "$(dirname "$library")" >"$name.run" 2>"$name.txt" || {
        why "$name" >&2
        exit 1
    }
    [ -e "$name.part" ] || { echo "with N=$2 its first kernel has no block $3" >&2 && exit 1; }
    [ -s "$name.part" ] || { full >&2 && exit 1; }
    rm "$name.run"
    mv "$name.part" "$name.json"
}

# blocks RECORD: how many blocks its first kernel had
blocks() { grep -om1 '"grid":\[[0-9]*' "$1" | grep -o '[0-9]*$'; }

# threads REPORT: of a block
threads() { grep -om1 'blocks of [0-9]* threads' "$1"; }

# fits LEAST: whether blocks are of one size for all three lengths, and twice the length has twice
# as many or four times. One block per SM plans its tiles, and they may have 192 rows.
fits() {
    local few many
    few=$(blocks "$to/$1.json") many=$(blocks "$to/$((2 * $1)).json")
    [ "$(threads "$to/$1.txt")" = "$(threads "$to/$((2 * $1)).txt")" ] || return 1
    [ "$(threads "$to/$1.txt")" = "$(threads "$to/$((3 * $1)).txt")" ] || return 1
    [ "$many" -ne "$few" ] || return $(($1 % 192 > 0))
    [ "$many" -eq $((2 * few)) ] || [ "$many" -eq $((4 * few)) ]
}

to=''
trap '[ -z "$to" ] || rm -rf "$to"' EXIT
trap 'trap "" INT TERM; exit 130' INT TERM

# counted: whether $counts are of this library and simulator.
counted() { [ "$counts/lengths" -nt "$library" ] && [ "$counts/lengths" -nt "$program-sim" ]; }

# shellcheck source=tools/make/progress.sh
. "$(dirname "$0")/../make/progress.sh"
# Two of these may run at once: each counts in a folder of its own, and the first to end stays.
for library in "$@"; do
    counts=${library#build/}
    counts=$folder/${counts%.so}
    to=$counts.$$
    counted && continue
    tell "limits: the simulator counts ${counts#"$folder"/}"
    mkdir -p "$to"
    # 256 is a multiple of tiles of 64, 128 and 256 rows, 384 of those of 192.
    for least in 256 384 768; do
        for times in 1 2 3; do run "$to/$((times * least))" $((times * least)) none; done
        ! fits "$least" || break
    done
    run "$to/first" "$least" 0
    run "$to/second" "$least" 1
    echo "$least" $((2 * least)) $((3 * least)) >"$to/lengths"
    counted || { rm -rf "$counts" && said=$(mv -T "$to" "$counts" 2>&1); } || counted ||
        { echo "${said:-}" >&2 && exit 2; }
    rm -rf "$to"
done
tell_no_more
