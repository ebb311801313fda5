#!/usr/bin/env bash
# Every planted bug in bugs/ must be caught: with the text that its `Expect:` lines ask for, at the
# statements marked `reported`. Its correct twin must run without a word in every mode.
set -u
cd "$(dirname "$0")" || exit 1
root=../../..
nvcc=${NVCC:-$(sed -n 's/^NVCC := //p' $root/build/toolchain.mk 2>/dev/null)}
nvcc=${nvcc:-nvcc}
library=${PTXSIM_LIBRARY:-$root/build/host/tools/libptxsim.a}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! command -v "$nvcc" >/dev/null || [ ! -f "$library" ]; then
    echo "1..0 # SKIP needs nvcc and $library"
    exit 0
fi

# The bugs of one architecture are one program, each in a namespace of its own: what takes time is
# to read CUDA's headers.
arch() { grep -q 'Needs sm_90a' "bugs/$1.cu" && echo 90a || echo 80; } # NAME

program() { # NAME...: the source of a program that runs the one which its first argument names
    local name
    echo '#include "bug.h"'
    for name in "$@"; do printf 'namespace %s {\n#include "%s.cu"\n}\n' "$name" "$name"; done
    echo 'int main(int count, char *arguments[]) {'
    for name in "$@"; do
        echo "if (count > 1 && !strcmp(arguments[1], \"$name\"))"
        echo "return $name::main(count - 1, arguments + 1);"
    done
    echo 'return 64; }'
}

build() { # ARCH NAME...: the program $scratch/ARCH
    local at=$scratch/$1
    program "${@:2}" >"$at.cu"
    { "$nvcc" -std=c++17 -O2 -lineinfo --compress-mode=none -D_GLIBCXX_BITS_SPECFUN_H -Ibugs \
        -gencode "arch=compute_$1,code=compute_$1" -c "$at.cu" -o "$at.o" &&
        "${CXX:-g++}" "$at.o" -Wl,--whole-archive "$library" -Wl,--no-whole-archive \
            -pthread -lm -o "$at"; } >"$at.log" 2>&1
}

field() { sed -n "s,^// $1: *,,p" "bugs/$2.cu"; } # KEY NAME: the lines of that key

# reported NAME: of each marked statement the lines that may be named, with | between. If it has asm
# and several lines, nvcc 13.0 names that of its last call, which is marked, and 13.5 its first.
exact=$("$nvcc" --version 2>/dev/null | grep -c 'release 1[0-2]\.\|release 13\.0')
reported() {
    awk -v exact="$exact" '!inside { first = NR }
        /\/\/ reported/ { print exact ? NR : first "|" NR }
        { sub(/ *\/\/.*/, ""); inside = !/([;{}]|^)$/ }' "bugs/$1.cu"
}

caught() { # NAME: complains on stdout if the report lacks something
    local expected lines
    # shellcheck disable=SC2046 # several settings are several words
    env $(field Run "$1") "$scratch/$(arch "$1")" "$1" bug >"$scratch/$1.log" 2>&1 &&
        echo "it was not caught"
    while read -r expected; do
        grep -qF -- "$expected" "$scratch/$1.log" || echo "the report lacks: $expected"
    done < <(field Expect "$1")
    while read -r lines; do
        grep -qE "$1.cu:($lines)\b" "$scratch/$1.log" || echo "the report does not name line $lines"
    done < <(reported "$1")
}

silent() { # NAME: complains on stdout if the correct twin fails or says anything
    local order race
    for order in early late; do
        for race in 0 1; do
            SIM_ASYNC=$order SIM_RACE=$race "$scratch/$(arch "$1")" "$1" >"$scratch/$1.log" 2>&1 &&
                [ ! -s "$scratch/$1.log" ] ||
                echo "the correct twin failed with SIM_ASYNC=$order SIM_RACE=$race"
        done
    done
}

check() { # NUMBER NAME: prints one line of TAP, and why
    local wrong log=$scratch/$2.log
    if [ ! -x "$scratch/$(arch "$2")" ]; then
        wrong="the program of sm_$(arch "$2") does not build" log=$scratch/$(arch "$2").log
    else
        wrong=$(caught "$2"; [ -n "$(field Expect "$2")" ] && silent "$2")
    fi
    if [ -z "$wrong" ]; then
        echo "ok $1 - $2"
    else
        echo "not ok $1 - $2"
        { echo "$wrong"; cat "$log"; } | sed 's/^/# /'
    fi
}

names=()
declare -A of
for name in bugs/*.cu; do
    name=$(basename "$name" .cu)
    names+=("$name")
    of[$(arch "$name")]+="$name "
done
for arch in "${!of[@]}"; do
    # shellcheck disable=SC2086 # a list
    build "$arch" ${of[$arch]}
done
echo "1..${#names[@]}"
number=0
for name in "${names[@]}"; do
    check $((++number)) "$name" >"$scratch/result"
    cat "$scratch/result"
    grep -q '^not ok' "$scratch/result" && failed=1
done
exit "${failed:-0}"
