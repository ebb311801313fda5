#!/usr/bin/env bash
# Which versions of linters are asked (judges.sh). Catches: a version that nobody has tried and
# whose opinion fails a test, one that was tried and is passed over, a message without its version.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/test/judges.sh
. tools/test/judges.sh
count=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$work:$PATH
says() { # says TOOL VERSION EXPECTED: what is said of a TOOL that prints VERSION; "" if it is asked
    local said
    printf '#!/bin/sh\necho "%s"\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
    said=$(not_asked "$1") || said=''
    count=$((count + 1))
    [ "$said" = "$3" ] || printf 'not '
    echo "ok $count - $1, $2: ${3:-asked}"
    [ "$said" = "$3" ] || echo "# $said"
}
says clang-format 'Debian clang-format version 14.0.6' ''
says clang-format 'Ubuntu clang-format version 18.1.3 (1ubuntu1)' \
    'clang-format 18.1.3 may give other results; supported versions: 14'
says clang-tidy 'Debian LLVM version 14.0.6' ''
says clang-tidy 'LLVM version 140.0.6' \
    'clang-tidy 140.0.6 may give other results; supported versions: 14'
says shellcheck 'version: 0.9.0' ''
says shellcheck 'version: 0.10.0' \
    'shellcheck 0.10.0 may give other results; supported versions: 0.9'
says gcc 'gcc (Ubuntu 13.3.0-6ubuntu2~24.04.1) 13.3.0' ''
says gcc 'gcc (Debian 15.1.0-2) 15.1.0' \
    'gcc 15.1.0 may give other results; supported versions: 12, 13, 14'
says clang 'clang version unknown' 'clang  may give other results; supported versions: 14'
[ "$(not_asked no-such-linter)" = 'no-such-linter is not installed' ] || printf 'not '
echo "ok $((count += 1)) - a tool that is missing"
echo "1..$count"
