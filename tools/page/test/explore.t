#!/usr/bin/env bash
# The pages of make stageNN explore, in a headless Chromium: opened with #test, a page drives itself
# by real events and leaves TAP, which is passed on here. Catches: a view that draws nothing or does
# not follow the cursor, a question of a chapter that the page no longer answers, text without
# contrast, markup that is not closed, a fault that is not shown. The chapters' Look sections are
# read beside the same pages (look.sh).
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS KERNEL D DTYPE CAUSAL
# shellcheck source=tools/page/test/browser.sh
. tools/page/test/browser.sh
# shellcheck source=tools/page/test/look.sh
. tools/page/test/look.sh

# A page for every stage; those whose kernels are not built are built by make.
for source in stages/*/kernel.cu; do
    stage=$(basename "$(dirname "$source")")
    page=build/explore/${stage}_d128_fp16_full.html
    make "stage${stage%%_*}" explore >"$scratch/log" 2>&1
    result $? "make stage${stage%%_*} explore" "$scratch/log"
    result "$(grep -qx "$page" "$scratch/log"; echo $?)" "$stage: it prints the page's name"
    result "$([ "$(wc -c <"$page")" -lt 5000000 ]; echo $?)" "$stage: the page is under 5 MB"
    closed "$page"
    result $? "$stage: its markup is closed" "$scratch/markup"
    grep -A 1 'id="data-sass"' "$page" | grep -q '"kernels"'
    result $? "$stage: it has the machine code"
    grep -A 1 'id="data-changed"' "$page" | grep -qE '"previous":"([0-9]{2}_[a-z_]+)?"'
    result $? "$stage: it names the stage before, if there is one"
    ! grep -qE '(src|href)="?https?:|@import|@include' "$page"
    result $? "$stage: it asks for nothing else"
    asked=$(said_of "$stage")
    [[ $stage != 1[036]_* ]] || asked+='&work' # they have instructions of every kind
    drive "$page" "$asked"
    look_at "$stage" "$page"
done

# On a projector all views are beside each other, on a phone below each other.
drive build/explore/06_cp_async_d128_fp16_full.html work 1920,1080
drive build/explore/06_cp_async_d128_fp16_full.html '' 390,844

# A race: stage 04 without the barrier before its tiles are overwritten.
mkdir -p build/explore/test
sed '/__syncthreads(); \/\/ WAR: sK, sV, sP/d' stages/04_online_softmax/kernel.cu \
    >build/explore/test/kernel.cu
page=build/explore/04_online_softmax_d128_fp16_full_kernel.html
make stage04 explore KERNEL=build/explore/test/kernel.cu >"$scratch/log" 2>&1
result $? "a kernel with a race gets its page" "$scratch/log"
grep -q 'data race' "$scratch/log"
result $? "and make says what is wrong" "$scratch/log"
drive "$page"

# A fault of the first warp before any other has a step: stage 07 without its first barrier.
sed '0,/__syncthreads();/{//d}' stages/07_swizzle/kernel.cu >build/explore/test/kernel.cu
make stage07 explore KERNEL=build/explore/test/kernel.cu >"$scratch/log" 2>&1
result $? "a kernel that faults at once gets its page" "$scratch/log"
drive build/explore/07_swizzle_d128_fp16_full_kernel.html

# A wrong result is no fault, and is said all the same.
sed 's/= (element)sum;/= (element)(row == 1 ? 7.0f : sum);/' \
    stages/02_coalesced/kernel.cu >build/explore/test/kernel.cu
make stage02 explore N=20 KERNEL=build/explore/test/kernel.cu >"$scratch/log" 2>&1
result $? "a kernel whose result is wrong gets its page" "$scratch/log"
grep -q '^02_coalesced: .* elements of O are wrong' "$scratch/log"
result $? "and make says so" "$scratch/log"

# 128 tiles: of the loops the first, the second and the last round stay.
make stage06 explore N=64 NKV=8192 H=1 >"$scratch/log" 2>&1
result $? "a long run gets its page" "$scratch/log"
page=build/explore/06_cp_async_d128_fp16_full.html
result "$(grep -qE '"cut":[1-9]' "$page" && [ "$(wc -c <"$page")" -lt 5000000 ]; echo $?)" \
    "which is cut to under 5 MB"
drive "$page" work

# A library without line information, as a user's own flags may make it.
nvcc=$(sed -n 's/^NVCC := //p' build/toolchain.mk) plain=$(sed -n 's/^NVCC_PLAIN := //p' \
    build/toolchain.mk)
mkdir -p "$scratch/07_swizzle"
library=$scratch/07_swizzle/d128_fp16_full.so
"$nvcc" -std=c++17 -O3 "$plain" -Xcompiler -fPIC -shared -cudart none -Icommon \
    -gencode arch=compute_80,code=compute_80 -DHEAD_DIM=128 -DELEMENT_BF16=0 -DCAUSAL=0 \
    -DTARGET_SM=80 stages/07_swizzle/kernel.cu -o "$library" >"$scratch/log" 2>&1
result $? "a library without line information" "$scratch/log"
page=build/explore/test/without_lines.html
tools/page/explore/explore.sh build/attention 07_swizzle stages/07_swizzle/kernel.cu '' "$library" \
    "$page" >"$scratch/log" 2>&1
result $? "it gets its page" "$scratch/log"
drive "$page"
tools/page/compare/compare.sh build/attention "$library" "$library" "$scratch/page" \
    >"$scratch/log" 2>&1
[ $? -eq 2 ] && grep -q 'was built without -lineinfo: there are no lines' "$scratch/log"
result $? "beside another it gets a sentence" "$scratch/log"

make stage06 explore BLOCK=8 >"$scratch/log" 2>&1
[ $? -eq 2 ] && grep -q 'BLOCK=8: kernel flash_fwd has blocks 0 to 7' "$scratch/log"
result $? "a block that does not exist is refused" "$scratch/log"
make stage06 explore N=20000000 >"$scratch/log" 2>&1
[ $? -eq 2 ] && grep -q 'too large to simulate' "$scratch/log" && ! grep asked "$scratch/log"
result $? "so is a problem that is too large, without words of a DEVICE that nobody gave" \
    "$scratch/log"
tools/page/explore/explore.sh build/attention 07_swizzle stages/07_swizzle/kernel.cu '' "$library" \
    "$library" >"$scratch/log" 2>&1
[ $? -eq 64 ] && grep -q '^usage: explore.sh' "$scratch/log" && grep -q attention_launch "$library"
result $? "an output that is no page is refused, and stays what it is"
make stage06 explore FORMAT=json 2>/dev/null | head -c 12 | grep -q '{"format":1,'
result $? "FORMAT=json prints the record"
echo "1..$count"
