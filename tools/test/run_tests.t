#!/usr/bin/env bash
# The end of `make test`: what was skipped, the slowest tests by name, and prove's exit code.
# Catches: a failure that the summary swallows, a skipped test that nobody sees, a slow test that is
# not named, a test that is lost because the last run knew it, or did not.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir t
shown=(out)
new() { # new NAME SECONDS [not]: a test that takes so long and passes, or not
    printf '#!/bin/sh\necho %s >>begun\nsleep %s\necho %sok 1\necho 1..1\n' \
        "$1" "$2" "${3:+not }" >"t/$1.t"
    chmod +x "t/$1.t"
}
run() { # run TEST...: code, out
    code=0
    rm -f begun
    "$root/tools/test/run_tests.sh" times "${@/#/t/}" >out 2>&1 || code=$?
}
named() { sed -n '/^The slowest/,$p' out | sed -n 's,.*t/\(.*\)\.t$,\1,p' | tr '\n' ' '; }

new slow 0.8
new slower 2
for i in {1..10}; do new "quick$i" 0; done
run quick1.t missing.t
ok "without a test of that name there is an error" [ $code -ne 0 ]
run {quick1,slow,quick2,slower,quick3,quick4,quick5,quick6,quick7,quick8,quick9,quick10}.t
ok "tests that pass" [ $code -eq 0 ]
ok "the slowest is named first, then the next" grep -q '^slower slow ' <<<"$(named)"
ok "ten are named" [ "$(named | wc -w)" -eq 10 ]
new broken 0 not
run {quick1,broken,slower,slow}.t
ok "one that fails ends with 1" [ $code -eq 1 ]
ok "and the slowest are named all the same" grep -q '^slower slow ' <<<"$(named)"
ok "all four have run, and no other" \
    [ "$(sort begun | tr '\n' ' ')" = 'broken quick1 slow slower ' ]
ok "nothing is said of skipped ones where there are none" [ "$(grep -c '^Skipped' out)" -eq 0 ]
printf '#!/bin/sh\necho "1..0 # SKIP needs a tool"\n' >t/whole.t
printf '#!/bin/sh\n%s\n' 'echo ok 1 - a \# SKIP no b' 'echo ok 2' 'echo ok 3 - c \# SKIP no b' \
    'echo ok 4 \# skip no d' 'echo 1..4' >t/checks.t
chmod +x t/{whole,checks}.t
run {whole,checks,quick1}.t
ok "tests that are skipped are named, and so are the reasons" [ \
    "$(sed -n '/^Skipped:$/,/^The slowest/p' out | sed '1d;$d')" = \
    $'t/whole.t: needs a tool\nt/checks.t: checks 2: no b\nt/checks.t: checks 1: no d' ]
run quick1.t
ok "those of an earlier run are not" [ "$(grep -c '^Skipped' out)" -eq 0 ]
TEST_JOBS=1 run {quick1,slow,slower}.t
ok "what took long begins, and what is not asked for does not run" \
    [ "$(sort begun | tr '\n' ' ')-$(tail -n 1 begun)" = 'quick1 slow slower -quick1' ]
echo "1..$count"
