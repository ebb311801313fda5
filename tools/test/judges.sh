#!/usr/bin/env bash
# Which compilers, formatters and linters the tests ask, and what: the versions with which the tree
# is clean. Another version judges otherwise, and a test that fails for that says nothing about the
# tree. Sourced.
declare -A JUDGES=([gcc]='12 13 14' [clang]=14 [clang-format]=14 [clang-tidy]=14 [shellcheck]=0.9)

# not_asked TOOL: prints why TOOL is not asked; fails if it is.
not_asked() {
    local version known
    command -v "$1" >/dev/null || { echo "$1 is not installed" && return; }
    version=$("$1" --version | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)
    for known in ${JUDGES[$1]}; do [[ $version != "$known".* ]] || return 1; done
    echo "$1 $version may give other results; supported versions: ${JUDGES[$1]// /, }"
}

# Of compilers, warnings that find faults and cost no clutter: -Wconversion and -Wsign-conversion
# are among them; -Wswitch-enum and -Wdouble-promotion are not.
# shellcheck disable=SC2034 # those who source this use it
WARNINGS=(-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wundef -Wvla
    -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith)
# shellcheck disable=SC2034
FAKE_STAGE=(-DHEAD_DIM=64 -DELEMENT_BF16=0 -DCAUSAL=0) # stages in C ask for these
