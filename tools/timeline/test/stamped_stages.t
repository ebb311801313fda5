#!/usr/bin/env bash
# make stageNN timeline without a GPU: the stamped copies on the simulator, as JSON and as a Chrome
# trace.
# Catches: a copy that computes something else, stamps that are missing or come more often than what
# they mark, a clock that does not know waits, JSON that no reader takes, a bad value that passes.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS KERNEL D DTYPE CAUSAL BLOCK RESULTS FORMAT
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
timeline() { # timeline STAGE VARIABLE=value...: $scratch/out and $scratch/err
    make "stage$1" timeline DEVICE=sim "${@:2}" >"$scratch/out" 2>"$scratch/err"
}

# spans LABEL: how often it begins in each warp of the record that has it, once per number.
spans() {
    python3 -c '
import json, sys
record = json.load(open(sys.argv[1]))
labels = [mark[0] for mark in record["marks"]]
of = [[labels[m] for m in warp["stamps"][1::2]].count(sys.argv[2]) for warp in record["warps"]]
print(*sorted(set(of) - {0}))' "$scratch/out" "$1"
}
# has LABEL NUMBER: each warp that has the label begins it so often.
has() {
    local found
    found=$(spans "$1")
    [ "$found" = "$2" ]
    result $? "$stage: a warp has $2 spans of $1" <(echo "found $found")
}

# 256 keys: four tiles of 64 keys; 12 has two products of 64 rows in each, 16 two tiles of 128 keys.
for stage in 06 12 16; do
    timeline $stage FORMAT=json
    result $? "$stage: its copy runs and is right" "$scratch/err"
    python3 -m json.tool "$scratch/out" >/dev/null 2>"$scratch/json"
    result $? "$stage: the record is JSON" "$scratch/json"
    grep -q 'the order of instructions and waits, not nanoseconds' "$scratch/err"
    result $? "$stage: it says that it is an order" "$scratch/err"
    case $stage in
    06) has QK 4 && has PV 4 && has softmax 4 && has store 1 ;;
    12) has QK 8 && has PV 8 && has softmax 8 && has store 1 ;;
    16) has QK 2 && has PV 2 && has store 1 ;;
    esac
    cp "$scratch/out" "$scratch/$stage"
    timeline $stage FORMAT=perfetto RESULTS="$scratch/$stage"
    python3 - "$scratch/out" >"$scratch/trace" 2>&1 <<'CODE'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
slices = [e for e in events if e["ph"] == "X"]
assert slices and all(e["dur"] >= 0 and e["args"]["line"] > 0 for e in slices)
assert sum(e["ph"] == "b" for e in events) == sum(e["ph"] == "e" for e in events)
CODE
    result $? "$stage: as a Chrome trace every slice has a length, every wgmma its end" \
        "$scratch/trace"
done

# A warp beside the chosen block, of which only a part is there: its wgmma is still in flight.
cat >"$scratch/part" <<'CODE'
,"cost":0.01000,"block":2,"blocks":6,"sm":5,"cycles":1000,
"marks":[["other",1,0,-1],["QK",10,1,-1],["wait",20,0,0],["end",40,0,-1]],
"warps":[
{"block":4,"warp":0,"full":false,"stamps":[600,0,10,1,490,2]}
]}
CODE
awk -f tools/timeline/perfetto.awk "$scratch/part" | python3 -m json.tool --compact >"$scratch/out"
result "$(grep -q '"block 4 on SM 5"' "$scratch/out" &&
    grep -q '"ph":"b",[^}]*"ts":0.61}' "$scratch/out" &&
    grep -q '"ph":"e",[^}]*"ts":1.1}' "$scratch/out"; echo $?)" \
    "as a Chrome trace a wgmma that nobody waits for ends with its warp" "$scratch/out"

# In a recorded block a warp's clock goes on while it waits: the producer of 14 waits most of all.
timeline 14 FORMAT=json N=128 NKV=512
python3 - "$scratch/out" >"$scratch/said" 2>&1 <<'CODE'
import json, sys
record = json.load(open(sys.argv[1]))
labels = [mark[0] for mark in record["marks"]]
shares = []
for warp in record["warps"]:
    times, marks = warp["stamps"][2::2], warp["stamps"][1::2]
    if "QK" in [labels[m] for m in marks] or len(times) < 4:
        continue
    waits = sum(t for t, m in zip(times, marks) if labels[m] == "wait")
    shares.append(waits / sum(times))
print(shares)
assert shares and max(shares) > 0.6
CODE
result $? "14: the clock knows that the producer waits" "$scratch/said"

# All stages with marks, one after another.
make -s timeline DEVICE=sim FORMAT=json N=64 H=1 >"$scratch/out" 2>"$scratch/err"
result $? "without a stage: all that have marks" "$scratch/err"
marked=$(find stages -name timeline.marks | wc -l)
result "$([ "$(grep -c '^"marks"' "$scratch/out")" -eq "$marked" ]; echo $?)" "a record of each" \
    "$scratch/err"

# ---- Bad input -----------------------------------------------------------------------------------
refuses() { # refuses NAME TEXT STAGE VARIABLE=value...
    ! timeline "${@:3}" && grep -qF -- "$2" "$scratch/err"
    result $? "$1: $2" "$scratch/err"
}
refuses "a stage without marks" '05_register_tiles has no timeline' 05
refuses "a format" 'FORMAT must be one of: text json perfetto svg' 06 FORMAT=xml
refuses "a block" 'BLOCK=8: allowed are 0 to 7' 06 BLOCK=8
! grep -q SIM_BLOCK "$scratch/err"
result $? "the simulator's own name of it is not shown" "$scratch/err"
refuses "a record that is not there" 'there is no such file' 06 RESULTS="$scratch/none"
refuses "a folder in its place" 'there is no such file' 06 RESULTS="$scratch"
refuses "a record of another stage" 'is no record of 06_cp_async' 06 RESULTS="$scratch/12"
refuses "a record of another variant" 'is a record of d128_fp16_full, not d64_fp16_full' 12 D=64 \
    RESULTS="$scratch/12"
refuses "another block than that of the record" 'leave out BLOCK=5' 12 BLOCK=5 \
    RESULTS="$scratch/12"
refuses "another problem than that of the record" 'leave out N=64' 12 N=64 RESULTS="$scratch/12"
refuses "a variable" 'timeline does not take SECONDS' 06 SECONDS=3
mkdir -p build/timeline/test
sed 's,// O_i = O_i / l_i.*,// The end,' stages/06_cp_async/kernel.cu >build/timeline/test/kernel.cu
refuses "a learner's kernel without a mark's text" \
    'its text is not in build/timeline/test/kernel.cu' 06 KERNEL=build/timeline/test/kernel.cu
echo '#define SCALED(r) l_i[r] = l_i[r]' >build/timeline/test/beside.cuh
sed -e 's/l_i\[r\] = scale_i \* l_i\[r\]/SCALED(r)/' -e '1i #include "beside.cuh"' \
    stages/06_cp_async/kernel.cu >build/timeline/test/kernel.cu
refuses "a learner's kernel that is wrong, with a header" 'the stamped copy: ' \
    06 KERNEL=build/timeline/test/kernel.cu
echo "1..$count"
