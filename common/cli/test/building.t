#!/usr/bin/env bash
# `run` while make still builds stages, as a first `make run` does: BUILDING is the process that
# builds. Catches: a stage that is not waited for, one that is waited for in vain, a line of the
# simulator's table that comes only with the last one.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../../test/fake.sh"

build 01_none 02_element || { echo "Bail out! the programs do not build"; exit 1; }
small=(B=1 H=1 N=20)
library=$work/02_element/d128_fp16_full.so
mv "$library" "$work/later.so"

begin() { # begin COMMAND...: a process that builds while COMMAND runs
    rm -f "$library"
    "$@" &
    export BUILDING=$!
}
# shellcheck disable=SC2317 # begin runs it
arrive() { sleep 1; cp "$work/later.so" "$library.new"; mv "$library.new" "$library"; sleep 1; }

run simulator run "${small[@]}" 01_none 02_element
exits 1 "without a builder a stage that is not there fails" \
    '02_element/d128_fp16_full.so is missing'
begin arrive
run simulator run "${small[@]}" 01_none 02_element
exits 1 "a stage that comes while it is built is run" '1 of 2560 elements of O are wrong'
wait $BUILDING
begin sleep 1
run simulator run "${small[@]}" 01_none 02_element
exits 1 "one that does not come ends with its builder" \
    '02_element/d128_fp16_full.so is missing'
begin sleep 30
(cd "$work" && exec ./simulator run "${small[@]}" 01_none 02_element) >"$work/out" 2>"$work/err" &
program=$!
sleep 2
grep -q '^01_none .*PASS$' "$work/out"
result $? "the first line is there before the second stage is"
kill $BUILDING $program
wait 2>/dev/null
echo "1..$count"
