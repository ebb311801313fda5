#!/usr/bin/env bash
# What the bash tests print with tap.sh. Catches: a check that fails and is called ok, a number that
# is given twice or not at all, a reason that is not shown.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
echo why >"$work/log"
echo "another reason" >"$work/other"

( # checks of its own, from number 1
    ok "a command" [ 1 -eq 1 ]
    ok "one that fails" [ 1 -eq 2 ]
    shown=("$work/log" "$work/other")
    ok "one that fails with files" false
    result 3 "a status" "$work/other"
    result 0 "a good one" "$work/other"
    skip "no reason"
) >"$work/printed"
cat >"$work/expected" <<'END'
ok 1 - a command
not ok 2 - one that fails
not ok 3 - one that fails with files
# why
# another reason
not ok 4 - a status
# another reason
ok 5 - a good one
ok 6 # SKIP no reason
END
result "$(cmp -s "$work/expected" "$work/printed"; echo $?)" "each check has its line" \
    "$work/printed"
printf '#!/bin/sh\ncat %s; echo 1..6\n' "$work/printed" >"$work/some.t"
chmod +x "$work/some.t"
! prove --exec '' "$work/some.t" >"$work/judged" 2>&1 && grep -q 'Failed tests:  2-4' "$work/judged"
result $? "and prove reads it" "$work/judged"
echo "1..$count"
