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
if program=$(command -v cmark-gfm); then
    echo "cmark-gfm  $program" >&2
    echo "$program"
    exit
fi
program=$(realpath -m "$1")/bin/cmark-gfm
# The package is for the release of Python that fetched it.
if ! "$program" /dev/null >/dev/null 2>&1; then
    rm -rf "${1:?}"/{packages,bin}
    list=$(dirname "$0")/markdown.txt
    echo "cmark-gfm was not found: fetching the Python package cmarkgfm into $1" >&2
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    if ! python3 -m pip install --quiet --no-input --disable-pip-version-check --only-binary :all: \
        --require-hashes --target "$scratch/packages" --requirement "$list" \
        >"$scratch/log" 2>&1; then
        reason=$(tail -n 1 "$scratch/log")
        ! grep -q 'DO NOT MATCH THE HASHES' "$scratch/log" ||
            reason="a wheel is not the one whose hash $list has"
        echo "make site needs cmark-gfm, and fetching it failed ($reason): install it, for" \
            "example Debian's package cmark-gfm" >&2
        exit 2
    fi
    mkdir -p "$scratch/bin"
    cat >"$scratch/bin/cmark-gfm" <<'END'
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
    chmod 755 "$scratch/bin/cmark-gfm"
    mkdir -p "$1"
    cp -r "$scratch/packages" "$scratch/bin" "$1/"
fi
echo "cmark-gfm  $program" >&2
echo "$program"
