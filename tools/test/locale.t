#!/usr/bin/env bash
# The scripts where numbers have a comma (German) and where I is no capital i (Turkish): their own
# tests once more, with numbers of the one and letters of the other. Catches: a number cut at its
# comma, a name in letters that nobody has.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
tests=(tools/bench/test/bench.t tools/tune/test/tune_times.t tools/ladder/test/ladder.t)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for language in de_DE tr_TR; do
    # It warns, and then exits with 1, of characters that the machine's tables lack.
    localedef -i "$language" -f UTF-8 "$work/$language.UTF-8" >/dev/null 2>&1
    [ -e "$work/$language.UTF-8/LC_NUMERIC" ] ||
        { echo "1..0 # SKIP the locales of this machine cannot be built"; exit 0; }
done
export LOCPATH=$work
abroad() {
    env -u LC_ALL LANG=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 LC_CTYPE=tr_TR.UTF-8 "$@" \
        >"$work/log" 2>&1
}

# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$work/log")

# The locales are what they are called, or the rest says nothing.
abroad bash -c 'printf "%.1f" 1,5' && grep -qx 1,5 "$work/log"
result $? "a comma is a decimal point in German"
# shellcheck disable=SC2016 # the other shell expands it
abroad bash -c 'x=i && [ "${x^}" != I ]'
result $? "I is no capital i in Turkish"

for test in "${tests[@]}"; do
    abroad "$test"
    code=$?
    [ $code -eq 0 ] && ! grep -q '^not ok' "$work/log"
    result $? "$test"
done
echo "1..$count"
