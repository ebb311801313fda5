#!/usr/bin/env bash
# A compiler that does nothing twice: what the same preprocessed text and the same flags gave before
# is copied. Tests that build the harness anew for each mutant take it as their CC.
#
# Environment: COMPILER, the compiler; KEPT, the folder of what it gave.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case

flags=() output='' kind=link
for ((i = 1; i <= $#; i++)); do
    case ${!i} in
        -o) i=$((i + 1)) && output=${!i} ;;
        *.c) flags+=("${!i}") && kind=compile ;;
        *) flags+=("${!i}") ;;
    esac
done
[ $kind = compile ] || exec "$COMPILER" "$@"

text=$("$COMPILER" "${flags[@]}" -E 2>/dev/null) || exec "$COMPILER" "$@"
# shellcheck disable=SC2153 # two names
kept=$KEPT/$(printf '%s\n' "${flags[@]}" "$text" | sha256sum | cut -c1-32)
if [ ! -e "$kept" ]; then
    mkdir -p "$KEPT" && new=$(mktemp "$KEPT/XXXXXX") || exit 1
    "$COMPILER" "${flags[@]}" -o "$new" || { rm -f "$new"; exit 1; }
    mv "$new" "$kept"
fi
cp "$kept" "$output"
