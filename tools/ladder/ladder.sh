#!/usr/bin/env bash
# The ladder in numbers, one row per stage: its lines, and what it changes in the source and in the
# machine code of the stage before.
#
#   build/sass count FORMAT=json FILE.so... |
#       tools/ladder/ladder.sh [FORMAT=text|markdown|json] [KERNEL=FILE] STAGE...
#
# The FILE.so are those of the STAGEs and of the stages before them, in one variant. KERNEL is the
# source of the one STAGE, where it is not the stage's own. Exit: 1 if a STAGE was not counted, 64
# for bad usage.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
here=$(dirname "$0")
format=text kernel='' stages=()
for argument; do
    case $argument in
        FORMAT=) ;;
        FORMAT=text | FORMAT=markdown | FORMAT=json) format=${argument#*=} ;;
        FORMAT=*)
            echo "FORMAT must be one of: text markdown json; not '${argument#*=}'" >&2
            exit 64
            ;;
        KERNEL=*) kernel=${argument#*=} ;;
        *) stages+=("$argument") ;;
    esac
done
if [ ${#stages[@]} -eq 0 ]; then
    echo "usage: tools/ladder/ladder.sh [FORMAT=...] [KERNEL=FILE] STAGE..." >&2
    exit 64
fi
lines=$("$here/lines.sh" ${kernel:+"${stages[0]}=$kernel"})
exec awk -v format="$format" -v shown="${stages[*]}" -f "$here/../plot/field.awk" \
    -f "$here/ladder.awk" <(echo "$lines") -
