#!/usr/bin/env bash
# A few seconds of fuzzing each parser. Catches: a crash, a read out of bounds, an endless loop or
# undefined behaviour on broken input.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tools/test/fuzz.sh
. ../test/fuzz.sh

echo 1..2
fuzz 1 fatbin -I. cuda/fatbin.c
fuzz 2 ptx -I. ptx/*.c
finish
