#!/usr/bin/env bash
# The page of a timeline: page.sh TITLE SOURCE RECORD ORDER PAGE
# RECORD is what FORMAT=json prints, ORDER the same of a simulated run, or null.
set -euo pipefail
title=$1 source=$2 record=$3 order=$4 page=$5
folder=$(dirname "$0")/..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{ # its lines as JSON
    printf '{"lines":['
    sed 's/[\\"]/\\&/g; s/\t/\\t/g; s/\r//g; s/</\\u003c/g; s/.*/"&"/; $!s/$/,/' "$source"
    echo ']}'
} >"$scratch/source"
awk -v folder="$folder" -v page=timeline/timeline.html -v title="$title" \
    -v files="record=$record order=$order source=$scratch/source" -f "$folder/inline.awk" \
    >"$page" </dev/null
