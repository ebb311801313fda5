#!/usr/bin/env bash
# `make run` in a clean clone on machines that lack something: an nvcc, Python, pip, the network, a
# new driver. Compilers, pip and nvidia-smi only pretend, so it is what make does and says that is
# tested. Catches: a message without a way out, one that is repeated, something half-made that is
# left behind, a machine that could simulate and does not, the environment taken for what was found.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS NVCC CUDA_HOME PYTHON NVCC_CCBIN D DTYPE CAUSAL DEVICE ARCH FOR
copy=$(mktemp -d)
log=$copy/log
trap 'rm -rf "$copy"' EXIT
# shellcheck source=tools/toolchain/test/pretend.sh
. tools/toolchain/test/pretend.sh
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")

mkdir -p "$copy/clone" "$copy/bin"
# What is tracked or new here; of a tree without .git all that no command has made.
sources() {
    git ls-files -z --cached --others --exclude-standard 2>/dev/null ||
        find . -path ./build -prune -o -path ./work -prune -o -type f -print0
}
sources | while IFS= read -r -d '' file; do
    [ ! -f "$file" ] || printf '%s\0' "$file"
done | xargs -0 cp --parents -t "$copy/clone"
# A cc whose objects are empty and whose programs are scripts: one says how it was run, the other
# runs the library of a stage, a script as well. What another make might read half-made is noted.
program "$copy/bin/cc" <<'END'
case $* in *'-isystem -c'*) echo "no folder of CUDA's headers" >&2; exit 1 ;; esac
while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done
case $out in
*.new) ;;
*) echo "$out" >>build/half_made ;;
esac
case $out in
build/attention.*) printf '#!/bin/sh\necho "ran $*"\n' >$out ;;
build/attention-sim.*)
    printf '#!/bin/sh\nfor folder; do :; done\nexec "$folder/d128_fp16_full.so"\n' >$out ;;
*) : >$out; : >$out.d; exit ;;
esac
chmod +x $out
END
program "$copy/bin/nvidia-smi" <<<'exit 9'
toolkit wheel 13.0
compiler=$copy/clone/build/cuda/compiler-13.0.88
sed -i "s|TOP=.*'|TOP=$compiler'|" "$copy/wheel/bin/nvcc"
rm -r "$copy/wheel/lib64"
mkdir "$copy/wheel/lib" && touch "$copy/wheel/lib/libcudart.so.13"

clean_clone() { rm -rf "$copy/clone/build" "$copy/compiled"; }
# run [VARIABLE=VALUE]...: make stage01 stage12 run there, without the nvcc that may be here.
run() {
    status=0
    (cd "$copy/clone" && env TOOLCHAIN_SEARCH=wheels PATH="$copy/bin:$PATH" "$@" \
        make CC="$copy/bin/cc" stage01 stage12 run) >"$log" 2>&1 || status=$?
}
once() { [ "$(grep -cF -- "$1" "$log")" -eq 1 ]; }
nothing_left() { [ -z "$(find "$copy/clone/build" -type f 2>/dev/null)" ]; }
refused() { # refused WHAT REASON: exit 2, one sentence with the reason and both ways out
    ok "$1: exit 2" [ $status -eq 2 ]
    ok "$1: one sentence with the reason" once "and fetching it failed ($2"
    ok "$1: a way out" says "install the CUDA Toolkit 13.0 or newer and put nvcc on PATH"
    ok "$1: and another" says "run this again with a network and a python3 that has pip"
    ok "$1: nothing is left behind" nothing_left
}

run PYTHON="$copy/none"
refused "no nvcc and no python3" "$copy/none is not installed)"
program "$copy/bin/python3" <<<'exit 1'
run
refused "no pip" "python3 has no pip)"
python "$no_pip"
run
refused "no network" "pip on $(uname -s) $(uname -m) says: ERROR: no matching distribution"
python 'echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE FILE." >&2; exit 1'
run
refused "another wheel" "a wheel is not the one whose hash tools/toolchain/compiler.txt has)"

python "$pip"
run
ok "no nvcc and no GPU: it runs all the same" [ $status -eq 0 ]
ok "in the simulator" says "build/sim/sm_80/01_three_pass build/sim/sm_90a/12_wgmma"
ok "from PTX alone" [ "$(grep -c 'code=compute_.*stages/' "$copy/compiled")" -eq 2 ]
ok "by the compiler that was fetched" once "$compiler/bin/nvcc (for the simulator)"
ok "what is fetched is said, and its size" once "fetching NVIDIA's wheels, about 105 MB"
left() { find "$copy/clone/build" -name '*.new*' -o -name half_made; }
ok "nothing has its name before it is whole, and no other name is left" [ -z "$(left)" ]
rm "$copy/compiled"
run
ok "a second time nothing is fetched or compiled" [ $status -eq 0 -a ! -e "$copy/compiled" ]

rm -r "$copy/clone/build"/{simulator.mk,host,attention-sim}
# shellcheck disable=SC2016 # expanded when it runs
sed -i '1a case $* in *options.c*) echo no room >\&2; exit 1 ;; esac' "$copy/bin/cc"
run
ok "a compiler that fails in the first build ends it" [ $status -ne 0 ]
ok "and is all that is said to be wrong" [ "$(grep -cE '^tools/make/.*: ' "$log")" -eq 0 ]
sed -i 2d "$copy/bin/cc"

clean_clone
{ log=$copy/first run && exit $status; } & first=$!
log=$copy/second run
wait $first
first=$?
cat "$copy/first" "$copy/second" >"$log"
ok "two makes at once in a clean clone both run" [ $first -eq 0 -a $status -eq 0 ]

clean_clone
run CUDA_VERSION=13.0.2 CUDA_INCLUDE=/none
ok "with a CUDA_VERSION in the environment, as NVIDIA's images have it, it runs" [ $status -eq 0 ]

clean_clone
card 9.0 12.2
mv "$copy/card/nvidia-smi" "$copy/bin/"
run
ok "a driver that is too old: it runs all the same" [ $status -eq 0 ]
ok "and says both versions, once" once \
    "driver 535.104.05 supports CUDA up to 12.2, and the compiler that can be fetched is 13.0"
ok "in the simulator" says "build/sim/sm_90/01_three_pass build/sim/sm_90a/12_wgmma"
run
ok "a second time it says nothing of that" [ "$(grep -c 'CUDA 12.2' "$log")" -eq 0 ]

clean_clone
card 9.0 13.0
mv "$copy/card/nvidia-smi" "$copy/bin/"
run
ok "a driver that is new enough: on the GPU" says "build/sm_90/01_three_pass build/sm_90a/12_wgmma"
ok "with machine code" [ "$(grep -c 'code=\[sm_90.*stages/' "$copy/compiled")" -eq 2 ]
echo "1..$count"
