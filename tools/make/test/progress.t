#!/usr/bin/env bash
# What long commands say on stderr while they work. Catches: a line that is lost or said late, a
# count of parts that is not of parts, silence while one part takes long, a line for every part of a
# quick command, leavings on a terminal.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")
shell() { bash -euo pipefail -c '. tools/make/progress.sh; eval "$1"' shell "$1"; }
# Three parts, of which one has a second line.
parts="printf 'ok - a\nnot ok - b\n# why\nok - c\n'"

shell "$parts | follow parts 3 '^(not )?ok' '^not ok' missed" >"$log" 2>"$log.err"
ok "lines pass" cmp -s "$log" <(eval "$parts")
cat "$log.err" >"$log"
ok "a quick command says nothing" [ ! -s "$log" ]
shell "told=-10; $parts | follow parts 4 '^(not )?ok' '^not ok' missed" 2>"$log" >/dev/null
ok "one that has taken ten seconds says a line" [ "$(cat "$log")" = "parts: 0 of 4, 0 missed" ]
shell "told=-6; { $parts; sleep 6; } | follow parts 4 '^(not )?ok' '^not ok' missed" 2>"$log" \
    >/dev/null
ok "while no part ends, too" [ "$(cat "$log")" = "parts: 3 of 4, 1 missed" ]
shell "{ printf 'not o'; sleep 1.5; echo 'k - d'; } | follow parts 1 '^(not )?ok'" >"$log"
ok "a line that comes in two halves is one" [ "$(cat "$log")" = "not ok - d" ]
if command -v script >/dev/null; then
    script -qec "bash -euc '. tools/make/progress.sh; seq 2 | follow parts 2 >$log.out'" /dev/null \
        >"$log"
    ok "a terminal sees each part" grep -qF $'\r\033[Kparts: 1 of 2\r\033[K' "$log"
    ok "and nothing is left of it" [ "$(tail -c 4 "$log")" = $'\r\033[K' ]
else
    for _ in 1 2; do skip "there is no program script to make a terminal"; done
fi
rm -f "$log.err" "$log.out"
echo "1..$count"
