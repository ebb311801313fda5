#!/usr/bin/env bash
# What the site has besides chapters and pages: style, script, images, headers, the results for the
# chart, the index for the search. Usage: site.sh OUTDIR FILE.md...
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
out=$1
shift
folder=$(dirname "$0")/..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The colours are those of the other pages.
sed -n '/^:root {/,/^\* {/p' "$folder/style.css" | sed '$d' >"$scratch/palette"
awk -v folder="$folder" -v page=site/site.css -v files="palette=$scratch/palette" \
    -f "$folder/inline.awk" </dev/null >"$out/site.css"
cp "$folder/site/site.js" "$out/site.js"
cp -u --parents notes/img/*.svg notes/results/*.svg notes/*.ipynb common/*.h common/*/*.h \
    tools/toolchain/trial.cu tools/toolchain/compiler.txt tools/limits/latencies.cu \
    tools/limits/machines/*.txt tools/sass/replay/timing.h LICENSE "$out"

# Titles of all pages, and the words of the glossary.
page_of() { case $1 in README.md) echo index.html ;; *README.md) echo "${1%README.md}index.html" ;;
    *) echo "${1%.md}.html" ;; esac; }
{
    echo 'window.SEARCH = ['
    for file in "$@"; do
        awk -v page="$(page_of "$file")" '
            function text(s,    link) {
                while (match(s, /\[[^][]*\]\([^)]*\)/)) { # of a link its words
                    link = substr(s, RSTART + 1, RLENGTH)
                    sub(/\].*/, "", link)
                    s = substr(s, 1, RSTART - 1) link substr(s, RSTART + RLENGTH)
                }
                gsub(/[*`\\]/, "", s); gsub(/"/, "\\\"", s); gsub(/</, "\\u003c", s); return s }
            function named(s) { # as chapter.sh names it
                s = tolower(s); gsub(/[^a-z0-9 _-]/, "", s); gsub(/ /, "-", s); return s }
            function put_word(    word) {
                if (item == "") return
                word = item; sub(/\*\*.*/, "", word)
                print "{title: \"" text(word) "\", page: \"" page "#word-" named(word) \
                    "\", of: \"" title "\", text: \"" text(item) "\"},"
                item = ""
            }
            /^```/ { code = !code }
            code { next }
            /^# / { title = text(substr($0, 3)); print "{title: \"" title "\", page: \"" page \
                "\", of: \"\"}," }
            /^##+ / { head = $0; sub(/^#+ /, "", head)
                print "{title: \"" text(head) "\", page: \"" page "#" named(head) \
                    "\", of: \"" title "\"}," }
            item != "" && /^  / { sub(/^ +/, " "); item = item $0; next }
            { put_word() }
            /^- \*\*/ && page ~ /glossary/ { item = substr($0, 5) }
            END { put_word() }' "$file"
    done
    echo '];'
    echo 'window.RESULTS = ['
    "$folder/site/results.sh" notes/results/*.jsonl
    echo '];'
} >"$scratch/index"
mv "$scratch/index" "$out/search_index.js"
