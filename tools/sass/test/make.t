#!/usr/bin/env bash
# The SASS lab as make offers it. Catches: a stage or an architecture that is silently replaced by
# another, a message that does not name what is allowed, a page that lacks a part.
set -uo pipefail
# shellcheck source=tools/sass/test/lab.sh
. "$(dirname "$0")/lab.sh"
# make takes its variables from the environment as well.
unset MAKEFLAGS MAKELEVEL MFLAGS D DTYPE CAUSAL DEVICE ARCH FROM TO FORMAT

refused() { # refused TEXT ARGUMENT...
    local text=$1
    shift
    make "$@" >"$log" 2>&1
    ok "make $*: ends with 2" [ $? -eq 2 ]
    ok "and says: $text" says "$text"
}
refused "there is no stage99: the stages are stage01" stage99 count
refused "ARCH must be one of: sm_75 " stage01 sass ARCH=sm_70
refused "FROM must be one of: 01 " sass-diff TO=02
refused "TO must be one of: 01 " sass-diff FROM=01 TO=77
refused "TO must be one of: 01 " compare FROM=01
refused "TO must be one of: 01 " stage01 run diff FROM=01
ok "before anything runs" [ "$(wc -l <"$log")" -eq 1 ]
for command in diff sass-diff compare; do
    refused "FROM and TO are both 02_coalesced: they must be two" $command FROM=02 TO=stage02
done
refused "FROM and TO are both stages/02_coalesced/kernel.cu: they must be two" \
    compare FROM=stages/02_coalesced/kernel.cu TO=stages/02_coalesced/kernel.cu
# Without building: the program's own messages are tested beside it.
make -n sass-diff FROM=01 TO=02 ARCH=sm_86 CAUSAL=1 FORMAT=json 2>&1 |
    grep 'build/sass diff' >"$log"
ok "make sass-diff compares the variant that is asked for" grep -qE \
    "diff 'FORMAT=json' build/sm_86/01_[a-z_]*/d128_fp16_causal.so build/sm_86/02_" "$log"
make -n sass LINE=5 INSTR=mma PTX=1 CLEAN=1 stage01 2>&1 | grep 'build/sass show' >"$log"
ok "make sass passes its variables on" says "show 'LINE=5' 'INSTR=mma' 'PTX=1' 'CLEAN=1' build/"
make compare FROM=01 TO=02 D=64 N=16 NKV=16 >"$log" 2>&1
ok "make compare succeeds" [ $? -eq 0 ]
ok "and says which unit binds" grep -qE \
    '^on NVIDIA .* 02_[a-z_]* is bound by .* x the bound of 01_[a-z_]* ' "$log"
page=$(tail -n 1 "$log")
ok "and names its page" [ "$page" = build/compare/01_02_d64_fp16_full.html ]
cp "$page" "$log"
ok "which has the source" says '"// Stage 02: coalesced"'
ok "the machine code" says "<td>FFMA</td>"
ok "with its control bits" grep -qE '"control":"B[-0-5]{6} R[-0-5] W[-0-5] [-Y] [0-9]{2}"' "$log"
ok "and the simulator's counters" says "<td>global load sectors</td>"
hopper=$(grep -l 'needs sm_90a' stages/*/kernel.cu | head -n 1)
if [ -n "$hopper" ]; then
    number=$(basename "$(dirname "$hopper")" | cut -d_ -f1)
    refused "needs sm_90a: ARCH must be one of: sm_90a; not 'sm_80'" "stage$number" count ARCH=sm_80
fi
echo "1..$count"
