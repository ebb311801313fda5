#!/usr/bin/env bash
# Sourced by the tests here: build/sass and the programs it needs, or the tests are skipped.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
cd "$root" || exit 1
sass=$root/build/sass
scratch=$(mktemp -d)
log=$scratch/log
export TMPDIR=$scratch/tmp # of its own: tests run side by side
mkdir "$TMPDIR"
trap 'rm -rf "$scratch"' EXIT

# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")
not() { ! "$@"; }

# The value of a variable in a make fragment.
value() { sed -n "s/^$1 := //p" "$2"; }

if [ ! -x "$sass" ] || ! { [ -e build/disassembler.mk ] ||
    tools/toolchain/toolchain.sh --disassembler build/disassembler.mk; } 2>"$log"; then
    echo "1..0 # SKIP $([ -x "$sass" ] && tail -n 1 "$log" || echo "build/sass is not built")"
    exit 0
fi
CUOBJDUMP=$(value CUOBJDUMP build/disassembler.mk)
NVDISASM=$(value NVDISASM build/disassembler.mk)
NVCC=$(value NVCC build/toolchain.mk)
export CUOBJDUMP NVDISASM NVCC
