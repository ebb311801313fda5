#!/usr/bin/env bash
# What the bash tests print with tap.sh. Catches: a check that fails and is called ok, a number that
# is given twice or not at all, a reason that is not shown, words that are found where they are not.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo why >"$work/log"
echo "another reason" >"$work/other"

(
    # shellcheck source=tools/test/tap.sh
    . tools/test/tap.sh
    ok "a command" [ 1 -eq 1 ]
    ok "one that fails" [ 1 -eq 2 ]
    shown=("$work/log" "$work/other")
    ok "one that fails with files" false
    result 3 "a status" "$work/other"
    result 0 "a good one" "$work/other"
    skip "no reason"
    printf 'a [line]* of it\nand --another\n' >"$work/log"
    log=$work/log
    ok "what is said" says '[line]* of it'
    ok "what looks like an option" says --another
    ok "what a pattern would find" says 'a * of'
    echo "1..$count"
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
ok 7 - what is said
ok 8 - what looks like an option
not ok 9 - what a pattern would find
# a [line]* of it
# and --another
# another reason
1..9
END
# Not by tap.sh: what calls every check good would call itself good.
if cmp -s "$work/expected" "$work/printed"; then echo "ok 1 - each check has its line"; else
    echo "not ok 1 - each check has its line"
    sed 's/^/# /' "$work/printed"
fi
echo 1..1
