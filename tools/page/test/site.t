#!/usr/bin/env bash
# make site: every link leads somewhere, every page is closed markup, the chart and the search work,
# and what is up to date is not made again.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS KERNEL D DTYPE CAUSAL
# shellcheck source=tools/page/test/browser.sh
. tools/page/test/browser.sh

make site >"$scratch/log" 2>&1
code=$?
if [ $code -ne 0 ] && grep -q 'fetching it failed' "$scratch/log"; then
    echo "1..0 # SKIP $(grep 'fetching it failed' "$scratch/log")"
    exit 0
fi
result $code "make site" "$scratch/log"
make site >"$scratch/log" 2>&1
[ "$(grep -c html "$scratch/log")" -eq 1 ]
result $? "a second time it makes no page again" "$scratch/log"
touch notes/07_swizzle.md
make site >"$scratch/log" 2>&1
[ "$(grep -c html "$scratch/log")" -eq 2 ]
result $? "and one page if one chapter is newer" "$scratch/log"
[ "$(du -sm build/site | cut -f1)" -le 40 ]
result $? "the site has at most 40 MB"

mapfile -t pages < <(find build/site -name '*.html' | sort)
for stage in stages/*/; do
    stage=$(basename "$stage")
    [ -s "build/site/explore/$stage.html" ] && [ -s "build/site/notes/$stage.html" ]
    result $? "$stage has its chapter and its page"
done
result "$([ "$(find build/site/compare -name '*.html' | wc -l)" -eq 15 ]; echo $?)" \
    "neighbours are beside each other on fifteen pages"

# Links that lead nowhere, from the folder of the page that has them.
perl -0777 -ne '
    use File::Basename;
    our %names; my $folder = dirname($ARGV);
    s/<script\b.*?<\/script>//gs;
    while (/(?:href|src)="([^"]*)"/g) {
        my ($path, $name) = split /#/, $1, 2;
        next if $path =~ /^(https?|mailto):/;
        my $file = $path eq "" ? $ARGV : "$folder/$path";
        print "$ARGV: $1\n" unless -f $file;
        next if !$name || $name =~ /=/ || !-f $file;
        if (!$names{$file}) {
            open my $in, "<", $file; local $/; my $text = <$in>;
            $names{$file} = { map { $_ => 1 } $text =~ /id="([^"]*)"/g };
        }
        print "$ARGV: $1 (no such heading)\n" unless $names{$file}{$name};
    }' "${pages[@]}" >"$scratch/links"
result "$([ ! -s "$scratch/links" ]; echo $?)" "${#pages[@]} pages: all links lead somewhere" \
    "$scratch/links"
for page in "${pages[@]}"; do
    closed "$page" || { echo "$page"; cat "$scratch/markup"; }
done >"$scratch/open"
result "$([ ! -s "$scratch/open" ]; echo $?)" "their markup is closed" "$scratch/open"
! grep -lE '<(script|link|img)[^>]*(src|href)="https?:' "${pages[@]}" >"$scratch/outside"
result $? "none asks for anything else" "$scratch/outside"
for page in index notes/{08_mma,13_tma,14_warp_specialized} explore/07_swizzle timeline/12_wgmma \
    compare/06_07; do
    fits "build/site/$page.html"
done
for page in compare/14_15 timeline/14_warp_specialized explore/03_shared_tiles; do
    fits "build/site/$page.html" 910,768 # as narrow as their heads are in one row
done

for page in index notes/16_persistent compare/15_16 timeline/16_persistent; do
    document "build/site/$page.html"
    named
    result $? "$page: what acts has a name that can be read out" "$scratch/nameless"
done
document build/site/index.html find=wavefront
[ "$(grep -o 'class="line"' "$scratch/document" | wc -l)" -ge 12 ]
result $? "the chart has a line for each stage that was timed"
perl -ne 'while (/<text x="740" y="([\d.]+)"/g) { $n++; $bad++ if $1 > 396.1 || $1 < $last + 13.9;
    $last = $1 } END { exit(!$n || $bad) }' "$scratch/document"
result $? "whose names are apart, and above the axis"
[ "$(grep -o 'class="leader"' "$scratch/document" | wc -l)" -eq \
    "$(grep -o 'class="line"' "$scratch/document" | wc -l)" ]
result $? "and a line leads from each to its own"
grep -q 'aria-label="16_persistent: 512 [0-9]' "$scratch/document"
result $? "whose numbers need no pointer"
grep -q '<ol id="found"><li>.*notes/glossary.html' "$scratch/document"
result $? "the search finds a word of the glossary"
document build/site/index.html 'find=conflict%20bank'
grep -q '<ol id="found"><li>.*notes/glossary.html' "$scratch/document"
result $? "it takes words in any order"
document build/site/index.html 'find=stage%207'
grep -q '<ol id="found"><li>.*07_swizzle.html' "$scratch/document"
result $? "and a stage by its number"
# The keyboard: what is found is next to the field, the arrows go there and back, Enter opens.
said=$(evaluate build/site/index.html '
    const press = key => document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const open = [];
    document.addEventListener("click", event => { event.preventDefault();
        open.push(event.target.textContent); });
    field.focus(); field.value = "stage 7"; search();
    const box = found.getBoundingClientRect(), [first] = found.querySelectorAll("a");
    const stops = [...document.querySelectorAll("input, a, button")];
    const told = [stops[stops.indexOf(field) + 1] === first,
        box.left >= 0 && box.right <= innerWidth];
    for (const key of ["ArrowDown", "ArrowDown", "ArrowUp"]) press(key);
    told.push(document.activeElement === first);
    press("ArrowUp"); told.push(document.activeElement === field);
    press("Enter"); told.push(open.join() === first.textContent);
    return told.join(" ");')
[ "$said" = 'true true true true true' ]
result $? "what is found follows the field, is not cut off, and obeys arrows and Enter: $said"
mapfile -t words < <(sed -n 's/.*glossary.html#\(word-[^"]*\)".*/\1/p' build/site/search_index.js)
lost=0
for word in "${words[@]}"; do
    grep -q "id=\"$word\"" build/site/notes/glossary.html || { echo "# $word"; lost=1; }
done
[ "${#words[@]}" -eq "$(grep -c '^- \*\*' notes/glossary.md)" ] && [ "$lost" -eq 0 ]
result $? "and leads to its line: ${#words[@]} words"
! grep -q '\](' build/site/search_index.js
result $? "what it shows has no links as Markdown"
# Two cards, and a second run of one of them.
for card in a b; do
    sed "s/NVIDIA H200/Card $card/" notes/results/nvidia_h200.jsonl >"$scratch/card_$card.jsonl"
done
cp "$scratch/card_a.jsonl" "$scratch/card_a_stage16.jsonl"
tools/page/site/results.sh "$scratch"/card_*.jsonl >"$scratch/times"
once=$(tools/page/site/results.sh notes/results/nvidia_h200.jsonl | wc -l)
[ "$once" -gt 0 ] && [ "$(wc -l <"$scratch/times")" -eq $((2 * once)) ] &&
    [ "$(grep -c 'Card b' "$scratch/times")" -eq "$once" ]
result $? "the chart has the times of every card, those of one run of each"
drive build/site/explore/06_cp_async.html
drive build/site/compare/06_07.html
echo "1..$count"
