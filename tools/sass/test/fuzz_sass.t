#!/usr/bin/env bash
# A second of fuzzing each reader. Catches: a crash, a read out of bounds, an endless loop or
# undefined behaviour on broken input.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tools/test/fuzz.sh
. ../test/fuzz.sh

include=${CUDA_INCLUDE:-$(sed -n 's/^CUDA_INCLUDE := //p' ../../build/toolchain.mk)}
sources=(analysis/*.c ../../common/base/error.c -I. -I../../common -isystem "$include")
echo 1..2
fuzz 1 listing "${sources[@]}"
fuzz 2 expect "${sources[@]}"
finish
