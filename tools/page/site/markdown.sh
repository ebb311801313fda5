#!/usr/bin/env bash
# Prints the path of a program that turns Markdown (as GitHub has it, with tables) into HTML.
#
#   tools/page/site/markdown.sh OUTDIR
#
# cmark-gfm from PATH, else OUTDIR/bin/cmark-gfm: the same library in a Python package, fetched if
# need be, and compared with the hashes of markdown.txt. What was found goes to stderr. Exit: 0, 2
# if there is none to be had, 64 bad usage.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
if [ $# -ne 1 ] || [ -z "$1" ]; then
    echo "usage: tools/page/site/markdown.sh OUTDIR" >&2
    exit 64
fi
fail() {
    echo "$*" >&2
    exit 2
}
if program=$(command -v cmark-gfm); then
    echo "cmark-gfm  $program" >&2
    echo "$program"
    exit
fi
program=$(realpath -m "$1")/bin/cmark-gfm
# works PROGRAM: true if it makes HTML. The package is for the release of Python that fetched it.
works() { [ "$("$1" <(echo '# *a*') 2>/dev/null)" = '<h1><em>a</em></h1>' ]; }
if ! works "$program"; then
    list=$(dirname "$0")/markdown.txt
    echo "cmark-gfm was not found: fetching the Python package cmarkgfm into $1" >&2
    { mkdir -p "$(dirname "$1")" && scratch=$(mktemp -d "$1.XXXXXX"); } 2>/dev/null ||
        fail "$1 cannot be written"
    trap 'rm -rf "$scratch"' EXIT
    trap 'trap "" INT TERM; exit 130' INT TERM
    if ! python3 -m pip install --quiet --no-input --disable-pip-version-check --only-binary :all: \
        --require-hashes --target "$scratch/whole/packages" --requirement "$list" \
        >"$scratch/log" 2>&1; then
        reason=$(tail -n 1 "$scratch/log")
        ! grep -q 'DO NOT MATCH THE HASHES' "$scratch/log" ||
            reason="a wheel is not the one whose hash $list has"
        fail "make site needs cmark-gfm, and fetching it failed ($reason): install it, for" \
            "example Debian's package cmark-gfm"
    fi
    fresh=$scratch/whole/bin/cmark-gfm
    mkdir -p "${fresh%/*}"
    cat >"$fresh" <<'END' || fail "$1 cannot be written: is the disk full?"
#!/bin/sh
# cmark-gfm: Markdown from the file that is named last, to HTML. A Python without what else it finds
# on this machine starts in half of the time.
exec python3 -S - "${0%/*}/../packages" "$@" <<'PROGRAM'
import sys

sys.path.insert(0, sys.argv[1])
import cmarkgfm
from cmarkgfm.cmark import Options

with open(sys.argv[-1], encoding="utf-8") as file:
    text = file.read()
sys.stdout.reconfigure(encoding="utf-8")
sys.stdout.write(cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))
PROGRAM
END
    chmod 755 "$fresh"
    works "$fresh" ||
        fail "make site needs cmark-gfm, and the fetched one does not work: install it, for" \
            "example Debian's package cmark-gfm"
    # Another make may have been faster: its folder is as good as this one.
    works "$program" || { rm -rf "${1:?}" && mv -T "$scratch/whole" "$1"; } || works "$program"
fi
echo "cmark-gfm  $program" >&2
echo "$program"
