#!/usr/bin/env bash
# toolchain.sh and python.sh, among programs that only pretend. Catches: a search in the wrong
# order, a compiler that cannot serve taken all the same, a failed or broken-off download that
# leaves something behind, a message without a way out. TEST_NETWORK=1 downloads the real wheels
# and compiles a stage with them.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
root=$PWD
count=0
ok() { # ok DESCRIPTION COMMAND...
    local description=$1
    shift
    count=$((count + 1))
    if "$@"; then echo "ok $count - $description"; else
        echo "not ok $count - $description"
        sed 's/^/# /' "$log"
    fi
}

copy=$(mktemp -d)
log=$copy/log
trap 'rm -rf "$copy"' EXIT
unset NVCC CUDA_HOME PYTHON TOOLCHAIN_SEARCH NVCC_CCBIN CUOBJDUMP NVDISASM
mkdir -p "$copy/tools/toolchain" "$copy/bin" "$copy/empty"
cp tools/toolchain/toolchain.sh tools/toolchain/python.sh "$copy/tools/toolchain/"
real_path=$PATH

# A PATH with what the scripts use and nothing else; g++ is there to be found, and to be removed.
for tool in bash basename cat chmod cp dirname env grep ln mkdir mktemp mv realpath rm sed sh tail \
    uname; do
    ln -s "$(command -v "$tool")" "$copy/bin/$tool"
done
program() { # program FILE: an executable script with the standard input as its text
    mkdir -p "$(dirname "$1")"
    { echo '#!/bin/sh' && cat; } >"$1"
    chmod +x "$1"
}
program "$copy/bin/g++" <<<'echo 12'

# toolkit NAME RELEASE [COMPILE]: a toolkit whose nvcc answers as one does; compiling runs COMPILE.
toolkit() {
    mkdir -p "$copy/$1/include" "$copy/$1/lib64"
    touch "$copy/$1/include/cuda_runtime.h" "$copy/$1/lib64/libcudart.so"
    program "$copy/$1/bin/nvcc" <<END
case "\$*" in
--version) echo "Cuda compilation tools, release $2, V$2.1" ;;
--dryrun*) echo '#\$ TOP=$copy/$1/bin/..' >&2 ;;
*) ${3:-:} ;;
esac
END
}
# disassembler NAME RELEASE: its two programs beside the toolkit's nvcc.
disassembler() {
    program "$copy/$1/bin/cuobjdump" <<<"echo release $2, V$2.1"
    program "$copy/$1/bin/nvdisasm" <<<"echo release $2, V$2.1"
}
# python [PIP]: a python3 without NumPy; "pip install --target FOLDER" runs PIP with $folder set.
python() {
    program "$copy/bin/python3" <<END
echo "\$*" >>'$copy/calls'
pip() {
    while [ \$# -gt 0 ]; do [ "\$1" != --target ] || folder=\$2; shift; done
    ${1:-:}
}
case "\$*" in
'-m pip --version') exit 0 ;;
'-m pip install'*) pip "\$@" ;;
'-c if True'*) echo numpy==2.2.6 ;;
*) exit 1 ;;
esac
END
}
no_pip='echo "ERROR: no matching distribution found for that" >&2; exit 1'
# A pip that has the compiler: it copies the toolkit called wheel, as the wheels would unpack.
pip="mkdir -p \$folder/nvidia \$folder/a.dist-info; cp -r $copy/wheel \$folder/nvidia/cu13"

run() { # run [VARIABLE=VALUE]... COMMAND...: with the PATH above behind $front
    status=0
    env PATH="${front:+$front:}$copy/bin" "$@" >"$log" 2>&1 || status=$?
}
tools() { run "$@" "$copy/tools/toolchain/toolchain.sh" "$copy/build/out.mk"; }
wheels() { tools TOOLCHAIN_SEARCH=wheels; }
says() { grep -qF -- "$1" "$log"; }
wrote() { grep -sqxF -- "$1" "$copy/build/out.mk"; }
one_line() { [ "$(wc -l <"$log")" -eq 1 ]; }
fresh() { rm -rf "$copy/build" "$copy/calls"; }
nothing_written() { [ -z "$(find "$copy/build" -type f 2>/dev/null)" ]; }
nothing_left() { [ -z "$(ls -A "$copy/build/cuda" 2>/dev/null)" ] && nothing_written; }

# ---- The order of the search ---------------------------------------------------------------------
toolkit named 13.0
toolkit path 13.1
toolkit home 13.2
toolkit old 11.8
toolkit broken 13.0 'echo "x.h: error: no such thing" >&2; exit 1'
toolkit headless 13.0
rm "$copy/headless/include/cuda_runtime.h"
disassembler home 13.2

front=$copy/path/bin tools NVCC="$copy/named/bin/nvcc" CUDA_HOME="$copy/home"
ok "NVCC comes first" wrote "NVCC := $copy/named/bin/nvcc"
ok "with its own headers" wrote "CUDA_INCLUDE := $copy/named/include"
ok "and its own library" wrote "CUDA_LIB := $copy/named/lib64"
front=$copy/path/bin tools CUDA_HOME="$copy/home"
ok "then PATH" wrote "NVCC := $copy/path/bin/nvcc"
ok "the fragment has the release" wrote "CUDA_VERSION := 13.1"
ok "the disassembler of CUDA_HOME serves it" wrote "CUOBJDUMP := $copy/home/bin/cuobjdump"
ok "each tool found has a line" [ "$(grep -cE '^[a-z+]+ +[0-9.]+ +/' "$log")" -eq 5 ]
tools CUDA_HOME="$copy/home"
ok "then CUDA_HOME" wrote "NVCC := $copy/home/bin/nvcc"
front=$copy/old/bin tools CUDA_HOME="$copy/home"
ok "one that is too old is passed over" wrote "NVCC := $copy/home/bin/nvcc"
ok "and why is said" says "release 11.8, and 13.0 or newer is needed"
front=$copy/headless/bin tools CUDA_HOME="$copy/home"
ok "one without headers is passed over" wrote "NVCC := $copy/home/bin/nvcc"
ok "and why is said, too" says "without cuda_runtime.h"

# ---- Compilers that cannot be used ---------------------------------------------------------------
fresh
tools NVCC="$copy/old/bin/nvcc"
ok "an NVCC that does not serve ends with 2" [ $status -eq 2 ]
ok "and the message names NVCC" says "NVCC=$copy/old/bin/nvcc is not"
tools NVCC="$copy/broken/bin/nvcc"
ok "an nvcc that cannot compile ends with 2" [ $status -eq 2 ]
ok "and its error is shown" says "x.h: error: no such thing"
mv "$copy/bin/g++" "$copy/empty/"
tools NVCC="$copy/named/bin/nvcc"
ok "no host compiler ends with 2" [ $status -eq 2 ]
ok "and g++ is named" says "g++ was not found: install g++"
mv "$copy/empty/g++" "$copy/bin/"
ok "nothing was written in all that" nothing_written

# ---- The wheels ----------------------------------------------------------------------------------
wheels
ok "neither nvcc nor python3 ends with 2" [ $status -eq 2 ]
ok "the message says what is missing" says "There is no CUDA compiler"
ok "and the first way out" says "install the CUDA Toolkit 13.0 or newer and put nvcc on PATH"
ok "and the second" says "run this again with a network and a python3 that has pip"
ok "and leaves nothing" nothing_left
python "$no_pip"
mkdir -p "$copy/build"
echo before >"$copy/build/out.mk"
wheels
ok "a pip without a network ends with 2" [ $status -eq 2 ]
ok "and what pip said is shown" says "ERROR: no matching distribution found for that"
ok "an older fragment stays as it was" wrote before
rm "$copy/build/out.mk"
ok "and nothing else is left" nothing_left
python "$pip; kill \$PPID"
wheels
ok "a download that is broken off fails" [ $status -ne 0 ]
ok "and leaves nothing" nothing_left

mkdir -p "$copy/wheel/lib"
touch "$copy/wheel/lib/libcudart.so.13"
fresh
python "$pip"
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

# ---- The disassembler ----------------------------------------------------------------------------
fresh
front=$copy/home/bin run "$copy/tools/toolchain/toolchain.sh" --disassembler "$copy/build/out.mk"
ok "the disassembler on PATH is found" wrote "NVDISASM := $copy/home/bin/nvdisasm"
ok "and the fragment has nothing else" [ "$(wc -l <"$copy/build/out.mk")" -eq 2 ]
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
python "mkdir -p \$folder"
# shellcheck disable=SC2016 # expanded when it runs
sed -i '2i[ -z "${PYTHONPATH:-}" ] || { echo 2.2.6; exit; }' "$copy/bin/python3"
numpy_python
ok "without ensurepip the packages go to a folder of ours" \
    grep -q -- '--target .*build/python.*numpy==2.2.6' "$copy/calls"
ok "and its python3 is the answer" [ "$(tail -n 1 "$log")" = "$copy/build/python/bin/python3" ]
rm "$copy/calls"
numpy_python
ok "a second time nothing is fetched" [ $status -eq 0 -a "$(grep -c pip "$copy/calls")" -eq 0 ]
run "$copy/tools/toolchain/python.sh"
ok "python.sh without a folder: bad usage" [ $status -eq 64 ]

# ---- The real ones -------------------------------------------------------------------------------
if [ "${TEST_NETWORK:-}" != 1 ]; then
    count=$((count + 1))
    echo "ok $count # SKIP TEST_NETWORK=1 downloads the wheels"
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
