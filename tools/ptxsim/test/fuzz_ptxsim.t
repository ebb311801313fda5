#!/usr/bin/env bash
# A second of fuzzing each parser, and what they feed: the decoder and the executor. Catches: a
# crash, an access out of bounds, an endless loop or undefined behaviour on broken input.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tools/test/fuzz.sh
. ../test/fuzz.sh

echo 1..3
fuzz 1 fatbin -I. cuda/fatbin.c
fuzz 2 ptx -I. ptx/*.c
fuzz 3 run -I. -I../../common ptx/*.c decode/*.c machine/*.c machine/memory/*.c ops/*.c report/*.c \
    cuda/launch.c cuda/module.c cuda/watch.c ../../common/base/json_text.c -pthread
finish
