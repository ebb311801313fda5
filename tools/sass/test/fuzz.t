#!/usr/bin/env bash
# A few seconds of fuzzing each reader, from the corpus. Catches: a crash, a read out of bounds, an
# endless loop or undefined behaviour on broken input. SECONDS_EACH=600 fuzzes for longer.
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${SECONDS_EACH:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
include=${CUDA_INCLUDE:-$(sed -n 's/^CUDA_INCLUDE := //p' ../../build/toolchain.mk)}
sources=(classes.c counts.c expect.c flow.c graph.c launches.c listing.c module.c run.c select.c
    ../../common/error.c)

fuzz() { # number, name
    if ! clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=undefined -I../../common -isystem "$include" "test/fuzz_$2.c" \
        "${sources[@]}" -ldl -o "$scratch/$2" 2>"$scratch/log"; then
        echo "not ok $1 - fuzz_$2 builds"
    elif ! (mkdir "$scratch/found" && cd "$scratch" && ulimit -c 0 &&
        "./$2" -max_total_time="$seconds" -timeout=5 -max_len=8192 \
            found "$OLDPWD/test/corpus/$2") >"$scratch/log" 2>&1; then
        echo "not ok $1 - fuzz_$2 finds nothing in $seconds s"
    else
        echo "ok $1 - fuzz_$2 finds nothing in $seconds s"
        rm -rf "$scratch/found"
        return
    fi
    rm -rf "$scratch/found"
    tail -n 40 "$scratch/log" | sed 's/^/# /'
    failed=1
}

if ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' |
    clang -fsanitize=fuzzer -x c - -o "$scratch/probe" 2>/dev/null; then
    echo "1..0 # SKIP no clang with libFuzzer"
    exit 0
fi
failed=0
echo 1..2
fuzz 1 listing
fuzz 2 expect
exit $failed
