#!/usr/bin/env bash
# A compiler that does nothing twice: what the same files, one of them a source, and the same flags
# gave before is copied. Tests that build programs anew for each mutant take it as their CC or NVCC.
#
# Environment: COMPILER, the compiler; KEPT, the folder of what it gave, which is another one
# where a file that sources include is another.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case

output='' compiles=false files=() flags=()
for ((i = 1; i <= $#; i++)); do
    case ${!i} in
        -o) i=$((i + 1)) && output=${!i} ;;
        *.c | *.cu) compiles=true ;;&
        *.c | *.cu | *.o) files+=("${!i}") ;;&
        *) flags+=("${!i}") ;;
    esac
done
if ! $compiles || [ -z "$output" ]; then exec "$COMPILER" "$@"; fi

key=$({ echo "${flags[*]}" && cat "${files[@]}"; } | sha256sum)
# shellcheck disable=SC2153 # two names
kept=$KEPT/${key%% *}
if [ ! -e "$kept" ]; then
    mkdir -p "$KEPT" && new=$(mktemp "$KEPT/XXXXXX") || exit 1
    "$COMPILER" "${flags[@]}" -o "$new" || { rm -f "$new"; exit 1; }
    mv "$new" "$kept"
fi
cp "$kept" "$output"
