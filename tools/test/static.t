#!/usr/bin/env bash
# What clang and clang-tidy (.clang-tidy) say of the C code, with more warnings than the build asks
# for; gcc's are those of sanitized.t. The last checks plant a fault each, to see that it is found.
#
# build/analysed keeps with which settings they had nothing to say, and when: they look only at
# files that are newer or include what is, as make knows of its objects, and without it at all.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/test/judges.sh
. tools/test/judges.sh
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT
shown=("$log")

cuda=${CUDA_INCLUDE:-$(sed -n 's/^CUDA_INCLUDE := //p' build/toolchain.mk)}
flags=(-std=c11 -D_GNU_SOURCE -pthread "${WARNINGS[@]}" -Icommon -Itools/ptxsim -Itools/sass
    -isystem "$cuda" "${FAKE_STAGE[@]}")
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
mapfile -t sources < <(find common tools -name '*.c' | sort)
find common tools -name '*.[ch]' -newer build/analysed >"$work/newer" 2>/dev/null
changed=()
for source in "${sources[@]}"; do
    made_of=build/host/${source%.c}.d
    [ ! -e build/analysed ] || { [ -s "$work/newer" ] && [ ! -e "$made_of" ]; } ||
        grep -qsFf "$work/newer" "$made_of" || continue
    changed+=("$source")
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
# clang-tidy is clang as well, and has its warnings.
if reason=$(not_asked clang-tidy); then
    skip "$reason"
    if reason=$(not_asked clang); then
        skip "$reason"
    else
        look clang_warns "${changed[@]}"
        result $? "clang has nothing to say on them"
    fi
else
    look tidy "${others[@]}"
    result $? "clang-tidy has nothing to say on them"
    look tidy_harness "${harness[@]}"
    result $? "nor on the harness, whose indices are computed in 64 bits"
fi
[ $found -eq 0 ] && cp "$work/settings" build/analysed

# planted FILE PARAMETERS BODY: a function with one fault
planted() {
    printf '#include <stddef.h>\nsize_t f(%s);\nsize_t f(%s) { %s }\n' "$2" "$2" "$3" >"$1"
}
planted "$work/product.c" 'int a, int b' 'return (size_t)(a * b);'
planted "$work/sign.c" 'long n' 'return n;'
if ! not_asked clang >/dev/null; then
    ! clang_warns "$work/sign.c" && grep -q sign-conversion "$log"
    result $? "planted: clang finds a sign that is lost"
fi
if ! not_asked clang-tidy >/dev/null; then
    ! tidy --config-file=.clang-tidy "$work/product.c" &&
        grep -q bugprone-misplaced-widening-cast "$log"
    result $? "planted: clang-tidy finds a product that overflows before it is widened"
    ! tidy --config-file=.clang-tidy "$work/sign.c" && grep -q sign-conversion "$log"
    result $? "planted: clang-tidy finds a sign that is lost"
fi
echo "1..$count"
