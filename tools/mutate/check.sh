#!/usr/bin/env bash
# One mutant: builds it and runs the checks on it until one finds something.
#
#   tools/mutate/check.sh PROGRAM STAGE_DIR NUMBER host|device
#
# PROGRAM is build/attention, STAGE_DIR build/sm_80/07_swizzle; NUMBER 0 is the stage itself, which
# has to be checked first: the others are compared with what was built for it. A mutant that is in
# device code alone takes its host code from there.
#
# Prints "stage, number, verdict, check", with tabs between, and keeps verdict and check in
# build/mutants/STAGE/ by KEY and the mutant's text: it is not run again until one of them changes.
# The verdict is survived, does not compile, same code (as the stage itself in every variant), or
# what killed the mutant: wrong result, race, ...
#
# Environment: NVCC, NVCC_FLAGS; VARIANTS; CHECK, the command that checks signatures; KEY, a word
# for the state of the checks.
set -uo pipefail
export LC_ALL=C # numbers have points and letters their usual case
ulimit -c 0

program=$1 folder=$2 number=$3 where=$4
stage=${folder##*/}
home=build/mutants/$stage expect=stages/$stage/expect.sass
target=${folder%/*} && target=${target##*/sm_}
read -ra flags <<<"$NVCC_FLAGS"
without=() # line numbers and linking
for flag in "${flags[@]}"; do
    case $flag in -lineinfo | -shared) ;; *) without+=("$flag") ;; esac
done
export SIM_THREADS=1 SIM_BUDGET=5000000
# shellcheck source=tools/make/within.sh
. "${0%/*}/../make/within.sh"

key_of() { # key_of SOURCE
    cat "$1" "$expect" <(echo "$KEY $target $VARIANTS") 2>/dev/null | sha256sum | cut -c1-32
}
say() { printf '%s\t%s\t%s\n' "$stage" "$number" "$(<"$home/$key")"; }

# verdict NAME [CHECK]: ends the check of this mutant. That the stage itself has passed is kept, and
# not that it has not: the machine may have been the cause.
verdict() {
    if [ "$number" -eq 0 ] && [ "$1" != survived ]; then
        printf '%s\t0\t%s\t%s\n' "$stage" "$1" "${2:-}"
        exit 0
    fi
    printf '%s\t%s\n' "$1" "${2:-}" >"$scratch/verdict"
    mv "$scratch/verdict" "$home/$key"
    say
    exit 0
}

# cause CHECK: what killed it, by the exit code and the log.
cause() {
    case $code in
        1) ;;
        2) echo refused && return ;;
        124 | 137) echo 'no end' && return ;;
        *) echo crash && return ;;
    esac
    case $1:$(grep -m1 '^ptxsim: ' "$log") in
        signature:* | counters:*) echo "$1" ;;
        *': data race'* | *fence.proxy.async*) echo race ;;
        *': deadlock'*) echo deadlock ;;
        *'endless loop'*) echo 'no end' ;;
        *'before it was written'*) echo 'never written' ;;
        *'out of bounds'* | *outside* | *'no address'* | *'nothing is allocated'* | *aligned*)
            echo bounds ;;
        *ptxsim:*) echo 'other fault' ;;
        *) echo 'wrong result' ;;
    esac
}

# passes CHECK COMMAND...: if it does not, that is the verdict.
passes() {
    within 120 "${@:2}" >"$log" 2>&1 </dev/null
    code=$?
    [ $code -eq 0 ] || verdict "$(cause "$1")" "$1"
}

# compile VARIANT CODE FLAG...: $source; CODE is what comes out, the rest is as in kernels.mk.
compile() {
    local d=128 bf16=0 causal=0
    [[ $1 == d64_* ]] && d=64
    [[ $1 == *_bf16_* ]] && bf16=1
    [[ $1 == *_causal ]] && causal=1
    within 120 "$NVCC" "${@:3}" -gencode "arch=compute_$target,code=$2" \
        -DHEAD_DIM=$d -DELEMENT_BF16=$bf16 -DCAUSAL=$causal -DTARGET_SM="${target%a}" \
        "$source" >"$log" 2>&1
}

# uncompiled: the verdict on what the compiler has refused, if it speaks of the source; a full disk
# or a compiler that was killed is none.
uncompiled() {
    grep -qE 'kernel\.cu\([0-9]+\): (catastrophic )?error|^ptxas.*error' "$log" &&
        verdict 'does not compile'
    echo "$stage, mutant $number: the compiler itself failed (not because of the mutant):" \
        "$(tail -n 1 "$log")" >&2
    exit 2
}

# build VARIANT: PTX alone, which is all that the simulator reads, and no line numbers nor names of
# temporary files: what does the same in every instruction is the same file.
build() {
    local object=$scratch/$1.o
    if [ "$where" = host ]; then
        compile "$1" "compute_$target" "${without[@]}" -c -o "$object" || return 1
    else
        compile "$1" "compute_$target" "${without[@]}" -fatbin -o "$scratch/fatbin" &&
            objcopy --update-section .nv_fatbin="$scratch/fatbin" "$reference/$1.o" \
                "$object" || return 1
    fi
    g++ -shared "$object" -o "$built/$1.so" && strip -s "$built/$1.so"
}

# Between them they have both head sizes, element types and masks. The other variants get a run.
thorough=' d64_fp16_causal d128_bf16_full '

# results VARIANT: the first shapes kill most.
results() {
    local d=${1%%_*} type=${1#*_} mask=0 shape order
    local -A fma=([late]=separate [early]=fused)
    [[ $1 == *_causal ]] && mask=1
    type=${type%_*}
    local choice=(DEVICE=sim "D=${d#d}" "DTYPE=$type" "CAUSAL=$mask")
    for order in late early; do
        passes "run, $order" env SIM_ASYNC=$order SIM_FMA="${fma[$order]}" \
            "$program-sim" run "${choice[@]}" B=2 H=4 HKV=2 N=130 NKV=400 "$built"
    done
    # Rows of a block that see one key tile less than others, and buffers that are used again.
    [ $mask -eq 0 ] || passes 'run, diagonal' "$program-sim" run "${choice[@]}" \
        B=1 H=1 HKV=1 N=200 NKV=470 "$built"
    [[ $thorough == *" $1 "* ]] || return
    # An element of Q is -inf with this seed: all scores of its row are, though it sees keys.
    passes 'run, infinite' "$program-sim" run "${choice[@]}" INIT=infinite SEED=9 \
        B=1 H=2 HKV=1 N=40 NKV=200 "$built"
    # The second shape has blocks without keys, if there is a mask.
    for shape in 'N=130 NKV=400' 'N=400 NKV=100'; do
        for order in late early; do
            # shellcheck disable=SC2086 # a list
            passes "sanitize, $order" env SIM_ASYNC=$order SIM_RACE=1 \
                "$program-sim" run "${choice[@]}" B=1 H=2 HKV=1 $shape "$built"
        done
    done
    # As many that the pieces of a row are merged by several warps.
    passes 'sanitize, multiprocessors' env SIM_MULTIPROCESSORS=16 SIM_RACE=1 "$program-sim" run \
        "${choice[@]}" B=1 H=2 HKV=1 N=2 NKV=4000 "$built"
    for order in late early; do
        passes "grid, $order" env SIM_ASYNC=$order SIM_FMA="${fma[$order]}" \
            "$program-sim" grid GRID=small "${choice[@]}" "$built"
    done
    [ "$number" -eq 0 ] && return
    passes counters "$program-sim" run "${choice[@]}" B=1 H=2 HKV=1 N=256 FORMAT=json \
        "$built" "$reference/$stage"
    grep '^{' "$log" >"$scratch/counters"
    passes counters awk -f tools/plot/field.awk -f tools/exercise/exercise.awk "$scratch/counters"
}

signature() {
    local variant
    [ -f "$expect" ] || return
    for variant in d128_fp16_full d64_fp16_causal; do
        [[ " $VARIANTS " == *" $variant "* ]] || continue
        compile "$variant" "[sm_$target,compute_$target]" "${flags[@]}" \
            -o "$built/$variant.so" || uncompiled
        ! grep -q '(C75' "$log" || verdict signature 'ptxas serialises wgmma'
        passes signature bash -c "$CHECK \"\$@\"" check "$built/$variant.so"
    done
}

# machine_code VARIANT FILE
machine_code() {
    compile "$1" "sm_$target" "${without[@]}" -cubin -o "$scratch/cubin" && mv "$scratch/cubin" "$2"
}

# Whether ptxas makes the stage's own machine code of it, in all variants.
same_machine_code() {
    local variant mine its
    [ "$where" = device ] || return
    for variant in $VARIANTS; do
        mine=$scratch/$variant.cubin its=$reference/$variant.cubin
        [ -f "$its" ] || source=stages/$stage/kernel.cu machine_code "$variant" "$its" || return
        machine_code "$variant" "$mine" && cmp -s "$mine" "$its" || return
    done
}

mkdir -p "$home"
scratch=$(mktemp -d "$home/XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
built=$scratch/$stage log=$scratch/log source=$scratch/kernel.cu
mkdir "$built"
if [ "$number" -eq 0 ]; then cp "stages/$stage/kernel.cu" "$source"; else
    build/mutate "stages/$stage/kernel.cu" "$number" >"$source" || exit 2
fi
key=$(key_of "$source")
reference=$home/reference-$(key_of "stages/$stage/kernel.cu")
if [ -f "$home/$key" ]; then say && exit 0; fi

same=0 all=0
for variant in $thorough $VARIANTS; do
    [[ " $VARIANTS " == *" $variant "* && ! -f $built/$variant.so ]] || continue
    all=$((all + 1))
    build "$variant" || uncompiled
    if [ "$number" -ne 0 ] && cmp -s "$built/$variant.so" "$reference/$stage/$variant.so"; then
        same=$((same + 1))
        continue
    fi
    results "$variant"
done
[ $same -lt $all ] || verdict 'same code' PTX
if [ "$number" -eq 0 ]; then
    rm -rf "$reference"
    mkdir "$reference"
    mv "$scratch"/*.o "$reference"
    cp -r "$built" "$reference"
fi
signature
! same_machine_code || verdict 'same code' ptxas
verdict survived
