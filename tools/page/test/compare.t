#!/usr/bin/env bash
# The page of make compare, in a headless Chromium. Catches: a line that is lost or twice, a moved
# line taken for two changes, margins that do not add up, a file that is not taken as a side.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS KERNEL FROM TO
# shellcheck source=tools/page/test/browser.sh
. tools/page/test/browser.sh

mkdir "$scratch/with a blank"
TMPDIR="$scratch/with a blank" make compare FROM=06 TO=07 >"$scratch/log" 2>&1
result $? "make compare FROM=06 TO=07, TMPDIR with blanks" "$scratch/log"
page=$(tail -n 1 "$scratch/log")
[ "$page" = build/compare/06_07_d128_fp16_full.html ]
result $? "it prints the page's name"
closed "$page"
result $? "its markup is closed" "$scratch/markup"
document "$page"
[ "$(grep -o 'class="pair-row same counted"' "$scratch/document" | wc -l)" -ge 2 ]
result $? "lines of the same text whose wavefronts became fewer are shown, and marked"
drive "$page"
drive "$page" '' 390,844
drive "$page" '' 800,600

# Stage 07 beside a file of it: a helper stands elsewhere, a word is another.
mkdir -p build/compare/test
awk '
    /^static __device__ float row_sum/ { hold = 1 }
    hold { kept = kept $0 "\n"; if (/^}/) hold = 0; next }
    /^\/\/ N neighbours/ { printf "%s\n", kept }
    /^constexpr int WARPS/ { sub("per block", "of a block") }
    { print }
' stages/07_swizzle/kernel.cu >build/compare/test/kernel.cu
make compare FROM=07 TO=build/compare/test/kernel.cu >"$scratch/log" 2>&1
result $? "a file is taken as a side" "$scratch/log"
grep -qE ' build/compare/test/kernel.cu is bound by .* x the bound of 07_swizzle ' "$scratch/log"
result $? "and goes by its name" "$scratch/log"
page=build/compare/07_07_kernel_d128_fp16_full.html
drive "$page"
document "$page"
grep -q '<h1 id="title">07 swizzle → build/compare/test/kernel.cu</h1>' "$scratch/document"
result $? "on the page as well"
moved=$(grep -o 'class="pair-row moved"' "$scratch/document" | wc -l)
result "$([ "$moved" -ge 4 ]; echo $?)" "lines that were moved are told from changes"
result "$(grep -q '<mark>of</mark> <mark>a</mark>\|<mark>of</mark>' "$scratch/document"; echo $?)" \
    "of a changed line the words are marked"

# Without barriers it faults in its first block.
sed '/__syncthreads();/d' stages/07_swizzle/kernel.cu >build/compare/test/kernel.cu
make compare FROM=06 TO=build/compare/test/kernel.cu >"$scratch/log" 2>&1
result $? "a kernel that faults gets its page" "$scratch/log"
page=build/compare/06_07_kernel_d128_fp16_full.html
said='build/compare/test/kernel.cu faulted, and its counters end there: shared memory is read'
grep -q "^$said before" "$scratch/log" && grep -q ">$said before" "$page" &&
    ! grep -q '<th>ratio' "$page"
result $? "it and make say so, and no table has ratios" "$scratch/log"
drive "$page"

make compare FROM=07 TO=build/compare/test/none.cu >"$scratch/log" 2>&1
[ $? -eq 2 ] && grep -q "TO must be one of: 01 .* not 'build/compare/test/none.cu'" "$scratch/log"
result $? "a file that does not exist is refused" "$scratch/log"
echo "1..$count"
