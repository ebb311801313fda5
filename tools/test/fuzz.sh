#!/usr/bin/env bash
# Sourced by a tool's test, in the tool's folder: a few seconds of libFuzzer on each reader,
# from the corpus in test/corpus. SECONDS_EACH=600 fuzzes for longer, and FUZZ=run only one of them.
# An input may take a minute, as a second's work takes ten where others have the processor. What
# fails is kept in build/fuzz. Prints TAP.
# A compiler that optimises takes longer than a few seconds gain by it.
set -u
seconds=${SECONDS_EACH:-3}
level=-O$((seconds >= 60))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# fuzz NUMBER NAME ARGUMENT...: test/fuzz_NAME.c, compiled with the sources and flags that follow.
fuzz() {
    local test=$1 name=$2
    shift 2
    if [ "${FUZZ:-$name}" != "$name" ]; then
        echo "ok $test - fuzz_$name # SKIP not asked for"
        return
    fi
    if ! clang -std=c11 -D_GNU_SOURCE -g $level -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=undefined "test/fuzz_$name.c" "$@" -lm -ldl -o "$scratch/$name" \
        2>"$scratch/log"; then
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
