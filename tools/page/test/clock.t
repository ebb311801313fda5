#!/usr/bin/env bash
# The pages of make stageNN timeline, in a headless Chromium, of runs on the simulator and of a
# record that says what a GPU's would: opened with #test, a page drives itself by real events and
# leaves TAP, which is passed on here. Catches: a view that draws nothing or does not follow the
# cursor, a style that is missing, sums that are not the whole, blocks beside the chosen one that
# are not shown, a cost that is not said, an order that passes for time, markup that is not closed,
# no picture.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS KERNEL D DTYPE CAUSAL BLOCK RESULTS FORMAT
# shellcheck source=tools/page/test/browser.sh
. tools/page/test/browser.sh

checked() { # checked PAGE: what every page must hold
    closed "$1"
    result $? "$1: its markup is closed" "$scratch/markup"
    ! grep -qE '(src|href)="?https?:|@import|@include' "$1"
    result $? "$1: it asks for nothing else"
    drive "$1"
}

for stage in 06_cp_async 10_lean 12_wgmma 16_persistent; do
    page=build/timeline/${stage}_d128_fp16_full.html
    make "stage${stage%%_*}" timeline DEVICE=sim >"$scratch/log" 2>&1
    result $? "make stage${stage%%_*} timeline" "$scratch/log"
    result "$(grep -qx "$page" "$scratch/log"; echo $?)" "$stage: it prints the page's name"
    checked "$page"
done

# As of a GPU: with times, and a block beside the chosen one that began later.
make stage12 timeline DEVICE=sim FORMAT=json 2>"$scratch/log" |
    awk '/^null$/ { print "{\"ms_median\":1.25}"; next }
        { sub(/"simulated":true/, "\"simulated\":false")
          sub(/"device":"simulator"/, "\"device\":\"a GPU\"")
          sub(/"ms_median":null/, "\"ms_median\":1.5"); sub(/"cost":null/, "\"cost\":0.20000") }
        /^{"block":/ { mine = $0; sub(/,$/, "", mine); print mine ","
            sub(/"block":[0-9]+/, "\"block\":77", mine)
            sub(/"stamps":\[0,/, "\"stamps\":[200,", mine)
            list = list (list ? ",\n" : "") mine; next }
        /^\]\}/ { print list }
        { print }' >"$scratch/gpu"
make stage12 timeline RESULTS="$scratch/gpu" >"$scratch/log" 2>&1
result $? "a page of a record" "$scratch/log"
page=build/timeline/12_wgmma_d128_fp16_full.html
checked "$page"
document "$page"
perl -0777 -pi -e 's/<script.*?<\/script>//gs' "$scratch/document"
says() { # says TEXT: the page does
    grep -qF -- "$1" "$scratch/document"
    result $? "it says: $1"
}
says '1.2500 ms, with stamps 1.5000 ms: they cost 20.0 %, so the picture is distorted'
says '1 block beside it on SM'
says 'under one of the SM'
says "in the simulator's order"
! grep -q 'order and waits' "$scratch/document"
result $? "it does not say that it is an order"

make stage12 timeline RESULTS="$scratch/gpu" FORMAT=svg >"$scratch/picture" 2>"$scratch/log"
result $? "FORMAT=svg" "$scratch/log"
result "$(grep -q '<svg xmlns="http://www.w3.org/2000/svg"' "$scratch/picture" &&
    grep -q 'prefers-color-scheme:dark' "$scratch/picture" &&
    grep -q 'block 77' "$scratch/picture"; echo $?)" "a picture of both blocks, light and dark"
! grep -qE 'href|url\(|<script|NaN|undefined' "$scratch/picture"
result $? "it asks for nothing else and has no hole"
tools/page/svg_of.sh "$page" 'from=0&to=150' >"$scratch/picture" 2>"$scratch/log"
result "$(grep -q 'block [0-9]* of' "$scratch/picture" && ! grep -q 'block 77' "$scratch/picture"
    echo $?)" "a picture leaves out a block that is not there" "$scratch/log"
# The pictures of the notes are what their records draw today.
for record in notes/results/timeline/*.json; do
    [ -e "$record" ] || continue
    stage=$(basename "$record" .json)
    tools/page/timeline/page.sh "$stage" "stages/$stage/kernel.cu" "$record" "$scratch/page.html" &&
        tools/page/svg_of.sh "$scratch/page.html" >"$scratch/picture" 2>"$scratch/log"
    diff "notes/img/${stage%%_*}_clock.svg" "$scratch/picture" >"$scratch/changed" 2>&1
    result $? "notes/img/${stage%%_*}_clock.svg is up to date" "$scratch/changed"
done
make -s stage12 timeline DEVICE=sim >/dev/null 2>&1 # the page of this name is the run's again
echo "1..$count"
