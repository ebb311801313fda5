#!/usr/bin/env bash
# `make bench`, `make roofline` and `make plot` behind the Makefile, with a fake GPU, program,
# Python and Nsight Compute.
# Catches: a results file half-written or replaced by a restricted run, a lost failure, a wrong mean
# or least ratio, a time or an error of another input, a missing gnuplot or PyTorch that ends the
# bench, a plot that is not drawn; a regime lost, a ratio to a peer that is not the fastest of its
# cell, a clock or power of another time, a sustained number that does not say so; a counter lost or
# of one kernel alone, a wrong intensity, a profiler that counts nothing.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$work/out" "$work/err")
says() { grep -qF -- "$1" "$work/out" "$work/err"; }

# ---- a GPU, the program and a Python that has PyTorch, all of them scripts -----------------------
mkdir "$work/bin" "$work/few" "$work/tree"
cat >"$work/bin/nvidia-smi" <<'END'
#!/bin/sh
case $* in
*query-gpu=name*) echo 'NVIDIA "Fake" 9' ;;
*driver_version*) echo 999.01 ;;
*clocks.max*) echo '1980, 3201, 700.00' ;;
*timestamp*power.draw.instant*-lms*)
    for second in 0:100 1:600 2:700 3:200; do
        echo "100, $((1000 + 100 * ${second%:*})), 2026/01/31 12:00:0${second%:*}.500, ${second#*:}"
    done
    ;;
*utilization*) printf '100, 1500\n100, 1700\n3, 345\n' ;;
*) echo 'GPU 0' ;;
esac
case $* in *utilization*) : >"$WATCHED"; exec sleep 60 ;; esac
END
# Two cells of two stages: 30 and 60, then 40 and 20 TFLOP/s; FAIL, SLEEP and CODE change its mind.
cat >"$work/program" <<'END'
#!/bin/bash
echo "program $*" >&2
[ -z "${NO_GPU:-}" ] || { echo "it needs a GPU" >&2; exit 2; }
[ "${1:-}" != bench ] || for _ in {1..100}; do [ -e "$WATCHED" ] || sleep 0.1; done
line() {
    printf '{"stage":%s,"name":"%s","device":"Fake","dtype":"fp16","causal":false,"seq_q":%d,' \
        "${@:1:3}"
    printf '"d":128,"status":"%s","reason":%s,"tflops":%s}\n' "${@:4}"
}
line 1 01_slow 512 pass null 30
line 2 02_fast 512 pass null 60
[ -z "${SLEEP:-}" ] || sleep "$SLEEP"
line 1 01_slow 4096 pass null 40
if [ -n "${FAIL:-}" ]; then line 2 02_fast 4096 fail '"it is \"wrong\""' null; else
    line 2 02_fast 4096 pass null 20
fi
exit "${CODE:-0}"
END
# Its peer runs at 40 and 10 TFLOP/s.
cat >"$work/python" <<'END'
#!/bin/bash
[ "$1" != -c ] || exit "${NO_TORCH:-0}"
echo "peers $* with $CUDART" >&2
echo '{"peers": "PyTorch 9"}'
"$(dirname "$0")/program" 2>/dev/null
for pair in 512:40 4096:10; do
    echo '{"stage":null,"name":"Peer","device":"Fake","dtype":"fp16","causal":false,"seq_q":'\
"${pair%:*}"',"d":128,"status":"pass","reason":null,"tflops":'"${pair#*:}"'}'
done
END
chmod +x "$work/bin/nvidia-smi" "$work/program" "$work/python"
for tool in bash sh awk sed grep tr mktemp mv rm cat date dirname mkdir sleep; do
    ln -s "$(command -v $tool)" "$work/few/$tool"
done
bench=$PWD/tools/bench/bench.sh
plot=$PWD/tools/plot/plot.sh
roofline=$PWD/tools/roofline/roofline.sh
PATH=$work/bin:$PATH
export WATCHED=$work/watched # is there once nvidia-smi has told the clocks
run() { # run COMMAND...: code, $work/out, $work/err
    code=0
    rm -f "$WATCHED"
    (cd "$work/tree" && "$@") >"$work/out" 2>"$work/err" || code=$?
}
stem=$work/tree/notes/results/nvidia_fake_9

# ---- what is written -----------------------------------------------------------------------------
export CUDA_VERSION=13.0 CUDA_LIB=/cuda GOALS=bench
run "$bench" "$work/program" SEED=7 a b
ok "a bench ends with 0" [ $code -eq 0 ]
ok "the program gets the variables and stages" says "program bench SEED=7 a b"
ok "the table is printed" says "| 02_fast | 60 | 20 |"
ok "and written" cmp -s "$work/out" "$stem.md"
ok "so are the lines, after one about the run" [ "$(wc -l <"$stem.jsonl")" -eq 5 ]
ok "with device, driver, toolkit, command" grep -qF '"device":"NVIDIA \"Fake\" 9","driver":"999.01",
"toolkit":"13.0"' <(sed 's/,"toolkit/,\n"toolkit/' "$stem.jsonl")
ok "the command that repeats it" says 'make bench SEED=7'
ok "and the clocks" says 'SM up to 1980 MHz, memory 3201 MHz, 700.00 W; SM under load 1500 to 1700'
ok "nothing else is left there" [ "$(find "$work/tree" -type f | wc -l)" -le 4 ]
if command -v gnuplot >/dev/null; then
    grep -q '</svg>' "$stem.svg" && grep -q '02_fast' "$stem.svg"
    ok "the lines are drawn" [ $? -eq 0 ]
    grep -q '</svg>' "${stem}_ladder.svg" && grep -q '02_fast' "${stem}_ladder.svg"
    ok "and the ladder" [ $? -eq 0 ]
else
    skip "gnuplot is not installed"
fi
run "$bench" "$work/program" FORMAT=json a
ok "FORMAT=json prints the lines" cmp -s "$work/out" "$stem.jsonl"
cp "$stem.jsonl" "$work/whole"
GOALS='stage01 bench' run "$bench" "$work/program" DTYPE=bf16 D=64 CAUSAL=1 SEQS=512 a
ok "a restricted run has a name of its own" \
    [ -f "${stem}_bf16_d64_causal_part_stage01.jsonl" ]
run "$bench" "$work/program" LSE=0 SCALE=0.5 a
ok "so has one without LSE and with another scale" [ -f "${stem}_lse0_scale0.5.jsonl" ]
run "$bench" "$work/program" build/sm_80/work/07_mine
ok "so has a learner's kernel" [ -f "${stem}_work.jsonl" ]
ok "and leaves the whole one" cmp -s "$work/whole" "$stem.jsonl"
run "$bench" "$work/program" RESULTS=mine/x.jsonl a
# shellcheck disable=SC2016 # expanded when it runs
sed -i '2i echo "$2" >>"$WATCHED.cards"' "$work/bin/nvidia-smi"
CUDA_VISIBLE_DEVICES=3,5 run "$bench" "$work/program" RESULTS=mine/y.jsonl GPU=1 a
ok "the card is one of those that CUDA sees" [ "$(sort -u "$WATCHED.cards")" = 5 ]
sed -i 2d "$work/bin/nvidia-smi"
ok "RESULTS names the file" [ -f "$work/tree/mine/x.md" ]

# ---- inputs --------------------------------------------------------------------------------------
run "$bench" "$work/program" INIT=sink STRENGTH=2.5 a
ok "another input has a name of its own" [ -f "${stem}_sink_2.5.jsonl" ]
# The stages take 10 and 20 ms on normal inputs, 12 or 11 and 50 on a sink, where the second fails
# at 4096; their peers 20 and 21 ms; the errors are 2, 3, 4 and 5e-6, and on the sink 8, 9, 2 and
# 3e-6.
cat >"$work/several" <<'END'
#!/bin/bash
[ "$1" != -c ] || exit 0
echo "several $*" >&2
line() { # stage name seq input status ms error
    local reason=null
    [ "$5" = pass ] || reason='"it is wrong"'
    printf '{"stage":%s,"name":"%s","device":"Fake","dtype":"fp16","causal":false,' "${@:1:2}"
    printf '"seq_q":%d,"d":128,%s,"status":"%s","reason":%s,' "${@:3:3}" "$reason"
    printf '"rms_error":%s,"ms_median":%s,"tflops":9}\n' "$7" "$6"
}
normal='"init":"normal","strength":null' sink='"init":"sink","strength":12'
for seq in 4096 16384; do
    line 1 01_slow $seq "$normal" pass 10 2e-06
    line 2 02_fast $seq "$normal" pass 20 3e-06
    [ "$1" = bench ] || line null Peer $seq "$normal" pass 20 4e-06
    [ "$1" = bench ] || line null Other $seq "$normal" pass 20 5e-06
    line 1 01_slow $seq "$sink" pass $((seq == 4096 ? 12 : 11)) 8e-06
    if [ $seq -eq 4096 ]; then line 2 02_fast $seq "$sink" fail null null; else
        line 2 02_fast $seq "$sink" pass 50 9e-06
    fi
    [ "$1" = bench ] || line null Peer $seq "$sink" pass 21 2e-06
    [ "$1" = bench ] || line null Other $seq "$sink" pass 21 3e-06
done
exit 1
END
chmod +x "$work/several"
run "$bench" "$work/several" INIT=all SEED=7 a
ok "INIT=all asks the program for all" says "several bench INIT=all SEED=7 a"
ok "and ends as it does" [ $code -eq 1 ]
ok "the table is printed and written" cmp -s "$work/out" "${stem}_inputs.md"
ok "so are the lines" [ "$(wc -l <"${stem}_inputs.jsonl")" -eq 9 ]
ok "no plot is drawn" [ -z "$(find "$work/tree/notes" -name '*inputs*.svg')" ]
ok "nor missed" [ "$(grep -c gnuplot "$work/err")" -eq 0 ]
ok "the columns are the inputs" says "| | seq | normal | sink 12 |"
ok "time over time" says "| 02_fast | 16384 | 20 | 2.500 |"
ok "or why there is none" says "| 02_fast | 4096 | 20 | FAIL |"
ok "with the reason" says "- 02_fast, first on sink 12: FAIL: it is wrong"
ok "the largest ratio, and where" says "| 02_fast | 2.500 | sink 12, d128 full, 16384 |"
ok "not the last" says "| 01_slow | 1.200 | sink 12, d128 full, 4096 |"
ok "the errors" says "| 01_slow | 4096 | 2 | 8 |"
ok "without peers no ratio to theirs" [ "$(grep -c 'most exact' "$work/out")" -eq 0 ]
PYTHON=$work/several run "$bench" "$work/program" PEERS=1 INIT=all a
ok "PEERS=1 asks Python for all" says "reference/peers.py INIT=all a"
ok "the error over the least of the peers" says \
    "| 02_fast | 0.750 | 4.500 | sink 12, d128 full, 16384 |"
ok "the peer is in it" says "| Peer | 16384 | 20 | 1.050 |"
sed '/"sink"/d' "${stem}_inputs.jsonl" >"$work/one.jsonl"
run "$plot" "$work/one.jsonl"
ok "one input makes the usual table" grep -qF "hidden size 2048" "$work/one.md"
sed -i '/"normal"/d' "${stem}_inputs.jsonl"
run "$plot" "${stem}_inputs.jsonl"
ok "and says which it is" grep -qF "hidden size 2048, inputs sink 12" "${stem}_inputs.md"

# ---- regimes -------------------------------------------------------------------------------------
# Two cells of decode, where a stage takes 10 and 20 us and its peers 20, 5 and 15, 30; one of gqa,
# where a peer is left out; the product of matrices is no peer.
cat >"$work/regimes" <<'END'
#!/bin/bash
[ "$1" != -c ] || exit 0
echo "regimes $*" >&2
sustained=null began=null ended=null
[[ $* != *SUSTAINED=1* ]] || sustained=1 began='"2026/01/31 12:00:01.000"' \
    ended='"2026/01/31 12:00:03.000"'
line() { # stage name regime keys status reason us GB/s share
    local ms=null tflops=null
    [ "$7" = null ] || { ms=$(awk "BEGIN { print $7 / 1000 }") && tflops=$((60 / $7)); }
    printf '{"stage":%s,"name":"%s","device":"Fake","dtype":"bf16","causal":false,' "${@:1:2}"
    printf '"d":128,"batch":1,"heads":32,"kv_heads":8,"seq_q":1,'
    printf '"regime":"%s","seq_kv":%d,' "${@:3:2}"
    printf '"init":"normal","strength":null,"status":"%s","reason":%s,' "${@:5:2}"
    printf '"ms_median":%s,"tflops":%s,"gb_s":%s,"hbm_share":%s,' "$ms" "$tflops" "${@:8:2}"
    printf '"sustained":%s,"began":%s,"ended":%s}\n' "$sustained" "$began" "$ended"
}
[[ $* != *SUSTAINED=1* ]] || for _ in {1..100}; do [ -e "$WATCHED" ] || sleep 0.1; done
line 16 16_persistent decode 2048 pass null 10 1000 0.25
line null One decode 2048 pass null 20 500 0.125
line null Other decode 2048 pass null 5 2000 0.5
line null matmul decode 2048 pass null 1 null null
line 16 16_persistent decode 8192 pass null 20 2000 null
line null One decode 8192 pass null 15 2500 null
line null Other decode 8192 pass null 30 1300 null
line null matmul decode 8192 pass null 1 null null
[[ $* == *REGIME=all* ]] || exit 0
line 16 16_persistent gqa 64 pass null 10 1 0.1
line null One gqa 64 skip '"its mask is another"' null null null
line null Other gqa 64 pass null 12 1 0.1
END
chmod +x "$work/regimes"
PYTHON=$work/regimes run "$bench" "$work/program" PEERS=fa3,cudnn REGIME=decode DTYPE=bf16 a
ok "PEERS names some, REGIME goes on to Python" \
    says "reference/peers.py PEERS=fa3,cudnn REGIME=decode DTYPE=bf16 a"
ok "a regime has a name of its own" [ -f "${stem}_decode_bf16.jsonl" ]
ok "its title, too" says '# NVIDIA "Fake" 9: bf16, decode'
where='d128 full, B=1 H=32 HKV=8 N=1 NKV='
ok "the fastest peer of each cell, then each peer" says \
    "| decode | 16_persistent | 2 | **0.61** | 0.50 | ${where}2048 | 1.22 [0.75] | 0.87 [0.50] |"
ok "the speed of every cell" says "| ${where}8192 | 3 | 4 | 2 | 60 | 0.75 |"
ok "time, bytes and their part of the roof" says \
    "${where}2048 | 10 µs, 1000 GB/s, 25% | 20 µs, 500 GB/s, 12% | 5 µs, 2000 GB/s, 50% |  |"
ok "or without it, where it is not known" says "| 20 µs, 2000 GB/s | 15 µs, 2500 GB/s |"
ok "one at a time, it says" says "One repetition at a time:"
ok "not sustained" [ "$(grep -ci sustained "$work/out")" -eq 0 ]
PYTHON=$work/regimes run "$bench" "$work/program" PEERS=1 REGIME=all a
ok "REGIME=all: every regime" says "| gqa | 16_persistent | 1 | **1.20** | 1.20 | ${where}64 | |"
ok "who is left out has no speed, and the fastest is of the others" says \
    "| ${where}64 | 6 | SKIP | 5 |  | 1.20 |"
ok "and who is left out, why" says \
    "- gqa: One, first at ${where}64: SKIP: its mask is another"
ok "bytes where HBM is the roof, not elsewhere" [ "$(grep -c 'microseconds' "$work/out")" -eq 1 ]
if command -v gnuplot >/dev/null; then
    for text in '</svg>' 16_persistent Other 'd128 full 1x32/8 1x8192' decode gqa GB/s; do
        ok "the plot has $text" grep -qF "$text" "${stem}_regimes.svg"
    done
    ok "and no ladder" [ ! -e "${stem}_regimes_ladder.svg" ]
else
    skip "gnuplot is not installed"
fi
PYTHON=$work/regimes run "$bench" "$work/program" PEERS=1 REGIME=decode SUSTAINED=1 a
ok "a sustained run has a name of its own" [ -f "${stem}_decode_sustained.jsonl" ]
ok "clock and power of its time, not of another" grep -q \
    '"ended":"2026/01/31 12:00:03.000","sm_mhz":1150,"watts":650}' "${stem}_decode_sustained.jsonl"
ok "in the table" says "NKV=2048 | 1150 MHz, 650 W | 1150 MHz, 650 W |"
ok "which says that it is sustained" says "| decode, sustained | 16_persistent | 2 | **0.61** |"
ok "and how" says "Sustained: each runs back to back for 1 s"
ok "not one at a time" [ "$(grep -c 'One repetition' "$work/out")" -eq 0 ]
cat "${stem}_decode_bf16.jsonl" "${stem}_decode_sustained.jsonl" >"$work/both.jsonl"
run "$plot" "$work/both.jsonl"
grep -qF '| decode | 16' "$work/both.md" && grep -qF '| decode, sustained | 16' "$work/both.md"
ok "a file of both kinds keeps them apart" [ $? -eq 0 ]
sed 's/make bench [^"]*"/make bench"/' "${stem}_decode_bf16.jsonl" |
    cat "${stem}_decode_bf16.jsonl" - >"$work/both.jsonl"
run "$plot" "$work/both.jsonl"
ok "a command is named that is the beginning of another" \
    grep -qE '^.make bench .*REGIME=decode.*. and .make bench.,' "$work/both.md"
run "$bench" "$work/program" REGIME=random SEED=7 a
ok "random shapes are named by their seed" [ -f "${stem}_random7.jsonl" ]

# ---- what goes wrong -----------------------------------------------------------------------------
rm -r "$work/tree/notes"
NO_GPU=1 run "$bench" "$work/program" a
ok "a program that skips: exit 2" [ $code -eq 2 ]
ok "and nothing is written" [ -z "$(find "$work/tree/notes" -type f)" ]
FAIL=1 CODE=1 run "$bench" "$work/program" a
ok "a stage that fails: exit 1" [ $code -eq 1 ]
ok "the table shows it" says "| 02_fast | 60 | FAIL |"
ok "with the reason" says '02_fast, first at d128 full, 4096: FAIL: it is "wrong"'
sed 's/"pass"/"skip"/; s/"tflops":.*/"tflops":null}/' "$stem.jsonl" >"$work/none.jsonl"
run "$plot" "$work/none.jsonl"
ok "where nothing was timed: a table" grep -qF '| 02_fast | SKIP | FAIL |' "$work/none.md"
ok "no plot, and why" says "none.jsonl: nothing was timed: there is nothing to draw."
ok "exit 0" [ $code -eq 0 ]
rm -r "$work/tree/notes"
SLEEP=30 run timeout -s INT 2 "$bench" "$work/program" a
ok "interrupted: it does not succeed" [ $code -ne 0 ]
ok "and leaves nothing" [ -z "$(find "$work/tree/notes" -type f)" ]
PATH=$work/bin:$work/few run "$bench" "$work/program" a
ok "without gnuplot the bench succeeds" [ $code -eq 0 ]
ok "and says what is missing" says "gnuplot was not found: the plots were not drawn"
ok "the table is there" [ -f "$stem.md" ]
ok "the plot is not" [ ! -e "$stem.svg" ]
run "$bench" "$work/program" PEERS=2 a
ok "PEERS=2: exit 64" [ $code -eq 64 ]
ok "and what is allowed" says "PEERS=2: allowed are 0, 1 and names such as fa3,cudnn"
run "$bench" "$work/program" RESULTS=x a
ok "RESULTS=x: exit 64" [ $code -eq 64 ]

# ---- peers ---------------------------------------------------------------------------------------
PYTHON=$work/python run "$bench" "$work/program" PEERS=1 SEED=7 a
ok "PEERS=1 asks Python" says "reference/peers.py SEED=7 a with /cuda/libcudart.so"
ok "the ratio in each cell" says "| 02_fast | d128 full | 1.50 | 2.00 | 1.73 | 1.50 |"
ok "their geometric mean and the least" says \
    "| **02_fast** | **all 2** | | | **1.73** | **1.50** (d128 full, 512) |"
ok "the least may be the first or the last" says "| **1.73** | **0.75** (d128 full, 512) |"
ok "and the peers' versions" says "Peers: PyTorch 9."
sed '/"Peer"/{s/"pass"/"skip"/; s/"tflops":.*/"tflops":null}/}' "$stem.jsonl" \
    >"$work/peerless.jsonl"
run "$plot" "$work/peerless.jsonl"
ok "a peer that did not run is in the table" grep -qF '| Peer | SKIP | SKIP |' "$work/peerless.md"
grep -q 'over Peer' "$stem.md" && ! grep -q 'over Peer' "$work/peerless.md"
ok "but not compared with" [ $? -eq 0 ]
if command -v gnuplot >/dev/null; then
    grep -q Peer "$stem.svg" && ! grep -q Peer "$work/peerless.svg" "$work/peerless_ladder.svg"
    ok "nor drawn" [ $? -eq 0 ]
else
    skip "gnuplot is not installed"
fi
NO_TORCH=1 PYTHON=$work/python run "$bench" "$work/program" PEERS=1 a
ok "without PyTorch the stages alone" [ $code -eq 0 ]
ok "and one sentence" \
    says "has no PyTorch that can use the GPU (set PYTHON): only the stages are timed."

# ---- make plot -----------------------------------------------------------------------------------
rm -f "$stem.md"
run "$plot" "$stem.jsonl"
ok "the table is made again from the lines" [ -s "$stem.md" ]
run "$plot" "$stem.txt"
ok "no such file: exit 64" [ $code -eq 64 ]
cp "$stem.md" "$work/before"
echo 'not JSON' >>"$stem.jsonl"
run "$plot" "$stem.jsonl"
ok "a line that is no object: exit 1" [ $code -eq 1 ]
ok "and where" says "$stem.jsonl:6: not a JSON object"
ok "the table stays" cmp -s "$work/before" "$stem.md"
sed -i '6s/.*/{"stage":1,"name":"01_three_pass","device":"sim/' "$stem.jsonl"
run "$plot" "$stem.jsonl"
ok "half a line is refused, too" says "$stem.jsonl:6: not a JSON object"
for number in banana -nan inf; do
    sed -i "6s/.*/{\"name\":\"x\",\"status\":\"pass\",\"tflops\":$number}/" "$stem.jsonl"
    run "$plot" "$stem.jsonl"
    ok "$number is no number" says "$stem.jsonl:6: tflops and ms_median must be numbers or null"
done
echo '{"a":1}' >"$stem.jsonl"
run "$plot" "$stem.jsonl"
ok "no result: exit 1" [ $code -eq 1 ]

# ---- roofline ------------------------------------------------------------------------------------
# Three kernels at 4 TFLOP/s, one at 40, a stage that is skipped; a launch is 2e12 operations.
cat >"$work/program" <<'END'
#!/bin/bash
echo "program $*" >&2
line() {
    printf '{"stage":%d,"name":"%s","device":"NVIDIA \\"Fake\\" 9","dtype":"fp16",' "${@:1:2}"
    printf '"causal":false,"batch":4,"heads":16,"kv_heads":16,"seq_q":4096,"seq_kv":4096,"d":128,'
    printf '"status":"%s",' "$3"
    printf '"reason":%s,"ms_median":%s,"tflops":%s,"counters":null}\n' "${@:4}"
}
line 1 01_three_pass pass null 500 4
line 4 04_online_softmax "${VERDICT:-pass}" null 50 40
line 16 16_persistent skip '"needs a Hopper"' null null
exit "${CODE:-0}"
END
cat >"$work/peaks" <<'END'
#!/bin/sh
echo "peaks $*" >&2
echo '{"peak_hbm":1000,"peak_fma":60,"peak_mma":500,"peak_wgmma":null}'
END
# Each kernel of the launch reads 1e9 bytes of HBM, writes 2e9 and passes 2e10 through the L2.
cat >"$work/bin/ncu" <<'END'
#!/bin/bash
echo "ncu $*" >&2
[ -z "${NO_COUNTERS:-}" ] || { echo '==ERROR== ERR_NVGPUCTRPERM: no permission'; exit 1; }
echo '"ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_bytes.sum"'
echo '"","","byte","byte","byte"'
while [ "$1" != --launch-count ]; do shift; done
for ((i = 0; i < $2; i++)); do
    echo "\"$i\",\"kernel $i\",\"${READ:-1,000,000,000}\",\"2,000,000,000\",\"20,000,000,000\""
done
END
chmod +x "$work/peaks" "$work/bin/ncu"
mkdir "$work/tree/stages"
for stage in 01_three_pass 04_online_softmax 16_persistent; do
    mkdir "$work/tree/stages/$stage"
    cp "stages/$stage/kernel.cu" "$work/tree/stages/$stage/"
done
rm -rf "$work/tree/notes"
three=(x/01_three_pass x/04_online_softmax x/16_persistent)
roof=$work/tree/notes/results/nvidia_fake_9_roofline
GOALS=roofline run "$roofline" "$work/program" "$work/peaks" SEED=7 GPU=0 "${three[@]}"
ok "a roofline ends with 0" [ $code -eq 0 ]
ok "the stages are timed together" says \
    "program run FORMAT=json DEVICE=gpu SEED=7 GPU=0 ${three[*]}"
counted='"flops":2e+12,"hbm_read_bytes":3000000000,"hbm_write_bytes":6000000000,'
counted+='"hbm_bytes":9000000000,"l2_bytes":60000000000}'
ok "all kernels of one launch are counted" grep -qF "$counted" "$roof.jsonl"
ok "a skipped stage is in it, not counted" grep -q '"skip".*"counters":null}$' "$roof.jsonl"
ok "and the command" grep -qF '"command":"make roofline SEED=7 GPU=0"' "$roof.jsonl"
ok "bytes, intensity and share of the roof" says \
    "| 01_three_pass | 4 | 3000 | 6000 | 222.2 | 18 | 1.8 | 6e+04 | 33.33 |"
ok "and of the stage with one kernel" says \
    "| 04_online_softmax | 40 | 1000 | 2000 | 666.7 | 60 | 6.0 | 2e+04 | 100 |"
ok "the reason of the skipped one" says "- 16_persistent: SKIP: needs a Hopper"
ok "what the roofs are" says \
    "HBM 1000 GB/s, FP32 FMA 60 TFLOP/s, mma.sync 500 TFLOP/s, wgmma not there."
ok "the table is written" cmp -s "$work/out" "$roof.md"
if command -v gnuplot >/dev/null; then
    for text in '</svg>' 01_three_pass 04_online_softmax 'HBM 1000 GB/s' 'mma.sync 500'; do
        ok "the plot has $text" grep -qF "$text" "$roof.svg"
    done
else
    skip "gnuplot is not installed"
fi
cp "$roof.jsonl" "$work/whole"
rm "$roof.md"
run "$plot" "$roof.jsonl"
ok "make plot draws it again" [ -s "$roof.md" ]
NO_COUNTERS=1 run "$roofline" "$work/program" "$work/peaks" "${three[@]}"
ok "no permission to count: exit 2" [ $code -eq 2 ]
ok "in the profiler's words" says "==ERROR== ERR_NVGPUCTRPERM: no permission"
READ=0 run "$roofline" "$work/program" "$work/peaks" "${three[@]}"
ok "no bytes: exit 1" [ $code -eq 1 ]
ok "and which stage" says "ncu counted no bytes for 01_three_pass"
ok "the results stay" cmp -s "$work/whole" "$roof.jsonl"
ok "and nothing else is left there" [ "$(find "$work/tree/notes" -type f | wc -l)" -le 3 ]
VERDICT=fail CODE=1 run "$roofline" "$work/program" "$work/peaks" RESULTS=mine/y.jsonl "${three[@]}"
ok "a stage that fails: exit 1" [ $code -eq 1 ]
ok "it is not counted" [ "$(grep -c hbm_bytes "$work/tree/mine/y.jsonl")" -eq 1 ]
GOALS='stage01 roofline' run "$roofline" "$work/program" "$work/peaks" D=64 N=512 x/01_three_pass
ok "another shape has a name of its own" [ -f "${roof}_d64_n512_stage01.jsonl" ]
touch "$work/tree/file"
run "$roofline" "$work/program" "$work/peaks" RESULTS=file/x.jsonl "${three[@]}"
ok "a folder that cannot be written: exit 2" [ $code -eq 2 ]
ok "and what to do" says "file cannot be written: RESULTS=... names another file"
run "$roofline" "$work/program" "$work/peaks" DEVICE=sim "${three[@]}"
ok "DEVICE=sim: exit 64" [ $code -eq 64 ]
echo "1..$count"
