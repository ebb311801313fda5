#!/usr/bin/env bash
# Programs that only pretend, for the tests of this folder: compilers, an nvidia-smi, a python3. To
# be sourced; $copy is the folder that they are made in.
# shellcheck disable=SC2034,SC2154 # no_pip and pip, copy

program() { # program FILE: an executable script with the standard input as its text
    mkdir -p "$(dirname "$1")"
    { echo '#!/bin/sh' && cat; } >"$1"
    chmod +x "$1"
}
# toolkit NAME RELEASE [COMPILE]: a toolkit whose nvcc answers as one does; compiling writes a file
# that is a program which succeeds, and a library that the simulator can read; then it runs COMPILE,
# with $made set to that file and $all to what nvcc was asked.
toolkit() {
    mkdir -p "$copy/$1/include" "$copy/$1/lib64"
    touch "$copy/$1/include/cuda_runtime.h" "$copy/$1/lib64/libcudart.so"
    program "$copy/$1/bin/nvcc" <<END
case "\$*" in
--version) echo "Cuda compilation tools, release $2, V$2.1" ;;
--dryrun*) echo '#\$ TOP=$copy/$1/bin/..' >&2 ;;
*)
    echo "$1: \$*" >>'$copy/compiled'
    all=\$*
    while [ "\$1" != -o ]; do shift; done
    made=\$2
    printf '#!/bin/sh\nexit 0\n.target sm_90a\n__cudaRegisterFunction\n' >\$made
    chmod +x \$made
    ${3:-:}
    ;;
esac
END
}
# card CAPABILITY CUDA: an nvidia-smi with such a GPU, whose driver runs CUDA up to this release.
card() {
    program "$copy/card/nvidia-smi" <<END
case "\$*" in
*compute_cap*) echo $1 ;;
*driver_version*) echo 535.104.05 ;;
*) echo "| Driver Version: 535.104.05   CUDA Version: $2     |" ;;
esac
END
}
# python [PIP]: a python3 without NumPy; "pip install --target FOLDER" runs PIP with $folder set.
# It makes virtual environments, which have NumPy once there is a folder packages/numpy, and makes
# HTML once there is packages/cmarkgfm.
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
'-m venv --without-pip '*) mkdir -p "\$4/bin" && cp "\$0" "\$4/bin/python3" ;;
'-m ensurepip') exit 0 ;;
'-c import sysconfig;'*) echo "\${0%/bin/*}/packages" ;;
'-c import numpy'*) [ -d "\${0%/bin/*}/packages/numpy" ] && echo 2.2.6 ;;
'-c import sys;'*) exit 0 ;;
'-S - '*) [ -d "\$3/cmarkgfm" ] && echo '<h1><em>a</em></h1>' ;;
*) exit 1 ;;
esac
END
}
no_pip='echo "ERROR: no matching distribution found for that" >&2; exit 1'
# A pip that has the compiler: it copies the toolkit called wheel, as the wheels would unpack.
pip="mkdir -p \$folder/nvidia \$folder/a.dist-info; cp -r $copy/wheel \$folder/nvidia/cu13"
