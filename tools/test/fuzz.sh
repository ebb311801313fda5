#!/usr/bin/env bash
# Sourced by a tool's test, in the tool's folder: a second of libFuzzer on each reader, which is a
# thousand inputs or more, from the corpus in test/corpus. SECONDS_EACH=600 fuzzes for longer, and
# FUZZ=run only one of them. An input may take a minute, as a second's work takes ten where others
# have the processor. What fails is kept in build/fuzz. Prints TAP.
# A compiler that optimises takes longer than a second gains by it.
set -u
seconds=${SECONDS_EACH:-1}
level=-O$((seconds >= 60))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# compile PROGRAM ARGUMENT...: of sources and flags. What two programs have is compiled once.
compile() {
    local program=$1 argument object flags=() sources=() objects=()
    shift
    for argument in "$@"; do
        case $argument in
        *.c) sources+=("$argument") ;;
        *) flags+=("$argument") ;;
        esac
    done
    flags+=(-std=c11 -D_GNU_SOURCE -g1 "$level" "-fsanitize=fuzzer,address,undefined"
        -fno-sanitize-recover=undefined)
    for argument in "${sources[@]}"; do
        object=$scratch/$(basename "$argument" .c).o
        objects+=("$object")
        [ -e "$object" ] || clang "${flags[@]}" -c "$argument" -o "$object" || return
    done
    clang "${flags[@]}" "${objects[@]}" -lm -ldl -o "$scratch/$program"
}

# fuzz NUMBER NAME ARGUMENT...: test/fuzz_NAME.c, compiled with the sources and flags that follow.
fuzz() {
    local test=$1 name=$2
    shift 2
    if [ "${FUZZ:-$name}" != "$name" ]; then
        echo "ok $test - fuzz_$name # SKIP not asked for"
        return
    fi
    if ! compile "$name" "test/fuzz_$name.c" "$@" 2>"$scratch/log"; then
        echo "not ok $test - fuzz_$name builds"
    elif ! (mkdir "$scratch/found" && cd "$scratch" && ulimit -c 0 &&
        "./$name" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=8192 \
            found "$OLDPWD/test/corpus/$name") >"$scratch/log" 2>&1; then
        echo "not ok $test - fuzz_$name finds nothing in $seconds s"
    else
        echo "ok $test - fuzz_$name finds nothing in $seconds s"
        rm -rf "$scratch/found"
        return
    fi
    rm -rf "$scratch/found"
    mkdir -p ../../build/fuzz
    find "$scratch" -maxdepth 1 -regex '.*/\(crash\|leak\|oom\|timeout\)-.*' \
        -exec cp -t ../../build/fuzz {} + -printf '# kept: build/fuzz/%f\n'
    tail -n 40 "$scratch/log" | sed 's/^/# /'
    failed=1
}

finish() { exit "$failed"; }

if ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' |
    clang -fsanitize=fuzzer -x c - -o "$scratch/probe" 2>/dev/null; then
    echo "1..0 # SKIP no clang with libFuzzer"
    exit 0
fi
