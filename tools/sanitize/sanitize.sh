#!/usr/bin/env bash
# Looks for races, bad accesses and bad synchronisation in the stages: with compute-sanitizer on a
# GPU, with the simulator's own checks elsewhere.
#
#   tools/sanitize/sanitize.sh build/attention [KEY=VALUE]... STAGE_DIR...
#
# The problems are small and ragged unless KEYs say otherwise, because every access is watched. One
# has enough keys that every stage uses its buffers twice, one has blocks whose rows see no key, one
# has few queries, for which the last stage cuts the keys into pieces; a tile that is full but for
# one key, no LSE, another scale, a P that fp16 cannot hold, rows whose one score is -inf. Together
# they have all eight variants and inputs of several kinds.
#
# A mistake shows in most of them. What a run says is printed if any of it is new. A kernel that the
# simulator cannot run, because of an instruction that it does not know, ends the search.
# Exit: 0 nothing found, 1 something found or a wrong result, 2 neither tool can be used, no run was
# possible or the simulator cannot run a kernel, 64 a bad value.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case

program=$1
shift
problems=("B=1 H=2 HKV=1 N=130 NKV=383 CAUSAL=0 D=128 DTYPE=fp16 SCALE=0.3"
    "B=1 H=2 HKV=1 N=400 NKV=100 CAUSAL=1 D=128 DTYPE=bf16 INIT=large"
    "B=1 H=4 HKV=1 N=16 NKV=1700 CAUSAL=0 D=128 DTYPE=bf16 INIT=sink"
    "B=1 H=2 HKV=1 N=200 NKV=200 CAUSAL=1 D=128 DTYPE=fp16 INIT=nan"
    "B=1 H=3 HKV=1 N=65 NKV=257 CAUSAL=0 D=64 DTYPE=fp16 INIT=dominant"
    "B=2 H=4 HKV=2 N=129 NKV=300 CAUSAL=1 D=64 DTYPE=fp16 INIT=equal"
    "B=2 H=2 HKV=1 N=70 NKV=330 CAUSAL=0 D=64 DTYPE=bf16 INIT=infinite"
    "B=1 H=6 HKV=2 N=17 NKV=520 CAUSAL=1 D=64 DTYPE=bf16 INIT=peaked"
    "B=1 H=2 HKV=2 N=200 NKV=483 CAUSAL=1 D=128 DTYPE=fp16 INIT=sink STRENGTH=13 LSE=0"
    "B=2 H=4 HKV=2 N=70 NKV=1 CAUSAL=1 D=64 DTYPE=bf16 INIT=infinite")

# print TEXT: a line, which waits until a first check has shown that the values are good.
begun='' waiting=''
print() { if [ -n "$begun" ]; then echo "$1"; else waiting+=$1$'\n'; fi; }

# heading PROBLEM: its values, and in place of those of the same names what the user gave.
heading() {
    local key text=''
    for key in $1; do [[ $given == *" ${key%%=*}="* ]] || text+=" $key"; done
    text+=$given
    echo "${text# }"
}

# reports: what the log says is wrong with which lines of a kernel, one line each: without addresses
# and the like, which differ from run to run. A wrong result is like no other.
reports() {
    awk -v run="$runs" '
        function end() { if (places != "") print kind places; kind = places = "" }
        /^ptxsim: / || /^========= [A-Z]/ {
            end(); kind = $0; gsub(/\(.*|0x[0-9a-f]+|[0-9]+/, "", kind)
        }
        { while (match($0, /[^ ]+\.cuh?:[0-9]+/)) {
            places = places " " substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }
        / FAIL/ && !/see above/ { print "a wrong result in run " run }
        END { end() }' "$log" | sort -u
}

# all_known REPORT...: whether there are any, and none is new; counts them.
declare -A known=()
all_known() {
    local new='' report
    for report in "$@"; do
        [ -n "${known[$report]:-}" ] || new=yes
        known[$report]=yes
    done
    [ $# -gt 0 ] && [ -z "$new" ]
}

# verdicts: whether each stage has its line of the table: host code may end the program with 0.
verdicts() { [ "$(grep -cE '  (PASS|SKIP)' "$log")" -ge $stages ]; }

# unknown: whether the simulator could not run a stage's PTX, and nothing else went wrong.
unknown() {
    local text='(the simulator cannot run this PTX'
    grep -qF "$text" "$log" && ! grep ' FAIL' "$log" | grep -qvF "$text"
}

# finish: the end, with what all runs came to.
finish() {
    [ $failed -eq 0 ] ||
        echo "$failed of $runs runs found something; the words above have all of it"
    exit $worst
}

# watch NAME COMMAND...: runs it, keeps its words for the case that it fails. A bad value ends all;
# what cannot run, as a problem that is too large, is not clean and has found nothing.
runs=0 failed=0 skipped=0
watch() {
    local name=$1 code found
    shift
    runs=$((runs + 1))
    [ -z "$begun" ] || printf '%-10s ' "$name"
    "$@" >"$log" 2>&1
    code=$?
    if [ $code -eq 64 ]; then
        [ -z "$begun" ] || echo "not run:"
        cat "$log" >&2
        exit 64
    fi
    [ $code -ne 0 ] || verdicts || {
        echo "the program ended early: does a stage's host code end it?" >>"$log"
        code=1
    }
    [ -n "$begun" ] || printf '%s%-10s ' "$waiting" "$name"
    begun=yes
    if [ $code -eq 0 ]; then
        echo clean
    elif [ $code -eq 2 ]; then
        echo "not run:"
        cat "$log"
        skipped=$((skipped + 1))
    elif [ $code -eq 1 ] && unknown; then
        echo "not run, and nor is the rest: the simulator cannot run this kernel:"
        grep '^ptxsim: ' "$log" || cat "$log"
        [ $worst -ne 0 ] || worst=2
        finish
    else
        mapfile -t found < <(reports)
        if all_known "${found[@]}"; then
            echo "found the same again (exit $code)"
        else
            echo "found something (exit $code):"
            cat "$log"
        fi
        failed=$((failed + 1))
        worst=1
    fi
}

worst=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'trap "" INT TERM; exit 130' INT TERM
device=auto given='' stages=0
for argument in "$@"; do
    case $argument in
        DEVICE=*) device=${argument#DEVICE=} ;;
        *=*) given+=" $argument" ;;
        *) stages=$((stages + 1)) ;;
    esac
done
if [ "$device" != sim ] && nvidia-smi -L >/dev/null 2>&1; then
    if ! command -v compute-sanitizer >/dev/null; then
        echo "compute-sanitizer was not found: install the CUDA Toolkit, or use DEVICE=sim." >&2
        exit 2
    fi
    for problem in "${problems[@]}"; do
        read -ra keys <<<"$problem"
        print "$(heading "$problem")"
        for tool in memcheck racecheck initcheck synccheck; do
            watch $tool compute-sanitizer --tool $tool --error-exitcode 1 \
                "$program" run "${keys[@]}" REPS=1 "$@" DEVICE=gpu
        done
    done
elif [ "$device" != gpu ] && [ -x "$program-sim" ]; then
    print "in the simulator: races, bounds, never-written shared memory, deadlocks, indices that \
overflow"
    # A block of the last stage takes several pieces, of two warpgroups; groups of heads, and a ring
    # of records that goes round.
    problems+=("B=1 H=3 HKV=3 N=129 NKV=1025 CAUSAL=1 D=128 DTYPE=fp16"
        "B=3 H=11 HKV=11 N=400 NKV=130 CAUSAL=1 D=64 DTYPE=fp16")
    for problem in "${problems[@]}"; do
        read -ra keys <<<"$problem"
        print "$(heading "$problem")"
        for order in late early; do
            SIM_ASYNC=$order SIM_RACE=1 watch "copies $order" \
                "$program-sim" run "${keys[@]}" "$@" DEVICE=sim
        done
    done
    # As many multiprocessors as an H200 has, for the stage that plans by them; newest copies first.
    for problem in "B=1 H=4 HKV=1 N=40 NKV=1700" "B=1 H=2 HKV=1 N=420 NKV=420 CAUSAL=1" \
        "B=1 H=1 HKV=1 N=1 NKV=70000"; do
        read -ra keys <<<"$problem"
        print "$(heading "$problem")"
        SIM_MULTIPROCESSORS=132 SIM_ORDER=1 SIM_RACE=1 watch "132 SMs" \
            "$program-sim" run "${keys[@]}" "$@" DEVICE=sim
    done
    # Counts and indices within a tile stay below the limit, indices into the tensors do not.
    print "$(heading "B=2 H=2 HKV=2 N=264 NKV=264")"
    SIM_INDEX=32767 SIM_RACE=1 watch "64 bits" \
        "$program-sim" run B=2 H=2 HKV=2 N=264 NKV=264 "$@" DEVICE=sim
else
    echo "there is no GPU here that compute-sanitizer could watch." >&2
    exit 2
fi
[ $skipped -lt $runs ] || worst=2
finish
