#!/usr/bin/env bash
# The catalogue of planted bugs: it fits stages, harness and tools as they are, and a sample of it
# is caught. Catches: a bug whose text has left its file, a stage without one, a check that misses a
# bug that it once found, a runner that calls everything caught.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
catalogue=tools/mutate/planted
sample=04_no_WAR,07_no_swizzle,11_refuses_groups,14_parity,timer_no_flush,sanitize_no_race
log=$(mktemp)
# Outside of the catalogue, whose bugs another test counts meanwhile.
own=build/planted_test/00_test
trap 'rm -rf "$log" build/planted_test build/planted/00_test' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")

bugs=("$catalogue"/*.bug)
[ ${#bugs[@]} -ge 60 ]
result $? "${#bugs[@]} bugs, at least 60"
for bug in "${bugs[@]}"; do
    tools/mutate/planted.sh --apply "$bug" >/dev/null 2>>"$log" || echo "$bug" >>"$log"
done
[ ! -s "$log" ]
result $? "each fits its stage or file: its texts are in one line each"
for stage in stages/[0-9][0-9]_*; do
    grep -lx "stage    ${stage##*/}" "${bugs[@]}" >"$log"
    result $? "${stage##*/} has one"
done

# needs BUG TESTS: what make builds for that bug alone, beside the programs
needs() {
    make -np planted "BUGS=$1" 2>/dev/null | sed -n 's/^planted: //p' |
        grep -oE 'build/test/[^ ]*' >"$log"
    [ "$(xargs <"$log")" = "$2" ]
    result $? "$1 needs no C tests but ${2:-none}"
}
needs 04_no_WAR ''
needs timer_no_flush build/test/common/device/test/test_timer
needs 16_rise_of_128 build/test/tools/ptxsim/test/test_large_scores
needs timer_no_flush,check_ulp_4x,04_no_WAR \
    'build/test/common/device/test/test_timer build/test/common/truth/test/test_check'

make -s planted BUGS=$sample >"$log" 2>&1
result $? "a sample is caught: $sample"
[ "$(grep -c '^ok' "$log")" -eq 6 ]
result $? "all of it"
if command -v script >/dev/null; then
    script -qec "make -s planted BUGS=07_no_swizzle" /dev/null >"$log" 2>&1
    grep -q 'planted: 0 of 1, 0 not caught' "$log"
    result $? "a terminal sees how far it is"
else
    skip "there is no program script to make a terminal"
fi
mkdir -p build/planted_test
# A bug that is none, and one that is caught at another line.
sed 's/^after .*/after    head % p.heads \/ (p.heads \/ p.kv_heads)/; s/^bug .*/bug      None./' \
    $catalogue/01_kv_head.bug >$own.bug
make -s planted BUGS=../../../$own >"$log" 2>&1
[ $? -eq 2 ] && grep -q '^not ok 1 - 00_test' "$log"
result $? "what is not caught is said"
sed 's/^line .*//; /^says/a line     Stage 04' $catalogue/04_no_WAR.bug >$own.bug
make -s planted BUGS=../../../$own >"$log" 2>&1
[ $? -eq 2 ] && grep -q 'it should name line 1' "$log"
result $? "and so is a line that is not named"
sed 's/+ 4 \* element/+ 1 * element/' $catalogue/check_ulp_4x.bug >$own.bug
make -s planted BUGS=../../../$own >"$log" 2>&1
[ $? -eq 2 ] && grep -q 'test_check passes' "$log"
result $? "and a test of the harness that passes"
make -s planted BUGS=99_none >"$log" 2>&1
[ $? -eq 2 ] && grep -q 'there is no planted bug 99_none' "$log"
result $? "and a name that nobody has"
# What nobody has tried was not caught.
JOBS=x tools/mutate/planted.sh build/attention 04_no_WAR >"$log" 2>&1
[ $? -eq 64 ] && grep -qx "JOBS must be a whole number from 1; not 'x'" "$log"
result $? "and a number of jobs that is none"
scratch=$(mktemp -d)
printf '#!/bin/sh\nexit 1\n' >"$scratch/xargs" && chmod +x "$scratch/xargs"
PATH=$scratch:$PATH tools/mutate/planted.sh build/attention 04_no_WAR >"$log" 2>&1
[ $? -eq 1 ]
result $? "no verdict at all is no success"
# A verdict that is there before anything is compiled.
printf '#!/bin/sh\nfor _ in 1 2 3 4; do echo "ok - 04_no_WAR: run"; sleep 0.1; done\n' \
    >"$scratch/xargs"
PATH=$scratch:$PATH make -s planted BUGS=04_no_WAR 2>"$log" | head -n 1 >/dev/null
[ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s "$log" ]
result $? "a reader that leaves early is no error"
printf '#!/bin/sh\necho "ok - 04_no_WAR: run"\n' >"$scratch/xargs"
PATH=$scratch:$PATH make -s planted BUGS=04_no_WAR 2>"$log" >/dev/full
[ $? -eq 2 ] && grep -q "^cat: " "$log"
result $? "but what cannot be written is no success"
rm -r "$scratch"
echo "1..$count"
