#!/usr/bin/env bash
# Makes the table and the plots of a results file, from its JSON lines alone.
#
#   tools/plot/plot.sh NAME.jsonl        of a bench: writes NAME.md, NAME.svg (lines over the
#                                        sequence length) and NAME_ladder.svg (one bar a stage);
#                                        of a roofline, of regimes and of a sustained bench: NAME.md
#                                        and NAME.svg, so of limits; of several inputs (INIT=all):
#                                        NAME.md alone
#
# Every file appears whole or not at all. Exit: 0; 0 with a sentence if gnuplot is missing, which
# only the plots need, or if nothing was timed; 1 if the lines are no results; 2 if the folder
# cannot be written; 64 bad usage.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

here=$(dirname "$0")
if [ $# -ne 1 ] || [[ $1 != *.jsonl ]] || [ ! -f "$1" ]; then
    echo "RESULTS=${1:-}: allowed is a file of JSON lines, as in notes/results/NAME.jsonl" >&2
    exit 64
fi
name=${1%.jsonl}
scratch=$(mktemp -d "$(dirname "$1")/plot.XXXXXX" 2>/dev/null) || {
    echo "$(dirname "$1") cannot be written, and the table and the plots go there" >&2
    exit 2
}
trap 'rm -rf "$scratch"' EXIT
trap 'trap "" INT TERM; exit 130' INT TERM

grep -q '"name":' "$1" || { echo "$1: there is no result in it" >&2; exit 1; }
read_with() { # read_with PROGRAM...: the last one prints
    awk -f "$here/field.awk" "${@/#/-f$here/}" "$lines"
}
lines=$1 drawn=()
if grep -q '"bound_ms":' "$lines"; then
    read_with ../limits/limits_table.awk >"$scratch/table"
    read_with ../limits/limits_data.awk >"$scratch/data"
    plots=(../limits/limits)
elif grep -q '"hbm_bytes":' "$lines"; then
    read_with ../roofline/roofline.awk json.awk ../roofline/roofline_table.awk >"$scratch/table"
    read_with ../roofline/roofline.awk json.awk ../roofline/roofline_data.awk >"$scratch/data"
    plots=(../roofline/roofline)
elif grep -qE '"regime":"([^s]|sm)|"sustained":[0-9]' "$lines"; then
    read_with ../bench/regimes.awk json.awk ../bench/regimes_table.awk >"$scratch/table"
    read_with ../bench/regimes.awk json.awk ../bench/regimes_data.awk >"$scratch/data"
    plots=(../bench/regimes)
elif [ "$(grep -o '"init":"[a-z]*","strength":[^,]*' "$lines" | sort -u | wc -l)" -gt 1 ]; then
    read_with inputs.awk json.awk inputs_table.awk >"$scratch/table"
    plots=()
else
    read_with json.awk table.awk >"$scratch/table"
    read_with json.awk data.awk >"$scratch/data"
    plots=(lines ladder)
fi
if [ ${#plots[@]} -eq 0 ]; then
    :
elif ! grep -q '"tflops":[0-9]' "$lines"; then
    echo "$1: nothing was timed: there is nothing to draw." >&2
elif command -v gnuplot >/dev/null; then
    for plot in "${plots[@]}"; do
        gnuplot "$scratch/data" "$here/style.gp" "$here/$plot.gp" >"$scratch/${plot##*/}"
    done
    drawn=("$name.svg")
    mv "$scratch/${plots[0]##*/}" "$name.svg"
    if [ "${plots[*]}" = "lines ladder" ]; then
        drawn+=("${name}_ladder.svg")
        mv "$scratch/ladder" "${name}_ladder.svg"
    fi
else
    echo "gnuplot was not found: the plots were not drawn (make plot RESULTS=$1 draws them)." >&2
fi
mv "$scratch/table" "$name.md"
echo "wrote $name.md${drawn[*]:+ ${drawn[*]}}" >&2
