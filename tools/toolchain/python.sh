#!/usr/bin/env bash
# Prints the path of a python3 that has NumPy.
#
#   tools/toolchain/python.sh OUTDIR
#
# The first that works: $PYTHON or python3 itself, if it can import numpy, else OUTDIR/bin/python3,
# a virtual environment, made if need be. What is fetched is compared with the hashes of numpy.txt.
# Nothing outside OUTDIR changes.
#
# What was found goes to stderr. Exit: 0, 2 if there is none to be had, 64 bad usage.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case

unset CDPATH # by which cd would say where it went
list=$(cd "$(dirname "$0")" && pwd)/numpy.txt
readonly list
scratch='' # removed at exit
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT
trap 'trap "" INT TERM; exit 130' INT TERM
export PIP_USER=0 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 2
}

# has_numpy PYTHON: true if it is new enough and imports numpy; says which release and where.
has_numpy() {
    local version
    version=$("$1" -c 'import numpy, sys
assert sys.version_info >= (3, 9)
print(numpy.__version__)' 2>/dev/null) && [ -n "$version" ] || return 1
    printf '%-10s %-7s %s\n' numpy "$version" "$1" >&2
}

# unpack FOLDER: makes FOLDER, a virtual environment with the NumPy for this Python. The pip is that
# of $base if it has one: to put one into FOLDER takes longer than all else.
unpack() {
    local install=(-m pip install --quiet --no-input --no-compile --only-binary :all:
        --require-hashes --requirement "$list") python=$1/bin/python3
    "$base" -m venv --without-pip "$1" || return
    if "$base" -m pip --version; then
        "$base" "${install[@]}" --target \
            "$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
    else
        "$python" -m ensurepip && "$python" "${install[@]}"
    fi
}

# make_python OUTDIR: replaces OUTDIR by a Python with NumPy, whole or not at all.
make_python() {
    local reason
    "$base" -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
        fail "reference/ needs Python 3.9 or newer, and $base is $("$base" --version 2>&1): set" \
            "PYTHON to a newer one."
    say "$base has no NumPy: fetching one into $1"
    { mkdir -p "$(dirname "$1")" && scratch=$(mktemp -d "$1.XXXXXX"); } 2>/dev/null ||
        fail "$1 cannot be written."
    if ! unpack "$scratch/python" >"$scratch/log" 2>&1; then
        reason=$(grep -m 1 '^ERROR: ' "$scratch/log" || grep -m 1 -i error "$scratch/log" ||
            tail -n 1 "$scratch/log")
        ! grep -q 'DO NOT MATCH THE HASHES' "$scratch/log" ||
            reason="a wheel is not the one whose hash tools/toolchain/numpy.txt has"
        fail "reference/ needs NumPy, and fetching it failed ($reason); either install NumPy for" \
            "$base, or run this again with a network and a python3 that has pip."
    fi
    rm -rf "$1"
    mv -T "$scratch/python" "$1"
}

if [ $# -ne 1 ] || [ -z "$1" ]; then
    say "usage: tools/toolchain/python.sh OUTDIR"
    exit 64
fi
base=$(command -v "${PYTHON:-python3}") ||
    fail "reference/ needs Python 3.9 or newer, and ${PYTHON:-python3} was not found: install" \
        "python3, or set PYTHON to the one to use."
answer=$base
if ! has_numpy "$answer"; then
    answer=$(realpath -m "$1")/bin/python3
    # The first import keeps the bytecode, where the user wants none, too: half of all later ones.
    if ! has_numpy "$answer"; then
        make_python "${answer%/bin/python3}"
        PYTHONDONTWRITEBYTECODE='' has_numpy "$answer"
    fi
fi
printf '%s\n' "$answer"
