#!/usr/bin/env bash
# make stageNN timeline: runs a stage and its stamped copy and shows what the stamps say.
# Usage: timeline.sh HARNESS STAGE SOURCE LIBRARY STAMPED PAGE [VARIABLE=value...]
# FORMAT=text writes the page, html, and prints its name; json prints the record (README.md),
# perfetto a Chrome trace, svg a picture of some tiles (a Chromium draws it).
# Environment: BLOCK chooses the block, RESULTS a record in place of a run.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
harness=$1 stage=$2 source=$3 library=$4 stamped=$5 page=$6
shift 6
here=$(dirname "$0")
format=text
arguments=()
for argument; do
    case $argument in
    FORMAT=*) format=${argument#FORMAT=} ;;
    *) arguments+=("$argument") ;;
    esac
done
if [ "$format" = svg ]; then # else the run would be for nothing
    # shellcheck source=tools/page/chromium.sh
    . "$here/../page/chromium.sh"
    can_look || exit 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The simulator's clock knows who waits for whom only in the block that it records.
run() { # run OUTPUT VARIABLE=value...
    SIM_RECORD=$scratch/steps SIM_BLOCK=${BLOCK:-} "$harness" timeline "${@:2}" \
        ${BLOCK:+"BLOCK=$BLOCK"} "$(dirname "$library")" "$(dirname "$stamped")" >"$1" \
        2> >(grep --line-buffered -v '^ptxsim: SIM_BLOCK=' >&2)
}

is_record() { grep -q '^"marks":\[\[' "$1" && grep -q "\"name\":\"$stage\"" "$1"; }

# variant_of RECORD: the stage's variant that ran, such as d128_fp16_full.
variant_of() {
    sed -nE '/"d":/{s/.*"dtype":"([a-z0-9]*)","causal":(true|false),.*"d":([0-9]*),.*/d\3_\1_\2/
        s/true$/causal/; s/false$/full/; p; q}' "$1"
}

# ---- The record ----------------------------------------------------------------------------------
if [ -n "${RESULTS:-}" ]; then
    [ -f "$RESULTS" ] || { echo "RESULTS=$RESULTS: there is no such file" >&2; exit 64; }
    is_record "$RESULTS" || {
        echo "RESULTS=$RESULTS is no record of $stage: make ${stage%%_*} timeline FORMAT=json" \
            "writes one" | sed 's/make /make stage/' >&2
        exit 64
    }
    for argument in "${arguments[@]}" ${BLOCK:+"BLOCK=$BLOCK"}; do
        case $argument in
        *= | D=* | DTYPE=* | CAUSAL=* | DEVICE=* | GPU=* | LIMIT=*) continue ;;
        esac
        echo "RESULTS=$RESULTS already fixes the problem and the block: leave out $argument" >&2
        exit 64
    done
    recorded=$(variant_of "$RESULTS") built=$(basename "$library" .so)
    [ "$recorded" = "$built" ] || {
        echo "RESULTS=$RESULTS is a record of $recorded, not $built: D, DTYPE and CAUSAL must be" \
            "those of its run" >&2
        exit 64
    }
    cp "$RESULTS" "$scratch/record"
else
    run "$scratch/record" "${arguments[@]}"
fi
simulated=0
if grep -q '"simulated":true' "$scratch/record"; then
    simulated=1
    echo "$stage: simulated, so the timeline shows the order of instructions and waits, not" \
        "nanoseconds" >&2 || true
fi

case $format in
json)
    cat "$scratch/record"
    exit
    ;;
perfetto)
    awk -f "$here/perfetto.awk" "$scratch/record"
    exit
    ;;
esac

# ---- The page ------------------------------------------------------------------------------------
# Beside the clock of a GPU what the simulator's order says of a few tiles of this variant.
order=()
if [ "$simulated" -eq 0 ]; then
    variant=()
    for argument in "${arguments[@]}"; do
        case $argument in D=* | DTYPE=* | CAUSAL=*) variant+=("$argument") ;; esac
    done
    if BLOCK='' run "$scratch/order" "${variant[@]}" DEVICE=sim B=1 H=2 N=256 NKV=1024 \
        2>"$scratch/log"; then
        order=("$scratch/order")
    else
        echo "$stage: the page lacks the simulator's shares: $(tail -n 1 "$scratch/log")" >&2
    fi
fi
"$here"/../page/timeline/page.sh "$stage" "$source" "$scratch/record" "$scratch/page" \
    "${order[@]}"
if [ "$format" = svg ]; then
    mv "$scratch/page" "$scratch/page.html"
    "$here"/../page/svg_of.sh "$scratch/page.html"
    exit
fi
mkdir -p "$(dirname "$page")"
mv "$scratch/page" "$page"
echo "$page"
