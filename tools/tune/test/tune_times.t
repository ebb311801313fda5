#!/usr/bin/env bash
# `make stageNN tune` on a GPU: the table from a fake compiler and a fake program. Catches: a wrong
# order, a wrong occupancy, a shape that does not fit and is timed all the same, a wrong result that
# is success.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
tune=$PWD/tools/tune/tune.sh
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")

export NVCC=$work/nvcc NVCC_FLAGS='' VARIANT=d128_fp16_full
export MACROS='-DHEAD_DIM=128 -DELEMENT_BF16=0 -DCAUSAL=0'
mkdir -p "$work/stages/02_none"
cd "$work" || exit 1
# The compiler: 144 registers per thread. The program: one object per folder, the time by the tile.
cat >nvcc <<'END'
#!/bin/bash
echo "ptxas info    : Used 144 registers, used 1 barriers" >&2
: >"${@: -1}"
END
cat >program <<'END'
#!/bin/bash
for folder in "${@:3}"; do
    name=${folder##*/} status=pass reason=null shared=10240
    case $name in
        BR64_BC32) tflops=200 ;;
        BR64_BC64) tflops=1000 ;;
        BR128_BC32) tflops=90.5 shared=81920 ;;
        *) tflops=null status=skip shared=200000 reason='"a block needs more"' ;;
    esac
    echo "{\"name\":\"$name\",\"simulated\":false,\"status\":\"${WRONG:-$status}\"," \
        "\"reason\":$reason,\"ms_median\":1.5,\"tflops\":$tflops,\"threads\":64," \
        "\"shared_bytes\":$shared}"
done
END
chmod +x nvcc program
printf 'constexpr int %s; // ; tune: %s\n' 'BR = D == 64 ? 8 : 9' '64 128' 'BC = 8' '32 64' \
    >stages/02_none/kernel.cu
"$tune" "$work/program" build/sm_80/02_none >"$log" 2>&1
code=$?
ok "on a GPU: exit 0" [ $code -eq 0 ]
ok "best first" [ "$(awk '/^BR/ { print $1 }' "$log" | paste -sd' ')" = \
    "BR64_BC64 BR64_BC32 BR128_BC32 BR128_BC64" ]
# Registers: 144 * 32 a warp, 14.2 warps, three in each quarter: six blocks of two warps. Shared
# memory: 164 KiB and 1 KiB more a block: 14 blocks and two.
ok "occupancy: six blocks by their registers" grep -qE '^BR64_BC64 .* 10240 +6 +19%$' "$log"
ok "two blocks by their shared memory" grep -qE '^BR128_BC32 .* 81920 +2 +6%$' "$log"
ok "what does not fit, and why" \
    grep -qF "a block needs 200000 bytes of shared memory, and sm_80 has 166912" "$log"
ok "a conditional constant is replaced as well" \
    grep -q '^constexpr int BR = 128;' build/sm_80/tune/02_none/BR128_BC32/kernel.cu
WRONG=fail "$tune" "$work/program" BR=64 BC=32 build/sm_80/02_none >"$log" 2>&1
code=$?
ok "a wrong result: exit 1" [ $code -eq 1 ]
echo "1..$count"
