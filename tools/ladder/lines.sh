#!/usr/bin/env bash
# How long each stage is, and how far from the stage before it, beside what budget.txt allows.
#
#   tools/ladder/lines.sh [STAGE=FILE]        FILE counts in place of that stage's kernel.cu
#
# Prints one line per stage, in order, of six fields with tabs between: number, stage, lines, most
# lines, changed lines, most changed lines. A field is - where there is nothing to say: a stage
# without a row in the budget, a row without a stage, the changed lines of the first stage.
# Environment: STAGE_FOLDER, the folder of the stages; LADDER_BUDGET, the file. Exit: 64 for a bad
# budget or a stage without its kernel.cu.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
stages=${STAGE_FOLDER:-stages}
budget=${LADDER_BUDGET:-$(dirname "$0")/budget.txt}
instead=${1:-}

declare -A most changes
at=0
while read -r number lines changed rest; do
    at=$((at + 1))
    [[ -n $number && $number != \#* ]] || continue
    if ! [[ $number =~ ^[0-9]{2}$ && $lines =~ ^[0-9]+$ && $changed =~ ^([0-9]+|-)$ &&
        -z $rest && -z ${most[$number]:-} ]]; then
        echo "$budget:$at: expected NUMBER MAX_LINES MAX_CHANGED, one line for each stage" >&2
        exit 64
    fi
    most[$number]=$lines
    changes[$number]=$changed
done <"$budget"

before=''
for folder in "$stages"/[0-9][0-9]_*/; do
    [ -e "$folder" ] || break
    stage=${folder%/}
    stage=${stage##*/}
    number=${stage%%_*}
    kernel=$stages/$stage/kernel.cu
    [ "${instead%%=*}" != "$stage" ] || kernel=${instead#*=}
    [ -f "$kernel" ] || { echo "$kernel is not there" >&2 && exit 64; }
    mapfile -t lines <"$kernel"
    changed=-
    if [ -n "$before" ]; then # a sign for each line that only one of the two has
        signs=$(diff --unchanged-line-format= --old-line-format=- --new-line-format=+ \
            "$before" "$kernel" || true)
        changed=${#signs}
    fi
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$number" "$stage" "${#lines[@]}" \
        "${most[$number]:--}" "$changed" "${changes[$number]:--}"
    unset "most[$number]" "changes[$number]" # so that a second stage of this number has no row
    before=$kernel
done
for number in "${!most[@]}"; do
    printf '%s\t-\t-\t%s\t-\t%s\n' "$number" "${most[$number]}" "${changes[$number]}"
done | sort
