#!/usr/bin/env bash
# The programs end to end, on a fake runtime and fake stages (fake_runtime.c, fake_stage.c);
# bench_cli.t has the command that takes longest.
# Catches: a planted bug of any kind that does not end in exit 1 with a message that names it, a
# stage that fells the others, a wrong exit code, anything but JSON on stdout with FORMAT=json,
# a bad value without a sentence.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../../test/fake.sh"

{ build 01_none 02_element 03_nan 04_guard 05_lse 06_tail 07_head 08_mask 09_later 10_fault \
    11_launch 12_unsupported 13_workspace 14_workspace_guard 15_shared 16_input 17_refuses \
    18_refuses_all 26_shape 27_zeros &&
    build_causal 01_none 02_element 07_head 08_mask 11_launch 12_unsupported 17_refuses \
        26_shape; } ||
    { echo "Bail out! the programs do not build"; exit 1; }
small=(B=1 H=4 HKV=2 N=100 REPS=3)

# ---- a right stage and every kind of wrong one ---------------------------------------------------
run attention run "${small[@]}" 01_none
exits 0 "a right stage" PASS 'checked  400 of 400 rows' 'Fake "GPU", compute capability 9.0' \
    'driver 13.0'
FAKE_TERMINAL=1 run attention run "${small[@]}" 01_none 02_element
steps "a run" 'preparing inputs and oracle' 'checking 01_none' 'checking 02_element' \
    '02_element: 1 of 51200 elements of O are wrong: error 0.00823, allowed 0.000711' \
    'timing 2 stages'
(cd "$work" && ./attention run "${small[@]}" 02_element) >"$work/out" 2>&1
[ "$(cut -d ' ' -f 1 "$work/out" | head -n 4 | tr '\n' ' ')" = \
    'device problem checked 02_element: ' ]
result $? "what is printed and what is explained come in their order"
run attention run "${small[@]}" LSE=0 01_none
exits 0 "a right stage without LSE" PASS
run attention run "${small[@]}" CAUSAL=1 NKV=60 01_none
exits 0 "rows without keys" PASS
run attention run "${small[@]}" 02_element
exits 1 "one element off by 1% of the largest" '1 of 51200 elements of O are wrong' \
    'row 0 column 0: expected'
run attention run "${small[@]}" 03_nan
exits 1 "one element not written" '1 of 51200 elements of O are wrong' 'got nan'
run attention run "${small[@]}" 04_guard
exits 1 "a write past O" 'wrote outside O: it changed byte 0 of the 4096 bytes after it'
run attention run "${small[@]}" 14_workspace_guard
exits 1 "a write before the workspace" \
    'wrote outside the workspace: it changed byte 4095 of the 4096 bytes before it'
run attention run "${small[@]}" 16_input
exits 1 "a write to V" 'a kernel changed V, which it may only read: byte 51198'
run attention run "${small[@]}" INIT=onehot 05_lse
exits 1 "one key lost in O and LSE" 'O   batch 0 head 0 row 1 column' 'LSE batch 0 head 0 row 1:'
run attention run "${small[@]}" 06_tail
exits 1 "the last rows not written" 'rows     64-99     |########|' 'row 64 column 0: expected'
run attention run "${small[@]}" 07_head
exits 1 "the wrong KV head" 'heads with a wrong row: 2 of 4' \
    'a race, a missing wait or a bad access shows in: make stage07 sanitize'
KERNEL=work/mine.cu run attention run "${small[@]}" 07_head
exits 1 "the same of another file" 'make stage07 sanitize KERNEL=work/mine.cu'
grep -q 'if the workspace' "$work/err" "$work/out"
result $((! $?)) "a stage without a workspace relies on none"
run attention run "${small[@]}" 27_zeros
exits 1 "a workspace that nobody cleared" '27_zeros: 1 of 51200 elements of O are wrong' \
    'the result is right if the workspace starts as zeros: the kernel reads workspace that it'
run attention run "${small[@]}" CAUSAL=1 08_mask
exits 1 "the diagonal masked" 'row 0 column'
run attention run "${small[@]}" 09_later
exits 1 "wrong from the second launch on" '1 of 51200 elements of O are wrong'
run attention run "${small[@]}" 10_fault
exits 1 "a fault" 'cudaDeviceSynchronize(): cudaErrorIllegalAddress' 'device.c:'
run attention run "${small[@]}" 11_launch
exits 1 "a launch that fails" 'attention_launch: cudaErrorInvalidValue'

# ---- several stages: one does not stop or taint another ------------------------------------------
run attention run "${small[@]}" 04_guard 10_fault 12_unsupported 13_workspace 01_none
exits 1 "a right stage after faulty ones" '12_unsupported' 'SKIP: needs compute capability 12.0' \
    'FAIL: it asks for a workspace of 1125899906842624 bytes; the limit for this problem is '
grep -q '^01_none .*PASS$' "$work/out"
result $? "and it passes"
run attention run "${small[@]}" 12_unsupported 01_none
exits 0 "a skip among passes" SKIP PASS
run attention run "${small[@]}" NKV=41 17_refuses
exits 1 "a problem refused for no reason of the contract's" \
    'FAIL: attention_supports refuses this problem ("needs an even number of keys")'
run attention run "${small[@]}" 18_refuses_all
exits 1 "every problem refused" 'FAIL: attention_supports refuses this problem ("has no time")'
run attention run "${small[@]}" DEVICE=gpu 12_unsupported
exits 2 "nothing but skips" 'needs compute capability 12.0'
run attention run "${small[@]}" DEVICE=gpu 15_shared
exits 2 "blocks that do not fit" \
    'SKIP: a block needs 2098176 bytes of shared memory, and the device has 1048576'
run attention run "${small[@]}" 01_none/
exits 0 "a folder with a slash at its end" '01_none '

# ---- JSON ----------------------------------------------------------------------------------------
run attention run "${small[@]}" FORMAT=json 01_none 02_element 12_unsupported
exits 1 "FORMAT=json" '"status":"pass"' '"status":"fail"' '"status":"skip"'
[ "$(grep -c '^{.*}$' "$work/out")" -eq 3 ] && [ "$(wc -l <"$work/out")" -eq 3 ]
result $? "stdout is three objects and nothing else"
if command -v python3 >/dev/null; then
    python3 - "$work/out" <<'PYTHON' >"$work/err" 2>&1
import json, sys
keys = """stage name device simulated dtype causal batch heads kv_heads seq_q seq_kv d regime init
strength status reason max_error tolerance rms_error checked_rows ms_median ms_min
host_us tflops gb_s hbm_share sustained began ended registers threads shared_bytes spill_bytes
counters""".split()
for line in open(sys.argv[1]):
    assert list(json.loads(line)) == keys, line
PYTHON
    result $? "they parse and have the keys"
else
    skip "no python3 to parse JSON"
fi

# ---- devices -------------------------------------------------------------------------------------
FAKE_DEVICES=0 run attention run "${small[@]}" DEVICE=gpu 01_none
exits 2 "DEVICE=gpu without a GPU" 'no GPU was found'
FAKE_DEVICES=0 run attention run "${small[@]}" 01_none
exits 2 "neither GPU nor simulator" 'no GPU was found, and the simulator' 'is not built'
printf 'nothing' >"$work/attention-sim" && chmod +x "$work/attention-sim"
FAKE_DEVICES=0 run attention run "${small[@]}" 01_none
exits 2 "a simulator that cannot be started" \
    "no GPU was found, and $work/attention-sim cannot be started"
run attention run "${small[@]}" 01_none 12_unsupported
exits 0 "one that could not take what is left" PASS \
    "this GPU cannot run 1 of the 2 stages, and $work/attention-sim cannot be started"
printf '#!/bin/sh\nkill -KILL $$\n' >"$work/attention-sim"
run attention run "${small[@]}" 01_none 12_unsupported
exits 1 "one that is killed" PASS 'this GPU cannot run 1 of the 2 stages: running on the simulator'
rm "$work/attention-sim"
run attention run "${small[@]}" 01_none 12_unsupported
exits 0 "none for what is left" PASS \
    "this GPU cannot run 1 of the 2 stages, and the simulator ($work/attention-sim) is not built"
mv "$work/simulator" "$work/attention-sim"
FAKE_DEVICES=0 run attention run "${small[@]}" 01_none
exits 0 "no GPU: the simulator" 'no GPU was found: running on the simulator' 'device   simulator' \
    PASS
! grep -q 'TFLOP/s' "$work/out"
result $? "which prints no speed"
run attention run "${small[@]}" DEVICE=sim FORMAT=json 01_none
exits 0 "DEVICE=sim" 'DEVICE=sim was asked for: running on' '"simulated":true' \
    '"ms_median":null' '"warp_instructions":1000'
run attention run "${small[@]}" 12_unsupported
exits 2 "a GPU that can run no stage: the simulator" 'no GPU here can run the stages'
export FAKE_SIM_CAPABILITY=120
run attention run "${small[@]}" 01_none 12_unsupported 15_shared
exits 0 "a GPU that can run one of three: the simulator runs the others" \
    'this GPU cannot run 2 of the 3 stages: running on the simulator' 'SKIP: needs compute'
tables() { # tables STAGE N: the verdict on a stage in table N
    awk -v stage="$1" -v table="$2" '/^device/ { n++ }
        n == table && $1 == stage && match($0, /PASS|SKIP|FAIL/) { print substr($0, RSTART, 4) }' \
        "$work/out"
}
[ "$(tables 01_none 1)$(tables 12_unsupported 1)$(tables 12_unsupported 2)" = PASSSKIPPASS ] &&
    [ -z "$(tables 01_none 2)" ] && [ "$(tables 15_shared 2)" = SKIP ]
result $? "in a table of its own, which has them alone"
run attention run "${small[@]}" 01_none 15_shared
exits 0 "one that none can run is no failure" 'SKIP: a block needs'
run attention run "${small[@]}" 02_element 15_shared
exits 1 "and hides none" 'SKIP: a block needs'
run attention run "${small[@]}" 15_shared 12_unsupported 18_refuses_all
exits 1 "what is refused for no reason stays here" \
    'this GPU cannot run 2 of the 3 stages: running on' \
    'FAIL: attention_supports refuses this problem'
[ "$(grep -c 'FAIL' "$work/out")" -eq 1 ]
result $? "and is not asked again"
run attention run "${small[@]}" COUNTERS=full 01_none 12_unsupported
exits 2 "a GPU has no counters, and nothing is simulated in part" 'add DEVICE=sim'
run attention-sim run "${small[@]}" GPU=5 01_none
exits 0 "the simulator has no number" PASS
run attention run "${small[@]}" FORMAT=json 12_unsupported 01_none
exits 0 "the same as JSON" '"simulated":true'
[ "$(grep -c '^{.*}$' "$work/out")" -eq 3 ] && [ "$(wc -l <"$work/out")" -eq 3 ] &&
    [ "$(tail -n 1 "$work/out" | grep -c '"name":"12_unsupported".*"status":"pass"')" -eq 1 ]
result $? "ends with what the simulator says"
run attention run "${small[@]}" 12_unsupported 02_element
exits 1 "a failure on the GPU stays one" '02_element' PASS
run attention run "${small[@]}" DEVICE=gpu 12_unsupported 01_none
exits 0 "DEVICE=gpu simulates nothing" 'SKIP: needs compute'
! grep -q simulator "$work/out" "$work/err"
result $? "not even in part"
FAKE_CAPABILITY=120 FAKE_SIM_CAPABILITY=90 run attention run "${small[@]}" 12_unsupported 01_none
exits 0 "a GPU that can run all" PASS
! grep -q simulator "$work/out" "$work/err"
result $? "runs all"
unset FAKE_SIM_CAPABILITY
run attention-sim run "${small[@]}" DEVICE=gpu 01_none
exits 64 "DEVICE=gpu of the simulator" 'DEVICE=gpu: this program is the simulator; use DEVICE=auto'
run attention run "${small[@]}" LIMIT=5 DEVICE=sim 01_none
exits 64 "LIMIT of the simulator" 'LIMIT=5: allowed on a GPU only, where it limits the seconds of'
run attention run "${small[@]}" LIMIT=5 01_none 12_unsupported
exits 0 "LIMIT where the simulator runs the others" 'this GPU cannot run 1 of the 2 stages: running'
run attention run "${small[@]}" GPU=5 01_none
exits 64 "a GPU that is not there" 'GPU=5: allowed are 0 to 0'
FAKE_MEMORY=1000 run attention run "${small[@]}" 01_none
exits 2 "too little memory" 'needs 308800 bytes' '1000 bytes'
run attention run "${small[@]}" COUNTERS=full 01_none
exits 2 "counters of a GPU" 'add DEVICE=sim'
run attention run "${small[@]}" DEVICE=sim COUNTERS=full 01_none
exits 0 "counters of the simulator" 'the full report' \
    "the counters are the simulator's: running on"
run attention run "${small[@]}" DEVICE=sim COUNTERS=full 12_unsupported 01_none
[ "$(grep -c 'the full report' "$work/out")" -eq 1 ] &&
    [ "$(grep -B 1 'the full report' "$work/out" | head -n 1)" = 01_none ]
result $? "of what was counted alone, with its name"
run attention run "${small[@]}" DEVICE=sim COUNTERS=source FORMAT=json 01_none
exits 0 "counters by line as JSON"
[ "$(head -n 1 "$work/out")" = '{"name":"01_none","line":1}' ] &&
    [ "$(tail -n +2 "$work/out" | grep -c '^{"stage":.*}$')" -eq 1 ] &&
    [ "$(wc -l <"$work/out")" -eq 2 ]
result $? "an object per line before the stage's"
run attention run "${small[@]}" DEVICE=sim COUNTERS=html 01_none
[ "$(wc -l <"$work/out")" -eq 1 ] &&
    grep -q '^<html>01_none: B=[0-9]* H=.* LSE=1</html>$' "$work/out"
result $? "COUNTERS=html leaves stdout to the page, whose title says stage and problem"

# ---- bad usage -----------------------------------------------------------------------------------
run attention
exits 64 "no command" 'usage: attention run|grid|bench|fuzz|repeat' \
    'STAGE_DIR is a folder such as build/sm_80/07_swizzle; bare make lists the KEYs'
run attention fly 01_none
exits 64 "an unknown command" 'usage:'
run attention run D=128
exits 64 "no stage" 'usage:'
run attention run "${small[@]}" 99_missing
exits 64 "an unknown stage" '99_missing: no such stage'
run attention run "${small[@]}" D=64 01_none
exits 1 "a variant that is not built" '01_none/d64_fp16_full.so is missing: '
unknown='"registers":null,"threads":null,"shared_bytes":null,"spill_bytes":null'
run attention run "${small[@]}" D=64 FORMAT=json 01_none
exits 1 "of which nothing is known" "$unknown"
run attention run D=96 01_none
exits 64 "a bad value" 'D=96: allowed are 64|128'
run attention run H=4 HKV=3 01_none
exits 64 "HKV that does not divide H" 'HKV=3 does not divide H=4'
run attention run B=60000 H=60000 01_none
exits 64 "sizes that overflow" 'B=60000 times H=60000 overflows'

# ---- too large to simulate: 20,480,000 operations ------------------------------------------------
FAKE_OPERATIONS=20480000 run attention-sim run "${small[@]}" 01_none
exits 0 "what the simulator has time for" PASS
FAKE_OPERATIONS=20479999 run attention-sim run "${small[@]}" 01_none
exits 2 "what it has no time for is refused before it is prepared" \
    'attention: too large to simulate: choose a smaller B, H, N or NKV, or set FORCE=1'
! grep -q '^problem' "$work/out"
result $? "and is not shown"

# ---- grid ----------------------------------------------------------------------------------------
cell=(GRID=small D=128 DTYPE=fp16 CAUSAL=1)
run attention grid "${cell[@]}" INIT=normal 01_none 12_unsupported
exits 0 "grid of a right stage" '01_none                     49 cases, 0 failed' \
    '49 skipped' 'SKIP: needs compute capability 12.0'
run attention grid "${cell[@]}" INIT=normal 17_refuses
exits 1 "grid of a stage that refuses half of it" \
    'FAIL 17_refuses: attention_supports refuses this problem'
run attention grid "${cell[@]}" INIT=large 07_head
exits 1 "grid finds the wrong KV head" 'repeat: attention run B='
repeat=$(sed -n 's/.*repeat: attention //p' "$work/out" | head -n 1)
# shellcheck disable=SC2086 # the line is a list of arguments
run attention $repeat
exits 1 "and its line repeats the failure" '07_head: '
FAKE_DEVICES=2 run attention grid "${cell[@]}" INIT=large GPU=1 07_head
exits 1 "with the GPU that it was on" ' LSE=1 GPU=1 07_head'
FAKE_SETTING=7 run attention-sim grid "${cell[@]}" INIT=large 07_head
exits 1 "with what the simulator was told" 'repeat: FAKE_SETTING=7 attention run B='
run attention grid "${cell[@]}" INIT=normal 11_launch
exits 1 "grid counts all failures" '11_launch                   49 cases, 49 failed'
[ "$(grep -c '^FAIL' "$work/out")" -eq 10 ]
result $? "and lists ten"
grep -q 'passes when run alone' "$work/out"
result $((! $?)) "what fails alone, too, is not said to depend on others"
steps=()
for ((i = 1; i <= 49; i++)); do steps+=("grid: case $i of 49"); done
FAKE_TERMINAL=1 run attention grid "${cell[@]}" INIT=dominant 01_none
steps "a grid" "${steps[@]}"
exits 0 "grid of one hard init" '01_none                     49 cases, 0 failed'
run attention grid "${cell[@]}" INIT=dominant 26_shape
exits 1 "grid of a stage that keeps what its first launch had" '49 cases, 42 failed' \
    'this case passes when run alone, so an earlier launch affects it: repeat the whole command'
run attention grid "${cell[@]}" INIT=nan 01_none
exits 1 "grid finds the NaN for which this stage gives 0" 'elements of O are wrong: error inf'
for variant in 0 1; do
    run attention grid GRID=small D=128 DTYPE=fp16 CAUSAL=$variant FORMAT=json 01_none
    sink=(12 9) peaked=(6 1000000) primacy=(20 12)
    for input in "sink:${sink[variant]}" sink:89 "peaked:${peaked[variant]}" local:20 recency:20 \
        "primacy:${primacy[variant]}" primacy:100; do
        grep '"seq_kv":\(129\|194\),' "$work/out" |
            grep -q "\"init\":\"${input%:*}\",\"strength\":${input#*:},"
        result $? "CAUSAL=$variant: the grid has ${input/:/ } over several tiles"
    done
    [ "$(grep -c '"stage"' "$work/out")" -eq 49 ] &&
        [ "$(grep -c '"strength":[1-9]' "$work/out")" -eq 7 ]
    result $? "in place of other inits"
done
run attention grid "${cell[@]}" INIT=recency STRENGTH=7 02_element
exits 1 "grid of one strength" 'INIT=recency STRENGTH=7 SEED='
run attention run "${small[@]}" INIT=sink STRENGTH=30 01_none
exits 0 "a run of one strength" 'INIT=sink STRENGTH=30 SEED='
run attention run "${small[@]}" INIT=sink 01_none
exits 0 "the strength that is not chosen is said" 'INIT=sink STRENGTH=12 SEED='
run attention run "${small[@]}" INIT=sink STRENGTH=nan 01_none
exits 64 "a strength that is no number" 'STRENGTH=nan: allowed are numbers from 0.001 to 1000000'
run attention run "${small[@]}" STRENGTH=3 01_none
exits 64 "a strength of nothing" 'STRENGTH=3 needs INIT=sink, peaked, local, recency or primacy'
run attention fuzz INIT=all SECONDS=1 01_none
exits 64 "all inputs in fuzz" 'INIT=all works with bench only: give fuzz one kind of input'
run attention grid GRID=small DTYPE=fp16 CAUSAL=1 INIT=normal 01_none
exits 1 "grid of a variant that is not built" \
    '01_none                     50 cases, 1 failed, 0 skipped'
[ "$(grep -c '^FAIL .*d64_fp16_causal.so is missing' "$work/out")" -eq 1 ]
result $? "fails once"
FAKE_MEMORY=10000000 run attention grid GRID=big D=128 DTYPE=fp16 CAUSAL=0 01_none
exits 2 "the big grid without memory for it" '5 cases, 0 failed, 5 skipped' \
    'SKIP: the problem needs'
run attention-sim grid GRID=big 01_none
exits 2 "the big grid on the simulator" 'GRID=big: its tensors are too large to simulate'
run attention grid N=100 01_none
exits 64 "grid with a length" 'grid chooses the shapes itself'
run attention grid "${cell[@]}" 99_missing
exits 64 "grid of an unknown stage" '99_missing: no such stage'
echo "1..$count"
