#!/usr/bin/env bash
# Sourced: puts a changed text in the place of a file of the tree and runs its tests.
#
# Before: within.sh; $scratch, an empty folder, and $log, a file in it. Environment: CC, NVCC,
# CUDA_INCLUDE. Every function keeps what was said in $log.
# shellcheck disable=SC2154 # scratch, log

place=$(dirname "${BASH_SOURCE[0]}")
flags=(-O2 -g0 -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -pthread -Icommon
    -Itools/ptxsim -Itools/sass -isystem "${CUDA_INCLUDE:-/usr/local/cuda/include}")
# Those of the sanitizers, whose own code may be what a warning is about.
# shellcheck disable=SC2034,SC2054 # for try.sh; one word, with a comma
sanitize=(-fsanitize=address,undefined -fno-sanitize-recover=undefined -Wno-error)

house_of() { # house_of FILE: the folder of the programs that it is part of
    case $1 in
        common/*) echo common ;;
        tools/ptxsim/*) echo tools/ptxsim ;;
        *) echo tools/sass ;;
    esac
}

# texts_of HOUSE: what its programs are made of, and what their tests share.
texts_of() {
    find "$1" common/base common/attention.h -type f \
        \( -path "$1/test/*" -o -name '*.[ch]' ! -path '*/test/*' \) -print0 |
        sort -zu | xargs -0 cat
}

# compile SOURCE OBJECT [FLAG]...: as the build does; names of files in it are those of the tree.
compile() {
    within 300 "${CC:-cc}" "${flags[@]}" "${@:3}" -fmacro-prefix-map="$scratch/=" \
        -c "$1" -o "$2" >"$log" 2>&1
}

# link OBJECT HOUSE TEST [FLAG]...: $scratch/test, a C test with that object in the place of its
# file's own: what a library has of the file is not taken, because nothing of it is missing. What a
# test has in place of the file (a device without a simulator) stays the test's: the first counts.
link() {
    local libraries=(build/host/tools/libptxsim.a build/host/common/libharness.a)
    [ "$2" != common ] ||
        libraries=(build/host/common/test/fake_runtime.o build/host/common/libharness.a)
    [ "$2" != tools/sass ] || libraries=(build/mutants/libsass.a)
    "${CC:-cc}" "${@:4}" -pthread -rdynamic -Wl,-z,muldefs "build/host/${3#build/test/}.o" "$1" \
        "${libraries[@]}" -ldl -lm -o "$scratch/test" >"$log" 2>&1
}

# sanitizers: whether there are any.
sanitizers() {
    echo 'int main(void) { return 0; }' >"$scratch/probe.c" &&
        "${CC:-cc}" "${sanitize[@]}" "$scratch/probe.c" -o "$scratch/probe" >"$log" 2>&1
}

# run_program SECONDS: what link has made, for as many seconds of the processor; its exit code.
run_program() {
    (ulimit -t "$1" && within 200 "$scratch/test") >"$log" 2>&1 </dev/null
}

# make_tree FILE SOURCE: $scratch/tree, links to all of this tree but for FILE, and in its build
# folder what its scripts run or link: the library or program of its house, with FILE in it.
make_tree() {
    local tree=$scratch/tree built=$scratch/tree/build/host library object
    object=$built/${1%.*}.o
    mkdir -p "$built"/{common/{cli,test},tools} "${object%/*}" &&
        cp -rs "$PWD/common" "$PWD/tools" "$tree" &&
        cp --remove-destination "$2" "$tree/$1" && cp build/*.mk "$tree/build" || return
    case $(house_of "$1") in
        common)
            library=$built/common/libharness.a
            cp build/host/common/libharness.a "$built/common" &&
                cp build/host/common/cli/main.o "$built/common/cli" &&
                cp build/host/common/test/fake_runtime.o "$built/common/test" || return
            ;;
        tools/ptxsim)
            library=$built/tools/libptxsim.a
            cp build/host/tools/libptxsim.a "$library" || return
            ;;
        *)
            library=$built/tools/libsass.a
            cp build/mutants/libsass.a "$library" || return
            ;;
    esac
    if [[ $1 == *.c ]]; then
        compile "$2" "$object" && ar r "$library" "$object" || return
    fi
    [[ $library != *libsass.a ]] ||
        "${CC:-cc}" -rdynamic "$library" -ldl -lm -o "$tree/build/sass" >"$log" 2>&1
}

# run_script SCRIPT: a test there, until its first "not ok", which is then in $log. 0 if it has
# none, 124 if it came to no end. What it compiles is kept, see compiler.sh.
run_script() {
    local included compiler=$PWD/$place/compiler.sh
    included=$(find -L "$scratch/tree" -name '*.h' -print0 -o -name '*.cu' -print0 | sort -z |
        xargs -0 cat | sha256sum | cut -c1-16)
    (
        export KEPT=$PWD/build/mutants/compiled/$included
        case $1 in
            common/*) export COMPILER=${CC:-cc} CC=$compiler ;;
            *) export COMPILER=${NVCC:-nvcc} NVCC=$compiler ;;
        esac
        cd "$scratch/tree" && within 1800 bash "$1"
    ) 2>/dev/null </dev/null | grep -m 1 -E '^not ok|^1\.\.|^Bail' >"$log"
    if grep -qE '^not ok|^Bail' "$log"; then return 1; fi
    grep -q '^1\.\.' "$log" || return 124
}
