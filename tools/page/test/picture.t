#!/usr/bin/env bash
# The README's picture is what the page of stage 15 draws today. Catches: a picture that is older
# than the kernel, the simulator or the drawing; one that is no SVG of its own, or has one theme.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS KERNEL D DTYPE CAUSAL
# shellcheck source=tools/page/test/browser.sh
. tools/page/test/browser.sh

picture=notes/img/15_timeline.svg
tools/page/explore/picture.sh 15 NKV=768 >"$scratch/picture.svg" 2>"$scratch/log"
result $? "picture.sh 15 NKV=768" "$scratch/log"
if grep -q '^CUDA_VERSION := 13\.0' build/toolchain.mk; then
    diff "$picture" "$scratch/picture.svg" >"$scratch/changed"
    result $? "$picture is up to date" "$scratch/changed"
else
    result 0 "$picture is up to date # SKIP it is of CUDA 13.0"
fi
result "$([ "$(wc -c <"$picture")" -lt 150000 ]; echo $?)" "it is under 150 kB"
result "$(grep -q '<svg xmlns="http://www.w3.org/2000/svg"' "$picture" &&
    grep -q 'prefers-color-scheme:dark' "$picture"; echo $?)" "a file of its own, light and dark"
! grep -qE 'href|url\(|<script|NaN|undefined' "$picture"
result $? "it asks for nothing else and has no hole"
tools/page/explore/picture.sh 2>"$scratch/log"
[ $? -eq 64 ] && grep -q 'Usage: picture.sh STAGE' "$scratch/log"
result $? "without a stage it says how it is used" "$scratch/log"
mkdir "$scratch/bin" && printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/chromium-headless-shell"
chmod +x "$scratch/bin/chromium-headless-shell"
PATH=$scratch/bin:$PATH tools/page/svg_of.sh tools/page/shell.html >"$scratch/log" 2>&1
[ $? -eq 1 ] && [ "$(cat "$scratch/log")" = "dump.py: the browser has ended" ]
result $? "a browser that ends at once ends it with a sentence" "$scratch/log"
echo '<script>for (;;) {}</script>' >"$scratch/endless.html"
sed 's/^MOST_SECONDS = .*/MOST_SECONDS = 2/' tools/page/dump.py >"$scratch/impatient.py"
printf '%s\t1,1\tfile://%s\n' "$scratch/document" "$scratch/endless.html" |
    python3 "$scratch/impatient.py" "$chromium" >"$scratch/log" 2>&1
[ $? -eq 1 ] && [ "$(cat "$scratch/log")" = "dump.py: the page takes more than 2 seconds" ]
result $? "and so does a page that never ends" "$scratch/log"
perl -e '
    my $pid = open(my $said, "-|") // die;
    if (!$pid) { setpgrp; $SIG{INT} = "DEFAULT"; open STDERR, ">&STDOUT"; exec @ARGV; }
    sleep 1; kill INT => -$pid; print <$said>;' \
    tools/page/svg_of.sh "$scratch/endless.html" >"$scratch/log"
[ ! -s "$scratch/log" ]
result $? "Ctrl-C ends it quietly" "$scratch/log"
ln -s "$(command -v dirname)" "$scratch/bin/dirname"
PATH=$scratch/bin "$BASH" tools/timeline/timeline.sh no_harness 07 a b c d FORMAT=svg \
    >"$scratch/log" 2>&1
[ $? -eq 2 ] && [ "$(cat "$scratch/log")" = \
    "a picture needs python3, which tells Chromium what to open" ]
result $? "without python3 a timeline is not run for a picture" "$scratch/log"
echo "1..$count"
