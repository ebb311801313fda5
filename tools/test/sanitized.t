#!/usr/bin/env bash
# The C tests once more under AddressSanitizer and UndefinedBehaviorSanitizer, built in
# build/sanitized by a gcc that warns of more than the build asks for. Catches: what those find. The
# last checks plant a fault each, to see that they do.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/test/judges.sh
. tools/test/judges.sh
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
unset MAKEFLAGS MAKELEVEL MFLAGS
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2054 # one word, with a comma
sanitize=(-fsanitize=address,undefined -fno-sanitize-recover=undefined)
if ! echo 'int main(void) { return 0; }' | gcc "${sanitize[@]}" -x c - -o "$work/probe" 2>"$log"
then
    echo "1..0 # SKIP no gcc with libasan and libubsan"
    exit 0
fi
! command -v ld.gold >/dev/null || sanitize+=(-fuse-ld=gold) # in three quarters of the time

# ---- the build -----------------------------------------------------------------------------------
# The same Makefile, in a folder whose sources are links, with a build/ of its own. gcc alone
# respects the rounding mode, which the tests of the simulator's arithmetic change.
shadow=build/sanitized
prepare() {
    local name
    mkdir -p $shadow/build && cp -pu build/toolchain.mk $shadow/build/ || return
    for name in Makefile common tools stages reference; do
        ln -sfn ../../$name $shadow/$name || return
    done
}
in_shadow() { # in_shadow ARGUMENT...: make there
    make -s -k -C $shadow -j2 CC="gcc ${sanitize[*]}" CFLAGS='-Og -g1' \
        HOST_FLAGS="-std=c11 -D_GNU_SOURCE -pthread -MMD -MP -Og ${asked[*]} ${FAKE_STAGE[*]}" "$@"
}
asked=()
untrusted=$(not_asked gcc) || asked=("${WARNINGS[@]}" -Werror)
mapfile -t sources < <(find common tools -name '*.c' | sort)
mapfile -t tests < <(find common tools -name 'test_*.c' | sort)
mapfile -t objects < <(printf 'build/host/%s.o\n' "${sources[@]%.c}")
mapfile -t programs < <(printf 'build/test/%s\n' "${tests[@]%.c}")
prepare >"$log" 2>&1 && in_shadow "${objects[@]}" "${programs[@]}" >"$log" 2>&1
built=$?
grep -E 'warning|error' "$log" >"$work/complaints"
if [ ${#asked[@]} -eq 0 ]; then
    skip "$untrusted"
else
    result $built "gcc has nothing to say on ${#sources[@]} files" "$work/complaints"
fi

# ---- the tests -----------------------------------------------------------------------------------
# passed PROGRAM: it ends with 0, no check fails, and there are as many as it says at its end.
passed() {
    "$1" >"$log" 2>&1 && awk '/^ok/ { good++ } /^not ok/ { bad++ }
        /^1\.\./ { plan = substr($1, 4); planned = 1 }
        END { exit !(planned && plan == good + 0 && !bad) }' "$log"
}
if [ $built -ne 0 ]; then
    result 1 "the C tests build with sanitizers" "$work/complaints"
else
    # Of each stage two variants that have nothing in common; all of them run without sanitizers.
    folders=
    for folder in ${STAGE_DIRS:-}; do
        two=$work/${folder##*/}
        mkdir "$two" && ln -s "$(realpath "$folder")"/{d64_fp16_full,d128_bf16_causal}.so "$two" &&
            folders+=" $two"
    done
    export STAGE_DIRS=$folders
    libraries=$(find -L "$work" -name '*.so' -type f | wc -l)
    export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=4
    for source in "${tests[@]}"; do
        passed "$shadow/build/test/${source%.c}"
        code=$?
        [[ $source != */test_large_scores.c ]] || [ "$(grep -c '^ok' "$log")" -ge "$libraries" ] ||
            code=1
        grep -E 'error|ERROR|not ok|^#' "$log" >"$work/complaints"
        result $code "$source under the sanitizers" "$work/complaints"
    done
fi

# ---- a fault of each kind is found ---------------------------------------------------------------
shown=("$log")
if [ ${#asked[@]} -gt 0 ]; then
    echo 'unsigned f(int n); unsigned f(int n) { return n; }' >$shadow/planted.c
    ! in_shadow build/host/planted.o >"$log" 2>&1 && grep -q sign-conversion "$log"
    result $? "planted: gcc finds a sign that is lost"
    rm $shadow/planted.c
fi
for text in 'echo ok 1; exit 1' 'echo ok 1; echo not ok 2; echo 1..2' 'echo ok 1' \
    'echo ok 1; echo 1..2'; do
    printf '#!/bin/sh\n%s\n' "$text" >"$work/program" && chmod +x "$work/program"
    ! passed "$work/program"
    result $? "planted: a C test that does '$text' has not passed"
done
cat >"$work/planted.c" <<'END'
#include <stdlib.h>
int main(int count, char *arguments[]) {
    int *numbers = malloc(4 * sizeof *numbers);
    int top = 2147483647;
    (void)arguments;
    if (count == 2) numbers[count + 2] = 1;
    if (count == 3) top += count;
    free(numbers);
    return top == 0;
}
END
gcc "${sanitize[@]}" "$work/planted.c" -o "$work/planted" 2>"$log" && "$work/planted" >"$log" 2>&1
result $? "planted: the program without its faults"
! "$work/planted" 1 >"$log" 2>&1 && grep -q heap-buffer-overflow "$log"
result $? "planted: AddressSanitizer finds a write past the end"
! "$work/planted" 1 2 >"$log" 2>&1 && grep -q 'signed integer overflow' "$log"
result $? "planted: UndefinedBehaviorSanitizer finds an overflow"
echo "1..$count"
