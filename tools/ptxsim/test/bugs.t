#!/usr/bin/env bash
# Every planted bug in bugs/ must be caught: with the text that its `Expect:` lines ask for, at the
# lines marked `reported`. Its correct twin must run without a word in every mode.
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

build() { # NAME: the program $scratch/NAME
    local arch=80
    grep -q 'Needs sm_90a' "bugs/$1.cu" && arch=90a
    { "$nvcc" -std=c++17 -O2 -lineinfo --compress-mode=none -D_GLIBCXX_BITS_SPECFUN_H \
        -gencode "arch=compute_$arch,code=compute_$arch" -c "bugs/$1.cu" -o "$scratch/$1.o" &&
        "${CXX:-g++}" "$scratch/$1.o" -Wl,--whole-archive "$library" -Wl,--no-whole-archive \
            -pthread -lm -o "$scratch/$1"; } >"$scratch/$1.log" 2>&1
}

field() { sed -n "s,^// $1: *,,p" "bugs/$2.cu"; } # KEY NAME: the lines of that key

caught() { # NAME: complains on stdout if the report lacks something
    local expected line
    # shellcheck disable=SC2046 # several settings are several words
    env $(field Run "$1") "$scratch/$1" bug >"$scratch/$1.log" 2>&1 && echo "it was not caught"
    while read -r expected; do
        grep -qF -- "$expected" "$scratch/$1.log" || echo "the report lacks: $expected"
    done < <(field Expect "$1")
    while IFS=: read -r line _; do
        grep -q "$1.cu:$line\b" "$scratch/$1.log" || echo "the report does not name line $line"
    done < <(grep -n '// reported' "bugs/$1.cu")
}

silent() { # NAME: complains on stdout if the correct twin fails or says anything
    local order race
    for order in early late; do
        for race in 0 1; do
            SIM_ASYNC=$order SIM_RACE=$race "$scratch/$1" >"$scratch/$1.log" 2>&1 &&
                [ ! -s "$scratch/$1.log" ] ||
                echo "the correct twin failed with SIM_ASYNC=$order SIM_RACE=$race"
        done
    done
}

check() { # NUMBER NAME: prints one line of TAP, and why
    local wrong
    if ! build "$2"; then wrong="it does not build"
    else wrong=$(caught "$2"; [ -n "$(field Expect "$2")" ] && silent "$2"); fi
    if [ -z "$wrong" ]; then
        echo "ok $1 - $2"
    else
        echo "not ok $1 - $2"
        { echo "$wrong"; cat "$scratch/$2.log"; } | sed 's/^/# /'
    fi
}

names=(bugs/*.cu)
echo "1..${#names[@]}"
number=0
for name in "${names[@]}"; do
    check $((++number)) "$(basename "$name" .cu)" >"$scratch/result"
    cat "$scratch/result"
    grep -q '^not ok' "$scratch/result" && failed=1
done
exit "${failed:-0}"
