#!/usr/bin/env bash
# Sourced by the tests of the programs: links what make test has built of the harness with the fake
# runtime to programs in $work, as build/attention and build/attention-sim are, builds fake stages
# there (fake_runtime.c, fake_stage.c), and has the functions that run and judge them.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
built=../build/host/common
runtime=$built/test/fake_runtime.o
flags=(-std=c11 -D_GNU_SOURCE -O2 -pthread -I. -isystem "${CUDA_INCLUDE:-/usr/local/cuda/include}")

# shellcheck source=tools/test/tap.sh
. ../tools/test/tap.sh
shown=("$work/out" "$work/err")
run() { # run PROGRAM ARGUMENT...: code, $work/out and $work/err
    code=0
    (cd "$work" && "./$1" "${@:2}") >"$work/out" 2>"$work/err" || code=$?
}
steps() { # steps NAME TEXT...: what a terminal showed in turn, each text on the line of the last
    local expected
    expected=$(printf '%s\n' "${@:2}")
    [ "$(tr '\r' '\n' <"$work/err" | sed 's/^\x1b\[K//' | grep -xF -- "$expected")" = "$expected" ]
    result $? "$1: a terminal shows each step"
}
exits() { # exits CODE NAME TEXT...: the last run's code, and each TEXT on stdout or stderr
    local expected=$1 name=$2 status=0 text
    shift 2
    [ "$code" -eq "$expected" ] || status=1
    for text in "$@"; do
        grep -qF -- "$text" "$work/out" "$work/err" || status=1
    done
    result $status "$name: exit $expected, says ${1:-nothing}"
}

link() { # link PROGRAM OBJECT...: what the objects have is not taken from the library
    "$cc" -rdynamic -pthread "${@:2}" $built/cli/main.o $built/libharness.a -ldl -lm -o "$work/$1"
}

# build STAGE...: two programs, and a folder for each stage, with its variant d128_fp16_full;
# 02_element has BUG_ELEMENT.
build() {
    link attention $runtime || return 1
    "$cc" "${flags[@]}" -DFAKE_SIMULATED=1 -c test/fake_runtime.c -o "$work/runtime.o" || return 1
    link simulator "$work/runtime.o" || return 1
    build_variant full 0 "$@"
}
build_causal() { build_variant causal 1 "$@"; } # build_causal STAGE...: another variant of some
build_variant() {
    local mask=$1 causal=$2 stage bug
    shift 2
    for stage in "$@"; do
        bug=${stage#*_}
        mkdir -p "$work/$stage"
        "$cc" "${flags[@]}" -fPIC -shared -DBUG="BUG_${bug^^}" -DHEAD_DIM=128 -DELEMENT_BF16=0 \
            -DCAUSAL="$causal" test/fake_stage.c -o "$work/$stage/d128_fp16_$mask.so" || return 1
    done
}
