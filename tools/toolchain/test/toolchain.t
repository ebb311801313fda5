#!/usr/bin/env bash
# toolchain.sh, python.sh and markdown.sh, among programs that only pretend. Catches: a search in
# the wrong order, a compiler that cannot serve taken all the same, one that can passed over, a
# trial that says nothing of its failure, a failed, altered or broken-off download that leaves
# something behind, an empty file taken for a program, a message without a way out.
# TEST_NETWORK=1 downloads the real wheels and compiles a stage with them.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
root=$PWD
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh

copy=$(mktemp -d)
log=$copy/log
shown=("$log")
# shellcheck source=tools/toolchain/test/pretend.sh
. tools/toolchain/test/pretend.sh
trap 'rm -rf "$copy"' EXIT
unset NVCC CUDA_HOME PYTHON TOOLCHAIN_SEARCH NVCC_CCBIN CUOBJDUMP NVDISASM
mkdir -p "$copy/tools/toolchain" "$copy/bin" "$copy/empty"
cp tools/toolchain/*.* "$copy/tools/toolchain/"
mkdir -p "$copy/tools/ptxsim" && cp -r tools/ptxsim/cuda "$copy/tools/ptxsim/"
mkdir "$copy/common" && cp common/attention.h "$copy/common/"
real_path=$PATH

# A PATH with what the scripts use and nothing else; g++ is there to be found, and to be removed.
for tool in bash basename cat chmod cp dirname env grep head ln mkdir mktemp mv realpath rm sed sh \
    sort tail timeout tr uname; do
    ln -s "$(command -v "$tool")" "$copy/bin/$tool"
done
program "$copy/bin/g++" <<<'echo 12'
program "$copy/bin/gcc" <<<'echo 12'

# disassembler NAME RELEASE: its two programs beside the toolkit's nvcc.
disassembler() {
    program "$copy/$1/bin/cuobjdump" <<<"echo release $2, V$2.1"
    program "$copy/$1/bin/nvdisasm" <<<"echo release $2, V$2.1"
}
run() { # run [VARIABLE=VALUE]... COMMAND...: with the PATH above behind $front
    status=0
    env PATH="${front:+$front:}$copy/bin" "$@" >"$log" 2>&1 || status=$?
}
tools() { run "$@" "$copy/tools/toolchain/toolchain.sh" "$copy/build/out.mk"; }
wheels() { tools TOOLCHAIN_SEARCH=wheels; }
# shellcheck disable=SC2016 # expanded when it runs
# The trial for the simulator: the last argument of `attention-sim run` is the folder of a stage,
# whose library is a script here.
program "$copy/attention-sim" <<<'for folder; do :; done; exec "$folder/d128_fp16_full.so" "$@"'
simulator() {
    run "$@" "$copy/tools/toolchain/toolchain.sh" --simulator "$copy/attention-sim" \
        "$copy/build/sim.mk"
}
simulates() { grep -sqxF -- "SIM_NVCC := $1" "$copy/build/sim.mk"; }
wrote() { grep -sqxF -- "$1" "$copy/build/out.mk"; }
one_line() { [ "$(wc -l <"$log")" -eq 1 ]; }
fresh() { rm -rf "$copy/build" "$copy/calls"; }
nothing_written() { [ -z "$(find "$copy/build" -type f 2>/dev/null)" ]; }
nothing_left() { [ -z "$(ls -A "$copy/build/cuda" 2>/dev/null)" ] && nothing_written; }

# ---- The order of the search ---------------------------------------------------------------------
toolkit named 13.0
toolkit path 13.1
toolkit home 13.2
toolkit old 11.8 'echo "nvcc fatal: Unsupported gpu architecture compute_90a" >&2; exit 1'
toolkit broken 13.0 'echo "x.h: error: no such thing" >&2; exit 1'
toolkit headless 13.0
rm "$copy/headless/include/cuda_runtime.h"
disassembler home 13.2

front=$copy/path/bin tools NVCC="$copy/named/bin/nvcc" CUDA_HOME="$copy/home"
ok "NVCC comes first" wrote "NVCC := $copy/named/bin/nvcc"
disassembler named 13.1
front=$copy/home/bin tools NVCC="$copy/named/bin/nvcc" CUDA_HOME="$copy/home"
ok "its own disassembler is before one on PATH" wrote "CUOBJDUMP := $copy/named/bin/cuobjdump"
rm "$copy/named/bin/cuobjdump" "$copy/named/bin/nvdisasm"
ok "with its own headers" wrote "CUDA_INCLUDE := $copy/named/include"
ok "and its own library" wrote "CUDA_LIB := $copy/named/lib64"
front=$copy/path/bin tools CUDA_HOME="$copy/home"
ok "then PATH" wrote "NVCC := $copy/path/bin/nvcc"
ok "the fragment has the release" wrote "CUDA_VERSION := 13.1"
ok "the disassembler of CUDA_HOME serves it" wrote "CUOBJDUMP := $copy/home/bin/cuobjdump"
ok "the small stage finds attention.h" \
    grep -q -- "-Icommon .* tools/toolchain/trial.cu" "$copy/compiled"
ok "each tool found has a line" [ "$(grep -cE '^[a-z+]+ +[0-9.]+ +/' "$log")" -eq 5 ]
tools CUDA_HOME="$copy/home"
ok "then CUDA_HOME" wrote "NVCC := $copy/home/bin/nvcc"
front=$copy/old/bin tools CUDA_HOME="$copy/home"
ok "one that is too old is passed over" wrote "NVCC := $copy/home/bin/nvcc"
ok "and why is said" \
    says "passing over $copy/old/bin/nvcc: it cannot compile a small stage: nvcc fatal: Unsupported"
ok "in one line" [ "$(grep -c passing "$log")" -eq 1 ]
# shellcheck disable=SC2016 # expanded in the toolkit
toolkit plainly 11.0 'case $all in *compress-mode*) echo "nvcc fatal: no such GPU" >&2 ;;
    *) echo "nvcc fatal: Unknown option" >&2 ;; esac; exit 1'
front=$copy/plainly/bin tools CUDA_HOME="$copy/home"
ok "and it is what the first try lacked" says "small stage: nvcc fatal: no such GPU"
toolkit twelve 12.2
front=$copy/twelve/bin tools CUDA_HOME="$copy/home"
ok "one of an older release that passes serves" wrote "NVCC := $copy/twelve/bin/nvcc"
front=$copy/twelve/bin simulator CUDA_HOME="$copy/home"
ok "the simulator, too" simulates "$copy/twelve/bin/nvcc"
compiled() { [ "$(grep -c ^twelve "$copy/compiled")" -eq "$1" ]; }
ok "which runs what was compiled when there was no simulator yet" compiled 1
exec {held}<"$copy/build/trial"
front=$copy/path/bin tools
ok "and is never gone while another make reads it" [ "/proc/self/fd/$held" -ef "$copy/build/trial" ]
ok "also when that of another compiler takes its place" \
    grep -qx "$copy/path/bin/nvcc" "$copy/build/trial/compiler"
exec {held}<&-
front=$copy/twelve/bin tools
touch "$copy/twelve/bin/nvcc"
front=$copy/twelve/bin simulator CUDA_HOME="$copy/home"
ok "but for a compiler that has changed since" compiled 3
# shellcheck disable=SC2016 # expanded in the toolkit
toolkit plain 12.0 \
    'case $all in *compress-mode*) echo "nvcc fatal: Unknown option" >&2; exit 1; esac'
front=$copy/plain/bin tools
ok "one that has the older option is asked with that" wrote "NVCC_PLAIN := --no-compress"
front=$copy/plain/bin simulator
ok "for the simulator, too" grep -qx "SIM_PLAIN := --no-compress" "$copy/build/sim.mk"
toolkit doubled 13.0 'exit 1'
mkdir -p "$copy/link" && ln -s ../doubled/bin/nvcc "$copy/link/nvcc"
rm -f "$copy/compiled"
front=$copy/link tools CUDA_HOME="$copy/doubled"
ok "one that fails is tried once, under whatever name" \
    [ "$(grep -c doubled "$copy/compiled")" -eq 1 ]
front=$copy/headless/bin tools CUDA_HOME="$copy/home"
ok "one without headers is passed over" wrote "NVCC := $copy/home/bin/nvcc"
ok "and why is said, too" says "without cuda_runtime.h"

# ---- Compilers that cannot be used ---------------------------------------------------------------
fresh
tools NVCC="$copy/old/bin/nvcc"
ok "an NVCC that does not serve ends with 2" [ $status -eq 2 ]
ok "and the message names NVCC" says "NVCC=$copy/old/bin/nvcc is not"
ok "and what NVCC lacks is shown" says "Unsupported gpu architecture"
tools NVCC="$copy/broken/bin/nvcc"
ok "an nvcc that cannot compile ends with 2" [ $status -eq 2 ]
ok "and its error is shown" says "x.h: error: no such thing"
mv "$copy/bin/g++" "$copy/empty/"
tools NVCC="$copy/named/bin/nvcc"
ok "no host compiler ends with 2" [ $status -eq 2 ]
ok "and g++ is named" says "g++ was not found: install g++"
mv "$copy/empty/g++" "$copy/bin/" && mv "$copy/bin/gcc" "$copy/empty/"
tools NVCC="$copy/named/bin/nvcc"
ok "nor does nvcc work without gcc" says "gcc was not found: install g++"
ok "which is all that is said" one_line
mv "$copy/empty/gcc" "$copy/bin/"
tools NVCC="$copy/named/bin/nvcc" TMPDIR="$copy/none"
ok "no folder for temporary files ends with 2" [ $status -eq 2 ]
ok "and is named, alone" \
    [ "$(cat "$log")" = "$copy/none cannot be written, and compilers need room there." ]
ok "nothing was written in all that" nothing_written
front=$copy/named/bin run CDPATH="$copy" "$copy/bin/bash" -c \
    "cd '$copy' && tools/toolchain/toolchain.sh build/out.mk"
ok "a CDPATH leads nowhere else" wrote "NVCC := $copy/named/bin/nvcc"
run NVCC=named/bin/nvcc "$copy/bin/bash" -c \
    "cd '$copy' && tools/toolchain/toolchain.sh build/out.mk"
ok "an NVCC from here is written from the root" wrote "NVCC := $copy/named/bin/nvcc"
fresh

# ---- The simulator's trial -----------------------------------------------------------------------
# shellcheck disable=SC2016 # expanded in the toolkit
{
    toolkit squeezed 12.1 'sed -i /target/d $made'
    toolkit stranger 14.0 'echo __cudaBrandNew >>$made'
    toolkit modern 14.1 \
        'sed -i "2s/.*/echo ptxsim: no such opcode: frobnicate.b32; echo; exit 1/" $made'
    toolkit wrong 14.2 'sed -i "2s/.*/echo 1 error of 128; exit 1/" $made'
    toolkit endless 14.3 'sed -i "2s/.*/kill -STOP \$\$/" $made'
    toolkit picky 13.1 \
        'sed -i "2s/.*/[ \"\$*\" = \"run DEVICE=sim B=1 H=1 N=1 NKV=1 \${0%\/*}\" ]; exit/" $made'
    toolkit late 13.0 \
        'printf "#!/bin/sh\necho driver is insufficient; exit 1\n.target sm_90a\n" >$made'
}
front=$copy/squeezed/bin tools CUDA_HOME="$copy/home"
ok "one whose PTX is compressed is passed over" wrote "NVCC := $copy/home/bin/nvcc"
ok "and why is said, in a word" says "the simulator finds no PTX in what it makes"
front=$copy/stranger/bin tools CUDA_HOME="$copy/home"
ok "one whose code asks for more than the simulator has, too" wrote "NVCC := $copy/home/bin/nvcc"
ok "and the function is named" says "the simulator does not know __cudaBrandNew, which it uses"
for name in squeezed stranger modern wrong; do
    rm -f "$copy/build/sim.mk"
    front=$copy/$name/bin simulator CUDA_HOME="$copy/home"
    ok "$name: another compiler is the simulator's" simulates "$copy/home/bin/nvcc"
    ok "and why is one line" [ "$(grep -c "^passing over $copy/$name/bin/nvcc: " "$log")" -eq 1 ]
done
front=$copy/modern/bin simulator CUDA_HOME="$copy/home"
ok "what the simulator said is shown" \
    says "does not run in the simulator: ptxsim: no such opcode: frobnicate.b32"
front=$copy/wrong/bin simulator CUDA_HOME="$copy/home"
ok "wrong results, too" says "does not run in the simulator: 1 error of 128"
front=$copy/picky/bin simulator CUDA_HOME="$copy/home"
ok "the small stage is run with a problem of one key" simulates "$copy/picky/bin/nvcc"
sed -i 's/^readonly LAUNCH_SECONDS=60/readonly LAUNCH_SECONDS=1/' \
    "$copy/tools/toolchain/toolchain.sh"
front=$copy/endless/bin simulator CUDA_HOME="$copy/home"
ok "one that never ends is given up" simulates "$copy/home/bin/nvcc"
cp tools/toolchain/toolchain.sh "$copy/tools/toolchain/"
front=$copy/modern/bin simulator NVCC="$copy/wrong/bin/nvcc" CUDA_HOME="$copy/home"
ok "beside an NVCC for the GPU alone, too" simulates "$copy/home/bin/nvcc"
rm -f "$copy/build/sim.mk"
front=$copy/modern/bin simulator
ok "no compiler for the simulator ends with 2" [ $status -eq 2 ]
ok "and says so" says "There is no CUDA compiler"
ok "and leaves no file" [ ! -e "$copy/build/sim.mk" ]

# ---- The GPU's trial -----------------------------------------------------------------------------
fresh
card 7.5 13.0
front=$copy/late/bin:$copy/card tools CUDA_HOME="$copy/home"
ok "one whose stage does not run on the GPU is passed over" wrote "NVCC := $copy/home/bin/nvcc"
ok "and what the GPU said is shown" says "does not run on the GPU: driver is insufficient"
ok "the stage is for that GPU" grep -q '^late: .*-arch=sm_75' "$copy/compiled"
ok "without the functions of newer ones" grep -q '^late: .*-DTMA=0' "$copy/compiled"
ok "with the library that the stages have" grep -q "^late: .*-L$copy/late/lib64" "$copy/compiled"
front=$copy/squeezed/bin:$copy/card tools CUDA_HOME="$copy/home"
ok "one that serves the GPU alone is taken for it" wrote "NVCC := $copy/squeezed/bin/nvcc"
front=$copy/squeezed/bin:$copy/card simulator CUDA_HOME="$copy/home"
ok "and another for the simulator" simulates "$copy/home/bin/nvcc"
# shellcheck disable=SC2016 # expanded when it runs
toolkit second 13.0 'sed -i "2s/.*/echo on GPU \$CUDA_VISIBLE_DEVICES; exit 1/" $made'
card 9.0 13.0
front=$copy/second/bin:$copy/card tools GPU=3 CUDA_HOME="$copy/home"
ok "the trial is on the GPU that is asked for" says "does not run on the GPU: on GPU 3"
front=$copy/second/bin:$copy/card CUDA_VISIBLE_DEVICES=5,7 tools GPU=1 CUDA_HOME="$copy/home"
ok "which is one of those that CUDA sees" says "does not run on the GPU: on GPU 7"
ok "a GPU of 9.0 gets the functions of 9.0" \
    grep -q '^second: .*-arch=sm_90 -DTMA=1' "$copy/compiled"
card 8.9 13.0
rm "$copy/compiled"
front=$copy/path/bin:$copy/card tools
ok "one of 8.9 does not" grep -q '^path: .*-arch=sm_89 -DTMA=0' "$copy/compiled"
card 9.0 12.2
front=$copy/late/bin:$copy/card tools
ok "and that it is too old" wrote "DRIVER_TOO_OLD := yes"
ok "a driver that is too old for all: the simulator's trial" wrote "NVCC := $copy/late/bin/nvcc"
ok "and both versions are said" \
    says "driver 535.104.05 supports CUDA up to 12.2, and the compiler that can be fetched is 13.0"
front=$copy/late/bin:$copy/card tools NVCC="$copy/late/bin/nvcc"
ok "with an NVCC, too" wrote "NVCC := $copy/late/bin/nvcc"
rm -r "$copy/card"
fresh

# ---- The wheels ----------------------------------------------------------------------------------
wheels
ok "neither nvcc nor python3 ends with 2" [ $status -eq 2 ]
ok "the message says what is missing" says "There is no CUDA compiler"
ok "and the first way out" says "install the CUDA Toolkit 13.0 or newer and put nvcc on PATH"
ok "and the second" says "run this again with a network and a python3 that has pip"
ok "and leaves nothing" nothing_left
python 'echo "WARNING: connection error
ERROR: Could not find it" >&2; exit 1'
wheels
ok "of what pip says its error is shown" says "says: ERROR: Could not find it)"
python "$no_pip"
mkdir -p "$copy/build"
echo before >"$copy/build/out.mk"
wheels
ok "a pip without a network ends with 2" [ $status -eq 2 ]
ok "and what pip said is shown" says "ERROR: no matching distribution found for that"
ok "an older fragment stays as it was" wrote before
rm "$copy/build/out.mk"
ok "and nothing else is left" nothing_left
python 'echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE FILE." >&2; exit 1'
wheels
ok "a wheel that is another one ends with 2" [ $status -eq 2 ]
ok "and its list is named" says "a wheel is not the one whose hash tools/toolchain/compiler.txt has"
ok "in one sentence" [ "$(grep -c . "$log")" -eq 2 ]
ok "and leaves nothing" nothing_left
ok "pip is told to compare" \
    grep -q -- '--require-hashes .*--requirement .*compiler.txt' "$copy/calls"
hashes() { # hashes FILE NAME=HASHES...: what pip may fetch, and how many hashes each has
    diff <(awk '/==/ { sub(/==.*/, ""); name = $0 } /--hash=sha256:[0-9a-f]+/ { n[name]++ }
        END { for (name in n) print name "=" n[name] }' "$1" | sort) \
        <(printf '%s\n' "${@:2}" | sort) >"$log"
}
ok "each wheel of the compiler has two hashes" hashes tools/toolchain/compiler.txt \
    nvidia-{cuda-nvcc,cuda-crt,nvvm,cuda-runtime,cuda-cccl}=2
ok "and of the disassembler" hashes tools/toolchain/disassembler.txt \
    nvidia-cuda-{cuobjdump,nvdisasm}=2
ok "NumPy has two for each Python from 3.9 to 3.14" hashes tools/toolchain/numpy.txt numpy=12
ok "cmark-gfm has two for each to 3.13" hashes tools/page/site/markdown.txt \
    cmarkgfm=10 cffi=12 pycparser=1
ok "no script has pip fetch without comparing" [ -z "$(grep -l 'pip install' -r tools reference \
    --include=*.sh --include=*.py --include=*.mk --exclude-dir=test |
    xargs grep -L -- --require-hashes)" ]
python "$pip; kill \$PPID"
wheels
ok "a download that is broken off fails" [ $status -ne 0 ]
ok "and leaves nothing" nothing_left

mkdir -p "$copy/wheel/lib"
touch "$copy/wheel/lib/libcudart.so.13"
fresh
python "$pip"
mkdir -p "$copy/a folder" && cp -r "$copy/tools" "$copy/common" "$copy/a folder"
run TOOLCHAIN_SEARCH=wheels "$copy/a folder/tools/toolchain/toolchain.sh" "$copy/a folder/out.mk"
ok "in a folder with a blank nothing is fetched" [ $status -eq 2 -a ! -e "$copy/a folder/build" ]
ok "and the message says what to do" says "move the checkout, or install the CUDA Toolkit"
for name in "it's" 'a#b' 'a,b' 'a&b' "a\$b"; do
    mkdir -p "$copy/$name" && cp -r "$copy/tools" "$copy/common" "$copy/$name"
    run TOOLCHAIN_SEARCH=wheels "$copy/$name/tools/toolchain/toolchain.sh" "$copy/$name/out.mk"
    ok "nor in one that is called $name" [ $status -eq 2 -a ! -e "$copy/$name/build" ]
    rm -r "${copy:?}/$name"
done
compiler=$copy/build/cuda/compiler-13.0.88
toolkit wheel 13.0
sed -i "s|TOP=.*'|TOP=$compiler'|" "$copy/wheel/bin/nvcc"
rm -r "$copy/wheel/lib64"
wheels
ok "the wheels are fetched, and serve" wrote "NVCC := $compiler/bin/nvcc"
ok "the library has its link name" [ -e "$compiler/lib64/libcudart.so" ]
ok "pip installs nothing outside" grep -q -- "--target $copy/build/cuda/" "$copy/calls"
ok "only the folder of the pinned release is left" [ "$(ls "$copy/build/cuda")" = compiler-13.0.88 ]
rm "$copy/calls"
wheels
ok "a second time nothing is fetched" [ $status -eq 0 -a ! -e "$copy/calls" ]
mv "$copy/bin/python3" "$copy/python_with_pip"
program "$copy/bin/python3" <<END
[ "\$1 \$2" = '-m venv' ] && mkdir -p "\$3/bin" && cp '$copy/python_with_pip' "\$3/bin/python3"
END
rm -r "$copy/build"
wheels
ok "without pip that of a virtual environment fetches" wrote "NVCC := $compiler/bin/nvcc"
ok "of which nothing is left" [ "$(ls "$copy/build/cuda")" = compiler-13.0.88 ]

# ---- The disassembler ----------------------------------------------------------------------------
fresh
front=$copy/home/bin run "$copy/tools/toolchain/toolchain.sh" --disassembler "$copy/build/out.mk"
ok "the disassembler on PATH is found" wrote "NVDISASM := $copy/home/bin/nvdisasm"
ok "and the fragment has nothing else" [ "$(wc -l <"$copy/build/out.mk")" -eq 2 ]
disassembler twelve 12.4
front=$copy/twelve/bin run CUDA_HOME="$copy/home" \
    "$copy/tools/toolchain/toolchain.sh" --disassembler "$copy/build/out.mk"
ok "one that is too old is passed over" wrote "NVDISASM := $copy/home/bin/nvdisasm"
ok "and why is said" says "release 12.4, and 13.0 or newer is needed"
fresh
python "$no_pip"
run TOOLCHAIN_SEARCH=wheels "$copy/tools/toolchain/toolchain.sh" --disassembler "$copy/build/out.mk"
ok "none to be had ends with 2" [ $status -eq 2 ]
ok "and says so" says "There is no disassembler"
ok "and leaves nothing" nothing_left
for arguments in "" "a b" "--wrong"; do
    # shellcheck disable=SC2086 # several arguments
    run "$copy/tools/toolchain/toolchain.sh" $arguments
    ok "toolchain.sh $arguments: bad usage" [ $status -eq 64 ]
done

# ---- python.sh -----------------------------------------------------------------------------------
fresh
numpy_python() { run "$copy/tools/toolchain/python.sh" "$copy/build/python"; }
rm "$copy/bin/python3"
numpy_python
ok "no python3 ends with 2" [ $status -eq 2 ]
ok "and says so in one line" one_line
program "$copy/empty/python3" <<<'echo 2.0.0'
front=$copy/empty numpy_python
ok "a python3 with NumPy serves itself" says "$copy/empty/python3"
python "$no_pip"
numpy_python
ok "no NumPy and no network ends with 2" [ $status -eq 2 ]
ok "with pip's reason" says "ERROR: no matching distribution"
ok "and the ways out" says "either install NumPy for $copy/bin/python3, or run this again"
ok "and nothing is left" [ -z "$(ls -A "$copy/build")" ]
python 'echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE FILE." >&2; exit 1'
numpy_python
ok "a NumPy that is another one ends with 2" [ $status -eq 2 ]
ok "and its list is named" says "a wheel is not the one whose hash tools/toolchain/numpy.txt has"
ok "and nothing is left of it" [ -z "$(ls -A "$copy/build")" ]
python "mkdir -p \${folder:=\${0%/bin/*}/packages}/numpy"
numpy_python
ok "the packages go to a virtual environment of ours" \
    grep -q -- '--target .*build/python.*/packages' "$copy/calls"
ok "and pip is told to compare" \
    grep -q -- '--require-hashes --requirement .*/numpy.txt' "$copy/calls"
ok "and its python3 is the answer" [ "$(tail -n 1 "$log")" = "$copy/build/python/bin/python3" ]
rm "$copy/calls"
numpy_python
ok "a second time nothing is fetched" [ $status -eq 0 -a "$(grep -c pip "$copy/calls")" -eq 0 ]
: >"$copy/build/python/bin/python3"
numpy_python
ok "an empty python3 is fetched again" [ $status -eq 0 -a -s "$copy/build/python/bin/python3" ]
mv "$copy/bin/python3" "$copy/python_with_pip"
program "$copy/bin/python3" <<END
case "\$1 \$2" in
'-c import sys;'*) exit 0 ;;
'-m venv') mkdir -p "\$4/bin" && cp '$copy/python_with_pip' "\$4/bin/python3" ;;
*) exit 1 ;;
esac
END
rm -r "$copy/build" "$copy/calls"
numpy_python
ok "without pip one is put into the virtual environment" \
    [ "$(grep -cE '^-m (ensurepip|pip install)' "$copy/calls")" -eq 2 ]
ok "which fetches" [ "$(tail -n 1 "$log")" = "$copy/build/python/bin/python3" ]
run "$copy/tools/toolchain/python.sh"
ok "python.sh without a folder: bad usage" [ $status -eq 64 ]

# ---- markdown.sh ---------------------------------------------------------------------------------
cp -r --parents tools/page/site "$copy"
markdown() { run "$copy/tools/page/site/markdown.sh" "$copy/build/markdown"; }
fresh
python "mkdir -p \$folder"
markdown
ok "packages that make no HTML end with 2" [ $status -eq 2 ]
ok "and are said not to work" says "the fetched one does not work: install it"
ok "and nothing is left" [ -z "$(ls -A "$copy/build")" ]
mkdir -p "$copy/build/markdown/bin"
install -m 755 /dev/null "$copy/build/markdown/bin/cmark-gfm"
python "mkdir -p \$folder/cmarkgfm"
markdown
ok "an empty program, of a disk that was full, is fetched again" [ $status -eq 0 -a -s \
    "$copy/build/markdown/bin/cmark-gfm" ]
ok "and is the answer" [ "$(tail -n 1 "$log")" = "$copy/build/markdown/bin/cmark-gfm" ]
rm "$copy/calls"
markdown
ok "a second time no markdown.sh fetches" [ $status -eq 0 -a "$(grep -c pip "$copy/calls")" -eq 0 ]

# ---- The real ones -------------------------------------------------------------------------------
if [ "${TEST_NETWORK:-}" != 1 ]; then
    skip "TEST_NETWORK=1 downloads the wheels"
else
    fresh
    rm "$copy/bin/python3"
    export PATH=$real_path TOOLCHAIN_SEARCH=wheels
    "$copy/tools/toolchain/toolchain.sh" "$copy/build/out.mk" 2>"$log"
    ok "the wheels give a compiler" [ $? -eq 0 ]
    "$copy/tools/toolchain/toolchain.sh" --disassembler "$copy/build/dis.mk" 2>"$log"
    ok "and a disassembler" [ $? -eq 0 ]
    nvcc=$(sed -n 's/^NVCC := //p' "$copy/build/out.mk")
    cuobjdump=$(sed -n 's/^CUOBJDUMP := //p' "$copy/build/dis.mk")
    "$nvcc" -shared -cudart none -Xcompiler -fPIC --compress-mode=none -lineinfo -I"$root/common" \
        -gencode 'arch=compute_80,code=[sm_80,compute_80]' -DHEAD_DIM=64 -DELEMENT_BF16=1 \
        -DCAUSAL=1 "$root/stages/01_three_pass/kernel.cu" -o "$copy/stage.so" 2>"$log"
    ok "that compiler builds stage 01" [ $? -eq 0 ]
    "$cuobjdump" -sass "$copy/stage.so" >"$log" 2>&1
    ok "that disassembler reads it" says "code for sm_80"
    "$copy/tools/toolchain/python.sh" "$copy/build/python" >"$copy/python" 2>"$log"
    ok "python.sh gives a python3 with NumPy" "$(cat "$copy/python")" -c 'import numpy'
fi
echo "1..$count"
