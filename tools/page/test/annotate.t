#!/usr/bin/env bash
# The page of make stageNN annotate. Catches: a page that does not say of what it is, text that is
# hard to read, a page that a phone scrolls sideways.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS KERNEL D DTYPE CAUSAL
# shellcheck source=tools/page/test/browser.sh
. tools/page/test/browser.sh

page=$scratch/page.html
make -s stage07 annotate FORMAT=html N=64 NKV=64 >"$page" 2>"$scratch/log"
result $? "make stage07 annotate FORMAT=html" "$scratch/log"
grep -q '<title>07_swizzle: B=1 H=2 HKV=1 N=64 NKV=64 D=128 ' "$page" &&
    grep -q '<h1>07_swizzle: B=1 ' "$page"
result $? "title and heading name stage and problem"
closed "$page"
result $? "its markup is closed" "$scratch/markup"
fits "$page"
fits "$page" 1024,768
# The least contrast of a text to the paper.
for theme in light dark; do
    [ $theme = light ] || sed -i 's/(prefers-color-scheme: dark)/all/' "$page"
    least=$(evaluate "$page" '
        const brightness = color => color.match(/[0-9.]+/g).slice(0, 3)
            .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
        const paper = brightness(getComputedStyle(document.body).backgroundColor);
        return Math.min(...[...document.querySelectorAll("h1, p, td, th, span")].map(node => {
            const text = brightness(getComputedStyle(node).color);
            return Math.max(text / paper, paper / text);
        }));')
    awk -v least="$least" 'BEGIN { exit !(least >= 4.5) }'
    result $? "$theme: text has a contrast of 4.5 and more: ${least:-unknown}"
done
echo "1..$count"
