#!/usr/bin/env bash
# Exercises: a stage to be written by the learner, from the stage before it.
#
#   tools/exercise/exercise.sh start STAGE
#       makes work/07_swizzle/kernel.cu, for 07_swizzle
#   tools/exercise/exercise.sh grade STAGE KERNEL PROGRAM
#       says what holds of KERNEL and what does not
#   tools/exercise/exercise.sh check STAGE KERNEL
#       refuses a KERNEL from an older ladder
#
# PROGRAM is build/attention.
#
# The stages once had other numbers and names. A folder work/NN_name is from then if there is no
# stage NN_name today: `start`, `grade` and `check` refuse it, and nothing changes what is in it.
#
# `start` never overwrites a file. `grade` needs no GPU: the kernel runs on the simulator. Neither
# the compiler nor the kernel nor its host code can make it fail: what they do wrong is the answer.
# Environment of grade: MAKE; DIR, where the Makefile builds KERNEL's variants, and VARIANTS;
# REFERENCE, the built stage to compare counters with; CHECK and LIMITS, the commands that check
# signatures and compute bounds, and LAB, what to make before them; STEP_LIMIT, the seconds that one
# step may take (default 300).
# Exit: 0 all holds, 1 something does not, 2 there is nothing to start from or to grade, 64 bad
# usage.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case

here=$(dirname "$0")
fail() { # fail CODE TEXT
    echo "$2" >&2
    exit "$1"
}

# header KERNEL: its header, without the first line.
header() { sed -n '1d; /^\/\//!q; p' "$1"; }

# before STAGE: the stage before it, nothing for the first.
before() { printf '%s\n' stages/[0-9][0-9]_* | sed 's,.*/,,' | grep -B1 -x "$1" | grep -vx "$1"; }

# older FOLDER: ends with what there is to say of work/FOLDER, which is from an older ladder.
older() {
    local number=${1%%_*} idea=${1#*_} kernel=work/old_$1/kernel.cu today moved now use
    today=$(find stages -maxdepth 1 -name "${number}_*" -printf '%f' | cut -d_ -f2-)
    moved=$(find stages -maxdepth 1 -name "[0-9][0-9]_$idea" -printf '%.2f')
    now="there is no stage $number today"
    [ -z "$today" ] || now="stage $number is $today today"
    if [ -n "$moved" ]; then
        now+=", and $idea is stage $moved"
        use="make stage$moved grade KERNEL=$kernel grades it"
    else
        now+=", and no stage is called $idea"
        use="KERNEL=$kernel is taken as the stage that you name with it"
    fi
    fail 64 "work/$1 is from an older ladder and stays as it is: $now;\
 to go on, rename the folder, for example to work/old_$1: then $use"
}

# check STAGE KERNEL: returns unless KERNEL is in a folder of an older ladder, or is not there while
# such a folder has the number of STAGE.
check() {
    local stage=$1 kernel folder
    kernel=$(realpath -ms -- "$2")
    kernel=${kernel#"$(realpath -ms work)/"}
    folder=${kernel%%/*}
    if [[ $folder == [0-9][0-9]_* && -d work/$folder && ! -d stages/$folder ]]; then
        older "$folder"
    fi
    [ "$kernel" = "$stage/kernel.cu" ] && [ ! -e "work/$kernel" ] || return 0
    for folder in "work/${stage%%_*}"_*/; do
        folder=$(basename "$folder")
        if [[ -d work/$folder && ! -d stages/$folder ]]; then older "$folder"; fi
    done
}

start() {
    local stage=$1 number=${1%%_*} name=${1#*_} from kernel=work/$1/kernel.cu fresh linked text
    check "$stage" "$kernel"
    [ ! -e "$kernel" ] || fail 2 "$kernel is there already, and stays: move it away to start again."
    from=$(before "$stage") || fail 2 "$stage is the first stage: there is none to start from."
    mkdir -p "work/$stage" && fresh=$(mktemp "work/$stage/XXXXXX") || exit 2
    text=$(
        echo "// Exercise $number: $name"
        header "stages/$stage/kernel.cu" |
            sed -E 's,^// Idea:    ,// Task:    ,; s,^// Before:  ,// Because: ,'
        cat <<END
//
// What follows is stage ${from%%_*}, ${from#*_}, as it is: change it until all holds of
//     make stage$number grade
// On the way all other commands take it too:
//     make stage$number run KERNEL=$kernel
END
        sed '1,/^[^/]/{/^\/\//d}' "stages/$from/kernel.cu"
    )
    if ! printf '%s\n' "$text" 2>/dev/null >"$fresh"; then
        rm -f "$fresh"
        fail 2 "work/$stage cannot be written: is the disk full?"
    fi
    chmod 644 "$fresh"
    # A link fails where a file has appeared meanwhile; a rename would take its place.
    ln "$fresh" "$kernel" 2>/dev/null
    linked=$?
    rm -f "$fresh"
    [ $linked -eq 0 ] || fail 2 "$kernel is there already, and stays."
    echo "$kernel: stage ${from%%_*}, with the task of stage $number in its header"
}

# shellcheck source=tools/make/progress.sh
. "$here/../make/progress.sh"
# shellcheck source=tools/make/within.sh
. "$here/../make/within.sh"

# ---- grade ---------------------------------------------------------------------------------------

# attempt COMMAND...: runs it within the limit; what it prints is in $log, its exit code in $code.
attempt() {
    # Files of at most 64 MiB, the log among them.
    (ulimit -Sf 65536 2>/dev/null; within "${STEP_LIMIT:-300}" "$@") >"$log" 2>&1 </dev/null
    code=$?
}

# ended: whether the last attempt was ended by the kernel's host code, with any exit code: the
# program says so of exit and _exit, and of exec it is seen by the verdict that is not there.
ended() {
    local sentence="$stage ended the program: does its host code call exit?"
    [ "$code" -ne 0 ] || grep -q '  PASS' "$log" || { echo "$sentence" >>"$log" && code=1; }
    grep -qxF "$sentence" "$log"
}

# why: a sentence about an exit code that is not the program's own.
why() {
    if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
        echo "it did not end within ${STEP_LIMIT:-300} s: a loop in the kernel or in" \
            "attention_launch that never ends?"
    elif [ "$code" -eq $((128 + $(kill -l XFSZ))) ]; then
        echo "it wrote a file of more than 64 MiB, or as much to the log: a line in a loop?"
    elif [ "$code" -gt 128 ]; then
        echo "the program crashed (signal $(kill -l $((code - 128)))): what runs on the host is" \
            "at fault, attention_launch or its neighbours; do they read what is not there, or the" \
            "device's memory?"
    fi
}

# holds WHAT, fails WHAT [FILTER...]: one line of the answer, and for a failure what the log says.
holds() { tell_no_more; printf '  holds  %s\n' "$1"; }
fails() {
    tell_no_more
    printf '  FAILS  %s\n' "$1"
    shift
    worst=1
    { why && "${@:-cat}" <"$log"; } | awk 'NF && n++ < 24 { print "         " $0 }'
}

skips() { tell_no_more; printf '  --     %s\n' "$1"; }

# told: what the simulator says of a kernel, without the harness's own lines (races were looked for
# already). What is said in the table alone, as of a problem that attention_supports refuses, is
# taken from there. A case of the grid is repeated by make.
told() {
    local own="device|problem|checked|checking|simulated PTX:|attention:|stage |load request,|grid:"
    own+="|  a race, a missing wait or a bad access shows in:"
    {
        grep -vE "^($own) |^$stage .* (FAIL|SKIP): |^$" ||
            sed -nE "s/^$stage .* FAIL: /$stage: /p" "$log"
    } | awk -v make="make stage${stage%%_*} run KERNEL=$kernel DEVICE=sim" '
        sub(/repeat: attention run/, "repeat: " make) { sub(/ DEVICE=sim [^=]*$/, "") } { print }'
}

# endless, faulted: what the last attempt came to. After a race a kernel goes on; after a fault, a
# crash, a deadlock or a loop that never ends it cannot, whatever the next step wants of it.
endless() {
    [ "$code" -eq 124 ] || [ "$code" -eq 137 ] ||
        grep -q 'an endless loop?\|^ptxsim: deadlock: ' "$log"
}
faulted() { [ "$code" -gt 1 ] || ended || grep '^ptxsim:' "$log" | grep -qv ' data race '; }

# copied: says of a kernel that is a stage's, but for comments, spaces and line ends, which one
# that is.
copied() {
    local other
    other=$(awk 'FNR == 1 { code[FILENAME] = "" }
        { sub(/\/\/.*/, ""); gsub(/[[:space:]]/, ""); code[FILENAME] = code[FILENAME] $0 }
        END { for (i = 2; i < ARGC; i++) if (code[ARGV[i]] == code[ARGV[1]]) break
            if (i < ARGC) print ARGV[i] }' \
        "$kernel" "stages/$stage/kernel.cu" stages/[0-9][0-9]_*/kernel.cu)
    [ -n "$other" ] || return 0
    other=${other#stages/} other=${other%/kernel.cu}
    case $other in
        "$stage") other="that of the stage itself" ;;
        "$(before "$stage")") other="still that of stage ${other%%_*}, ${other#*_}" ;;
        *) other="that of stage ${other%%_*}, ${other#*_}" ;;
    esac
    echo "  note   but for comments and spaces its code is $other"
}

compiles() {
    local so=() variant
    local make=("$MAKE" --no-print-directory -j"$(nproc)" "stage${stage%%_*}" KERNEL="$kernel")
    for variant in $VARIANTS; do so+=("$DIR/$variant.so"); done
    # One first: an error in all variants is told once.
    tell "grade: compiling"
    attempt "${make[@]}" "${so[0]}"
    tell "grade: compiling all ${#so[@]} variants"
    [ "$code" -ne 0 ] || attempt "${make[@]}" "${so[@]}"
    if [ "$code" -eq 0 ]; then
        holds "it compiles in all ${#so[@]} variants"
    else
        fails "it compiles" grep -vE '^(nvcc|make)'
        return 1
    fi
}

# Both head sizes, both types, both masks, blocks without keys. The first problem is the one for
# SIM_INDEX: its sizes, and indices within a tile, stay below. The others run twice: the second time
# with early copies, blocks and warps in another order, and the tensors at other addresses.
# Exit: 1 it is wrong, 2 it does not run to its end.
races() {
    local shape keys what shapes=("HKV=2 N=265 NKV=267 CAUSAL=0 D=128 DTYPE=fp16 RUNS=1"
        "HKV=1 N=130 NKV=400 CAUSAL=1 D=128 DTYPE=bf16 RUNS=2"
        "HKV=1 N=203 NKV=321 CAUSAL=0 D=64 DTYPE=bf16 RUNS=2"
        "HKV=1 N=301 NKV=99 CAUSAL=1 D=64 DTYPE=fp16 RUNS=2")
    # With first maxima a P may come near the end of fp16: here one is between 65520 and 65536.
    [ "${stage%%_*}" -lt 11 ] || shapes+=("HKV=1 N=8192 NKV=256 CAUSAL=0 D=64 DTYPE=fp16 RUNS=1 \
        INIT=sink STRENGTH=11 SEED=15")
    for shape in "${shapes[@]}"; do
        read -ra keys <<<"B=1 H=2 $shape"
        tell "grade: races, bounds, indices of 64 bits: ${keys[*]}"
        attempt env SIM_INDEX=32767 SIM_RACE=1 "$program-sim" run DEVICE=sim "${keys[@]}" \
            "$DIR"
        what="right results"
        ! ended || what="its host code returns"
        [ "$code" -eq 0 ] && continue
        ! grep -q ': run 2 differs from run 1' "$log" || what="the same bits in each run"
        ! grep -q '^ptxsim:' "$log" || what="no race, no access out of bounds"
        ! grep -q '^ptxsim: .* was computed in 32 bits' "$log" || what="indices of 64 bits"
        ! grep -qE '^ptxsim: (cuTensorMap|.* is not launched)' "$log" ||
            what="its kernels are launched"
        ! grep -q '(the simulator cannot run this PTX' "$log" || what="the simulator can run it"
        ! endless || what="it ends"
        fails "$what: ${keys[*]}" told
        ! faulted || return 2
        return 1
    done
    holds "no race, no access out of bounds, indices of 64 bits, the same bits in each run"
}

# The grid takes a minute or two: its lines of progress come through, on stderr.
results() {
    : >"$log"
    tail -f --pid=$$ "$log" > >(grep --line-buffered '^grid: ' >&2) 2>/dev/null &
    local progress=$!
    attempt "$program-sim" grid DEVICE=sim GRID=small "$DIR"
    { kill $progress && wait $progress; } 2>/dev/null
    if ! ended && [ "$code" -eq 0 ]; then
        holds "right results on the grid: $(sed -n 's/.* \([0-9]* cases\),.*/\1/p' "$log")"
    else
        fails "right results on the grid" told
    fi
}

# first_variant: of what was said of several variants, that of the first which differs.
first_variant() {
    awk '/^not ok/ { variants++ }
        variants == 1 && /^(not ok|#)/ { sub(/^(not ok [0-9]+ -|#) /, ""); print }
        END { if (variants > 1)
            print "and " variants - 1 " more variant" (variants > 2 ? "s" : "") }'
}

# uncounted: a signature counts what runs, and the kernel went wrong, as an earlier step said.
uncounted() { [ $worst -ne 0 ] && grep -q '^# [^ ]*attention-sim failed: ' "$log"; }

signature() {
    local missing
    if [ ! -f "stages/$stage/expect.sass" ]; then
        skips "the signature: stage ${stage%%_*} has none"
        return
    fi
    tell "grade: the signature"
    # shellcheck disable=SC2086 # a list
    attempt "$MAKE" --no-print-directory "stage${stage%%_*}" $LAB
    [ "$code" -ne 0 ] || attempt bash -c "$CHECK \"\$@\"" check "$DIR"/*.so
    if [ "$code" -eq 0 ]; then
        holds "the signature, stages/$stage/expect.sass, in all variants"
    elif uncounted; then
        skips "the signature: it counts what runs, so first the above"
    elif missing=$(sed -nE "s/.* a kernel of the stage; not '(.*)'$/\1/p" "$log") &&
        [ -n "$missing" ]; then
        echo "it speaks of the kernel '${missing%%$'\n'*}': no kernel of yours has that name" \
            >"$log"
        fails "the signature, stages/$stage/expect.sass"
    elif [ "$code" -ne 2 ]; then
        fails "the signature, stages/$stage/expect.sass" first_variant
    else # there is no disassembler
        skips "the signature: $(grep -v '^make' "$log" | tail -n 1)"
    fi
}

# record FOLDER FILE: into FILE what each instruction there counts, in the run of the counters.
record() {
    : >"$2"
    attempt env SIM_RECORD="$2" SIM_BLOCK=none "${run[@]}" FORMAT=json "$1"
}

counters() {
    local run=("$program-sim" run DEVICE=sim B=1 H=2 HKV=1 N=256 D=128 DTYPE=fp16 CAUSAL=0) units
    local counted="the counters: at most 5 % above the reference's, as many mma instructions"
    tell "grade: the counters"
    attempt "${run[@]}" FORMAT=json "$DIR" "$REFERENCE"
    grep '^{' "$log" | awk -f "$here/../plot/field.awk" -f "$here/exercise.awk" >"$log.table"
    code=${PIPESTATUS[1]}
    mv "$log.table" "$log"
    if [ "$code" -eq 0 ]; then
        holds "$counted"
        sed 's/^/         /' "$log"
    else
        fails "$counted"
        units=$(sed -nE 's/ +[0-9]+ +[0-9]+  <--$//p' "$log" | paste -sd'|')
        [ -n "$units" ] || return 0
        echo "         lines to look at (make stage${stage%%_*} annotate KERNEL=$kernel shows all):"
        record "$DIR" "$log.yours"
        record "$REFERENCE" "$log.reference"
        awk -v units="$units" -f "$here/excess.awk" "$log.yours" "$log.reference" |
            sed 's/^/         /'
    fi
}

# bound: which unit of a GPU binds the kernel, beside the stage. It fails nothing.
bound() {
    local libraries=("$DIR/d128_fp16_full.so" "$REFERENCE/d128_fp16_full.so") said
    tell "grade: what binds it"
    # shellcheck disable=SC2086 # a list
    attempt "$MAKE" --no-print-directory "stage${stage%%_*}" $LAB
    [ "$code" -ne 0 ] ||
        attempt "$here/../limits/count.sh" "$program" build/limits "${libraries[@]}"
    [ "$code" -ne 0 ] || attempt bash -c "$LIMITS FORMAT=json \"\$@\"" limits "${libraries[@]}"
    if [ "$code" -eq 0 ] && said=$(awk -v mine="your kernel" -v other="the stage" \
        -f "$here/../plot/field.awk" -f "$here/../limits/beside.awk" "$log"); then
        tell_no_more
        printf '  bound  %s\n' "$said"
    else
        skips "the bound: $(grep -v '^make' "$log" | tail -n 1)"
    fi
}

grade() {
    stage=$1 kernel=$2 program=$3 worst=0
    check "$stage" "$kernel"
    if [ ! -f "$kernel" ]; then
        before "$stage" >/dev/null || fail 2 \
            "$kernel is not there, and $stage is the first stage: there is none to start from."
        local made=work/$stage/kernel.cu
        [ "$kernel" != "$made" ] || made=one
        fail 2 "$kernel is not there: make stage${stage%%_*} start makes $made to begin with."
    fi
    log=$(mktemp)
    trap 'rm -f "$log" "$log".*' EXIT
    echo "$kernel as stage ${stage%%_*}, ${stage#*_}"
    copied
    if compiles; then
        races
        ran=$?
        case $ran in
            0) results; counters; bound ;;
            1) skips "the grid and the counters: first the above" ;;
            2) skips "the grid, the counters and the signature: first it has to run to its end" ;;
        esac
        rest=$worst
        [ $ran -eq 2 ] || signature
        [ $rest -eq $worst ] ||
            echo "all but the signature holds: with other tiles or unrolling a line that" \
                "merely counts may be no fault of the kernel, but local memory is, and so is to" \
                "leave out the idea, which the head of the signature describes"
    fi
    if [ $worst -eq 0 ]; then echo "all holds"; fi
    exit $worst
}

case ${1:-}:$# in
    start:2) start "$2" ;;
    grade:4) grade "$2" "$3" "$4" ;;
    check:3) check "$2" "$3" ;;
    *) fail 64 "usage: exercise.sh start STAGE | grade STAGE KERNEL PROGRAM | check STAGE KERNEL" ;;
esac
