#!/usr/bin/env bash
# Which compilers, formatters and linters the tests ask: the versions with which the tree is clean.
# Another version judges otherwise, and a test that fails for that says nothing about the tree.
# Sourced.
declare -A JUDGES=([gcc]='12 13 14' [clang]=14 [clang-format]=14 [clang-tidy]=14 [shellcheck]=0.9)

# not_asked TOOL: prints why TOOL is not asked; fails if it is.
not_asked() {
    local version known
    command -v "$1" >/dev/null || { echo "$1 is not installed" && return; }
    version=$("$1" --version | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)
    for known in ${JUDGES[$1]}; do [[ $version != "$known".* ]] || return 1; done
    echo "$1 $version may judge otherwise; asked are ${JUDGES[$1]// /, }"
}
