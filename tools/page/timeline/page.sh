#!/usr/bin/env bash
# The page of a timeline: page.sh TITLE SOURCE RECORD PAGE [ORDER]
# RECORD is what FORMAT=json prints, ORDER the same of a simulated run. Environment: NAV is put into
# the page's head.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
title=$1 source=$2 record=$3 page=$4 order=${5:-}
here=$(dirname "$0") folder=$(dirname "$0")/..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{ # its lines as JSON
    printf '{"lines":['
    sed 's/[\\"]/\\&/g; s/\t/\\t/g; s/\r//g; s/</\\u003c/g; s/.*/"&"/; $!s/$/,/' "$source"
    echo ']}'
} >"$scratch/source"
[ -n "$order" ] || { order=$scratch/order && echo null >"$order"; }
awk -v folder="$folder" -v page=shell.html -v title="$title" \
    -v files="record=$record order=$order source=$scratch/source body=$here/timeline.html \
        looks=$here/timeline.css script=$here/clock.txt" -v nav="${NAV:-}" \
    -f "$folder/inline.awk" >"$page" </dev/null
