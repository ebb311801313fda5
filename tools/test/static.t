#!/usr/bin/env bash
# What can be said of the C code without running it on a GPU: compilers with more warnings than the
# build asks for, clang-tidy (.clang-tidy), and the C tests once more under AddressSanitizer and
# UndefinedBehaviorSanitizer, built in build/sanitized; gcc's warnings are those of that build.
# Catches: what those find. The last checks plant a fault each, to see that they do.
#
# build/analysed keeps with which settings clang and clang-tidy had nothing to say, and when: they
# look only at files of which make has made a sanitized object since; without it, at all.
#
# Chosen warnings: those that find faults and cost no clutter. -Wconversion and -Wsign-conversion
# are among them; -Wswitch-enum and -Wdouble-promotion are not.
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
# judge STATUS DESCRIPTION: what tools complained of is shown if it went wrong.
judge() {
    grep -E 'warning|error|ERROR|not ok|^#' "$log" >"$work/complaints"
    result "$1" "$2" "$work/complaints"
}

cuda=${CUDA_INCLUDE:-$(sed -n 's/^CUDA_INCLUDE := //p' build/toolchain.mk)}
warnings=(-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wmissing-prototypes
    -Wstrict-prototypes -Wvla -Wpointer-arith -Wundef)
stage=(-DHEAD_DIM=64 -DELEMENT_BF16=0 -DCAUSAL=0) # a fake one's
flags=(-std=c11 -D_GNU_SOURCE -pthread "${warnings[@]}" -Icommon -Itools/ptxsim -Itools/sass
    -isystem "$cuda" "${stage[@]}")
mapfile -t sources < <(find common tools -name '*.c' | sort)
mapfile -t tests < <(find common tools -name 'test_*.c' | sort)
mapfile -t objects < <(printf 'build/host/%s.o\n' "${sources[@]%.c}")
mapfile -t programs < <(printf 'build/test/%s\n' "${tests[@]%.c}")

# ---- the sanitizers' build -----------------------------------------------------------------------
# The same Makefile, in a folder whose sources are links, with a build/ of its own. gcc alone
# respects the rounding mode, which the tests of the simulator's arithmetic change.
# shellcheck disable=SC2054 # one word, with a comma
sanitize=(-fsanitize=address,undefined -fno-sanitize-recover=undefined)
! command -v ld.gold >/dev/null || sanitize+=(-fuse-ld=gold) # in three quarters of the time
shadow=build/sanitized
prepare() {
    local name
    mkdir -p $shadow/build && cp -pu build/toolchain.mk $shadow/build/ || return
    for name in Makefile common tools stages reference; do
        ln -sfn ../../$name $shadow/$name || return
    done
}
in_shadow() { # in_shadow ARGUMENT...: make there
    nice make -s -k -C $shadow -j2 CC="gcc ${sanitize[*]}" CFLAGS='-Og -g1' \
        HOST_FLAGS="-std=c11 -D_GNU_SOURCE -pthread -MMD -MP -Og ${asked[*]} ${stage[*]}" "$@"
}
asked=()
gcc_untrusted=$(not_asked gcc) || asked=("${warnings[@]}" -Werror)
can_sanitize=no built=1
if echo 'int main(void) { return 0; }' | gcc "${sanitize[@]}" -x c - -o "$work/probe" 2>/dev/null
then
    can_sanitize=yes
    prepare && in_shadow "${objects[@]}" "${programs[@]}" >"$work/built" 2>&1
    built=$?
fi

# ---- warnings ------------------------------------------------------------------------------------
clang_warns() { clang "${flags[@]}" -Werror -fsyntax-only "$@" >"$log" 2>&1; }
tidy() { clang-tidy --quiet "$@" -- "${flags[@]}" >"$log" 2>/dev/null; }

# What decides beside the files themselves.
settings() {
    local tool
    for tool in clang clang-tidy; do $tool --version 2>&1; done
    cat .clang-tidy tools/test/static.t
    echo "${flags[@]}"
}
settings >"$work/settings"
cmp -s "$work/settings" build/analysed || rm -f build/analysed
changed=()
for source in "${sources[@]}"; do
    object=$shadow/build/host/${source%.c}.o
    [ -e "$object" ] && [ ! "$object" -nt build/analysed ] || changed+=("$source")
done
mapfile -t harness < <(printf '%s\n' "${changed[@]}" | grep -E '^common/[^/]*/[^/]*$')
mapfile -t others < <(printf '%s\n' "${changed[@]}" | grep -vE '^common/[^/]*/[^/]*$|^$')
echo "# ${#changed[@]} of ${#sources[@]} files have changed"

found=0
# look COMMAND FILE...: true if there is no file, or if the command has nothing to say on them.
look() {
    local command=$1
    shift
    [ $# -eq 0 ] || "$command" "$@" || { found=1 && return 1; }
}
# In the harness, which counts elements, a product of two ints is no index.
tidy_harness() { tidy --checks=bugprone-implicit-widening-of-multiplication-result "$@"; }
if [ $can_sanitize = no ] || [ ${#asked[@]} -eq 0 ]; then
    skip "${gcc_untrusted:-no gcc with libasan and libubsan}"
else
    cp "$work/built" "$log"
    judge $built "gcc has nothing to say on ${#sources[@]} files"
fi
# clang-tidy is clang as well, and has its warnings.
if reason=$(not_asked clang-tidy); then
    skip "$reason"
    if reason=$(not_asked clang); then
        skip "$reason"
    else
        look clang_warns "${changed[@]}"
        judge $? "clang has nothing to say on them"
    fi
else
    look tidy "${others[@]}"
    judge $? "clang-tidy has nothing to say on them"
    look tidy_harness "${harness[@]}"
    judge $? "nor on the harness, whose indices are computed in 64 bits"
fi
[ $found -eq 0 ] && cp "$work/settings" build/analysed

# ---- sanitizers ----------------------------------------------------------------------------------
# passed PROGRAM: it ends with 0, no check fails, and there are as many as it says at its end.
passed() {
    "$1" >"$log" 2>&1 && awk '/^ok/ { good++ } /^not ok/ { bad++ }
        /^1\.\./ { plan = substr($1, 4); planned = 1 }
        END { exit !(planned && plan == good + 0 && !bad) }' "$log"
}
cp "$work/built" "$log" 2>/dev/null
if [ $can_sanitize = no ]; then
    skip "no gcc with libasan and libubsan"
elif [ $built -ne 0 ]; then
    judge 1 "the C tests build with sanitizers"
else
    export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=16
    for source in "${tests[@]}"; do
        passed "$shadow/build/test/${source%.c}"
        judge $? "$source under the sanitizers"
    done
fi

# ---- each of them finds a planted fault ----------------------------------------------------------
cat >"$work/planted.c" <<'END'
#include <stddef.h>
#include <stdlib.h>

size_t planted(int rows, int columns);

size_t planted(int rows, int columns) { return (size_t)(rows * columns); }

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
sed 's/(size_t)(rows \* columns)/(unsigned)rows/' "$work/planted.c" >"$work/sign.c"
echo 'size_t lost(long n); size_t lost(long n) { return n; }' >>"$work/sign.c"
if [ $can_sanitize = yes ] && [ ${#asked[@]} -gt 0 ]; then
    cp "$work/sign.c" $shadow/planted.c
    ! in_shadow build/host/planted.o >"$log" 2>&1 && grep -q sign-conversion "$log"
    judge $? "planted: gcc finds a sign that is lost"
    rm $shadow/planted.c
fi
for text in 'echo ok 1; exit 1' 'echo ok 1; echo not ok 2; echo 1..2' 'echo ok 1' \
    'echo ok 1; echo 1..2'; do
    printf '#!/bin/sh\n%s\n' "$text" >"$work/program" && chmod +x "$work/program"
    ! passed "$work/program"
    judge $? "planted: a C test that does '$text' has not passed"
done
if ! not_asked clang >/dev/null; then
    ! clang_warns "$work/sign.c" && grep -q sign-conversion "$log"
    judge $? "planted: clang finds a sign that is lost"
fi
if ! not_asked clang-tidy >/dev/null; then
    ! tidy --config-file=.clang-tidy "$work/planted.c" &&
        grep -q bugprone-misplaced-widening-cast "$log"
    judge $? "planted: clang-tidy finds a product that overflows before it is widened"
    ! tidy --config-file=.clang-tidy "$work/sign.c" && grep -q sign-conversion "$log"
    judge $? "planted: clang-tidy finds a sign that is lost"
fi
if gcc "${sanitize[@]}" "$work/planted.c" -o "$work/planted" 2>/dev/null; then
    "$work/planted" >"$log" 2>&1
    judge $? "planted: the program without its faults"
    ! "$work/planted" 1 >"$log" 2>&1 && grep -q heap-buffer-overflow "$log"
    judge $? "planted: AddressSanitizer finds a write past the end"
    ! "$work/planted" 1 2 >"$log" 2>&1 && grep -q 'signed integer overflow' "$log"
    judge $? "planted: UndefinedBehaviorSanitizer finds an overflow"
fi
echo "1..$count"
