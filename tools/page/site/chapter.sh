#!/usr/bin/env bash
# A chapter of the site from its Markdown. Usage: chapter.sh MARKDOWN_PROGRAM FILE.md OUTPUT ROOT
# ROOT is the way from the page to the site's first one, such as ../ or nothing. Links to Markdown
# lead to its page, links to a stage's source into its explorer, at the line if they name one.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
markdown=$1 file=$2 output=$3 root=$4
folder=${0%/*}/..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$markdown" --unsafe -e table -e strikethrough -e autolink "$file" >"$scratch/plain"
sed -E 's,href="([^":#]*)README\.md(#[^"]*)?",href="\1index.html\2",g
    s,href="([^":#]*)\.md(#[^"]*)?",href="\1.html\2",g
    s,href="((\.\./)*)stages/([0-9a-z_]+)/kernel\.cu#L([0-9]+)",href="\1explore/\3.html#line=\4",g
    s,href="((\.\./)*)stages/([0-9a-z_]+)/kernel\.cu",href="\1explore/\3.html",g
    s,href="results/",href="results/h200.html",' "$scratch/plain" |
    awk -v file="$file" 'function named(name) {
        gsub(/<[^>]*>/, "", name); name = tolower(name)
        gsub(/&[a-z]+;/, "", name); gsub(/[^a-z0-9 _-]/, "", name); gsub(/ /, "-", name)
        return name
    }
    { # headings and words of the glossary get names that links can use
        if ($0 ~ /^<h[1-6]>/) sub(/^<h[1-6]/, "& id=\"" named($0) "\"")
        if (file ~ /glossary/ && match($0, /^<li><strong>[^<]*/))
            sub(/^<li/, "& id=\"word-" named(substr($0, 1, RLENGTH)) "\"")
        print
    }' >"$scratch/body"
[ "$output" != build/site/index.html ] ||
    sed -E -i '/^<p><img src="notes\/results\/[a-z0-9_]*_ladder.svg"/ {
        s,.*results/(.*)_ladder.svg.*,<div id="chart" data-card="\1">&</div>, }' "$scratch/body"

icon() { # icon PAGE NAME SIGN: a link that shows its name under the pointer
    echo "<a href=\"$root$1.html\" title=\"$2\" aria-label=\"$2\">$3</a>"
}
{
    echo '<ul>'
    for page in index:"The ladder" notes/course:"Course" notes/glossary:"Glossary" \
        notes/trust:"What is checked" notes/results/nvidia_h200:"Results"; do
        echo "<li><a href=\"$root${page%%:*}.html\">${page#*:}</a></li>"
    done
    echo '</ul><p class="small">Stages: chapter, explorer, beside the one before</p><ul>'
    before=''
    for stage in stages/[0-9][0-9]_*; do
        stage=${stage#stages/}
        echo "<li><a href=\"${root}notes/$stage.html\">${stage//_/ }</a>"
        icon "explore/$stage" "$stage in the explorer" '&#9678;'
        [ -z "$before" ] || icon "compare/${before%%_*}_${stage%%_*}" "$before and $stage" '&#8644;'
        echo '</li>'
        before=$stage
    done
    echo '</ul>'
} >"$scratch/stages"

[ -d "${output%/*}" ] || mkdir -p "${output%/*}"
title=$(sed -n '/^# /{s///p;q}' "$file")
awk -v folder="$folder" -v page=site/chapter.html -v title="${title//&/and}" -v nav='' \
    -v files="stages=$scratch/stages body=$scratch/body" -f "$folder/inline.awk" </dev/null |
    sed "s,@root@,$root,g" >"$scratch/page"
mv "$scratch/page" "$output"
echo "$output"
