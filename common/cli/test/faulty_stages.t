#!/usr/bin/env bash
# The programs when the world fails them: a kernel that hangs, a device that is lost, no memory, a
# full disk, Ctrl-C; and the commands that look for rare failures, fuzz and repeat.
# Catches: a program that waits for a device that is busy for ever, a stage that is not named or
# fells the others, a full disk that passes, half a line of JSON, a run that moved and is not seen,
# a failure that is not made small or whose line does not repeat it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../../test/fake.sh"

{ build 01_none 10_fault 11_launch 12_workspace_guard 13_hang 14_hang_later 15_fault_later \
    16_moves 17_long 18_slow 19_idle 20_address 21_counter 22_stream 23_error 24_waits \
    25_swallows 26_millions 27_crash 28_exit 29_exit_loaded 30_exit_asked 31_exit_asked_more \
    32_abort 33_overflow 34_exit_at_once 35_exit_quickly 36_crash_loaded 37_crash_asked \
    38_crash_measured 39_no_kernel && build_causal 01_none 13_hang 16_moves 17_long 28_exit; } ||
    { echo "Bail out! the programs do not build"; exit 1; }
mv "$work/simulator" "$work/attention-sim"
small=(B=1 H=2 HKV=1 N=40 REPS=3)
cell=(D=128 DTYPE=fp16)
within() { # within SECONDS PROGRAM ARGUMENT...: as run, but code 137 if it has not ended by then
    code=0
    (cd "$work" && timeout -s KILL "$1" "./$2" "${@:3}") >"$work/out" 2>"$work/err" || code=$?
}
says() { grep -q -- "$1" "$work/out" "$work/err"; }

# ---- a kernel that never ends --------------------------------------------------------------------
within 20 attention run "${small[@]}" LIMIT=1 01_none 13_hang 11_launch
exits 1 "a kernel that hangs" 'FAIL: it did not end within 1 s' 'LIMIT=10 waits longer' \
    'SKIP: not run: the device was lost'
says '^01_none .*PASS'
result $? "the stage before it has its result"
within 20 attention run "${small[@]}" LIMIT=1 FORMAT=json 01_none 13_hang 11_launch
exits 1 "the same in JSON" '"status":"pass"' '"status":"fail"' '"status":"skip"'
[ "$(grep -c '^{.*}$' "$work/out")" -eq 3 ]
result $? "three whole objects"
within 20 attention run "${small[@]}" LIMIT=1 01_none 14_hang_later
exits 1 "a kernel that hangs while it is timed" 'FAIL: it did not end within 1 s'
says '^01_none .*PASS: not timed, because another stage failed'
result $? "the other one passed, without times"
within 20 attention grid GRID=small "${cell[@]}" LIMIT=1 13_hang 01_none
exits 1 "a hang in the grid" 'FAIL 13_hang: it did not end within 1 s' 'repeat: attention run B='
# A seed whose first case is small: of a large one the oracle alone may take longer than that.
within 20 attention fuzz SEED=1795712862 SECONDS=600 "${cell[@]}" LIMIT=1 13_hang 01_none
exits 1 "a hang ends the fuzzer" 'FAIL 13_hang: it did not end within 1 s'

# ---- a fault that stays --------------------------------------------------------------------------
run attention run "${small[@]}" 01_none 15_fault_later
exits 1 "a fault while a stage is timed" 'FAIL: common/device/timer.c:' 'cudaErrorIllegalAddress' \
    'PASS: not timed, because another stage failed'
FAKE_LOST=1 run attention run "${small[@]}" 10_fault 01_none
exits 1 "a reset that does not help" 'cudaErrorIllegalAddress' \
    'SKIP: not run: the device was lost when an earlier kernel failed'

FAKE_LOST=1 run attention run "${small[@]}" FORMAT=json 10_fault 01_none
exits 1 "nothing is known of a stage that was not run" \
    '"registers":null,"threads":null,"shared_bytes":null,"spill_bytes":null'
FAKE_LOST=1 run attention-sim repeat "${cell[@]}" 10_fault 01_none
exits 1 "a device that is lost ends repeat" '10_fault                     1 cases, 1 failed' \
    '01_none                      1 cases, 0 failed, 1 skipped' \
    'SKIP: not run: the device was lost'

# ---- what a launch must keep to beside its result ------------------------------------------------
run attention run "${small[@]}" 19_idle
exits 1 "nothing is done while it is timed" 'FAIL: while it was timed: '
run attention run "${small[@]}" 20_address
exits 1 "tensors at other addresses after the times" '10240 of 10240 elements of O'
run attention-sim run "${small[@]}" RUNS=2 20_address
exits 1 "and in a second run" 'run 2 differs from run 1'
run attention-sim run "${small[@]}" RUNS=3 21_counter
exits 1 "a workspace that is never twice the same" 'differs from run 1'
run attention run "${small[@]}" 22_stream
exits 1 "the default stream" 'FAIL: it used the default stream, not the one that it was given'
FAKE_STRAYED=1 run attention-sim run "${small[@]}" 01_none
exits 1 "another stream" 'FAIL: it used another stream than the one that it was given'
run attention run "${small[@]}" 23_error
exits 1 "an error that is left behind" \
    'FAIL: attention_launch returned success, but cudaGetLastError reports: cudaErrorInvalidValue'
run attention-sim run "${small[@]}" 24_waits
exits 1 "a launch that waits" \
    'FAIL: attention_launch called cudaDeviceSynchronize: it may only enqueue work, and launches'
run attention-sim run "${small[@]}" 25_swallows
exits 1 "an error that nobody is told of" \
    'FAIL: attention_launch does not pass on errors: when operation ' \
    'failed, it returned cudaSuccess'
run attention run "${small[@]}" 39_no_kernel
exits 1 "a function that is no kernel" 'FAIL: the function of "fake" in attention_kernels is not'
run attention-sim run "${small[@]}" 26_millions
exits 1 "a launch that ends where 32 bits end" \
    'FAIL: attention_launch would fail for B=1 H=2 HKV=2 N=16777216 NKV=16777216: cudaErrorInval'
run attention run "${small[@]}" 01_none 27_crash 2>/dev/null # bash would name the signal
exits 139 "host code that crashes" 'attention_launch of 27_crash crashed on the host: does it'
run attention run "${small[@]}" 32_abort 2>/dev/null
exits 134 "or aborts" 'attention_launch of 32_abort crashed on the host: '
run attention run "${small[@]}" 33_overflow 2>/dev/null
exits 139 "or runs out of stack" 'attention_launch of 33_overflow crashed on the host: '
while read -r stage function; do
    run attention run "${small[@]}" 01_none "$stage" 2>/dev/null
    exits 139 "or crashes in $function" "$function of $stage crashed on the host: does it"
done <<'END'
36_crash_loaded the library
37_crash_asked attention_supports
38_crash_measured attention_workspace_bytes
END
for stage in 28_exit 29_exit_loaded 30_exit_asked 31_exit_asked_more 34_exit_at_once \
    35_exit_quickly; do
    run attention run "${small[@]}" 01_none $stage
    exits 1 "$stage, which ends the program with 0" "$stage ended the program: does its host code"
done
run attention-sim grid GRID=small "${cell[@]}" 01_none 28_exit
exits 1 "the same in the grid" '28_exit ended the program'
run attention run "${small[@]}" RUNS=3 01_none
exits 0 "a right stage keeps to all of it" PASS

# ---- memory --------------------------------------------------------------------------------------
FAKE_ALLOCATIONS=2 run attention run "${small[@]}" 01_none
exits 2 "no memory for the third tensor" 'the device has no memory left for V, 10240 bytes'
FAKE_ALLOCATIONS=5 run attention run "${small[@]}" 12_workspace_guard 01_none
exits 2 "none for a workspace, none to time with" \
    'SKIP: the device has no memory left for the workspace, 1000 bytes' \
    'SKIP: the device has no memory left for the L2 flush buffer'
FAKE_ALLOCATIONS=5 run attention run "${small[@]}" FORMAT=json 01_none
exits 2 "the same in JSON" '"status":"skip","reason":"the device has no memory left'

# ---- a full disk ---------------------------------------------------------------------------------
full() { # full ARGUMENT...: attention with a full disk for its results
    code=0
    (cd "$work" && ./attention "$@") >/dev/full 2>"$work/err" || code=$?
    : >"$work/out"
    exits 1 "$1 ${2##*=} on a full disk" 'standard output cannot be written: is the disk full?'
}
full run FORMAT=text "${small[@]}" 01_none
full run FORMAT=json "${small[@]}" 01_none
full grid FORMAT=text "${cell[@]}" GRID=small DEVICE=sim 01_none
full bench FORMAT=json REGIME=small D=64 CAUSAL=1 REPS=1 11_launch
full fuzz FORMAT=text "${cell[@]}" SECONDS=1 DEVICE=sim 01_none
full repeat FORMAT=json "${cell[@]}" DEVICE=sim 01_none

# ---- a reader that leaves ------------------------------------------------------------------------
code=0
(cd "$work" && sleep 0.5 && exec ./attention run "${small[@]}" FORMAT=json 01_none) \
    2> >(true) >"$work/out" || code=$?
: >"$work/err"
exits 0 "whoever reads stderr may leave" '"status":"pass"'
(cd "$work" && sleep 0.5 && exec ./attention run "${small[@]}" 01_none) 2>"$work/err" | true
code=${PIPESTATUS[0]}
: >"$work/out"
exits 141 "whoever reads stdout ends the program"

# ---- Ctrl-C --------------------------------------------------------------------------------------
(cd "$work" && exec timeout --preserve-status -s INT 3 \
    ./attention grid FORMAT=json GRID=small "${cell[@]}" 18_slow) >"$work/out" 2>"$work/err"
code=$?
exits 130 "an interrupted grid" '"stage":18'
[ "$(grep -c '^{.*}$' "$work/out")" -eq "$(grep -c '' "$work/out")" ]
result $? "every line of it is whole"
(cd "$work" && exec timeout --preserve-status -s INT 1 \
    ./attention run "${small[@]}" REPS=100 18_slow) >"$work/out" 2>"$work/err"
code=$?
exits 130 "an interrupted run" 'problem '
! says PASS
result $? "it has no result"

# ---- what is being done, while it is done --------------------------------------------------------
for command in grid repeat fuzz; do
    (cd "$work" && FAKE_TERMINAL=1 exec timeout --preserve-status -s INT 1 \
        ./attention $command "${cell[@]}" 13_hang) >"$work/out" 2>"$work/err"
    says "$command: case 1\b"
    result $? "$command says which case it is at, from the first one on"
done

# ---- RUNS and repeat -----------------------------------------------------------------------------
run attention run "${small[@]}" RUNS=4 01_none
exits 0 "the same bits in four runs" 'RUNS=4' PASS
run attention run "${small[@]}" RUNS=5 16_moves
exits 1 "one bit flipped in the fifth run" \
    'run 5 differs from run 1 in 1 elements of O, first in batch 0 head 1 row 0 column 0: '
FAKE_TERMINAL=1 run attention-sim repeat "${cell[@]}" 01_none
steps repeat 'repeat: case '{1,2,3,4,5,6}' of 6'
exits 0 "repeat of a right stage" 'RUNS=2' '01_none                      6 cases, 0 failed'
run attention-sim repeat "${cell[@]}" RUNS=5 16_moves
exits 1 "repeat of one that moves" 'run 5 differs from run 1 in 1 elements of O'
repeat=$(sed -n 's/.*repeat: attention //p' "$work/out" | head -n 1)
# shellcheck disable=SC2086 # the line is a list of arguments
run attention-sim $repeat
exits 1 "its line repeats it" 'run 5 differs from run 1'

# ---- fuzz ----------------------------------------------------------------------------------------
run attention-sim fuzz "${cell[@]}" INIT=uniform SECONDS=3 SEED=5 01_none 17_long
exits 1 "fuzz finds what only long, shared keys show" 'SEED=5 SECONDS=3' \
    'repeat: attention run B=1 H=2 HKV=1 N=1 NKV=101 D=128' 'INIT=normal' 'LSE=1'
says '^01_none .* 0 failed.*PASS$'
result $? "the other stage passes"
[ "$(grep -c '^FAIL' "$work/out")" -eq 1 ]
result $? "one failure is enough"
repeat=$(sed -n 's/.*repeat: attention //p' "$work/out" | head -n 1)
# shellcheck disable=SC2086 # the line is a list of arguments
run attention-sim $repeat
exits 1 "its line repeats it" '17_long: '
for copy in one two; do
    run attention-sim fuzz "${cell[@]}" INIT=uniform SECONDS=1 SEED=9 FORMAT=json 01_none
    head -n 5 "$work/out" | sed 's/,"counters.*//' >"$work/$copy"
done
[ "$(wc -l <"$work/one")" -eq 5 ] && cmp -s "$work/one" "$work/two"
result $? "a SEED gives the same cases again"
run attention-sim fuzz SECONDS=1 SEED=2 01_none # the first case is of a variant that is not built
exits 1 "fuzz wants every variant" 'is missing: make stage01 D=' ' 1 cases, 1 failed'
run attention-sim repeat DTYPE=fp16 CAUSAL=1 01_none
exits 1 "and so does repeat" '01_none                      4 cases, 1 failed'

# ---- bad usage -----------------------------------------------------------------------------------
run attention-sim fuzz N=100 01_none
exits 64 "fuzz with a length" 'fuzz chooses the shapes itself'
run attention-sim repeat B=2 01_none
exits 64 "repeat with a batch" 'repeat chooses the shapes itself'
run attention-sim fuzz SECONDS=0 01_none
exits 64 "no time" 'SECONDS=0: allowed are whole numbers from 1'
run attention run "${small[@]}" SCALE=0.5 01_none
exits 0 "a scale" 'SCALE=0.5' PASS
for scale in 0 -1 nan x; do
    run attention run "${small[@]}" SCALE=$scale 01_none
    exits 64 "SCALE=$scale" "SCALE=$scale: allowed are numbers from"
done
for command in fuzz repeat; do
    run attention-sim $command 99_missing
    exits 64 "$command of an unknown stage" '99_missing: no such stage'
done

echo "1..$count"
